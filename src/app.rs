//! The composition root: from configuration to a running service. The only file that names
//! adapters, with `perception` for those that see and hear.

mod perception;

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use adapters::decoder::{FfmpegDecoder, FfmpegOptions};
use adapters::embedder::{HashingEmbedder, OpenAiEmbedder, OpenAiEmbedderOptions};
use adapters::fetcher::{HttpFetcher, HttpFetcherOptions};
use adapters::index::embedded::{EmbeddedIndex, EmbeddedOptions};
use adapters::index::memory::MemoryIndex;
#[cfg(feature = "cloud")]
use adapters::index::qdrant::{QdrantIndex, QdrantOptions};
use adapters::jobs::MemoryJobs;
#[cfg(feature = "cloud")]
use adapters::jobs::{NatsJobs, NatsOptions};
use adapters::llm::{Extractive, ExtractiveOptions, OpenAiLanguageModel, OpenAiOptions};
use adapters::openai::{Connection, Retry};
#[cfg(feature = "cloud")]
use adapters::records::BucketRecords;
use adapters::records::{FolderRecords, MemoryRecords};
use adapters::storage::OpendalStorage;
use ports::decoder::VideoDecoder;
use ports::embedder::Embedder;
use ports::index::VectorIndex;
use ports::jobs::JobQueue;
use ports::llm::LanguageModel;
use ports::records::RecordStore;
use ports::storage::ObjectStorage;

use crate::config::{Config, EmbedderKind, IndexKind, JobsKind, LlmKind, RecordsKind, StorageKind};
#[cfg(feature = "cloud")]
use crate::domain::analyzers::VECTOR_FIELDS;
use crate::domain::analyzers::evidence::Sighting;
use crate::domain::callbacks::CallbackSettings;
use crate::domain::frames::FrameSettings;
use crate::domain::jobs::JobLimits;
use crate::domain::meters::Prices;
use crate::domain::reindex::{Reindexed, Repair};
use crate::domain::search::SearchSettings;
use crate::domain::{Ports, Settings, Shotlog};
use crate::http::HttpOptions;

/// Why the service cannot start: the configuration key at fault, and what would be right.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct StartError(String);

type Result<T, E = StartError> = std::result::Result<T, E>;

/// Names the section whose adapter could not be opened.
fn at(section: &str) -> impl Fn(ports::PortError) -> StartError + '_ {
    move |e| StartError(format!("[{section}] {e}"))
}

/// A service and how it is served.
pub struct App {
    /// The use-cases.
    pub service: Arc<Shotlog>,
    /// How HTTP serves them.
    pub http: HttpOptions,
    /// One line per role: what serves it.
    pub roles: Vec<(&'static str, String)>,
}

/// Opens every adapter that the configuration names. `address` is where the service listens.
pub async fn build(config: &Config, address: SocketAddr) -> Result<App> {
    let embedder = embedder(config)?;
    let index = index(config, embedder.as_ref()).await?;
    assemble(config, address, embedder, index).await
}

/// Rebuilds every point from the records. On a Qdrant server a new collection is filled beside the
/// one that is searched, and takes its place when it is full.
/// Vectors of more than a few videos without a record are kept, unless `remove_orphans`.
pub async fn reindex(
    config: &Config,
    address: SocketAddr,
    remove_orphans: bool,
) -> Result<Reindexed> {
    let failed = |e: crate::domain::Error| StartError(e.labelled());
    let all = Repair { all: true, remove_orphans };
    #[cfg(feature = "cloud")]
    if config.index.kind == IndexKind::Qdrant {
        let embedder = embedder(config)?;
        let options = qdrant_options(config, embedder.as_ref());
        let fresh = QdrantIndex::beside(options).await.map_err(at("index"))?;
        let app = assemble(config, address, embedder, Arc::new(fresh.clone())).await?;
        app.service.own_stores().await.map_err(failed)?;
        if let Some(searched) = fresh.before().await.map_err(at("index"))?
            && !remove_orphans
            && let Some(orphans) = app.service.many_orphans(&searched).await.map_err(failed)?
        {
            return Err(StartError(format!(
                "the collection that would be replaced (index.collection) holds vectors of \
                 {orphans} videos that have no record here; they may belong to other records than \
                 these (records.kind); if not, --remove-orphans removes them"
            )));
        }
        let mut done = app.service.reindex(all).await.map_err(failed)?;
        fresh.publish().await.map_err(at("index"))?;
        // What was ingested into the old collection meanwhile.
        done.rebuilt += app.service.reindex(Repair::default()).await.map_err(failed)?.rebuilt;
        return Ok(done);
    }
    let app = build(config, address).await?;
    app.service.own_stores().await.map_err(failed)?;
    app.service.reindex(all).await.map_err(failed)
}

async fn assemble(
    config: &Config,
    address: SocketAddr,
    embedder: Arc<dyn Embedder>,
    index: Arc<dyn VectorIndex>,
) -> Result<App> {
    check_exposure(config, address)?;
    let base_url = base_url(config, address);
    let (ports, roles) = open_ports(config, &base_url, embedder, index).await?;
    let serves_storage = matches!(config.storage.kind, StorageKind::Fs | StorageKind::Memory);
    let storage_origin = url::Url::parse(&ports.storage.public_url("0/0"))
        .ok()
        .map(|url| url.origin().ascii_serialization())
        .filter(|_| !serves_storage);
    let seconds = Duration::from_secs;
    let http = HttpOptions {
        tokens: config.auth.tokens.clone(),
        api_only: config.http.api_only,
        base_url,
        serves_storage,
        storage_origin,
        json_limit: config.http.max_json_bytes,
        form_limit: config.http.max_form_bytes,
        max_field: config.http.max_field_bytes,
        body_timeout: seconds(config.http.body_timeout),
        upload_idle: seconds(config.http.upload_idle),
        max_uploads: config.http.max_uploads,
        session_ttl: seconds(config.auth.session_seconds),
        max_sessions: config.auth.max_sessions,
        version: env!("CARGO_PKG_VERSION").into(),
    };
    Ok(App { service: Shotlog::new(ports, settings(config)), http, roles })
}

/// The OpenAPI document of a service so configured. Opens nothing outside the process.
pub async fn openapi(config: &Config) -> Result<String> {
    let mut config = config.clone();
    config.storage.kind = StorageKind::Memory;
    config.index.kind = IndexKind::Memory;
    config.jobs.kind = JobsKind::Memory;
    config.embedder.kind = EmbedderKind::Hashing;
    let app = build(&config, SocketAddr::from(([127, 0, 0, 1], 8080))).await?;
    Ok(crate::http::openapi(&app.service, &app.http))
}

/// An open API must not be reachable by others unless that is wanted.
fn check_exposure(config: &Config, address: SocketAddr) -> Result<()> {
    if config.auth.tokens.is_empty() && !config.auth.allow_anonymous && !address.ip().is_loopback()
    {
        return Err(StartError(format!(
            "http.listen is {address}, which others can reach, but auth.tokens is empty; set a \
             token, listen on 127.0.0.1, or set auth.allow_anonymous = true"
        )));
    }
    Ok(())
}

fn base_url(config: &Config, address: SocketAddr) -> String {
    let given = config.http.base_url.trim_end_matches('/');
    if !given.is_empty() {
        return given.to_owned();
    }
    if address.ip().is_unspecified() {
        return format!("http://127.0.0.1:{}", address.port());
    }
    format!("http://{address}")
}

fn settings(config: &Config) -> Settings {
    Settings {
        work_dir: config.data_dir.join("work"),
        max_download: config.fetch.max_bytes,
        max_upload: config.ingest.max_upload_bytes,
        max_chunks: config.ingest.max_chunks,
        max_duration: config.ingest.max_duration as f64,
        concurrency: config.ingest.concurrency,
        jobs: JobLimits {
            workers: config.ingest.workers,
            queue: config.ingest.queue,
            history: config.jobs.history,
            attempts: config.jobs.attempts.max(1),
        },
        scan_width: config.decoder.scan_width,
        scan_height: config.decoder.scan_height,
        frame_side: config.ingest.frame_side,
        frames_per_chunk: config.ingest.frames_per_chunk,
        sighting: Sighting {
            per_second: config.detector.frames_per_second,
            max_frames: config.detector.max_frames,
            side: config.detector.frame_side,
        },
        lease: (config.records.kind == RecordsKind::Bucket)
            .then(|| Duration::from_secs(config.records.lease.max(4))),
        max_orphans: config.index.max_orphans,
        callbacks: CallbackSettings {
            secret: config.callbacks.secret.clone(),
            attempts: config.callbacks.attempts,
            pause: Duration::from_secs(config.callbacks.pause),
        },
        prices: Prices { input: config.llm.input_price, output: config.llm.output_price },
        search: SearchSettings {
            fusion_k: config.search.fusion_k,
            fusion_depth: config.search.fusion_depth,
            vector_weight: config.search.vector_weight,
            text_weight: config.search.text_weight,
            null_probes: config.search.null_probes,
            null_age: Duration::from_secs(config.search.null_seconds),
            threshold_deviations: config.search.threshold_deviations,
        },
        answer_tokens: config.ask.context_tokens,
        ask_videos: config.ask.max_videos,
        frames: FrameSettings {
            folder: config.data_dir.join("frames"),
            cache_bytes: config.frames.cache_bytes,
            max_width: config.frames.max_width,
            concurrency: config.frames.concurrency,
            queue: config.frames.queue,
            sources: config.frames.sources,
        },
        ui: !config.http.api_only,
    }
}

async fn open_ports(
    config: &Config,
    base_url: &str,
    embedder: Arc<dyn Embedder>,
    index: Arc<dyn VectorIndex>,
) -> Result<(Ports, Vec<(&'static str, String)>)> {
    let storage = storage(config, base_url)?;
    let records = records(config)?;
    let jobs = jobs(config).await?;
    let decoder = decoder(config)?;
    let llm = llm(config)?;
    let reader = perception::reader(config)?;
    let detector = perception::detector(config)?;
    let voice_activity = perception::voice_activity(config)?;
    let speaker_embedder = perception::speaker_embedder(config)?;
    let transcriber = perception::transcriber(config)?;
    let sentiment = perception::sentiment(config)?;
    let recognizer = perception::recognizer(config)?;
    let http = HttpFetcher::new(HttpFetcherOptions {
        connect_timeout: Duration::from_secs(config.fetch.connect_timeout),
        read_timeout: Duration::from_secs(config.fetch.read_timeout),
        total_timeout: Duration::from_secs(config.fetch.timeout),
        max_redirects: config.fetch.max_redirects,
        allow_private: config.fetch.allow_private,
        ..HttpFetcherOptions::default()
    })
    .map_err(at("fetch"))?;
    let http = Arc::new(http);
    let named = |kind: &dyn std::fmt::Debug| format!("{kind:?}").to_lowercase();
    let roles = vec![
        ("storage", format!("{} ({})", named(&config.storage.kind), storage.bucket())),
        ("index", named(&config.index.kind)),
        ("jobs", named(&config.jobs.kind)),
        ("embedder", embedder.model().to_owned()),
        ("language model", llm.model().to_owned()),
        ("text reader", reader.as_ref().map_or("none", |r| r.model()).to_owned()),
        ("object detector", detector.as_ref().map_or("none", |d| d.model()).to_owned()),
        ("voice activity", voice_activity.as_ref().map_or("none", |v| v.model()).to_owned()),
        ("speech recogniser", transcriber.as_ref().map_or("none", |t| t.model()).to_owned()),
        ("speaker vectors", speaker_embedder.as_ref().map_or("none", |s| s.model()).to_owned()),
        ("sentiment", sentiment.model().to_owned()),
        ("named entities", recognizer.model().to_owned()),
    ];
    let ports = Ports {
        storage,
        records,
        index,
        jobs,
        decoder,
        embedder,
        llm,
        fetcher: http.clone(),
        notifier: http,
        transcriber,
        voice_activity,
        speaker_embedder,
        detector,
        reader,
        sentiment: Some(sentiment),
        recognizer: Some(recognizer),
    };
    Ok((ports, roles))
}

fn storage(config: &Config, base_url: &str) -> Result<Arc<dyn ObjectStorage>> {
    let storage = match config.storage.kind {
        StorageKind::Fs => OpendalStorage::folder(&config.data_dir.join("storage"), base_url),
        StorageKind::Memory => OpendalStorage::memory(base_url),
        #[cfg(feature = "cloud")]
        StorageKind::S3 | StorageKind::Gcs => {
            let given = &config.storage;
            cloud_storage(config, &given.bucket, &given.prefix, &given.public_base_url)
        }
        #[cfg(not(feature = "cloud"))]
        StorageKind::S3 | StorageKind::Gcs => {
            return Err(compiled_out("storage.kind = \"s3\" and \"gcs\"", "cloud"));
        }
    };
    Ok(Arc::new(storage.map_err(at("storage"))?))
}

/// S3 takes no smaller part but the last.
#[cfg(feature = "cloud")]
const SMALLEST_PART: usize = 5 << 20;

#[cfg(feature = "cloud")]
fn cloud_storage(
    config: &Config,
    bucket: &str,
    prefix: &str,
    public_base_url: &str,
) -> ports::Result<OpendalStorage> {
    use adapters::storage::{GcsOptions, RemoteLimits, S3Options, gcs, s3};
    let given = &config.storage;
    let set = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    let limits = RemoteLimits {
        part_size: given.part_size.max(SMALLEST_PART),
        concurrency: given.parts.max(1),
        timeout: Duration::from_secs(given.timeout),
        io_timeout: Duration::from_secs(given.io_timeout),
        retries: given.retries,
    };
    let signed = (given.signed_urls > 0).then(|| Duration::from_secs(given.signed_urls));
    if given.kind == StorageKind::Gcs {
        return gcs(&GcsOptions {
            bucket: bucket.to_owned(),
            endpoint: set(&given.endpoint),
            prefix: prefix.to_owned(),
            credential: set(&given.credential),
            anonymous: false,
            public_base_url: set(public_base_url),
            signed,
            limits: limits.clone(),
        });
    }
    s3(&S3Options {
        bucket: bucket.to_owned(),
        endpoint: set(&given.endpoint),
        region: given.region.clone(),
        prefix: prefix.to_owned(),
        access_key_id: set(&given.access_key_id),
        secret_access_key: set(&given.secret_access_key),
        session_token: None,
        virtual_host_style: given.virtual_host_style,
        public_base_url: set(public_base_url),
        signed,
        limits,
    })
}

#[cfg(not(all(feature = "ffmpeg", feature = "onnx", feature = "cloud")))]
fn compiled_out(choice: &str, feature: &str) -> StartError {
    StartError(format!("{choice} was compiled out; build with --features {feature}"))
}

fn records(config: &Config) -> Result<Arc<dyn RecordStore>> {
    if config.records.kind == RecordsKind::Bucket {
        return shared_records(config);
    }
    if config.storage.kind == StorageKind::Memory {
        return Ok(Arc::new(MemoryRecords::new()));
    }
    let folder = FolderRecords::open(&config.data_dir.join("records")).map_err(at("data_dir"))?;
    Ok(Arc::new(folder))
}

#[cfg(feature = "cloud")]
fn shared_records(config: &Config) -> Result<Arc<dyn RecordStore>> {
    if !matches!(config.storage.kind, StorageKind::S3 | StorageKind::Gcs) {
        return Err(StartError(
            "records.kind is \"bucket\", which needs storage.kind \"s3\" or \"gcs\"".into(),
        ));
    }
    let given = &config.records;
    if given.bucket.is_empty() {
        return Err(StartError(
            "records.kind is \"bucket\" but records.bucket names none; name one that is not public"
                .into(),
        ));
    }
    let bucket = cloud_storage(config, &given.bucket, &given.prefix, "").map_err(at("records"))?;
    Ok(Arc::new(BucketRecords::over(bucket).map_err(at("records"))?))
}

#[cfg(not(feature = "cloud"))]
fn shared_records(_config: &Config) -> Result<Arc<dyn RecordStore>> {
    Err(compiled_out("records.kind = \"bucket\"", "cloud"))
}

async fn jobs(config: &Config) -> Result<Arc<dyn JobQueue>> {
    let given = &config.jobs;
    match given.kind {
        JobsKind::Memory => Ok(Arc::new(MemoryJobs::new())),
        #[cfg(feature = "cloud")]
        JobsKind::Nats => {
            let options = NatsOptions {
                url: given.url.clone(),
                credentials: (!given.credentials.is_empty()).then(|| (&given.credentials).into()),
                name: given.name.clone(),
                replicas: given.replicas.max(1),
                redelivery: Duration::from_secs(given.redelivery.max(1)),
                timeout: Duration::from_secs(given.timeout.max(1)),
            };
            Ok(Arc::new(NatsJobs::connect(options).await.map_err(at("jobs"))?))
        }
        #[cfg(not(feature = "cloud"))]
        JobsKind::Nats => Err(compiled_out("jobs.kind = \"nats\"", "cloud")),
    }
}

async fn index(config: &Config, embedder: &dyn Embedder) -> Result<Arc<dyn VectorIndex>> {
    match config.index.kind {
        IndexKind::Memory => Ok(Arc::new(MemoryIndex::new(embedder.dimension()))),
        #[cfg(feature = "cloud")]
        IndexKind::Qdrant => {
            let index = QdrantIndex::open(qdrant_options(config, embedder)).await;
            Ok(Arc::new(index.map_err(at("index"))?))
        }
        #[cfg(not(feature = "cloud"))]
        IndexKind::Qdrant => Err(compiled_out("index.kind = \"qdrant\"", "cloud")),
        IndexKind::Embedded => {
            let options = EmbeddedOptions {
                folder: index_folder(&config.data_dir, embedder),
                dimension: embedder.dimension(),
                model: embedder.model().to_owned(),
                threads: config.index.threads,
                writer_memory: config.index.writer_memory,
            };
            Ok(Arc::new(EmbeddedIndex::open(options).await.map_err(at("index"))?))
        }
    }
}

#[cfg(feature = "cloud")]
fn qdrant_options(config: &Config, embedder: &dyn Embedder) -> QdrantOptions {
    let given = &config.index;
    QdrantOptions {
        url: given.url.clone(),
        api_key: (!given.api_key.is_empty()).then(|| given.api_key.clone()),
        collection: given.collection.clone(),
        dimension: embedder.dimension(),
        model: embedder.model().to_owned(),
        fields: VECTOR_FIELDS.iter().map(|(field, _)| (*field).to_owned()).collect(),
        exact: given.exact,
        shards: given.shards.max(1),
        replicas: given.replicas.max(1),
        timeout: Duration::from_secs(given.timeout),
        attempts: given.attempts.max(1),
    }
}

/// One folder per embedding model: going back to a model finds its vectors again.
fn index_folder(data_dir: &Path, embedder: &dyn Embedder) -> std::path::PathBuf {
    let model: String = embedder
        .model()
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '_' })
        .collect();
    data_dir.join("index").join(format!("{model}-{}", embedder.dimension()))
}

#[cfg(feature = "ffmpeg")]
fn decoder(config: &Config) -> Result<Arc<dyn VideoDecoder>> {
    let given = &config.decoder;
    let usual = FfmpegOptions::default();
    Ok(Arc::new(FfmpegDecoder::new(FfmpegOptions {
        threads: if given.threads == 0 { usual.threads } else { given.threads },
        max_pixels: given.max_pixels,
        max_streams: given.max_streams,
        max_duration: config.ingest.max_duration as f64,
        open_timeout: Duration::from_secs(given.open_timeout),
        ..usual
    })))
}

#[cfg(not(feature = "ffmpeg"))]
fn decoder(_config: &Config) -> Result<Arc<dyn VideoDecoder>> {
    Err(compiled_out("decoding", "ffmpeg"))
}

fn connection(url: &str, api_key: &str, config: &Config) -> Connection {
    Connection {
        base_url: url.to_owned(),
        api_key: (!api_key.is_empty()).then(|| api_key.to_owned()),
        timeout: Duration::from_secs(config.llm.timeout),
        concurrency: config.llm.concurrency,
        retry: Retry { attempts: config.llm.attempts, ..Retry::default() },
        ..Connection::default()
    }
}

fn embedder(config: &Config) -> Result<Arc<dyn Embedder>> {
    let given = &config.embedder;
    let hashing = || HashingEmbedder::new(given.dimension).map_err(at("embedder"));
    match given.kind {
        EmbedderKind::Hashing => Ok(Arc::new(hashing()?)),
        EmbedderKind::Openai => {
            let options = OpenAiEmbedderOptions {
                connection: connection(&given.url, &given.api_key, config),
                model: given.model.clone(),
                dimension: given.dimension,
                ..OpenAiEmbedderOptions::default()
            };
            Ok(Arc::new(OpenAiEmbedder::new(options).map_err(at("embedder"))?))
        }
        EmbedderKind::Onnx => onnx::embedder(config),
        EmbedderKind::Auto => match onnx::embedder(config) {
            Ok(embedder) => Ok(embedder),
            Err(error) => {
                tracing::warn!(
                    "no sentence encoder, search goes by wording: {error}; `shotlog models --fetch` gets it or says how"
                );
                Ok(Arc::new(hashing()?))
            }
        },
    }
}

fn llm(config: &Config) -> Result<Arc<dyn LanguageModel>> {
    let given = &config.llm;
    Ok(match given.kind {
        LlmKind::Extractive => Arc::new(Extractive::new(ExtractiveOptions {
            context_tokens: given.context_tokens,
            ..ExtractiveOptions::default()
        })),
        LlmKind::Openai => {
            let options = OpenAiOptions {
                connection: connection(&given.url, &given.api_key, config),
                model: given.model.clone(),
                sees: given.vision,
                context_tokens: given.context_tokens,
                max_output_tokens: given.max_output_tokens,
                ..OpenAiOptions::default()
            };
            Arc::new(OpenAiLanguageModel::new(options).map_err(at("llm"))?)
        }
    })
}

/// The adapters that need ONNX Runtime.
#[cfg(feature = "onnx")]
mod onnx {
    use adapters::OnnxRuntime;
    use adapters::embedder::{OnnxEmbedder, OnnxEmbedderOptions};

    use super::*;

    pub(super) fn embedder(config: &Config) -> Result<Arc<dyn Embedder>> {
        let runtime = OnnxRuntime::load(&config.models.onnxruntime).map_err(at("models"))?;
        let given = &config.embedder;
        let options = OnnxEmbedderOptions {
            max_tokens: given.max_tokens,
            threads: config.models.threads,
            ..OnnxEmbedderOptions::new(config.model(&given.file), config.model(&given.tokenizer))
        };
        Ok(Arc::new(OnnxEmbedder::open(&runtime, &options).map_err(at("embedder"))?))
    }
}

#[cfg(not(feature = "onnx"))]
mod onnx {
    use super::*;

    pub(super) fn embedder(_config: &Config) -> Result<Arc<dyn Embedder>> {
        Err(compiled_out("embedder.kind = \"onnx\"", "onnx"))
    }
}
