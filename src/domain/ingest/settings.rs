//! Ingest settings: the section `[ingest]`, and the keys in other sections that the domain reads.

use std::path::PathBuf;
use std::time::Duration;

use ports::units::{byte_size, seconds};
use serde::{Deserialize, Serialize};

use crate::analysis::evidence::TrackingOptions;
use crate::kernel::error::{Error, Result};

/// Settings for the ingest pipeline, including its limits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct IngestSettings {
    /// Number of jobs that run concurrently. With the NATS queue, 0 leaves all jobs to other
    /// instances.
    pub workers: usize,
    /// Maximum number of waiting jobs; further jobs are rejected.
    pub queue: usize,
    /// Number of chunks analyzed concurrently within a job.
    pub concurrency: usize,
    /// Maximum size of an upload, in bytes.
    #[serde(with = "byte_size")]
    pub max_upload_bytes: u64,
    /// Maximum disk usage of uploads that are arriving, waiting or being processed, in bytes. When
    /// it is reached, further uploads are rejected.
    #[serde(with = "byte_size")]
    pub max_waiting_bytes: u64,
    /// How long a resumable upload is kept, counted from its start. Given in seconds in the
    /// configuration file.
    #[serde(with = "seconds")]
    pub upload_expiry: Duration,
    /// Part size of resumable uploads, in bytes.
    #[serde(with = "byte_size")]
    pub upload_part_bytes: usize,
    /// Maximum number of parts in a resumable upload.
    pub max_upload_parts: usize,
    /// Maximum number of resumable uploads that are not ingested yet.
    pub max_unfinished_uploads: usize,
    /// Maximum duration of a video. Given in seconds in the configuration file.
    #[serde(with = "seconds")]
    pub max_duration: Duration,
    /// Maximum number of chunks in a video.
    pub max_chunks: usize,
    /// Maximum size of a video's metadata as JSON, in bytes.
    #[serde(with = "byte_size")]
    pub max_metadata_bytes: usize,
    /// Maximum number of corrections to a video.
    pub max_corrections: usize,
    /// Maximum length of a correction's text, in characters.
    pub max_correction_chars: usize,
    /// How much of each audio track is analyzed to choose one, in seconds. Used only for files with
    /// several audio tracks.
    #[serde(with = "seconds")]
    pub audio_track_probe_duration: u64,
    /// Audio whose peak amplitude is below this value (0..1) is amplified before voice activity
    /// detection.
    pub quiet_peak: f64,
    /// Minimum mean confidence of recognised words (0..1). Speech with less confidence is marked
    /// instead of transcribed if its language is uncertain. Speech that voice activity detection
    /// missed is recovered only if it reaches this confidence.
    pub min_speech_confidence: f32,
    /// Number of frames per chunk passed to models.
    pub frames_per_chunk: usize,
    /// Number of thumbnails sampled per second to detect when on-screen text changes.
    pub ocr_samples_per_second: f64,
    /// Maximum number of thumbnails sampled per chunk.
    pub max_ocr_samples: usize,
    /// Maximum number of frames per chunk for OCR.
    pub max_ocr_frames: usize,
    /// Maximum side length of posters and of the frames for models and OCR, in pixels.
    pub frame_side: u32,
    /// Maximum size of the frames that are decoded ahead of their analysis, in bytes. The frames of
    /// as many chunks are decoded in one pass; a chunk with more is decoded alone.
    #[serde(with = "byte_size")]
    pub frame_batch_bytes: u64,
}

impl Default for IngestSettings {
    fn default() -> Self {
        Self {
            workers: 1,
            queue: 100,
            concurrency: 3,
            max_upload_bytes: 4 << 30,
            max_waiting_bytes: 32 << 30,
            upload_expiry: Duration::from_secs(48 * 3600),
            upload_part_bytes: 8 << 20,
            max_upload_parts: 10_000,
            max_unfinished_uploads: 1000,
            max_duration: Duration::from_secs(12 * 3600),
            max_chunks: 10_000,
            max_metadata_bytes: 16 << 10,
            max_corrections: 1000,
            max_correction_chars: 500,
            audio_track_probe_duration: 600,
            quiet_peak: 0.05,
            min_speech_confidence: 0.5,
            frames_per_chunk: 3,
            ocr_samples_per_second: 2.0,
            max_ocr_samples: 160,
            max_ocr_frames: 24,
            frame_side: 1280,
            frame_batch_bytes: 96 << 20,
        }
    }
}

impl IngestSettings {
    /// Checks the duration of a video, in seconds. Returns `Unprocessable` if it is too long.
    pub(super) fn check_duration(&self, duration: f64) -> Result<()> {
        let max = self.max_duration.as_secs_f64();
        if duration > max {
            return Err(Error::Unprocessable(format!(
                "the video lasts {duration:.0} s, longer than the {max:.0} s that are allowed \
                 (ingest.max_duration)"
            )));
        }
        Ok(())
    }
}

/// The keys in `[fetch]` that the domain reads.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct DownloadSettings {
    /// Maximum size of a download, in bytes; `SERVICE_MAX_BYTES` overrides it.
    #[serde(with = "byte_size")]
    pub max_bytes: u64,
}

impl Default for DownloadSettings {
    fn default() -> Self {
        Self { max_bytes: 4 << 30 }
    }
}

/// The keys in `[decoder]` that the domain reads: the size of the frames for the boundary
/// detectors.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ScanSettings {
    /// Width of the frames for the boundary detectors, in pixels.
    pub scan_width: u32,
    /// Height of the frames for the boundary detectors, in pixels.
    pub scan_height: u32,
}

impl Default for ScanSettings {
    fn default() -> Self {
        Self { scan_width: 160, scan_height: 90 }
    }
}

/// The settings that an ingest reads, and the folder for spooled sources.
#[derive(Debug, Clone)]
pub(crate) struct IngestConfig {
    pub(crate) work_dir: PathBuf,
    pub(crate) ingest: IngestSettings,
    pub(crate) fetch: DownloadSettings,
    pub(crate) decoder: ScanSettings,
    pub(crate) detector: TrackingOptions,
}
