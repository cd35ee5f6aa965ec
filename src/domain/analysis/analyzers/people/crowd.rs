//! Decides which of a chunk's people are described individually and which are only counted, as
//! "12 people" or "a crowd". The analyzers `people` and `default_video` share the result.

use std::cmp::Reverse;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::analysis::tracks::{ChunkTracks, PersonTrack};
use crate::media::clothing::Garment;
use crate::media::tracking::{Location, Track, TrackPoint, max_at_once};

/// A person whose box is at least this high, as a share of the picture, is described individually
/// even if no clothing can be measured. Such a person fills the picture from head to waist or more,
/// so a viewer notices them as an individual.
const MIN_INDIVIDUAL_HEIGHT: f32 = 0.4;

/// A person whose box is less high than this share of the picture is far away.
const FAR_AWAY_HEIGHT: f32 = 0.25;

/// The people visible in a chunk.
#[derive(Debug)]
pub(crate) struct PeopleInView<'a> {
    /// The largest number of people in any one frame.
    pub(crate) count: u32,
    /// The people who are described, in order of their first appearance.
    pub(crate) individuals: Vec<Individual<'a>>,
    /// The people who are only counted.
    pub(crate) others: Option<OtherPeople>,
}

/// The people in a chunk who are counted but not described individually.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct OtherPeople {
    /// The largest number of them in any one frame.
    pub(crate) count: u32,
    /// Whether all of them are far away.
    pub(crate) far_away: bool,
}

/// A person in a chunk. If tracking lost the person, there are several tracks.
#[derive(Debug)]
pub(crate) struct Individual<'a> {
    /// The tracks, which have no frame in common.
    tracks: Vec<&'a PersonTrack>,
}

impl<'a> PeopleInView<'a> {
    /// Finds the people in the tracks of a chunk. Tracks that are more likely wrong than right are
    /// ignored, such as a single doubtful detection in many frames.
    pub(crate) fn from_tracks(chunk: &'a ChunkTracks) -> Self {
        let frames = chunk.times.len();
        let certain: Vec<&PersonTrack> =
            chunk.people.iter().filter(|person| person.track.is_certain(frames)).collect();
        let count = max_at_once(certain.iter().map(|person| &person.track)) as u32;
        let people = join_fragments(&certain);
        let alone = people.len() == 1;
        let (individuals, others): (Vec<_>, Vec<_>) =
            people.into_iter().partition(|person| alone || person.is_distinct());
        Self { count, individuals, others: OtherPeople::from_people(&others) }
    }
}

impl OtherPeople {
    fn from_people(people: &[Individual<'_>]) -> Option<Self> {
        let tracks = people.iter().flat_map(|person| &person.tracks).map(|person| &person.track);
        let count = max_at_once(tracks) as u32;
        let far_away = people.iter().filter_map(Individual::best_point).all(is_far_away);
        (count > 0).then_some(Self { count, far_away })
    }
}

impl<'a> Individual<'a> {
    /// Whether the person can be distinguished from others.
    fn is_distinct(&self) -> bool {
        let is_large = |point: &TrackPoint| point.bounds[3] >= MIN_INDIVIDUAL_HEIGHT;
        !self.garments().is_empty() || self.best_point().is_some_and(is_large)
    }

    /// The garments measured in most frames.
    pub(crate) fn garments(&self) -> &'a [Garment] {
        self.longest().map_or(&[], |person| &person.garments)
    }

    /// The track with the most frames.
    pub(crate) fn longest(&self) -> Option<&'a PersonTrack> {
        self.tracks.iter().copied().min_by_key(|person| Reverse(person.track.points.len()))
    }

    /// The track with the most confident detection, of which `portrait` is the image.
    pub(crate) fn surest(&self) -> Option<&'a PersonTrack> {
        let tracks = self.tracks.iter().copied();
        tracks.max_by(|a, b| a.track.confidence().total_cmp(&b.track.confidence()))
    }

    /// The most confident detection.
    pub(crate) fn best_point(&self) -> Option<&'a TrackPoint> {
        self.surest().and_then(|person| person.track.best_point())
    }

    /// All detections, in chronological order.
    pub(crate) fn locations(&self) -> Vec<Location> {
        let points = self.tracks.iter().flat_map(|person| &person.track.points);
        let mut locations: Vec<Location> = points.map(Location::from).collect();
        locations.sort_by(|a, b| a.t.total_cmp(&b.t));
        locations
    }

    /// Whether `person` can be the same one: the clothes are the same and no frame shows both.
    fn continues_in(&self, person: &PersonTrack) -> bool {
        wear_the_same(&person.garments, self.garments())
            && self.tracks.iter().all(|own| !share_frame(&own.track, &person.track))
    }
}

/// Whether a detection shows a person far away.
pub(super) fn is_far_away(point: &TrackPoint) -> bool {
    point.bounds[3] < FAR_AWAY_HEIGHT
}

/// Joins the tracks of a person whom tracking lost for a while. Each group of people with the same
/// clothes has as many members as are visible at once.
fn join_fragments<'a>(tracks: &[&'a PersonTrack]) -> Vec<Individual<'a>> {
    let mut people: Vec<Individual<'a>> = Vec::new();
    for track in tracks {
        match people.iter_mut().find(|person| person.continues_in(track)) {
            Some(person) => person.tracks.push(track),
            None => people.push(Individual { tracks: vec![track] }),
        }
    }
    people
}

/// Whether the garments on the same parts of the body have the same main colours. Further colours
/// are not compared, since they vary from frame to frame. People without measured garments count as
/// dressed the same.
fn wear_the_same(a: &[Garment], b: &[Garment]) -> bool {
    if a.is_empty() || b.is_empty() {
        return a.is_empty() && b.is_empty();
    }
    let mut same_part = a
        .iter()
        .flat_map(|a| b.iter().map(move |b| (a, b)))
        .filter(|(a, b)| a.part == b.part)
        .map(|(a, b)| a.colours.first() == b.colours.first())
        .peekable();
    same_part.peek().is_some() && same_part.all(|same| same)
}

/// Whether both tracks have a point in the same frame.
fn share_frame(a: &Track, b: &Track) -> bool {
    a.points.iter().any(|a| b.points.iter().any(|b| a.time == b.time))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::media::clothing::{BodyPart, TOP, TROUSERS};
    use ports::decoder::Image;

    fn garment(part: BodyPart, kind: &str, colours: &[&str]) -> Garment {
        let colours = colours.iter().map(|colour| (*colour).to_owned()).collect();
        Garment { part, kind: kind.into(), colours, details: Vec::new() }
    }

    fn top(colours: &[&str]) -> Vec<Garment> {
        vec![garment(BodyPart::Upper, TOP, colours)]
    }

    /// Builds a person who is seen at the given times with a confidence of 0.6.
    fn person(times: &[u32], height: f32, garments: Vec<Garment>) -> PersonTrack {
        let point = |time: &u32| TrackPoint {
            bounds: [0.4, 0.2, 0.1, height],
            ..TrackPoint::at(f64::from(*time), 0.6)
        };
        PersonTrack {
            track: Track { label: "person".into(), points: times.iter().map(point).collect() },
            garments,
            portrait: Image { width: 1, height: 1, rgb: vec![0; 3] },
        }
    }

    fn chunk(people: Vec<PersonTrack>) -> ChunkTracks {
        ChunkTracks { times: (0..8).map(f64::from).collect(), people, ..ChunkTracks::default() }
    }

    #[test]
    fn people_are_counted_at_once_and_described_if_distinct() {
        let small = |times: &[u32]| person(times, 0.1, Vec::new());
        let large = |times: &[u32]| person(times, 0.6, Vec::new());
        let red = |times: &[u32]| person(times, 0.3, top(&["red"]));
        let crowd = |count, far_away| Some(OtherPeople { count, far_away });
        for (what, people, expected) in [
            ("nobody", vec![], (0, 0, None)),
            ("alone", vec![small(&[0, 1])], (1, 1, None)),
            ("lost twice", vec![small(&[0, 1]), small(&[3, 4]), small(&[6, 7])], (1, 1, None)),
            ("the same clothes later", vec![red(&[0, 1]), red(&[4, 5])], (1, 1, None)),
            ("the same clothes at once", vec![red(&[0, 1]), red(&[1, 2])], (2, 2, None)),
            (
                "different clothes later",
                vec![red(&[0, 1]), person(&[4, 5], 0.3, top(&["blue"]))],
                (1, 2, None),
            ),
            (
                "one colour of the same clothes varies",
                vec![red(&[0, 1]), person(&[4, 5], 0.3, top(&["red", "grey"]))],
                (1, 1, None),
            ),
            (
                "the legs are visible later",
                vec![
                    red(&[0, 1]),
                    person(
                        &[4, 5],
                        0.3,
                        [top(&["red"]), vec![garment(BodyPart::Lower, TROUSERS, &["blue"])]]
                            .concat(),
                    ),
                ],
                (1, 1, None),
            ),
            ("a crowd", (0..12).map(|_| small(&[0, 1])).collect(), (12, 0, crowd(12, true))),
            (
                "a crowd whose tracks break",
                [[0, 1], [4, 5]].iter().flat_map(|t| (0..12).map(|_| small(t))).collect(),
                (12, 0, crowd(12, true)),
            ),
            (
                "one of several is large",
                vec![large(&[0, 1]), small(&[0, 1])],
                (2, 1, crowd(1, true)),
            ),
            (
                "neither far away nor distinct",
                vec![person(&[0, 1], 0.3, Vec::new()), small(&[0, 1])],
                (2, 0, crowd(2, false)),
            ),
            ("a doubtful glimpse", vec![red(&[0, 1]), large(&[3])], (1, 1, None)),
            ("only a doubtful glimpse", vec![large(&[3])], (0, 0, None)),
        ] {
            let chunk = chunk(people);
            let found = PeopleInView::from_tracks(&chunk);
            assert_eq!((found.count, found.individuals.len(), found.others), expected, "{what}");
        }
    }

    #[test]
    fn an_individual_has_the_detections_of_all_tracks() {
        let mut later = person(&[4, 5, 6], 0.3, top(&["red", "grey"]));
        later.track.points[1].confidence = 0.9;
        let chunk = chunk(vec![person(&[0, 1], 0.3, top(&["red"])), later]);
        let found = PeopleInView::from_tracks(&chunk);
        let [individual] = &found.individuals[..] else { panic!("{found:?}") };
        let times: Vec<f64> = individual.locations().iter().map(|location| location.t).collect();
        assert_eq!(times, [0.0, 1.0, 4.0, 5.0, 6.0]);
        assert_eq!(individual.best_point().map(|point| point.time), Some(5.0));
        assert_eq!(individual.garments(), top(&["red", "grey"]));
    }
}
