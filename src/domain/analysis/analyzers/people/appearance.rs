//! What can be said of a person from measures alone: colours of the clothes, place, size, movement.

use ports::decoder::Image;
use ports::detector::BoundingBox;
use ports::llm::Person;

use crate::domain::analysis::evidence::PersonTrack;
use crate::domain::analysis::prose::{movement, side};
use crate::domain::media::colour;
use crate::domain::media::geometry::Side;
use crate::domain::media::tracking::Track;

/// A colour that covers less of a garment is its pattern or its surroundings.
const PROMINENT: f32 = 0.3;

/// Wider than this for its height, a box shows a person from the chest up.
const HALF_LENGTH: f32 = 0.75;

/// A person as described.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Appearance {
    pub(crate) description: String,
    pub(crate) clothing: String,
    pub(crate) position: String,
    pub(crate) action: String,
}

/// The colours of the clothes in a box, as `red top, blue below the waist`; empty when the box is
/// too small to tell. `shape` is width over height in pixels.
pub(crate) fn clothing(image: &Image, bounds: &BoundingBox) -> String {
    /// Fewer pixels in height show no clothes.
    const READABLE: f32 = 40.0;
    let [x, y, w, h] = *bounds;
    let (width, height) = (w * image.width as f32, h * image.height as f32);
    if height < READABLE {
        return String::new();
    }
    let band = |from: f32, to: f32| [x + 0.25 * w, y + from * h, 0.5 * w, (to - from) * h];
    if width > HALF_LENGTH * height {
        return garment(image, band(0.6, 1.0)).map_or(String::new(), |c| format!("{c} top"));
    }
    let top = garment(image, band(0.2, 0.45)).map(|c| format!("{c} top"));
    let below = garment(image, band(0.55, 0.85)).map(|c| format!("{c} below the waist"));
    top.into_iter().chain(below).collect::<Vec<_>>().join(", ")
}

fn garment(image: &Image, part: BoundingBox) -> Option<String> {
    match colour::prominent(image, part)[..] {
        [(first, a), (second, b)] if a >= PROMINENT && b >= PROMINENT => {
            Some(format!("{first} and {second}"))
        }
        [(first, a), ..] if a >= PROMINENT => Some(first.to_owned()),
        _ => None,
    }
}

/// What the measures say of a person.
pub(crate) fn person(seen: &PersonTrack) -> Appearance {
    let (position, action) = (position(&seen.track), movement(seen.track.movement()).to_owned());
    let wearing = wearing(&seen.clothing);
    let description = format!("A person{wearing}, {action}, {position}.");
    Appearance { description, clothing: seen.clothing.clone(), position, action }
}

/// ` in an orange top and blue below the waist`, or nothing.
fn wearing(clothing: &str) -> String {
    let worn = clothing.split(", ").filter(|garment| !garment.is_empty()).map(|garment| {
        let article = match garment {
            garment if !garment.ends_with(" top") => "",
            garment if garment.starts_with("orange") => "an ",
            _ => "a ",
        };
        format!("{article}{garment}")
    });
    let worn = worn.collect::<Vec<_>>().join(" and ");
    if worn.is_empty() { worn } else { format!(" in {worn}") }
}

/// Puts the model's words in the place of measures, where it has any.
pub(crate) fn refine(known: &mut Appearance, seen: Person) {
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
    use crate::domain::media::tracking::TrackPoint;

    /// A red upper and a blue lower half.
    fn dressed() -> Image {
        let rgb =
            (0..100 * 200).flat_map(|i| if i < 100 * 100 { [220, 10, 10] } else { [10, 10, 220] });
        Image { width: 100, height: 200, rgb: rgb.collect() }
    }

    #[test]
    fn clothes_are_told_by_height_in_the_box() {
        let image = dressed();
        assert_eq!(clothing(&image, &[0.2, 0.0, 0.6, 1.0]), "red top, blue below the waist");
        assert_eq!(clothing(&image, &[0.0, 0.0, 1.0, 0.5]), "red top", "from the chest up");
        assert_eq!(clothing(&image, &[0.2, 0.0, 0.1, 0.1]), "", "too small");
    }

    #[test]
    fn place_and_movement_come_from_the_boxes() {
        let at = |time, x: f32, h: f32, confidence| TrackPoint {
            time,
            bounds: [x, 0.1, 0.1, h],
            confidence,
            colours: vec![0.0; 64],
        };
        let person_at = |points| PersonTrack {
            track: Track { label: "person".into(), points },
            clothing: "red top, blue below the waist".into(),
            portrait: dressed(),
        };
        let walking = person_at(vec![at(0.0, 0.1, 0.8, 0.9), at(1.0, 0.6, 0.8, 0.5)]);
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
    }
}
