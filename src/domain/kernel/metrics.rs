//! What the service measures of itself: the name, labels and unit of every meter. Recorded through
//! the `metrics` facade, so that nothing happens where nobody reads them.

use std::time::{Duration, Instant};

use metrics::{
    Unit, counter, describe_counter, describe_gauge, describe_histogram, gauge, histogram,
};
use ports::llm::Usage;

use super::profile::Step;
use super::progress::Stage;

const JOBS: &str = "shotlog_jobs";
const JOBS_ENDED: &str = "shotlog_jobs_ended_total";
const STAGE: &str = "shotlog_stage_duration_seconds";
const STEPS: &str = "shotlog_steps_total";
const STEP: &str = "shotlog_step_seconds";
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
    describe_counter!(STEPS, "Steps of ingests that were done, as frames read, by step.");
    describe_gauge!(
        STEP,
        Unit::Seconds,
        "Time that steps of ingests took since the start, by step; of steps at the same time each counts."
    );
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
pub(crate) fn stage_left(stage: Stage, after: Duration) {
    histogram!(STAGE, "stage" => stage.name()).record(after);
}

/// A step of an ingest was done `calls` times, which took so long.
pub(crate) fn step_taken(step: Step, calls: u64, took: Duration) {
    counter!(STEPS, "step" => step.name()).increment(calls);
    gauge!(STEP, "step" => step.name()).increment(took.as_secs_f64());
}

/// A job has ended.
pub(crate) fn job_ended(status: &'static str) {
    counter!(JOBS_ENDED, "status" => status).increment(1);
}

/// A video has been decoded: its playing time and the time that took, in seconds.
pub(crate) fn decoded(playing: f64, took: Duration) {
    counter!(DECODED).increment(playing.max(0.0).ceil() as u64);
    counter!(DECODING).increment(took.as_secs_f64().ceil() as u64);
}

/// A chunk has gone through an analyzer whose results are kept.
pub(crate) fn chunk_analyzed(analyzer: &str, from_cache: bool) {
    let source = if from_cache { "cache" } else { "model" };
    counter!(CHUNKS, "analyzer" => analyzer.to_owned(), "source" => source).increment(1);
}

/// How many jobs have a status now.
pub(crate) fn jobs(status: &'static str, count: usize) {
    gauge!(JOBS, "status" => status).set(count as f64);
}

/// How many points the index holds, and how many videos have a record.
pub(crate) fn stored(points: u64, videos: usize) {
    gauge!(POINTS).set(points as f64);
    gauge!(VIDEOS).set(videos as f64);
}

/// A language model has read and written tokens, which cost so much.
pub(crate) fn tokens_used(model: String, usage: Usage, cost: f64) {
    let tokens = |direction| counter!(TOKENS, "model" => model.clone(), "direction" => direction);
    tokens("input").increment(usage.input_tokens);
    tokens("output").increment(usage.output_tokens);
    gauge!(COST, "model" => model).increment(cost);
}

/// A model was called.
pub(crate) fn model_called(
    role: &'static str,
    model: String,
    task: String,
    ok: bool,
    started: Instant,
) {
    let outcome = if ok { "ok" } else { "error" };
    histogram!(CALL, "role" => role, "model" => model.clone(), "task" => task.clone())
        .record(started.elapsed());
    counter!(CALLS, "role" => role, "model" => model, "task" => task, "outcome" => outcome)
        .increment(1);
}
