//! What the service measures of itself: the name, labels and unit of every meter. Recorded through
//! the `metrics` facade, so that nothing happens where nobody reads them.

use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use metrics::{
    Unit, counter, describe_counter, describe_gauge, describe_histogram, gauge, histogram,
};
use ports::embedder::Embedder;
use ports::index::Filter;
use ports::llm::{Completion, LanguageModel, Request};
use tracing::Instrument;
use tracing::field::Empty;

use super::Shotlog;
use super::error::Result;
use super::jobs::{JobStatus, Stage};

const JOBS: &str = "shotlog_jobs";
const JOBS_ENDED: &str = "shotlog_jobs_ended_total";
const STAGE: &str = "shotlog_stage_duration_seconds";
const DECODED: &str = "shotlog_decoded_seconds_total";
const DECODING: &str = "shotlog_decoding_seconds_total";
const CHUNKS: &str = "shotlog_chunk_analyses_total";
const CALLS: &str = "shotlog_model_calls_total";
const CALL: &str = "shotlog_model_call_duration_seconds";
const TOKENS: &str = "shotlog_model_tokens_total";
const COST: &str = "shotlog_model_cost";
const POINTS: &str = "shotlog_index_points";
const VIDEOS: &str = "shotlog_videos";

/// Tells the recorder what each meter means. Called once, after it is installed.
pub fn describe() {
    describe_gauge!(
        JOBS,
        "Jobs by status; `queued` is the depth of the queue. Instances that share them each tell of all."
    );
    describe_counter!(JOBS_ENDED, "Jobs that ended, by status.");
    describe_histogram!(STAGE, Unit::Seconds, "Time that jobs spent in a stage.");
    describe_counter!(DECODED, Unit::Seconds, "Video decoded, in seconds of playing time.");
    describe_counter!(
        DECODING,
        Unit::Seconds,
        "Time spent decoding; below playing time is faster."
    );
    describe_counter!(
        CHUNKS,
        "Chunks analyzed by a paid or slow analyzer, by whether a kept result served (`source`: model, cache)."
    );
    describe_counter!(CALLS, "Calls of a model, by role, model, task and outcome.");
    describe_histogram!(CALL, Unit::Seconds, "Time for one call of a model.");
    describe_counter!(TOKENS, "Tokens by model and direction.");
    describe_gauge!(
        COST,
        "Cost of the language model's tokens, in the currency of llm.input_price."
    );
    describe_gauge!(POINTS, "Points in the vector index.");
    describe_gauge!(VIDEOS, "Videos with a record.");
}

/// A job has left a stage.
pub(super) fn stage_left(stage: Stage, after: Duration) {
    histogram!(STAGE, "stage" => stage.name()).record(after);
}

/// A job has ended.
pub(super) fn job_ended(status: JobStatus) {
    counter!(JOBS_ENDED, "status" => status.name()).increment(1);
}

/// A video has been decoded: its playing time and the time that took, in seconds.
pub(super) fn decoded(playing: f64, took: Duration) {
    counter!(DECODED).increment(playing.max(0.0).ceil() as u64);
    counter!(DECODING).increment(took.as_secs_f64().ceil() as u64);
}

/// A chunk has gone through an analyzer whose results are kept.
pub(super) fn chunk_analyzed(analyzer: &'static str, from_cache: bool) {
    let source = if from_cache { "cache" } else { "model" };
    counter!(CHUNKS, "analyzer" => analyzer, "source" => source).increment(1);
}

impl Shotlog {
    /// Records what is measured by looking: jobs, points, videos.
    pub async fn measure(&self) -> Result<()> {
        let jobs = self.jobs.list().await?;
        for status in JobStatus::ALL {
            let count = jobs.iter().filter(|job| job.status == status).count();
            gauge!(JOBS, "status" => status.name()).set(count as f64);
        }
        gauge!(POINTS).set(self.ports.index.count(&Filter::default()).await? as f64);
        gauge!(VIDEOS).set(self.library.ids().await?.len() as f64);
        Ok(())
    }
}

/// What a language model's tokens cost, per million, in any one currency.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Prices {
    /// Of tokens read.
    pub input: f64,
    /// Of tokens written.
    pub output: f64,
}

/// A language model whose calls, tokens and cost are counted.
pub(super) struct MeteredModel {
    inner: Arc<dyn LanguageModel>,
    prices: Prices,
}

impl MeteredModel {
    pub(super) fn over(inner: Arc<dyn LanguageModel>, prices: Prices) -> Arc<dyn LanguageModel> {
        Arc::new(Self { inner, prices })
    }
}

#[async_trait]
impl LanguageModel for MeteredModel {
    fn model(&self) -> &str {
        self.inner.model()
    }

    fn sees(&self) -> bool {
        self.inner.sees()
    }

    fn billed(&self) -> bool {
        self.inner.billed()
    }

    fn context_tokens(&self) -> usize {
        self.inner.context_tokens()
    }

    async fn complete(&self, request: &Request) -> ports::Result<Completion> {
        let started = Instant::now();
        let span = tracing::info_span!(
            "model call",
            model = self.inner.model(),
            task = request.task.name(),
            input_tokens = Empty,
            output_tokens = Empty
        );
        let outcome = self.inner.complete(request).instrument(span.clone()).await;
        if let Ok(completion) = &outcome {
            span.record("input_tokens", completion.usage.input_tokens);
            span.record("output_tokens", completion.usage.output_tokens);
        }
        let model = self.inner.model().to_owned();
        let task = format!("{:?}", request.task).to_lowercase();
        called("language_model", model.clone(), task, outcome.is_ok(), started);
        if let Ok(completion) = &outcome {
            let usage = completion.usage;
            let tokens =
                |direction| counter!(TOKENS, "model" => model.clone(), "direction" => direction);
            tokens("input").increment(usage.input_tokens);
            tokens("output").increment(usage.output_tokens);
            let cost = usage.input_tokens as f64 * self.prices.input
                + usage.output_tokens as f64 * self.prices.output;
            gauge!(COST, "model" => model).increment(cost / 1e6);
        }
        outcome
    }
}

/// An embedder whose calls are counted.
pub(super) struct MeteredEmbedder(pub(super) Arc<dyn Embedder>);

#[async_trait]
impl Embedder for MeteredEmbedder {
    fn model(&self) -> &str {
        self.0.model()
    }

    fn dimension(&self) -> usize {
        self.0.dimension()
    }

    async fn embed(&self, texts: &[String]) -> ports::Result<Vec<Vec<f32>>> {
        let started = Instant::now();
        let outcome = self.0.embed(texts).await;
        called("embedder", self.0.model().to_owned(), "embed".into(), outcome.is_ok(), started);
        outcome
    }
}

fn called(role: &'static str, model: String, task: String, ok: bool, started: Instant) {
    let outcome = if ok { "ok" } else { "error" };
    histogram!(CALL, "role" => role, "model" => model.clone(), "task" => task.clone())
        .record(started.elapsed());
    counter!(CALLS, "role" => role, "model" => model, "task" => task, "outcome" => outcome)
        .increment(1);
}
