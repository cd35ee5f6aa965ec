//! The service's metrics with their names, labels and units. They are recorded through the
//! `metrics` facade, which does nothing unless a recorder is installed.

use std::time::{Duration, Instant};

use metrics::{
    Unit, counter, describe_counter, describe_gauge, describe_histogram, gauge, histogram,
};
use ports::llm::Usage;

use super::stage::{Stage, Step};

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

/// Registers the description of each metric. Call this once, after the recorder is installed.
pub fn describe() {
    describe_gauge!(
        JOBS,
        "Jobs by status; `queued` is the depth of the queue. With a shared queue, each instance reports all jobs."
    );
    describe_counter!(JOBS_ENDED, "Jobs that ended, by status.");
    describe_histogram!(STAGE, Unit::Seconds, "Time that jobs spent in a stage.");
    describe_counter!(STEPS, "Executions of ingest steps, such as frames read, by step.");
    describe_gauge!(
        STEP,
        Unit::Seconds,
        "Time spent in ingest steps since the start, by step. Concurrent steps each count in full."
    );
    describe_counter!(DECODED, Unit::Seconds, "Video decoded, in seconds of playing time.");
    describe_counter!(
        DECODING,
        Unit::Seconds,
        "Time spent decoding; less than the playing time means faster than real time."
    );
    describe_counter!(
        CHUNKS,
        "Chunks analyzed by a paid or slow analyzer, by whether a cached result was used (`source`: model, cache)."
    );
    describe_counter!(CALLS, "Model calls, by role, model, task and outcome.");
    describe_histogram!(CALL, Unit::Seconds, "Duration of one model call.");
    describe_counter!(TOKENS, "Tokens by model and direction.");
    describe_gauge!(
        COST,
        "Cost of the language model's tokens, in the currency of llm.input_price."
    );
    describe_gauge!(POINTS, "Points in the vector index.");
    describe_gauge!(VIDEOS, "Videos with a record.");
}

/// Records how long a job spent in a stage.
pub(crate) fn stage_left(stage: Stage, after: Duration) {
    histogram!(STAGE, "stage" => stage.name()).record(after);
}

/// Records `calls` executions of an ingest step and their total duration.
pub(crate) fn step_taken(step: Step, calls: u64, took: Duration) {
    counter!(STEPS, "step" => step.name()).increment(calls);
    gauge!(STEP, "step" => step.name()).increment(took.as_secs_f64());
}

/// Counts a job that ended with `status`.
pub(crate) fn job_ended(status: &'static str) {
    counter!(JOBS_ENDED, "status" => status).increment(1);
}

/// Records the decoding of `playing` seconds of video and how long it took.
pub(crate) fn decoded(playing: f64, took: Duration) {
    counter!(DECODED).increment(playing.max(0.0).ceil() as u64);
    counter!(DECODING).increment(took.as_secs_f64().ceil() as u64);
}

/// Counts a chunk processed by an analyzer whose results are cached.
pub(crate) fn chunk_analyzed(analyzer: &str, from_cache: bool) {
    let source = if from_cache { "cache" } else { "model" };
    counter!(CHUNKS, "analyzer" => analyzer.to_owned(), "source" => source).increment(1);
}

/// Sets the current number of jobs with a status.
pub(crate) fn jobs(status: &'static str, count: usize) {
    gauge!(JOBS, "status" => status).set(count as f64);
}

/// Sets the number of points in the index and the number of videos with a record.
pub(crate) fn stored(points: u64, videos: usize) {
    gauge!(POINTS).set(points as f64);
    gauge!(VIDEOS).set(videos as f64);
}

/// Records a language model's input and output tokens and their cost.
pub(crate) fn tokens_used(model: String, usage: Usage, cost: f64) {
    let tokens = |direction| counter!(TOKENS, "model" => model.clone(), "direction" => direction);
    tokens("input").increment(usage.input_tokens);
    tokens("output").increment(usage.output_tokens);
    gauge!(COST, "model" => model).increment(cost);
}

/// Records a model call that began at `started`.
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
