//! Reads videos and their stored objects.

use std::ops::Range;

use ports::index::{Condition, Predicate};
use ports::listing::{ListQuery, VideoEntry};
use ports::storage::ObjectInfo;
use ports::{ByteStream, ErrorKind, FrameRate, PortError};
use serde_json::{Map, Value};

use crate::kernel::access::Access;
use crate::kernel::error::{Error, Result};
use crate::kernel::time::instant;
use crate::kernel::urls::redact_secrets;
use crate::kernel::video::VideoId;
use crate::library::Library;
use crate::listing::{BATCH, EntrySummary, cursor, listing_entry, position, summary};
use crate::records::metadata::{self, MetadataKeys, VideoMetadata};

/// A video in a listing.
#[derive(Debug, Clone, PartialEq)]
pub struct Video {
    /// First 16 hexadecimal digits of the SHA-1 of the file.
    pub video_id: VideoId,
    /// The cleaned file name.
    pub filename: String,
    /// Public storage URL of the video file.
    pub video_url: String,
    /// Public storage URL of the poster.
    pub poster_url: Option<String>,
    /// Length of the video, in seconds.
    pub duration: f64,
    /// Number of chunks.
    pub chunks: u32,
    /// Canonical form of the chunking configuration.
    pub chunk_config: String,
    /// Analyzers with output.
    pub analyzers: Vec<String>,
    /// Frames per second as a fraction, if the container states it.
    pub exact_frame_rate: Option<FrameRate>,
    /// Whether the file has a sound track; `None` if that is unknown.
    pub has_sound: Option<bool>,
    /// Timecode of the first frame, if the container has one.
    pub timecode: Option<String>,
    /// Name of the reel in edit lists, unless the file name has no ASCII letter or digit.
    pub reel_name: Option<String>,
    /// A one-sentence synopsis.
    pub synopsis: Option<String>,
    /// User metadata.
    pub metadata: VideoMetadata,
}

/// A video with all its details.
#[derive(Debug, Clone, PartialEq)]
pub struct VideoDetail {
    /// The fields that listings include.
    pub video: Video,
    /// Object key, `<video_id>/<filename>`.
    pub storage_path: String,
    /// The URL that the video was ingested from, if any.
    pub source_url: Option<String>,
    /// Size of the file, in bytes.
    pub size_bytes: u64,
    /// Frames per second, if the file has a video stream with a known rate.
    pub frame_rate: Option<f64>,
    /// Duration according to the container, in seconds, if it differs from the video's duration.
    pub container_duration: Option<f64>,
    /// Index of the audio track that was used, if there are several.
    pub audio_track: Option<u32>,
    /// Warnings about parts of the file that were skipped or selected.
    pub warnings: Vec<String>,
    /// Where the recording time comes from: `container` or `user`.
    pub recorded_at_source: Option<&'static str>,
    /// The chunking preset, or the chunking mode if there is no preset.
    pub preset: String,
    /// Chunking parameters.
    pub params: Map<String, Value>,
    /// Ids of stored aggregates.
    pub aggregates: Vec<String>,
}

/// A page of videos, newest first.
#[derive(Debug, Clone, PartialEq)]
pub struct VideoList {
    /// The videos of this page.
    pub videos: Vec<Video>,
    /// Number of videos on all pages.
    pub total: u32,
    /// Cursor of the next page; `None` on the last page.
    pub next: Option<String>,
}

/// Filters and paging for a list of videos.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct VideoQuery {
    /// Page size. If omitted, the page contains all videos.
    pub limit: Option<u32>,
    /// Number of videos to skip. If there is a cursor, the count starts after it.
    pub offset: u32,
    /// Cursor from the previous page.
    pub cursor: Option<String>,
    /// Only videos whose file name contains this text, ignoring case.
    pub filename: Option<String>,
    /// Only videos with output from this analyzer.
    pub analyzer: Option<String>,
    /// Only videos first ingested at or after this time, in ISO 8601.
    pub created_after: Option<String>,
    /// Only videos first ingested at or before this time, in ISO 8601.
    pub created_before: Option<String>,
    /// Only videos in this collection.
    pub collection: Option<String>,
    /// Only videos recorded at or after this time, in ISO 8601.
    pub recorded_after: Option<String>,
    /// Only videos recorded at or before this time, in ISO 8601.
    pub recorded_before: Option<String>,
    /// Metadata filter, in the same form as in a search.
    pub metadata: Option<Value>,
}

impl VideoQuery {
    fn query(&self, keys: &MetadataKeys) -> Result<ListQuery> {
        let time = |name: &str, value: &Option<String>| match value {
            Some(text) => instant(text).map(Some).ok_or_else(|| {
                Error::Invalid(format!(
                    "{name} is '{text}'; it must be a time in ISO 8601, as 2026-01-31T12:00:00Z"
                ))
            }),
            None => Ok(None),
        };
        let mut conditions = match &self.metadata {
            Some(metadata) => metadata::conditions(metadata, keys)?,
            None => Vec::new(),
        };
        conditions.extend(self.collection.as_deref().map(metadata::in_collection));
        let mut test = |field: &str, predicate: Option<Predicate>| {
            let condition = |predicate| Condition { field: field.into(), predicate };
            conditions.extend(predicate.map(condition));
        };
        let from = time("recorded_after", &self.recorded_after)?;
        test(metadata::RECORDED_AT, from.map(|from| Predicate::AtLeast(from as f64)));
        let to = time("recorded_before", &self.recorded_before)?;
        test(metadata::RECORDED_AT, to.map(|to| Predicate::AtMost(to as f64)));
        Ok(ListQuery {
            conditions,
            filename: self.filename.clone(),
            analyzer: self.analyzer.clone(),
            from: time("created_after", &self.created_after)?,
            to: time("created_before", &self.created_before)?,
            after: self.cursor.as_deref().map(cursor::read).transpose()?,
            offset: self.offset as usize,
            limit: self.limit.map_or(usize::MAX, |limit| limit as usize),
        })
    }
}

impl Library {
    /// Lists the videos that a caller may see, newest first. Returns `Invalid` if the analyzer is
    /// unknown, or if the cursor or a time is malformed.
    pub async fn videos(&self, access: &Access, page: &VideoQuery) -> Result<VideoList> {
        if let Some(id) = &page.analyzer {
            self.analyzers.check(id)?;
        }
        let keys = match page.metadata {
            Some(_) => self.metadata.visible_keys(access).await?,
            None => MetadataKeys::new(),
        };
        let mut full_query = page.query(&keys)?;
        full_query.conditions.extend(metadata::visible_to(access));
        let (mut videos, mut last) = (Vec::new(), None);
        let mut query = full_query.clone();
        loop {
            query.limit = (full_query.limit - videos.len()).min(BATCH);
            let (entries, total) = self.listing.page(&query).await?;
            let complete = entries.len() < query.limit;
            if let Some((entry, _)) = entries.last() {
                last = Some(position(entry));
            }
            for (entry, summary) in entries {
                if !self.records.unreadable().has_no_record(entry.video_id) {
                    videos.push(self.to_video(entry, summary).await?);
                }
            }
            if complete || videos.len() == full_query.limit {
                // A full page may be followed by another one.
                let next = last.filter(|_| !complete).as_ref().map(cursor::text);
                return Ok(VideoList { videos, total: total as u32, next });
            }
            (query.after, query.offset) = (last.clone(), 0);
        }
    }

    /// Reads one video.
    pub async fn video(&self, video_id: VideoId) -> Result<VideoDetail> {
        let record = self.records.get(video_id).await?;
        Ok(VideoDetail {
            video: self.to_video(listing_entry(&record)?, summary(&record)).await?,
            preset: record.chunking.preset().to_owned(),
            params: record.chunking.params(),
            aggregates: self.aggregators.in_order(record.aggregates.keys()),
            recorded_at_source: record.recorded_at_source(),
            storage_path: record.storage_path,
            // Earlier versions stored the URL with secrets.
            source_url: record.source_url.as_deref().map(redact_secrets),
            size_bytes: record.size_bytes,
            frame_rate: record.frame_rate,
            container_duration: record.container_duration,
            audio_track: record.audio_track,
            warnings: record.warnings.clone(),
        })
    }

    async fn to_video(&self, entry: VideoEntry, summary: EntrySummary) -> Result<Video> {
        let storage = &self.storage;
        let poster_url = match &summary.poster_path {
            Some(path) => Some(storage.download_url(path).await?),
            None => None,
        };
        Ok(Video {
            video_url: storage.download_url(&summary.storage_path).await?,
            poster_url,
            video_id: entry.video_id,
            filename: entry.filename,
            duration: summary.duration,
            chunks: summary.chunks,
            chunk_config: summary.chunk_config,
            analyzers: entry.analyzers,
            exact_frame_rate: summary.frame_rate,
            has_sound: summary.has_sound,
            timecode: summary.timecode,
            reel_name: summary.reel_name,
            synopsis: summary.synopsis,
            metadata: summary.metadata,
        })
    }

    /// Returns the URL of the video file, to which `/media/{video_id}` redirects.
    pub async fn media_url(&self, video_id: VideoId) -> Result<String> {
        let record = self.records.get(video_id).await?;
        Ok(self.storage.download_url(&record.storage_path).await?)
    }

    /// Reads information about a stored object. Used if this service itself serves the storage's
    /// public URLs.
    pub async fn object_info(&self, key: &str) -> Result<ObjectInfo> {
        check_public(key)?;
        let info = self.storage.stat(key).await.map_err(object_error)?;
        info.ok_or_else(|| Error::NotFound(format!("no stored object '{key}'")))
    }

    /// Streams the bytes of a stored object, or a range of them.
    pub async fn object(&self, key: &str, range: Option<Range<u64>>) -> Result<ByteStream> {
        check_public(key)?;
        self.storage.get(key, range).await.map_err(object_error)
    }
}

/// Checks that a key belongs to a video. Returns `NotFound` for any other key, such as that of an
/// upload.
fn check_public(key: &str) -> Result<()> {
    match key.split_once('/') {
        Some((video_id, _)) if video_id.parse::<VideoId>().is_ok() => Ok(()),
        _ => Err(Error::NotFound(format!("no stored object '{key}'"))),
    }
}

/// Converts a storage error. An invalid key becomes `NotFound`.
fn object_error(error: PortError) -> Error {
    match error.kind() {
        ErrorKind::NotFound | ErrorKind::Invalid => Error::NotFound(error.to_string()),
        _ => Error::Port(error),
    }
}
