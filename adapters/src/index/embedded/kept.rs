//! What a search keeps of the points of one segment that it scores: the best ones, the best one of
//! each of the best videos, or the best ones of each video. Memory follows what is kept.

use std::cmp::Ordering;
use std::collections::{BinaryHeap, HashMap};

use tantivy::DocId;

use super::snapshot::Rank;

/// A document of one segment that a search has scored. The better one is the lesser: higher
/// score, then lower id.
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

/// Chooses among the points of one segment.
pub(super) trait Keep: Clone + Send + Sync {
    /// Points with a lower score are not kept, so they need not be offered.
    fn least(&self) -> f32;

    fn offer(&mut self, new: Scored);

    /// Takes over what was kept of other points of the segment.
    fn absorb(&mut self, other: Self);
}

/// The lowest score that counts when nothing has been kept.
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
    /// The worst on top.
    kept: BinaryHeap<Scored>,
}

impl Points {
    pub(super) fn new(limit: usize, threshold: Option<f32>) -> Self {
        Self { limit, least: least(limit, threshold), kept: BinaryHeap::new() }
    }

    /// In no order.
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

/// The best point of each of the videos whose best points are the best.
#[derive(Clone)]
pub(super) struct Videos {
    limit: usize,
    least: f32,
    /// By video; at most twice the limit, since the worst half then goes.
    best: HashMap<u32, Scored>,
}

impl Videos {
    pub(super) fn new(limit: usize, threshold: Option<f32>) -> Self {
        Self { limit, least: least(limit, threshold), best: HashMap::new() }
    }

    /// At least those of the first `limit` videos, in no order.
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
    /// What is kept of a video that none of has been offered yet.
    none: Points,
    videos: HashMap<u32, Points>,
}

impl Groups {
    pub(super) fn new(per_video: usize, threshold: Option<f32>) -> Self {
        Self { none: Points::new(per_video, threshold), videos: HashMap::new() }
    }

    /// In no order.
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
