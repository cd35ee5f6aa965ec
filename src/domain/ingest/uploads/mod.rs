//! Resumable uploads (tus). An upload consists of a folder of parts in the bucket and a record that
//! lists them. The record is only changed by compare-and-swap, so that any instance can resume an
//! upload.
//!
//! The record contains the state of the hash, so that the hash can be computed without reading any
//! byte again, even after a restart. An upload's id contains its expiry and length, so that one
//! listing shows which uploads are waiting and which have expired.

mod append;

use std::sync::Arc;

use futures::{StreamExt, TryStreamExt, stream};
use jiff::Timestamp;
use ports::ByteStream;
use ports::records::RecordStore;
use ports::storage::ObjectStorage;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha1::digest::common::hazmat::{SerializableState, SerializedState};
use sha1::{Digest, Sha1};

use crate::ingest::settings::IngestSettings;
use crate::kernel::access::Access;
use crate::kernel::error::{Error, Result};
use crate::kernel::ports::Stores;
use crate::kernel::video::VideoId;
pub use append::UploadWriter;

/// Key prefix of the parts in the bucket and of the records.
const FOLDER: &str = "uploads";

/// `Retry-After` if a limit on waiting uploads is reached, in seconds.
const RETRY_AFTER: u32 = 60;

/// Resumable uploads.
pub struct Uploads {
    records: Arc<dyn RecordStore>,
    storage: Arc<dyn ObjectStorage>,
    settings: IngestSettings,
}

/// The state of an upload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UploadState {
    /// The id in the upload's URL.
    pub id: String,
    /// Number of stored bytes.
    pub offset: u64,
    /// Total number of bytes.
    pub length: u64,
    /// The client's `Upload-Metadata`, verbatim.
    pub metadata: String,
    /// When the upload expires.
    pub expires: Timestamp,
}

/// A complete upload.
pub(crate) struct CompleteUpload {
    pub(crate) video_id: VideoId,
    pub(crate) name: Option<String>,
}

/// The stored record of an upload.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct UploadRecord {
    /// The client's metadata, verbatim, for `HEAD` requests.
    metadata: String,
    filename: Option<String>,
    /// The permissions of the client that began the upload.
    access: Access,
    /// Names and sizes of the parts, in order.
    parts: Vec<(String, u64)>,
    /// The state of the hash after these parts.
    hash: Vec<u8>,
}

impl UploadRecord {
    fn offset(&self) -> u64 {
        self.parts.iter().map(|(_, size)| size).sum()
    }

    fn hash(&self) -> Result<Sha1> {
        let state = SerializedState::<Sha1>::try_from(self.hash.as_slice()).ok();
        let hash = state.and_then(|state| Sha1::deserialize(&state).ok());
        hash.ok_or_else(|| Error::corrupt("the hash of an upload does not read back"))
    }

    fn read(document: &Value) -> Result<Self> {
        Self::deserialize(document)
            .map_err(|e| Error::corrupt(format!("the record of an upload does not read back: {e}")))
    }

    fn document(&self) -> Result<Value> {
        serde_json::to_value(self)
            .map_err(|e| Error::corrupt(format!("cannot store the record of an upload: {e}")))
    }
}

/// An upload's id, which consists of its expiry, its length and a random part.
#[derive(Debug, Clone, PartialEq, Eq)]
struct UploadId {
    text: String,
    expires: Timestamp,
    length: u64,
}

impl UploadId {
    fn new(expires: Timestamp, length: u64) -> Self {
        let random = uuid::Uuid::new_v4().simple();
        let text = format!("{:010x}{length:012x}{random}", expires.as_second());
        Self { text, expires, length }
    }

    fn parse(text: &str) -> Option<Self> {
        let hex = |c: u8| c.is_ascii_digit() || (b'a'..=b'f').contains(&c);
        if text.len() != 54 || !text.bytes().all(hex) {
            return None;
        }
        let number = |digits: &str| u64::from_str_radix(digits, 16).ok();
        let expires = Timestamp::from_second(number(&text[..10])?.try_into().ok()?).ok()?;
        Some(Self { text: text.to_owned(), expires, length: number(&text[10..22])? })
    }

    fn is_expired(&self) -> bool {
        self.expires <= Timestamp::now()
    }

    fn key(&self) -> String {
        format!("{FOLDER}/{}.json", self.text)
    }

    fn folder(&self) -> String {
        format!("{FOLDER}/{}/", self.text)
    }
}

impl Uploads {
    pub(super) fn new(stores: &Stores, settings: IngestSettings) -> Self {
        Self { records: stores.records.clone(), storage: stores.storage.clone(), settings }
    }

    /// Begins an upload of `length` bytes. Returns `TooLarge` if `length` exceeds the upload limit,
    /// and `Busy` if waiting uploads leave no room.
    pub(crate) async fn begin(
        &self,
        access: &Access,
        length: u64,
        filename: Option<String>,
        metadata: String,
    ) -> Result<UploadState> {
        let max = self.settings.max_upload_bytes;
        if length > max {
            return Err(Error::TooLarge(format!(
                "the upload is {length} bytes, more than the {max} that are allowed \
                 (ingest.max_upload_bytes)"
            )));
        }
        self.check_room(length).await?;
        let expires = Timestamp::now()
            .checked_add(self.settings.upload_expiry)
            .map_err(|e| Error::Invalid(format!("ingest.upload_expiry is too long: {e}")))?;
        let id = UploadId::new(expires, length);
        let record = UploadRecord {
            metadata,
            filename,
            access: access.clone(),
            parts: Vec::new(),
            hash: Sha1::new().serialize().to_vec(),
        };
        self.records.put(&id.key(), &record.document()?).await?;
        Ok(state(&id, record))
    }

    /// Returns the maximum size of an upload, in bytes.
    pub(crate) fn max_bytes(&self) -> u64 {
        self.settings.max_upload_bytes
    }

    async fn check_room(&self, length: u64) -> Result<()> {
        let waiting = self.ids().await?;
        let reserved: u64 = waiting.iter().filter(|id| !id.is_expired()).map(|id| id.length).sum();
        let max = self.settings.max_waiting_bytes;
        let full = |message| Err(Error::Busy { message, retry_after: RETRY_AFTER });
        if reserved + length > max {
            return full(format!(
                "unfinished uploads reserve {reserved} bytes, and {length} more would exceed {max} \
                 (ingest.max_waiting_bytes); remove some, or try again later"
            ));
        }
        let max = self.settings.max_unfinished_uploads;
        if waiting.len() >= max {
            return full(format!(
                "{max} uploads are unfinished, which is the maximum \
                 (ingest.max_unfinished_uploads); remove some, or try again later"
            ));
        }
        Ok(())
    }

    /// Reads the state of an upload. Returns `NotFound` if the upload does not exist, belongs to
    /// another caller or has expired.
    pub(crate) async fn state(&self, access: &Access, id: &str) -> Result<UploadState> {
        let (id, record, _) = self.find(access, id).await?;
        Ok(state(&id, record))
    }

    /// Resumes an upload at `offset`. Returns `Conflict` if that is not the upload's current
    /// offset. `checksum` is the SHA-1 of the bytes to append; nothing is stored unless it matches.
    pub(crate) async fn append(
        &self,
        access: &Access,
        id: &str,
        offset: u64,
        checksum: Option<[u8; 20]>,
    ) -> Result<UploadWriter> {
        let (id, record, document) = self.find(access, id).await?;
        let current = record.offset();
        if current != offset {
            return Err(Error::Conflict(format!(
                "the upload stands at {current}, not at {offset} (Upload-Offset); resume from there"
            )));
        }
        UploadWriter::new(self, id, record, document, checksum)
    }

    /// Deletes an upload.
    pub(crate) async fn remove(&self, access: &Access, id: &str) -> Result<()> {
        let (id, ..) = self.find(access, id).await?;
        self.discard(&id).await
    }

    /// Deletes an ingested upload. If it is missing, does nothing.
    pub(crate) async fn delete_ingested(&self, id: &str) -> Result<()> {
        match UploadId::parse(id) {
            Some(id) => self.discard(&id).await,
            None => Ok(()),
        }
    }

    /// Deletes expired uploads and returns their number.
    pub async fn delete_expired(&self) -> Result<usize> {
        let mut deleted = 0;
        for id in self.ids().await?.iter().filter(|id| id.is_expired()) {
            self.discard(id).await?;
            deleted += 1;
        }
        Ok(deleted)
    }

    /// Reads a complete upload. Returns `Unprocessable` if a part is missing.
    pub(crate) async fn complete(&self, access: &Access, id: &str) -> Result<CompleteUpload> {
        let (id, record, _) = self.find(access, id).await?;
        complete(&id, record)
    }

    /// Reads the bytes of a complete upload, and its expected hash.
    pub(crate) async fn content(
        &self,
        access: &Access,
        id: &str,
    ) -> Result<(ByteStream, CompleteUpload)> {
        let (id, record, _) = self.find(access, id).await?;
        let folder = id.folder();
        let keys: Vec<String> =
            record.parts.iter().map(|(name, _)| format!("{folder}{name}")).collect();
        let storage = self.storage.clone();
        let parts = stream::iter(keys).then(move |key| {
            let storage = storage.clone();
            async move { storage.get(&key, None).await }
        });
        Ok((parts.try_flatten().boxed(), complete(&id, record)?))
    }

    async fn find(&self, access: &Access, text: &str) -> Result<(UploadId, UploadRecord, Value)> {
        let unknown = || {
            Error::NotFound(format!(
                "there is no upload '{}'; one is forgotten when it is ingested, when it is removed, and \
                 {} s after it began (ingest.upload_expiry)",
                text.chars().take(64).collect::<String>(),
                self.settings.upload_expiry.as_secs()
            ))
        };
        let id = UploadId::parse(text).filter(|id| !id.is_expired()).ok_or_else(unknown)?;
        let document = self.records.get(&id.key()).await?.ok_or_else(unknown)?;
        let record = UploadRecord::read(&document)?;
        let own = record.access.collections() == access.collections();
        if !own && access.collections().is_some() {
            return Err(unknown());
        }
        Ok((id, record, document))
    }

    /// Lists the ids of all uploads with a record.
    async fn ids(&self) -> Result<Vec<UploadId>> {
        let keys = self.records.list(&format!("{FOLDER}/")).await?;
        let name = |key: &String| {
            UploadId::parse(key.strip_prefix(FOLDER)?.strip_prefix('/')?.strip_suffix(".json")?)
        };
        Ok(keys.iter().filter_map(name).collect())
    }

    /// Removes the parts and then the record. The record is removed last, because the parts can be
    /// found only while it exists.
    async fn discard(&self, id: &UploadId) -> Result<()> {
        self.storage.delete_prefix(&id.folder()).await?;
        Ok(self.records.delete(&id.key()).await?)
    }
}

fn state(id: &UploadId, record: UploadRecord) -> UploadState {
    UploadState {
        id: id.text.clone(),
        offset: record.offset(),
        length: id.length,
        metadata: record.metadata,
        expires: id.expires,
    }
}

fn complete(id: &UploadId, record: UploadRecord) -> Result<CompleteUpload> {
    let offset = record.offset();
    if offset < id.length {
        return Err(Error::Unprocessable(format!(
            "upload_id names an upload of which {offset} of {} bytes are there; send the rest first",
            id.length
        )));
    }
    let video_id = VideoId::from_digest(record.hash()?.finalize().into());
    Ok(CompleteUpload { video_id, name: record.filename })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn upload_ids_contain_expiry_and_length() {
        let expires = Timestamp::from_second(1_790_000_000).unwrap();
        let id = UploadId::new(expires, 4 << 30);
        assert_eq!(UploadId::parse(&id.text).as_ref(), Some(&id));
        assert_ne!(UploadId::new(expires, 4 << 30), id);
        for wrong in ["", "x", &id.text[1..], &id.text.to_uppercase(), &id.text.replace('0', "é")]
        {
            assert_eq!(UploadId::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn hash_state_survives_serialization() {
        let mut hash = Sha1::new();
        hash.update(b"a");
        let record = UploadRecord {
            metadata: String::new(),
            filename: None,
            access: Access::default(),
            parts: vec![("0".into(), 1)],
            hash: hash.serialize().to_vec(),
        };
        let mut resumed = UploadRecord::read(&record.document().unwrap()).unwrap().hash().unwrap();
        resumed.update(b"bc");
        // The SHA-1 of "abc" (FIPS 180).
        assert_eq!(VideoId::from_digest(resumed.finalize().into()).as_str(), "a9993e364706816a");
    }
}
