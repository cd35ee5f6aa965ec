//! Runs analyzers over chunks and embeds their outputs. This is the costly step of an ingest.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::time::Instant;

use futures::{StreamExt, TryStreamExt, stream};
use ports::index::Point;
use serde_json::{Value, json};

use crate::analysis::evidence::ChunkEvidence;
use crate::analysis::video::{Output, Outputs};
use crate::analysis::{Analyzer, AnalyzerRef, cache_key};
use crate::catalog::Catalog;
use crate::indexing::{VectorModels, points};
use crate::ingest::draft::VideoDraft;
use crate::kernel::error::Result;
use crate::kernel::metrics;
use crate::kernel::ports::Models;
use crate::kernel::profile::Step;
use crate::kernel::progress::{Progress, Stage};
use crate::kernel::time::Span;
use crate::kernel::video::VideoId;
use crate::llm::budget::CallBudget;
use crate::records::Records;
use crate::records::model_cache::{CacheKey, ModelCache};
use crate::records::record::{AnalyzerEntry, ProcessingCost, VideoRecord};

/// Runs analyzers over the chunks of drafts.
pub(super) struct ChunkAnalysis {
    records: Arc<Records>,
    model_cache: Arc<ModelCache>,
    models: Models,
    /// Maximum number of chunks analyzed concurrently.
    concurrency: usize,
}

/// An analyzer that runs, and its place among the requested ones.
struct Place<'a> {
    analyzer: &'a str,
    /// Number of analyzers before it.
    before: usize,
    analyzers: usize,
}

impl Place<'_> {
    /// The detail of a stage, from which the progress of all analyzers can be computed.
    fn detail(&self) -> Value {
        json!({
            "analyzer": self.analyzer, "analyzers_done": self.before, "analyzers": self.analyzers,
        })
    }

    /// The detail when `done` of `chunks` chunks are analyzed.
    fn detail_at(&self, done: usize, chunks: usize) -> Value {
        let mut detail = self.detail();
        (detail["done"], detail["total"]) = (json!(done), json!(chunks));
        detail
    }
}

impl ChunkAnalysis {
    pub(super) fn new(models: &Models, catalog: &Catalog, concurrency: usize) -> Self {
        Self {
            records: catalog.records.clone(),
            model_cache: catalog.model_cache.clone(),
            models: models.clone(),
            concurrency: concurrency.max(1),
        }
    }

    /// Runs the requested analyzers whose output the draft does not have yet.
    pub(super) async fn run(
        &self,
        draft: &mut VideoDraft,
        chunks: &[ChunkEvidence],
        analyzers: &[AnalyzerRef],
        budget: &CallBudget,
        progress: &Progress,
    ) -> Result<()> {
        for (number, analyzer) in analyzers.iter().enumerate() {
            let id = analyzer.spec().id;
            let place = Place { analyzer: id, before: number, analyzers: analyzers.len() };
            let fingerprint = analyzer.fingerprint(&self.models);
            let record = &mut draft.record;
            if record.analyzers.get(id).is_some_and(|entry| entry.fingerprint == fingerprint) {
                continue;
            }
            let video_id = record.video_id;
            let (outputs, cost) = self
                .analyze_chunks(&**analyzer, &place, video_id, chunks, budget, progress)
                .await?;
            progress.stage(Stage::Indexing, place.detail());
            let embedding =
                self.embed_outputs(&**analyzer, record, &draft.spans, &outputs, fingerprint);
            let (mut entry, points) = progress.profile.measure(Step::Embed, embedding).await?;
            entry.cost = cost;
            record.analyzers.insert(id.into(), entry);
            draft.points.extend(points);
        }
        Ok(())
    }

    /// Runs one analyzer over all chunks. Caches costly results as they arrive.
    async fn analyze_chunks(
        &self,
        analyzer: &dyn Analyzer,
        place: &Place<'_>,
        video_id: VideoId,
        chunks: &[ChunkEvidence],
        budget: &CallBudget,
        progress: &Progress,
    ) -> Result<(Outputs, ProcessingCost)> {
        let (started, before) = (Instant::now(), budget.usage());
        let models =
            if analyzer.reuses_repeats(&self.models) { originals(chunks) } else { Vec::new() };
        let original = |i: usize| models.get(i).copied().unwrap_or(i);
        let (done, fresh) = (AtomicUsize::new(0), AtomicU32::new(0));
        let step = |count: usize| {
            let done = done.fetch_add(count, Ordering::Relaxed) + count;
            progress.stage(Stage::Analyzing, place.detail_at(done, chunks.len()));
        };
        step(0);
        let work = stream::iter((0..chunks.len()).filter(|i| original(*i) == *i))
            .map(async |i| {
                // Calls in flight are already paid for, so let them complete.
                if budget.is_exhausted() {
                    return Ok((i, None));
                }
                match self.analyze_one(analyzer, video_id, &chunks[i], budget).await {
                    Ok((output, cached)) => {
                        fresh.fetch_add(u32::from(!cached), Ordering::Relaxed);
                        Ok((i, output))
                    }
                    Err(_) if budget.is_exhausted() => Ok((i, None)),
                    Err(error) => Err(error),
                }
            })
            .buffered(self.concurrency)
            .inspect_ok(|_| step(1))
            .try_collect::<Vec<_>>();
        let analyzed: Vec<(usize, Option<Output>)> = progress.cancellable(work).await?;
        budget.check()?;
        let mut outputs: Outputs = vec![None; chunks.len()];
        for (i, output) in analyzed {
            outputs[i] = output;
        }
        for i in (0..chunks.len()).filter(|i| original(*i) != *i) {
            let repeated = outputs[original(i)].as_ref();
            outputs[i] = repeated
                .map(|o| o.as_repeat_of(chunks[original(i)].chunk_id, chunks[i].frame_times()));
            step(1);
        }
        let after = budget.usage();
        let cost = ProcessingCost {
            chunks: fresh.into_inner(),
            seconds: started.elapsed().as_secs_f64(),
            model_calls: after.calls - before.calls,
            input_tokens: after.input_tokens - before.input_tokens,
            output_tokens: after.output_tokens - before.output_tokens,
        };
        Ok((outputs, cost))
    }

    /// Computes one analyzer's output for a chunk. Also returns whether the output came from the
    /// cache.
    async fn analyze_one(
        &self,
        analyzer: &dyn Analyzer,
        video_id: VideoId,
        chunk: &ChunkEvidence,
        budget: &CallBudget,
    ) -> Result<(Option<Output>, bool)> {
        if !analyzer.cacheable(&self.models) {
            return Ok((analyzer.analyze(&budget.models, chunk).await?, false));
        }
        let words = chunk.video.speech.words.as_ref().map(|words| words.recogniser.as_str());
        let fingerprint = cache_key(analyzer, &self.models, words);
        let key = CacheKey::new(video_id, analyzer.spec().id, chunk.span, &fingerprint);
        if let Some(output) = self.model_cache.output(analyzer.spec().id, &key).await? {
            metrics::chunk_analyzed(analyzer.spec().id, true);
            return Ok((output, true));
        }
        let output = analyzer.analyze(&budget.models, chunk).await?;
        self.model_cache.put_output(&key, output.as_ref()).await?;
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
        let points = points(
            VectorModels::new(self.models.embedder.as_ref(), &self.models),
            record.video_id,
            &config,
            &revision,
            spans,
            analyzer,
            outputs,
        )
        .await?;
        let entry = AnalyzerEntry {
            pages: self.records.store_outputs(record.video_id, id, outputs).await?,
            uncorrected: None,
            fingerprint,
            found: outputs.iter().flatten().count() as u32,
            points: points.len() as u64,
            revision,
            embedder: self.models.embedder.model().to_owned(),
            cost: ProcessingCost::default(),
        };
        Ok((entry, points))
    }
}

/// Returns one index per chunk. If the chunk belongs to a run of visually identical, silent chunks,
/// this is the index of the first chunk in the run. Otherwise, it is the index of the chunk itself.
fn originals(chunks: &[ChunkEvidence]) -> Vec<usize> {
    let mut originals: Vec<usize> = Vec::with_capacity(chunks.len());
    for (i, chunk) in chunks.iter().enumerate() {
        let before = originals.last().copied();
        originals.push(before.filter(|j| chunk.repeats(&chunks[*j])).unwrap_or(i));
    }
    originals
}
