//! What one piece of work took, step by step. The pipeline and what it calls measure; the job's
//! result tells.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::metrics;

/// A step of an ingest that takes time worth knowing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    /// Decoding all of the file, with whatever looks and listens meanwhile.
    Scan,
    /// Looking for cuts, within the scan.
    FindCuts,
    /// Looking for speech, within the scan.
    FindSpeech,
    /// Telling speakers apart.
    TellSpeakers,
    /// Recognising what is said.
    RecogniseSpeech,
    /// Decoding single frames.
    DecodeFrames,
    /// Finding objects in a frame.
    FindObjects,
    /// Reading the text in a frame.
    ReadText,
    /// Turning texts into vectors.
    Embed,
    /// Aggregators, all of them.
    Aggregate,
}

impl Step {
    /// As clients see it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Scan => "scan",
            Self::FindCuts => "find_cuts",
            Self::FindSpeech => "find_speech",
            Self::TellSpeakers => "tell_speakers",
            Self::RecogniseSpeech => "recognise_speech",
            Self::DecodeFrames => "decode_frames",
            Self::FindObjects => "find_objects",
            Self::ReadText => "read_text",
            Self::Embed => "embed",
            Self::Aggregate => "aggregate",
        }
    }
}

/// What a step took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct StepCost {
    /// How often it was done.
    pub calls: u64,
    /// How long that took in all, seconds; of calls at the same time each counts.
    pub seconds: f64,
}

/// Adds up what steps take. Clones share what they add to.
#[derive(Debug, Clone, Default)]
pub struct Profile(Arc<Mutex<BTreeMap<Step, StepCost>>>);

impl Profile {
    /// A step has been done `calls` times, which took so long.
    pub fn add(&self, step: Step, calls: u64, took: Duration) {
        metrics::step_taken(step, calls, took);
        let mut steps = self.steps();
        let cost = steps.entry(step).or_default();
        cost.calls += calls;
        cost.seconds += took.as_secs_f64();
    }

    /// Does a step once.
    pub async fn measure<T>(&self, step: Step, work: impl Future<Output = T>) -> T {
        let started = Instant::now();
        let done = work.await;
        self.add(step, 1, started.elapsed());
        done
    }

    /// What was added so far, by the names of the steps.
    pub fn told(&self) -> BTreeMap<String, StepCost> {
        let rounded = |cost: &StepCost| StepCost {
            seconds: (cost.seconds * 1000.0).round() / 1000.0,
            ..*cost
        };
        self.steps().iter().map(|(step, cost)| (step.name().to_owned(), rounded(cost))).collect()
    }

    fn steps(&self) -> MutexGuard<'_, BTreeMap<Step, StepCost>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_a_step_takes_adds_up_over_clones() {
        let profile = Profile::default();
        profile.add(Step::FindObjects, 3, Duration::from_millis(1500));
        profile.clone().add(Step::FindObjects, 1, Duration::from_micros(500_400));
        assert_eq!(profile.measure(Step::Embed, async { 7 }).await, 7);
        let told = profile.told();
        assert_eq!(told["find_objects"], StepCost { calls: 4, seconds: 2.0 });
        assert_eq!(told["embed"].calls, 1);
        assert_eq!(told.len(), 2);
    }
}
