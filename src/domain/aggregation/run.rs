//! Runs the aggregators for one video in dependency order. If one fails, the others still run.

use std::collections::{BTreeMap, BTreeSet};

use ports::llm::LanguageModel;
use ports::ner::EntityRecognizer;
use ports::sentiment::SentimentClassifier;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::aggregation::result::{Aggregate, ModelUsage, Results};
use crate::aggregation::{Aggregator, AggregatorInput, AggregatorSpec, Aggregators, ChunkVectors};
use crate::analysis::Analyzers;
use crate::analysis::chunk_text::{based_on, chunk_texts};
use crate::analysis::video::AnalyzedVideo;
use crate::kernel::error::{Error, Result};
use crate::kernel::progress::{Progress, Stage};
use crate::kernel::video::VideoId;
use crate::llm::memoised::{Answers, MemoisedModel, SavedAnswers};

/// The report on a run, as shown in the job.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AggregatesResult {
    /// The id of the video.
    pub video_id: VideoId,
    /// Aggregators that were computed.
    pub ran: Vec<String>,
    /// Aggregators whose stored result was reused.
    pub reused: Vec<String>,
    /// Aggregators that were skipped because their dependencies are missing.
    pub skipped: Vec<String>,
    /// The errors, as `TypeName: message`, by aggregator id.
    pub failed: BTreeMap<String, String>,
    /// All aggregators with a valid result.
    pub aggregates: Vec<String>,
    /// Whether everything was recomputed because the set of analyzers changed.
    pub recomputed_because_analyzers_changed: bool,
    /// The reused aggregators that would have made billed model calls.
    pub llm_calls_saved: Vec<String>,
}

impl AggregatesResult {
    fn empty(video_id: VideoId, recomputed_because_analyzers_changed: bool) -> Self {
        Self {
            video_id,
            ran: Vec::new(),
            reused: Vec::new(),
            skipped: Vec::new(),
            failed: BTreeMap::new(),
            aggregates: Vec::new(),
            recomputed_because_analyzers_changed,
            llm_calls_saved: Vec::new(),
        }
    }
}

/// The parameters of a run.
pub(crate) struct AggregationRun<'a> {
    pub(crate) llm: &'a dyn LanguageModel,
    pub(crate) sentiment: Option<&'a dyn SentimentClassifier>,
    pub(crate) ner: Option<&'a dyn EntityRecognizer>,
    /// Returns whether the budget for model calls is used up.
    pub(crate) exhausted: &'a (dyn Fn() -> bool + Send + Sync),
    pub(crate) analyzers: &'a Analyzers,
    pub(crate) aggregators: &'a Aggregators,
    pub(crate) video: &'a AnalyzedVideo,
    pub(crate) vectors: &'a ChunkVectors,
    /// The stored results.
    pub(crate) stored: Results,
    /// The requested aggregators.
    pub(crate) selected: Vec<&'static dyn Aggregator>,
    /// Whether to recompute stored results.
    pub(crate) force: bool,
    /// Whether the set of analyzers has changed since the stored results were computed.
    pub(crate) analyzers_changed: bool,
    /// Model answers saved from aggregators that failed in earlier runs.
    pub(crate) saved_answers: SavedAnswers,
}

/// The outcome of a run.
pub(crate) struct AggregationOutcome {
    pub(crate) report: AggregatesResult,
    /// All valid results.
    pub(crate) results: Results,
    /// Model answers that failed aggregators received, saved so that they are not paid for again.
    pub(crate) saved_answers: SavedAnswers,
}

/// Computes the selected aggregators. Computes missing dependencies first. Also recomputes stored
/// results that depend on changed ones, so that no result outlives a change to its inputs.
pub(crate) async fn run(
    run: AggregationRun<'_>,
    progress: &Progress,
) -> Result<AggregationOutcome> {
    // If the analyzers have changed, all stored results are out of date.
    let changed_input = run.analyzers_changed && !run.stored.is_empty();
    let selected = if changed_input { run.aggregators.all() } else { &run.selected };
    let results = if changed_input { Results::new() } else { run.stored };
    let due = due(selected, run.aggregators, run.video, &results);
    let texts = chunk_texts(run.video, run.analyzers);
    let based_on = based_on(run.video, run.analyzers);
    let model = MemoisedModel::new(run.llm, &run.saved_answers);
    let mut state = RunState {
        aggregators: run.aggregators,
        video: run.video,
        billed: run.llm.is_billed(),
        reuse: !run.force && !changed_input,
        report: AggregatesResult::empty(run.video.video_id, changed_input),
        results,
        saved_answers: run.saved_answers,
        paid: SavedAnswers::new(),
        changed: BTreeSet::new(),
        ended: None,
    };
    for aggregator in run.aggregators.all() {
        let spec = aggregator.spec();
        if !state.should_compute(spec, due.contains(spec.id)) {
            continue;
        }
        progress.stage(Stage::Aggregating, json!({"aggregator": spec.id}));
        let input = AggregatorInput {
            model: &model,
            sentiment: run.sentiment,
            ner: run.ner,
            video: run.video,
            based_on: &based_on,
            texts: &texts,
            vectors: run.vectors,
            results: &state.results,
        };
        model.begin();
        match progress.cancellable(aggregator.aggregate(&input)).await {
            Ok(result) => state.record_result(spec, result, &model, run.llm.model()),
            Err(error) => {
                let is_over = (run.exhausted)() || progress.check().is_err();
                state.record_failure(spec, &error, model.answers(), is_over);
            }
        }
    }
    let RunState { mut report, results, saved_answers, .. } = state;
    report.aggregates = run.aggregators.in_order(results.keys());
    Ok(AggregationOutcome { report, results, saved_answers })
}

/// The state of a run.
struct RunState<'a> {
    aggregators: &'a Aggregators,
    video: &'a AnalyzedVideo,
    /// Whether calls to the model are billed.
    billed: bool,
    /// Whether stored results are reused unless their inputs have changed.
    reuse: bool,
    report: AggregatesResult,
    results: Results,
    saved_answers: SavedAnswers,
    /// Billed answers from this run. They are saved if the run ends before its results are
    /// published.
    paid: SavedAnswers,
    /// The aggregators whose results have changed in this run.
    changed: BTreeSet<&'static str>,
    /// Why the run has stopped early, if it has stopped.
    ended: Option<String>,
}

impl RunState<'_> {
    /// Whether to compute an aggregator. If the aggregator is due but cannot be computed or need
    /// not be, the report states why.
    fn should_compute(&mut self, spec: &'static AggregatorSpec, is_due: bool) -> bool {
        let stored = self.results.contains_key(spec.id);
        let is_outdated = spec.depends_on.iter().any(|id| self.changed.contains(id))
            && (stored || has_stored_dependents(spec.id, self.aggregators, &self.results));
        if !is_outdated && (self.ended.is_some() || !is_due) {
            return false;
        }
        if stored && !is_outdated && self.reuse {
            self.report.reused.push(spec.id.into());
            if spec.uses_llm && self.billed {
                self.report.llm_calls_saved.push(spec.id.into());
            }
            return false;
        }
        if is_outdated {
            self.results.remove(spec.id);
            self.changed.insert(spec.id);
        }
        if let Some(reason) = &self.ended {
            self.report.failed.insert(spec.id.into(), reason.clone());
            return false;
        }
        let is_possible =
            spec.depends_on.iter().all(|id| is_available(id, self.video, &self.results));
        if !is_possible {
            self.report.skipped.push(spec.id.into());
        }
        is_possible
    }

    fn record_result(
        &mut self,
        spec: &'static AggregatorSpec,
        mut result: Aggregate,
        model: &MemoisedModel<'_>,
        name: &str,
    ) {
        if spec.uses_llm && self.billed {
            let usage = model.usage();
            result = result.with_usage(ModelUsage {
                model: name.to_owned(),
                calls: usage.calls,
                input_tokens: usage.input_tokens,
                output_tokens: usage.output_tokens,
            });
        }
        self.saved_answers.remove(spec.id);
        let answers = model.answers();
        if self.billed && !answers.is_empty() {
            self.paid.insert(spec.id.into(), answers);
        }
        self.results.insert(spec.id.into(), result);
        self.changed.insert(spec.id);
        self.report.ran.push(spec.id.into());
    }

    /// Saves the billed answers that a failed aggregator received. If the run is over, also saves
    /// those that all other aggregators received in this run.
    fn record_failure(
        &mut self,
        spec: &'static AggregatorSpec,
        error: &Error,
        answers: Answers,
        is_over: bool,
    ) {
        let message = error.labelled();
        tracing::warn!(aggregator = spec.id, error = %message, "aggregator failed");
        if self.billed && !answers.is_empty() {
            self.saved_answers.insert(spec.id.into(), answers);
        }
        if is_over {
            self.saved_answers.append(&mut self.paid);
            self.ended = Some(message.clone());
        }
        self.report.failed.insert(spec.id.into(), message);
    }
}

/// Whether an analyzer or aggregator with this id has a result.
fn is_available(id: &str, video: &AnalyzedVideo, results: &Results) -> bool {
    video.outputs.contains_key(id) || results.contains_key(id)
}

/// Whether any stored result depends on the aggregator with this id, directly or indirectly.
fn has_stored_dependents(id: &str, aggregators: &Aggregators, results: &Results) -> bool {
    aggregators.specs().filter(|spec| spec.depends_on.contains(&id)).any(|spec| {
        results.contains_key(spec.id) || has_stored_dependents(spec.id, aggregators, results)
    })
}

/// Finds the selected aggregators. Adds their missing dependencies, except those that cannot be
/// computed.
fn due(
    selected: &[&'static dyn Aggregator],
    aggregators: &Aggregators,
    video: &AnalyzedVideo,
    results: &Results,
) -> BTreeSet<&'static str> {
    let available = |id: &str| is_available(id, video, results);
    let mut possible: BTreeSet<&str> = BTreeSet::new();
    for spec in aggregators.specs() {
        if spec.depends_on.iter().all(|id| available(id) || possible.contains(id)) {
            possible.insert(spec.id);
        }
    }
    let mut due: BTreeSet<&str> = selected.iter().map(|a| a.spec().id).collect();
    // Iterates in reverse, so that dependents come before their dependencies.
    for spec in aggregators.specs().rev() {
        if due.contains(spec.id) && possible.contains(spec.id) {
            due.extend(spec.depends_on.iter().filter(|id| !available(id)));
        }
    }
    due
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use async_trait::async_trait;
    use ports::{ErrorKind, PortError};
    use serde_json::{Map, Value};
    use tokio_util::sync::CancellationToken;

    use super::*;
    use crate::aggregation::result::{AggregateRecord, AggregatorOutput, read};
    use crate::aggregation::testing::{StubModel, video};
    use crate::analysis::presentation::Presentation;
    use crate::kernel::progress::{Cancellation, Observer};
    use crate::kernel::time::Span;

    /// A result whose value is 1 if the current run computed it.
    #[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
    #[serde(default)]
    struct Count {
        count: u32,
    }

    impl AggregatorOutput for Count {
        fn evidence(&self, _whole: Span) -> Vec<(Span, String)> {
            Vec::new()
        }
    }

    /// An aggregator that returns a count of 1, or fails.
    struct Counter {
        spec: &'static AggregatorSpec,
        fails: bool,
    }

    #[async_trait]
    impl Aggregator for Counter {
        fn spec(&self) -> &'static AggregatorSpec {
            self.spec
        }

        async fn aggregate(&self, _input: &AggregatorInput<'_>) -> Result<Aggregate> {
            if self.fails {
                return Err(PortError::new(ErrorKind::Unavailable, "out of order").into());
            }
            Ok(Arc::new(AggregateRecord::new(Count { count: 1 })))
        }

        fn schema(&self) -> Value {
            Value::Null
        }

        fn read(&self, stored: Value) -> Result<Aggregate> {
            read::<Count>(stored)
        }
    }

    const fn spec(id: &'static str, depends_on: &'static [&'static str]) -> AggregatorSpec {
        AggregatorSpec {
            id,
            depends_on,
            uses_llm: false,
            answers: "",
            label: "Count",
            presentation: Presentation::ROWS,
        }
    }

    static BASE: Counter = Counter { spec: &spec("base", &[]), fails: false };
    static MIDDLE: Counter = Counter { spec: &spec("middle", &["base"]), fails: false };
    static BROKEN: Counter = Counter { spec: &spec("middle", &["base"]), fails: true };
    static TOP: Counter = Counter { spec: &spec("top", &["middle"]), fails: false };
    static ASIDE: Counter = Counter { spec: &spec("aside", &[]), fails: false };
    static LOST: Counter = Counter { spec: &spec("lost", &["nobody"]), fails: false };

    fn working() -> Aggregators {
        Aggregators(vec![&BASE, &MIDDLE, &TOP, &ASIDE, &LOST])
    }

    struct NoObserver;

    impl Observer for NoObserver {
        fn stage(&self, _stage: Stage, _detail: Map<String, Value>) {}

        fn video(&self, _video_id: VideoId) {}
    }

    /// Runs the selected aggregators, with a stored result of 0 for those in `stored`.
    async fn rerun(
        aggregators: &Aggregators,
        selected: &[&str],
        stored: &[&str],
        force: bool,
    ) -> AggregationOutcome {
        let old = |id: &&str| {
            ((*id).to_owned(), Arc::new(AggregateRecord::new(Count::default())) as Aggregate)
        };
        let selection: Vec<String> = selected.iter().map(|&id| id.into()).collect();
        let token = Cancellation::new(CancellationToken::new());
        let aggregation = AggregationRun {
            llm: &StubModel,
            sentiment: None,
            ner: None,
            exhausted: &|| false,
            analyzers: &Analyzers::default(),
            aggregators,
            video: &video(10.0, 1),
            vectors: &ChunkVectors::default(),
            stored: stored.iter().map(old).collect(),
            selected: aggregators.select(Some(&selection)).expect("a selection"),
            force,
            analyzers_changed: false,
            saved_answers: SavedAnswers::new(),
        };
        run(aggregation, &Progress::new(Arc::new(NoObserver), token)).await.expect("an outcome")
    }

    /// Returns what ran, was reused and was skipped in a run in which nothing may fail.
    async fn rerun_working(selected: &[&str], stored: &[&str], force: bool) -> [Vec<String>; 3] {
        let report = rerun(&working(), selected, stored, force).await.report;
        assert_eq!(report.failed, BTreeMap::new(), "{selected:?}");
        [report.ran, report.reused, report.skipped]
    }

    const ALL: &[&str] = &["base", "middle", "top", "aside"];

    #[tokio::test]
    async fn run_computes_stored_dependents() {
        let cases: [(&str, &[&str], &[&str]); 3] = [
            ("dependents", ALL, &["base", "middle", "top"]),
            ("missing aggregators in between", &["base", "top"], &["base", "middle", "top"]),
            ("no dependents that are not stored", &["base", "aside"], &["base"]),
        ];
        for (what, stored, ran) in cases {
            let expected = [owned(ran), vec![], vec![]];
            assert_eq!(rerun_working(&["base"], stored, true).await, expected, "{what}");
        }
    }

    #[tokio::test]
    async fn run_computes_missing_dependencies() {
        let cases: [(&str, &[&str], &[&str]); 3] = [
            ("dependencies first", &[], &["base", "middle", "top"]),
            ("missing dependencies only", &["base"], &["middle", "top"]),
            ("stored dependencies are reused", ALL, &["top"]),
        ];
        for (what, stored, ran) in cases {
            let expected = [owned(ran), vec![], vec![]];
            assert_eq!(rerun_working(&["top"], stored, true).await, expected, "{what}");
        }
    }

    #[tokio::test]
    async fn stored_results_are_reused_without_force() {
        let expected = [vec![], owned(&["base", "top"]), vec![]];
        assert_eq!(rerun_working(&["base", "top"], ALL, false).await, expected);
    }

    #[tokio::test]
    async fn aggregators_with_missing_dependencies_are_skipped() {
        let expected = [owned(&["aside"]), vec![], owned(&["lost"])];
        assert_eq!(rerun_working(&["lost", "aside"], &[], true).await, expected);
    }

    #[tokio::test]
    async fn dependents_of_a_failed_aggregator_are_dropped() {
        let aggregators = Aggregators(vec![&BASE, &BROKEN, &TOP, &ASIDE]);
        let AggregationOutcome { report, results, .. } =
            rerun(&aggregators, &["base"], &["base", "middle", "top", "aside"], true).await;
        assert_eq!(report.ran, ["base"]);
        assert_eq!(report.failed.keys().collect::<Vec<_>>(), ["middle"]);
        assert_eq!(report.skipped, ["top"]);
        assert_eq!(report.aggregates, ["base", "aside"]);
        assert_eq!(results.keys().collect::<Vec<_>>(), ["aside", "base"]);
        // If the selected aggregator itself fails, its stored result is kept.
        let AggregationOutcome { report, .. } =
            rerun(&aggregators, &["middle"], &["base", "middle", "top"], true).await;
        assert_eq!((report.ran.len(), report.aggregates), (0, owned(&["base", "middle", "top"])));
    }

    fn owned(ids: &[&str]) -> Vec<String> {
        ids.iter().map(|&id| id.into()).collect()
    }
}
