//! Runs aggregators over one video: in order of dependency, one failure losing nothing of the rest.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::domain::aggregation::{AGGREGATORS, Aggregator, ChunkVectors, Input};
use crate::domain::analysis::Analyzers;
use crate::domain::analysis::chunk_text::{based_on, chunk_texts};
use crate::domain::analysis::video::AnalyzedVideo;
use crate::domain::kernel::error::Result;
use crate::domain::kernel::progress::{Progress, Stage};
use crate::domain::llm::budget::Budget;
use crate::domain::llm::memoised::{KeptAnswers, Model};

/// What a run has done, as the job of a re-run shows it.
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

/// What to run.
pub(crate) struct Run<'a> {
    pub(crate) budget: &'a Budget,
    pub(crate) analyzers: &'a Analyzers,
    pub(crate) video: &'a AnalyzedVideo,
    pub(crate) vectors: &'a ChunkVectors,
    /// Results that are stored already.
    pub(crate) stored: BTreeMap<String, Value>,
    /// Which of them to compute.
    pub(crate) selected: Vec<&'static dyn Aggregator>,
    /// Compute even what is stored.
    pub(crate) force: bool,
    /// The analyzers changed since what is stored was computed.
    pub(crate) analyzers_changed: bool,
    /// What the model had answered when aggregators failed earlier.
    pub(crate) kept: KeptAnswers,
}

/// What a run comes to.
pub(crate) struct Outcome {
    pub(crate) report: AggregatesResult,
    /// Every result that is valid now.
    pub(crate) results: BTreeMap<String, Value>,
    /// What the model has answered aggregators that failed, so that it need not be paid for again.
    pub(crate) kept: KeptAnswers,
}

/// Computes what is asked for.
pub(crate) async fn run(run: Run<'_>, progress: &Progress) -> Result<Outcome> {
    let mut report = AggregatesResult {
        video_id: run.video.video_id.clone(),
        recomputed_because_analyzers_changed: run.analyzers_changed && !run.stored.is_empty(),
        ..AggregatesResult::default()
    };
    // After a change of analyzers nothing stored is true any more, so everything is due.
    let selected = if report.recomputed_because_analyzers_changed {
        AGGREGATORS.to_vec()
    } else {
        run.selected
    };
    let keep = !run.force && !report.recomputed_because_analyzers_changed;
    let mut results =
        if report.recomputed_because_analyzers_changed { BTreeMap::new() } else { run.stored };
    let texts = chunk_texts(run.video, run.analyzers);
    let based_on = based_on(run.video, run.analyzers);
    let models = &run.budget.models;
    let billed = models.llm.billed();
    let model = Model::new(models.llm.as_ref(), &run.kept);
    let mut kept = run.kept;
    // What has been paid for in this run, should it end before it is published.
    let mut paid = KeptAnswers::new();
    let mut renewed: BTreeSet<&str> = BTreeSet::new();
    for aggregator in selected {
        let spec = aggregator.spec();
        let renewed_input = spec.depends_on.iter().any(|id| renewed.contains(id));
        if keep && results.contains_key(spec.id) && !renewed_input {
            report.reused.push(spec.id.into());
            if spec.uses_llm && billed {
                report.llm_calls_saved.push(spec.id.into());
            }
            continue;
        }
        let lacking = spec
            .depends_on
            .iter()
            .any(|id| !run.video.outputs.contains_key(*id) && !results.contains_key(*id));
        if lacking {
            report.skipped.push(spec.id.into());
            continue;
        }
        progress.stage(Stage::Aggregating, json!({"aggregator": spec.id}));
        let input = Input {
            model: &model,
            sentiment: models.sentiment.as_deref(),
            recognizer: models.recognizer.as_deref(),
            video: run.video,
            based_on: &based_on,
            texts: &texts,
            vectors: run.vectors,
            results: &results,
        };
        model.begin();
        match progress.cancellable(aggregator.aggregate(&input)).await {
            Ok(mut result) => {
                if spec.uses_llm && billed {
                    let usage = model.usage();
                    result["usage"] = json!({
                        "model": models.llm.model(),
                        "calls": usage.calls,
                        "input_tokens": usage.input_tokens,
                        "output_tokens": usage.output_tokens,
                    });
                }
                kept.remove(spec.id);
                let answers = model.answers();
                if billed && !answers.is_empty() {
                    paid.insert(spec.id.into(), answers);
                }
                results.insert(spec.id.into(), result);
                renewed.insert(spec.id);
                report.ran.push(spec.id.into());
            }
            Err(error) => {
                let answers = model.answers();
                if billed && !answers.is_empty() {
                    kept.insert(spec.id.into(), answers);
                }
                tracing::warn!(aggregator = spec.id, error = %error.labelled(), "aggregator failed");
                report.failed.insert(spec.id.into(), error.labelled());
                if run.budget.is_exhausted() || progress.check().is_err() {
                    kept.append(&mut paid);
                    break;
                }
            }
        }
    }
    report.aggregates = crate::domain::aggregation::in_order(results.keys());
    Ok(Outcome { report, results, kept })
}
