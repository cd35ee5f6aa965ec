//! The parameters of an ingest: as the client sends them, and parsed.

use serde::{Deserialize, Serialize};

use crate::analysis::AnalyzerRef;
use crate::chunking::{Chunking, ChunkingFields};
use crate::kernel::access::Access;
use crate::kernel::error::Result;
use crate::kernel::ports::Models;
use crate::records::extractors::ExtractorStore;
use crate::records::metadata::MetadataPatch;

/// The client's parameters for an ingest, apart from its source.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct IngestFields {
    /// Comma-separated analyzer ids.
    pub analyzers: String,
    /// Chunking mode and parameters.
    pub chunking: ChunkingFields,
    /// The request's idempotency key; a repeated request with the same key returns the same job.
    pub idempotency_key: Option<String>,
    /// The webhook to call when the job has ended.
    pub callback_url: Option<String>,
    /// Maximum number of language model calls.
    pub max_model_calls: Option<u32>,
    /// Index of the audio track to use; by default, the track with the most speech.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub audio_track: Option<u32>,
    /// The user metadata of a new video, or a change to an existing video's metadata.
    #[serde(default, rename = "about")]
    pub metadata: MetadataPatch,
    /// The permissions of the caller, who must be able to see the video if it exists.
    #[serde(default)]
    pub access: Access,
}

/// A validated request.
pub(crate) struct IngestRequest {
    pub(crate) analyzers: Vec<AnalyzerRef>,
    pub(crate) chunking: Chunking,
    pub(crate) max_model_calls: Option<u32>,
    pub(crate) audio_track: Option<u32>,
    pub(crate) metadata: MetadataPatch,
}

impl IngestRequest {
    /// Parses and validates the client's parameters.
    pub(crate) async fn parse(
        fields: &IngestFields,
        extractors: &ExtractorStore,
        models: &Models,
    ) -> Result<Self> {
        Ok(Self {
            analyzers: extractors.select(models, &fields.analyzers).await?,
            chunking: Chunking::parse(&fields.chunking)?,
            max_model_calls: fields.max_model_calls,
            audio_track: fields.audio_track,
            metadata: fields.metadata.clone(),
        })
    }
}
