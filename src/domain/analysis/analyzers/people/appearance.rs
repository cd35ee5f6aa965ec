//! Describes a person from measurements: clothing colours, position, size and movement.

use ports::llm::Person;

use crate::analysis::analyzers::people::crowd::{PeopleInView, is_far_away};
use crate::analysis::analyzers::people::parse_garments;
use crate::analysis::prose::{movement as movement_phrase, side};
use crate::media::clothing::{BodyPart, Garment};
use crate::media::geometry::Side;
use crate::media::tracking::TrackPoint;

/// How the description of a person begins if it is composed from measurements.
pub(super) const PERSON: &str = "A person";

/// The distance of a person who is much smaller than the picture.
pub(super) const FAR_AWAY: &str = "far away";

/// The appearance of a person.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Appearance {
    pub(crate) description: String,
    pub(crate) clothing: String,
    pub(crate) garments: Vec<Garment>,
    pub(crate) position: String,
    pub(crate) action: String,
}

/// Describes a measured garment in a phrase, such as `red top` or `blue below the waist`.
pub(crate) fn garment_phrase(garment: &Garment) -> String {
    let colours = garment.colours.join(" and ");
    match garment.part {
        BodyPart::Lower => format!("{colours} below the waist"),
        _ => format!("{colours} {}", garment.kind),
    }
}

/// Describes the individuals among people from measurements, in order. A description names the
/// position only if it distinguishes the person from others.
pub(crate) fn measure(people: &PeopleInView<'_>) -> Vec<Appearance> {
    let is_alone = people.count == 1;
    let measured = people.individuals.iter().map(|person| {
        let position = person.best_point().filter(|_| !is_alone).map(position);
        let movement = person.longest().map(|longest| longest.track.movement());
        let garments = person.garments();
        Appearance {
            clothing: garments.iter().map(garment_phrase).collect::<Vec<_>>().join(", "),
            garments: garments.to_vec(),
            position: position.unwrap_or_default(),
            action: movement.filter(|m| m.is_moving()).map_or("", movement_phrase).to_owned(),
            ..Appearance::default()
        }
    });
    let mut appearances: Vec<Appearance> = measured.collect();
    let descriptions: Vec<String> = appearances
        .iter()
        .map(|appearance| {
            let is_like = |other: &Appearance| {
                other.clothing == appearance.clothing && other.position != appearance.position
            };
            let place = appearance.clothing.is_empty() || appearances.iter().any(is_like);
            appearance.describe(place)
        })
        .collect();
    for (appearance, description) in appearances.iter_mut().zip(descriptions) {
        appearance.description = description;
    }
    appearances
}

/// Describes the clothing in a phrase, such as ` in an orange top and blue below the waist`. The
/// phrase is empty if there are no garments.
fn clothing_phrase(garments: &[Garment]) -> String {
    let phrases = garments.iter().map(|garment| {
        let phrase = garment_phrase(garment);
        let article = match garment.part {
            BodyPart::Lower => "",
            _ if phrase.starts_with("orange") => "an ",
            _ => "a ",
        };
        format!("{article}{phrase}")
    });
    let clothing = phrases.collect::<Vec<_>>().join(" and ");
    if clothing.is_empty() { clothing } else { format!(" in {clothing}") }
}

impl Appearance {
    /// Composes a sentence from the measurements, with the position if `place` is set.
    fn describe(&self, place: bool) -> String {
        let clothing = clothing_phrase(&self.garments);
        let position = if place { self.position.as_str() } else { "" };
        let details: Vec<&str> =
            [position, &self.action].into_iter().filter(|detail| !detail.is_empty()).collect();
        let separator = match details.as_slice() {
            [] => "",
            _ if clothing.is_empty() => " ",
            _ => ", ",
        };
        format!("{PERSON}{clothing}{separator}{}.", details.join(", "))
    }

    /// Replaces measurements with the vision model's words wherever the model provides any.
    pub(crate) fn refine(&mut self, person: Person) {
        let garments = parse_garments(&person.clothing);
        if !garments.is_empty() {
            self.garments = garments;
        }
        for (measured, described) in [
            (&mut self.description, person.description),
            (&mut self.clothing, person.clothing),
            (&mut self.action, person.action),
        ] {
            if !described.trim().is_empty() {
                *measured = described.trim().to_owned();
            }
        }
    }
}

/// Describes the position of a detection in a phrase, such as `on the left, close`.
fn position(point: &TrackPoint) -> String {
    let side = side(Side::containing(&point.bounds));
    match distance(point) {
        "" => side.to_owned(),
        distance => format!("{side}, {distance}"),
    }
}

/// Describes the distance from the camera; empty if it is neither small nor large.
fn distance(point: &TrackPoint) -> &'static str {
    match point.bounds[3] {
        height if height > 0.7 => "close",
        _ if is_far_away(point) => FAR_AWAY,
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::tracks::{ChunkTracks, PersonTrack};
    use crate::media::clothing::measure_garments;
    use crate::media::clothing::tests::dressed;
    use crate::media::tracking::Track;

    fn at(time: f64, x: f32, height: f32, confidence: f32) -> TrackPoint {
        TrackPoint { bounds: [x, 0.1, 0.1, height], ..TrackPoint::at(time, confidence) }
    }

    /// Builds a chunk with these people, of whom the first `dressed` ones wear the same clothes.
    fn chunk(dressed_people: usize, people: Vec<Vec<TrackPoint>>) -> ChunkTracks {
        let person = |(n, points)| PersonTrack {
            track: Track { label: "person".into(), points },
            garments: if n < dressed_people {
                measure_garments(&dressed(), &[0.2, 0.0, 0.6, 1.0]).unwrap_or_default()
            } else {
                Vec::new()
            },
            portrait: dressed(),
        };
        let people = people.into_iter().enumerate().map(person).collect();
        ChunkTracks { times: vec![0.0, 1.0], people, ..ChunkTracks::default() }
    }

    #[test]
    fn only_what_distinguishes_a_person_is_described() {
        const WORN: &str = "A person in a red top and blue below the waist";
        let still = |x| vec![at(0.0, x, 0.5, 0.9), at(1.0, x, 0.5, 0.5)];
        let walking = vec![at(0.0, 0.1, 0.8, 0.9), at(1.0, 0.6, 0.8, 0.5)];
        for (what, chunk, expected) in [
            ("alone", chunk(1, vec![still(0.1)]), vec![format!("{WORN}.")]),
            (
                "moving",
                chunk(1, vec![walking.clone()]),
                vec![format!("{WORN}, moving to the right.")],
            ),
            ("no clothes measured", chunk(0, vec![still(0.1)]), vec!["A person.".into()]),
            (
                "dressed differently",
                chunk(1, vec![still(0.1), still(0.8)]),
                vec![format!("{WORN}."), "A person on the right.".into()],
            ),
            (
                "dressed the same",
                chunk(2, vec![still(0.1), still(0.8)]),
                vec![format!("{WORN}, on the left."), format!("{WORN}, on the right.")],
            ),
            (
                "dressed the same and at the same place",
                chunk(2, vec![still(0.1), still(0.15)]),
                vec![format!("{WORN}."), format!("{WORN}.")],
            ),
            (
                "moving between others",
                chunk(0, vec![walking, still(0.5)]),
                vec![
                    "A person on the left, close, moving to the right.".into(),
                    "A person in the middle.".into(),
                ],
            ),
        ] {
            let appearances = measure(&PeopleInView::from_tracks(&chunk));
            let described: Vec<String> = appearances.into_iter().map(|a| a.description).collect();
            assert_eq!(described, expected, "{what}");
        }
    }

    #[test]
    fn position_and_movement_are_measured_from_boxes() {
        let nearing = vec![at(0.0, 0.5, 0.1, 0.9), at(1.0, 0.5, 0.2, 0.5)];
        let chunk = chunk(1, vec![nearing, vec![at(0.0, 0.8, 0.8, 0.9)]]);
        let appearances = measure(&PeopleInView::from_tracks(&chunk));
        let measured: Vec<(&str, &str)> = appearances
            .iter()
            .map(|appearance| (appearance.position.as_str(), appearance.action.as_str()))
            .collect();
        assert_eq!(
            measured,
            [("in the middle, far away", "coming closer"), ("on the right, close", "")]
        );
        assert_eq!(appearances[0].clothing, "red top, blue below the waist");
    }

    #[test]
    fn refine_prefers_the_models_words() {
        let mut appearance = Appearance { action: "moving away".into(), ..Appearance::default() };
        let described = Person { clothing: "green coat".into(), ..Person::default() };
        appearance.refine(described);
        assert_eq!(
            (appearance.clothing.as_str(), appearance.action.as_str()),
            ("green coat", "moving away")
        );
        assert_eq!(appearance.garments, parse_garments("green coat"));
        let unclear = Person { clothing: "cannot be seen".into(), ..Person::default() };
        appearance.refine(unclear);
        assert_eq!(appearance.garments, parse_garments("green coat"), "no garment named");
    }
}
