//! The bytes of one request on their way into an upload.

use std::sync::Arc;

use bytes::Bytes;
use futures::{StreamExt, stream};
use ports::records::{Precondition, RecordStore};
use ports::storage::ObjectStorage;
use serde_json::Value;
use sha1::digest::common::hazmat::SerializableState;
use sha1::{Digest, Sha1};

use super::{UploadId, UploadRecord, UploadState, Uploads, state};
use crate::domain::kernel::error::{Error, Result};

/// An upload that is being written to. What was written is stored part by part; the last part with
/// [`Self::finish`], without which it is lost.
pub struct Appending {
    records: Arc<dyn RecordStore>,
    storage: Arc<dyn ObjectStorage>,
    id: UploadId,
    /// What it will be, and what is kept of it now.
    record: UploadRecord,
    kept: Value,
    hash: Sha1,
    /// What is not stored yet: one part at most.
    part: Vec<u8>,
    part_bytes: usize,
    max_parts: usize,
    checksum: Option<Checksum>,
}

/// What the bytes of the request are to hash to, and do so far.
struct Checksum {
    expected: [u8; 20],
    hash: Sha1,
}

impl Appending {
    pub(super) fn new(
        uploads: &Uploads,
        id: UploadId,
        record: UploadRecord,
        kept: Value,
        checksum: Option<[u8; 20]>,
    ) -> Result<Self> {
        Ok(Self {
            records: uploads.records.clone(),
            storage: uploads.storage.clone(),
            hash: record.hash()?,
            id,
            record,
            kept,
            part: Vec::new(),
            part_bytes: uploads.settings.upload_part_bytes,
            max_parts: uploads.settings.max_upload_parts,
            checksum: checksum.map(|expected| Checksum { expected, hash: Sha1::new() }),
        })
    }

    /// Bytes that are missing yet.
    pub fn missing(&self) -> u64 {
        self.id.length - self.record.offset() - self.part.len() as u64
    }

    /// Whether nothing is kept unless all of it comes.
    pub fn is_checked(&self) -> bool {
        self.checksum.is_some()
    }

    /// Takes bytes in. `TooLarge` where they are more than the upload was said to have, `Conflict` where
    /// another request goes on with it.
    pub async fn write(&mut self, bytes: &[u8]) -> Result<()> {
        if bytes.len() as u64 > self.missing() {
            return Err(Error::TooLarge(format!(
                "more came than the {} bytes that the upload was said to have (Upload-Length)",
                self.id.length
            )));
        }
        let mut rest = bytes;
        while !rest.is_empty() {
            // Hashed as it comes: about 100 µs each.
            let most = rest.len().min(self.part_bytes - self.part.len()).min(64 * 1024);
            let (piece, after) = rest.split_at(most);
            self.hash.update(piece);
            if let Some(checksum) = &mut self.checksum {
                checksum.hash.update(piece);
            }
            self.part.extend_from_slice(piece);
            rest = after;
            if self.part.len() == self.part_bytes {
                self.store().await?;
            }
        }
        Ok(())
    }

    /// Stores the rest, and says where the upload stands. `Mismatch` where a checksum does not fit.
    pub async fn finish(mut self) -> Result<UploadState> {
        let checksum = self.checksum.take();
        let fits = checksum.is_none_or(|c| c.hash.finalize().as_slice() == c.expected);
        if !fits {
            self.discard_unkept().await;
            return Err(Error::Mismatch(
                "what came does not fit its Upload-Checksum, and nothing of it was kept; send it again"
                    .into(),
            ));
        }
        if !self.part.is_empty() {
            self.store().await?;
        } else {
            self.keep().await?;
        }
        Ok(state(&self.id, self.record))
    }

    /// Gives up what is not kept: of a request with a checksum, all of it.
    pub async fn abandon(self) {
        self.discard_unkept().await;
    }

    async fn store(&mut self) -> Result<()> {
        let place = self.record.parts.len();
        if place >= self.max_parts {
            return Err(Error::TooLarge(format!(
                "the upload came in {place} pieces, which is the most (ingest.max_upload_parts); begin \
                 it again with larger ones"
            )));
        }
        // Two requests that go on at one place must not write over each other.
        let name = format!("{place:05}-{:016x}", fastrand::u64(..));
        let bytes = Bytes::from(std::mem::take(&mut self.part));
        let size = bytes.len() as u64;
        let content = stream::once(async { Ok(bytes) }).boxed();
        let key = format!("{}{name}", self.id.folder());
        self.storage.put(&key, content, "application/octet-stream").await?;
        self.record.parts.push((name, size));
        if self.checksum.is_none() { self.keep().await } else { Ok(()) }
    }

    /// Makes what is stored a part of the upload.
    async fn keep(&mut self) -> Result<()> {
        self.record.hash = self.hash.serialize().to_vec();
        let (key, document) = (self.id.key(), self.record.document()?);
        if document == self.kept {
            return Ok(());
        }
        let expected = Precondition::Document(&self.kept);
        let swapped = self.records.compare_and_swap(&key, expected, &document).await?;
        // A store that repeats requests may have done so the first time.
        if swapped || self.records.get(&key).await?.as_ref() == Some(&document) {
            self.kept = document;
            return Ok(());
        }
        self.discard_unkept().await;
        Err(Error::Conflict(
            "another request goes on with this upload, or it was removed; ask where it stands (HEAD)"
                .into(),
        ))
    }

    /// Removes the parts that are not kept. What is left all the same goes with the upload.
    async fn discard_unkept(&self) {
        let kept = UploadRecord::read(&self.kept).map_or(0, |record| record.parts.len());
        for (name, _) in self.record.parts.iter().skip(kept) {
            let key = format!("{}{name}", self.id.folder());
            if let Err(error) = self.storage.delete(&key).await {
                tracing::warn!(%error, "a part of an upload that is not needed was left");
            }
        }
    }
}
