//! Objects followed from frame to frame, so that one that is seen ten times counts once.
//!
//! Boxes of one label are joined where they overlap or lie close; across a cut or a gap, where they
//! look alike and are never seen together.

use ports::decoder::Image;
use ports::detector::{BoundingBox, Detection};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::domain::kernel::time::rounded;
use crate::domain::media::colour;
use crate::domain::media::geometry::{distance, growth, overlap, size};
use crate::domain::media::movement::Movement;

/// A track that was not seen for longer goes on only by its colours, seconds.
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

/// What a single sight among so many frames is worth of one that is seen again: a thing that is there
/// is there in the next frame, too.
const ALONE: f32 = 0.72;

/// Where something is at one moment, as it is stored.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Location {
    /// When, seconds of the video.
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

    /// Where it is.
    pub(crate) fn bounding_box(&self) -> BoundingBox {
        self.bounds.map(|x| x as f32)
    }
}

/// An object in one frame.
#[derive(Debug, Clone, PartialEq)]
pub struct TrackPoint {
    /// When, seconds of the video.
    pub time: f64,
    /// Where, as fractions of the picture.
    pub bounds: BoundingBox,
    /// 0..1.
    pub confidence: f32,
    /// Colour histogram of the box, 64 bins; empty where the picture is no longer at hand.
    pub colours: Vec<f32>,
    /// Whether the picture was cut since the sight before: another place in it is no movement.
    pub after_cut: bool,
}

impl From<&Location> for TrackPoint {
    fn from(stored: &Location) -> Self {
        Self {
            time: stored.t,
            bounds: stored.bounding_box(),
            confidence: stored.confidence as f32,
            colours: Vec::new(),
            after_cut: false,
        }
    }
}

impl From<&TrackPoint> for Location {
    fn from(point: &TrackPoint) -> Self {
        Self::new(point.time, &point.bounds, point.confidence)
    }
}

#[cfg(test)]
impl TrackPoint {
    /// A sight in no particular place.
    pub(crate) fn at(time: f64, confidence: f32) -> Self {
        let colours = Vec::new();
        Self { time, bounds: [0.0; 4], confidence, colours, after_cut: false }
    }
}

/// One object over time.
#[derive(Debug, Clone, PartialEq)]
pub struct Track {
    /// What it is.
    pub label: String,
    /// At least one, in order of time.
    pub points: Vec<TrackPoint>,
}

impl Track {
    /// The surest sight.
    pub(crate) fn surest(&self) -> Option<&TrackPoint> {
        self.points.iter().max_by(|a, b| a.confidence.total_cmp(&b.confidence))
    }

    /// That of the surest sight.
    pub(crate) fn confidence(&self) -> f32 {
        self.points.iter().map(|point| point.confidence).fold(0.0, f32::max)
    }

    /// How sure it is that the object is what it is taken for, 0..1, where so many frames were looked
    /// at: less so where only one of them shows it.
    pub(crate) fn certainty(&self, frames: usize) -> f32 {
        let alone = self.points.len() == 1 && frames >= FEW_FRAMES;
        self.confidence() * if alone { ALONE } else { 1.0 }
    }

    /// When it was first seen, seconds.
    pub(crate) fn first_seen(&self) -> f64 {
        self.points.first().map_or(0.0, |point| point.time)
    }

    /// When it was last seen, seconds.
    pub(crate) fn last_seen(&self) -> f64 {
        self.points.last().map_or(0.0, |point| point.time)
    }

    /// The sights of it in the shot that has most of them, of equals in the first.
    pub(crate) fn longest_shot(&self) -> &[TrackPoint] {
        let shots = self.points.chunk_by(|_, next| !next.after_cut);
        shots.rev().max_by_key(|shot| shot.len()).unwrap_or_default()
    }

    /// How it moves within that shot.
    pub(crate) fn movement(&self) -> Movement {
        Movement::through(self.longest_shot().iter().map(|point| &point.bounds))
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
        let found: Vec<(String, TrackPoint)> = found
            .iter()
            .map(|d| {
                let colours = colour::histogram(image, d.bounds);
                let (bounds, confidence) = (d.bounds, d.confidence);
                let point = TrackPoint { time, bounds, confidence, colours, after_cut: false };
                (d.label.clone(), point)
            })
            .collect();
        let by_place = |last: &TrackPoint, next: &TrackPoint| {
            if cut || next.time - last.time > MAX_GAP { None } else { continues(last, next) }
        };
        let by_colours = |last: &TrackPoint, next: &TrackPoint| {
            Some(alike(&last.colours, &next.colours)).filter(|alike| *alike >= LOOKS_ALIKE)
        };
        let ends: Vec<(&str, &TrackPoint)> = self
            .tracks
            .iter()
            .filter_map(|track| Some((track.label.as_str(), track.points.last()?)))
            .collect();
        let next: Vec<(&str, &TrackPoint)> =
            found.iter().map(|(label, point)| (label.as_str(), point)).collect();
        let assigned = assign(&ends, &next, &[&by_place, &by_colours]);
        for ((label, mut point), track) in found.into_iter().zip(assigned) {
            match track {
                Some(track) => {
                    let points = &mut self.tracks[track].points;
                    let before = points.last().map_or(time, |last| last.time);
                    point.after_cut = cuts.iter().any(|c| before < *c && *c <= time);
                    points.push(point);
                }
                None => self.tracks.push(Track { label, points: vec![point] }),
            }
        }
        self.frames += 1;
        self.last = Some(time);
    }

    /// The objects, in order of their first sight.
    pub(crate) fn finish(mut self) -> Vec<Track> {
        if self.frames >= FEW_FRAMES {
            self.tracks.retain(|t| t.points.len() > 1 || t.confidence() >= DOUBTFUL);
        }
        self.tracks
    }
}

/// How well a point goes on from a track's last one, if it can.
type Fit<'a> = &'a dyn Fn(&TrackPoint, &TrackPoint) -> Option<f32>;

/// For each new point the track that it goes on, of those given by label and last point: the best
/// fit first, and each track once. What does not fit by the first measure may do so by the next.
fn assign(
    tracks: &[(&str, &TrackPoint)],
    next: &[(&str, &TrackPoint)],
    measures: &[Fit<'_>],
) -> Vec<Option<usize>> {
    let mut assigned: Vec<Option<usize>> = vec![None; next.len()];
    for fit in measures {
        let mut pairs: Vec<(f32, usize, usize)> = Vec::new();
        for (t, (label, last)) in tracks.iter().enumerate() {
            for (n, (_, point)) in next.iter().enumerate().filter(|(_, (l, _))| l == label) {
                pairs.extend(fit(last, point).map(|fit| (fit, t, n)));
            }
        }
        pairs.sort_by(|a, b| b.0.total_cmp(&a.0));
        for (_, t, n) in pairs {
            if assigned[n].is_none() && !assigned.contains(&Some(t)) {
                assigned[n] = Some(t);
            }
        }
    }
    assigned
}

/// The tracks behind stored locations of one label: for each, its positions among them, in order of
/// time. Colours and cuts are no longer known, so what stands still or moves steadily is followed
/// through any gap, and then the nearest stretches are joined until there are no more than `count`
/// objects (0 when that is unknown).
pub(crate) fn tracks_of(locations: &[Location], count: usize) -> Vec<Vec<usize>> {
    let points: Vec<TrackPoint> = locations.iter().map(TrackPoint::from).collect();
    let mut order: Vec<usize> = (0..points.len()).collect();
    order.sort_by(|a, b| points[*a].time.total_cmp(&points[*b].time));
    let end = |track: &[usize]| track.last().map(|last| &points[*last]);
    let mut tracks: Vec<Vec<usize>> = Vec::new();
    for frame in order.chunk_by(|a, b| points[*a].time.total_cmp(&points[*b].time).is_eq()) {
        let ends: Vec<_> = tracks.iter().filter_map(|track| Some(("", end(track)?))).collect();
        let next: Vec<_> = frame.iter().map(|point| ("", &points[*point])).collect();
        let assigned = assign(&ends, &next, &[&continues]);
        for (point, track) in frame.iter().zip(assigned) {
            match track {
                Some(track) => tracks[track].push(*point),
                None => tracks.push(vec![*point]),
            }
        }
    }
    while count > 0 && tracks.len() > count {
        let mut nearest: Option<(f32, usize, usize)> = None;
        // Later tracks begin later, so only those can go on from earlier ones.
        for (a, before) in tracks.iter().enumerate() {
            for (b, after) in tracks.iter().enumerate().skip(a + 1) {
                let (Some(last), first) = (end(before), &points[after[0]]) else { continue };
                let apart = distance(&last.bounds, &first.bounds);
                if last.time < first.time && nearest.is_none_or(|(least, ..)| apart < least) {
                    nearest = Some((apart, a, b));
                }
            }
        }
        let Some((_, a, b)) = nearest else { break };
        let after = tracks.remove(b);
        tracks[a].extend(after);
    }
    tracks
}

/// How well a box goes on from another, if it can.
fn continues(last: &TrackPoint, next: &TrackPoint) -> Option<f32> {
    if growth(&last.bounds, &next.bounds) > MAX_GROWTH {
        return None;
    }
    let overlap = overlap(&last.bounds, &next.bounds);
    let shift = distance(&last.bounds, &next.bounds) / size(&last.bounds).max(size(&next.bounds));
    (overlap >= MIN_OVERLAP || shift <= MAX_SHIFT)
        .then(|| overlap + 0.3 * alike(&last.colours, &next.colours) - 0.1 * shift)
}

/// Share of colours in common, 0..1.
fn alike(a: &[f32], b: &[f32]) -> f32 {
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
        tracker.finish().into_iter().map(|t| (t.label, t.points.len())).collect()
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
    fn another_place_after_a_cut_is_no_movement() {
        let mut tracker = Tracker::default();
        for (i, x) in [0.1, 0.1, 0.35, 0.35, 0.35].into_iter().enumerate() {
            tracker.push(i as f64 * 0.5, &halves(), &[object("person", x, 0.9)], &[0.75]);
        }
        let tracks = tracker.finish();
        assert_eq!((tracks.len(), tracks[0].points.len()), (1, 5));
        assert_eq!(tracks[0].longest_shot().len(), 3);
        assert_eq!(tracks[0].movement(), Movement::Still);
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

    /// Locations by second and left edge.
    fn locations(seen: &[(f64, f64)]) -> Vec<Location> {
        let location =
            |&(t, x): &(f64, f64)| Location { t, bounds: [x, 0.2, 0.1, 0.3], confidence: 0.9 };
        seen.iter().map(location).collect()
    }

    #[test]
    fn tracks_are_found_again_in_stored_locations() {
        for (what, seen, count, expected) in [
            ("none", vec![], 1, vec![]),
            ("one that moves", vec![(1.0, 0.1), (1.5, 0.15), (2.0, 0.2)], 1, vec![vec![0, 1, 2]]),
            (
                "two side by side",
                vec![(1.0, 0.1), (1.0, 0.6), (1.5, 0.6), (1.5, 0.1)],
                2,
                vec![vec![0, 3], vec![1, 2]],
            ),
            ("frames far apart", vec![(1.0, 0.1), (9.0, 0.1)], 1, vec![vec![0, 1]]),
            ("one that jumps", vec![(1.0, 0.1), (2.0, 0.8)], 1, vec![vec![0, 1]]),
            ("one of two jumps", vec![(1.0, 0.1), (2.0, 0.8)], 2, vec![vec![0], vec![1]]),
            ("the count is unknown", vec![(1.0, 0.1), (2.0, 0.8)], 0, vec![vec![0], vec![1]]),
            (
                "two at once are two whatever the count",
                vec![(1.0, 0.1), (1.0, 0.8)],
                1,
                vec![vec![0], vec![1]],
            ),
            (
                "the nearest go on",
                vec![(1.0, 0.0), (1.0, 0.9), (2.0, 0.6), (3.0, 0.25)],
                2,
                vec![vec![0, 3], vec![1, 2]],
            ),
            ("in order of time", vec![(2.0, 0.15), (1.0, 0.1)], 1, vec![vec![1, 0]]),
        ] {
            assert_eq!(tracks_of(&locations(&seen), count), expected, "{what}");
        }
    }
}
