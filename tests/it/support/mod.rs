//! The application under test. Every JSON response that passes through it is checked against the
//! document the application itself serves.

mod contract;
mod fakes;
pub mod model;
pub mod process;
pub mod readers;
pub mod s3;

use std::sync::Arc;
use std::time::Duration;

use adapters::fetcher::{MemoryFetcher, MemoryWebhooks};
use adapters::index::memory::MemoryIndex;
use adapters::jobs::MemoryJobs;
use adapters::listing::memory::MemoryListing;
use adapters::ner::RuleEntities;
use adapters::sentiment::Vader;
use adapters::storage::OpendalStorage;
use domain::Stores;
use domain::aggregation::Aggregators;
use domain::analysis::Analyzers;
use domain::analysis::evidence::TrackingOptions;
use domain::answering::ask::AskSettings;
use domain::frames::FrameSettings;
use domain::ingest::{DownloadSettings, IngestSettings, ScanSettings};
use domain::kernel::webhook::CallbackSettings;
use domain::status::ProbeSettings;
use domain::{Settings, Shotlog};
use poem::endpoint::BoxEndpoint;
use poem::http::{HeaderMap, Method};
use poem::{Body, Endpoint, Request, Response};
use ports::VideoId;
use ports::classifier::ImageClassifier;
use ports::conformance::faults::{self, Faults};
use ports::decoder::VideoDecoder;
use ports::detector::ObjectDetector;
use ports::image_embedder::ImageEmbedder;
use ports::llm::LanguageModel;
use ports::ocr::TextRecognizer;
use ports::reranker::Reranker;
use ports::speaker::{SpeakerEmbedder, SpeakerSegmentation};
use ports::transcriber::Transcriber;
use ports::vad::VoiceActivityDetector;
use serde_json::Value;
use shotlog::http::HttpOptions;
use shotlog::mcp::McpSettings;
use tempfile::TempDir;

pub use contract::Contract;
pub use fakes::{
    FakeEmbedder, FakeModel, FlakyRecords, FlakyStorage, Publication, SceneDecoder, clip,
};

/// The public base URL of the service.
pub const BASE: &str = "http://shotlog.test";

/// The application with handles on its adapters.
pub struct TestApp {
    app: BoxEndpoint<'static, Response>,
    contract: Contract,
    pub service: Arc<Shotlog>,
    pub storage: Arc<FlakyStorage>,
    pub records: Arc<FlakyRecords>,
    pub index: Arc<MemoryIndex>,
    pub listing: Arc<MemoryListing>,
    pub fetcher: Arc<MemoryFetcher>,
    pub webhooks: Arc<MemoryWebhooks>,
    pub model: Arc<FakeModel>,
    pub embedder: Arc<FakeEmbedder>,
    work: TempDir,
    token: Option<String>,
}

/// Settings and adapters that a test can change before the application starts.
pub struct Setup {
    pub http: HttpOptions,
    pub mcp: McpSettings,
    pub settings: Settings,
    pub decoder: Arc<dyn VideoDecoder>,
    pub models: Models,
    pub analyzers: Analyzers,
    pub aggregators: Aggregators,
    pub jobs: Arc<MemoryJobs>,
    pub records: Arc<FlakyRecords>,
    pub index: Arc<MemoryIndex>,
    pub listing: Arc<MemoryListing>,
    /// Replaces the default storage, a temporary folder.
    pub storage: Option<Arc<FlakyStorage>>,
    /// Faults injected into calls of the records, the index and the bucket.
    pub faults: Option<Arc<Faults>>,
    /// Replaces the fake language model.
    pub llm: Option<Arc<dyn LanguageModel>>,
}

/// Optional models; none unless a test sets them.
#[derive(Default)]
pub struct Models {
    pub transcriber: Option<Arc<dyn Transcriber>>,
    pub vad: Option<Arc<dyn VoiceActivityDetector>>,
    pub speaker_segmentation: Option<Arc<dyn SpeakerSegmentation>>,
    pub speaker_embedder: Option<Arc<dyn SpeakerEmbedder>>,
    pub detector: Option<Arc<dyn ObjectDetector>>,
    pub classifier: Option<Arc<dyn ImageClassifier>>,
    pub image_embedder: Option<Arc<dyn ImageEmbedder>>,
    pub ocr: Option<Arc<dyn TextRecognizer>>,
    pub reranker: Option<Arc<dyn Reranker>>,
}

impl TestApp {
    /// An application without authentication and with generous limits.
    pub async fn new() -> Self {
        Self::with(|_| {}).await
    }

    /// An application with other settings. With tokens, requests carry the first one.
    pub async fn with(change: impl FnOnce(&mut Setup)) -> Self {
        let work = tempfile::tempdir().expect("a folder");
        let mut setup = Setup {
            http: HttpOptions { base_url: BASE.into(), ..HttpOptions::default() },
            mcp: McpSettings::default(),
            settings: Settings {
                data_dir: work.path().to_owned(),
                fetch: DownloadSettings { max_bytes: 1 << 20 },
                decoder: ScanSettings { scan_width: 16, scan_height: 9 },
                detector: TrackingOptions {
                    frames_per_second: 1.0,
                    max_frames: 10,
                    frame_side: 64,
                },
                ingest: IngestSettings {
                    workers: 2,
                    max_upload_bytes: 1 << 20,
                    max_duration: Duration::from_secs(36_000),
                    max_chunks: 1000,
                    frames_per_chunk: 2,
                    frame_side: 64,
                    ..IngestSettings::default()
                },
                callbacks: CallbackSettings {
                    secret: "secret".into(),
                    attempts: 3,
                    retry_delay: Duration::ZERO,
                },
                ask: AskSettings { context_tokens: 2000, max_segments: 60, max_fact_chunks: 60 },
                frames: FrameSettings {
                    cache_bytes: 1 << 20,
                    max_width: 640,
                    concurrency: 1,
                    queue: 8,
                    sources: 1,
                    ..FrameSettings::default()
                },
                // Without a cache each request reports the current state.
                probes: ProbeSettings {
                    interval: Duration::ZERO,
                    timeout: Duration::from_secs(20),
                    patience: Duration::from_secs(20),
                    ..ProbeSettings::default()
                },
                ui: true,
                ..Settings::default()
            },
            decoder: Arc::new(SceneDecoder),
            models: Models::default(),
            analyzers: Analyzers::default(),
            aggregators: Aggregators::default(),
            jobs: Arc::new(MemoryJobs::new()),
            records: Arc::new(FlakyRecords::default()),
            index: Arc::new(MemoryIndex::new(FakeEmbedder::DIMENSION)),
            listing: Arc::new(MemoryListing::new()),
            storage: None,
            faults: None,
            llm: None,
        };
        change(&mut setup);
        setup.settings.ui = !setup.http.server.api_only;
        let storage = setup.storage.unwrap_or_else(|| {
            let folder = OpendalStorage::folder(&work.path().join("storage"), BASE);
            Arc::new(FlakyStorage::new(folder.expect("storage")))
        });
        let (records, index, listing) = (setup.records, setup.index, setup.listing);
        let fetcher = Arc::new(MemoryFetcher::new(false));
        let webhooks = Arc::new(MemoryWebhooks::default());
        let model = Arc::new(FakeModel::default());
        let embedder = Arc::new(FakeEmbedder::default());
        let stores = Stores {
            storage: storage.clone(),
            records: records.clone(),
            index: index.clone(),
            listing: listing.clone(),
            jobs: setup.jobs,
            fetcher: fetcher.clone(),
            webhooks: webhooks.clone(),
        };
        let stores = match &setup.faults {
            None => stores,
            Some(met) => Stores {
                records: faults::records(stores.records, met),
                index: faults::index(stores.index, met),
                listing: faults::listing(stores.listing, met),
                storage: faults::storage(stores.storage, met),
                ..stores
            },
        };
        let models = domain::Models {
            decoder: setup.decoder,
            embedder: embedder.clone(),
            llm: setup.llm.unwrap_or_else(|| model.clone()),
            transcriber: setup.models.transcriber,
            vad: setup.models.vad,
            speaker_segmentation: setup.models.speaker_segmentation,
            speaker_embedder: setup.models.speaker_embedder,
            detector: setup.models.detector,
            classifier: setup.models.classifier,
            image_embedder: setup.models.image_embedder,
            ocr: setup.models.ocr,
            reranker: setup.models.reranker,
            sentiment: Some(Arc::new(Vader::new())),
            ner: Some(Arc::new(RuleEntities::new())),
        };
        let token = setup.http.auth.tokens.first().map(|token| token.token.clone());
        let (analyzers, aggregators) = (setup.analyzers, setup.aggregators);
        let service =
            Shotlog::with_extensions(stores, models, setup.settings, analyzers, aggregators);
        service.jobs.worker.start();
        let mounts = shotlog::mcp::mount(service.clone(), setup.mcp).into_iter().collect();
        let app = shotlog::http::app(service.clone(), setup.http, mounts);
        let document = Request::builder().uri_str("/openapi.json").header("host", "shotlog.test");
        let document = app.get_response(document.finish()).await.into_body().into_string().await;
        let contract = Contract::new(&document.expect("the document is text"));
        Self {
            app,
            contract,
            service,
            storage,
            records,
            index,
            listing,
            fetcher,
            webhooks,
            model,
            embedder,
            work,
            token,
        }
    }

    /// The OpenAPI document that the application serves.
    pub fn contract(&self) -> &Contract {
        &self.contract
    }

    /// Number of files in the spool folder.
    pub fn spooled(&self) -> usize {
        let entries = std::fs::read_dir(self.work.path().join("work"));
        entries.map_or(0, |entries| entries.count())
    }

    /// Number of objects in the bucket.
    pub fn stored(&self) -> usize {
        let entries = std::fs::read_dir(self.work.path().join("storage")).expect("the bucket");
        let visible = |e: &std::fs::DirEntry| !e.file_name().to_string_lossy().starts_with('.');
        entries.flatten().filter(visible).count()
    }

    /// Number of uploads in the bucket that wait for a worker.
    pub fn incoming(&self) -> usize {
        let entries = std::fs::read_dir(self.work.path().join("storage/incoming"));
        entries.map_or(0, |entries| entries.count())
    }

    /// Number of stored parts of resumable uploads.
    pub fn parts(&self) -> usize {
        let uploads = std::fs::read_dir(self.work.path().join("storage/uploads"));
        let parts = |upload: std::fs::DirEntry| {
            std::fs::read_dir(upload.path()).map_or(0, |entries| entries.count())
        };
        uploads.map_or(0, |uploads| uploads.flatten().map(parts).sum())
    }

    /// Sends this token with all later requests.
    pub fn speak_as(&mut self, token: &str) {
        self.token = Some(token.to_owned());
    }

    /// Waits until every job has ended and returns the jobs, newest first.
    pub async fn idle(&self) -> Vec<Value> {
        let ended = |job: &Value| job["status"] == "done" || job["status"] == "failed";
        for _ in 0..10_000 {
            let jobs = self.get("/jobs").await.ok()["jobs"].as_array().expect("jobs").clone();
            if jobs.iter().all(ended) {
                return jobs;
            }
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
        panic!("the jobs do not end");
    }

    /// Sends a request unchanged.
    pub async fn raw(&self, request: Request) -> Reply {
        let (method, path) = (request.method().clone(), request.uri().path().to_owned());
        let response = self.app.get_response(request).await;
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let body = response.into_body().into_vec().await.expect("a body");
        let reply = Reply { status, headers, body };
        self.contract.check(&method, &path, &reply);
        reply
    }

    /// A request builder with the current token.
    pub fn request(&self, method: Method, uri: &str) -> poem::RequestBuilder {
        let builder = Request::builder().method(method).uri_str(uri).header("host", "shotlog.test");
        match &self.token {
            Some(token) => builder.header("X-Core-Token", token),
            None => builder,
        }
    }

    pub async fn get(&self, uri: &str) -> Reply {
        self.raw(self.request(Method::GET, uri).finish()).await
    }

    pub async fn delete(&self, uri: &str) -> Reply {
        self.raw(self.request(Method::DELETE, uri).finish()).await
    }

    pub async fn put_json(&self, uri: &str, body: Value) -> Reply {
        let request = self.request(Method::PUT, uri).content_type("application/json");
        self.raw(request.body(body.to_string())).await
    }

    pub async fn patch_json(&self, uri: &str, body: Value) -> Reply {
        let request = self.request(Method::PATCH, uri).content_type("application/json");
        self.raw(request.body(body.to_string())).await
    }

    pub async fn post_json(&self, uri: &str, body: Value) -> Reply {
        self.post_text(uri, "application/json", body.to_string()).await
    }

    pub async fn post_text(&self, uri: &str, kind: &str, body: impl Into<Body>) -> Reply {
        self.raw(self.request(Method::POST, uri).content_type(kind).body(body)).await
    }

    /// Uploads a file with text fields before it.
    pub async fn upload(&self, fields: &[(&str, &str)], name: &str, file: &[u8]) -> Reply {
        let (kind, body) = multipart(fields, Some((name, file)));
        self.post_text("/videos", &kind, body).await
    }

    /// Uploads a file and returns its ended job, failed or done.
    pub async fn job_of(&self, fields: &[(&str, &str)], name: &str, file: &[u8]) -> Value {
        let reply = self.upload(fields, name, file).await;
        assert_eq!(reply.status, 202, "{}", reply.text());
        self.finished(reply.json()["job_id"].as_str().expect("a job id")).await
    }

    /// Ingests a clip of 30 seconds in chunks of ten and returns the video's id.
    pub async fn video(&self) -> String {
        self.video_of(&clip(30.0)).await
    }

    /// Ingests a clip in chunks of ten seconds and returns the video's id.
    pub async fn video_of(&self, file: &[u8]) -> String {
        let job = self.job_of(&[("mode", "interval"), ("interval", "10")], "clip.mp4", file).await;
        assert_eq!(job["status"], "done", "{job}");
        job["result"]["video_id"].as_str().expect("an id").to_owned()
    }

    /// Polls a job until it has ended.
    pub async fn finished(&self, job_id: &str) -> Value {
        loop {
            let job = self.get(&format!("/jobs/{job_id}")).await.json();
            if job["status"] == "done" || job["status"] == "failed" {
                return job;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// Changes a video's published record, for states that only other installations produce.
    pub async fn edit_record(&self, video_id: &str, change: impl FnOnce(&mut Value)) {
        use ports::listing::VideoListing;
        use ports::records::RecordStore;
        let key = format!("videos/{video_id}/video.json");
        let mut record = self.records.get(&key).await.expect("records").expect("a record");
        change(&mut record);
        self.records.put(&key, &record).await.expect("records");
        let intervals = format!("cache/{video_id}/intervals.json");
        self.records.delete(&intervals).await.expect("records");
        self.listing.set_mark("edited").await.expect("a listing");
        self.service.catalog.listing.rebuild().await.expect("a listing");
    }

    /// Stores outputs, one per chunk, of an analyzer whose models are missing here.
    pub async fn plant_output(&self, video_id: &str, analyzer: &str, outputs: Value) {
        use ports::records::RecordStore;
        let key = format!("videos/{video_id}/{analyzer}-planted.json");
        self.records.put(&key, &outputs).await.expect("records");
        let found = outputs.as_array().into_iter().flatten().filter(|o| !o.is_null()).count();
        let entry = serde_json::json!({
            "document": key, "fingerprint": "planted", "found": found, "points": 0, "revision": "",
            "embedder": "",
        });
        self.edit_record(video_id, |record| record["analyzers"][analyzer] = entry).await;
    }

    /// Stores the result of an aggregator that is missing here.
    pub async fn plant_aggregate(&self, video_id: &str, aggregator: &str, result: Value) {
        use ports::records::RecordStore;
        let key = format!("videos/{video_id}/{aggregator}-planted.json");
        self.records.put(&key, &result).await.expect("records");
        self.edit_record(video_id, |record| record["aggregates"][aggregator] = key.into()).await;
    }
}

/// A response, read to its end.
#[derive(Debug)]
pub struct Reply {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
}

impl Reply {
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|e| panic!("{e}: {}", self.text()))
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The message of an error; asserts its status and that it is the only field of the body.
    pub fn error(&self, status: u16) -> String {
        assert_eq!(self.status, status, "{}", self.text());
        let body = self.json();
        let object = body.as_object().expect("an object");
        assert_eq!(object.keys().collect::<Vec<_>>(), ["detail"], "{body}");
        object["detail"].as_str().expect("a string").to_owned()
    }

    /// The JSON body of a successful response.
    pub fn ok(&self) -> Value {
        assert_eq!(self.status, 200, "{}", self.text());
        self.json()
    }

    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }
}

/// The content type and bytes of a multipart form: text fields, then the file.
pub fn multipart(fields: &[(&str, &str)], file: Option<(&str, &[u8])>) -> (String, Vec<u8>) {
    let boundary = "shotlog-test-boundary";
    let mut body = Vec::new();
    for (name, value) in fields {
        body.extend(
            format!(
                "--{boundary}\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n"
            )
            .bytes(),
        );
    }
    if let Some((name, content)) = file {
        body.extend(
            format!(
                "--{boundary}\r\nContent-Disposition: form-data; name=\"file\"; \
                 filename=\"{name}\"\r\nContent-Type: video/mp4\r\n\r\n"
            )
            .bytes(),
        );
        body.extend(content);
        body.extend(b"\r\n");
    }
    body.extend(format!("--{boundary}--\r\n").bytes());
    (format!("multipart/form-data; boundary={boundary}"), body)
}

/// Parses a valid video id.
#[track_caller]
pub fn video_id(id: &str) -> VideoId {
    id.parse().expect("the id of a video")
}

/// The keys of a JSON object, sorted.
pub fn keys(value: &Value) -> Vec<&str> {
    let mut keys: Vec<&str> =
        value.as_object().expect("an object").keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys
}

/// Asserts that the text contains all of the words.
#[track_caller]
pub fn mentions(text: &str, words: &[&str]) {
    for word in words {
        assert!(text.contains(word), "'{text}' does not mention '{word}'");
    }
}
