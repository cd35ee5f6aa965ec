//! Collectors for the scored points of one segment. They keep the points with the highest scores:
//! overall, one per video for the best videos, or several per video. Memory is proportional to the
//! number of collected points.

use std::cmp::Ordering;
use std::collections::{BinaryHeap, HashMap};

use tantivy::DocId;

use super::snapshot::Rank;

/// A scored document in one segment. The order is by descending score, then by ascending id.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ScoredDoc {
    pub(super) score: f32,
    pub(super) rank: Rank,
    pub(super) doc: DocId,
}

impl Eq for ScoredDoc {}

impl Ord for ScoredDoc {
    fn cmp(&self, other: &Self) -> Ordering {
        other.score.total_cmp(&self.score).then(self.rank.cmp(&other.rank))
    }
}

impl PartialOrd for ScoredDoc {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Collects points of one segment.
pub(super) trait Collector: Clone + Send + Sync {
    /// Returns the minimum score of a point that can still be collected.
    fn min_score(&self) -> f32;

    fn offer(&mut self, new: ScoredDoc);

    /// Merges the points that another collector has found in the same segment.
    fn merge(&mut self, other: Self);
}

/// Returns the minimum score of a point that an empty collector can collect.
fn min_score(limit: usize, threshold: Option<f32>) -> f32 {
    match limit {
        0 => f32::INFINITY,
        _ => threshold.unwrap_or(f32::NEG_INFINITY),
    }
}

/// Collects the points with the highest scores.
#[derive(Clone)]
pub(super) struct TopPoints {
    limit: usize,
    min_score: f32,
    /// A heap with the lowest-ranked point on top.
    heap: BinaryHeap<ScoredDoc>,
}

impl TopPoints {
    pub(super) fn new(limit: usize, threshold: Option<f32>) -> Self {
        Self { limit, min_score: min_score(limit, threshold), heap: BinaryHeap::new() }
    }

    /// Returns the points in no particular order.
    pub(super) fn into_points(self) -> Vec<ScoredDoc> {
        self.heap.into_vec()
    }
}

impl Collector for TopPoints {
    fn min_score(&self) -> f32 {
        self.min_score
    }

    fn offer(&mut self, new: ScoredDoc) {
        if self.heap.len() < self.limit {
            self.heap.push(new);
        } else if let Some(mut worst) = self.heap.peek_mut()
            && new < *worst
        {
            *worst = new;
        }
        if self.heap.len() == self.limit
            && let Some(worst) = self.heap.peek()
        {
            self.min_score = self.min_score.max(worst.score);
        }
    }

    fn merge(&mut self, other: Self) {
        for scored in other.heap {
            self.offer(scored);
        }
    }
}

/// Collects the highest-scoring point of each video, for the videos whose points score highest.
#[derive(Clone)]
pub(super) struct TopVideos {
    limit: usize,
    min_score: f32,
    /// The highest-scoring points, keyed by video ordinal. Once there are twice `limit` entries,
    /// the lower-ranked half is dropped.
    best: HashMap<u32, ScoredDoc>,
}

impl TopVideos {
    pub(super) fn new(limit: usize, threshold: Option<f32>) -> Self {
        Self { limit, min_score: min_score(limit, threshold), best: HashMap::new() }
    }

    /// Returns the highest-scoring points of the first `limit` videos and possibly of more videos,
    /// in no particular order.
    pub(super) fn into_best(self) -> impl Iterator<Item = ScoredDoc> {
        self.best.into_values()
    }

    fn prune(&mut self) {
        let mut all: Vec<ScoredDoc> = self.best.values().copied().collect();
        let (_, worst, _) = all.select_nth_unstable(self.limit - 1);
        let worst = *worst;
        self.best.retain(|_, scored| *scored <= worst);
        self.min_score = self.min_score.max(worst.score);
    }
}

impl Collector for TopVideos {
    fn min_score(&self) -> f32 {
        self.min_score
    }

    fn offer(&mut self, new: ScoredDoc) {
        let best = self.best.entry(new.rank.video()).or_insert(new);
        *best = new.min(*best);
        if self.limit > 0 && self.best.len() >= self.limit.saturating_mul(2) {
            self.prune();
        }
    }

    fn merge(&mut self, other: Self) {
        for scored in other.best.into_values() {
            self.offer(scored);
        }
    }
}

/// Collects the highest-scoring points of every video.
#[derive(Clone)]
pub(super) struct TopPerVideo {
    /// An empty collector, which is cloned for each new video.
    none: TopPoints,
    videos: HashMap<u32, TopPoints>,
}

impl TopPerVideo {
    pub(super) fn new(per_video: usize, threshold: Option<f32>) -> Self {
        Self { none: TopPoints::new(per_video, threshold), videos: HashMap::new() }
    }

    /// Returns the points in no particular order.
    pub(super) fn into_points(self) -> impl Iterator<Item = ScoredDoc> {
        self.videos.into_values().flat_map(TopPoints::into_points)
    }
}

impl Collector for TopPerVideo {
    fn min_score(&self) -> f32 {
        self.none.min_score()
    }

    fn offer(&mut self, new: ScoredDoc) {
        let video = self.videos.entry(new.rank.video()).or_insert_with(|| self.none.clone());
        video.offer(new);
    }

    fn merge(&mut self, other: Self) {
        for scored in other.into_points() {
            self.offer(scored);
        }
    }
}
