//! The use-cases. Imports `ports` and `text` only: never an adapter, never HTTP.
//!
//! The modules stand in order of dependency: none names one that stands below it. [`Shotlog`] bundles
//! the use-cases that the modules from [`catalog`] on define, each over the ports that it needs.

pub mod aggregation;
pub mod analysis;
pub mod answering;
pub mod catalog;
pub mod chunking;
pub mod export;
pub mod frames;
pub mod ingest;
pub mod jobs;
pub mod kernel;
pub mod llm;
pub mod media;
pub mod search;
pub mod status;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use aggregation::Aggregators;
use analysis::Analyzers;
use answering::Answering;
use catalog::Catalog;
use catalog::videos::Deleted;
use export::Exports;
use frames::Frames;
use ingest::Ingest;
use jobs::Jobs;
use search::Search;
use status::Status;

pub use kernel::ports::{Models, Stores};
pub use kernel::{Error, Result};

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
    pub sighting: analysis::evidence::Sighting,
    /// Length of the lease on a video that is being changed, where instances share their records.
    pub lease: Option<std::time::Duration>,
    /// Notices about jobs that have ended.
    pub callbacks: jobs::webhook::CallbackSettings,
    /// What the language model costs.
    pub prices: llm::metered::Prices,
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

/// The service: its use-cases.
pub struct Shotlog {
    /// Reading what is stored.
    pub catalog: Arc<Catalog>,
    /// Searching, and keeping the index in line with the records.
    pub search: Arc<Search>,
    /// Answers to searches and questions.
    pub answering: Arc<Answering>,
    /// From a source to a published video.
    pub ingest: Arc<Ingest>,
    /// What runs, waits and has run.
    pub jobs: Arc<Jobs>,
    /// Exports of a video's log.
    pub exports: Exports,
    /// Pictures of stored videos.
    pub frames: Frames,
    /// What this install can do and whether it works.
    pub status: Status,
}

/// How often a video that is worked on is looked at before it is deleted.
const LOCK_EVERY: Duration = Duration::from_millis(250);

impl Shotlog {
    /// The service over the given ports. Nothing is read or written yet, and no job is worked on
    /// until [`Jobs::start`].
    pub fn new(stores: Stores, models: Models, settings: Settings) -> Arc<Self> {
        Self::with(stores, models, settings, Analyzers::default(), Aggregators::default())
    }

    /// The service with analyzers and aggregators of its own.
    pub fn with(
        stores: Stores,
        mut models: Models,
        settings: Settings,
        analyzers: Analyzers,
        aggregators: Aggregators,
    ) -> Arc<Self> {
        models.llm = llm::metered::MeteredModel::over(models.llm, settings.prices);
        models.embedder = llm::metered::MeteredEmbedder::over(models.embedder);
        let catalog = Arc::new(Catalog::new(&stores, analyzers, aggregators, settings.lease));
        let search = Arc::new(Search::new(&stores, &models, catalog.clone(), settings.search));
        let answering =
            Arc::new(Answering::new(&models, catalog.clone(), search.clone(), &settings));
        let ingest = Arc::new(Ingest::new(&stores, &models, catalog.clone(), &settings));
        let jobs =
            Jobs::new(&stores, ingest.clone(), settings.jobs.clone(), settings.callbacks.clone());
        Arc::new(Self {
            exports: Exports::new(&stores, catalog.clone()),
            frames: Frames::new(&stores, &models, catalog.clone(), &settings),
            status: Status::new(stores, models, catalog.clone(), jobs.clone(), settings.ui),
            catalog,
            search,
            answering,
            ingest,
            jobs,
        })
    }

    /// Removes vectors, record, objects and local copies of a video. A running ingest of it is
    /// cancelled first.
    pub async fn delete_video(&self, video_id: &str) -> Result<Deleted> {
        self.catalog.record(video_id).await?;
        let lock = loop {
            // Again, since a job tells only after a while which video it works on.
            self.jobs.cancel_all_of(video_id, "the video was deleted").await?;
            match self.catalog.locks.try_lock(video_id).await? {
                Some(lock) => break lock,
                None => tokio::time::sleep(LOCK_EVERY).await,
            }
        };
        let deleted = self.catalog.delete(video_id, &lock).await?;
        self.frames.forget(video_id).await;
        Ok(deleted)
    }
}
