//! Objects followed from frame to frame, so that one that is seen ten times counts once.
//!
//! Boxes of one label are joined where they overlap or lie close; across a cut or a gap, where they
//! look alike and are never seen together.

use ports::decoder::Image;
use ports::detector::{BoundingBox, Detection};
use serde::{Deserialize, Serialize};

use crate::domain::kernel::time::rounded;
use crate::domain::media::colour;

/// A track that was not seen for longer goes on only by looks, seconds.
const MAX_GAP: f64 = 2.0;

/// Least overlap (intersection over union) of the boxes of one object in neighbouring frames …
const MIN_OVERLAP: f32 = 0.15;

/// … or largest distance of their centres, in sizes of the box.
const MAX_SHIFT: f32 = 0.7;

/// One object does not change its size by more than this from frame to frame.
const MAX_GROWTH: f32 = 2.5;

/// Share of colours in common above which two boxes may be of one object that was out of sight.
const LOOKS_ALIKE: f32 = 0.75;

/// An object seen once, less surely than this, among at least [`FEW_FRAMES`] frames is a mistake.
const DOUBTFUL: f32 = 0.5;

/// See [`DOUBTFUL`].
const FEW_FRAMES: usize = 4;

/// Where something is at one moment, as it is stored.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Location {
    /// Seconds.
    pub t: f64,
    /// Left, top, width and height as fractions of the picture.
    #[serde(rename = "box")]
    pub bounds: [f64; 4],
    /// 0..1.
    pub confidence: f64,
}

impl Location {
    /// Rounded to what a picture can tell.
    pub(crate) fn new(time: f64, bounds: &BoundingBox, confidence: f32) -> Self {
        Self {
            t: rounded(time),
            bounds: bounds.map(|x| (f64::from(x) * 1e4).round() / 1e4),
            confidence: rounded(confidence.into()),
        }
    }
}

/// An object in one frame.
#[derive(Debug, Clone, PartialEq)]
pub struct Seen {
    /// Seconds.
    pub time: f64,
    /// Where, as fractions of the picture.
    pub bounds: BoundingBox,
    /// 0..1.
    pub confidence: f32,
    /// Colour histogram of the box, 64 bins.
    pub look: Vec<f32>,
}

/// One object over time.
#[derive(Debug, Clone, PartialEq)]
pub struct Track {
    /// What it is.
    pub label: String,
    /// At least one, in order of time.
    pub seen: Vec<Seen>,
}

impl Track {
    /// The surest sight.
    pub(crate) fn confidence(&self) -> f32 {
        self.seen.iter().map(|s| s.confidence).fold(0.0, f32::max)
    }

    /// When it was first seen, seconds.
    pub(crate) fn first_seen(&self) -> f64 {
        self.seen.first().map_or(0.0, |s| s.time)
    }

    /// When it was last seen, seconds.
    pub(crate) fn last_seen(&self) -> f64 {
        self.seen.last().map_or(0.0, |s| s.time)
    }
}

/// Follows objects; frames are pushed in order of time.
#[derive(Debug, Default)]
pub(crate) struct Tracker {
    tracks: Vec<Track>,
    frames: usize,
    last: Option<f64>,
}

impl Tracker {
    /// Adds the objects of a frame. `cuts` are the times of shot boundaries, in order.
    pub(crate) fn push(&mut self, time: f64, image: &Image, found: &[Detection], cuts: &[f64]) {
        let cut = self.last.is_some_and(|last| cuts.iter().any(|c| last < *c && *c <= time));
        let mut open: Vec<(String, Seen)> = found
            .iter()
            .map(|d| {
                let look = colour::histogram(image, d.bounds);
                let seen = Seen { time, bounds: d.bounds, confidence: d.confidence, look };
                (d.label.clone(), seen)
            })
            .collect();
        let mut taken = vec![false; self.tracks.len()];
        for by_looks in [false, true] {
            if cut && !by_looks {
                continue;
            }
            let mut pairs: Vec<(f32, usize, usize)> = Vec::new();
            for (t, track) in self.tracks.iter().enumerate() {
                for (o, (label, seen)) in open.iter().enumerate() {
                    let Some(last) = track.seen.last().filter(|_| track.label == *label) else {
                        continue;
                    };
                    let fit = if by_looks {
                        Some(alike(&last.look, &seen.look)).filter(|a| *a >= LOOKS_ALIKE)
                    } else if time - last.time <= MAX_GAP {
                        continues(last, seen)
                    } else {
                        None
                    };
                    pairs.extend(fit.map(|fit| (fit, t, o)));
                }
            }
            pairs.sort_by(|a, b| b.0.total_cmp(&a.0));
            let mut joined = vec![false; open.len()];
            for (_, t, o) in pairs {
                if !taken[t] && !joined[o] {
                    (taken[t], joined[o]) = (true, true);
                    self.tracks[t].seen.push(open[o].1.clone());
                }
            }
            let mut keep = joined.iter().map(|joined| !joined);
            open.retain(|_| keep.next().unwrap_or(true));
        }
        self.tracks.extend(open.into_iter().map(|(label, seen)| Track { label, seen: vec![seen] }));
        self.frames += 1;
        self.last = Some(time);
    }

    /// The objects, in order of their first sight.
    pub(crate) fn finish(mut self) -> Vec<Track> {
        if self.frames >= FEW_FRAMES {
            self.tracks.retain(|t| t.seen.len() > 1 || t.confidence() >= DOUBTFUL);
        }
        self.tracks
    }
}

/// How well a box goes on from another, if it can.
fn continues(last: &Seen, next: &Seen) -> Option<f32> {
    let size = |b: &BoundingBox| (b[2] * b[3]).max(f32::MIN_POSITIVE).sqrt();
    let (a, b) = (size(&last.bounds), size(&next.bounds));
    if a.max(b) / a.min(b) > MAX_GROWTH {
        return None;
    }
    let overlap = overlap(&last.bounds, &next.bounds);
    let centre = |b: &BoundingBox| (b[0] + b[2] / 2.0, b[1] + b[3] / 2.0);
    let ((x, y), (u, v)) = (centre(&last.bounds), centre(&next.bounds));
    let shift = ((x - u).hypot(y - v)) / a.max(b);
    (overlap >= MIN_OVERLAP || shift <= MAX_SHIFT)
        .then(|| overlap + 0.3 * alike(&last.look, &next.look) - 0.1 * shift)
}

/// Intersection over union.
pub(crate) fn overlap(a: &BoundingBox, b: &BoundingBox) -> f32 {
    let along = |i: usize| (a[i] + a[i + 2]).min(b[i] + b[i + 2]) - a[i].max(b[i]);
    let common = along(0).max(0.0) * along(1).max(0.0);
    let both = a[2] * a[3] + b[2] * b[3] - common;
    if both > 0.0 { common / both } else { 0.0 }
}

/// Share of colours in common, 0..1.
pub(crate) fn alike(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(x, y)| x.min(*y)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A picture whose left half is red and right half is blue.
    fn halves() -> Image {
        let rgb = (0..64 * 36).flat_map(|i| if i % 64 < 32 { [255, 0, 0] } else { [0, 0, 255] });
        Image { width: 64, height: 36, rgb: rgb.collect() }
    }

    fn object(label: &str, x: f32, confidence: f32) -> Detection {
        Detection { label: label.into(), confidence, bounds: [x, 0.2, 0.1, 0.3] }
    }

    /// Objects by frame, one frame per half second.
    fn tracks(frames: &[Vec<Detection>], cuts: &[f64]) -> Vec<(String, usize)> {
        let mut tracker = Tracker::default();
        for (i, found) in frames.iter().enumerate() {
            tracker.push(i as f64 * 0.5, &halves(), found, cuts);
        }
        tracker.finish().into_iter().map(|t| (t.label, t.seen.len())).collect()
    }

    #[test]
    fn an_object_that_moves_counts_once() {
        let frames: Vec<_> = (0..6).map(|i| vec![object("car", 0.05 * i as f32, 0.6)]).collect();
        assert_eq!(tracks(&frames, &[]), [("car".to_owned(), 6)]);
    }

    #[test]
    fn two_at_once_are_two_and_labels_do_not_mix() {
        let frames = vec![
            vec![object("car", 0.1, 0.9), object("car", 0.3, 0.8), object("dog", 0.3, 0.9)],
            vec![object("car", 0.3, 0.8), object("car", 0.1, 0.9), object("dog", 0.3, 0.9)],
        ];
        let counted = tracks(&frames, &[]);
        assert_eq!(counted, [("car".to_owned(), 2), ("car".to_owned(), 2), ("dog".to_owned(), 2)]);
    }

    #[test]
    fn after_a_cut_looks_decide() {
        let same = vec![vec![object("person", 0.1, 0.9)], vec![object("person", 0.3, 0.9)]];
        assert_eq!(tracks(&same, &[0.4]).len(), 1, "both in red");
        let other = vec![vec![object("person", 0.1, 0.9)], vec![object("person", 0.8, 0.9)]];
        assert_eq!(tracks(&other, &[0.4]).len(), 2, "red, then blue");
        let near = vec![vec![object("person", 0.38, 0.9)], vec![object("person", 0.52, 0.9)]];
        assert_eq!(tracks(&near, &[0.4]).len(), 2, "close, but in another shot and colour");
    }

    #[test]
    fn a_doubtful_glimpse_is_no_object() {
        let mut frames = vec![vec![object("dog", 0.1, 0.9)]; 5];
        frames[2].push(object("cow", 0.7, 0.4));
        frames[3].push(object("cat", 0.7, 0.8));
        assert_eq!(tracks(&frames, &[]), [("dog".to_owned(), 5), ("cat".to_owned(), 1)]);
        let short = vec![vec![object("cow", 0.7, 0.4)]];
        assert_eq!(tracks(&short, &[]).len(), 1, "one frame is all there is");
    }

    #[test]
    fn overlap_is_intersection_over_union() {
        assert_eq!(overlap(&[0.0, 0.0, 0.5, 0.5], &[0.0, 0.0, 0.5, 0.5]), 1.0);
        assert_eq!(overlap(&[0.0, 0.0, 0.4, 0.4], &[0.5, 0.5, 0.4, 0.4]), 0.0);
        let half = overlap(&[0.0, 0.0, 0.2, 0.1], &[0.1, 0.0, 0.2, 0.1]);
        assert!((half - 1.0 / 3.0).abs() < 1e-6);
    }
}
