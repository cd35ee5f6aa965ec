//! Collectors for the scored points of one segment: the best points, the best point of each of the
//! best videos, or the best points of each video. Memory is proportional to the number of collected
//! points.

use std::cmp::Ordering;
use std::collections::{BinaryHeap, HashMap};

use tantivy::DocId;

use super::snapshot::Rank;

/// A scored document of one segment. Ordered best first: higher score, then lower id.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Scored {
    pub(super) score: f32,
    pub(super) rank: Rank,
    pub(super) doc: DocId,
}

impl Eq for Scored {}

impl Ord for Scored {
    fn cmp(&self, other: &Self) -> Ordering {
        other.score.total_cmp(&self.score).then(self.rank.cmp(&other.rank))
    }
}

impl PartialOrd for Scored {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Collects points of one segment.
pub(super) trait Keep: Clone + Send + Sync {
    /// The minimum score of a point that can still be collected.
    fn least(&self) -> f32;

    fn offer(&mut self, new: Scored);

    /// Merges the points that another collector found in the same segment.
    fn absorb(&mut self, other: Self);
}

/// The minimum score for an empty collector.
fn least(limit: usize, threshold: Option<f32>) -> f32 {
    match limit {
        0 => f32::INFINITY,
        _ => threshold.unwrap_or(f32::NEG_INFINITY),
    }
}

/// The best points.
#[derive(Clone)]
pub(super) struct Points {
    limit: usize,
    least: f32,
    /// A heap with the worst point on top.
    kept: BinaryHeap<Scored>,
}

impl Points {
    pub(super) fn new(limit: usize, threshold: Option<f32>) -> Self {
        Self { limit, least: least(limit, threshold), kept: BinaryHeap::new() }
    }

    /// The points, unordered.
    pub(super) fn into_kept(self) -> Vec<Scored> {
        self.kept.into_vec()
    }
}

impl Keep for Points {
    fn least(&self) -> f32 {
        self.least
    }

    fn offer(&mut self, new: Scored) {
        if self.kept.len() < self.limit {
            self.kept.push(new);
        } else if let Some(mut worst) = self.kept.peek_mut()
            && new < *worst
        {
            *worst = new;
        }
        if self.kept.len() == self.limit
            && let Some(worst) = self.kept.peek()
        {
            self.least = self.least.max(worst.score);
        }
    }

    fn absorb(&mut self, other: Self) {
        for scored in other.kept {
            self.offer(scored);
        }
    }
}

/// The best point of each of the best videos.
#[derive(Clone)]
pub(super) struct Videos {
    limit: usize,
    least: f32,
    /// By video. Holds at most twice the limit, then drops the worse half.
    best: HashMap<u32, Scored>,
}

impl Videos {
    pub(super) fn new(limit: usize, threshold: Option<f32>) -> Self {
        Self { limit, least: least(limit, threshold), best: HashMap::new() }
    }

    /// At least the points of the best `limit` videos, unordered.
    pub(super) fn into_best(self) -> impl Iterator<Item = Scored> {
        self.best.into_values()
    }

    fn prune(&mut self) {
        let mut all: Vec<Scored> = self.best.values().copied().collect();
        let (_, worst, _) = all.select_nth_unstable(self.limit - 1);
        let worst = *worst;
        self.best.retain(|_, scored| *scored <= worst);
        self.least = self.least.max(worst.score);
    }
}

impl Keep for Videos {
    fn least(&self) -> f32 {
        self.least
    }

    fn offer(&mut self, new: Scored) {
        let best = self.best.entry(new.rank.video()).or_insert(new);
        *best = new.min(*best);
        if self.limit > 0 && self.best.len() >= self.limit.saturating_mul(2) {
            self.prune();
        }
    }

    fn absorb(&mut self, other: Self) {
        for scored in other.best.into_values() {
            self.offer(scored);
        }
    }
}

/// The best points of every video.
#[derive(Clone)]
pub(super) struct Groups {
    /// The empty collector that each new video starts with.
    none: Points,
    videos: HashMap<u32, Points>,
}

impl Groups {
    pub(super) fn new(per_video: usize, threshold: Option<f32>) -> Self {
        Self { none: Points::new(per_video, threshold), videos: HashMap::new() }
    }

    /// The points, unordered.
    pub(super) fn into_kept(self) -> impl Iterator<Item = Scored> {
        self.videos.into_values().flat_map(Points::into_kept)
    }
}

impl Keep for Groups {
    fn least(&self) -> f32 {
        self.none.least()
    }

    fn offer(&mut self, new: Scored) {
        let video = self.videos.entry(new.rank.video()).or_insert_with(|| self.none.clone());
        video.offer(new);
    }

    fn absorb(&mut self, other: Self) {
        for scored in other.into_kept() {
            self.offer(scored);
        }
    }
}
