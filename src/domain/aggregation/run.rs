//! Runs aggregators over one video: in order of dependency, one failure losing nothing of the rest.

use std::collections::{BTreeMap, BTreeSet};

use ports::llm::LanguageModel;
use ports::ner::EntityRecognizer;
use ports::sentiment::SentimentClassifier;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::domain::aggregation::result::{Aggregate, ModelUsage, Results};
use crate::domain::aggregation::{Aggregator, AggregatorSpec, Aggregators, ChunkVectors, Input};
use crate::domain::analysis::Analyzers;
use crate::domain::analysis::chunk_text::{based_on, chunk_texts};
use crate::domain::analysis::video::AnalyzedVideo;
use crate::domain::kernel::error::{Error, Result};
use crate::domain::kernel::progress::{Progress, Stage};
use crate::domain::kernel::video::VideoId;
use crate::domain::llm::memoised::{Answers, KeptAnswers, Model};

/// What a run has done, as the job of a re-run shows it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AggregatesResult {
    /// The id of its video.
    pub video_id: VideoId,
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

impl AggregatesResult {
    fn of_nothing(video_id: VideoId, recomputed_because_analyzers_changed: bool) -> Self {
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

/// What to run.
pub(crate) struct Run<'a> {
    pub(crate) llm: &'a dyn LanguageModel,
    pub(crate) sentiment: Option<&'a dyn SentimentClassifier>,
    pub(crate) ner: Option<&'a dyn EntityRecognizer>,
    /// Whether the model calls that are allowed are used up.
    pub(crate) exhausted: &'a (dyn Fn() -> bool + Send + Sync),
    pub(crate) analyzers: &'a Analyzers,
    pub(crate) aggregators: &'a Aggregators,
    pub(crate) video: &'a AnalyzedVideo,
    pub(crate) vectors: &'a ChunkVectors,
    /// Results that are stored already.
    pub(crate) stored: Results,
    /// What is asked for.
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
    pub(crate) results: Results,
    /// What the model has answered aggregators that failed, so that it need not be paid for again.
    pub(crate) kept: KeptAnswers,
}

/// Computes what is asked for, before it what that depends on and nobody has computed, and after it
/// what is stored and depends on it: no result is kept whose foundation has changed.
pub(crate) async fn run(run: Run<'_>, progress: &Progress) -> Result<Outcome> {
    // After a change of analyzers nothing stored is true any more, so everything is due.
    let changed_input = run.analyzers_changed && !run.stored.is_empty();
    let selected = if changed_input { run.aggregators.all() } else { &run.selected };
    let results = if changed_input { Results::new() } else { run.stored };
    let due = due(selected, run.aggregators, run.video, &results);
    let texts = chunk_texts(run.video, run.analyzers);
    let based_on = based_on(run.video, run.analyzers);
    let model = Model::new(run.llm, &run.kept);
    let mut course = Course {
        aggregators: run.aggregators,
        video: run.video,
        billed: run.llm.is_billed(),
        keep: !run.force && !changed_input,
        report: AggregatesResult::of_nothing(run.video.video_id, changed_input),
        results,
        kept: run.kept,
        paid: KeptAnswers::new(),
        changed: BTreeSet::new(),
        ended: None,
    };
    for aggregator in run.aggregators.all() {
        let spec = aggregator.spec();
        if !course.computes(spec, due.contains(spec.id)) {
            continue;
        }
        progress.stage(Stage::Aggregating, json!({"aggregator": spec.id}));
        let input = Input {
            model: &model,
            sentiment: run.sentiment,
            ner: run.ner,
            video: run.video,
            based_on: &based_on,
            texts: &texts,
            vectors: run.vectors,
            results: &course.results,
        };
        model.begin();
        match progress.cancellable(aggregator.aggregate(&input)).await {
            Ok(result) => course.computed(spec, result, &model, run.llm.model()),
            Err(error) => {
                let is_over = (run.exhausted)() || progress.check().is_err();
                course.failed(spec, &error, model.answers(), is_over);
            }
        }
    }
    let Course { mut report, results, kept, .. } = course;
    report.aggregates = run.aggregators.in_order(results.keys());
    Ok(Outcome { report, results, kept })
}

/// How far a run has come.
struct Course<'a> {
    aggregators: &'a Aggregators,
    video: &'a AnalyzedVideo,
    /// Whether the model's calls are.
    billed: bool,
    /// Whether what is stored and does not depend on what has changed is kept.
    keep: bool,
    report: AggregatesResult,
    results: Results,
    kept: KeptAnswers,
    /// What has been paid for in this run, should it end before it is published.
    paid: KeptAnswers,
    /// What is not what it was before this run.
    changed: BTreeSet<&'static str>,
    /// Why nothing further is computed.
    ended: Option<String>,
}

impl Course<'_> {
    /// Whether an aggregator is computed now. Where it is not, the report says why, if it was asked for.
    fn computes(&mut self, spec: &'static AggregatorSpec, is_due: bool) -> bool {
        let stored = self.results.contains_key(spec.id);
        let follows = spec.depends_on.iter().any(|id| self.changed.contains(id))
            && (stored || is_built_on(spec.id, self.aggregators, &self.results));
        if !follows && (self.ended.is_some() || !is_due) {
            return false;
        }
        if stored && !follows && self.keep {
            self.report.reused.push(spec.id.into());
            if spec.uses_llm && self.billed {
                self.report.llm_calls_saved.push(spec.id.into());
            }
            return false;
        }
        if follows {
            self.results.remove(spec.id);
            self.changed.insert(spec.id);
        }
        if let Some(why) = &self.ended {
            self.report.failed.insert(spec.id.into(), why.clone());
            return false;
        }
        let possible = spec.depends_on.iter().all(|id| is_there(id, self.video, &self.results));
        if !possible {
            self.report.skipped.push(spec.id.into());
        }
        possible
    }

    fn computed(
        &mut self,
        spec: &'static AggregatorSpec,
        mut result: Aggregate,
        model: &Model<'_>,
        name: &str,
    ) {
        if spec.uses_llm && self.billed {
            let usage = model.usage();
            result = result.billed(ModelUsage {
                model: name.to_owned(),
                calls: usage.calls,
                input_tokens: usage.input_tokens,
                output_tokens: usage.output_tokens,
            });
        }
        self.kept.remove(spec.id);
        let answers = model.answers();
        if self.billed && !answers.is_empty() {
            self.paid.insert(spec.id.into(), answers);
        }
        self.results.insert(spec.id.into(), result);
        self.changed.insert(spec.id);
        self.report.ran.push(spec.id.into());
    }

    /// What the model has answered it is kept; where the run is over, so is what it has answered others.
    fn failed(
        &mut self,
        spec: &'static AggregatorSpec,
        error: &Error,
        answers: Answers,
        is_over: bool,
    ) {
        let why = error.labelled();
        tracing::warn!(aggregator = spec.id, error = %why, "aggregator failed");
        if self.billed && !answers.is_empty() {
            self.kept.insert(spec.id.into(), answers);
        }
        if is_over {
            self.kept.append(&mut self.paid);
            self.ended = Some(why.clone());
        }
        self.report.failed.insert(spec.id.into(), why);
    }
}

/// Whether a video has the output or the result of that id.
fn is_there(id: &str, video: &AnalyzedVideo, results: &Results) -> bool {
    video.outputs.contains_key(id) || results.contains_key(id)
}

/// Whether a result is there that depends on the aggregator of that id, directly or not.
fn is_built_on(id: &str, aggregators: &Aggregators, results: &Results) -> bool {
    aggregators
        .specs()
        .filter(|spec| spec.depends_on.contains(&id))
        .any(|spec| results.contains_key(spec.id) || is_built_on(spec.id, aggregators, results))
}

/// What is selected, and what that depends on where it is lacking and can be computed.
fn due(
    selected: &[&'static dyn Aggregator],
    aggregators: &Aggregators,
    video: &AnalyzedVideo,
    results: &Results,
) -> BTreeSet<&'static str> {
    let there = |id: &str| is_there(id, video, results);
    let mut possible: BTreeSet<&str> = BTreeSet::new();
    for spec in aggregators.specs() {
        if spec.depends_on.iter().all(|id| there(id) || possible.contains(id)) {
            possible.insert(spec.id);
        }
    }
    let mut due: BTreeSet<&str> = selected.iter().map(|a| a.spec().id).collect();
    // Backwards, so that what depends on something comes before it.
    for spec in aggregators.specs().rev() {
        if due.contains(spec.id) && possible.contains(spec.id) {
            due.extend(spec.depends_on.iter().filter(|id| !there(id)));
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
    use crate::domain::aggregation::result::{Conclusion, Stored, read};
    use crate::domain::aggregation::testing::{Narrator, video};
    use crate::domain::kernel::progress::{Cancellation, Observer};
    use crate::domain::kernel::time::Span;

    /// 1 where it has been computed in this run.
    #[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
    #[serde(default)]
    struct Count {
        count: u32,
    }

    impl Conclusion for Count {
        fn evidence(&self, _whole: Span) -> Vec<(Span, String)> {
            Vec::new()
        }
    }

    /// Counts what it computes, or fails.
    struct Counter {
        spec: &'static AggregatorSpec,
        fails: bool,
    }

    #[async_trait]
    impl Aggregator for Counter {
        fn spec(&self) -> &'static AggregatorSpec {
            self.spec
        }

        async fn aggregate(&self, _input: &Input<'_>) -> Result<Aggregate> {
            if self.fails {
                return Err(PortError::new(ErrorKind::Unavailable, "out of order").into());
            }
            Ok(Arc::new(Stored::new(Count { count: 1 })))
        }

        fn schema(&self) -> Value {
            Value::Null
        }

        fn read(&self, stored: Value) -> Result<Aggregate> {
            read::<Count>(stored)
        }
    }

    const fn spec(id: &'static str, depends_on: &'static [&'static str]) -> AggregatorSpec {
        AggregatorSpec { id, depends_on, uses_llm: false, answers: "" }
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

    struct Nobody;

    impl Observer for Nobody {
        fn stage(&self, _stage: Stage, _detail: Map<String, Value>) {}

        fn video(&self, _video_id: VideoId) {}
    }

    /// Runs what is selected of `aggregators` where `stored` is stored already, as 0.
    async fn rerun(
        aggregators: &Aggregators,
        selected: &[&str],
        stored: &[&str],
        force: bool,
    ) -> Outcome {
        let old =
            |id: &&str| ((*id).to_owned(), Arc::new(Stored::new(Count::default())) as Aggregate);
        let selection: Vec<String> = selected.iter().map(|&id| id.into()).collect();
        let token = Cancellation::with(CancellationToken::new());
        let what = Run {
            llm: &Narrator,
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
            kept: KeptAnswers::new(),
        };
        run(what, &Progress::new(Arc::new(Nobody), token)).await.expect("an outcome")
    }

    #[tokio::test]
    async fn what_is_computed_follows_from_what_depends_on_what() {
        const ALL: &[&str] = &["base", "middle", "top", "aside"];
        for (what, selected, stored, force, ran, reused, skipped) in [
            (
                "all that builds on it",
                vec!["base"],
                ALL,
                true,
                vec!["base", "middle", "top"],
                vec![],
                vec![],
            ),
            (
                "what lies between",
                vec!["base"],
                &["base", "top"],
                true,
                vec!["base", "middle", "top"],
                vec![],
                vec![],
            ),
            (
                "nothing that is not stored",
                vec!["base"],
                &["base", "aside"],
                true,
                vec!["base"],
                vec![],
                vec![],
            ),
            (
                "what it builds on first",
                vec!["top"],
                &[],
                true,
                vec!["base", "middle", "top"],
                vec![],
                vec![],
            ),
            (
                "what is lacking of that",
                vec!["top"],
                &["base"],
                true,
                vec!["middle", "top"],
                vec![],
                vec![],
            ),
            ("alone where that is stored", vec!["top"], ALL, true, vec!["top"], vec![], vec![]),
            (
                "nothing that is stored",
                vec!["base", "top"],
                ALL,
                false,
                vec![],
                vec!["base", "top"],
                vec![],
            ),
            (
                "nothing that cannot be",
                vec!["lost", "aside"],
                &[],
                true,
                vec!["aside"],
                vec![],
                vec!["lost"],
            ),
        ] {
            let outcome = rerun(&working(), &selected, stored, force).await;
            let report = outcome.report;
            assert_eq!(
                (report.ran, report.reused, report.skipped),
                (owned(&ran), owned(&reused), owned(&skipped)),
                "{what}"
            );
            assert_eq!(report.failed, BTreeMap::new(), "{what}");
        }
    }

    #[tokio::test]
    async fn what_cannot_be_computed_anew_is_not_kept() {
        let aggregators = Aggregators(vec![&BASE, &BROKEN, &TOP, &ASIDE]);
        let Outcome { report, results, .. } =
            rerun(&aggregators, &["base"], &["base", "middle", "top", "aside"], true).await;
        assert_eq!(report.ran, ["base"]);
        assert_eq!(report.failed.keys().collect::<Vec<_>>(), ["middle"]);
        assert_eq!(report.skipped, ["top"]);
        assert_eq!(report.aggregates, ["base", "aside"]);
        assert_eq!(results.keys().collect::<Vec<_>>(), ["aside", "base"]);
        // One that fails by itself is still what it was.
        let Outcome { report, .. } =
            rerun(&aggregators, &["middle"], &["base", "middle", "top"], true).await;
        assert_eq!((report.ran.len(), report.aggregates), (0, owned(&["base", "middle", "top"])));
    }

    fn owned(ids: &[&str]) -> Vec<String> {
        ids.iter().map(|&id| id.into()).collect()
    }
}
