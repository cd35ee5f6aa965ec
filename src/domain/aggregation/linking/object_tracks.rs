//! Objects followed through the chunks of a video by label, place and time.

use crate::domain::analysis::analyzers::object_detection::{self, Detection, Objects};
use crate::domain::analysis::video::AnalyzedVideo;
use crate::domain::kernel::time::{Span, timecode};

/// Labels of people: they are counted here and linked by the aggregate `entities`.
const PEOPLE: &[&str] = &["person", "people", "man", "woman", "child", "boy", "girl", "face"];

/// Boxes overlap (intersection over union) at least so much, or ...
const OVERLAP: f64 = 0.1;

/// ... their centres lie this many box sizes apart at most, to be of one object.
const REACH: f64 = 1.5;

/// One object does not change its area by more than this factor between looks.
const GROWTH: f64 = 4.0;

/// A fixture's centre stays within this share of the picture ...
const STILL: f64 = 0.03;

/// ... for at least so many looks.
const STILL_LOOKS: usize = 3;

/// Whether a label names a person.
fn is_person(label: &str) -> bool {
    PEOPLE.contains(&label)
}

/// How many times people are seen: distinct ones in each chunk, added up.
pub(crate) fn people_sightings(video: &AnalyzedVideo) -> u64 {
    detections(video)
        .filter(|(.., label, _)| is_person(label))
        .map(|(.., detection)| detection.count)
        .sum()
}

/// Where an object is at one moment.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Look {
    /// Seconds.
    time: f64,
    /// Left, top, width and height as shares of the picture.
    bounds: [f64; 4],
}

impl Look {
    fn centre(&self) -> (f64, f64) {
        let [x, y, w, h] = self.bounds;
        (x + w / 2.0, y + h / 2.0)
    }

    fn area(&self) -> f64 {
        (self.bounds[2] * self.bounds[3]).max(1e-9)
    }

    fn distance(&self, other: &Self) -> f64 {
        let ((ax, ay), (bx, by)) = (self.centre(), other.centre());
        (ax - bx).hypot(ay - by)
    }

    fn overlap(&self, other: &Self) -> f64 {
        let side = |start: usize| {
            let size = start + 2;
            let end = (self.bounds[start] + self.bounds[size])
                .min(other.bounds[start] + other.bounds[size]);
            (end - self.bounds[start].max(other.bounds[start])).max(0.0)
        };
        let both = side(0) * side(1);
        both / (self.area() + other.area() - both)
    }

    /// Whether both can be of one object; the smaller, the likelier.
    fn apart(&self, other: &Self) -> Option<f64> {
        let growth = (self.area() / other.area()).max(other.area() / self.area());
        let size = self.area().max(other.area()).sqrt();
        let distance = self.distance(other);
        let near = self.overlap(other) >= OVERLAP || distance <= REACH * size;
        (near && growth <= GROWTH).then_some(distance)
    }
}

/// One object within one chunk.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Sighting {
    pub(crate) chunk_id: usize,
    span: Span,
    /// In order of time; empty when the detector kept no boxes.
    looks: Vec<Look>,
}

impl Sighting {
    /// When it is seen.
    pub(crate) fn span(&self) -> Span {
        self.span
    }

    /// Where the object is and how it moves within the chunk.
    pub(crate) fn sentence(&self, label: &str) -> String {
        let at = timecode(self.span.start);
        match (self.looks.first(), self.looks.last()) {
            (Some(first), Some(last)) => match movement(first, last) {
                Some(movement) => format!("The {label} is {movement} at {at}, {}.", place(first)),
                None => format!("The {label} is seen at {at}, {}.", place(first)),
            },
            _ => format!("The {label} is seen at {at}."),
        }
    }
}

/// One object over the chunks it is seen in.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Object {
    pub(crate) label: String,
    /// At least one, in order of time.
    pub(crate) sightings: Vec<Sighting>,
}

impl Object {
    pub(crate) fn chunk_ids(&self) -> Vec<usize> {
        self.sightings.iter().map(|s| s.chunk_id).collect()
    }

    /// Seconds.
    pub(crate) fn first_seen(&self) -> f64 {
        self.sightings.iter().map(|s| s.span.start).fold(f64::INFINITY, f64::min)
    }

    /// Seconds.
    pub(crate) fn last_seen(&self) -> f64 {
        self.sightings.iter().map(|s| s.span.end).fold(0.0, f64::max)
    }

    fn looks(&self) -> impl Iterator<Item = &Look> {
        self.sightings.iter().flat_map(|s| &s.looks)
    }

    /// Whether it stays where it is in every look.
    pub(crate) fn is_fixture(&self) -> bool {
        let median = |mut values: Vec<f64>| {
            values.sort_by(f64::total_cmp);
            values.get(values.len() / 2).copied().unwrap_or_default()
        };
        let centres: Vec<(f64, f64)> = self.looks().map(Look::centre).collect();
        let x = median(centres.iter().map(|c| c.0).collect());
        let y = median(centres.iter().map(|c| c.1).collect());
        centres.len() >= STILL_LOOKS
            && centres.iter().all(|centre| (centre.0 - x).hypot(centre.1 - y) <= STILL)
    }

    /// What it is and how it moves on the whole.
    pub(crate) fn description(&self) -> String {
        let article = if self.label.starts_with(['a', 'e', 'i', 'o', 'u']) { "An" } else { "A" };
        let movement = match (self.looks().next(), self.looks().last()) {
            (Some(first), Some(last)) => movement(first, last),
            _ => None,
        };
        match movement {
            Some(movement) => format!("{article} {}, {movement}.", self.label),
            None => format!("{article} {}.", self.label),
        }
    }

    /// Where it is seen, in sentences.
    pub(crate) fn account(&self) -> String {
        let told: Vec<String> = self.sightings.iter().map(|s| s.sentence(&self.label)).collect();
        told.join(" ")
    }
}

fn place(look: &Look) -> &'static str {
    match look.centre().0 {
        x if x < 1.0 / 3.0 => "on the left",
        x if x > 2.0 / 3.0 => "on the right",
        _ => "in the middle",
    }
}

fn movement(first: &Look, last: &Look) -> Option<&'static str> {
    const MOVED: f64 = 0.12;
    const GROWN: f64 = 1.8;
    let shift = last.centre().0 - first.centre().0;
    let growth = last.area() / first.area();
    match (shift, growth) {
        (s, _) if s > MOVED => Some("moving to the right"),
        (s, _) if s < -MOVED => Some("moving to the left"),
        (_, g) if g > GROWN => Some("coming closer"),
        (_, g) if g < 1.0 / GROWN => Some("moving away"),
        _ => None,
    }
}

/// Every object of the video that is no person, in order of time.
pub(crate) fn track(video: &AnalyzedVideo) -> Vec<Object> {
    let mut objects: Vec<Object> = Vec::new();
    // Of each label the objects seen in the chunk before: only those can go on.
    let mut current: Vec<usize> = Vec::new();
    let mut chunk = 0;
    let mut seen_now: Vec<usize> = Vec::new();
    for (chunk_id, span, label, detection) in detections(video) {
        if is_person(&label) {
            continue;
        }
        if chunk_id != chunk {
            current = if chunk_id == chunk + 1 { seen_now } else { Vec::new() };
            seen_now = Vec::new();
            chunk = chunk_id;
        }
        let sightings = sightings(chunk_id, span, detection);
        let before: Vec<usize> =
            current.iter().copied().filter(|i| objects[*i].label == label).collect();
        let alone = before.len() == 1 && sightings.len() == 1;
        let mut links: Vec<(f64, usize, usize)> = Vec::new();
        for (s, sighting) in sightings.iter().enumerate() {
            for &object in &before {
                if let Some(apart) = apart(&objects[object], sighting, alone) {
                    links.push((apart, s, object));
                }
            }
        }
        links.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)).then(a.2.cmp(&b.2)));
        let mut linked: Vec<Option<usize>> = vec![None; sightings.len()];
        for (_, s, object) in links {
            if linked[s].is_none() && !linked.contains(&Some(object)) {
                linked[s] = Some(object);
            }
        }
        for (sighting, linked) in sightings.into_iter().zip(linked) {
            let place = linked.unwrap_or(objects.len());
            match linked {
                Some(object) => objects[object].sightings.push(sighting),
                None => {
                    objects.push(Object { label: label.clone(), sightings: vec![sighting] });
                }
            }
            seen_now.push(place);
        }
    }
    objects.sort_by(|a, b| a.first_seen().total_cmp(&b.first_seen()));
    objects
}

/// How far a sighting is from an object seen in the chunk before; `None` when it is another one.
/// The only one of its label in both chunks may have moved anywhere.
fn apart(object: &Object, sighting: &Sighting, alone: bool) -> Option<f64> {
    let before = object.sightings.last().and_then(|s| s.looks.last());
    match (before, sighting.looks.first()) {
        (Some(before), Some(after)) => {
            let growth = (before.area() / after.area()).max(after.area() / before.area());
            before
                .apart(after)
                .or_else(|| (alone && growth <= GROWTH).then(|| before.distance(after)))
        }
        _ => alone.then_some(0.0),
    }
}

/// Detections with their chunk, its segment and their label, in order of time.
fn detections(video: &AnalyzedVideo) -> impl Iterator<Item = (usize, Span, String, &Detection)> {
    video.of::<Objects>(object_detection::ID).flat_map(|(chunk_id, span, objects)| {
        let detections = objects.detections.iter();
        detections.map(move |found| (chunk_id as usize, span, found.label.to_lowercase(), found))
    })
}

/// The objects behind one detection, which holds the boxes of all that have its label.
fn sightings(chunk_id: usize, chunk: Span, detection: &Detection) -> Vec<Sighting> {
    let seen = detection.locations.iter();
    let mut looks: Vec<Look> = seen.map(|l| Look { time: l.t, bounds: l.bounds }).collect();
    if looks.is_empty() {
        let count = detection.count.clamp(1, 100);
        let span = Span {
            start: detection.first_seen.max(chunk.start),
            end: detection.last_seen.min(chunk.end).max(chunk.start),
        };
        return (0..count).map(|_| Sighting { chunk_id, span, looks: Vec::new() }).collect();
    }
    looks.sort_by(|a, b| a.time.total_cmp(&b.time));
    let mut tracks: Vec<Vec<Look>> = Vec::new();
    for look in looks {
        let nearest = tracks
            .iter_mut()
            .filter_map(|track| {
                let last = *track.last()?;
                let apart = last.apart(&look).filter(|_| last.time < look.time)?;
                Some((apart, track))
            })
            .min_by(|a, b| a.0.total_cmp(&b.0));
        match nearest {
            Some((_, track)) => track.push(look),
            None => tracks.push(vec![look]),
        }
    }
    // An object that jumps farther than the reach is still one when the detector counted one.
    if detection.count == 1 && tracks.len() > 1 && one_at_a_time(&tracks) {
        tracks = vec![tracks.concat()];
        tracks[0].sort_by(|a, b| a.time.total_cmp(&b.time));
    }
    tracks
        .into_iter()
        .map(|looks| {
            let start = looks.first().map_or(chunk.start, |look| look.time);
            let end = looks.last().map_or(chunk.end, |look| look.time);
            Sighting { chunk_id, span: Span { start, end }, looks }
        })
        .collect()
}

fn one_at_a_time(tracks: &[Vec<Look>]) -> bool {
    let mut times: Vec<f64> = tracks.iter().flatten().map(|look| look.time).collect();
    times.sort_by(f64::total_cmp);
    times.windows(2).all(|pair| pair[0] < pair[1])
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::domain::aggregation::testing::{output, video};

    fn objects(chunks: &[&[(&str, f64, [f64; 4])]]) -> Vec<(String, Vec<usize>)> {
        let outputs = chunks
            .iter()
            .map(|seen| {
                let mut labels: Vec<&str> = seen.iter().map(|s| s.0).collect();
                labels.dedup();
                let detections: Vec<Value> = labels
                    .iter()
                    .map(|label| {
                        let locations: Vec<Value> = seen
                            .iter()
                            .filter(|s| s.0 == *label)
                            .map(|(_, t, bounds)| json!({"t": t, "box": bounds}))
                            .collect();
                        json!({"label": label, "count": locations.len(), "locations": locations})
                    })
                    .collect();
                output(json!({"detections": detections}))
            })
            .collect();
        let video = video(10.0, chunks.len()).with(object_detection::ID, outputs);
        track(&video).into_iter().map(|o| (o.label.clone(), o.chunk_ids())).collect()
    }

    #[test]
    fn objects_go_on_where_they_were() {
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
                "a newcomer elsewhere is another one",
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
                "a chunk without ends the track",
                vec![vec![("car", 1.0, left)], vec![], vec![("car", 21.0, left)]],
                vec![("car", vec![0]), ("car", vec![2])],
            ),
            (
                "another size is another thing",
                vec![vec![("car", 1.0, left)], vec![("car", 11.0, [0.1, 0.4, 0.9, 0.6])]],
                vec![("car", vec![0]), ("car", vec![1])],
            ),
            ("people are not objects", vec![vec![("person", 1.0, left)]], vec![]),
        ] {
            let chunks: Vec<&[(&str, f64, [f64; 4])]> = chunks.iter().map(Vec::as_slice).collect();
            let expected: Vec<(String, Vec<usize>)> =
                expected.into_iter().map(|(label, ids)| (label.to_owned(), ids)).collect();
            assert_eq!(objects(&chunks), expected, "{what}");
        }
    }
}
