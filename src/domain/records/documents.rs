//! The documents of a video: their keys, and how they are parsed.

use std::collections::BTreeSet;

use ports::records::RecordStore;
use serde::de::DeserializeOwned;

use crate::kernel::error::{Error, Result};
use crate::kernel::video::VideoId;
use crate::records::record::VideoRecord;

pub(crate) fn record_key(video_id: VideoId) -> String {
    format!("videos/{video_id}/video.json")
}

/// Key prefix of the comments, one document per video.
pub(crate) const COMMENTS: &str = "comments/";

/// Returns the key of the comments on a video.
pub(crate) fn comments_key(video_id: VideoId) -> String {
    format!("{COMMENTS}{video_id}.json")
}

/// Returns the video that a document key belongs to.
pub(crate) fn video_of(key: &str) -> Option<VideoId> {
    key.strip_prefix("videos/")?.split('/').next()?.parse().ok()
}

/// Returns the keys of a published video's documents, including the record itself.
pub(crate) fn referenced_keys(record: &VideoRecord) -> BTreeSet<String> {
    let mut referenced_keys = BTreeSet::from([
        record_key(record.video_id),
        record.chunks_document.clone(),
        record.signals_document.clone(),
    ]);
    referenced_keys.extend(record.speech_document.clone());
    referenced_keys.extend(record.corrections_document.clone());
    let entries = record.analyzers.values();
    let pages = entries.flat_map(|entry| std::iter::once(&entry.pages).chain(&entry.uncorrected));
    referenced_keys.extend(pages.flat_map(|pages| pages.keys(record.chunks)));
    referenced_keys.extend(record.aggregates.values().cloned());
    referenced_keys
}

pub(crate) fn missing_record(key: &str) -> String {
    format!("the record {key} is missing")
}

/// Reads and parses a document, if there is one. Returns `Corrupt` if it cannot be parsed.
pub(crate) async fn read_document<T: DeserializeOwned>(
    store: &dyn RecordStore,
    key: &str,
) -> Result<Option<T>> {
    let Some(value) = store.get(key).await? else { return Ok(None) };
    let parsed = serde_json::from_value(value)
        .map_err(|e| Error::corrupt(format!("the record {key} does not read back: {e}")))?;
    Ok(Some(parsed))
}
