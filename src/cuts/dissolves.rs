//! Finds dissolves: stretches in which every frame is a mixture of the picture before and the
//! picture after, with a growing share of the picture after. Movement and pans are not mixtures.

use std::collections::VecDeque;

use crate::Candidate;
use crate::signature::Signature;

/// Minimum interval between analyzed frames, in seconds.
const STEP: f64 = 0.065;

/// Candidate lengths of dissolves, in steps: 0.4 to 2.6 seconds.
const LENGTHS: [usize; 6] = [6, 9, 13, 19, 28, 40];

/// The pictures before and after a dissolve must be stable for this share of its length. This is
/// because a dissolve joins two shots, whereas movement continues before and after.
const HOLD_SHARE: f32 = 0.25;
const MIN_HOLD: usize = 3;

/// Maximum deviation of the second picture's share in the mixture, from 0 before a dissolve and
/// from 1 after it.
const HOLD: f32 = 0.15;

/// Minimum difference between the two pictures.
const MIN_DIFFERENCE: f32 = 16.0;

/// Maximum mean share of a frame that the mixture does not explain.
const MAX_REST: f32 = 0.18;

/// Two pictures whose layouts correlate more than this are the same picture in different light.
const SAME_LAYOUT: f32 = 0.8;

/// Maximum jump of the second picture's share between frames. A larger jump is a cut.
const MAX_JUMP: f32 = 0.45;

/// Two dissolves with a blank picture between them are one fade if they are less than this many
/// seconds apart.
const BLANK: f64 = 0.7;

pub(crate) struct Dissolve {
    pub(crate) start: f64,
    pub(crate) end: f64,
    pub(crate) candidate: Candidate,
    /// Difference between the two pictures, used to choose among overlapping stretches.
    difference: f32,
    from_blank: bool,
    to_blank: bool,
}

/// Detects dissolves in a stream of frames.
#[derive(Default)]
pub(crate) struct DissolveDetector {
    recent: VecDeque<(f64, Signature)>,
    dissolves: Vec<Dissolve>,
}

impl DissolveDetector {
    pub(crate) fn push(&mut self, time: f64, signature: &Signature) {
        if self.recent.back().is_some_and(|(last, _)| time - last < STEP * 0.9) {
            return;
        }
        self.recent.push_back((time, signature.clone()));
        if self.recent.len() > LENGTHS[LENGTHS.len() - 1] + 2 * hold(LENGTHS[LENGTHS.len() - 1]) + 1
        {
            self.recent.pop_front();
        }
        for steps in LENGTHS {
            let last = self.recent.len() - 1;
            if let Some(first) = last.checked_sub(steps + hold(steps))
                && let Some(dissolve) = self.dissolve(first, steps)
            {
                self.insert(dissolve);
            }
        }
    }

    /// End of the last dissolve.
    pub(crate) fn last_end(&self) -> f64 {
        self.dissolves.last().map_or(f64::NEG_INFINITY, |d| d.end)
    }

    pub(crate) fn finish(self) -> Vec<Dissolve> {
        self.dissolves
    }

    /// Tests the `steps` frames after `first` for a dissolve.
    fn dissolve(&self, first: usize, steps: usize) -> Option<Dissolve> {
        let (start, from) = self.recent.get(first)?;
        let (end, to) = self.recent.get(first + steps)?;
        // Cheap tests first: most stretches fail here.
        if from.difference(to).overall < 0.6 * MIN_DIFFERENCE {
            return None;
        }
        let difference = from.layout_difference(to);
        if difference < MIN_DIFFERENCE || from.correlation(to) > SAME_LAYOUT {
            return None;
        }
        let (mut last, mut rests, mut inside) = ((*start, 0.0f32), 0.0, 0);
        let mut middle = None;
        for (time, frame) in self.recent.iter().skip(first + 1).take(steps - 1) {
            let (share, rest) = frame.mixture(from, to);
            if rest > 2.5 * MAX_REST || share - last.1 > MAX_JUMP || share < last.1 - 0.08 {
                return None;
            }
            if last.1 < 0.5 && share >= 0.5 {
                let part = f64::from((0.5 - last.1) / (share - last.1).max(1e-3));
                middle = Some(last.0 + part * (time - last.0));
            }
            inside += usize::from((0.1..0.9).contains(&share));
            rests += rest;
            last = (*time, share);
        }
        let rest = rests / (steps - 1) as f32;
        if rest > MAX_REST || 1.0 - last.1 > MAX_JUMP || inside < 3 {
            return None;
        }
        // At the beginning of the video, fewer frames precede a dissolve.
        let before = self.recent.get(first.saturating_sub(hold(steps)))?;
        let after = self.recent.get(first + steps + hold(steps))?;
        let (from_blank, to_blank) = (from.is_blank(), to.is_blank());
        // A blank picture between two halves of a fade may last only one frame.
        let is_stable = (from_blank || before.1.mixture(from, to).0.abs() <= HOLD)
            && (to_blank || (after.1.mixture(from, to).0 - 1.0).abs() <= HOLD);
        if !is_stable {
            return None;
        }
        let strength = 0.55 + 0.35 * (1.0 - rest / MAX_REST);
        let candidate = Candidate { time: middle?, strength };
        Some(Dissolve { start: *start, end: *end, candidate, difference, from_blank, to_blank })
    }

    /// Adds a dissolve. If dissolves overlap, keeps the shortest one that has the full difference.
    /// Merges two dissolves that meet in a blank picture into one fade.
    fn insert(&mut self, dissolve: Dissolve) {
        let Some(last) = self.dissolves.last_mut() else { return self.dissolves.push(dissolve) };
        if last.to_blank
            && dissolve.from_blank
            && dissolve.start - last.end < BLANK
            && dissolve.candidate.time > last.candidate.time + 0.1
        {
            let time = f64::midpoint(last.candidate.time, dissolve.candidate.time);
            last.candidate = Candidate {
                time,
                strength: last.candidate.strength.max(dissolve.candidate.strength),
            };
            last.end = dissolve.end;
            last.to_blank = dissolve.to_blank;
            return;
        }
        if dissolve.start >= last.end {
            return self.dissolves.push(dissolve);
        }
        let shorter = dissolve.end - dissolve.start < last.end - last.start;
        let enough = if shorter { 0.95 } else { 1.05 };
        if dissolve.difference > enough * last.difference {
            *last = dissolve;
        }
    }
}

fn hold(steps: usize) -> usize {
    ((steps as f32 * HOLD_SHARE) as usize).max(MIN_HOLD)
}
