//! Appends the bytes of one request to an upload.

use std::sync::Arc;

use bytes::Bytes;
use futures::{StreamExt, stream};
use ports::records::{Precondition, RecordStore};
use ports::storage::ObjectStorage;
use serde_json::Value;
use sha1::digest::common::hazmat::SerializableState;
use sha1::{Digest, Sha1};

use super::{UploadId, UploadRecord, UploadState, Uploads, state};
use crate::kernel::error::{Error, Result};

/// Appends to an upload. Stores each part when it is full, and the last part in [`Self::finish`].
/// If `finish` is not called, the last part is lost.
pub struct UploadWriter {
    records: Arc<dyn RecordStore>,
    storage: Arc<dyn ObjectStorage>,
    id: UploadId,
    /// The record including uncommitted parts.
    record: UploadRecord,
    committed: Value,
    hash: Sha1,
    /// Bytes that are not stored yet, at most one part.
    part: Vec<u8>,
    part_bytes: usize,
    max_parts: usize,
    checksum: Option<Checksum>,
}

/// The expected hash of the bytes in the request, and the hash of the bytes received so far.
struct Checksum {
    expected: [u8; 20],
    hash: Sha1,
}

impl UploadWriter {
    pub(super) fn new(
        uploads: &Uploads,
        id: UploadId,
        record: UploadRecord,
        committed: Value,
        checksum: Option<[u8; 20]>,
    ) -> Result<Self> {
        Ok(Self {
            records: uploads.records.clone(),
            storage: uploads.storage.clone(),
            hash: record.hash()?,
            id,
            record,
            committed,
            part: Vec::new(),
            part_bytes: uploads.settings.upload_part_bytes,
            max_parts: uploads.settings.max_upload_parts,
            checksum: checksum.map(|expected| Checksum { expected, hash: Sha1::new() }),
        })
    }

    /// Returns the number of bytes that the upload still lacks.
    pub fn missing(&self) -> u64 {
        self.id.length - self.record.offset() - self.part.len() as u64
    }

    /// Whether the request has a checksum. If so, its bytes are stored either completely or not at
    /// all.
    pub fn is_checked(&self) -> bool {
        self.checksum.is_some()
    }

    /// Appends bytes. Returns `TooLarge` if the bytes exceed the upload's announced length, and
    /// `Conflict` if another request has appended to the upload.
    pub async fn write(&mut self, bytes: &[u8]) -> Result<()> {
        if bytes.len() as u64 > self.missing() {
            return Err(Error::TooLarge(format!(
                "more came than the {} bytes that the upload was said to have (Upload-Length)",
                self.id.length
            )));
        }
        let mut rest = bytes;
        while !rest.is_empty() {
            // Hashing takes about 100 µs per piece.
            let length = rest.len().min(self.part_bytes - self.part.len()).min(64 * 1024);
            let (piece, after) = rest.split_at(length);
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

    /// Stores the remaining bytes and returns the upload's state. Returns `Mismatch` if the
    /// checksum does not match.
    pub async fn finish(mut self) -> Result<UploadState> {
        let checksum = self.checksum.take();
        let matches = checksum.is_none_or(|c| c.hash.finalize().as_slice() == c.expected);
        if !matches {
            self.discard_uncommitted().await;
            return Err(Error::Mismatch(
                "what came does not fit its Upload-Checksum, and nothing of it was kept; send it again"
                    .into(),
            ));
        }
        if !self.part.is_empty() {
            self.store().await?;
        } else {
            self.commit().await?;
        }
        Ok(state(&self.id, self.record))
    }

    /// Discards uncommitted bytes. If the request has a checksum, all of its bytes are uncommitted.
    pub async fn abandon(self) {
        self.discard_uncommitted().await;
    }

    async fn store(&mut self) -> Result<()> {
        let part_number = self.record.parts.len();
        if part_number >= self.max_parts {
            return Err(Error::TooLarge(format!(
                "the upload came in {part_number} pieces, which is the maximum (ingest.max_upload_parts); begin \
                 it again with larger ones"
            )));
        }
        // Concurrent requests at the same offset must not overwrite each other's parts.
        let name = format!("{part_number:05}-{:016x}", fastrand::u64(..));
        let bytes = Bytes::from(std::mem::take(&mut self.part));
        let size = bytes.len() as u64;
        let content = stream::once(async { Ok(bytes) }).boxed();
        let key = format!("{}{name}", self.id.folder());
        self.storage.put(&key, content, "application/octet-stream").await?;
        self.record.parts.push((name, size));
        if self.checksum.is_none() { self.commit().await } else { Ok(()) }
    }

    /// Commits the stored parts to the upload's record.
    async fn commit(&mut self) -> Result<()> {
        self.record.hash = self.hash.serialize().to_vec();
        let (key, document) = (self.id.key(), self.record.document()?);
        if document == self.committed {
            return Ok(());
        }
        let expected = Precondition::Document(&self.committed);
        let swapped = self.records.compare_and_swap(&key, expected, &document).await?;
        // If the store retried the request, the first attempt may have succeeded.
        if swapped || self.records.get(&key).await?.as_ref() == Some(&document) {
            self.committed = document;
            return Ok(());
        }
        self.discard_uncommitted().await;
        Err(Error::Conflict(
            "another request has appended to this upload, or it was removed; query its offset (HEAD)"
                .into(),
        ))
    }

    /// Removes uncommitted parts. Parts that remain after an error are removed with the upload.
    async fn discard_uncommitted(&self) {
        let committed = UploadRecord::read(&self.committed).map_or(0, |record| record.parts.len());
        for (name, _) in self.record.parts.iter().skip(committed) {
            let key = format!("{}{name}", self.id.folder());
            if let Err(error) = self.storage.delete(&key).await {
                tracing::warn!(%error, "could not remove an uncommitted part of an upload");
            }
        }
    }
}
