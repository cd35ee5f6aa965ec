//! What can be said of a person from measures alone: colours of the clothes, place, size, movement.

use ports::llm::Person;

use crate::domain::analysis::analyzers::people::garments;
use crate::domain::analysis::evidence::PersonTrack;
use crate::domain::analysis::prose::{movement, side};
use crate::domain::media::clothing::{BodyPart, Garment};
use crate::domain::media::geometry::Side;
use crate::domain::media::tracking::Track;

/// A person as described.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Appearance {
    pub(crate) description: String,
    pub(crate) clothing: String,
    pub(crate) garments: Vec<Garment>,
    pub(crate) position: String,
    pub(crate) action: String,
}

/// `red top` or `blue below the waist`, of a measured garment.
pub(crate) fn worn(garment: &Garment) -> String {
    let colours = garment.colours.join(" and ");
    match garment.part {
        BodyPart::Lower => format!("{colours} below the waist"),
        _ => format!("{colours} {}", garment.kind),
    }
}

/// What the measures say of a person.
pub(crate) fn person(seen: &PersonTrack) -> Appearance {
    let (position, action) = (position(&seen.track), movement(seen.track.movement()).to_owned());
    let description = format!("A person{}, {action}, {position}.", wearing(&seen.garments));
    let clothing = seen.garments.iter().map(worn).collect::<Vec<_>>().join(", ");
    Appearance { description, clothing, garments: seen.garments.clone(), position, action }
}

/// ` in an orange top and blue below the waist`, or nothing.
fn wearing(garments: &[Garment]) -> String {
    let told = garments.iter().map(|garment| {
        let worn = worn(garment);
        let article = match garment.part {
            BodyPart::Lower => "",
            _ if worn.starts_with("orange") => "an ",
            _ => "a ",
        };
        format!("{article}{worn}")
    });
    let told = told.collect::<Vec<_>>().join(" and ");
    if told.is_empty() { told } else { format!(" in {told}") }
}

/// Puts the model's words in the place of measures, where it has any.
pub(crate) fn refine(known: &mut Appearance, seen: Person) {
    let told = garments(&seen.clothing);
    if !told.is_empty() {
        known.garments = told;
    }
    for (measured, better) in [
        (&mut known.description, seen.description),
        (&mut known.clothing, seen.clothing),
        (&mut known.action, seen.action),
    ] {
        if !better.trim().is_empty() {
            *measured = better.trim().to_owned();
        }
    }
}

fn position(track: &Track) -> String {
    let Some(surest) = track.surest() else { return String::new() };
    let distance = match surest.bounds[3] {
        h if h > 0.7 => ", close",
        h if h < 0.25 => ", far away",
        _ => "",
    };
    format!("{}{distance}", side(Side::of(&surest.bounds)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::media::clothing::measured;
    use crate::domain::media::clothing::tests::dressed;
    use crate::domain::media::tracking::TrackPoint;

    #[test]
    fn place_and_movement_come_from_the_boxes() {
        let at = |time, x: f32, h: f32, confidence| TrackPoint {
            bounds: [x, 0.1, 0.1, h],
            ..TrackPoint::at(time, confidence)
        };
        let person_at = |points| PersonTrack {
            track: Track { label: "person".into(), points },
            garments: measured(&dressed(), &[0.2, 0.0, 0.6, 1.0]),
            portrait: dressed(),
        };
        let walking = person_at(vec![at(0.0, 0.1, 0.8, 0.9), at(1.0, 0.6, 0.8, 0.5)]);
        assert_eq!(person(&walking).clothing, "red top, blue below the waist");
        assert_eq!(
            person(&walking).description,
            "A person in a red top and blue below the waist, moving to the right, on the left, close."
        );
        let nearing = person_at(vec![at(0.0, 0.5, 0.1, 0.9), at(1.0, 0.5, 0.2, 0.5)]);
        assert_eq!(person(&nearing).action, "coming closer");
        assert_eq!(person(&nearing).position, "in the middle, far away");
        assert_eq!(person(&person_at(vec![at(0.0, 0.8, 0.5, 0.9)])).action, "seen for a moment");
    }

    #[test]
    fn the_models_words_replace_measures_where_it_has_any() {
        let mut known = Appearance { action: "staying in place".into(), ..Appearance::default() };
        let seen = Person { clothing: "green coat".into(), ..Person::default() };
        refine(&mut known, seen);
        assert_eq!(
            (known.clothing.as_str(), known.action.as_str()),
            ("green coat", "staying in place")
        );
        assert_eq!(known.garments, garments("green coat"));
        let unclear = Person { clothing: "cannot be seen".into(), ..Person::default() };
        refine(&mut known, unclear);
        assert_eq!(known.garments, garments("green coat"), "no garment is told");
    }
}
