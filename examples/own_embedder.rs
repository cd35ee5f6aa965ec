//! An adapter of your own: an embedder that knows colours and nothing else, in a service composed
//! without HTTP. It ingests a clip and finds the moments of a colour.
//!
//! ```text
//! cargo run --example own_embedder -- clip.mp4 "something blue"
//! ```
//!
//! In the service proper the adapter would be a file below `adapters/src/embedder/`, a variant of
//! `EmbedderKind` in `src/config.rs`, and an arm in `src/app.rs`.

use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use adapters::decoder::{FfmpegDecoder, FfmpegOptions};
use adapters::fetcher::{MemoryFetcher, MemoryNotifier};
use adapters::index::memory::MemoryIndex;
use adapters::jobs::MemoryJobs;
use adapters::llm::{Extractive, ExtractiveOptions};
use adapters::records::MemoryRecords;
use adapters::storage::OpendalStorage;
use async_trait::async_trait;
use ports::embedder::Embedder;
use serde_json::Map;
use shotlog::domain::analyzers::evidence::Sighting;
use shotlog::domain::callbacks::CallbackSettings;
use shotlog::domain::chunking::ChunkingFields;
use shotlog::domain::frames::FrameSettings;
use shotlog::domain::ingest::IngestFields;
use shotlog::domain::jobs::{JobLimits, JobStatus};
use shotlog::domain::search::{Query, SearchSettings};
use shotlog::domain::{Ports, Settings, Shotlog};

const COLOURS: [&str; 11] = [
    "black",
    "grey",
    "white",
    "red",
    "brown",
    "orange",
    "yellow",
    "green",
    "turquoise",
    "blue",
    "violet",
];

/// One component per colour, and one for texts that name none.
struct ColourEmbedder;

#[async_trait]
impl Embedder for ColourEmbedder {
    fn model(&self) -> &str {
        "colours"
    }

    fn dimension(&self) -> usize {
        COLOURS.len() + 1
    }

    async fn embed(&self, texts: &[String]) -> ports::Result<Vec<Vec<f32>>> {
        Ok(texts.iter().map(|text| vector(text)).collect())
    }
}

fn vector(text: &str) -> Vec<f32> {
    let text = text.to_lowercase();
    let mut vector: Vec<f32> = COLOURS.iter().map(|c| text.matches(c).count() as f32).collect();
    vector.push(if vector.iter().all(|&n| n == 0.0) { 1.0 } else { 0.0 });
    let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    vector.iter_mut().for_each(|x| *x /= length);
    vector
}

fn service(work: &Path) -> Result<Arc<Shotlog>, Box<dyn Error>> {
    let ports = Ports {
        storage: Arc::new(OpendalStorage::memory("http://127.0.0.1:8080")?),
        records: Arc::new(MemoryRecords::new()),
        index: Arc::new(MemoryIndex::new(ColourEmbedder.dimension())),
        jobs: Arc::new(MemoryJobs::new()),
        decoder: Arc::new(FfmpegDecoder::new(FfmpegOptions::default())),
        embedder: Arc::new(ColourEmbedder),
        llm: Arc::new(Extractive::new(ExtractiveOptions::default())),
        fetcher: Arc::new(MemoryFetcher::new(false)),
        notifier: Arc::new(MemoryNotifier::default()),
        transcriber: None,
        voice_activity: None,
        speaker_embedder: None,
        detector: None,
        reader: None,
        sentiment: None,
        recognizer: None,
    };
    let settings = Settings {
        work_dir: work.to_owned(),
        max_download: 1 << 30,
        max_upload: 1 << 30,
        max_chunks: 10_000,
        max_duration: 36_000.0,
        concurrency: 2,
        jobs: JobLimits { workers: 1, queue: 1, history: 1, attempts: 1 },
        scan_width: 160,
        scan_height: 90,
        frame_side: 640,
        frames_per_chunk: 3,
        sighting: Sighting { per_second: 2.0, max_frames: 24, side: 640 },
        lease: None,
        max_orphans: 10,
        callbacks: CallbackSettings { secret: String::new(), attempts: 3, pause: Duration::ZERO },
        prices: shotlog::domain::meters::Prices::default(),
        search: SearchSettings::default(),
        answer_tokens: 2000,
        ask_videos: 1,
        frames: FrameSettings {
            folder: work.join("frames"),
            cache_bytes: 64 << 20,
            max_width: 1280,
            concurrency: 1,
            queue: 16,
            sources: 1,
        },
        ui: false,
    };
    let service = Shotlog::new(ports, settings);
    service.start_jobs();
    Ok(service)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(clip), Some(text)) = (arguments.next(), arguments.next()) else {
        return Err("usage: own_embedder CLIP TEXT".into());
    };
    let work = tempfile::tempdir()?;
    let service = service(work.path())?;
    let mut spool = service.spool_upload().await?;
    spool.write(&std::fs::read(&clip)?).await?;
    let fields = IngestFields {
        analyzers: "default_video".into(),
        chunking: ChunkingFields::default(),
        idempotency_key: None,
        callback_url: None,
        max_model_calls: None,
    };
    let mut job = service.ingest_file(Some(&clip), spool.finish().await?, fields).await?;
    while !matches!(job.status, JobStatus::Done | JobStatus::Failed) {
        tokio::time::sleep(Duration::from_millis(100)).await;
        job = service.job(&job.job_id).await?;
    }
    if let Some(error) = job.error {
        return Err(error.into());
    }
    let query = Query {
        text,
        mode: "vector".into(),
        video_ids: None,
        analyzer: "default_video".into(),
        field: "combined".into(),
        limit: 3,
        score_threshold: Some(0.3),
        synthesize: false,
        detail: "standard".into(),
        filters: Map::new(),
    };
    for hit in service.query(query).await?.results {
        println!("{:.2}  {}  {}", hit.score, hit.timecode, hit.document.description);
    }
    Ok(())
}
