//! Tracks objects from frame to frame, so that an object detected in ten frames counts once.
//!
//! Boxes with the same label are joined if they overlap or are close to each other. Across a cut or
//! a gap, they are joined if their colours are similar and they never appear together.

use ports::decoder::Image;
use ports::detector::{BoundingBox, Detection, overlap};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::kernel::time::rounded;
use crate::media::colour;
use crate::media::geometry::{distance, growth, size};
use crate::media::movement::Movement;

/// Maximum gap in a track over which boxes are joined by position, in seconds. After a longer gap,
/// only colours count.
const MAX_GAP: f64 = 2.0;

/// Boxes in adjacent frames may show the same object if their intersection over union is at least
/// this value. They may also do so if their centres are within [`MAX_SHIFT`].
const MIN_OVERLAP: f32 = 0.15;

/// Boxes in adjacent frames may show the same object if the distance between their centres is at
/// most this multiple of the box size. They may also do so if they overlap by [`MIN_OVERLAP`].
const MAX_SHIFT: f32 = 0.7;

/// Maximum factor by which an object's size may change between frames.
const MAX_GROWTH: f32 = 2.5;

/// If an object was out of sight, its boxes are joined if their colour histograms are at least this
/// similar.
const MIN_COLOUR_SIMILARITY: f32 = 0.75;

/// Minimum confidence of an object that is seen in only one of at least [`FEW_FRAMES`] frames.
/// Objects below this value are dropped.
const MIN_SINGLE_CONFIDENCE: f32 = 0.5;

/// Minimum number of frames for [`MIN_SINGLE_CONFIDENCE`] and [`SINGLE_FACTOR`] to apply.
const FEW_FRAMES: usize = 4;

/// Factor by which confidence is reduced if only one of several frames shows the object, since a
/// real object would also appear in the next frame.
const SINGLE_FACTOR: f32 = 0.72;

/// Minimum certainty of an object that is mentioned.
const MIN_CERTAINTY: f32 = 0.5;

/// The position of an object at one time, as stored.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Location {
    /// Time, in seconds from the start of the video.
    pub t: f64,
    /// Bounding box (left, top, width and height), as fractions of the picture.
    #[serde(rename = "box")]
    pub bounds: [f64; 4],
    /// Confidence, 0..1.
    pub confidence: f64,
}

impl Location {
    /// Creates a location, rounded to the precision that is stored.
    pub(crate) fn new(time: f64, bounds: &BoundingBox, confidence: f32) -> Self {
        Self {
            t: rounded(time),
            bounds: bounds.map(|x| (f64::from(x) * 1e4).round() / 1e4),
            confidence: rounded(confidence.into()),
        }
    }

    /// Returns the bounding box.
    pub(crate) fn bounding_box(&self) -> BoundingBox {
        self.bounds.map(|x| x as f32)
    }
}

/// A detection of an object in one frame.
#[derive(Debug, Clone, PartialEq)]
pub struct TrackPoint {
    /// Time, in seconds from the start of the video.
    pub time: f64,
    /// Bounding box, as fractions of the picture.
    pub bounds: BoundingBox,
    /// Confidence, 0..1.
    pub confidence: f32,
    /// Colour histogram of the box, with 64 bins; empty if the picture is no longer available.
    pub colours: Vec<f32>,
    /// Whether there was a cut since the previous point, so that a different position does not mean
    /// movement.
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
    /// Creates a point without a specific position.
    pub(crate) fn at(time: f64, confidence: f32) -> Self {
        let colours = Vec::new();
        Self { time, bounds: [0.0; 4], confidence, colours, after_cut: false }
    }
}

/// An object over time.
#[derive(Debug, Clone, PartialEq)]
pub struct Track {
    /// The detector's label for the object.
    pub label: String,
    /// The points in chronological order; there is at least one.
    pub points: Vec<TrackPoint>,
}

impl Track {
    /// Returns the point with the highest confidence.
    pub(crate) fn best_point(&self) -> Option<&TrackPoint> {
        self.points.iter().max_by(|a, b| a.confidence.total_cmp(&b.confidence))
    }

    /// Returns the highest confidence of any point.
    pub(crate) fn confidence(&self) -> f32 {
        self.points.iter().map(|point| point.confidence).fold(0.0, f32::max)
    }

    /// Returns how certain the track's label is, 0..1. The certainty is lower if only one of the
    /// `frames` analyzed frames shows the object.
    pub(crate) fn certainty(&self, frames: usize) -> f32 {
        let alone = self.points.len() == 1 && frames >= FEW_FRAMES;
        self.confidence() * if alone { SINGLE_FACTOR } else { 1.0 }
    }

    /// Whether the object is certain enough to be mentioned, given the number of analyzed frames.
    pub(crate) fn is_certain(&self, frames: usize) -> bool {
        self.certainty(frames) >= MIN_CERTAINTY
    }

    /// Returns the points in the shot that has the most points, or in the first such shot.
    pub(crate) fn longest_shot(&self) -> &[TrackPoint] {
        let shots = self.points.chunk_by(|_, next| !next.after_cut);
        shots.rev().max_by_key(|shot| shot.len()).unwrap_or_default()
    }

    /// Returns the movement within [`Self::longest_shot`].
    pub(crate) fn movement(&self) -> Movement {
        Movement::from_boxes(self.longest_shot().iter().map(|point| &point.bounds))
    }
}

/// Returns the largest number of these tracks in any one frame.
pub(crate) fn max_at_once<'a>(tracks: impl IntoIterator<Item = &'a Track>) -> usize {
    let mut times: Vec<f64> =
        tracks.into_iter().flat_map(|track| &track.points).map(|point| point.time).collect();
    times.sort_by(f64::total_cmp);
    times.chunk_by(|a, b| a == b).map(<[f64]>::len).max().unwrap_or(0)
}

/// Returns the largest number of these tracks that at least two frames show at once. If fewer than
/// three frames show any, a single frame counts. A moving object that is detected twice in one frame
/// is therefore not counted twice.
pub(crate) fn repeatedly_at_once<'a>(tracks: impl IntoIterator<Item = &'a Track>) -> usize {
    let mut times: Vec<f64> =
        tracks.into_iter().flat_map(|track| &track.points).map(|point| point.time).collect();
    times.sort_by(f64::total_cmp);
    let mut counts: Vec<usize> = times.chunk_by(|a, b| a == b).map(<[f64]>::len).collect();
    counts.sort_unstable_by_key(|count| std::cmp::Reverse(*count));
    match counts.as_slice() {
        [_, second, _, ..] => *second,
        _ => counts.first().copied().unwrap_or(0),
    }
}

/// Tracks objects across frames, which are pushed in chronological order.
#[derive(Debug, Default)]
pub(crate) struct Tracker {
    tracks: Vec<Track>,
    frames: usize,
    last: Option<f64>,
}

impl Tracker {
    /// Adds the detections in a frame. `cuts` are the times of shot boundaries, in order.
    pub(crate) fn push(
        &mut self,
        time: f64,
        image: &Image,
        detections: &[Detection],
        cuts: &[f64],
    ) {
        let cut = self.last.is_some_and(|last| cuts.iter().any(|c| last < *c && *c <= time));
        let points: Vec<(String, TrackPoint)> = detections
            .iter()
            .map(|d| {
                let colours = colour::histogram(image, d.bounds);
                let (bounds, confidence) = (d.bounds, d.confidence);
                let point = TrackPoint { time, bounds, confidence, colours, after_cut: false };
                (d.label.clone(), point)
            })
            .collect();
        let by_position = |last: &TrackPoint, next: &TrackPoint| {
            if cut || next.time - last.time > MAX_GAP { None } else { position_score(last, next) }
        };
        let by_colours = |last: &TrackPoint, next: &TrackPoint| {
            Some(colour_similarity(&last.colours, &next.colours))
                .filter(|colour_similarity| *colour_similarity >= MIN_COLOUR_SIMILARITY)
        };
        let ends: Vec<(&str, &TrackPoint)> = self
            .tracks
            .iter()
            .filter_map(|track| Some((track.label.as_str(), track.points.last()?)))
            .collect();
        let next: Vec<(&str, &TrackPoint)> =
            points.iter().map(|(label, point)| (label.as_str(), point)).collect();
        let assigned = assign(&ends, &next, &[&by_position, &by_colours]);
        for ((label, mut point), track) in points.into_iter().zip(assigned) {
            match track {
                Some(track) => {
                    let track_points = &mut self.tracks[track].points;
                    let before = track_points.last().map_or(time, |last| last.time);
                    point.after_cut = cuts.iter().any(|c| before < *c && *c <= time);
                    track_points.push(point);
                }
                None => self.tracks.push(Track { label, points: vec![point] }),
            }
        }
        self.frames += 1;
        self.last = Some(time);
    }

    /// Returns the tracks in order of their first points.
    pub(crate) fn finish(mut self) -> Vec<Track> {
        if self.frames >= FEW_FRAMES {
            self.tracks.retain(|t| t.points.len() > 1 || t.confidence() >= MIN_SINGLE_CONFIDENCE);
        }
        self.tracks
    }
}

/// Scores how well a point continues a track's last point; returns `None` if it cannot.
type MatchScore<'a> = &'a dyn Fn(&TrackPoint, &TrackPoint) -> Option<f32>;

/// Assigns each new point to at most one track, which is given by its label and last point. The
/// best matches are assigned first, and each track is used at most once. Points that do not match
/// by the first measure are tried with the next measure.
fn assign(
    tracks: &[(&str, &TrackPoint)],
    next: &[(&str, &TrackPoint)],
    measures: &[MatchScore<'_>],
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

/// Reconstructs tracks from stored locations with the same label. Returns the indices of each
/// track's locations in chronological order. Colours and cuts are not stored, so boxes are first
/// joined by position over gaps of any length. Then the nearest tracks are joined until there are
/// at most `count` objects (0 if unknown).
pub(crate) fn tracks_from_locations(locations: &[Location], count: usize) -> Vec<Vec<usize>> {
    let points: Vec<TrackPoint> = locations.iter().map(TrackPoint::from).collect();
    let mut order: Vec<usize> = (0..points.len()).collect();
    order.sort_by(|a, b| points[*a].time.total_cmp(&points[*b].time));
    let end = |track: &[usize]| track.last().map(|last| &points[*last]);
    let mut tracks: Vec<Vec<usize>> = Vec::new();
    for frame in order.chunk_by(|a, b| points[*a].time.total_cmp(&points[*b].time).is_eq()) {
        let ends: Vec<_> = tracks.iter().filter_map(|track| Some(("", end(track)?))).collect();
        let next: Vec<_> = frame.iter().map(|point| ("", &points[*point])).collect();
        let assigned = assign(&ends, &next, &[&position_score]);
        for (point, track) in frame.iter().zip(assigned) {
            match track {
                Some(track) => tracks[track].push(*point),
                None => tracks.push(vec![*point]),
            }
        }
    }
    while count > 0 && tracks.len() > count {
        let mut nearest: Option<(f32, usize, usize)> = None;
        // Tracks are in order of their start, so only later tracks can continue earlier ones.
        for (a, before) in tracks.iter().enumerate() {
            for (b, after) in tracks.iter().enumerate().skip(a + 1) {
                let (Some(last), first) = (end(before), &points[after[0]]) else { continue };
                let separation = distance(&last.bounds, &first.bounds);
                if last.time < first.time && nearest.is_none_or(|(best, ..)| separation < best) {
                    nearest = Some((separation, a, b));
                }
            }
        }
        let Some((_, a, b)) = nearest else { break };
        let after = tracks.remove(b);
        tracks[a].extend(after);
    }
    tracks
}

/// Scores by position how well `next` continues `last`; returns `None` if it cannot.
fn position_score(last: &TrackPoint, next: &TrackPoint) -> Option<f32> {
    if growth(&last.bounds, &next.bounds) > MAX_GROWTH {
        return None;
    }
    let overlap = overlap(&last.bounds, &next.bounds);
    let shift = distance(&last.bounds, &next.bounds) / size(&last.bounds).max(size(&next.bounds));
    (overlap >= MIN_OVERLAP || shift <= MAX_SHIFT)
        .then(|| overlap + 0.3 * colour_similarity(&last.colours, &next.colours) - 0.1 * shift)
}

/// Returns the intersection of two colour histograms, 0..1.
fn colour_similarity(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(x, y)| x.min(*y)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a picture with a red left half and a blue right half.
    fn halves() -> Image {
        let rgb = (0..64 * 36).flat_map(|i| if i % 64 < 32 { [255, 0, 0] } else { [0, 0, 255] });
        Image { width: 64, height: 36, rgb: rgb.collect() }
    }

    fn object(label: &str, x: f32, confidence: f32) -> Detection {
        Detection { label: label.into(), confidence, bounds: [x, 0.2, 0.1, 0.3] }
    }

    /// Tracks detections in `frames`, which are half a second apart. Returns the label and number
    /// of points of each track.
    fn tracks(frames: &[Vec<Detection>], cuts: &[f64]) -> Vec<(String, usize)> {
        let mut tracker = Tracker::default();
        for (i, detections) in frames.iter().enumerate() {
            tracker.push(i as f64 * 0.5, &halves(), detections, cuts);
        }
        tracker.finish().into_iter().map(|t| (t.label, t.points.len())).collect()
    }

    #[test]
    fn moving_objects_count_once() {
        let frames: Vec<_> = (0..6).map(|i| vec![object("car", 0.05 * i as f32, 0.6)]).collect();
        assert_eq!(tracks(&frames, &[]), [("car".to_owned(), 6)]);
    }

    #[test]
    fn simultaneous_objects_and_labels_are_separate() {
        let frames = vec![
            vec![object("car", 0.1, 0.9), object("car", 0.3, 0.8), object("dog", 0.3, 0.9)],
            vec![object("car", 0.3, 0.8), object("car", 0.1, 0.9), object("dog", 0.3, 0.9)],
        ];
        let counted = tracks(&frames, &[]);
        assert_eq!(counted, [("car".to_owned(), 2), ("car".to_owned(), 2), ("dog".to_owned(), 2)]);
    }

    #[test]
    fn colours_decide_after_a_cut() {
        let same = vec![vec![object("person", 0.1, 0.9)], vec![object("person", 0.3, 0.9)]];
        assert_eq!(tracks(&same, &[0.4]).len(), 1, "both in red");
        let other = vec![vec![object("person", 0.1, 0.9)], vec![object("person", 0.8, 0.9)]];
        assert_eq!(tracks(&other, &[0.4]).len(), 2, "red, then blue");
        let near = vec![vec![object("person", 0.38, 0.9)], vec![object("person", 0.52, 0.9)]];
        assert_eq!(tracks(&near, &[0.4]).len(), 2, "close, but in another shot and colour");
    }

    #[test]
    fn position_changes_at_cuts_are_no_movement() {
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
    fn doubtful_single_detections_are_dropped() {
        let mut frames = vec![vec![object("dog", 0.1, 0.9)]; 5];
        frames[2].push(object("cow", 0.7, 0.4));
        frames[3].push(object("cat", 0.7, 0.8));
        assert_eq!(tracks(&frames, &[]), [("dog".to_owned(), 5), ("cat".to_owned(), 1)]);
        let short = vec![vec![object("cow", 0.7, 0.4)]];
        assert_eq!(tracks(&short, &[]).len(), 1, "one frame is all there is");
    }

    /// Builds locations from times and left edges.
    fn locations(seen: &[(f64, f64)]) -> Vec<Location> {
        let location =
            |&(t, x): &(f64, f64)| Location { t, bounds: [x, 0.2, 0.1, 0.3], confidence: 0.9 };
        seen.iter().map(location).collect()
    }

    #[test]
    fn tracks_are_reconstructed_from_locations() {
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
                "simultaneous objects are separate regardless of the count",
                vec![(1.0, 0.1), (1.0, 0.8)],
                1,
                vec![vec![0], vec![1]],
            ),
            (
                "the nearest tracks continue",
                vec![(1.0, 0.0), (1.0, 0.9), (2.0, 0.6), (3.0, 0.25)],
                2,
                vec![vec![0, 3], vec![1, 2]],
            ),
            ("in order of time", vec![(2.0, 0.15), (1.0, 0.1)], 1, vec![vec![1, 0]]),
        ] {
            assert_eq!(tracks_from_locations(&locations(&seen), count), expected, "{what}");
        }
    }
}
