//! Aggregates a video during its ingest, and again on demand.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use crate::aggregation::run::{AggregatesResult, AggregationOutcome, AggregationRun, run};
use crate::aggregation::{Aggregator, Aggregators, ChunkVectors};
use crate::analysis::Analyzers;
use crate::analysis::video::AnalyzedVideo;
use crate::catalog::Catalog;
use crate::ingest::result::AggregationStatus;
use crate::kernel::error::Result;
use crate::kernel::ports::Models;
use crate::kernel::progress::Progress;
use crate::kernel::video::{VideoId, unknown_video};
use crate::llm::budget::CallBudget;
use crate::publishing::Publisher;
use crate::publishing::claim::VideoClaim;
use crate::records::Records;
use crate::records::locks::{VideoLock, VideoLocks};
use crate::records::model_cache::ModelCache;
use crate::records::record::VideoRecord;

/// Runs the aggregators over videos and publishes their results.
pub(crate) struct VideoAggregation {
    records: Arc<Records>,
    publisher: Arc<Publisher>,
    locks: Arc<VideoLocks>,
    model_cache: Arc<ModelCache>,
    analyzers: Analyzers,
    aggregators: Aggregators,
    models: Models,
}

impl VideoAggregation {
    pub(crate) fn new(models: &Models, catalog: &Catalog) -> Self {
        Self {
            records: catalog.records.clone(),
            publisher: catalog.publisher.clone(),
            locks: catalog.locks.clone(),
            model_cache: catalog.model_cache.clone(),
            analyzers: catalog.analyzers.clone(),
            aggregators: catalog.aggregators.clone(),
            models: models.clone(),
        }
    }

    /// Whether aggregation makes billed calls to the language model.
    pub(crate) fn is_billed(&self) -> bool {
        self.models.llm.is_billed()
    }

    /// Runs the named aggregators, or all of them, over a published video. Unless `force` is set,
    /// stored results that are still valid are reused.
    pub(crate) async fn rerun(
        &self,
        video_id: VideoId,
        aggregators: Option<Vec<String>>,
        force: bool,
        progress: Progress,
    ) -> Result<AggregatesResult> {
        let selected = self.aggregators.select(aggregators.as_deref())?;
        progress.video(video_id);
        let lock = progress.cancellable(self.locks.lock(video_id)).await?;
        if self.records.state(video_id).await?.into_record()?.is_none() {
            return Err(unknown_video(video_id));
        }
        let claim = self.publisher.claim(video_id, &lock).await?;
        let outcome = self.rerun_claimed(&claim, selected, force, &progress, &lock).await;
        if outcome.is_err() {
            self.publisher.discard(&claim).await;
        }
        outcome
    }

    async fn rerun_claimed(
        &self,
        claim: &VideoClaim,
        selected: Vec<&'static dyn Aggregator>,
        force: bool,
        progress: &Progress,
        lock: &VideoLock,
    ) -> Result<AggregatesResult> {
        let record = claim.base.clone().into_record()?;
        let mut record = record.ok_or_else(|| unknown_video(claim.video_id))?;
        let video = self.records.analyzed_video(&record).await?;
        let budget = CallBudget::new(&self.models, None);
        let report = self.run(&mut record, &video, selected, force, &budget, progress).await?;
        progress.check()?;
        lock.check()?;
        self.publisher.publish(claim, record).await?;
        Ok(report)
    }

    /// Recomputes a video's aggregates after a correction. Starts over if the video changes in the
    /// meantime, for example because of another correction.
    pub(crate) async fn rerun_corrected(
        &self,
        video_id: VideoId,
        progress: Progress,
    ) -> Result<AggregatesResult> {
        progress.video(video_id);
        loop {
            progress.check()?;
            let mut record = self.records.get(video_id).await?;
            let video = self.records.analyzed_video(&record).await?;
            let budget = CallBudget::new(&self.models, None);
            let selected = self.aggregators.all().to_vec();
            let selected: Vec<_> = selected
                .into_iter()
                .filter(|aggregator| record.aggregates.contains_key(aggregator.spec().id))
                .collect();
            let outcome =
                self.compute(&record, &video, selected, false, &budget, &progress).await?;
            let lock = progress.cancellable(self.locks.lock(video_id)).await?;
            let epoch = record.epoch;
            let claim = self.publisher.claim(video_id, &lock).await?;
            match claim.base.record() {
                Some(now) if now.epoch == epoch => record = now.clone(),
                other => {
                    let deleted = other.is_none();
                    self.publisher.discard(&claim).await;
                    if deleted {
                        return Err(unknown_video(video_id));
                    }
                    continue;
                }
            }
            let published = async {
                let report = self.store_results(&mut record, outcome).await?;
                lock.check()?;
                self.publisher.publish(&claim, record).await?;
                Ok(report)
            };
            let published = published.await;
            if published.is_err() {
                self.publisher.discard(&claim).await;
            }
            return published;
        }
    }

    /// Runs all aggregators over the unpublished record of an ingest. If aggregation fails as a
    /// whole, the ingest succeeds nevertheless.
    pub(super) async fn run_all(
        &self,
        record: &mut VideoRecord,
        budget: &CallBudget,
        progress: &Progress,
    ) -> Result<AggregationStatus> {
        let started = Instant::now();
        let video = self.records.analyzed_video(record).await?;
        let all = self.aggregators.all().to_vec();
        match self.run(record, &video, all, false, budget, progress).await {
            Ok(report) => {
                if !report.ran.is_empty() {
                    record.took.aggregate_seconds = started.elapsed().as_secs_f64();
                }
                Ok(AggregationStatus::Done {
                    ran: report.ran,
                    reused: report.reused,
                    aggregates: report.aggregates,
                    skipped: report.skipped,
                    failed: report.failed,
                })
            }
            Err(error) => {
                progress.check()?;
                record.took.aggregate_seconds = started.elapsed().as_secs_f64();
                tracing::error!(video_id = %record.video_id, error = %error.labelled(), "aggregation failed");
                Ok(AggregationStatus::Failed { error: error.labelled() })
            }
        }
    }

    /// Runs aggregators over a video, stores the results and references them in its record, which
    /// the caller publishes.
    async fn run(
        &self,
        record: &mut VideoRecord,
        video: &AnalyzedVideo,
        selected: Vec<&'static dyn Aggregator>,
        force: bool,
        budget: &CallBudget,
        progress: &Progress,
    ) -> Result<AggregatesResult> {
        let outcome = self.compute(record, video, selected, force, budget, progress).await?;
        self.store_results(record, outcome).await
    }

    /// Runs aggregators over a video. Stores nothing except the language model's answers, which are
    /// cached.
    async fn compute(
        &self,
        record: &VideoRecord,
        video: &AnalyzedVideo,
        selected: Vec<&'static dyn Aggregator>,
        force: bool,
        budget: &CallBudget,
        progress: &Progress,
    ) -> Result<AggregationOutcome> {
        let cached = self.model_cache.answers(record.video_id).await?;
        let outcome = run(
            AggregationRun {
                llm: budget.models.llm.as_ref(),
                sentiment: budget.models.sentiment.as_deref(),
                ner: budget.models.ner.as_deref(),
                exhausted: &|| budget.is_exhausted(),
                analyzers: &self.analyzers,
                aggregators: &self.aggregators,
                video,
                vectors: &self.chunk_vectors(video).await?,
                stored: self.records.aggregate_results(record).await?,
                selected,
                force,
                analyzers_changed: record.analyzed_by() != record.aggregated_analyzers,
                saved_answers: cached.clone(),
            },
            progress,
        )
        .await?;
        if outcome.saved_answers != cached {
            self.model_cache.put_answers(record.video_id, &outcome.saved_answers).await?;
        }
        Ok(outcome)
    }

    /// Stores the aggregators' results and references them in the video's record.
    async fn store_results(
        &self,
        record: &mut VideoRecord,
        outcome: AggregationOutcome,
    ) -> Result<AggregatesResult> {
        let AggregationOutcome { report, results, .. } = outcome;
        let mut aggregates = BTreeMap::new();
        for (id, result) in &results {
            let reused = record.aggregates.get(id).filter(|_| !report.ran.contains(id));
            let key = match reused {
                Some(key) => key.clone(),
                None => self.records.store(record.video_id, id, &result.to_json()).await?,
            };
            aggregates.insert(id.clone(), key);
        }
        record.aggregates = aggregates;
        record.synopsis = results.values().find_map(|result| result.synopsis());
        record.aggregated_analyzers = record.analyzed_by();
        Ok(report)
    }

    /// Embeds the text of each chunk. The text comes from the analyzer whose output is preferred as
    /// evidence.
    async fn chunk_vectors(&self, video: &AnalyzedVideo) -> Result<ChunkVectors> {
        let analyzers = &self.analyzers;
        let present = |id: &&String| video.outputs[*id].iter().any(Option::is_some);
        let preferred = analyzers.by_evidence_rank(video.outputs.keys().filter(present));
        let preferred = preferred.first();
        let Some(analyzer) = preferred.and_then(|id| analyzers.find(&self.models, id).ok()) else {
            return Ok(ChunkVectors::default());
        };
        let mut vectors = vec![None; video.spans.len()];
        let mut texts = Vec::new();
        let mut indices = Vec::new();
        for (index, output) in video.outputs[analyzer.spec().id].iter().enumerate() {
            let text =
                output.as_ref().and_then(|o| o.content().index_entry().fields.remove("combined"));
            if let Some(text) = text.filter(|text| !text.trim().is_empty()) {
                texts.push(text);
                indices.push(index);
            }
        }
        for (index, vector) in indices.into_iter().zip(self.models.embedder.embed(&texts).await?) {
            vectors[index] = Some(vector);
        }
        Ok(ChunkVectors {
            analyzer: analyzer.spec().id.into(),
            model: self.models.embedder.model().into(),
            vectors,
        })
    }
}
