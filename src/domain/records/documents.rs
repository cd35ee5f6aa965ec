//! Documents: their keys, how they are parsed, and how they are changed by compare-and-swap.

use std::collections::BTreeSet;

use ports::records::{Precondition, RecordStore};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::kernel::error::{Error, Result};
use crate::kernel::video::VideoId;
use crate::records::record::VideoRecord;

/// Maximum number of attempts at a change that conflicts with changes of other processes.
pub(crate) const MAX_SWAP_ATTEMPTS: usize = 100;

pub(crate) fn record_key(video_id: VideoId) -> String {
    format!("videos/{video_id}/video.json")
}

/// Key prefix of the comments, one document per video.
pub(crate) const COMMENTS: &str = "comments/";

/// Returns the key of the comments on a video.
pub(crate) fn comments_key(video_id: VideoId) -> String {
    format!("{COMMENTS}{video_id}.json")
}

/// Key prefix of the shares, one document per video.
pub(crate) const SHARES: &str = "shares/";

/// Returns the key of the shares of a video.
pub(crate) fn shares_key(video_id: VideoId) -> String {
    format!("{SHARES}{video_id}.json")
}

/// Key prefix of the links of shares, one document per share.
pub(crate) const SHARE_LINKS: &str = "share-links/";

/// Returns the key of the link of a share.
pub(crate) fn share_link_key(share_id: &str) -> String {
    format!("{SHARE_LINKS}{share_id}.json")
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
    parse_document(key, &value).map(Some)
}

fn parse_document<T: DeserializeOwned>(key: &str, document: &Value) -> Result<T> {
    T::deserialize(document)
        .map_err(|e| Error::corrupt(format!("the record {key} does not read back: {e}")))
}

/// Makes the document of a value.
pub(crate) fn to_document<T: Serialize + ?Sized>(key: &str, value: &T) -> Result<Value> {
    serde_json::to_value(value)
        .map_err(|e| Error::corrupt(format!("cannot store the record {key}: {e}")))
}

/// Replaces a document if it meets the precondition, and returns whether it did.
pub(crate) async fn swap_document(
    store: &dyn RecordStore,
    key: &str,
    expected: Precondition<'_>,
    document: &Value,
) -> Result<bool> {
    // The swap may have happened although the store reports that it did not.
    Ok(store.compare_and_swap(key, expected, document).await?
        || store.get(key).await?.as_ref() == Some(document))
}

/// Changes a document, which is the default if there is none, again if another process has changed it
/// in the meantime. A change that leaves it as it is stores nothing. Returns the error of `change`,
/// `Corrupt` if the document is unreadable, and `Busy`, with the name `what`, after too many
/// conflicts.
pub(crate) async fn change_document<D, T>(
    store: &dyn RecordStore,
    key: &str,
    what: &str,
    change: impl Fn(&mut D) -> Result<T>,
) -> Result<T>
where
    D: Default + Clone + PartialEq + Serialize + DeserializeOwned,
{
    for _ in 0..MAX_SWAP_ATTEMPTS {
        let stored = store.get(key).await?;
        let before: D = match &stored {
            Some(document) => parse_document(key, document)?,
            None => D::default(),
        };
        let mut changed = before.clone();
        let result = change(&mut changed)?;
        if changed == before {
            return Ok(result);
        }
        let document = to_document(key, &changed)?;
        if swap_document(store, key, Precondition::from(stored.as_ref()), &document).await? {
            return Ok(result);
        }
    }
    Err(busy(what))
}

/// The error of a change that conflicted with changes of other processes too many times.
pub(crate) fn busy(what: &str) -> Error {
    Error::Busy { message: format!("{what} being changed by others; try again"), retry_after: 1 }
}
