//! Reading videos, the objects behind them, and deleting them.

use std::ops::Range;

use ports::index::{Condition, Predicate};
use ports::listing::{ListQuery, VideoEntry};
use ports::storage::ObjectInfo;
use ports::{ByteStream, ErrorKind, PortError};
use serde_json::{Map, Value};

use crate::domain::catalog::Catalog;
use crate::domain::catalog::about::{self, About, MetadataKeys};
use crate::domain::catalog::listing::{BATCH, Listed, cursor, entry_of, listed_of, position};
use crate::domain::kernel::access::Access;
use crate::domain::kernel::error::{Error, Result};
use crate::domain::kernel::time::instant;
use crate::domain::kernel::urls::without_secrets;
use crate::domain::kernel::video::VideoId;

/// A video as listed.
#[derive(Debug, Clone, PartialEq)]
pub struct Video {
    /// First 16 hex characters of the SHA-1 of the file.
    pub video_id: VideoId,
    /// The cleaned name of the file.
    pub filename: String,
    /// Public storage URL.
    pub video_url: String,
    /// Public storage URL of the poster.
    pub poster_url: Option<String>,
    /// Length of the video, seconds.
    pub duration: f64,
    /// Number of chunks.
    pub chunks: u32,
    /// Canonical form.
    pub chunk_config: String,
    /// Analyzers with output.
    pub analyzers: Vec<String>,
    /// What it is about, in a sentence.
    pub synopsis: Option<String>,
    /// What its owner says of it.
    pub about: About,
}

/// A video in detail.
#[derive(Debug, Clone, PartialEq)]
pub struct VideoDetail {
    /// The listing fields.
    pub video: Video,
    /// `<video_id>/<filename>`.
    pub storage_path: String,
    /// Present when ingested from a URL.
    pub source_url: Option<String>,
    /// Size of the file, bytes.
    pub size_bytes: u64,
    /// Pictures per second, where there are pictures and it is known.
    pub frame_rate: Option<f64>,
    /// What the container says of its length, where it is another, seconds.
    pub container_duration: Option<f64>,
    /// Timecode of its first picture, where the container has one.
    pub timecode: Option<String>,
    /// Which of its sound tracks was used, counted from 0, where it has several.
    pub audio_track: Option<u32>,
    /// What of the file was left out or chosen.
    pub warnings: Vec<String>,
    /// Who says when it was recorded: `container` or `user`.
    pub recorded_at_source: Option<&'static str>,
    /// Preset, or the mode where there is none.
    pub preset: String,
    /// Parameters of the chunking.
    pub params: Map<String, Value>,
    /// Stored aggregates.
    pub aggregates: Vec<String>,
}

/// A page of videos, newest first.
#[derive(Debug, Clone, PartialEq)]
pub struct VideoList {
    /// This page.
    pub videos: Vec<Video>,
    /// Videos on all pages.
    pub total: u32,
    /// Where this page ends; `None` where no other follows.
    pub next: Option<String>,
}

/// What a delete removed.
#[derive(Debug, Clone, PartialEq)]
pub struct Deleted {
    /// The id of its video.
    pub video_id: VideoId,
    /// Removed bucket paths.
    pub objects: Vec<String>,
    /// `TypeName: message` when the storage removal failed.
    pub storage_error: Option<String>,
}

/// Which videos of the library are wanted.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct VideoPage {
    /// Videos on the page; all of them when left out.
    pub limit: Option<u32>,
    /// Videos to skip, from the cursor on where there is one.
    pub offset: u32,
    /// Where the page before ended.
    pub cursor: Option<String>,
    /// Part of the file's name, in any case.
    pub filename: Option<String>,
    /// An analyzer that has found something in it.
    pub analyzer: Option<String>,
    /// First ingested then or later, ISO 8601.
    pub created_after: Option<String>,
    /// First ingested then or earlier, ISO 8601.
    pub created_before: Option<String>,
    /// The collection that it is in.
    pub collection: Option<String>,
    /// Recorded then or later, ISO 8601.
    pub recorded_after: Option<String>,
    /// Recorded then or earlier, ISO 8601.
    pub recorded_before: Option<String>,
    /// Metadata by key, as the filter `metadata` of a search.
    pub metadata: Option<Value>,
}

impl VideoPage {
    fn query(&self, keys: &MetadataKeys) -> Result<ListQuery> {
        let at = |name: &str, given: &Option<String>| match given {
            Some(text) => instant(text).map(Some).ok_or_else(|| {
                Error::Invalid(format!(
                    "{name} is '{text}'; it must be a time in ISO 8601, as 2026-01-31T12:00:00Z"
                ))
            }),
            None => Ok(None),
        };
        let mut conditions = match &self.metadata {
            Some(metadata) => about::conditions(metadata, keys)?,
            None => Vec::new(),
        };
        conditions.extend(self.collection.as_deref().map(about::in_collection));
        let mut test = |field: &str, predicate: Option<Predicate>| {
            let condition = |predicate| Condition { field: field.into(), predicate };
            conditions.extend(predicate.map(condition));
        };
        let from = at("recorded_after", &self.recorded_after)?;
        test(about::RECORDED_AT, from.map(|from| Predicate::AtLeast(from as f64)));
        let to = at("recorded_before", &self.recorded_before)?;
        test(about::RECORDED_AT, to.map(|to| Predicate::AtMost(to as f64)));
        Ok(ListQuery {
            conditions,
            filename: self.filename.clone(),
            analyzer: self.analyzer.clone(),
            from: at("created_after", &self.created_after)?,
            to: at("created_before", &self.created_before)?,
            after: self.cursor.as_deref().map(cursor::read).transpose()?,
            offset: self.offset as usize,
            limit: self.limit.map_or(usize::MAX, |limit| limit as usize),
        })
    }
}

impl Catalog {
    /// The ingested videos that a caller sees, newest first. `Invalid` for an unknown analyzer, a cursor or a time that is
    /// none.
    pub async fn videos(&self, access: &Access, page: &VideoPage) -> Result<VideoList> {
        if let Some(id) = &page.analyzer {
            self.analyzers.check(id)?;
        }
        let keys = match page.metadata {
            Some(_) => self.metadata_keys_seen(access).await?,
            None => MetadataKeys::new(),
        };
        let mut wanted = page.query(&keys)?;
        wanted.conditions.extend(about::seen_by(access));
        let (mut videos, mut last) = (Vec::new(), None);
        let mut query = wanted.clone();
        loop {
            query.limit = (wanted.limit - videos.len()).min(BATCH);
            let (entries, total) = self.page(&query).await?;
            let complete = entries.len() < query.limit;
            if let Some((entry, _)) = entries.last() {
                last = Some(position(entry));
            }
            for (entry, listed) in entries {
                if !self.unreadable.has_no_record(entry.video_id) {
                    videos.push(self.listed_video(entry, listed).await?);
                }
            }
            if complete || videos.len() == wanted.limit {
                // A full page may be followed by another.
                let next = last.filter(|_| !complete).as_ref().map(cursor::text);
                return Ok(VideoList { videos, total: total as u32, next });
            }
            (query.after, query.offset) = (last.clone(), 0);
        }
    }

    /// One video.
    pub async fn video(&self, video_id: VideoId) -> Result<VideoDetail> {
        let record = self.record(video_id).await?;
        Ok(VideoDetail {
            video: self.listed_video(entry_of(&record)?, listed_of(&record)).await?,
            preset: record.chunking.preset().to_owned(),
            params: record.chunking.params(),
            aggregates: self.aggregators.in_order(record.aggregates.keys()),
            recorded_at_source: record.recorded_at_source(),
            storage_path: record.storage_path,
            // Earlier versions kept the address as it was given.
            source_url: record.source_url.as_deref().map(without_secrets),
            size_bytes: record.size_bytes,
            frame_rate: record.frame_rate,
            container_duration: record.container_duration,
            timecode: record.timecode.clone(),
            audio_track: record.audio_track,
            warnings: record.warnings.clone(),
        })
    }

    async fn listed_video(&self, entry: VideoEntry, listed: Listed) -> Result<Video> {
        let storage = &self.storage;
        let poster_url = match &listed.poster_path {
            Some(path) => Some(storage.download_url(path).await?),
            None => None,
        };
        Ok(Video {
            video_url: storage.download_url(&listed.storage_path).await?,
            poster_url,
            video_id: entry.video_id,
            filename: entry.filename,
            duration: listed.duration,
            chunks: listed.chunks,
            chunk_config: listed.chunk_config,
            analyzers: entry.analyzers,
            synopsis: listed.synopsis,
            about: listed.about,
        })
    }

    /// Where the video's bytes are served, for the redirect of `/media/{video_id}`.
    pub async fn media_url(&self, video_id: VideoId) -> Result<String> {
        let record = self.record(video_id).await?;
        Ok(self.storage.download_url(&record.storage_path).await?)
    }

    /// What is known of a stored object, for storage whose public URLs the service itself serves.
    pub async fn object_info(&self, key: &str) -> Result<ObjectInfo> {
        public(key)?;
        let info = self.storage.stat(key).await.map_err(not_found)?;
        info.ok_or_else(|| Error::NotFound(format!("no stored object '{key}'")))
    }

    /// A stored object's bytes or a range of them.
    pub async fn object(&self, key: &str, range: Option<Range<u64>>) -> Result<ByteStream> {
        public(key)?;
        self.storage.get(key, range).await.map_err(not_found)
    }
}

/// Refuses keys that belong to no video, as those of uploads that wait for a worker.
fn public(key: &str) -> Result<()> {
    match key.split_once('/') {
        Some((video_id, _)) if video_id.parse::<VideoId>().is_ok() => Ok(()),
        _ => Err(Error::NotFound(format!("no stored object '{key}'"))),
    }
}

/// A key that no object can have is simply not there.
fn not_found(error: PortError) -> Error {
    match error.kind() {
        ErrorKind::NotFound | ErrorKind::Invalid => Error::NotFound(error.to_string()),
        _ => Error::Port(error),
    }
}
