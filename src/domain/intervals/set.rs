//! Sets of times of a video, as sorted intervals of whole milliseconds, and their algebra.

use serde::{Deserialize, Serialize};

use crate::kernel::time::Span;

/// A time in milliseconds from the start of a video.
pub(crate) type Milliseconds = u32;

/// The times from `start` up to, but not including, `end`; never empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Interval {
    /// First millisecond.
    pub(crate) start: Milliseconds,
    /// The millisecond after the last one.
    pub(crate) end: Milliseconds,
}

/// A set of times: intervals in order, with a gap between any two.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct IntervalSet(Vec<Interval>);

/// Converts seconds to whole milliseconds. Times before the start count as 0.
pub(crate) fn milliseconds(seconds: f64) -> Milliseconds {
    // The cast saturates, and turns what is no number into 0.
    (seconds * 1000.0).round() as Milliseconds
}

impl Interval {
    /// Creates an interval; one without a length lasts one millisecond.
    pub(crate) fn new(start: Milliseconds, end: Milliseconds) -> Self {
        let start = start.min(Milliseconds::MAX - 1);
        Self { start, end: end.max(start + 1) }
    }

    /// Returns the span, with times in seconds from the start of the video.
    pub(crate) fn span(self) -> Span {
        Span { start: f64::from(self.start) / 1000.0, end: f64::from(self.end) / 1000.0 }
    }

    /// Returns the length.
    pub(crate) fn length(self) -> Milliseconds {
        self.end - self.start
    }

    /// Whether both have a time in common.
    pub(crate) fn overlaps(self, other: Self) -> bool {
        self.start < other.end && other.start < self.end
    }

    /// Returns the times that both have in common.
    pub(crate) fn intersection(self, other: Self) -> Option<Self> {
        let (start, end) = (self.start.max(other.start), self.end.min(other.end));
        (start < end).then_some(Self { start, end })
    }

    /// Returns the part before `end`, the end of a video.
    pub(crate) fn clipped(self, end: Milliseconds) -> Option<Self> {
        (self.start < end).then(|| Self { start: self.start, end: self.end.min(end) })
    }
}

impl From<Span> for Interval {
    fn from(span: Span) -> Self {
        Self::new(milliseconds(span.start), milliseconds(span.end))
    }
}

impl FromIterator<Interval> for IntervalSet {
    fn from_iter<I: IntoIterator<Item = Interval>>(intervals: I) -> Self {
        let mut all: Vec<Interval> = intervals.into_iter().collect();
        all.sort_unstable();
        let mut merged: Vec<Interval> = Vec::with_capacity(all.len());
        for next in all {
            match merged.last_mut().filter(|last| next.start <= last.end) {
                Some(last) => last.end = last.end.max(next.end),
                None => merged.push(next),
            }
        }
        Self(merged)
    }
}

impl IntervalSet {
    /// Creates the set of the times from `start` to `end`; empty if there are none.
    pub(crate) fn range(start: Milliseconds, end: Milliseconds) -> Self {
        Self(if start < end { vec![Interval { start, end }] } else { Vec::new() })
    }

    /// Returns the intervals, in order.
    pub(crate) fn intervals(&self) -> &[Interval] {
        &self.0
    }

    /// Whether the set has no time.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the times that are in either set.
    pub(crate) fn union(&self, other: &Self) -> Self {
        self.0.iter().chain(&other.0).copied().collect()
    }

    /// Returns the times that are in both sets.
    pub(crate) fn intersection(&self, other: &Self) -> Self {
        let (mut ours, mut theirs) = (self.0.as_slice(), other.0.as_slice());
        let mut common = Vec::new();
        while let (Some(a), Some(b)) = (ours.first(), theirs.first()) {
            common.extend(a.intersection(*b));
            if a.end <= b.end {
                ours = &ours[1..];
            } else {
                theirs = &theirs[1..];
            }
        }
        Self(common)
    }

    /// Returns the times of this set that are not in the other one.
    pub(crate) fn difference(&self, other: &Self) -> Self {
        let mut left = Vec::new();
        let mut others = other.0.as_slice();
        for interval in &self.0 {
            let mut start = interval.start;
            while let Some(next) = others.first().filter(|next| next.start < interval.end) {
                if start < next.start {
                    left.push(Interval { start, end: next.start });
                }
                start = start.max(next.end);
                if next.end > interval.end {
                    break;
                }
                others = &others[1..];
            }
            if start < interval.end {
                left.push(Interval { start, end: interval.end });
            }
        }
        Self(left)
    }

    /// Returns the intervals that last at least this long.
    pub(crate) fn lasting(&self, minimum: Milliseconds) -> Self {
        Self(self.0.iter().copied().filter(|interval| interval.length() >= minimum).collect())
    }

    /// Returns the intervals that lie within an interval of the other set.
    pub(crate) fn during(&self, other: &Self) -> Self {
        self.filtered(|interval| other.covers(interval))
    }

    /// Returns the intervals that have a time in common with the other set.
    pub(crate) fn overlapping(&self, other: &Self) -> Self {
        self.filtered(|interval| other.overlaps(interval))
    }

    /// Whether an interval has a time in common with the set.
    pub(crate) fn overlaps(&self, interval: Interval) -> bool {
        let at = self.0.partition_point(|own| own.end <= interval.start);
        self.0.get(at).is_some_and(|own| own.start < interval.end)
    }

    /// Whether the set has every time of an interval.
    pub(crate) fn covers(&self, interval: Interval) -> bool {
        let at = self.0.partition_point(|own| own.end < interval.end);
        self.0.get(at).is_some_and(|own| own.start <= interval.start)
    }

    fn filtered(&self, matches: impl Fn(Interval) -> bool) -> Self {
        Self(self.0.iter().copied().filter(|interval| matches(*interval)).collect())
    }

    /// Returns the sequences of one interval from each step, in which each begins at the end of the
    /// previous one or at most `gap` later. Of several that follow, the next one counts. A sequence
    /// lasts from the beginning of its first interval to the end of its last one.
    pub(crate) fn sequences(steps: &[Self], gap: Milliseconds) -> Self {
        let Some((first, rest)) = steps.split_first() else { return Self::default() };
        let mut sequences = first.0.clone();
        for step in rest {
            let extended = |sequence: &Interval| {
                let at = step.0.partition_point(|next| next.start < sequence.end);
                let next = step.0.get(at)?;
                let is_near = next.start - sequence.end <= gap;
                is_near.then_some(Interval { start: sequence.start, end: next.end })
            };
            sequences = sequences.iter().filter_map(extended).collect();
        }
        sequences.into_iter().collect()
    }

    /// Joins intervals with a gap of at most `gap` in which none of `times` lies, given in order.
    pub(crate) fn bridged(&self, gap: Milliseconds, times: &[Milliseconds]) -> Self {
        let mut joined: Vec<Interval> = Vec::with_capacity(self.0.len());
        for next in &self.0 {
            let joins = |last: &Interval| {
                // The interval ends with the last time at which something was seen.
                let at = times.partition_point(|time| *time <= last.end);
                let is_checked = times.get(at).is_some_and(|time| *time < next.start);
                next.start - last.end <= gap && !is_checked
            };
            match joined.last_mut().filter(|last| joins(last)) {
                Some(last) => last.end = next.end,
                None => joined.push(*next),
            }
        }
        Self(joined)
    }
}

#[cfg(test)]
mod tests {
    use fastrand::Rng;

    use super::*;

    /// Length of the made-up videos, in milliseconds.
    const END: usize = 64;

    /// A set as one flag per millisecond.
    type Bitmap = [bool; END];

    fn random_set(rng: &mut Rng) -> IntervalSet {
        let interval = |rng: &mut Rng| {
            let start = rng.u32(0..END as u32 - 1);
            Interval::new(start, (start + rng.u32(0..12)).min(END as u32))
        };
        (0..rng.usize(0..7)).map(|_| interval(rng)).collect()
    }

    fn bitmap(set: &IntervalSet) -> Bitmap {
        let has = |at: usize| set.0.iter().any(|i| (i.start..i.end).contains(&(at as u32)));
        std::array::from_fn(has)
    }

    /// The longest intervals without a gap, found millisecond by millisecond.
    fn runs(bitmap: &Bitmap) -> Vec<(usize, usize)> {
        let mut runs = Vec::new();
        let mut start = None;
        for at in 0..=END {
            match (bitmap.get(at).copied().unwrap_or(false), start) {
                (true, None) => start = Some(at),
                (false, Some(first)) => {
                    runs.push((first, at));
                    start = None;
                }
                _ => {}
            }
        }
        runs
    }

    fn filled(runs: impl IntoIterator<Item = (usize, usize)>) -> Bitmap {
        let mut bitmap = [false; END];
        for (start, end) in runs {
            bitmap[start..end].fill(true);
        }
        bitmap
    }

    fn combined(a: &Bitmap, b: &Bitmap, is_in: impl Fn(bool, bool) -> bool) -> Bitmap {
        std::array::from_fn(|at| is_in(a[at], b[at]))
    }

    fn assert_normal(set: &IntervalSet) {
        assert!(set.0.iter().all(|interval| interval.start < interval.end), "{set:?}");
        assert!(set.0.windows(2).all(|pair| pair[0].end < pair[1].start), "{set:?}");
    }

    #[test]
    fn operations_agree_with_bitmaps() {
        let mut rng = Rng::with_seed(7);
        for _ in 0..4000 {
            let (a, b) = (random_set(&mut rng), random_set(&mut rng));
            let (bits_a, bits_b) = (bitmap(&a), bitmap(&b));
            let minimum = rng.usize(0..9);
            let lasting = runs(&bits_a).into_iter().filter(|run| run.1 - run.0 >= minimum);
            let during =
                runs(&bits_a).into_iter().filter(|run| bits_b[run.0..run.1].iter().all(|b| *b));
            let overlapping =
                runs(&bits_a).into_iter().filter(|run| bits_b[run.0..run.1].iter().any(|b| *b));
            for (name, found, expected) in [
                ("union", a.union(&b), combined(&bits_a, &bits_b, |a, b| a || b)),
                ("intersection", a.intersection(&b), combined(&bits_a, &bits_b, |a, b| a && b)),
                ("difference", a.difference(&b), combined(&bits_a, &bits_b, |a, b| a && !b)),
                ("lasting", a.lasting(minimum as u32), filled(lasting)),
                ("during", a.during(&b), filled(during)),
                ("overlapping", a.overlapping(&b), filled(overlapping)),
            ] {
                assert_eq!(bitmap(&found), expected, "{name} of {a:?} and {b:?}");
                assert_normal(&found);
            }
            let range = IntervalSet::range(0, END as u32);
            let complement = range.difference(&a);
            assert_eq!(range.difference(&complement), a, "twice");
            assert!(a.0.iter().all(|interval| a.overlaps(*interval)));
            assert!(a.0.iter().all(|interval| !complement.overlaps(*interval)));
        }
    }

    #[test]
    fn sequences_agree_with_bitmaps() {
        let mut rng = Rng::with_seed(8);
        for _ in 0..4000 {
            let steps: Vec<IntervalSet> =
                (0..rng.usize(1..4)).map(|_| random_set(&mut rng)).collect();
            let gap = rng.usize(0..9);
            let mut sequences = runs(&bitmap(&steps[0]));
            for step in &steps[1..] {
                let all = runs(&bitmap(step));
                let next = |end: usize| all.iter().find(|run| run.0 >= end).copied();
                let extended = sequences.iter().filter_map(|(start, end)| {
                    let next = next(*end).filter(|next| next.0 <= end + gap)?;
                    Some((*start, next.1))
                });
                sequences = extended.collect();
            }
            let found = IntervalSet::sequences(&steps, gap as u32);
            assert_eq!(bitmap(&found), filled(sequences), "{steps:?} within {gap}");
            assert_normal(&found);
        }
        assert!(IntervalSet::sequences(&[], 5).is_empty());
    }

    #[test]
    fn gaps_without_a_time_are_bridged() {
        let set: IntervalSet = [(0, 10), (14, 20), (30, 31)]
            .map(|(start, end)| Interval::new(start, end))
            .into_iter()
            .collect();
        let bridged = |gap, times: &[u32]| -> Vec<(u32, u32)> {
            set.bridged(gap, times).0.iter().map(|i| (i.start, i.end)).collect()
        };
        assert_eq!(bridged(3, &[]), [(0, 10), (14, 20), (30, 31)]);
        assert_eq!(bridged(4, &[]), [(0, 20), (30, 31)]);
        assert_eq!(bridged(4, &[12]), [(0, 10), (14, 20), (30, 31)]);
        assert_eq!(bridged(4, &[10, 14]), [(0, 20), (30, 31)], "times at the edges");
        assert_eq!(bridged(10, &[9]), [(0, 31)]);
    }

    #[test]
    fn instants_last_a_millisecond() {
        let instant = Interval::from(Span { start: 1.25, end: 1.25 });
        assert_eq!((instant.start, instant.end), (1250, 1251));
        let odd = [f64::NAN, f64::INFINITY, -5.0].map(milliseconds);
        assert_eq!(odd, [0, u32::MAX, 0]);
        let last = Interval::new(u32::MAX, u32::MAX);
        assert!(last.start < last.end);
    }
}
