//! Reading videos, the objects behind them, and deleting them.

use std::ops::Range;

use ports::storage::ObjectInfo;
use ports::{ByteStream, ErrorKind, PortError};
use serde_json::{Map, Value};

use crate::domain::catalog::Catalog;
use crate::domain::catalog::record::VideoRecord;
use crate::domain::kernel::error::{Error, Result};
use crate::domain::kernel::names::is_video_id;
use crate::domain::kernel::urls::without_secrets;

/// A video as listed.
#[derive(Debug, Clone, PartialEq)]
pub struct Video {
    /// First 16 hex characters of the SHA-1 of the file.
    pub video_id: String,
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
}

/// What a delete removed.
#[derive(Debug, Clone, PartialEq)]
pub struct Deleted {
    /// The id of its video.
    pub video_id: String,
    /// Removed bucket paths.
    pub objects: Vec<String>,
    /// `TypeName: message` when the storage removal failed.
    pub storage_error: Option<String>,
}

impl Catalog {
    /// Ingested videos, newest first; all of them without a limit.
    pub async fn videos(&self, limit: Option<u32>, offset: u32) -> Result<VideoList> {
        let records = self.all().await?;
        let limit = limit.map_or(usize::MAX, |limit| limit as usize);
        let mut videos = Vec::new();
        for record in records.iter().skip(offset as usize).take(limit) {
            videos.push(self.listed_video(record).await?);
        }
        Ok(VideoList { videos, total: records.len() as u32 })
    }

    /// One video.
    pub async fn video(&self, video_id: &str) -> Result<VideoDetail> {
        let record = self.record(video_id).await?;
        Ok(VideoDetail {
            video: self.listed_video(&record).await?,
            preset: record.chunking.preset().to_owned(),
            params: record.chunking.params(),
            aggregates: self.aggregators.in_order(record.aggregates.keys()),
            storage_path: record.storage_path,
            // Earlier versions kept the address as it was given.
            source_url: record.source_url.as_deref().map(without_secrets),
            size_bytes: record.size_bytes,
        })
    }

    async fn listed_video(&self, record: &VideoRecord) -> Result<Video> {
        let storage = &self.storage;
        let poster_url = match &record.poster_path {
            Some(path) => Some(storage.link(path).await?),
            None => None,
        };
        Ok(Video {
            video_id: record.video_id.clone(),
            filename: record.filename.clone(),
            video_url: storage.link(&record.storage_path).await?,
            poster_url,
            duration: record.duration,
            chunks: record.chunks,
            chunk_config: record.chunking.config(),
            analyzers: record.analyzer_ids(),
        })
    }

    /// Where the video's bytes are served, for the redirect of `/media/{video_id}`.
    pub async fn media_url(&self, video_id: &str) -> Result<String> {
        let record = self.record(video_id).await?;
        Ok(self.storage.link(&record.storage_path).await?)
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
        Some((video_id, _)) if is_video_id(video_id) => Ok(()),
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
