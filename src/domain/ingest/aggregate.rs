//! Aggregates a video during its ingest, and again on demand.

use std::collections::BTreeMap;

use crate::aggregation::run::{AggregatesResult, AggregationOutcome, AggregationRun, run};
use crate::aggregation::{Aggregator, ChunkVectors};
use crate::analysis::video::AnalyzedVideo;
use crate::ingest::Ingest;
use crate::kernel::error::Result;
use crate::kernel::progress::Progress;
use crate::kernel::video::{VideoId, unknown_video};
use crate::llm::budget::CallBudget;
use crate::publishing::claim::VideoClaim;
use crate::records::locks::VideoLock;
use crate::records::record::VideoRecord;

impl Ingest {
    /// Whether aggregation makes billed calls to the language model.
    pub(crate) fn bills_aggregates(&self) -> bool {
        self.models.llm.is_billed()
    }

    pub(crate) async fn aggregate_again(
        &self,
        video_id: VideoId,
        aggregators: Option<Vec<String>>,
        force: bool,
        progress: Progress,
    ) -> Result<AggregatesResult> {
        let selected = self.catalog.aggregators.select(aggregators.as_deref())?;
        progress.video(video_id);
        let lock = progress.cancellable(self.catalog.locks.lock(video_id)).await?;
        if self.catalog.records.state(video_id).await?.into_record()?.is_none() {
            return Err(unknown_video(video_id));
        }
        let claim = self.catalog.publisher.claim(video_id, &lock).await?;
        let outcome = self.aggregate_claimed(&claim, selected, force, &progress, &lock).await;
        if outcome.is_err() {
            self.catalog.publisher.discard(&claim).await;
        }
        outcome
    }

    async fn aggregate_claimed(
        &self,
        claim: &VideoClaim,
        selected: Vec<&'static dyn Aggregator>,
        force: bool,
        progress: &Progress,
        lock: &VideoLock,
    ) -> Result<AggregatesResult> {
        let record = claim.base.clone().into_record()?;
        let mut record = record.ok_or_else(|| unknown_video(claim.video_id))?;
        let video = self.catalog.records.analyzed_video(&record).await?;
        let budget = CallBudget::new(&self.models, None);
        let report =
            self.run_aggregators(&mut record, &video, selected, force, &budget, progress).await?;
        progress.check()?;
        lock.check()?;
        self.catalog.publisher.publish(claim, record).await?;
        Ok(report)
    }

    /// Recomputes a video's aggregates after a correction. Starts over if the video changes in the
    /// meantime, for example because of another correction.
    pub(crate) async fn aggregate_corrected(
        &self,
        video_id: VideoId,
        progress: Progress,
    ) -> Result<AggregatesResult> {
        progress.video(video_id);
        loop {
            progress.check()?;
            let mut record = self.catalog.records.get(video_id).await?;
            let video = self.catalog.records.analyzed_video(&record).await?;
            let budget = CallBudget::new(&self.models, None);
            let selected = self.catalog.aggregators.all().to_vec();
            let selected: Vec<_> = selected
                .into_iter()
                .filter(|aggregator| record.aggregates.contains_key(aggregator.spec().id))
                .collect();
            let outcome =
                self.compute(&record, &video, selected, false, &budget, &progress).await?;
            let lock = progress.cancellable(self.catalog.locks.lock(video_id)).await?;
            let epoch = record.epoch;
            let claim = self.catalog.publisher.claim(video_id, &lock).await?;
            match claim.base.record() {
                Some(now) if now.epoch == epoch => record = now.clone(),
                other => {
                    let deleted = other.is_none();
                    self.catalog.publisher.discard(&claim).await;
                    if deleted {
                        return Err(unknown_video(video_id));
                    }
                    continue;
                }
            }
            let published = async {
                let report = self.store_results(&mut record, outcome).await?;
                lock.check()?;
                self.catalog.publisher.publish(&claim, record).await?;
                Ok(report)
            };
            let published = published.await;
            if published.is_err() {
                self.catalog.publisher.discard(&claim).await;
            }
            return published;
        }
    }

    /// Runs aggregators over a video, stores the results and references them in its record, which
    /// the caller publishes.
    pub(crate) async fn run_aggregators(
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
        let cached = self.catalog.model_cache.answers(record.video_id).await?;
        let outcome = run(
            AggregationRun {
                llm: budget.models.llm.as_ref(),
                sentiment: budget.models.sentiment.as_deref(),
                ner: budget.models.ner.as_deref(),
                exhausted: &|| budget.is_exhausted(),
                analyzers: &self.catalog.analyzers,
                aggregators: &self.catalog.aggregators,
                video,
                vectors: &self.chunk_vectors(video).await?,
                stored: self.catalog.records.aggregate_results(record).await?,
                selected,
                force,
                analyzers_changed: record.analyzed_by() != record.aggregated_analyzers,
                saved_answers: cached.clone(),
            },
            progress,
        )
        .await?;
        if outcome.saved_answers != cached {
            self.catalog.model_cache.put_answers(record.video_id, &outcome.saved_answers).await?;
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
                None => self.catalog.records.store(record.video_id, id, &result.to_json()).await?,
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
        let analyzers = &self.catalog.analyzers;
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
