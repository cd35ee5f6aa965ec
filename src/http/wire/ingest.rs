//! The options of an ingest, which the ingest routes and the cost estimate share.

use poem_openapi::Object;

use super::values::AnyObject;
use domain::analysis::DEFAULT_ANALYZER;
use domain::chunking::{ChunkingFields, Weights};
use domain::ingest::IngestFields;
use domain::kernel::access::Access;
use domain::records::metadata::MetadataPatch;

/// The fields that all ingest routes share, with their types and defaults.
#[derive(Object)]
pub(crate) struct IngestOptions {
    /// Comma-separated analyzer ids. Default: `default_video`.
    #[oai(default = "analyzers")]
    analyzers: String,
    #[oai(flatten)]
    chunking: ChunkingOptions,
    /// http(s) URL that receives the finished job in a signed POST. Private addresses are rejected.
    #[oai(nullable)]
    callback_url: Option<String>,
    /// Maximum number of language model calls. The ingest fails if it needs more; the next ingest
    /// reuses the completed calls. Null: no limit.
    #[oai(nullable, validator(minimum(value = "0"), maximum(value = "1000000")))]
    max_model_calls: Option<u32>,
    /// Index of the audio track to use, counted from 0. Null: the track with the most speech.
    #[oai(nullable, validator(minimum(value = "0"), maximum(value = "1000")))]
    audio_track: Option<u32>,
    /// User metadata. Values are strings, numbers, booleans, ISO 8601 times or lists of strings.
    /// For an existing video, the given keys are added or replaced, and null removes a key.
    #[oai(default)]
    metadata: AnyObject,
    /// Name of the collection to put the video into, at most 128 characters.
    #[oai(nullable)]
    collection: Option<String>,
    /// Recording time of the first frame (ISO 8601).
    #[oai(nullable)]
    recorded_at: Option<String>,
}

/// How to split a video into chunks.
#[derive(Object)]
#[oai(rename = "PreviewRequest")]
pub(crate) struct ChunkingOptions {
    /// Chunking mode: `preset`, `weights` or `interval`. Default: `preset`.
    #[oai(default = "mode")]
    mode: String,
    /// Preset: `audio`, `video` or `audio_video`; used with `mode=preset` only. Default:
    /// `audio_video`.
    #[oai(default = "preset")]
    preset: String,
    /// Weight of speaker changes, at least 0; used with `mode=weights` only. That mode requires at
    /// least one weight.
    #[oai(nullable)]
    speaker: Option<f64>,
    /// Weight of silences, at least 0; used with `mode=weights` only.
    #[oai(nullable)]
    silence: Option<f64>,
    /// Weight of shot boundaries, at least 0; used with `mode=weights` only.
    #[oai(nullable)]
    cut: Option<f64>,
    /// Weight of topic shifts, at least 0; used with `mode=weights` only.
    #[oai(nullable)]
    semantic: Option<f64>,
    /// Chunk duration in seconds; used with `mode=interval` only.
    #[oai(nullable)]
    interval: Option<f64>,
    /// Minimum chunk duration in seconds; ignored with `mode=interval`. Default: 5.
    #[oai(default = "min_duration")]
    min_duration: f64,
    /// Maximum chunk duration in seconds; ignored with `mode=interval`. Default: 20.
    #[oai(default = "max_duration")]
    max_duration: f64,
}

fn analyzers() -> String {
    DEFAULT_ANALYZER.into()
}

fn mode() -> String {
    ChunkingFields::default().mode
}

fn preset() -> String {
    ChunkingFields::default().preset
}

fn min_duration() -> f64 {
    ChunkingFields::default().min_duration
}

fn max_duration() -> f64 {
    ChunkingFields::default().max_duration
}

impl From<ChunkingOptions> for ChunkingFields {
    fn from(o: ChunkingOptions) -> Self {
        Self {
            mode: o.mode,
            preset: o.preset,
            weights: Weights {
                speaker: o.speaker,
                silence: o.silence,
                cut: o.cut,
                semantic: o.semantic,
            },
            interval: o.interval,
            min_duration: o.min_duration,
            max_duration: o.max_duration,
        }
    }
}

impl From<IngestOptions> for IngestFields {
    fn from(o: IngestOptions) -> Self {
        Self {
            analyzers: o.analyzers,
            chunking: o.chunking.into(),
            idempotency_key: None,
            callback_url: o.callback_url,
            max_model_calls: o.max_model_calls,
            audio_track: o.audio_track,
            metadata: MetadataPatch {
                values: o.metadata.0,
                collection: o.collection.map(Into::into),
                recorded_at: o.recorded_at.map(Into::into),
            },
            access: Access::default(),
        }
    }
}
