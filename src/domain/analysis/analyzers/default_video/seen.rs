//! What detectors have found, told as a person tells it: how many of each are seen at once, and
//! where they go.

use std::collections::BTreeMap;

use text::plural::{counted, plural};

use crate::domain::analysis::evidence::ChunkTracks;
use crate::domain::analysis::prose::{in_view, sentence, with_article};
use crate::domain::media::movement::Movement;
use crate::domain::media::tracking::{Track, TrackPoint};

/// What is told is more likely right than wrong.
const LIKELY: f32 = 0.5;

/// It takes so many sights to know where something goes …
const LEAST_SIGHTS: usize = 3;

/// … and this part of its way must lead there: what sways to and fro goes nowhere.
const STEADY: f32 = 0.6;

/// Kinds of things that are named, the most of them first; of more a person names no more either.
const NAMED: usize = 5;

/// How it is told that a thing moves.
struct Verb {
    /// `drives`.
    one: &'static str,
    /// `drive`.
    many: &'static str,
    /// `driving`.
    going: &'static str,
}

const MOVES: Verb = Verb { one: "moves", many: "move", going: "moving" };
const WALKS: Verb = Verb { one: "walks", many: "walk", going: "walking" };
const DRIVES: Verb = Verb { one: "drives", many: "drive", going: "driving" };

/// What walks …
const WALKERS: &[&str] =
    &["person", "dog", "cat", "horse", "cow", "sheep", "elephant", "bear", "zebra", "giraffe"];

/// … standing upright, and unless it rides one of these …
const RIDDEN: &[&str] =
    &["bicycle", "motorcycle", "horse", "skateboard", "skis", "snowboard", "surfboard"];

/// … what drives …
const VEHICLES: &[&str] = &["car", "truck", "bus", "motorcycle", "van"];

/// … what else moves by itself …
const MOVERS: &[&str] = &["airplane", "bird", "boat", "train", "sports ball"];

/// Somebody who stands is so much taller than wide in a picture of the usual shape, as shares of its
/// height and width: 9 to 16 is square.
const UPRIGHT: f32 = 2.0;

/// … and what stays where it is: when it goes through the picture, the camera turns.
const FIXED: &[&str] = &[
    "bed",
    "bench",
    "chair",
    "couch",
    "dining table",
    "fire hydrant",
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

/// All things of one kind.
struct Kind<'a> {
    label: &'a str,
    tracks: Vec<&'a Track>,
    /// Seen at once, at most.
    count: usize,
}

/// What is seen, told.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Seen {
    /// In whole sentences.
    pub(super) sentences: Vec<String>,
    /// What there is, the most first.
    pub(super) labels: Vec<String>,
    /// Of each how many are seen at once.
    pub(super) counts: BTreeMap<String, usize>,
    /// `car driving to the left`.
    pub(super) actions: Vec<String>,
}

/// Whether a track is worth telling of: not what is seen once and unsurely.
pub(super) fn is_told(track: &Track, frames: usize) -> bool {
    track.certainty(frames) >= LIKELY
}

/// What there is to tell of the objects of a chunk.
pub(super) fn seen(found: &ChunkTracks) -> Seen {
    let told: Vec<&Track> =
        found.tracks.iter().filter(|track| is_told(track, found.times.len())).collect();
    let kinds = kinds(&told);
    let camera = camera(&told);
    let goes = |track: &Track| going(track).filter(|way| !camera.contains(way));
    let mut listed = Vec::new();
    let mut moving = Vec::new();
    let mut actions = Vec::new();
    for kind in kinds.iter().take(NAMED) {
        let mut whole = false;
        let mut earlier = false;
        for way in [Movement::Right, Movement::Left, Movement::Closer, Movement::Away] {
            let going: Vec<&Track> =
                kind.tracks.iter().copied().filter(|track| goes(track) == Some(way)).collect();
            let count = at_once(&going);
            if count == 0 || FIXED.contains(&kind.label) {
                continue;
            }
            let nears = matches!(way, Movement::Closer | Movement::Away);
            if nears && !moves_by_itself(kind.label) {
                continue;
            }
            let rides = told.iter().any(|other| {
                RIDDEN.contains(&other.label.as_str())
                    && other.label != kind.label
                    && goes(other) == Some(way)
            });
            let verb = verb(kind.label, !rides && going.iter().all(|track| is_upright(track)));
            whole |= count == kind.count;
            moving.push(moves(kind, count, &verb, way, earlier));
            actions.push(format!("{} {}", kind.label, along(verb.going, "coming", way)));
            earlier = true;
        }
        if !whole {
            listed.push(counted(kind.label, kind.count as u64));
        }
    }
    let sentences = in_view(&listed).into_iter().chain(moving).collect();
    actions.sort_unstable();
    let labels = kinds.iter().map(|kind| kind.label.to_owned()).collect();
    let counts = kinds.iter().map(|kind| (kind.label.to_owned(), kind.count)).collect();
    Seen { sentences, labels, counts, actions }
}

/// The kinds of things, those of which most are seen at once first.
fn kinds<'a>(told: &[&'a Track]) -> Vec<Kind<'a>> {
    let mut kinds: Vec<Kind<'_>> = Vec::new();
    for track in told {
        match kinds.iter_mut().find(|kind| kind.label == track.label) {
            Some(kind) => kind.tracks.push(track),
            None => kinds.push(Kind { label: &track.label, tracks: vec![track], count: 0 }),
        }
    }
    for kind in &mut kinds {
        kind.count = at_once(&kind.tracks);
    }
    kinds.sort_by_key(|kind| std::cmp::Reverse(kind.count));
    kinds
}

/// How many of some tracks are seen in one frame, at most.
fn at_once(tracks: &[&Track]) -> usize {
    let points = || tracks.iter().flat_map(|track| &track.points);
    let seen_at = |time: f64| points().filter(|point| point.time == time).count();
    points().map(|point| seen_at(point.time)).max().unwrap_or(0)
}

/// Where a track goes, where that is certain.
fn going(track: &Track) -> Option<Movement> {
    let shot = track.longest_shot();
    let way = Some(track.movement()).filter(|way| way.is_going() && shot.len() >= LEAST_SIGHTS)?;
    let along = |point: &TrackPoint| match way {
        Movement::Right | Movement::Left => point.bounds[0] + point.bounds[2] / 2.0,
        _ => point.bounds[3],
    };
    let (first, last) = (along(shot.first()?), along(shot.last()?));
    let path: f32 = shot.windows(2).map(|pair| (along(&pair[1]) - along(&pair[0])).abs()).sum();
    ((last - first).abs() >= STEADY * path).then_some(way)
}

/// The ways in which things go that go nowhere by themselves: the camera's doing.
fn camera(told: &[&Track]) -> Vec<Movement> {
    let fixed = told.iter().filter(|track| FIXED.contains(&track.label.as_str()));
    fixed.filter_map(|track| going(track)).collect()
}

fn verb(label: &str, on_foot: bool) -> Verb {
    match label {
        "person" if !on_foot => MOVES,
        _ if WALKERS.contains(&label) => WALKS,
        _ if VEHICLES.contains(&label) => DRIVES,
        _ => MOVES,
    }
}

/// Whether it comes and goes: of a thing that is carried, another size says little.
fn moves_by_itself(label: &str) -> bool {
    [WALKERS, RIDDEN, VEHICLES, MOVERS].iter().any(|labels| labels.contains(&label))
}

/// Whether a box is that of somebody who stands, not of a hand or a face.
fn is_upright(track: &Track) -> bool {
    track.surest().is_some_and(|at| at.bounds[3] > UPRIGHT * at.bounds[2])
}

/// `2 cars drive to the left.`, `2 of the cars drive to the left.`, `Another car comes closer.`
fn moves(kind: &Kind<'_>, count: usize, verb: &Verb, way: Movement, earlier: bool) -> String {
    let one = count == 1;
    let subject = match count {
        _ if count < kind.count => {
            let number = if one { "one".to_owned() } else { count.to_string() };
            format!("{number} of the {}", plural(kind.label))
        }
        1 if earlier => format!("another {}", kind.label),
        1 => with_article(kind.label),
        _ => counted(kind.label, count as u64),
    };
    let goes = if one { along(verb.one, "comes", way) } else { along(verb.many, "come", way) };
    sentence(&format!("{subject} {goes}"))
}

/// A verb with where it leads: `drives to the left`, `comes closer`.
fn along(verb: &str, comes: &str, way: Movement) -> String {
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

    fn told(tracks: Vec<Track>) -> (String, Vec<String>) {
        let times = (0..8).map(f64::from).collect();
        let seen = seen(&ChunkTracks { times, tracks, people: Vec::new() });
        (seen.sentences.join(" "), seen.actions)
    }

    const RIGHT: &[(f64, f32)] = &[(0.0, 0.1), (1.0, 0.3), (2.0, 0.5)];
    const LEFT: &[(f64, f32)] = &[(3.0, 0.8), (4.0, 0.5), (5.0, 0.2)];
    const STILL: &[(f64, f32)] = &[(0.0, 0.5), (1.0, 0.5), (2.0, 0.5)];
    const SWAYING: &[(f64, f32)] = &[(0.0, 0.1), (1.0, 0.6), (2.0, 0.1), (3.0, 0.3)];

    #[test]
    fn things_are_counted_at_once_and_told_with_where_they_go() {
        for (what, tracks, expected) in [
            ("nothing", vec![], ""),
            ("still", vec![track("car", STILL, 0.9)], "A car is in view."),
            ("one drives", vec![track("car", RIGHT, 0.9)], "A car drives to the right."),
            (
                "one after the other",
                vec![track("car", RIGHT, 0.9), track("car", LEFT, 0.9)],
                "A car drives to the right. Another car drives to the left.",
            ),
            (
                "some of them",
                vec![
                    track("car", RIGHT, 0.9),
                    track("car", RIGHT, 0.9),
                    track("car", STILL, 0.9),
                    track("umbrella", STILL, 0.9),
                ],
                "3 cars and an umbrella are in view. 2 of the cars drive to the right.",
            ),
            ("to and fro", vec![track("dog", SWAYING, 0.9)], "A dog is in view."),
            (
                "a rider does not walk",
                vec![track("person", RIGHT, 0.9), track("bicycle", RIGHT, 0.9)],
                "A person moves to the right. A bicycle moves to the right.",
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
            ("more likely wrong", vec![track("teddy bear", STILL, 0.4)], ""),
        ] {
            assert_eq!(told(tracks).0, expected, "{what}");
        }
    }

    #[test]
    fn what_goes_is_an_action() {
        let tracks = vec![track("person", RIGHT, 0.9), track("car", LEFT, 0.9)];
        assert_eq!(told(tracks).1, ["car driving to the left", "person walking to the right"]);
    }
}
