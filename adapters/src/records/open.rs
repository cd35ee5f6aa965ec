//! Defines the configuration section `[records]` and opens the store that it selects.

use std::path::Path;
use std::sync::Arc;

use ports::records::RecordStore;
use serde::{Deserialize, Serialize};

use super::{FolderRecords, MemoryRecords};
use crate::{OpenError, storage};

/// Where records are stored.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A folder under `data_dir`. If `[storage]` is in memory, records are in memory too.
    #[default]
    Folder,
    /// A private bucket that all instances share, on the server and with the credentials of
    /// `[storage]`.
    Bucket,
}

/// Settings of the record store.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// The kind of store.
    pub kind: Kind,
    /// Name of the bucket, which must be private.
    pub bucket: String,
    /// Key prefix within the bucket.
    pub prefix: String,
}

impl Default for Settings {
    fn default() -> Self {
        Self { kind: Kind::default(), bucket: String::new(), prefix: "records".into() }
    }
}

impl Settings {
    /// Returns whether other instances may change the records.
    pub fn is_shared(&self) -> bool {
        self.kind == Kind::Bucket
    }
}

/// Opens the record store, which is a folder under `data_dir` or a bucket on the server of
/// `storage`.
pub fn open(
    section: &Settings,
    storage: &storage::Settings,
    data_dir: &Path,
) -> Result<Arc<dyn RecordStore>, OpenError> {
    match section.kind {
        Kind::Bucket => shared(section, storage),
        Kind::Folder if storage.kind == storage::Kind::Memory => Ok(Arc::new(MemoryRecords::new())),
        Kind::Folder => {
            let folder = FolderRecords::open_exclusive(&data_dir.join("records"));
            Ok(Arc::new(folder.map_err(OpenError::in_section("data_dir"))?))
        }
    }
}

#[cfg(feature = "cloud")]
fn shared(
    section: &Settings,
    storage: &storage::Settings,
) -> Result<Arc<dyn RecordStore>, OpenError> {
    if storage.kind.is_served() {
        return Err(OpenError::new(
            "records.kind is \"bucket\", which needs storage.kind \"s3\" or \"gcs\"",
        ));
    }
    if section.bucket.is_empty() {
        return Err(OpenError::new(
            "records.kind is \"bucket\" but records.bucket names none; name one that is not public",
        ));
    }
    let at = OpenError::in_section("records");
    let bucket = storage::bucket(storage, &section.bucket, &section.prefix, "").map_err(&at)?;
    Ok(Arc::new(super::BucketRecords::new(bucket).map_err(&at)?))
}

#[cfg(not(feature = "cloud"))]
fn shared(_: &Settings, _: &storage::Settings) -> Result<Arc<dyn RecordStore>, OpenError> {
    Err(OpenError::compiled_out("records.kind = \"bucket\"", "cloud"))
}
