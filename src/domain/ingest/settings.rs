//! What bounds an ingest: the section `[ingest]`, and the keys of others that it reads.

use std::path::PathBuf;
use std::time::Duration;

use ports::units::{byte_size, seconds};
use serde::{Deserialize, Serialize};

use crate::domain::analysis::evidence::TrackingOptions;

/// How the pipeline works, and how much it takes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct IngestSettings {
    /// Jobs that run at once; 0 leaves them to other instances (nats).
    pub workers: usize,
    /// Jobs that may wait; one more is refused.
    pub queue: usize,
    /// Chunks analyzed at once within a job.
    pub concurrency: usize,
    /// Largest upload, bytes.
    #[serde(with = "byte_size")]
    pub max_upload_bytes: u64,
    /// Bytes of uploads on this machine's disk, on their way, waiting or worked on; past them one more
    /// is refused.
    #[serde(with = "byte_size")]
    pub max_waiting_bytes: u64,
    /// Time after which an upload in pieces is forgotten, in the file seconds.
    #[serde(with = "seconds")]
    pub upload_expiry: Duration,
    /// Bytes of an upload in pieces that are stored at a time.
    #[serde(with = "byte_size")]
    pub upload_part_bytes: usize,
    /// Most parts of one upload in pieces.
    pub max_upload_parts: usize,
    /// Uploads in pieces that may have been begun and not ingested.
    pub max_unfinished_uploads: usize,
    /// Longest video, in the file seconds.
    #[serde(with = "seconds")]
    pub max_duration: Duration,
    /// Most chunks of one video.
    pub max_chunks: usize,
    /// Longest metadata of one video, bytes as JSON.
    #[serde(with = "byte_size")]
    pub max_metadata_bytes: usize,
    /// Most corrections of one video.
    pub max_corrections: usize,
    /// Longest text of a correction, characters.
    pub max_correction_chars: usize,
    /// How much of each sound track of a file with several is listened to, to choose one, seconds.
    #[serde(with = "seconds")]
    pub audio_track_probe_duration: u64,
    /// Sound whose loudest sample is below this is amplified before speech is looked for, 0..1.
    pub quiet_peak: f64,
    /// Mean confidence of words below which speech is doubted, 0..1: in a language that is unsure it is
    /// marked instead of written down, and what was passed over at first stays so.
    pub min_speech_confidence: f32,
    /// Frames per chunk that models look at.
    pub frames_per_chunk: usize,
    /// Thumbnails sampled per second to detect when text on screen changes.
    pub ocr_samples_per_second: f64,
    /// Most thumbnails per chunk.
    pub max_ocr_samples: usize,
    /// Most frames per chunk whose text is read.
    pub max_ocr_frames: usize,
    /// Largest side of those frames and of posters, pixels.
    pub frame_side: u32,
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
        }
    }
}

/// What the domain reads of `[fetch]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct DownloadSettings {
    /// Largest download, bytes; `SERVICE_MAX_BYTES` sets it too.
    #[serde(with = "byte_size")]
    pub max_bytes: u64,
}

impl Default for DownloadSettings {
    fn default() -> Self {
        Self { max_bytes: 4 << 30 }
    }
}

/// What the domain reads of `[decoder]`: the small frames that the boundary detectors look at.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ScanSettings {
    /// Width of the frames the detectors look at, pixels.
    pub scan_width: u32,
    /// Their height, pixels.
    pub scan_height: u32,
}

impl Default for ScanSettings {
    fn default() -> Self {
        Self { scan_width: 160, scan_height: 90 }
    }
}

/// What the domain reads of `[records]`: what instances that share them owe each other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RepairSettings {
    /// Time after which the videos of an instance that died may be worked on, in the file seconds
    /// (bucket).
    #[serde(with = "seconds")]
    pub lease: Duration,
    /// Time after which a call of the records, the index or the bucket is given up, in the file
    /// seconds.
    #[serde(with = "seconds")]
    pub deadline: Duration,
    /// Time between repairs of what was left behind, in the file seconds.
    #[serde(with = "seconds")]
    pub repair_interval: Duration,
    /// Time within which every video is looked at once, in the file seconds.
    #[serde(with = "seconds")]
    pub scrub_interval: Duration,
    /// Memory for chunks that were last listed, half of it for whole answers, bytes; where the index is
    /// shared, half of that half for what hits show of their videos.
    #[serde(with = "byte_size")]
    pub cache_bytes: usize,
    /// Time for which hits may show of their videos what was read before, where the index is shared, in
    /// the file seconds: so much later the changes of other instances show.
    #[serde(with = "seconds")]
    pub video_cache_ttl: Duration,
    /// Space that is kept free for deleting videos when the disk is full, bytes; 0: none.
    #[serde(with = "byte_size")]
    pub reserve_bytes: u64,
}

impl Default for RepairSettings {
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

/// The sections that an ingest reads, and where it spools sources.
#[derive(Debug, Clone)]
pub(crate) struct Sections {
    pub(crate) work_dir: PathBuf,
    pub(crate) ingest: IngestSettings,
    pub(crate) fetch: DownloadSettings,
    pub(crate) decoder: ScanSettings,
    pub(crate) detector: TrackingOptions,
}
