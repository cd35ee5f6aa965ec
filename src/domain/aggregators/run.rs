//! Runs aggregators over one video: in order of dependency, one failure losing nothing of the rest.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::{AGGREGATORS, Aggregator, ChunkVectors, Input};
use crate::domain::Ports;
use crate::domain::aggregates::AggregatesResult;
use crate::domain::error::Result;
use crate::domain::jobs::{Progress, Stage};
use crate::domain::passages::chunk_texts;
use crate::domain::record::AnalyzedVideo;

/// What to run.
pub(crate) struct Run<'a> {
    pub(crate) ports: &'a Ports,
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
}

/// Computes what is asked for and returns the report with the results now valid.
pub(crate) async fn run(
    run: Run<'_>,
    progress: &Progress,
) -> Result<(AggregatesResult, BTreeMap<String, Value>)> {
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
    let texts = chunk_texts(run.video);
    let mut renewed: BTreeSet<&str> = BTreeSet::new();
    for aggregator in selected {
        let spec = aggregator.spec();
        progress.check()?;
        let renewed_input = spec.depends_on.iter().any(|id| renewed.contains(id));
        if keep && results.contains_key(spec.id) && !renewed_input {
            report.reused.push(spec.id.into());
            if spec.uses_llm && run.ports.llm.billed() {
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
            ports: run.ports,
            video: run.video,
            texts: &texts,
            vectors: run.vectors,
            results: &results,
        };
        match progress.cancellable(aggregator.aggregate(&input)).await {
            Ok(result) => {
                results.insert(spec.id.into(), result);
                renewed.insert(spec.id);
                report.ran.push(spec.id.into());
            }
            Err(error) => {
                progress.check()?;
                tracing::warn!(aggregator = spec.id, error = %error.labelled(), "aggregator failed");
                report.failed.insert(spec.id.into(), error.labelled());
            }
        }
    }
    report.aggregates = super::in_order(results.keys());
    Ok((report, results))
}
