//! The pipeline, top-down: fetch, decode once, split, analyze, index, aggregate, publish.
//!
//! Everything before publication writes documents that nothing names yet, so a failure or a crash
//! leaves the previous state.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::time::Instant;

use futures::{StreamExt, TryStreamExt, stream};
use ports::decoder::MediaInfo;
use ports::index::{Filter, Point, Predicate};
use ports::{ByteStream, ErrorKind, PortError};
use serde_json::{Value, json};
use tempfile::TempPath;

use crate::domain::analysis::Analyzer;
use crate::domain::analysis::evidence::{ChunkEvidence, VideoEvidence};
use crate::domain::analysis::video::{AnalyzedVideo, Output, Outputs};
use crate::domain::catalog::locks::VideoLock;
use crate::domain::catalog::record::{self, AnalyzerEntry, Cost, Took, VideoRecord};
use crate::domain::catalog::{CacheKey, Discarded, Fault, Part, Stored};
use crate::domain::chunking::{Chunking, Signals};
use crate::domain::ingest::Ingest;
use crate::domain::ingest::signals::MediaSignals;
use crate::domain::ingest::source;
use crate::domain::ingest::source::Source;
use crate::domain::ingest::{
    Aggregated, IngestFields, IngestResult, Limit, Spool, Spooled, poster,
};
use crate::domain::kernel::error::{Error, Result};
use crate::domain::kernel::metrics;
use crate::domain::kernel::progress::{Progress, Stage};
use crate::domain::kernel::time::Span;
use crate::domain::kernel::time::now;
use crate::domain::llm::budget::Budget;
use crate::domain::search::indexing::points;

/// A checked request.
pub(crate) struct IngestRequest {
    pub(crate) analyzers: Vec<&'static dyn Analyzer>,
    pub(crate) chunking: Chunking,
    pub(crate) max_model_calls: Option<u32>,
}

/// The published video that an ingest builds on: what of its record reads back.
struct Previous {
    record: VideoRecord,
    /// Whether its chunks, signals and speech do; else everything is found anew.
    intact: bool,
}

impl Previous {
    fn intact(&self) -> Option<&VideoRecord> {
        self.intact.then_some(&self.record)
    }
}

/// A source on disk that has turned out to be a video.
pub(crate) struct Fetched {
    pub(crate) file: Spooled,
    info: MediaInfo,
    filename: String,
    source_url: Option<String>,
}

impl Ingest {
    pub(crate) async fn ingest(
        &self,
        source: Source,
        fields: &IngestFields,
        progress: Progress,
    ) -> Result<IngestResult> {
        let plan = self.request(fields)?;
        progress.stage(Stage::Fetching, Value::Null);
        let fetched = progress.cancellable(self.fetch(source)).await?;
        let video_id = fetched.file.video_id.clone();
        progress.video(&video_id);
        let claim = self.catalog.locks.lock(&video_id);
        let claim = progress.cancellable(claim).await?;
        let before = self.catalog.stored(&video_id).await?;
        let outcome = self.process(&fetched, &plan, &before, &progress, &claim).await;
        if outcome.is_err() && claim.check().is_ok() {
            self.discard(&video_id, &before).await;
        }
        outcome
    }

    /// Brings the source to disk, hashed, and checks that it is a video.
    async fn fetch(&self, source: Source) -> Result<Fetched> {
        let (file, name, source_url) = match source {
            Source::File { path, video_id, size, name } => {
                let path = TempPath::try_from_path(path)?;
                (Spooled { path, video_id, size }, name, None)
            }
            Source::Stored { key, name } => {
                let limit = self.upload_limit();
                let body = self.stores.storage.get(&key, None).await?;
                (self.spool(body, limit).await?, name, None)
            }
            Source::Url { url } => {
                let (file, name) = self.download(&url).await?;
                (file, name, Some(url))
            }
        };
        if file.size == 0 {
            return Err(Error::Unprocessable("the source is empty; a video file is needed".into()));
        }
        let (decoder, path) = (self.models.decoder.clone(), file.path.to_path_buf());
        let info = tokio::task::spawn_blocking(move || decoder.probe(&path))
            .await
            .map_err(|e| Error::corrupt(format!("probing panicked: {e}")))??;
        if let Some(duration) =
            info.duration.filter(|d| *d > self.settings.ingest.max_duration.as_secs_f64())
        {
            return Err(self.too_long(duration));
        }
        let filename = source::clean_name(name.as_deref(), &info);
        Ok(Fetched { file, info, filename, source_url })
    }

    fn too_long(&self, duration: f64) -> Error {
        Error::Unprocessable(format!(
            "the video lasts {duration:.0} s, longer than the {:.0} s that are allowed \
             (ingest.max_duration)",
            self.settings.ingest.max_duration.as_secs_f64()
        ))
    }

    async fn download(&self, url: &str) -> Result<(Spooled, Option<String>)> {
        let limit = Limit { bytes: self.settings.fetch.max_bytes, key: "SERVICE_MAX_BYTES" };
        let (body, name): (ByteStream, _) = match self.stores.storage.key_of_url(url) {
            // Our own bucket may be on an address that a fetcher must refuse.
            Some(key) => {
                let name = key.rsplit('/').next().map(str::to_owned);
                (self.stores.storage.get(&key, None).await?, name)
            }
            None => {
                let fetched = self.stores.fetcher.fetch(url).await?;
                if let Some(length) = fetched.length.filter(|length| *length > limit.bytes) {
                    return Err(Error::TooLarge(format!(
                        "the source is {length} bytes, more than the {} that are allowed ({})",
                        limit.bytes, limit.key
                    )));
                }
                if let Some(kind) = fetched.content_type.filter(|kind| is_page(kind)) {
                    return Err(Error::Invalid(format!(
                        "the URL serves {kind}, not a video; it must point to the video file itself"
                    )));
                }
                (fetched.body, fetched.filename.or_else(|| source::name_in_url(url)))
            }
        };
        Ok((self.spool(body, limit).await?, name))
    }

    async fn spool(&self, body: ByteStream, limit: Limit) -> Result<Spooled> {
        let mut spool = Spool::create(self.settings.work_dir.clone(), limit).await?;
        spool.write_stream(body).await?;
        spool.finish().await
    }

    /// Everything from the boundary detectors to publication.
    async fn process(
        &self,
        fetched: &Fetched,
        plan: &IngestRequest,
        before: &Stored,
        progress: &Progress,
        claim: &VideoLock,
    ) -> Result<IngestResult> {
        progress.stage(Stage::Chunking, Value::Null);
        let previous = self.salvage(before).await?;
        let intact = previous.as_ref().and_then(Previous::intact);
        let budget = Budget::open(&self.models, plan.max_model_calls);
        let started = Instant::now();
        let MediaSignals { signals, signals_document, speech, speech_document } =
            self.extract_signals(fetched, plan, intact, progress).await?;
        let scan_seconds = started.elapsed().as_secs_f64();
        let duration = duration(&fetched.info, signals.end);
        if duration > self.settings.ingest.max_duration.as_secs_f64() {
            return Err(self.too_long(duration));
        }
        let spans = plan.chunking.split(signals.end, &signals, self.settings.ingest.max_chunks)?;
        let mut record =
            self.draft(fetched, plan, previous.as_ref(), &spans, &signals_document).await?;
        record.duration = duration;
        record.frame_rate = fetched.info.video.as_ref().and_then(|video| video.frame_rate);
        record.signals_document = signals_document;
        record.speech_document = Some(speech_document);
        // What was taken from the record tells nothing of what it takes.
        if intact.is_none_or(|p| p.signals_document != record.signals_document) {
            record.took.scan_seconds = scan_seconds;
        }
        self.store_objects(fetched, &signals, &mut record).await?;
        progress.stage(Stage::Chunked, json!({"chunks": spans.len()}));

        let evidence = Arc::new(VideoEvidence {
            file: fetched.file.path.to_path_buf(),
            signals: Arc::new(signals),
            speech: Arc::new(speech),
            has_video: fetched.info.video.is_some(),
            has_audio: fetched.info.audio,
            decoder: self.models.decoder.clone(),
            frames_per_chunk: self.settings.ingest.frames_per_chunk,
            frame_side: self.settings.ingest.frame_side,
            sighting: self.settings.detector.clone(),
        });
        let chunks: Vec<ChunkEvidence> = (0..)
            .zip(&spans)
            .map(|(id, span)| ChunkEvidence::new(evidence.clone(), id, *span))
            .collect();
        let mut fresh = Vec::new();
        let mut ran = Vec::new();
        for analyzer in &plan.analyzers {
            let id = analyzer.spec().id;
            let fingerprint = analyzer.fingerprint(&self.models);
            if record.analyzers.get(id).is_some_and(|entry| entry.fingerprint == fingerprint) {
                continue;
            }
            let (outputs, cost) =
                self.analyze(*analyzer, &record.video_id, &chunks, &budget, progress).await?;
            progress.stage(Stage::Indexing, json!({"analyzer": id}));
            let (mut entry, points) =
                self.embed_outputs(*analyzer, &record, &spans, &outputs, fingerprint).await?;
            entry.cost = cost;
            record.analyzers.insert(id.into(), entry);
            fresh.extend(points);
            ran.push(id.to_owned());
        }
        drop(chunks);
        let started = Instant::now();
        let aggregated = self.aggregate_draft(&mut record, &budget, progress).await?;
        if !matches!(&aggregated, Aggregated::Done { ran, .. } if ran.is_empty()) {
            record.took.aggregate_seconds = started.elapsed().as_secs_f64();
        }
        budget.check()?;
        let result = self.result(&record, plan, aggregated).await?;
        progress.check()?;
        claim.check()?;
        self.publish(&record, before, ran, fresh).await?;
        Ok(result)
    }

    /// What of the published video can be built on.
    async fn salvage(&self, before: &Stored) -> Result<Option<Previous>> {
        let Some(record) = before.record() else { return Ok(None) };
        let mut previous = Previous { record: record.clone(), intact: true };
        for Fault { part, error } in self.catalog.faults(record).await? {
            tracing::warn!(
                video_id = record.video_id,
                error,
                "made again as far as it is asked for"
            );
            match part {
                Part::Base => previous.intact = false,
                Part::Analyzer(id) => drop(previous.record.analyzers.remove(&id)),
                Part::Aggregate(id) => drop(previous.record.aggregates.remove(&id)),
            }
        }
        Ok(Some(previous))
    }

    /// The record to be: what is kept of the previous one, with the new chunking.
    async fn draft(
        &self,
        fetched: &Fetched,
        plan: &IngestRequest,
        previous: Option<&Previous>,
        spans: &[Span],
        signals_document: &str,
    ) -> Result<VideoRecord> {
        let source_url = previous
            .and_then(|previous| previous.record.source_url.clone())
            .or_else(|| fetched.source_url.clone());
        if let Some(previous) = previous.and_then(Previous::intact)
            && previous.chunking == plan.chunking
            && self.catalog.spans(previous).await? == spans
        {
            return Ok(VideoRecord { source_url, ..previous.clone() });
        }
        let previous = previous.map(|previous| &previous.record);
        let video_id = fetched.file.video_id.clone();
        let filename = previous.map_or(&fetched.filename, |record| &record.filename);
        Ok(VideoRecord {
            version: record::VERSION,
            storage_path: format!("{video_id}/{filename}"),
            filename: filename.clone(),
            poster_path: previous.and_then(|record| record.poster_path.clone()),
            source_url,
            size_bytes: fetched.file.size,
            duration: 0.0,
            content_type: fetched.info.content_type.clone(),
            frame_rate: None,
            chunking: plan.chunking.clone(),
            chunks: spans.len() as u32,
            chunks_document: self.catalog.store(&video_id, "chunks", &spans).await?,
            signals_document: signals_document.to_owned(),
            speech_document: None,
            analyzers: BTreeMap::new(),
            aggregates: BTreeMap::new(),
            aggregated_analyzers: Vec::new(),
            took: previous.map_or_else(Took::default, |record| record.took),
            created_at: previous.map_or_else(now, |record| record.created_at.clone()),
            video_id,
        })
    }

    /// Puts the video into the bucket, unless it is there, and a poster beside it.
    async fn store_objects(
        &self,
        fetched: &Fetched,
        signals: &Signals,
        record: &mut VideoRecord,
    ) -> Result<()> {
        let storage = &self.stores.storage;
        let stored = storage.stat(&record.storage_path).await?;
        if stored.is_none_or(|object| object.size != record.size_bytes) {
            let content = file_stream(&fetched.file.path).await?;
            storage.put(&record.storage_path, content, &record.content_type).await?;
        }
        if record.poster_path.is_some() || fetched.info.video.is_none() {
            return Ok(());
        }
        let path = format!("{}/poster.jpg", record.video_id);
        let file = fetched.file.path.to_path_buf();
        let side = self.settings.ingest.frame_side;
        let poster = poster::poster(self.models.decoder.clone(), file, signals, side).await;
        let stored = match poster {
            Ok(jpeg) => {
                let content = stream::once(async { Ok(jpeg) }).boxed();
                storage.put(&path, content, "image/jpeg").await.map_err(Error::from)
            }
            Err(error) => Err(error),
        };
        match stored {
            Ok(()) => record.poster_path = Some(path),
            Err(error) => {
                tracing::warn!(video_id = %record.video_id, error = %error.labelled(), "no poster");
            }
        }
        Ok(())
    }

    /// One analyzer over every chunk; costly results are kept as they come.
    async fn analyze(
        &self,
        analyzer: &'static dyn Analyzer,
        video_id: &str,
        chunks: &[ChunkEvidence],
        budget: &Budget,
        progress: &Progress,
    ) -> Result<(Outputs, Cost)> {
        let (started, before) = (Instant::now(), budget.usage());
        let models =
            if analyzer.reuses_repeats(&self.models) { originals(chunks) } else { Vec::new() };
        let original = |i: usize| models.get(i).copied().unwrap_or(i);
        let (done, fresh) = (AtomicUsize::new(0), AtomicU32::new(0));
        let step = |count: usize| {
            let done = done.fetch_add(count, Ordering::Relaxed) + count;
            let detail =
                json!({"analyzer": analyzer.spec().id, "done": done, "total": chunks.len()});
            progress.stage(Stage::Analyzing, detail);
        };
        step(0);
        let work = stream::iter((0..chunks.len()).filter(|i| original(*i) == *i))
            .map(async |i| {
                // Calls that are under way when another is refused are paid for: they go on.
                if budget.is_exhausted() {
                    return Ok((i, None));
                }
                match self.analyze_one(analyzer, video_id, &chunks[i], budget).await {
                    Ok((output, kept)) => {
                        fresh.fetch_add(u32::from(!kept), Ordering::Relaxed);
                        Ok((i, output))
                    }
                    Err(_) if budget.is_exhausted() => Ok((i, None)),
                    Err(error) => Err(error),
                }
            })
            .buffered(self.settings.ingest.concurrency.max(1))
            .inspect_ok(|_| step(1))
            .try_collect::<Vec<_>>();
        let analyzed: Vec<(usize, Option<Output>)> = progress.cancellable(work).await?;
        budget.check()?;
        let mut outputs: Outputs = vec![None; chunks.len()];
        for (i, output) in analyzed {
            outputs[i] = output;
        }
        for i in (0..chunks.len()).filter(|i| original(*i) != *i) {
            let shown = outputs[original(i)].as_ref();
            outputs[i] = shown.map(|o| o.repeated(original(i) as u32, chunks[i].frame_times()));
            step(1);
        }
        let after = budget.usage();
        let cost = Cost {
            chunks: fresh.into_inner(),
            seconds: started.elapsed().as_secs_f64(),
            model_calls: after.calls - before.calls,
            input_tokens: after.input_tokens - before.input_tokens,
            output_tokens: after.output_tokens - before.output_tokens,
        };
        Ok((outputs, cost))
    }

    /// One analyzer's output on a chunk, and whether it was kept from before.
    async fn analyze_one(
        &self,
        analyzer: &'static dyn Analyzer,
        video_id: &str,
        chunk: &ChunkEvidence,
        budget: &Budget,
    ) -> Result<(Option<Output>, bool)> {
        if !analyzer.cacheable(&self.models) {
            return Ok((analyzer.analyze(&budget.models, chunk).await?, false));
        }
        let fingerprint = analyzer.fingerprint(&self.models);
        let key = CacheKey::new(video_id, analyzer.spec().id, chunk.span, &fingerprint);
        if let Some(kept) = self.catalog.cached_output(analyzer.spec().id, &key).await? {
            metrics::chunk_analyzed(analyzer.spec().id, true);
            return Ok((kept, true));
        }
        let output = analyzer.analyze(&budget.models, chunk).await?;
        self.catalog.cache_output(&key, output.as_ref()).await?;
        metrics::chunk_analyzed(analyzer.spec().id, false);
        Ok((output, false))
    }

    async fn embed_outputs(
        &self,
        analyzer: &dyn Analyzer,
        record: &VideoRecord,
        spans: &[Span],
        outputs: &Outputs,
        fingerprint: String,
    ) -> Result<(AnalyzerEntry, Vec<Point>)> {
        let revision = uuid::Uuid::new_v4().simple().to_string();
        let id = analyzer.spec().id;
        let config = record.chunking.config();
        let points =
            points(&self.models, &record.video_id, &config, &revision, spans, analyzer, outputs)
                .await?;
        let entry = AnalyzerEntry {
            document: self.catalog.store_outputs(&record.video_id, id, outputs).await?,
            fingerprint,
            found: outputs.iter().flatten().count() as u32,
            points: points.len() as u64,
            revision,
            embedder: self.models.embedder.model().to_owned(),
            cost: Cost::default(),
        };
        Ok((entry, points))
    }

    /// Aggregates the draft. Failing as a whole loses the aggregates, not the ingest.
    async fn aggregate_draft(
        &self,
        record: &mut VideoRecord,
        budget: &Budget,
        progress: &Progress,
    ) -> Result<Aggregated> {
        let video: AnalyzedVideo = self.catalog.analyzed(record).await?;
        let all = self.catalog.aggregators.all().to_vec();
        match self.run_aggregators(record, &video, all, false, budget, progress).await {
            Ok(report) => Ok(Aggregated::Done {
                ran: report.ran,
                reused: report.reused,
                aggregates: report.aggregates,
            }),
            Err(error) => {
                progress.check()?;
                tracing::error!(video_id = %record.video_id, error = %error.labelled(), "aggregation failed");
                Ok(Aggregated::Failed { error: error.labelled() })
            }
        }
    }

    /// Makes the draft the video: vectors, then the record in one atomic step. A crash between the
    /// two is mended at start-up.
    async fn publish(
        &self,
        record: &VideoRecord,
        before: &Stored,
        mut ran: Vec<String>,
        points: Vec<Point>,
    ) -> Result<()> {
        let of_video = Filter::video(&record.video_id);
        match before.record().filter(|p| p.chunks_document == record.chunks_document) {
            None => self.stores.index.replace(Some(&of_video), points).await?,
            Some(previous) => {
                let lost =
                    previous.analyzers.keys().filter(|id| !record.analyzers.contains_key(*id));
                ran.extend(lost.cloned());
                if !ran.is_empty() {
                    let scope = of_video.and("analyzer_id", Predicate::AnyKeyword(ran));
                    self.stores.index.replace(Some(&scope), points).await?;
                }
            }
        }
        self.catalog.publish(before, record).await
    }

    async fn result(
        &self,
        record: &VideoRecord,
        plan: &IngestRequest,
        aggregated: Aggregated,
    ) -> Result<IngestResult> {
        let storage = &self.stores.storage;
        let poster_url = match &record.poster_path {
            Some(path) => Some(storage.link(path).await?),
            None => None,
        };
        Ok(IngestResult {
            video_id: record.video_id.clone(),
            video_url: storage.link(&record.storage_path).await?,
            poster_url,
            storage_path: record.storage_path.clone(),
            filename: record.filename.clone(),
            duration: record.duration,
            size_bytes: record.size_bytes,
            chunk_config: record.chunking.config(),
            chunks: record.chunks,
            analyzers: record.analyzer_ids(),
            indexed: plan
                .analyzers
                .iter()
                .filter_map(|a| {
                    let id = a.spec().id;
                    Some((id.to_owned(), record.analyzers.get(id)?.points))
                })
                .collect(),
            aggregated,
        })
    }

    /// Removes what a failed ingest wrote, and nothing where something is published that was not
    /// there before it; what was paid for stays in the cache.
    async fn discard(&self, video_id: &str, before: &Stored) {
        let removed = match self.catalog.discard(video_id, before).await {
            Ok(Discarded::Everything) => self.discard_objects(video_id).await,
            Ok(Discarded::Unpublished) => self.search.mend_points(before, false).await.map(drop),
            Ok(Discarded::Nothing) => Ok(()),
            Err(error) => Err(error),
        };
        if let Err(error) = removed {
            tracing::warn!(video_id, error = %error.labelled(), "leftovers of a failed ingest remain");
        }
    }

    async fn discard_objects(&self, video_id: &str) -> Result<()> {
        self.stores.storage.delete_prefix(&format!("{video_id}/")).await?;
        let of_video = Filter::video(video_id);
        if self.stores.index.count(&of_video).await? > 0 {
            self.stores.index.replace(Some(&of_video), Vec::new()).await?;
        }
        Ok(())
    }
}

/// For each chunk the first of the run of chunks that look alike and are silent, itself included.
fn originals(chunks: &[ChunkEvidence]) -> Vec<usize> {
    let mut originals: Vec<usize> = Vec::with_capacity(chunks.len());
    for (i, chunk) in chunks.iter().enumerate() {
        let before = originals.last().copied();
        originals.push(before.filter(|j| chunk.repeats(&chunks[*j])).unwrap_or(i));
    }
    originals
}

/// The container's duration, unless it claims none or disagrees with what was decoded beyond belief.
fn duration(info: &MediaInfo, decoded: f64) -> f64 {
    const SHORTER: f64 = 0.5;
    const LONGER: f64 = 5.0;
    match info.duration {
        Some(claimed) if claimed >= decoded - SHORTER && claimed <= 2.0 * decoded + LONGER => {
            claimed
        }
        _ => decoded,
    }
}

/// A content type that no video has. Servers mislabel videos in many ways, but not as pages.
fn is_page(content_type: &str) -> bool {
    content_type.starts_with("text/html") || content_type == "application/xhtml+xml"
}

pub(crate) async fn file_stream(path: &Path) -> Result<ByteStream> {
    const BUFFER: usize = 256 * 1024;
    let file = tokio::fs::File::open(path).await?;
    let stream = tokio_util::io::ReaderStream::with_capacity(file, BUFFER);
    Ok(stream
        .map_err(|e| PortError::caused_by(ErrorKind::Other, "cannot read the spooled source", e))
        .boxed())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lying_container_is_not_believed() {
        let info = |duration| MediaInfo {
            container: "mov".into(),
            extension: "mp4".into(),
            content_type: "video/mp4".into(),
            duration,
            video: None,
            audio: true,
        };
        for (claimed, decoded, expected) in [
            (Some(16.57), 13.0, 16.57),
            (Some(10.0), 10.02, 10.0),
            (None, 8.0, 8.0),
            (Some(360_000.0), 8.0, 8.0),
            (Some(1.0), 8.0, 8.0),
        ] {
            assert_eq!(duration(&info(claimed), decoded), expected, "{claimed:?}");
        }
    }
}
