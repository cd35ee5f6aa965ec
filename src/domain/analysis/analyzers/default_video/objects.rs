//! Summarizes detected objects in sentences: how many objects of each kind are visible at once, and
//! how they move.

use std::collections::BTreeMap;

use text::join_list;
use text::kinds::is_a;
use text::plural::{is_uncountable, number_word, plural, plural_with_count};

use crate::analysis::prose::{common_name, in_view, sentence, with_article};
use crate::analysis::tracks::ChunkTracks;
use crate::media::movement::Movement;
use crate::media::tracking::{Track, TrackPoint, max_at_once, repeatedly_at_once};

/// Minimum number of points in a track for its movement to be mentioned.
const MIN_POINTS: usize = 3;

/// A track's movement is mentioned only if its displacement divided by its path length is at least
/// this value. This excludes objects that sway.
const MIN_STRAIGHTNESS: f32 = 0.6;

/// Minimum share of the analyzed frames that show an object, for the object to be stated in a
/// sentence. Below it, the detector has to be sure.
const MIN_SHARE: f32 = 0.3;

/// Minimum confidence of an object that few frames show, to be stated in a sentence.
const SURE: f32 = 0.75;

/// The movement of a kind of object is mentioned only if the tracks that move have at least this
/// share of the detections of its kind.
const MIN_MOVING_SHARE: f32 = 0.2;

/// Maximum number of labels mentioned. The most frequent are chosen.
const MAX_LABELS: usize = 5;

/// The forms of a verb of movement.
struct Verb {
    /// Singular, such as `drives`.
    singular: &'static str,
    /// Plural, such as `drive`.
    plural: &'static str,
    /// Participle, such as `driving`.
    participle: &'static str,
}

const MOVES: Verb = Verb { singular: "moves", plural: "move", participle: "moving" };
const WALKS: Verb = Verb { singular: "walks", plural: "walk", participle: "walking" };
const DRIVES: Verb = Verb { singular: "drives", plural: "drive", participle: "driving" };

/// Labels of people and animals that walk.
const WALKERS: &[&str] =
    &["person", "dog", "cat", "horse", "cow", "sheep", "elephant", "bear", "zebra", "giraffe"];

/// Labels of things that people ride. A person who moves in the same direction as such a thing is
/// not described as walking.
const RIDDEN: &[&str] =
    &["bicycle", "motorcycle", "horse", "skateboard", "skis", "snowboard", "surfboard"];

/// Labels of vehicles that drive.
const VEHICLES: &[&str] = &["car", "truck", "bus", "motorcycle", "van"];

/// Labels of other things that move by themselves.
const MOVERS: &[&str] = &["airplane", "bird", "boat", "train", "sports ball"];

/// A person counts as standing if the box's height divided by its width is above this value. Both
/// are shares of the picture, so a square box in a 16:9 picture has a ratio of 16:9.
const UPRIGHT: f32 = 2.0;

/// Minimum distance of a walker from the upper edge, as a share of the picture's height.
const HEADROOM: f32 = 0.02;

/// Labels of things that never move. If such a thing moves through the picture, the camera is
/// moving.
const FIXED: &[&str] = &[
    "bed",
    "bench",
    "chair",
    "couch",
    "dining table",
    "fire hydrant",
    "furniture",
    "microwave",
    "oven",
    "parking meter",
    "potted plant",
    "refrigerator",
    "sink",
    "stop sign",
    "toaster",
    "toilet",
    "traffic light",
    "tv",
];

/// All tracks of one label.
struct ObjectKind<'a> {
    label: &'a str,
    tracks: Vec<&'a Track>,
    /// The largest number of these tracks that several frames show at once.
    count: usize,
}

/// The summary of the objects of a chunk.
#[derive(Debug, Default, PartialEq)]
pub(super) struct ObjectSummary {
    /// The summary in sentences.
    pub(super) sentences: Vec<String>,
    /// The labels, most frequent first.
    pub(super) labels: Vec<String>,
    /// For each label in the sentences, the largest number of objects that several frames show at
    /// once.
    pub(super) counts: BTreeMap<String, usize>,
    /// Actions, such as `car driving to the left`.
    pub(super) actions: Vec<String>,
}

/// Summarizes the objects of a chunk.
pub(super) fn summarize(chunk: &ChunkTracks) -> ObjectSummary {
    let tracks: Vec<&Track> =
        chunk.tracks.iter().filter(|track| track.is_certain(chunk.times.len())).collect();
    let kinds = group_by_label(&tracks);
    let scene = Scene { camera: camera_movements(&tracks), tracks };
    let mut listed = Vec::new();
    let mut moving = Vec::new();
    let mut actions = Vec::new();
    let stated: Vec<&ObjectKind<'_>> = kinds
        .iter()
        .filter(|kind| kind.is_prominent(chunk.times.len()) && !kind.is_contested(&kinds))
        .collect();
    for &kind in stated.iter().take(MAX_LABELS) {
        let movements = scene.movements(kind);
        if !movements.iter().any(|movement| movement.count == kind.count) {
            listed.push(plural_with_count(common_name(kind.label), kind.count as u64));
        }
        actions.extend(movements.iter().map(|movement| movement.action(kind.label)));
        moving.extend(movement_sentence(kind, &movements));
    }
    let sentences = in_view(&listed).into_iter().chain(moving).collect();
    actions.sort_unstable();
    let labels = kinds.iter().map(|kind| kind.label.to_owned()).collect();
    let counts = stated.iter().map(|kind| (kind.label.to_owned(), kind.count)).collect();
    ObjectSummary { sentences, labels, counts, actions }
}

impl ObjectKind<'_> {
    fn points(&self) -> impl Iterator<Item = &TrackPoint> {
        self.tracks.iter().flat_map(|track| &track.points)
    }

    /// The times of the frames that show it, in order.
    fn times(&self) -> Vec<f64> {
        let mut times: Vec<f64> = self.points().map(|point| point.time).collect();
        times.sort_by(f64::total_cmp);
        times.dedup();
        times
    }

    /// Whether many of the analyzed frames show it, or the detector is sure.
    fn is_prominent(&self, frames: usize) -> bool {
        let confidence = self.points().map(|point| point.confidence).fold(0.0, f32::max);
        confidence >= SURE || self.times().len() as f32 >= MIN_SHARE * frames as f32
    }

    /// Whether another label competes for the same object: each has one object at most at a time,
    /// no frame shows both, and the frames of one lie among the frames of the other.
    fn is_contested(&self, kinds: &[ObjectKind<'_>]) -> bool {
        let own = self.times();
        let competes = |other: &ObjectKind<'_>| {
            let theirs = other.times();
            let lies_among = |inner: &[f64], outer: &[f64]| match (outer.first(), outer.last()) {
                (Some(first), Some(last)) => inner.iter().all(|t| first < t && t < last),
                _ => false,
            };
            other.label != self.label
                && other.count == 1
                && self.count == 1
                && !own.iter().any(|time| theirs.contains(time))
                && (lies_among(&own, &theirs) || lies_among(&theirs, &own))
        };
        kinds.iter().any(competes)
    }
}

/// The tracks of a chunk, and how the camera seems to move.
struct Scene<'a> {
    tracks: Vec<&'a Track>,
    camera: Vec<Movement>,
}

/// Objects of one kind that move the same way.
struct KindMovement {
    way: Movement,
    /// The largest number of them in any one frame.
    count: usize,
    verb: Verb,
}

impl Scene<'_> {
    /// The movement of a track, unless the camera causes it.
    fn movement(&self, track: &Track) -> Option<Movement> {
        steady_movement(track).filter(|way| !self.camera.contains(way))
    }

    /// The ways in which objects of this kind move.
    fn movements(&self, kind: &ObjectKind<'_>) -> Vec<KindMovement> {
        if FIXED.contains(&kind.label) || is_uncountable(kind.label) {
            return Vec::new();
        }
        let ways = [Movement::Right, Movement::Left, Movement::Closer, Movement::Away];
        ways.into_iter().filter_map(|way| self.movement_of_kind(kind, way)).collect()
    }

    fn movement_of_kind(&self, kind: &ObjectKind<'_>, way: Movement) -> Option<KindMovement> {
        let moving: Vec<&Track> =
            kind.tracks.iter().copied().filter(|track| self.movement(track) == Some(way)).collect();
        let count = max_at_once(moving.iter().copied()).min(kind.count);
        let changes_size = matches!(way, Movement::Closer | Movement::Away);
        let points = moving.iter().map(|track| track.points.len()).sum::<usize>() as f32;
        let is_minor = points < MIN_MOVING_SHARE * kind.points().count() as f32;
        if count == 0 || is_minor || changes_size && !moves_by_itself(kind.label) {
            return None;
        }
        let rides = self.tracks.iter().any(|other| {
            RIDDEN.contains(&other.label.as_str())
                && other.label != kind.label
                && self.movement(other) == Some(way)
        });
        let on_foot = !rides && moving.iter().all(|track| is_upright(track));
        Some(KindMovement { way, count, verb: verb(kind.label, on_foot) })
    }
}

impl KindMovement {
    /// An action, such as `car driving to the left`.
    fn action(&self, label: &str) -> String {
        format!("{label} {}", with_direction(self.verb.participle, "coming", self.way))
    }

    /// A predicate, such as `drive to the left`.
    fn predicate(&self) -> String {
        match self.count {
            1 => with_direction(self.verb.singular, "comes", self.way),
            _ => with_direction(self.verb.plural, "come", self.way),
        }
    }
}

/// Groups tracks by label. The label with the most tracks at once comes first. A label that
/// another one implies is left out.
fn group_by_label<'a>(tracks: &[&'a Track]) -> Vec<ObjectKind<'a>> {
    let mut kinds: Vec<ObjectKind<'_>> = Vec::new();
    for track in tracks {
        match kinds.iter_mut().find(|kind| kind.label == track.label) {
            Some(kind) => kind.tracks.push(track),
            None => kinds.push(ObjectKind { label: &track.label, tracks: vec![track], count: 0 }),
        }
    }
    let labels: Vec<&str> = kinds.iter().map(|kind| kind.label).collect();
    kinds.retain(|kind| !is_implied(kind.label, &labels));
    for kind in &mut kinds {
        kind.count = repeatedly_at_once(kind.tracks.iter().copied());
    }
    kinds.sort_by_key(|kind| std::cmp::Reverse(kind.count));
    kinds
}

/// Whether a more specific label says the same: a car is a vehicle.
pub(crate) fn is_implied(label: &str, labels: &[&str]) -> bool {
    labels.iter().any(|other| *other != label && is_a(other, label))
}

/// The movement of a track, if it is steady.
fn steady_movement(track: &Track) -> Option<Movement> {
    let shot = track.longest_shot();
    let way = Some(track.movement()).filter(|way| way.is_moving() && shot.len() >= MIN_POINTS)?;
    let along = |point: &TrackPoint| match way {
        Movement::Right | Movement::Left => point.bounds[0] + point.bounds[2] / 2.0,
        _ => point.bounds[3],
    };
    let (first, last) = (along(shot.first()?), along(shot.last()?));
    let path: f32 = shot.windows(2).map(|pair| (along(&pair[1]) - along(&pair[0])).abs()).sum();
    ((last - first).abs() >= MIN_STRAIGHTNESS * path).then_some(way)
}

/// The apparent movements of fixed objects, which are caused by the camera.
fn camera_movements(tracks: &[&Track]) -> Vec<Movement> {
    let fixed = tracks.iter().filter(|track| FIXED.contains(&track.label.as_str()));
    fixed.filter_map(|track| steady_movement(track)).collect()
}

fn verb(label: &str, on_foot: bool) -> Verb {
    match label {
        "person" if !on_foot => MOVES,
        _ if WALKERS.contains(&label) => WALKS,
        _ if VEHICLES.contains(&label) => DRIVES,
        _ => MOVES,
    }
}

/// Whether objects with this label move by themselves. Only then does a change in size mean that
/// the object comes closer or moves away. Things that people carry do not move by themselves.
fn moves_by_itself(label: &str) -> bool {
    [WALKERS, RIDDEN, VEHICLES, MOVERS].iter().any(|labels| labels.contains(&label))
}

/// Whether the track's most confident box has the proportions of a standing person rather than
/// those of a hand or a face. The head of a walker is in the picture, so a box that begins at the
/// upper edge may be an arm.
fn is_upright(track: &Track) -> bool {
    let upright = |[_, y, width, height]: [f32; 4]| y > HEADROOM && height > UPRIGHT * width;
    track.best_point().is_some_and(|at| upright(at.bounds))
}

/// Builds a sentence such as `Two cars drive to the left.` or `Two of the cars drive to the left and
/// another drives away.` Returns `None` if nothing moves.
fn movement_sentence(kind: &ObjectKind<'_>, movements: &[KindMovement]) -> Option<String> {
    let clause = |(at, movement): (usize, &KindMovement)| {
        let subject = match (at, movement.count) {
            (0, count) if count < kind.count => part_of(common_name(kind.label), count),
            (0, 1) => with_article(common_name(kind.label)),
            (0, count) => plural_with_count(common_name(kind.label), count as u64),
            (_, 1) => "another".to_owned(),
            (_, count) => format!("{} others", number_word(count as u64)),
        };
        format!("{subject} {}", movement.predicate())
    };
    let clauses: Vec<String> = movements.iter().enumerate().map(clause).collect();
    (!clauses.is_empty()).then(|| sentence(&join_list(&clauses, "and")))
}

/// Names some of the objects with a label, such as `one person` or `two of the cars`.
fn part_of(label: &str, count: usize) -> String {
    match count {
        1 => format!("one {label}"),
        _ => format!("{} of the {}", number_word(count as u64), plural(label)),
    }
}

/// Adds the direction to a verb, as in `drives to the left` or `comes closer`.
fn with_direction(verb: &str, comes: &str, way: Movement) -> String {
    match way {
        Movement::Right => format!("{verb} to the right"),
        Movement::Left => format!("{verb} to the left"),
        Movement::Closer => format!("{comes} closer"),
        _ => format!("{verb} away"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn track(label: &str, points: &[(f64, f32)], confidence: f32) -> Track {
        let point = |&(time, x): &(f64, f32)| TrackPoint {
            bounds: [x, 0.4, 0.1, 0.3],
            ..TrackPoint::at(time, confidence)
        };
        Track { label: label.into(), points: points.iter().map(point).collect() }
    }

    fn from_above(mut track: Track) -> Track {
        track.points.iter_mut().for_each(|point| point.bounds[1] = 0.0);
        track
    }

    fn summary(tracks: Vec<Track>) -> (String, Vec<String>) {
        let times = (0..8).map(f64::from).collect();
        let summary = summarize(&ChunkTracks { times, tracks, ..ChunkTracks::default() });
        (summary.sentences.join(" "), summary.actions)
    }

    const RIGHT: &[(f64, f32)] = &[(0.0, 0.1), (1.0, 0.3), (2.0, 0.5)];
    const LEFT: &[(f64, f32)] = &[(3.0, 0.8), (4.0, 0.5), (5.0, 0.2)];
    const STILL: &[(f64, f32)] = &[(0.0, 0.5), (1.0, 0.5), (2.0, 0.5)];
    const SWAYING: &[(f64, f32)] = &[(0.0, 0.1), (1.0, 0.6), (2.0, 0.1), (3.0, 0.3)];

    #[test]
    fn summarize_counts_objects_and_names_their_movement() {
        for (what, tracks, expected) in [
            ("nothing", vec![], ""),
            ("still", vec![track("car", STILL, 0.9)], "A car is in view."),
            ("one drives", vec![track("car", RIGHT, 0.9)], "A car drives to the right."),
            (
                "one after the other",
                vec![track("car", RIGHT, 0.9), track("car", LEFT, 0.9)],
                "A car drives to the right and another drives to the left.",
            ),
            (
                "some of them",
                vec![
                    track("car", RIGHT, 0.9),
                    track("car", RIGHT, 0.9),
                    track("car", STILL, 0.9),
                    track("umbrella", STILL, 0.9),
                ],
                "Three cars and an umbrella are in view. Two of the cars drive to the right.",
            ),
            (
                "some move in different ways",
                vec![
                    track("person", RIGHT, 0.9),
                    track("person", LEFT, 0.9),
                    track("person", LEFT, 0.9),
                    track("person", STILL, 0.9),
                    track("person", STILL, 0.9),
                ],
                "Three people are in view. One person walks to the right and two others walk to the \
                 left.",
            ),
            (
                "a car is a vehicle",
                vec![track("vehicle", STILL, 0.9), track("car", STILL, 0.9)],
                "A car is in view.",
            ),
            (
                "twice in one frame",
                vec![track("dog", STILL, 0.9), track("dog", &[(1.0, 0.7)], 0.9)],
                "A dog is in view.",
            ),
            ("to and fro", vec![track("dog", SWAYING, 0.9)], "A dog is in view."),
            (
                "a rider does not walk",
                vec![track("person", RIGHT, 0.9), track("bicycle", RIGHT, 0.9)],
                "A person moves to the right. A bicycle moves to the right.",
            ),
            (
                "an arm from above does not walk",
                vec![from_above(track("person", RIGHT, 0.9))],
                "A person moves to the right.",
            ),
            (
                "the camera turns",
                vec![track("person", RIGHT, 0.9), track("couch", RIGHT, 0.9)],
                "A person and a couch are in view.",
            ),
            (
                "a doubtful glimpse",
                vec![track("dog", STILL, 0.9), track("cell phone", &[(1.0, 0.1)], 0.6)],
                "A dog is in view.",
            ),
            (
                "two labels for one object",
                vec![
                    track("person", STILL, 0.9),
                    track("frisbee", &[(0.0, 0.5), (2.0, 0.5), (4.0, 0.5)], 0.8),
                    track("sports ball", &[(1.0, 0.5), (3.0, 0.5)], 0.8),
                ],
                "A person is in view.",
            ),
            (
                "an unsure object in a few frames",
                vec![track("dog", STILL, 0.9), track("cake", &[(0.0, 0.1), (1.0, 0.1)], 0.6)],
                "A dog is in view.",
            ),
            (
                "a sure object in a few frames",
                vec![track("dog", STILL, 0.9), track("kite", &[(0.0, 0.1), (1.0, 0.1)], 0.8)],
                "A dog and a kite are in view.",
            ),
            ("more likely wrong", vec![track("teddy bear", STILL, 0.4)], ""),
        ] {
            assert_eq!(summary(tracks).0, expected, "{what}");
        }
    }

    #[test]
    fn movements_are_actions() {
        let tracks = vec![track("person", RIGHT, 0.9), track("car", LEFT, 0.9)];
        assert_eq!(summary(tracks).1, ["car driving to the left", "person walking to the right"]);
    }
}
