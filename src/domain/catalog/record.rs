//! What is stored of a video. `video.json` names immutable documents; replacing it publishes them
//! together, so a reader sees the state before an ingest or the one after, never a mixture.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::domain::catalog::about::About;
use crate::domain::catalog::outputs::OutputPages;
use crate::domain::chunking::Chunking;
use crate::domain::kernel::time::Span;
use crate::domain::kernel::video::VideoId;

/// The form in which records are written. Version 1 did not say which analyzers had found anything, and
/// up to version 2 one document held all outputs of an analyzer.
pub const VERSION: u32 = 3;

/// Records of this one do not say so.
pub(super) const FIRST_VERSION: u32 = 1;

fn first_version() -> u32 {
    FIRST_VERSION
}

/// The published state of one video.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct VideoRecord {
    /// The form of this record and of the documents it names, [`VERSION`] when it is written.
    #[serde(default = "first_version")]
    pub version: u32,
    /// How often the video has been published; a delete counts too.
    #[serde(default)]
    pub epoch: u64,
    /// Marks who may publish next: whoever changes the video enters a mark of its own first, and a
    /// swap that expects an older one fails.
    #[serde(default)]
    pub fence: String,
    /// First 16 hexadecimal digits of the SHA-1 of the bytes.
    pub video_id: VideoId,
    /// Cleaned name the video was ingested under.
    pub filename: String,
    /// `<video_id>/<filename>` in the bucket.
    pub storage_path: String,
    /// `<video_id>/poster.jpg` when there is one.
    pub poster_path: Option<String>,
    /// Where it was fetched from; without secrets.
    pub source_url: Option<String>,
    /// Size in bytes.
    pub size_bytes: u64,
    /// Length of the video, seconds.
    pub duration: f64,
    /// What the container says of its length, where it is another, seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub container_duration: Option<f64>,
    /// MIME type.
    pub content_type: String,
    /// Pictures per second, where the container says so.
    #[serde(default)]
    pub frame_rate: Option<f64>,
    /// Timecode of its first picture, as `01:00:00:00`, where the container has one; `;` before the
    /// frames means drop-frame.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timecode: Option<String>,
    /// Which of its sound tracks was used, counted from 0, where it has several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub audio_track: Option<u32>,
    /// What of the file was left out or chosen, each a sentence without a full stop.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// When it was recorded by what its container says, ISO 8601.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub container_recorded_at: Option<String>,
    /// How it was split.
    pub chunking: Chunking,
    /// Number of chunks.
    pub chunks: u32,
    /// Key of the `Vec<Span>` document.
    pub chunks_document: String,
    /// Key of the `Signals` document.
    pub signals_document: String,
    /// Key of the `Speech` document; missing in records of versions that did not listen.
    #[serde(default)]
    pub speech_document: Option<String>,
    /// Key of the `Vec<Correction>` document, where people have corrected anything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub corrections_document: Option<String>,
    /// Analyzers with output, by id.
    pub analyzers: BTreeMap<String, AnalyzerEntry>,
    /// Stored aggregates, by id: the key of each result document.
    pub aggregates: BTreeMap<String, String>,
    /// [`Self::analyzed_by`] of the output that the aggregates were computed from.
    pub aggregated_analyzers: Vec<String>,
    /// What it is about, in a sentence of its aggregates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub synopsis: Option<String>,
    /// How long its last ingest took, where it found anything out.
    #[serde(default)]
    pub took: Took,
    /// When it was first ingested, ISO 8601.
    pub created_at: String,
    /// What its owner says of it.
    #[serde(default)]
    pub about: About,
    /// Keys of objects that are never used again: see [`Tombstone::retired`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub retired: Vec<String>,
}

/// What stands in the place of a record where there is no video: its first ingest is under way, or
/// it is being deleted. Whatever is stored of the video is garbage, but what was paid for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tombstone {
    /// Why there is no video.
    pub tombstone: Absence,
    /// As in a record.
    pub version: u32,
    /// As in a record.
    pub epoch: u64,
    /// As in a record.
    pub fence: String,
    /// As in a record.
    pub video_id: VideoId,
    /// Keys of the objects that are removed with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub objects: Vec<String>,
    /// Keys that an instance may still be about to remove which has been taken for dead: an object
    /// that gets one of them could vanish at any time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub retired: Vec<String>,
}

/// Why there is no video.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Absence {
    /// Its first ingest is under way, or died.
    Unpublished,
    /// That ingest has failed: its documents, points and objects are being removed.
    Discarded,
    /// It is being deleted, with what was paid for.
    Deleted,
    /// Nothing is left.
    Vacant,
}

/// What steps of an ingest took, seconds; 0 where they were spared.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Took {
    /// One pass over the file: decoding, the signals of the boundary detectors, and speech recognition.
    #[serde(alias = "perceiving")]
    pub scan_seconds: f64,
    /// Every aggregator together.
    #[serde(alias = "aggregating")]
    pub aggregate_seconds: f64,
}

/// What an analyzer took for the chunks that it had no kept results of.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Cost {
    /// How many they were.
    pub chunks: u32,
    /// How long it took, seconds.
    pub seconds: f64,
    /// Calls of the language model, if they are billed.
    pub model_calls: u32,
    /// Tokens these read.
    pub input_tokens: u64,
    /// Tokens these wrote.
    pub output_tokens: u64,
}

impl VideoRecord {
    /// Who says when it was recorded: `container` or `user`.
    pub fn recorded_at_source(&self) -> Option<&'static str> {
        let recorded_at = self.about.recorded_at.as_ref()?;
        Some(match self.container_recorded_at.as_ref() == Some(recorded_at) {
            true => "container",
            false => "user",
        })
    }

    /// Where it ends, seconds, by its chunks: what is decoded may last longer than the container says.
    pub fn end(&self, chunks: &[Span]) -> f64 {
        chunks.last().map_or(self.duration, |last| last.end.max(self.duration))
    }

    /// Ids of the analyzers with output, in alphabetical order: one that ran and found nothing on any
    /// chunk is not among them.
    pub fn analyzer_ids(&self) -> Vec<String> {
        let found = self.analyzers.iter().filter(|(_, entry)| entry.found > 0);
        found.map(|(id, _)| id.clone()).collect()
    }

    /// Whether an analyzer has output on any chunk.
    pub fn has_output(&self, analyzer: &str) -> bool {
        self.analyzers.get(analyzer).is_some_and(|entry| entry.found > 0)
    }

    /// What marks its points.
    pub(crate) fn revisions(&self) -> BTreeSet<String> {
        self.analyzers.values().map(|entry| entry.revision.clone()).collect()
    }

    /// How many points the index must hold for it.
    pub(crate) fn points(&self) -> u64 {
        self.analyzers.values().map(|entry| entry.points).sum()
    }

    /// Each analyzer with output and what it worked with: differs when the output does.
    pub fn analyzed_by(&self) -> Vec<String> {
        let by = |(id, entry): (&String, &AnalyzerEntry)| match entry.uncorrected {
            Some(_) => format!("{id} {} corrected {}", entry.fingerprint, entry.revision),
            None => format!("{id} {}", entry.fingerprint),
        };
        self.analyzers.iter().map(by).collect()
    }
}

/// One analyzer's stored output.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AnalyzerEntry {
    /// Where its outputs are, one or null per chunk.
    #[serde(flatten)]
    pub pages: OutputPages,
    /// Where they are as the models have made them, once people have corrected any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uncorrected: Option<OutputPages>,
    /// Model and prompt version it came from.
    pub fingerprint: String,
    /// On how many chunks it found anything.
    #[serde(default)]
    pub found: u32,
    /// How many points the index must hold for it.
    pub points: u64,
    /// Marks those points; changes whenever they do.
    pub revision: String,
    /// Embedding model of the points.
    pub embedder: String,
    /// What it took.
    #[serde(default)]
    pub cost: Cost,
}
