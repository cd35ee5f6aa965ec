//! Links objects across the chunks of a video by label, position and time. The `object_detection`
//! analyzer has already tracked them within each chunk.

use ports::detector::{BoundingBox, overlap};

use crate::analysis::analyzers::object_detection::{self, ChunkObjects, LabelDetection};
use crate::analysis::prose::{movement, side};
use crate::analysis::video::AnalyzedVideo;
use crate::kernel::time::{Span, timecode};
use crate::kernel::video::ChunkId;
use crate::media::geometry::{Side, centre, distance, growth, size};
use crate::media::movement::Movement;
use crate::media::tracking::Location;

/// Labels that name people. This module only counts people; the `entities` aggregator links them.
const PERSON_LABELS: &[&str] =
    &["person", "people", "man", "woman", "child", "boy", "girl", "face"];

/// Two boxes in consecutive chunks may show the same object if their intersection over union is at
/// least this value. They may also do so if their centres are within [`MAX_DISTANCE`].
const MIN_OVERLAP: f32 = 0.1;

/// Two boxes in consecutive chunks may show the same object if the distance of their centres is at
/// most this many box sizes. They may also do so if they overlap by [`MIN_OVERLAP`].
const MAX_DISTANCE: f32 = 1.5;

/// Maximum factor by which an object's size may change from one chunk to the next.
const MAX_GROWTH: f32 = 2.0;

/// Maximum distance of a fixture's centre from its median position, as a share of the picture.
const MAX_FIXTURE_DRIFT: f32 = 0.03;

/// Minimum number of boxes for an object to count as a fixture.
const MIN_FIXTURE_BOXES: usize = 3;

/// Whether a label names a person.
fn is_person(label: &str) -> bool {
    PERSON_LABELS.contains(&label)
}

/// Returns the number of distinct people in each chunk, summed over the chunks.
pub(crate) fn count_people_sightings(video: &AnalyzedVideo) -> u64 {
    detections(video)
        .filter(|(.., label, _)| is_person(label))
        .map(|(.., detection)| detection.count)
        .sum()
}

/// An object within one chunk.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ObjectObservation {
    pub(crate) chunk_id: ChunkId,
    span: Span,
    movement: Movement,
    /// The object's boxes in chronological order; empty if none are recorded.
    boxes: Vec<BoundingBox>,
}

impl ObjectObservation {
    /// Returns the time span in which the object is seen.
    pub(crate) fn span(&self) -> Span {
        self.span
    }

    /// Returns a sentence that states the object's position and movement within the chunk.
    pub(crate) fn sentence(&self, label: &str) -> String {
        let at = timecode(self.span.start);
        let Some(first) = self.boxes.first() else {
            return format!("The {label} is seen at {at}.");
        };
        let seen = if self.movement.is_moving() { movement(self.movement) } else { "seen" };
        format!("The {label} is {seen} at {at}, {}.", side(Side::containing(first)))
    }
}

/// An object linked across chunks.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TrackedObject {
    pub(crate) label: String,
    /// The observations in chronological order; there is at least one.
    pub(crate) observations: Vec<ObjectObservation>,
}

impl TrackedObject {
    pub(crate) fn chunk_ids(&self) -> Vec<ChunkId> {
        self.observations.iter().map(|o| o.chunk_id).collect()
    }

    /// Returns the time at which the object is first seen, in seconds from the start of the video.
    pub(crate) fn first_seen(&self) -> f64 {
        self.observations.iter().map(|o| o.span.start).fold(f64::INFINITY, f64::min)
    }

    /// Returns the time at which the object is last seen, in seconds from the start of the video.
    pub(crate) fn last_seen(&self) -> f64 {
        self.observations.iter().map(|o| o.span.end).fold(0.0, f64::max)
    }

    fn boxes(&self) -> impl Iterator<Item = &BoundingBox> {
        self.observations.iter().flat_map(|o| &o.boxes)
    }

    /// Whether the object stays in the same place in all of its boxes.
    pub(crate) fn is_fixture(&self) -> bool {
        let median = |mut values: Vec<f32>| {
            values.sort_by(f32::total_cmp);
            values.get(values.len() / 2).copied().unwrap_or_default()
        };
        let centres: Vec<(f32, f32)> = self.boxes().map(centre).collect();
        let x = median(centres.iter().map(|c| c.0).collect());
        let y = median(centres.iter().map(|c| c.1).collect());
        centres.len() >= MIN_FIXTURE_BOXES
            && centres.iter().all(|centre| (centre.0 - x).hypot(centre.1 - y) <= MAX_FIXTURE_DRIFT)
    }

    /// Returns a sentence that states the object's label and overall movement.
    pub(crate) fn description(&self) -> String {
        let article = if self.label.starts_with(['a', 'e', 'i', 'o', 'u']) { "An" } else { "A" };
        match Movement::from_boxes(self.boxes()) {
            going if going.is_moving() => format!("{article} {}, {}.", self.label, movement(going)),
            _ => format!("{article} {}.", self.label),
        }
    }

    /// Returns a narrative with one sentence per observation.
    pub(crate) fn composed_narrative(&self) -> String {
        let sentences = self.observations.iter().map(|o| o.sentence(&self.label));
        sentences.collect::<Vec<_>>().join(" ")
    }
}

/// Links the objects in a video, except for people. Returns the objects in order of first
/// appearance.
pub(crate) fn track(video: &AnalyzedVideo) -> Vec<TrackedObject> {
    let mut objects: Vec<TrackedObject> = Vec::new();
    // The objects in the previous chunk; only those can continue.
    let mut current: Vec<usize> = Vec::new();
    let mut chunk = ChunkId(0);
    let mut in_chunk: Vec<usize> = Vec::new();
    for (chunk_id, span, label, detection) in detections(video) {
        if is_person(&label) {
            continue;
        }
        if chunk_id != chunk {
            current = if chunk_id == chunk.next() { in_chunk } else { Vec::new() };
            in_chunk = Vec::new();
            chunk = chunk_id;
        }
        let observations = observations(chunk_id, span, detection);
        let candidates: Vec<usize> =
            current.iter().copied().filter(|i| objects[*i].label == label).collect();
        let alone = candidates.len() == 1 && observations.len() == 1;
        let mut links: Vec<(f32, usize, usize)> = Vec::new();
        for (o, observation) in observations.iter().enumerate() {
            for &object in &candidates {
                if let Some(distance) = link_distance(&objects[object], observation, alone) {
                    links.push((distance, o, object));
                }
            }
        }
        links.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)).then(a.2.cmp(&b.2)));
        let mut linked: Vec<Option<usize>> = vec![None; observations.len()];
        for (_, o, object) in links {
            if linked[o].is_none() && !linked.contains(&Some(object)) {
                linked[o] = Some(object);
            }
        }
        for (observation, linked) in observations.into_iter().zip(linked) {
            let index = linked.unwrap_or(objects.len());
            match linked {
                Some(object) => objects[object].observations.push(observation),
                None => {
                    objects.push(TrackedObject {
                        label: label.clone(),
                        observations: vec![observation],
                    });
                }
            }
            in_chunk.push(index);
        }
    }
    objects.sort_by(|a, b| a.first_seen().total_cmp(&b.first_seen()));
    objects
}

/// Returns the distance between `observation` and `object` in the previous chunk, or `None` if they
/// cannot be the same object. If `alone` is set, no other objects in the two chunks have this
/// label, so the object may have moved anywhere.
fn link_distance(
    object: &TrackedObject,
    observation: &ObjectObservation,
    alone: bool,
) -> Option<f32> {
    let before = object.observations.last().and_then(|o| o.boxes.last());
    let (Some(before), Some(after)) = (before, observation.boxes.first()) else {
        return alone.then_some(0.0);
    };
    let distance = distance(before, after);
    let max_distance = MAX_DISTANCE * size(before).max(size(after));
    let near = alone || overlap(before, after) >= MIN_OVERLAP || distance <= max_distance;
    (near && growth(before, after) <= MAX_GROWTH).then_some(distance)
}

/// Returns the detections in chronological order, each with the id and span of its chunk and its
/// lower-case label.
fn detections(
    video: &AnalyzedVideo,
) -> impl Iterator<Item = (ChunkId, Span, String, &LabelDetection)> {
    video.typed_outputs::<ChunkObjects>(object_detection::ID).flat_map(
        |(chunk_id, span, objects)| {
            let detections = objects.detections.iter();
            detections.map(move |d| (chunk_id, span, d.label.to_lowercase(), d))
        },
    )
}

/// Returns the objects with one label in a chunk, one per track.
fn observations(
    chunk_id: ChunkId,
    chunk: Span,
    detection: &LabelDetection,
) -> Vec<ObjectObservation> {
    if detection.tracks.is_empty() {
        let span = Span {
            start: detection.first_seen.max(chunk.start),
            end: detection.last_seen.min(chunk.end).max(chunk.start),
        };
        let without_boxes =
            ObjectObservation { chunk_id, span, movement: Movement::Glimpsed, boxes: Vec::new() };
        return vec![without_boxes; detection.count.clamp(1, 100) as usize];
    }
    let observed = detection.tracks.iter().map(|track| {
        let points: Vec<&Location> =
            track.points.iter().filter_map(|point| detection.locations.get(*point)).collect();
        let start = points.first().map_or(chunk.start, |point| point.t);
        let end = points.last().map_or(chunk.end, |point| point.t);
        ObjectObservation {
            chunk_id,
            span: Span { start, end },
            movement: track.movement,
            boxes: points.into_iter().map(Location::bounding_box).collect(),
        }
    });
    observed.collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::aggregation::testing::{output, video};

    /// Returns the chunks that an object appears in.
    fn seen_in(object: &TrackedObject) -> Vec<u32> {
        object.chunk_ids().into_iter().map(|id| id.0).collect()
    }

    fn objects(chunks: &[&[(&str, f64, [f64; 4])]]) -> Vec<(String, Vec<u32>)> {
        let outputs = chunks
            .iter()
            .map(|seen| {
                let mut labels: Vec<&str> = seen.iter().map(|o| o.0).collect();
                labels.dedup();
                let detections: Vec<Value> = labels
                    .iter()
                    .map(|label| {
                        let locations: Vec<Value> = seen
                            .iter()
                            .filter(|o| o.0 == *label)
                            .map(|(_, t, bounds)| json!({"t": t, "box": bounds}))
                            .collect();
                        json!({"label": label, "count": locations.len(), "locations": locations})
                    })
                    .collect();
                output(json!({"detections": detections}))
            })
            .collect();
        let video = video(10.0, chunks.len()).with(object_detection::ID, outputs);
        track(&video).iter().map(|object| (object.label.clone(), seen_in(object))).collect()
    }

    #[test]
    fn objects_are_linked_by_label_and_position() {
        let left = [0.1, 0.4, 0.2, 0.2];
        let right = [0.7, 0.4, 0.2, 0.2];
        let near_left = [0.15, 0.4, 0.2, 0.2];
        for (what, chunks, expected) in [
            (
                "two of a kind keep apart",
                vec![
                    vec![("car", 1.0, left), ("car", 1.0, right)],
                    vec![("car", 11.0, right), ("car", 11.0, near_left)],
                ],
                vec![("car", vec![0, 1]), ("car", vec![0, 1])],
            ),
            (
                "the only one of its kind may move",
                vec![vec![("dog", 1.0, left)], vec![("dog", 11.0, right)]],
                vec![("dog", vec![0, 1])],
            ),
            (
                "a newcomer elsewhere is a different object",
                vec![
                    vec![("car", 1.0, left)],
                    vec![("car", 11.0, near_left), ("car", 11.0, right)],
                ],
                vec![("car", vec![0, 1]), ("car", vec![1])],
            ),
            (
                "labels do not mix",
                vec![vec![("car", 1.0, left)], vec![("bus", 11.0, left)]],
                vec![("car", vec![0]), ("bus", vec![1])],
            ),
            (
                "a chunk without the object ends the track",
                vec![vec![("car", 1.0, left)], vec![], vec![("car", 21.0, left)]],
                vec![("car", vec![0]), ("car", vec![2])],
            ),
            (
                "a different size is a different object",
                vec![vec![("car", 1.0, left)], vec![("car", 11.0, [0.1, 0.4, 0.9, 0.6])]],
                vec![("car", vec![0]), ("car", vec![1])],
            ),
            ("people are not objects", vec![vec![("person", 1.0, left)]], vec![]),
        ] {
            let chunks: Vec<&[(&str, f64, [f64; 4])]> = chunks.iter().map(Vec::as_slice).collect();
            let expected: Vec<(String, Vec<u32>)> =
                expected.into_iter().map(|(label, ids)| (label.to_owned(), ids)).collect();
            assert_eq!(objects(&chunks), expected, "{what}");
        }
    }

    #[test]
    fn stored_tracks_separate_crossing_objects() {
        let at = |t: f64, x: f64| json!({"t": t, "box": [x, 0.4, 0.2, 0.2]});
        let crossing = json!({
            "label": "car", "count": 2,
            "locations": [at(1.0, 0.1), at(1.0, 0.7), at(2.0, 0.38), at(2.0, 0.42), at(3.0, 0.1), at(3.0, 0.7)],
            "_tracks": [
                {"movement": "right", "points": [0, 3, 5]},
                {"movement": "left", "points": [1, 2, 4]},
            ],
        });
        let after = json!({"label": "car", "count": 1, "locations": [at(11.0, 0.75)]});
        let outputs = [crossing, after].map(|car| output(json!({"detections": [car]})));
        let video = video(10.0, 2).with(object_detection::ID, outputs.into());
        let tracked: Vec<_> =
            track(&video).iter().map(|car| (car.description(), seen_in(car))).collect();
        let moving = |side: &str| format!("A car, moving to the {side}.");
        assert_eq!(tracked, [(moving("right"), vec![0, 1]), (moving("left"), vec![0])]);
    }
}
