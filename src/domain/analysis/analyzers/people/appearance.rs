//! Describes a person from measurements: clothing colours, position, size and movement.

use ports::llm::Person;

use crate::analysis::analyzers::people::parse_garments;
use crate::analysis::evidence::PersonTrack;
use crate::analysis::prose::{movement, side};
use crate::media::clothing::{BodyPart, Garment};
use crate::media::geometry::Side;
use crate::media::tracking::Track;

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

/// Describes a person from measurements.
pub(crate) fn measured_appearance(person: &PersonTrack) -> Appearance {
    let (position, action) =
        (position(&person.track), movement(person.track.movement()).to_owned());
    let description =
        format!("A person{}, {action}, {position}.", clothing_phrase(&person.garments));
    let clothing = person.garments.iter().map(garment_phrase).collect::<Vec<_>>().join(", ");
    Appearance { description, clothing, garments: person.garments.clone(), position, action }
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

fn position(track: &Track) -> String {
    let Some(surest) = track.best_point() else { return String::new() };
    let distance = match surest.bounds[3] {
        h if h > 0.7 => ", close",
        h if h < 0.25 => ", far away",
        _ => "",
    };
    format!("{}{distance}", side(Side::containing(&surest.bounds)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::media::clothing::measure_garments;
    use crate::media::clothing::tests::dressed;
    use crate::media::tracking::TrackPoint;

    #[test]
    fn position_and_movement_are_measured_from_boxes() {
        let at = |time, x: f32, h: f32, confidence| TrackPoint {
            bounds: [x, 0.1, 0.1, h],
            ..TrackPoint::at(time, confidence)
        };
        let person_at = |points| PersonTrack {
            track: Track { label: "person".into(), points },
            garments: measure_garments(&dressed(), &[0.2, 0.0, 0.6, 1.0]),
            portrait: dressed(),
        };
        let walking = person_at(vec![at(0.0, 0.1, 0.8, 0.9), at(1.0, 0.6, 0.8, 0.5)]);
        assert_eq!(measured_appearance(&walking).clothing, "red top, blue below the waist");
        assert_eq!(
            measured_appearance(&walking).description,
            "A person in a red top and blue below the waist, moving to the right, on the left, close."
        );
        let nearing = person_at(vec![at(0.0, 0.5, 0.1, 0.9), at(1.0, 0.5, 0.2, 0.5)]);
        assert_eq!(measured_appearance(&nearing).action, "coming closer");
        assert_eq!(measured_appearance(&nearing).position, "in the middle, far away");
        assert_eq!(
            measured_appearance(&person_at(vec![at(0.0, 0.8, 0.5, 0.9)])).action,
            "seen for a moment"
        );
    }

    #[test]
    fn refine_prefers_the_models_words() {
        let mut appearance =
            Appearance { action: "staying in place".into(), ..Appearance::default() };
        let described = Person { clothing: "green coat".into(), ..Person::default() };
        appearance.refine(described);
        assert_eq!(
            (appearance.clothing.as_str(), appearance.action.as_str()),
            ("green coat", "staying in place")
        );
        assert_eq!(appearance.garments, parse_garments("green coat"));
        let unclear = Person { clothing: "cannot be seen".into(), ..Person::default() };
        appearance.refine(unclear);
        assert_eq!(appearance.garments, parse_garments("green coat"), "no garment named");
    }
}
