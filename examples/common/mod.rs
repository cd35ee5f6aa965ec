//! Creates a service that keeps everything in memory, and ingests clips into it.

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
use domain::aggregation::Aggregators;
use domain::analysis::Analyzers;
use domain::chunking::ChunkingFields;
use domain::ingest::IngestFields;
use domain::jobs::JobResult;
use domain::kernel::access::Access;
use domain::kernel::video::VideoId;
use domain::records::metadata::MetadataPatch;
use domain::{Models, Settings, Shotlog, Stores};
use ports::embedder::Embedder;

/// Creates a service with this embedder, these analyzers and aggregators; `work` holds temporary files, and
/// stored files have addresses below `url`.
pub(crate) fn service(
    work: &Path,
    url: &str,
    embedder: Arc<dyn Embedder>,
    analyzers: Analyzers,
    aggregators: Aggregators,
) -> Result<Arc<Shotlog>, Box<dyn Error>> {
    let stores = Stores {
        storage: Arc::new(OpendalStorage::memory(url)?),
        records: Arc::new(MemoryRecords::new()),
        index: Arc::new(MemoryIndex::new(embedder.dimension())),
        listing: Arc::new(MemoryListing::new()),
        jobs: Arc::new(MemoryJobs::new()),
        fetcher: Arc::new(MemoryFetcher::new(false)),
        webhooks: Arc::new(MemoryWebhooks::default()),
    };
    let models = Models {
        decoder: Arc::new(FfmpegDecoder::new(FfmpegOptions::default())),
        embedder,
        llm: Arc::new(Extractive::new(ExtractiveOptions::default())),
        transcriber: None,
        vad: None,
        speaker_segmentation: None,
        speaker_embedder: None,
        detector: None,
        classifier: None,
        image_embedder: None,
        ocr: None,
        reranker: None,
        sentiment: None,
        ner: None,
    };
    let settings = Settings { data_dir: work.to_owned(), ..Settings::default() };
    let service = Shotlog::with_extensions(stores, models, settings, analyzers, aggregators);
    service.jobs.worker.start();
    Ok(service)
}

/// Ingests a clip with a comma-separated selection of analyzers and returns the video's id.
pub(crate) async fn ingest(
    service: &Shotlog,
    clip: &str,
    analyzers: &str,
) -> Result<VideoId, Box<dyn Error>> {
    let mut spool = service.sources.spool_upload().await?;
    spool.write(&std::fs::read(clip)?).await?;
    let fields = IngestFields {
        analyzers: analyzers.into(),
        chunking: ChunkingFields::default(),
        idempotency_key: None,
        callback_url: None,
        max_model_calls: None,
        audio_track: None,
        metadata: MetadataPatch::default(),
        access: Access::default(),
    };
    let mut job =
        service.jobs.submission.ingest_file(Some(clip), spool.finish().await?, fields).await?;
    while !job.status.is_final() {
        tokio::time::sleep(Duration::from_millis(100)).await;
        job = service.jobs.store.get(&job.job_id).await?;
    }
    match job.result {
        Some(JobResult::Ingest(result)) => Ok(result.video_id),
        _ => Err(job.error.unwrap_or_default().into()),
    }
}
