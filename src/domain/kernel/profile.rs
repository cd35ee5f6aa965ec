//! Measures how long the steps of one job take. The job's result reports these durations.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::{Mutex, MutexGuard};
use serde::{Deserialize, Serialize};

use super::metrics;
pub use super::stage::Step;
use super::time::rounded;

/// How often a step ran, and how long it took in total.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct StepCost {
    /// Number of executions.
    pub calls: u64,
    /// Total duration, in seconds. Concurrent executions each count in full.
    pub seconds: f64,
}

/// Accumulates step durations. Clones share the same totals.
#[derive(Debug, Clone, Default)]
pub struct Profile(Arc<Mutex<BTreeMap<Step, StepCost>>>);

impl Profile {
    /// Adds `calls` executions of a step with their total duration.
    pub fn add(&self, step: Step, calls: u64, took: Duration) {
        metrics::step_taken(step, calls, took);
        let mut steps = self.steps();
        let cost = steps.entry(step).or_default();
        cost.calls += calls;
        cost.seconds += took.as_secs_f64();
    }

    /// Runs a step and adds its duration.
    pub async fn measure<T>(&self, step: Step, work: impl Future<Output = T>) -> T {
        let started = Instant::now();
        let output = work.await;
        self.add(step, 1, started.elapsed());
        output
    }

    /// Returns the totals so far, by step name. Durations are rounded to milliseconds.
    pub fn totals(&self) -> BTreeMap<String, StepCost> {
        let rounded = |cost: &StepCost| StepCost { seconds: rounded(cost.seconds), ..*cost };
        self.steps().iter().map(|(step, cost)| (step.name().to_owned(), rounded(cost))).collect()
    }

    fn steps(&self) -> MutexGuard<'_, BTreeMap<Step, StepCost>> {
        self.0.lock()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn clones_share_step_totals() {
        let profile = Profile::default();
        profile.add(Step::FindObjects, 3, Duration::from_millis(1500));
        profile.clone().add(Step::FindObjects, 1, Duration::from_micros(500_400));
        assert_eq!(profile.measure(Step::Embed, async { 7 }).await, 7);
        let totals = profile.totals();
        assert_eq!(totals["find_objects"], StepCost { calls: 4, seconds: 2.0 });
        assert_eq!(totals["embed"].calls, 1);
        assert_eq!(totals.len(), 2);
    }
}
