//! An adapter of your own: an embedder that knows colours and nothing else, in a service composed
//! without HTTP. It ingests a clip and finds the moments of a colour.
//!
//! ```text
//! cargo run --example own_embedder -- clip.mp4 "something blue"
//! ```
//!
//! In the service proper the adapter would be a file below `adapters/src/embedder/`, and in
//! `adapters/src/embedder/open.rs` a variant of `Kind` and an arm of `open`.

use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use adapters::decoder::{FfmpegDecoder, FfmpegOptions};
use adapters::fetcher::{MemoryFetcher, MemoryWebhooks};
use adapters::index::memory::MemoryIndex;
use adapters::jobs::MemoryJobs;
use adapters::listing::memory::MemoryListing;
use adapters::llm::{Extractive, ExtractiveOptions};
use adapters::records::MemoryRecords;
use adapters::storage::OpendalStorage;
use async_trait::async_trait;
use ports::embedder::Embedder;
use shotlog::domain::catalog::about::AboutPatch;
use shotlog::domain::chunking::ChunkingFields;
use shotlog::domain::ingest::IngestFields;
use shotlog::domain::jobs::JobStatus;
use shotlog::domain::kernel::access::Access;
use shotlog::domain::search::Query;
use shotlog::domain::{Models, Settings, Shotlog, Stores};

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
    let stores = Stores {
        storage: Arc::new(OpendalStorage::memory("http://127.0.0.1:8080")?),
        records: Arc::new(MemoryRecords::new()),
        index: Arc::new(MemoryIndex::new(ColourEmbedder.dimension())),
        listing: Arc::new(MemoryListing::new()),
        jobs: Arc::new(MemoryJobs::new()),
        fetcher: Arc::new(MemoryFetcher::new(false)),
        webhooks: Arc::new(MemoryWebhooks::default()),
    };
    let models = Models {
        decoder: Arc::new(FfmpegDecoder::new(FfmpegOptions::default())),
        embedder: Arc::new(ColourEmbedder),
        llm: Arc::new(Extractive::new(ExtractiveOptions::default())),
        transcriber: None,
        vad: None,
        speaker_segmentation: None,
        speaker_embedder: None,
        detector: None,
        ocr: None,
        sentiment: None,
        ner: None,
    };
    let settings = Settings { data_dir: work.to_owned(), ..Settings::default() };
    let service = Shotlog::new(stores, models, settings);
    service.jobs.start();
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
    let mut spool = service.ingest.spool_upload().await?;
    spool.write(&std::fs::read(&clip)?).await?;
    let fields = IngestFields {
        analyzers: "default_video".into(),
        chunking: ChunkingFields::default(),
        idempotency_key: None,
        callback_url: None,
        max_model_calls: None,
        about: AboutPatch::default(),
        access: Access::default(),
    };
    let mut job = service.jobs.ingest_file(Some(&clip), spool.finish().await?, fields).await?;
    while !matches!(job.status, JobStatus::Done | JobStatus::Failed) {
        tokio::time::sleep(Duration::from_millis(100)).await;
        job = service.jobs.get(&job.job_id).await?;
    }
    if let Some(error) = job.error {
        return Err(error.into());
    }
    let query = Query {
        text,
        analyzer: "default_video".into(),
        field: "combined".into(),
        limit: 3,
        score_threshold: Some(0.3),
        detail: "standard".into(),
        ..Query::default()
    };
    for hit in service.answering.query(&Access::default(), query).await?.results {
        println!("{:.2}  {}  {}", hit.score, hit.timecode, hit.document.description);
    }
    Ok(())
}
