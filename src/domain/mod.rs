//! The use-cases. Imports `ports` only: never an adapter, never HTTP.
//!
//! [`Shotlog`] holds the ports; each file adds the use-cases of one section of the contract to it.

pub mod aggregates;
pub mod aggregators;
pub mod analyzers;
mod answer;
pub mod ask;
pub mod audit;
mod budget;
pub mod callbacks;
pub mod chunking;
pub mod chunks;
mod colour;
pub mod entities;
mod error;
pub mod export;
pub mod filters;
pub mod frames;
pub mod ingest;
mod install;
pub mod jobs;
mod library;
pub mod meters;
pub mod passages;
pub mod plan;
mod points;
mod prose;
pub mod record;
pub mod reindex;
pub mod schema;
mod scores;
pub mod search;
pub mod speech;
pub mod tracking;
pub mod unreadable;
pub mod verify;
pub mod videos;
mod words;

use std::path::PathBuf;
use std::sync::Arc;

use ports::decoder::VideoDecoder;
use ports::detector::ObjectDetector;
use ports::embedder::Embedder;
use ports::entities::EntityRecognizer;
use ports::fetcher::SourceFetcher;
use ports::index::VectorIndex;
use ports::jobs::JobQueue;
use ports::llm::LanguageModel;
use ports::notifier::Notifier;
use ports::reader::TextReader;
use ports::records::RecordStore;
use ports::sentiment::SentimentClassifier;
use ports::storage::ObjectStorage;
use ports::transcriber::Transcriber;
use ports::voice::{SpeakerEmbedder, VoiceActivity};

pub use error::{Error, Result};

/// What the domain works with. The optional ones enable the analyzers that need them.
#[derive(Clone)]
#[expect(missing_docs, reason = "each field is the port of its name")]
pub struct Ports {
    pub storage: Arc<dyn ObjectStorage>,
    pub records: Arc<dyn RecordStore>,
    pub index: Arc<dyn VectorIndex>,
    pub jobs: Arc<dyn JobQueue>,
    pub decoder: Arc<dyn VideoDecoder>,
    pub embedder: Arc<dyn Embedder>,
    pub llm: Arc<dyn LanguageModel>,
    pub fetcher: Arc<dyn SourceFetcher>,
    pub notifier: Arc<dyn Notifier>,
    pub transcriber: Option<Arc<dyn Transcriber>>,
    pub voice_activity: Option<Arc<dyn VoiceActivity>>,
    pub speaker_embedder: Option<Arc<dyn SpeakerEmbedder>>,
    pub detector: Option<Arc<dyn ObjectDetector>>,
    pub reader: Option<Arc<dyn TextReader>>,
    pub sentiment: Option<Arc<dyn SentimentClassifier>>,
    pub recognizer: Option<Arc<dyn EntityRecognizer>>,
}

/// Limits and folders of the use-cases.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// Where sources are spooled while they are worked on.
    pub work_dir: PathBuf,
    /// Largest download, bytes.
    pub max_download: u64,
    /// Largest upload, bytes.
    pub max_upload: u64,
    /// Most chunks a video may be split into.
    pub max_chunks: usize,
    /// Longest video, seconds.
    pub max_duration: f64,
    /// Chunks analyzed at once within a job.
    pub concurrency: usize,
    /// Jobs.
    pub jobs: jobs::JobLimits,
    /// Width of the small frames the detectors look at, pixels.
    pub scan_width: u32,
    /// Their height, pixels.
    pub scan_height: u32,
    /// Largest side of posters and of frames shown to models, pixels.
    pub frame_side: u32,
    /// Frames per chunk shown to models.
    pub frames_per_chunk: usize,
    /// How closely objects are followed.
    pub sighting: analyzers::evidence::Sighting,
    /// Length of the lease on a video that is being changed, where instances share their records.
    pub lease: Option<std::time::Duration>,
    /// Videos without a record whose vectors or documents a repair removes without being told to.
    pub max_orphans: usize,
    /// Notices about jobs that have ended.
    pub callbacks: callbacks::CallbackSettings,
    /// What the language model costs.
    pub prices: meters::Prices,
    /// How searches rank, and what their scores mean.
    pub search: search::SearchSettings,
    /// Most tokens of evidence for an answer.
    pub answer_tokens: u32,
    /// Most videos that an answer is drawn from.
    pub ask_videos: usize,
    /// Pictures of stored videos.
    pub frames: frames::FrameSettings,
    /// Whether the web UI is served (`/health` says so).
    pub ui: bool,
}

/// The service: its use-cases over its ports.
pub struct Shotlog {
    ports: Ports,
    settings: Settings,
    library: library::Library,
    jobs: Arc<jobs::Jobs>,
    ingests: ingest::Claims,
    frames: frames::Frames,
    routes: tokio::sync::OnceCell<Vec<Vec<f32>>>,
    nulls: scores::Nulls,
}

impl Shotlog {
    /// The service over the given ports. Nothing is read or written yet, and no job is worked on
    /// until [`Shotlog::start_jobs`].
    pub fn new(mut ports: Ports, settings: Settings) -> Arc<Self> {
        ports.llm = meters::MeteredModel::over(ports.llm, settings.prices);
        ports.embedder = Arc::new(meters::MeteredEmbedder(ports.embedder));
        Arc::new(Self {
            library: library::Library::new(ports.records.clone()),
            jobs: Arc::new(jobs::Jobs::new(ports.jobs.clone(), settings.jobs.clone())),
            ingests: ingest::Claims::new(ports.records.clone(), settings.lease),
            frames: frames::Frames::new(&settings.frames),
            routes: tokio::sync::OnceCell::new(),
            nulls: scores::Nulls::default(),
            ports,
            settings,
        })
    }
}
