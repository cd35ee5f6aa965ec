//! Reading stored aggregates and running aggregators again.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::aggregators::{self, Aggregator, ChunkVectors, Outcome, Run};
use super::budget::Account;
use super::error::Result;
use super::jobs::{Job, JobResult, Progress, Task};
use super::library::unknown;
use super::record::{AnalyzedVideo, VideoRecord};
use super::{Shotlog, analyzers};

/// Result of an aggregate re-run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct AggregatesResult {
    /// Its video.
    pub video_id: String,
    /// Computed this time.
    pub ran: Vec<String>,
    /// Stored already and kept.
    pub reused: Vec<String>,
    /// Aggregators whose dependencies the video cannot satisfy.
    pub skipped: Vec<String>,
    /// Aggregator id to `TypeName: message`.
    pub failed: BTreeMap<String, String>,
    /// Everything now stored.
    pub aggregates: Vec<String>,
    /// The analyzer set changed, so everything was recomputed.
    pub recomputed_because_analyzers_changed: bool,
    /// Which of the reused would have billed model calls.
    pub llm_calls_saved: Vec<String>,
}

/// Stored aggregates of a video.
#[derive(Debug, Clone, PartialEq)]
pub struct Aggregates {
    /// Its video.
    pub video_id: String,
    /// Ids of what is stored, which are the keys of `aggregates`.
    pub available: Vec<String>,
    /// Results by id.
    pub aggregates: BTreeMap<String, Value>,
}

fn selected(ids: Option<&[String]>) -> Result<Vec<&'static dyn Aggregator>> {
    match ids {
        Some(ids) => aggregators::select(ids),
        None => Ok(aggregators::AGGREGATORS.to_vec()),
    }
}

impl Shotlog {
    /// Every stored aggregate of a video.
    pub async fn aggregates(&self, video_id: &str) -> Result<Aggregates> {
        let record = self.library.video(video_id).await?;
        Ok(Aggregates {
            video_id: video_id.to_owned(),
            available: aggregators::in_order(record.aggregates.keys()),
            aggregates: self.stored_aggregates(&record).await?,
        })
    }

    /// One stored aggregate; `Invalid` lists what is stored.
    pub async fn aggregate(&self, video_id: &str, aggregator: &str) -> Result<Value> {
        let record = self.library.video(video_id).await?;
        self.library.aggregate(&record, aggregator).await
    }

    /// Queues a re-run of the named aggregators, or of all.
    pub async fn rerun_aggregates(
        &self,
        video_id: &str,
        aggregators: Option<Vec<String>>,
        force: bool,
    ) -> Result<Job> {
        selected(aggregators.as_deref())?;
        let filename = self.library.video(video_id).await?.filename;
        let task = Task::Aggregate { video_id: video_id.to_owned(), aggregators, force };
        Ok(self.jobs.submit(filename, task, None).await?.job)
    }

    pub(crate) async fn aggregate_again(
        &self,
        video_id: &str,
        aggregators: Option<Vec<String>>,
        force: bool,
        progress: Progress,
    ) -> Result<JobResult> {
        let selected = selected(aggregators.as_deref())?;
        progress.video(video_id);
        let claim = progress.cancellable(self.ingests.claim(video_id)).await?;
        let before = self.library.stored(video_id).await?;
        let mut record = before.clone().into_record()?.ok_or_else(|| unknown(video_id))?;
        let video = self.library.analyzed(&record).await?;
        let account = Account::open(&self.ports, None);
        let report =
            self.run_aggregators(&mut record, &video, selected, force, &account, &progress).await?;
        progress.check()?;
        claim.check()?;
        self.library.publish(&before, &record).await?;
        Ok(JobResult::Aggregates(Box::new(report)))
    }

    async fn stored_aggregates(&self, record: &VideoRecord) -> Result<BTreeMap<String, Value>> {
        let mut aggregates = BTreeMap::new();
        for id in record.aggregates.keys() {
            aggregates.insert(id.clone(), self.library.aggregate(record, id).await?);
        }
        Ok(aggregates)
    }

    /// Runs aggregators over a video and enters the stored results into its record, which the
    /// caller publishes.
    pub(crate) async fn run_aggregators(
        &self,
        record: &mut VideoRecord,
        video: &AnalyzedVideo,
        selected: Vec<&'static dyn Aggregator>,
        force: bool,
        account: &Account,
        progress: &Progress,
    ) -> Result<AggregatesResult> {
        let analyzers = record.analyzed_by();
        let kept = self.library.kept_answers(&record.video_id).await?;
        let Outcome { report, results, kept: keep } = aggregators::run(
            Run {
                account,
                video,
                vectors: &self.chunk_vectors(video).await?,
                stored: self.stored_aggregates(record).await?,
                selected,
                force,
                analyzers_changed: analyzers != record.aggregated_analyzers,
                kept: kept.clone(),
            },
            progress,
        )
        .await?;
        if keep != kept {
            self.library.keep_answers(&record.video_id, &keep).await?;
        }
        let mut aggregates = BTreeMap::new();
        for (id, result) in &results {
            let kept = record.aggregates.get(id).filter(|_| !report.ran.contains(id));
            let key = match kept {
                Some(key) => key.clone(),
                None => self.library.store(&record.video_id, id, result).await?,
            };
            aggregates.insert(id.clone(), key);
        }
        record.aggregates = aggregates;
        record.aggregated_analyzers = analyzers;
        Ok(report)
    }

    /// Embeds what each chunk says, through the analyzer preferred as evidence.
    async fn chunk_vectors(&self, video: &AnalyzedVideo) -> Result<ChunkVectors> {
        let preferred = analyzers::EVIDENCE_ORDER
            .iter()
            .find(|id| video.outputs.get(**id).is_some_and(|o| o.iter().any(Option::is_some)));
        let Some(analyzer) = preferred.and_then(|id| analyzers::find(&self.ports, id).ok()) else {
            return Ok(ChunkVectors::default());
        };
        let mut vectors = vec![None; video.spans.len()];
        let mut texts = Vec::new();
        let mut places = Vec::new();
        for (place, output) in video.outputs[analyzer.spec().id].iter().enumerate() {
            let text = output.as_ref().and_then(|o| analyzer.index(o).fields.remove("combined"));
            if let Some(text) = text.filter(|text| !text.trim().is_empty()) {
                texts.push(text);
                places.push(place);
            }
        }
        for (place, vector) in places.into_iter().zip(self.ports.embedder.embed(&texts).await?) {
            vectors[place] = Some(vector);
        }
        Ok(ChunkVectors {
            analyzer: analyzer.spec().id.into(),
            model: self.ports.embedder.model().into(),
            vectors,
        })
    }
}
