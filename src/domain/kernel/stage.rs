//! The stages of a job, which clients see, and the measured steps of an ingest.

use serde::{Deserialize, Serialize};

/// The pipeline stage of a running job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// The work has not begun yet.
    Starting,
    /// The source is being downloaded, hashed and probed.
    Fetching,
    /// The boundary detectors are running and their results are being fused.
    Chunking,
    /// The chunks are known; `detail.chunks` says how many there are.
    Chunked,
    /// The analyzer `detail.analyzer` is running.
    Analyzing,
    /// The output of the analyzer `detail.analyzer` is being embedded.
    Indexing,
    /// The aggregator `detail.aggregator` is running.
    Aggregating,
    /// The videos in a collection are being changed or deleted, so far `detail.done` of
    /// `detail.total`.
    Changing,
    /// A video is being matched against the alerts, so far `detail.done` of `detail.total`.
    Alerting,
    /// An evaluation is running and has asked `detail.asked` of `detail.of` questions with the
    /// configuration `detail.configuration`.
    Evaluating,
    /// The work has finished.
    Complete,
}

impl Stage {
    /// Returns the stage's name in API responses.
    pub fn name(self) -> &'static str {
        match self {
            Self::Starting => "starting",
            Self::Fetching => "fetching",
            Self::Chunking => "chunking",
            Self::Chunked => "chunked",
            Self::Analyzing => "analyzing",
            Self::Indexing => "indexing",
            Self::Aggregating => "aggregating",
            Self::Changing => "changing",
            Self::Alerting => "alerting",
            Self::Evaluating => "evaluating",
            Self::Complete => "complete",
        }
    }
}

/// A step of an ingest whose duration is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    /// Decoding the whole file, including the detectors that run at the same time.
    Scan,
    /// Detecting shot boundaries, during the scan.
    FindCuts,
    /// Detecting voice activity, during the scan.
    FindSpeech,
    /// Speaker diarization.
    Diarize,
    /// Speech recognition.
    RecogniseSpeech,
    /// Decoding single frames.
    DecodeFrames,
    /// Detecting objects in a frame.
    FindObjects,
    /// Classifying images of detected objects.
    ClassifyObjects,
    /// Classifying whole frames.
    ClassifyFrames,
    /// Computing the vectors of frames.
    EmbedFrames,
    /// Recognising text in a frame (OCR).
    ReadText,
    /// Embedding text.
    Embed,
    /// Running all aggregators.
    Aggregate,
}

impl Step {
    /// Returns the step's name in API responses and metrics.
    pub fn name(self) -> &'static str {
        match self {
            Self::Scan => "scan",
            Self::FindCuts => "find_cuts",
            Self::FindSpeech => "find_speech",
            Self::Diarize => "tell_speakers",
            Self::RecogniseSpeech => "recognise_speech",
            Self::DecodeFrames => "decode_frames",
            Self::FindObjects => "find_objects",
            Self::ClassifyFrames => "classify_frames",
            Self::EmbedFrames => "embed_frames",
            Self::ClassifyObjects => "classify_objects",
            Self::ReadText => "read_text",
            Self::Embed => "embed",
            Self::Aggregate => "aggregate",
        }
    }
}
