//! The configuration of coordination, repairs and caches.

use std::time::Duration;

use ports::units::{byte_size, seconds};
use serde::{Deserialize, Serialize};

/// The keys in `[records]` that the domain reads: coordination of instances, repairs and caches.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RecordSettings {
    /// Length of a lease. Given in seconds in the configuration file. When a dead instance's lease
    /// has expired, other instances may work on its videos. Applies only to records in a bucket.
    #[serde(with = "seconds")]
    pub lease: Duration,
    /// Deadline for a call to the records, the index or the bucket. Given in seconds in the
    /// configuration file.
    #[serde(with = "seconds")]
    pub deadline: Duration,
    /// Interval between repairs, which clean up after interrupted changes. Given in seconds in the
    /// configuration file.
    #[serde(with = "seconds")]
    pub repair_interval: Duration,
    /// Interval between scrubs, each of which checks every video once. Given in seconds in the
    /// configuration file.
    #[serde(with = "seconds")]
    pub scrub_interval: Duration,
    /// Memory for cached chunk pages and responses, half for each, in bytes. If the index is
    /// shared, half of the memory for responses is used for the listing summaries of search hits
    /// instead.
    #[serde(with = "byte_size")]
    pub cache_bytes: usize,
    /// How long summaries of the videos in search hits are cached if instances share an index.
    /// Given in seconds in the configuration file. Changes made by other instances become visible
    /// within this time.
    #[serde(with = "seconds")]
    pub video_cache_ttl: Duration,
    /// Disk space reserved for deleting videos when the disk is full, in bytes; 0 disables the
    /// reserve.
    #[serde(with = "byte_size")]
    pub reserve_bytes: u64,
}

impl Default for RecordSettings {
    fn default() -> Self {
        Self {
            lease: Duration::from_secs(60),
            deadline: Duration::from_secs(120),
            repair_interval: Duration::from_secs(300),
            scrub_interval: Duration::from_secs(86_400),
            cache_bytes: 32 << 20,
            video_cache_ttl: Duration::from_secs(5),
            reserve_bytes: 16 << 20,
        }
    }
}
