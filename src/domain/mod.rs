//! The use-cases. Imports `ports` and `text` only: never an adapter, never HTTP.
//!
//! The modules stand in order of dependency: none names one that stands below it. [`Shotlog`] bundles
//! the use-cases that the modules from [`catalog`] on define, each over the ports that it needs.

pub mod aggregation;
pub mod alerts;
pub mod analysis;
pub mod answering;
pub mod catalog;
pub mod chunking;
pub mod evaluation;
pub mod export;
pub mod frames;
pub mod ingest;
pub mod jobs;
pub mod kernel;
pub mod llm;
pub mod media;
pub mod scoped;
pub mod search;
pub mod status;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use aggregation::Aggregators;
use alerts::Alerts;
use analysis::Analyzers;
use answering::Answering;
use catalog::Catalog;
use catalog::extractors::Extractors;
use catalog::videos::Deleted;
use evaluation::Evaluations;
use export::Exports;
use frames::Frames;
use ingest::Ingest;
use jobs::{JobUseCases, Jobs};
use kernel::access::Access;
use kernel::disk::Reserve;
use search::Search;
use status::Status;

pub use kernel::ports::{Models, Stores};
use kernel::tokens::Tokens;
use kernel::video::VideoId;
pub use kernel::{Error, Result};
pub use scoped::Scoped;

/// What the domain reads of the configuration, by the names of the sections in the file: its own
/// sections, and its own keys of those that it shares with adapters. Each is defined beside the
/// use-cases that it bounds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[expect(missing_docs, reason = "each field is the section of its name")]
pub struct Settings {
    /// Local storage, records, the index and the files that are being worked on live below it.
    pub data_dir: PathBuf,
    pub fetch: ingest::DownloadSettings,
    pub decoder: ingest::ScanSettings,
    pub detector: analysis::evidence::TrackingOptions,
    pub extractors: analysis::extraction::ExtractorSettings,
    pub ingest: ingest::IngestSettings,
    pub records: ingest::RepairSettings,
    pub index: search::reindex::IndexSettings,
    pub llm: llm::metered::Prices,
    pub frames: frames::FrameSettings,
    pub search: search::SearchSettings,
    pub ask: answering::ask::AskSettings,
    pub evaluation: evaluation::EvaluationSettings,
    pub jobs: jobs::JobSettings,
    pub callbacks: kernel::webhook::CallbackSettings,
    pub alerts: alerts::AlertSettings,
    /// Whether other instances change the records too. Told by who opens them, not by a key.
    #[serde(skip)]
    pub shared_records: bool,
    /// How it is found out whether ports answer. Told by who serves the answer.
    #[serde(skip)]
    pub probes: status::ProbeSettings,
    /// Whether the web UI is served (`/health` says so). Told by who serves it, not by a key.
    #[serde(skip)]
    pub ui: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            data_dir: "var/data".into(),
            fetch: ingest::DownloadSettings::default(),
            decoder: ingest::ScanSettings::default(),
            detector: analysis::evidence::TrackingOptions::default(),
            extractors: analysis::extraction::ExtractorSettings::default(),
            ingest: ingest::IngestSettings::default(),
            records: ingest::RepairSettings::default(),
            index: search::reindex::IndexSettings::default(),
            llm: llm::metered::Prices::default(),
            frames: frames::FrameSettings::default(),
            search: search::SearchSettings::default(),
            ask: answering::ask::AskSettings::default(),
            evaluation: evaluation::EvaluationSettings::default(),
            jobs: jobs::JobSettings::default(),
            callbacks: kernel::webhook::CallbackSettings::default(),
            alerts: alerts::AlertSettings::default(),
            shared_records: false,
            probes: status::ProbeSettings::default(),
            ui: false,
        }
    }
}

/// A shorter lease could not be renewed several times within its length.
const SHORTEST_LEASE: Duration = Duration::from_secs(4);

impl Settings {
    /// Where sources are spooled while they are worked on.
    fn work_dir(&self) -> PathBuf {
        self.data_dir.join("work")
    }

    /// Where frames are kept, and where their videos are spooled.
    fn folders(&self) -> frames::Folders {
        frames::Folders { pictures: self.data_dir.join("frames"), work: self.work_dir() }
    }

    fn of_an_ingest(&self) -> ingest::Sections {
        ingest::Sections {
            work_dir: self.work_dir(),
            ingest: self.ingest.clone(),
            fetch: self.fetch.clone(),
            decoder: self.decoder.clone(),
            detector: self.detector.clone(),
        }
    }

    /// Length of the lease on a video that is being changed, where instances share their records.
    fn lease(&self) -> Option<Duration> {
        self.shared_records.then(|| self.records.lease.max(SHORTEST_LEASE))
    }
}

/// The service: its use-cases.
pub struct Shotlog {
    /// Reading what is stored.
    pub catalog: Arc<Catalog>,
    /// Defining analyzers of one's own.
    pub extractors: Extractors,
    /// Searching, and keeping the index in line with the records.
    pub search: Arc<Search>,
    /// Fits what is sent into so many tokens.
    pub tokens: Tokens,
    /// Answers to searches and questions.
    pub answering: Arc<Answering>,
    /// Judged questions, and how well they are answered.
    pub evaluations: Arc<Evaluations>,
    /// Searches that are kept, and told of each video that has what they look for.
    pub alerts: Arc<Alerts>,
    /// From a source to a published video.
    pub ingest: Arc<Ingest>,
    /// What runs, waits and has run.
    pub jobs: Arc<Jobs>,
    /// Exports of a video's log.
    pub exports: Exports,
    /// Pictures of stored videos.
    pub frames: Arc<Frames>,
    /// What this install can do and whether it works.
    pub status: Status,
    reserve: Reserve,
}

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
        let stores = kernel::deadline::bounded(stores, settings.records.deadline);
        models.llm = llm::metered::MeteredModel::over(models.llm, settings.llm);
        models.embedder = llm::metered::MeteredEmbedder::over(models.embedder);
        let embedder = models.embedder.clone();
        let catalog = Arc::new(Catalog::new(
            &stores,
            analyzers,
            aggregators,
            settings.lease(),
            settings.records.cache_bytes,
            settings.records.video_cache_ttl,
        ));
        let search = Arc::new(Search::new(
            &stores,
            &models,
            catalog.clone(),
            settings.search,
            settings.index.max_orphans,
        ));
        let answering = Arc::new(Answering::new(
            &models,
            catalog.clone(),
            search.clone(),
            &settings.ask,
            settings.ingest.concurrency,
        ));
        let evaluations = Arc::new(Evaluations::new(
            &stores,
            &models,
            catalog.clone(),
            search.clone(),
            answering.clone(),
            settings.evaluation,
        ));
        let alerts = Arc::new(Alerts::new(
            &stores,
            catalog.clone(),
            search.clone(),
            settings.alerts,
            settings.callbacks.clone(),
        ));
        let ingest =
            Arc::new(Ingest::new(&stores, &models, catalog.clone(), settings.of_an_ingest()));
        let frames = Arc::new(Frames::new(
            &stores,
            &models,
            catalog.clone(),
            settings.frames.clone(),
            settings.folders(),
        ));
        let does = JobUseCases {
            ingest: ingest.clone(),
            frames: frames.clone(),
            evaluations: evaluations.clone(),
            alerts: alerts.clone(),
        };
        let (limits, callbacks) = (settings.ingest.clone(), settings.callbacks.clone());
        let jobs = Jobs::new(&stores, does, settings.jobs, limits, callbacks);
        Arc::new(Self {
            exports: Exports::new(&stores, catalog.clone(), search.clone()),
            frames,
            status: Status::new(
                stores,
                models,
                catalog.clone(),
                jobs.clone(),
                settings.probes,
                settings.ui,
                settings.callbacks.are_sent(),
            ),
            reserve: Reserve::new(
                settings.data_dir.join("reserve"),
                settings.records.reserve_bytes,
            ),
            tokens: Tokens::new(embedder),
            extractors: Extractors::new(catalog.clone(), settings.extractors),
            catalog,
            search,
            answering,
            evaluations,
            alerts,
            ingest,
            jobs,
        })
    }

    /// Enters this install as the owner of the index and the queue, where they have none yet.
    /// `Invalid` when another owns one of them, `NotFound` when a bucket does not exist.
    pub async fn own_stores(&self) -> Result<()> {
        self.catalog.probe().await?;
        self.catalog.own_index().await?;
        self.catalog.load_extractors().await?;
        self.jobs.own_queue(&self.catalog.install().await?).await
    }

    /// Removes vectors, record, objects and local copies of a video. A running ingest of it is
    /// cancelled first. Goes on when the caller does not wait for it, and where the disk is full, in the
    /// space that is kept for it.
    pub async fn delete_video(&self, video_id: VideoId) -> Result<Deleted> {
        self.catalog.opening.check()?;
        let (jobs, reserve) = (self.jobs.clone(), self.reserve.clone());
        let deleting = tokio::spawn(async move {
            match jobs.delete_video(video_id).await {
                Err(error) if error.is_full() => {
                    change_reserve(&reserve, Reserve::release).await;
                    let deleted = jobs.delete_video(video_id).await;
                    change_reserve(&reserve, Reserve::fill).await;
                    deleted
                }
                deleted => deleted,
            }
        });
        deleting.await.map_err(|e| Error::corrupt(format!("the delete panicked: {e}")))?
    }

    /// Takes up the space that is kept for deletes, where it is not.
    pub async fn fill_reserve(&self) {
        change_reserve(&self.reserve, Reserve::fill).await;
    }

    /// The service as one caller may use it.
    pub fn scoped(self: &Arc<Self>, access: Access) -> Scoped {
        Scoped::new(self.clone(), access)
    }
}

async fn change_reserve(reserve: &Reserve, change: fn(&Reserve) -> std::io::Result<()>) {
    let reserve = reserve.clone();
    let changed = tokio::task::spawn_blocking(move || change(&reserve)).await;
    if let Err(error) = changed.unwrap_or_else(|panic| Err(std::io::Error::other(panic))) {
        tracing::warn!(%error, "no space is kept for deletes (records.reserve_bytes)");
    }
}
