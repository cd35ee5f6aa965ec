//! The use-cases of Shotlog. [`Shotlog`] bundles them. Each use-case depends only on the ports that
//! it needs.
//!
//! # Modules
//!
//! The modules are listed in order of dependency: no module uses a module further down in the list.
//!
//! | module | contents |
//! |---|---|
//! | [`kernel`] | ids, names in messages, times, vectors, errors, bundles of ports, progress, metrics, signed webhooks |
//! | [`media`] | what decoding a video yields: speech and speakers (`S1`, `S2`), tracks, colours and clothing, frames |
//! | [`chunking`] | boundary detectors (cut, silence, speaker, semantic) and their fusion into chunks |
//! | [`llm`] | calls to the language model, which are counted, priced, cached and limited by a budget |
//! | [`analysis`] | evidence per chunk: one file per analyzer with its typed output, and user corrections to words and names |
//! | [`aggregation`] | results per video: one file per aggregator with its typed result, topics and chapters, links between people and objects in different chunks |
//! | [`indexing`] | index points and their documents, and whether the index is damaged |
//! | [`records`] | stored records and their documents, locks, cached results of model calls |
//! | `facts` | the facts about a video, read as typed values with times |
//! | [`listing`] | the sorted list of published videos |
//! | [`intervals`] | expressions over what is said, read and seen, and when they hold in a video |
//! | [`publishing`] | publishing, replacing and removing videos |
//! | [`library`] | stored results as users read them: videos, chunks, moments, collections, aggregates |
//! | [`bins`] | named, ordered lists of selects, which are spans of videos |
//! | [`comments`] | comments of users on moments of videos, and the list of the newest ones |
//! | [`shares`] | links to parts of videos, for people without a token |
//! | [`people`] | the people to whom users gave a name, across videos |
//! | [`catalog`] | builds the services over stored data: the modules from [`records`] to here |
//! | [`search`] | queries, modes, filters, calibrated scores, diagnostics for empty results |
//! | [`interval_search`] | the spans of all videos in which an expression holds, with proofs |
//! | [`answering`] | answers with citations, and the audit of every sentence |
//! | [`evaluation`] | judged questions, and runs that measure search and answers |
//! | [`alerts`] | saved searches that run on every new video, store the matches and call a webhook |
//! | [`corrections`] | corrections by users to the outputs of published videos |
//! | [`ingest`] | from a source to a published video: fetch, scan, analyze, aggregate, publish; cost estimates |
//! | [`frames`] | frames, thumbnails, peaks and clips |
//! | [`jobs`] | queue, workers, attempts, progress |
//! | [`maintenance`] | start-up, background tasks, repairs, scrubs, index checks, `reindex`, `verify` |
//! | [`export`] | exported files |
//! | [`status`] | `/health`, `/schema` and metrics |
//! | [`scoped`] | all of these, limited to what a caller's token may access |

pub mod aggregation;
pub mod alerts;
pub mod analysis;
pub mod answering;
pub mod bins;
pub mod catalog;
pub mod chunking;
pub mod comments;
pub mod corrections;
pub mod evaluation;
pub mod export;
mod facts;
pub mod frames;
pub mod indexing;
pub mod ingest;
pub mod interval_search;
pub mod intervals;
pub mod jobs;
pub mod kernel;
pub mod library;
pub mod listing;
pub mod llm;
pub mod maintenance;
pub mod media;
pub mod people;
pub mod publishing;
pub mod records;
pub mod scoped;
pub mod search;
pub mod shares;
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
use corrections::{CorrectionLimits, Corrections};
use evaluation::Evaluations;
use export::Exports;
use frames::Frames;
use ingest::{Ingest, Planner, Sources, VideoAggregation};
use interval_search::IntervalSearch;
use jobs::{JobUseCases, Jobs};
use kernel::access::Access;
use kernel::disk::Reserve;
use library::extractors::Extractors;
use library::metadata_editor::MetadataEditor;
use maintenance::Maintenance;
use publishing::removal::VideoDeletion;
use search::Search;
use search::values::FilterValues;
use status::Status;

pub use kernel::ports::{Models, Stores};
use kernel::token_budget::TokenCounter;
use kernel::video::VideoId;
pub use kernel::{Error, Result};
pub use scoped::Scoped;

/// The configuration of the domain, one field per section of the configuration file. The domain
/// shares some sections with adapters. For a shared section, this type has only the keys that the
/// domain reads. Each section is defined next to the use-cases that read it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[expect(missing_docs, reason = "each field is the section of its name")]
pub struct Settings {
    /// The folder that holds local storage, records, the index and temporary files.
    pub data_dir: PathBuf,
    pub fetch: ingest::DownloadSettings,
    pub decoder: ingest::ScanSettings,
    pub detector: analysis::evidence::TrackingOptions,
    pub extractors: analysis::extraction::ExtractorSettings,
    pub ingest: ingest::IngestSettings,
    pub records: records::settings::RecordSettings,
    pub index: maintenance::IndexSettings,
    pub llm: llm::metered::Prices,
    pub frames: frames::FrameSettings,
    pub search: search::SearchSettings,
    pub ask: answering::ask::AskSettings,
    pub intervals: intervals::IntervalSettings,
    pub evaluation: evaluation::EvaluationSettings,
    pub jobs: jobs::JobSettings,
    pub callbacks: kernel::webhook::CallbackSettings,
    pub alerts: alerts::AlertSettings,
    pub bins: bins::BinSettings,
    pub comments: comments::CommentSettings,
    pub shares: shares::ShareSettings,
    pub people: people::PeopleSettings,
    /// Whether other instances share the records. The code that opens the records sets this; there
    /// is no configuration key.
    #[serde(skip)]
    pub shared_records: bool,
    /// Timing of health probes. The server sets this; there is no configuration key.
    #[serde(skip)]
    pub probes: status::ProbeSettings,
    /// Whether the web UI is served (reported by `/health`). The server sets this; there is no
    /// configuration key.
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
            records: records::settings::RecordSettings::default(),
            index: maintenance::IndexSettings::default(),
            llm: llm::metered::Prices::default(),
            frames: frames::FrameSettings::default(),
            search: search::SearchSettings::default(),
            ask: answering::ask::AskSettings::default(),
            intervals: intervals::IntervalSettings::default(),
            evaluation: evaluation::EvaluationSettings::default(),
            jobs: jobs::JobSettings::default(),
            callbacks: kernel::webhook::CallbackSettings::default(),
            alerts: alerts::AlertSettings::default(),
            bins: bins::BinSettings::default(),
            comments: comments::CommentSettings::default(),
            shares: shares::ShareSettings::default(),
            people: people::PeopleSettings::default(),
            shared_records: false,
            probes: status::ProbeSettings::default(),
            ui: false,
        }
    }
}

/// The shortest allowed lease. A shorter lease would expire before it could be renewed several
/// times.
const MIN_LEASE: Duration = Duration::from_secs(4);

impl Settings {
    /// Returns the folder for spooled sources.
    fn work_dir(&self) -> PathBuf {
        self.data_dir.join("work")
    }

    /// Returns the folders for cached frames and spooled videos.
    fn folders(&self) -> frames::Folders {
        frames::Folders { pictures: self.data_dir.join("frames"), work: self.work_dir() }
    }

    fn ingest_config(&self) -> ingest::IngestConfig {
        ingest::IngestConfig {
            work_dir: self.work_dir(),
            ingest: self.ingest.clone(),
            fetch: self.fetch.clone(),
            decoder: self.decoder.clone(),
            detector: self.detector.clone(),
        }
    }

    fn correction_limits(&self) -> CorrectionLimits {
        let ingest = &self.ingest;
        CorrectionLimits { max: ingest.max_corrections, max_chars: ingest.max_correction_chars }
    }

    /// Returns the disk space reserved for deletions.
    fn reserve(&self) -> Reserve {
        Reserve::new(self.data_dir.join("reserve"), self.records.reserve_bytes)
    }

    /// Returns how long a video's lease lasts, if instances share their records.
    fn lease(&self) -> Option<Duration> {
        self.shared_records.then(|| self.records.lease.max(MIN_LEASE))
    }
}

/// The service, which consists of its use-cases.
pub struct Shotlog {
    /// Reads and changes stored records and results.
    pub catalog: Arc<Catalog>,
    /// Manages user-defined analyzers.
    pub extractors: Extractors,
    /// Searches the index.
    pub search: Arc<Search>,
    /// Finds the intervals in which an expression holds.
    pub(crate) intervals: Arc<IntervalSearch>,
    /// Lists the values of filters.
    pub filter_values: FilterValues,
    /// Truncates responses to a token budget.
    pub tokens: TokenCounter,
    /// Answers searches and questions.
    pub answering: Arc<Answering>,
    /// Measures the quality of answers to judged questions.
    pub evaluations: Arc<Evaluations>,
    /// Manages alerts: saved searches that run on every new video, and the matches that they found.
    pub alerts: Arc<Alerts>,
    /// Changes user metadata.
    pub metadata: Arc<MetadataEditor>,
    /// Receives, fetches and removes the sources of ingests.
    pub sources: Arc<Sources>,
    /// Plans ingests: estimates their cost, and previews chunkings.
    pub planner: Planner,
    /// Ingests sources and publishes them as videos.
    pub ingest: Arc<Ingest>,
    /// Queues and runs jobs.
    pub jobs: Jobs,
    /// Exports the analysis of videos to files.
    pub exports: Exports,
    /// Decodes frames and clips of stored videos.
    pub frames: Arc<Frames>,
    /// Keeps the stored data consistent.
    pub maintenance: Maintenance,
    /// Reports capabilities and health.
    pub status: Status,
    reserve: Reserve,
}

impl Shotlog {
    /// Builds the service on these ports. Neither reads nor writes anything, and runs no job before
    /// [`jobs::Worker::start`].
    pub fn new(stores: Stores, models: Models, settings: Settings) -> Arc<Self> {
        Self::with_extensions(
            stores,
            models,
            settings,
            Analyzers::default(),
            Aggregators::default(),
        )
    }

    /// Builds the service with additional, custom analyzers and aggregators.
    pub fn with_extensions(
        stores: Stores,
        mut models: Models,
        settings: Settings,
        analyzers: Analyzers,
        aggregators: Aggregators,
    ) -> Arc<Self> {
        let stores = kernel::deadline::with_deadline(stores, settings.records.deadline);
        models.llm = Arc::new(llm::metered::MeteredModel::new(models.llm, settings.llm));
        models.embedder = Arc::new(llm::metered::MeteredEmbedder::new(models.embedder));
        let embedder = models.embedder.clone();
        let catalog = Arc::new(Catalog::new(&stores, analyzers, aggregators, &settings));
        let search = Arc::new(Search::new(&stores, &models, &catalog, settings.search));
        let intervals = IntervalSearch::new(&stores, &catalog, &search);
        let answering = Arc::new(Answering::new(
            &models,
            &catalog,
            search.clone(),
            &settings.ask,
            settings.ingest.concurrency,
        ));
        let use_cases = job_use_cases(&stores, &models, &catalog, &search, &answering, &settings);
        let JobUseCases { metadata, sources, ingest, frames, evaluations, alerts, .. } =
            use_cases.clone();
        let (limits, callbacks) = (&settings.ingest, settings.callbacks.clone());
        let jobs = Jobs::new(&stores, &catalog, use_cases, settings.jobs, limits, callbacks);
        Arc::new(Self {
            exports: Exports::new(&stores, &catalog, search.scopes.clone()),
            filter_values: FilterValues::new(&stores, &models, &catalog, search.scopes.clone()),
            maintenance: Maintenance::new(
                &stores, &models, &catalog, &search, &jobs, &sources, &settings,
            ),
            planner: Planner::new(&models, &catalog, settings.ingest.max_chunks),
            frames,
            status: Status::new(stores, models, &catalog, jobs.store.clone(), &settings),
            reserve: settings.reserve(),
            tokens: TokenCounter::new(embedder),
            extractors: Extractors::new(
                catalog.extractors.clone(),
                catalog.analyzers.clone(),
                catalog.readiness.clone(),
                settings.extractors,
            ),
            catalog,
            search,
            intervals: Arc::new(intervals),
            answering,
            evaluations,
            alerts,
            metadata,
            sources,
            ingest,
            jobs,
        })
    }

    /// Removes a video's vectors, record, objects and cached files. If the video is being ingested,
    /// cancels the ingest first. The deletion completes even if the caller disconnects, and uses
    /// the reserved space if the disk is full.
    pub async fn delete_video(&self, video_id: VideoId) -> Result<VideoDeletion> {
        self.catalog.readiness.check()?;
        let (deleter, reserve) = (self.jobs.deleter.clone(), self.reserve.clone());
        let deleting = tokio::spawn(async move {
            match deleter.delete(video_id).await {
                Err(error) if error.is_full() => {
                    reserve.change(Reserve::release).await;
                    let deleted = deleter.delete(video_id).await;
                    reserve.change(Reserve::fill).await;
                    deleted
                }
                deleted => deleted,
            }
        });
        deleting.await.map_err(|e| Error::corrupt(format!("the delete panicked: {e}")))?
    }

    /// Restricts the service to a caller's access.
    pub fn scoped(self: &Arc<Self>, access: Access) -> Scoped {
        Scoped::new(self.clone(), access)
    }
}

/// Builds the use cases that run as jobs.
fn job_use_cases(
    stores: &Stores,
    models: &Models,
    catalog: &Arc<Catalog>,
    search: &Arc<Search>,
    answering: &Arc<Answering>,
    settings: &Settings,
) -> JobUseCases {
    let metadata = MetadataEditor::new(
        catalog.metadata.clone(),
        catalog.library.clone(),
        catalog.readiness.clone(),
        settings.ingest.max_metadata_bytes,
    );
    let config = settings.ingest_config();
    let sources = Arc::new(Sources::new(stores, models, &config));
    let corrections = Corrections::new(stores, models, catalog, settings.correction_limits());
    let corrections = Arc::new(corrections);
    let aggregation = Arc::new(VideoAggregation::new(models, catalog));
    let ingest = Ingest::new(
        stores,
        models,
        catalog,
        sources.clone(),
        corrections.clone(),
        aggregation.clone(),
        config,
    );
    JobUseCases {
        metadata: Arc::new(metadata),
        sources,
        ingest: Arc::new(ingest),
        corrections,
        aggregation,
        frames: Arc::new(Frames::new(
            stores,
            models,
            catalog.records.clone(),
            settings.frames.clone(),
            settings.folders(),
        )),
        evaluations: Arc::new(Evaluations::new(
            stores,
            models,
            catalog,
            search.clone(),
            answering.clone(),
            settings.evaluation,
        )),
        alerts: Arc::new(Alerts::new(
            stores,
            catalog,
            search.clone(),
            settings.alerts,
            settings.callbacks.clone(),
        )),
    }
}
