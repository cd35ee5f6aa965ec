//! The result of an ingest, which its job reports.

use std::collections::BTreeMap;

use ports::storage::ObjectStorage;
use serde::{Deserialize, Serialize};

use crate::aggregation::result::ModelUsage;
use crate::ingest::request::IngestRequest;
use crate::kernel::error::Result;
use crate::kernel::profile::{Profile, StepCost};
use crate::kernel::video::VideoId;
use crate::records::record::VideoRecord;

/// The result of an ingest.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct IngestResult {
    /// First 16 hexadecimal digits of the SHA-1 of the file.
    pub video_id: VideoId,
    /// Public storage URL of the video file.
    pub video_url: String,
    /// Public storage URL of the poster; `None` if there is no poster.
    pub poster_url: Option<String>,
    /// Object key, `<video_id>/<filename>`.
    pub storage_path: String,
    /// The cleaned file name.
    pub filename: String,
    /// Length of the video, in seconds.
    pub duration: f64,
    /// Size of the file, in bytes.
    pub size_bytes: u64,
    /// Canonical form of the chunking configuration.
    pub chunk_config: String,
    /// Number of chunks.
    pub chunks: u32,
    /// Analyzers with output.
    pub analyzers: Vec<String>,
    /// Analyzers whose output was dropped because the chunks changed and the request did not
    /// include these analyzers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dropped: Vec<String>,
    /// Warnings about parts of the file that were skipped or selected. Each warning is a sentence
    /// without a full stop.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// Number of vectors written, by analyzer.
    pub indexed: BTreeMap<String, u64>,
    /// The outcome of aggregation.
    pub aggregated: AggregationStatus,
    /// The usage of the language model, if it is billed and was called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<ModelUsage>,
    /// How often each step ran and how long it took, by step name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub profile: BTreeMap<String, StepCost>,
}

/// The outcome of aggregation during an ingest.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum AggregationStatus {
    /// Aggregation ran.
    Done {
        /// Ids of computed aggregates.
        ran: Vec<String>,
        /// Ids of reused aggregates.
        reused: Vec<String>,
        /// Ids of all stored aggregates.
        aggregates: Vec<String>,
        /// Ids of aggregators that were skipped because their inputs are missing.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        skipped: Vec<String>,
        /// `TypeName: message` for each failed aggregator, by id.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        failed: BTreeMap<String, String>,
    },
    /// Aggregation failed as a whole, but the ingest succeeded.
    Failed {
        /// The error, as `TypeName: message`.
        error: String,
    },
}

impl IngestResult {
    /// Builds the result from the published record and the one `before` it, if any.
    pub(super) async fn new(
        storage: &dyn ObjectStorage,
        record: &VideoRecord,
        before: Option<&VideoRecord>,
        request: &IngestRequest,
        aggregated: AggregationStatus,
        usage: Option<ModelUsage>,
        profile: &Profile,
    ) -> Result<Self> {
        let poster_url = match &record.poster_path {
            Some(path) => Some(storage.download_url(path).await?),
            None => None,
        };
        Ok(Self {
            video_id: record.video_id,
            video_url: storage.download_url(&record.storage_path).await?,
            poster_url,
            storage_path: record.storage_path.clone(),
            filename: record.filename.clone(),
            duration: record.duration,
            size_bytes: record.size_bytes,
            chunk_config: record.chunking.config(),
            chunks: record.chunks,
            analyzers: record.analyzer_ids(),
            dropped: before.map_or_else(Vec::new, |before| {
                let mut ids = before.analyzer_ids();
                ids.retain(|id| !record.analyzers.contains_key(id));
                ids
            }),
            warnings: record.warnings.clone(),
            indexed: request
                .analyzers
                .iter()
                .filter_map(|a| {
                    let id = a.spec().id;
                    Some((id.to_owned(), record.analyzers.get(id)?.points))
                })
                .collect(),
            aggregated,
            usage,
            profile: profile.totals(),
        })
    }
}
