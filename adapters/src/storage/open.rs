//! Defines the configuration section `[storage]` and opens the adapter that it selects.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use ports::storage::ObjectStorage;
use ports::units::{byte_size, seconds};
use serde::{Deserialize, Serialize};

use super::{OpendalStorage, RemoteLimits};
use crate::OpenError;

/// Where videos and posters are stored.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A folder under `data_dir`. The service serves its files.
    #[default]
    Fs,
    /// A bucket on S3 or a compatible server.
    S3,
    /// A bucket on Google Cloud Storage.
    Gcs,
    /// In memory. Objects are lost when the process ends.
    Memory,
}

impl Kind {
    /// Returns whether the service itself serves objects under their public URLs.
    pub fn is_served(self) -> bool {
        matches!(self, Self::Fs | Self::Memory)
    }
}

/// Settings of the object storage.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// The kind of storage.
    pub kind: Kind,
    /// Bucket name (S3 and GCS only).
    pub bucket: String,
    /// Key prefix within the bucket (S3 and GCS only).
    pub prefix: String,
    /// Endpoint URL, if it differs from the provider's (S3 and GCS only).
    pub endpoint: String,
    /// Region (S3 only).
    pub region: String,
    /// Access key id. If empty, it comes from the environment or the instance role (S3 only).
    pub access_key_id: String,
    /// Secret access key (S3 only).
    pub secret_access_key: String,
    /// A service account's JSON key, base64-encoded. If empty, credentials come from the
    /// environment or the instance role (GCS only).
    pub credential: String,
    /// Whether to use `bucket.host` instead of `host/bucket` in requests and public URLs (S3 only).
    pub virtual_host_style: bool,
    /// Base URL from which clients read objects, for example that of a CDN. If empty, the bucket's
    /// URL is used.
    pub public_base_url: String,
    /// Lifetime of presigned URLs for a private bucket, in seconds. 0 means that the bucket is
    /// public (S3 and GCS only).
    #[serde(with = "seconds")]
    pub signed_urls: u64,
    /// Size of an upload part in bytes; at least 5 MiB. Parts are held in memory (S3 and GCS only).
    #[serde(with = "byte_size")]
    pub part_size: usize,
    /// Number of parts of one upload to send in parallel (S3 and GCS only).
    pub parts: usize,
    /// Timeout for a request without a body, in seconds (S3 and GCS only).
    #[serde(with = "seconds")]
    pub timeout: u64,
    /// Timeout for each read or write of a body, in seconds (S3 and GCS only).
    #[serde(with = "seconds")]
    pub io_timeout: u64,
    /// Maximum number of retries of a failed request, with exponential backoff (S3 and GCS only).
    pub retries: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            kind: Kind::default(),
            bucket: String::new(),
            prefix: String::new(),
            endpoint: String::new(),
            region: "us-east-1".into(),
            access_key_id: String::new(),
            secret_access_key: String::new(),
            credential: String::new(),
            virtual_host_style: false,
            public_base_url: String::new(),
            signed_urls: 0,
            part_size: 8 << 20,
            parts: 4,
            timeout: 30,
            io_timeout: 60,
            retries: 4,
        }
    }
}

/// S3's minimum size in bytes for all parts except the last.
const SMALLEST_PART: usize = 5 << 20;

impl From<&Settings> for RemoteLimits {
    fn from(section: &Settings) -> Self {
        Self {
            part_size: section.part_size.max(SMALLEST_PART),
            concurrency: section.parts.max(1),
            timeout: Duration::from_secs(section.timeout),
            io_timeout: Duration::from_secs(section.io_timeout),
            retries: section.retries,
        }
    }
}

/// Opens the storage. A storage folder is created under `data_dir`. If the service itself serves
/// the objects, their URLs begin with `base_url`.
pub fn open(
    section: &Settings,
    data_dir: &Path,
    base_url: &str,
) -> Result<Arc<dyn ObjectStorage>, OpenError> {
    let storage = match section.kind {
        Kind::Fs => OpendalStorage::folder(&data_dir.join("storage"), base_url),
        Kind::Memory => OpendalStorage::memory(base_url),
        #[cfg(feature = "cloud")]
        Kind::S3 | Kind::Gcs => {
            bucket(section, &section.bucket, &section.prefix, &section.public_base_url)
        }
        #[cfg(not(feature = "cloud"))]
        Kind::S3 | Kind::Gcs => {
            return Err(OpenError::compiled_out("storage.kind = \"s3\" and \"gcs\"", "cloud"));
        }
    };
    Ok(Arc::new(storage.map_err(OpenError::in_section("storage"))?))
}

/// Opens a bucket on the configured server with the configured credentials.
#[cfg(feature = "cloud")]
pub(crate) fn bucket(
    section: &Settings,
    bucket: &str,
    prefix: &str,
    public_base_url: &str,
) -> ports::Result<OpendalStorage> {
    use super::{GcsOptions, S3Options, gcs, s3};
    use crate::open::set;

    let signed = (section.signed_urls > 0).then(|| Duration::from_secs(section.signed_urls));
    if section.kind == Kind::Gcs {
        return gcs(&GcsOptions {
            bucket: bucket.to_owned(),
            endpoint: set(&section.endpoint),
            prefix: prefix.to_owned(),
            credential: set(&section.credential),
            anonymous: false,
            public_base_url: set(public_base_url),
            signed,
            limits: section.into(),
        });
    }
    s3(&S3Options {
        bucket: bucket.to_owned(),
        endpoint: set(&section.endpoint),
        region: section.region.clone(),
        prefix: prefix.to_owned(),
        access_key_id: set(&section.access_key_id),
        secret_access_key: set(&section.secret_access_key),
        session_token: None,
        virtual_host_style: section.virtual_host_style,
        public_base_url: set(public_base_url),
        signed,
        limits: section.into(),
    })
}
