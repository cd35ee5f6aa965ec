//! The stored record of a video. `video.json` references immutable documents. Replacing it
//! publishes all of them at once, so readers see either the state before an ingest or the state
//! after it, never a mixture.

use std::collections::{BTreeMap, BTreeSet};

use ports::FrameRate;
use serde::{Deserialize, Serialize};

use crate::chunking::Chunking;
use crate::kernel::reel;
use crate::kernel::time::Span;
use crate::kernel::video::VideoId;
use crate::records::metadata::VideoMetadata;
use crate::records::output_pages::OutputPages;

/// Version of the record format. Version 1 did not store which analyzers had output, and up to
/// version 2, one document held all outputs of an analyzer.
pub const VERSION: u32 = 3;

/// The format version that does not store which analyzers had output.
pub(crate) const FIRST_VERSION: u32 = 1;

fn first_version() -> u32 {
    FIRST_VERSION
}

/// The published state of one video.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct VideoRecord {
    /// Format version of this record and of the documents that it references. Records are always
    /// written with [`VERSION`].
    #[serde(default = "first_version")]
    pub version: u32,
    /// Number of times that the video's state has been published. Deletions count, too.
    #[serde(default)]
    pub epoch: u64,
    /// The last claim's random fence. Every change to the video begins by swapping in a new fence,
    /// so a swap that expects an older fence fails.
    #[serde(default)]
    pub fence: String,
    /// First 16 hexadecimal digits of the SHA-1 of the file.
    pub video_id: VideoId,
    /// The cleaned file name.
    pub filename: String,
    /// Object key, `<video_id>/<filename>`.
    pub storage_path: String,
    /// Object key of the poster, `<video_id>/poster.jpg`, if there is one.
    pub poster_path: Option<String>,
    /// The URL that the file was fetched from, if any, with secrets redacted.
    pub source_url: Option<String>,
    /// Size in bytes.
    pub size_bytes: u64,
    /// Length of the video, in seconds.
    pub duration: f64,
    /// Duration according to the container, in seconds, if it differs from `duration`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub container_duration: Option<f64>,
    /// MIME type.
    pub content_type: String,
    /// Frames per second, if the container states it.
    #[serde(default)]
    pub frame_rate: Option<f64>,
    /// Frames per second as a fraction. Missing in records of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exact_frame_rate: Option<FrameRate>,
    /// Width and height of the displayed pictures, in pixels. Missing in records of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub picture_size: Option<(u32, u32)>,
    /// Timecode of the first frame, such as `01:00:00:00`, if the container has one. A `;` before
    /// the frame number means drop-frame.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timecode: Option<String>,
    /// The reel that the container states. See [`Self::reel_name`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub container_reel: Option<String>,
    /// Number of audio tracks. Missing in records of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub audio_tracks: Option<u32>,
    /// Index of the audio track that was used, if there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub audio_track: Option<u32>,
    /// Warnings about parts of the file that were skipped or selected. Each warning is a sentence
    /// without a full stop.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// Recording time according to the container, in ISO 8601.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub container_recorded_at: Option<String>,
    /// How the video was chunked.
    pub chunking: Chunking,
    /// Number of chunks.
    pub chunks: u32,
    /// Key of the `Vec<Span>` document.
    pub chunks_document: String,
    /// Key of the `Signals` document.
    pub signals_document: String,
    /// Key of the `Speech` document; missing in records that predate speech recognition.
    #[serde(default)]
    pub speech_document: Option<String>,
    /// Key of the `Vec<Correction>` document, if there are corrections.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub corrections_document: Option<String>,
    /// Analyzers with output, by id.
    pub analyzers: BTreeMap<String, AnalyzerEntry>,
    /// Keys of the documents that hold the aggregators' results, by aggregator id.
    pub aggregates: BTreeMap<String, String>,
    /// The value of [`Self::analyzed_by`] for the outputs that the aggregates were computed from.
    pub aggregated_analyzers: Vec<String>,
    /// A one-sentence synopsis from the aggregates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub synopsis: Option<String>,
    /// How long the steps of the last ingest took.
    #[serde(default)]
    pub took: IngestDurations,
    /// Time of the first ingest, in ISO 8601.
    pub created_at: String,
    /// User metadata.
    #[serde(default, rename = "about")]
    pub metadata: VideoMetadata,
    /// Object keys that must not be reused; see [`Tombstone::retired`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub retired: Vec<String>,
}

/// Takes the place of a record while there is no video, for example during the first ingest or a
/// deletion. All data stored for the video is then garbage, except for the cache.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tombstone {
    /// Why there is no video.
    pub tombstone: Absence,
    /// Same as [`VideoRecord::version`].
    pub version: u32,
    /// Same as [`VideoRecord::epoch`].
    pub epoch: u64,
    /// Same as [`VideoRecord::fence`].
    pub fence: String,
    /// Same as [`VideoRecord::video_id`].
    pub video_id: VideoId,
    /// Keys of the objects to remove.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub objects: Vec<String>,
    /// Keys of objects that an instance presumed dead may still be removing. A new object with one
    /// of these keys could vanish at any time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub retired: Vec<String>,
}

/// Why there is no video.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Absence {
    /// The first ingest is in progress or was interrupted.
    Unpublished,
    /// The first ingest has failed, and its documents, points and objects are being removed.
    Discarded,
    /// The video is being deleted, including its cache.
    Deleted,
    /// All data has been removed.
    Vacant,
}

/// Durations of ingest steps, in seconds; 0 for skipped steps.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct IngestDurations {
    /// Extracting the signals from the file: decoding, boundary detection and speech recognition.
    #[serde(alias = "perceiving")]
    pub scan_seconds: f64,
    /// Running all aggregators.
    #[serde(alias = "aggregating")]
    pub aggregate_seconds: f64,
}

/// The cost of running an analyzer on the chunks without cached results.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct ProcessingCost {
    /// Number of chunks without cached results.
    pub chunks: u32,
    /// Duration, in seconds.
    pub seconds: f64,
    /// Number of billed language model calls.
    pub model_calls: u32,
    /// Number of input tokens in billed calls.
    pub input_tokens: u64,
    /// Number of output tokens in billed calls.
    pub output_tokens: u64,
}

impl VideoRecord {
    /// Whether the file is a video and not only sound.
    pub fn has_picture(&self) -> bool {
        !self.content_type.starts_with("audio/")
    }

    /// Returns the source of the recording time, `container` or `user`, if the time is known.
    pub fn recorded_at_source(&self) -> Option<&'static str> {
        let recorded_at = self.metadata.recorded_at.as_ref()?;
        Some(match self.container_recorded_at.as_ref() == Some(recorded_at) {
            true => "container",
            false => "user",
        })
    }

    /// Returns the frames per second as a fraction, if the container states a rate from 1 to 1000.
    pub fn frame_rate_fraction(&self) -> Option<FrameRate> {
        let rate = self.exact_frame_rate.or_else(|| FrameRate::nearest(self.frame_rate?));
        rate.filter(|rate| (1.0..=1000.0).contains(&rate.per_second()))
    }

    /// Returns the name of the reel in edit lists: the reel that the container states, otherwise a
    /// name made from the file name.
    pub fn reel_name(&self) -> Option<String> {
        reel::reel_name(self.container_reel.as_deref(), &self.filename)
    }

    /// Returns the end of the video, in seconds: its duration or the end of its last chunk,
    /// whichever is later. The decoded video may be longer than the container states.
    pub fn end(&self, chunks: &[Span]) -> f64 {
        chunks.last().map_or(self.duration, |last| last.end.max(self.duration))
    }

    /// Returns the ids of the analyzers with output, in alphabetical order. Omits analyzers that
    /// ran but had no output for any chunk.
    pub fn analyzer_ids(&self) -> Vec<String> {
        let with_output = self.analyzers.iter().filter(|(_, entry)| entry.found > 0);
        with_output.map(|(id, _)| id.clone()).collect()
    }

    /// Whether an analyzer has output for at least one chunk.
    pub fn has_output(&self, analyzer: &str) -> bool {
        self.analyzers.get(analyzer).is_some_and(|entry| entry.found > 0)
    }

    /// Returns the revisions of the video's points in the index.
    pub(crate) fn revisions(&self) -> BTreeSet<String> {
        self.analyzers.values().map(|entry| entry.revision.clone()).collect()
    }

    /// Returns how many points the video should have in the index.
    pub(crate) fn points(&self) -> u64 {
        self.analyzers.values().map(|entry| entry.points).sum()
    }

    /// Describes each analyzer by its id and its fingerprint. If its outputs were corrected, the
    /// description also contains their revision. A description changes whenever the outputs change.
    pub fn analyzed_by(&self) -> Vec<String> {
        let describe = |(id, entry): (&String, &AnalyzerEntry)| match entry.uncorrected {
            Some(_) => format!("{id} {} corrected {}", entry.fingerprint, entry.revision),
            None => format!("{id} {}", entry.fingerprint),
        };
        self.analyzers.iter().map(describe).collect()
    }
}

/// One analyzer's stored output.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AnalyzerEntry {
    /// Location of the outputs, one output or null per chunk.
    #[serde(flatten)]
    pub pages: OutputPages,
    /// Location of the uncorrected outputs, if any corrections apply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uncorrected: Option<OutputPages>,
    /// Fingerprint of the model and the prompt.
    pub fingerprint: String,
    /// Number of chunks for which the analyzer had output.
    #[serde(default)]
    pub found: u32,
    /// Expected number of points in the index.
    pub points: u64,
    /// Revision of the points. It changes whenever the points change.
    pub revision: String,
    /// The model that embedded the points.
    pub embedder: String,
    /// The cost of running the analyzer.
    #[serde(default)]
    pub cost: ProcessingCost,
}
