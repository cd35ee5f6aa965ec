//! Configuration: defaults ← `config.toml` ← `SERVICE_*` variables ← flags. Read by `main`, mapped
//! to adapters by [`crate::app`]. Unknown keys are errors that name the nearest known one.

use std::path::{Path, PathBuf};

use figment::Figment;
use figment::providers::Serialized;
use serde::{Deserialize, Serialize};

mod load;
pub use load::{ConfigError, Sources};

macro_rules! section {
    ($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $field:ident: $type:ty = $default:expr,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct $name { $($(#[$field_doc])* pub $field: $type,)* }

        impl Default for $name {
            fn default() -> Self {
                Self { $($field: $default,)* }
            }
        }
    };
}

mod perception;
mod work;
pub use perception::{
    Detector, DetectorKind, DetectorLayout, Entities, EntitiesKind, Reader, ReaderKind, Sentiment,
    SentimentKind, Speaker, SpeakerKind, Transcriber, TranscriberKind, Voice, VoiceKind,
};
pub use work::*;

section! {
    /// Every key. An empty string means "not set".
    Config {
        /// Local storage, records and the index live below it.
        data_dir: PathBuf = "var/data".into(),
        /// The HTTP server.
        http: Http = Http::default(),
        /// Who may call.
        auth: Auth = Auth::default(),
        /// Where videos and posters are stored.
        storage: Storage = Storage::default(),
        /// Where the records of videos are.
        records: Records = Records::default(),
        /// Where vectors are.
        index: Index = Index::default(),
        /// Where model files are.
        models: Models = Models::default(),
        /// What turns text into vectors.
        embedder: Embedder = Embedder::default(),
        /// The language model.
        llm: Llm = Llm::default(),
        /// What reads text in pictures.
        reader: Reader = Reader::default(),
        /// What finds objects in pictures.
        detector: Detector = Detector::default(),
        /// What finds speech in sound.
        voice: Voice = Voice::default(),
        /// What tells voices apart.
        speaker: Speaker = Speaker::default(),
        /// What recognises speech.
        transcriber: Transcriber = Transcriber::default(),
        /// What tells the sentiment of language.
        sentiment: Sentiment = Sentiment::default(),
        /// What finds names, places and quantities in text.
        entities: Entities = Entities::default(),
        /// Downloads.
        fetch: Fetch = Fetch::default(),
        /// Decoding.
        decoder: Decoder = Decoder::default(),
        /// The pipeline.
        ingest: Ingest = Ingest::default(),
        /// Pictures of stored videos.
        frames: Frames = Frames::default(),
        /// How searches rank, and what their scores mean.
        search: Search = Search::default(),
        /// Answers.
        ask: Ask = Ask::default(),
        /// Jobs.
        jobs: Jobs = Jobs::default(),
        /// Notices to the addresses that ingests name.
        callbacks: Callbacks = Callbacks::default(),
        /// Stopping.
        shutdown: Shutdown = Shutdown::default(),
        /// What is logged.
        log: Log = Log::default(),
        /// What is traced.
        traces: Traces = Traces::default(),
    }
}

section! {
    /// The HTTP server.
    Http {
        /// Address and port.
        listen: String = "127.0.0.1:8080".into(),
        /// How clients reach the service; empty: `http://` and the listening address.
        base_url: String = String::new(),
        /// No web UI.
        api_only: bool = false,
        /// Largest JSON body, bytes.
        max_json_bytes: usize = 1 << 20,
        /// Largest form body, bytes.
        max_form_bytes: usize = 64 << 10,
        /// Largest text field of an upload, bytes.
        max_field_bytes: usize = 64 << 10,
        /// Longest time a JSON or form body may take to arrive, seconds.
        body_timeout: u64 = 30,
        /// Longest time an upload may stand still, seconds.
        upload_idle: u64 = 60,
        /// Uploads on their way at once.
        max_uploads: usize = 16,
    }
}

section! {
    /// Who may call.
    Auth {
        /// Accepted values of `X-Core-Token`; several while one is being rotated.
        tokens: Vec<String> = Vec::new(),
        /// Listen beyond loopback without tokens.
        allow_anonymous: bool = false,
        /// Life of a browser session, seconds.
        session_seconds: u64 = 12 * 3600,
        /// Browser sessions at once.
        max_sessions: usize = 1000,
    }
}

/// Where videos and posters are stored.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StorageKind {
    /// A folder below `data_dir`, served by the service.
    #[default]
    Fs,
    /// A bucket on S3 or a server that speaks its protocol.
    S3,
    /// A bucket on Google Cloud Storage.
    Gcs,
    /// In memory, gone with the process.
    Memory,
}

section! {
    /// Where videos and posters are stored.
    Storage {
        /// Which.
        kind: StorageKind = StorageKind::Fs,
        /// Bucket name (s3, gcs).
        bucket: String = String::new(),
        /// Prefix within the bucket (s3, gcs).
        prefix: String = String::new(),
        /// Server address, where it is not the provider's own (s3, gcs).
        endpoint: String = String::new(),
        /// Region (s3).
        region: String = "us-east-1".into(),
        /// Key id; empty: environment or instance role (s3).
        access_key_id: String = String::new(),
        /// Secret key (s3).
        secret_access_key: String = String::new(),
        /// Base64 of a service account's JSON; empty: environment or instance role (gcs).
        credential: String = String::new(),
        /// Bucket name in the host instead of the path (s3).
        virtual_host_style: bool = false,
        /// Address that clients read objects from, as of a CDN; empty: the bucket's own.
        public_base_url: String = String::new(),
        /// Seconds that the address of an object holds, where the bucket is not public; 0: it is (s3, gcs).
        signed_urls: u64 = 0,
        /// Bytes per part of an upload, held in memory; at least 5 MiB (s3, gcs).
        part_size: usize = 8 << 20,
        /// Parts of one upload under way at once (s3, gcs).
        parts: usize = 4,
        /// Seconds for a request without a body (s3, gcs).
        timeout: u64 = 30,
        /// Seconds for each read or write of a body (s3, gcs).
        io_timeout: u64 = 60,
        /// Times a failed request is sent again, with growing pauses (s3, gcs).
        retries: usize = 4,
    }
}

/// Where the records of videos are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RecordsKind {
    /// A folder below `data_dir`; in memory with storage in memory.
    #[default]
    Folder,
    /// A bucket that is not public, shared by every instance; server and credentials of `[storage]`.
    Bucket,
}

section! {
    /// Where the records of videos are.
    Records {
        /// Which.
        kind: RecordsKind = RecordsKind::Folder,
        /// Bucket name; it must not be public (bucket).
        bucket: String = String::new(),
        /// Prefix within the bucket (bucket).
        prefix: String = "records".into(),
        /// Seconds after which the videos of an instance that died may be worked on (bucket).
        lease: u64 = 60,
        /// Seconds between repairs of what an instance that died left behind (bucket).
        repair: u64 = 300,
    }
}

/// Where vectors are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IndexKind {
    /// In the process, on disk below `data_dir`.
    #[default]
    Embedded,
    /// A Qdrant server.
    Qdrant,
    /// In memory, rebuilt from the records at each start.
    Memory,
}

section! {
    /// Where vectors are.
    Index {
        /// Which.
        kind: IndexKind = IndexKind::Embedded,
        /// The server's gRPC address, such as `http://127.0.0.1:6334`; `https` for TLS (qdrant).
        url: String = String::new(),
        /// The server's API key (qdrant).
        api_key: String = String::new(),
        /// Name of the collection, shared by every instance (qdrant).
        collection: String = "shotlog".into(),
        /// Videos without a record whose vectors a start or a repair removes; more stay until it is
        /// told `--remove-orphans`.
        max_orphans: usize = 10,
        /// Compare every point, rather than walk a graph that misses some hits (qdrant).
        exact: bool = true,
        /// Parts that a new collection is split into, over the nodes of a cluster (qdrant).
        shards: u32 = 1,
        /// Copies of each part of a new collection (qdrant).
        replicas: u32 = 1,
        /// Seconds for one request (qdrant).
        timeout: u64 = 10,
        /// Times a request is sent while the server does not answer (qdrant).
        attempts: u32 = 3,
        /// Threads that score vectors; 0 is one per core (embedded).
        threads: usize = 0,
        /// Bytes that may wait in memory before they are written (embedded).
        writer_memory: usize = 64 << 20,
    }
}

section! {
    /// Where model files are.
    Models {
        /// Folder of the model files.
        dir: PathBuf = "var/models".into(),
        /// The ONNX Runtime shared library.
        onnxruntime: PathBuf = "var/lib/libonnxruntime.so".into(),
        /// Threads per model.
        threads: usize = 2,
    }
}

/// What turns text into vectors.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EmbedderKind {
    /// The ONNX model where its files are there, else hashing.
    #[default]
    Auto,
    /// A sentence encoder on ONNX Runtime.
    Onnx,
    /// An OpenAI-compatible server.
    Openai,
    /// Hashed words: likeness of wording, not of meaning.
    Hashing,
}

section! {
    /// What turns text into vectors.
    Embedder {
        /// Which.
        kind: EmbedderKind = EmbedderKind::Auto,
        /// Model file below `models.dir` (onnx).
        file: PathBuf = "embed/all-MiniLM-L6-v2.onnx".into(),
        /// Tokenizer file below `models.dir` (onnx).
        tokenizer: PathBuf = "embed/tokenizer.json".into(),
        /// Tokens of a text that are read (onnx).
        max_tokens: usize = 256,
        /// Server address, up to `/v1` (openai).
        url: String = String::new(),
        /// The server's name for the model (openai).
        model: String = String::new(),
        /// The server's key (openai).
        api_key: String = String::new(),
        /// Length of the vectors (openai, hashing).
        dimension: usize = 384,
    }
}

/// The language model.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LlmKind {
    /// Selects from the evidence: no weights, no network.
    #[default]
    Extractive,
    /// An OpenAI-compatible server.
    Openai,
}

section! {
    /// The language model.
    Llm {
        /// Which.
        kind: LlmKind = LlmKind::Extractive,
        /// Server address, up to `/v1` (openai).
        url: String = String::new(),
        /// The server's name for the model (openai).
        model: String = String::new(),
        /// The server's key (openai).
        api_key: String = String::new(),
        /// Whether the model sees pictures (openai).
        vision: bool = true,
        /// Tokens of evidence that fit into one request.
        context_tokens: usize = 24_000,
        /// Most tokens of one answer (openai).
        max_output_tokens: u32 = 4096,
        /// Longest wait for an answer, seconds (openai).
        timeout: u64 = 120,
        /// Requests in flight at once (openai).
        concurrency: usize = 4,
        /// Requests in all for one answer, repetitions after 429 and 5xx included (openai).
        attempts: u32 = 4,
        /// Cost of a million tokens read, in any one currency; `/metrics` adds it up.
        input_price: f64 = 0.0,
        /// Cost of a million tokens written.
        output_price: f64 = 0.0,
    }
}

impl Config {
    /// Reads and checks the configuration.
    pub fn load(sources: &Sources) -> Result<Self, ConfigError> {
        let mut figment = Figment::from(Serialized::defaults(Self::default()));
        for layer in load::layers(sources, &Self::default())? {
            figment = figment.merge(Serialized::defaults(layer));
        }
        let config: Self = figment.extract().map_err(|e| load::explain(&e))?;
        config.check()?;
        Ok(config)
    }

    /// The folder or file of a model.
    pub fn model(&self, file: &Path) -> PathBuf {
        self.models.dir.join(file)
    }

    fn check(&self) -> Result<(), ConfigError> {
        let wrong = |text: String| Err(ConfigError::new(text));
        if self.ingest.concurrency == 0 || self.ingest.max_chunks == 0 {
            return wrong("ingest.concurrency and ingest.max_chunks must be at least 1".into());
        }
        if self.ingest.workers == 0 && self.jobs.kind == JobsKind::Memory {
            return wrong(
                "ingest.workers is 0, so that no job would ever run; it must be at least 1, unless \
                 other instances work on the jobs (jobs.kind = \"nats\")"
                    .into(),
            );
        }
        if self.frames.concurrency == 0 || self.frames.queue == 0 || self.frames.max_width < 16 {
            return wrong(
                "frames.concurrency and frames.queue must be at least 1, frames.max_width 16"
                    .into(),
            );
        }
        if self.auth.tokens.iter().any(String::is_empty) {
            return wrong("auth.tokens holds an empty token; remove it or give it a value".into());
        }
        if self.decoder.scan_width < 16 || self.decoder.scan_height < 16 {
            return wrong("decoder.scan_width and decoder.scan_height must be at least 16".into());
        }
        let search = &self.search;
        let weights = [search.fusion_k, search.vector_weight, search.text_weight];
        if !weights.iter().all(|weight| weight.is_finite() && *weight > 0.0) {
            return wrong(
                "search.fusion_k, search.vector_weight and search.text_weight must be above 0"
                    .into(),
            );
        }
        if search.null_probes < 8 || !search.threshold_deviations.is_finite() {
            return wrong(
                "search.null_probes must be at least 8, search.threshold_deviations a number"
                    .into(),
            );
        }
        if self.entities.labels.iter().any(|label| label.trim().is_empty()) {
            return wrong("entities.labels holds an empty label; remove it or name one".into());
        }
        for (key, kind, url) in [
            ("llm.url", self.llm.kind == LlmKind::Openai, &self.llm.url),
            ("embedder.url", self.embedder.kind == EmbedderKind::Openai, &self.embedder.url),
            (
                "transcriber.url",
                self.transcriber.kind == TranscriberKind::Openai,
                &self.transcriber.url,
            ),
        ] {
            if kind && url.is_empty() {
                return wrong(format!(
                    "{key} is empty; the kind openai needs the server's address"
                ));
            }
        }
        if !self.http.base_url.is_empty() && !self.http.base_url.starts_with("http") {
            return wrong(format!(
                "http.base_url is '{}'; it must be an http or https URL",
                self.http.base_url
            ));
        }
        Ok(())
    }
}
