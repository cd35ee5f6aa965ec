//! A person's garments. They can be estimated from the colours in a picture.

use ports::decoder::Image;
use ports::detector::BoundingBox;
use serde::{Deserialize, Serialize};

use crate::media::colour;

/// Minimum share of a garment that its main colour covers. Below it, the garment is patterned or
/// the box shows other things.
const MIN_MAIN_SHARE: f32 = 0.5;

/// Minimum share of a garment that its second colour covers.
const MIN_SECOND_SHARE: f32 = 0.3;

/// A colour that covers this share of the strip on either side of a garment may be that of the
/// background.
const BACKGROUND_SHARE: f32 = 0.5;

/// The width of these strips, as a share of the box's width.
const STRIP: f32 = 0.25;

/// If the ratio of a box's height to its width is above this value, the box shows the legs.
const STANDING_RATIO: f32 = 2.0;

/// If the ratio of a box's width to its height is above this value, the box shows a person only
/// from the chest up.
const CHEST_UP_RATIO: f32 = 0.75;

/// Minimum area of the measured part of the torso, in pixels. In a smaller area, the colours of
/// compressed video, which stores colour at half the resolution, mix with the background.
const MIN_TORSO_AREA: f32 = 900.0;

/// The share of a box's width in which clothes are measured. Its sides show the background.
const WIDTH_SHARE: f32 = 0.5;

/// The kind of an upper-body garment of which only the colours are known.
pub(crate) const TOP: &str = "top";

/// The kind of a garment below the waist of which only the colours are known.
pub(crate) const TROUSERS: &str = "trousers";

/// The part of the body that a garment is worn on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BodyPart {
    /// Unknown, because only the colour is known.
    #[default]
    Unknown,
    /// Jackets, shirts.
    Upper,
    /// Trousers, skirts.
    Lower,
    /// Dresses, suits.
    Whole,
    /// Hats.
    Head,
    /// Glasses.
    Eyes,
    /// Ties, scarves.
    Neck,
    /// Gloves.
    Hands,
    /// Shoes.
    Feet,
    /// Belts, bags.
    Accessory,
}

/// One garment.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(default)]
pub struct Garment {
    /// The part of the body that the garment is worn on.
    pub part: BodyPart,
    /// The kind of garment, with one name for easily confused kinds; empty if unknown.
    pub kind: String,
    /// The names of the colours. Measured colours are sorted by their share of the garment.
    pub colours: Vec<String>,
    /// Further attributes, such as `striped`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub details: Vec<String>,
}

/// Measures the garments of the person in a box: those of one or two colours that the background
/// does not have. Returns `None` if the torso covers less than [`MIN_TORSO_AREA`].
pub(crate) fn measure_garments(image: &Image, bounds: &BoundingBox) -> Option<Vec<Garment>> {
    let [x, y, w, h] = *bounds;
    let (width, height) = (w * image.width as f32, h * image.height as f32);
    let chest_up = width > CHEST_UP_RATIO * height;
    let (torso_start, torso_end) = if chest_up { (0.6, 1.0) } else { (0.2, 0.45) };
    if WIDTH_SHARE * width * (torso_end - torso_start) * height < MIN_TORSO_AREA {
        return None;
    }
    let garment = |part, kind: &str, from: f32, to: f32| {
        let margin = (1.0 - WIDTH_SHARE) / 2.0;
        let band = |x, w| [x, y + from * h, w, (to - from) * h];
        let mut colours = prominent(image, band(x + margin * w, WIDTH_SHARE * w));
        let sides = [band(x - STRIP * w, STRIP * w), band(x + w, STRIP * w)];
        if colours
            .first()
            .is_some_and(|main| sides.iter().any(|side| is_background(image, *side, main)))
        {
            colours.clear();
        }
        let garment = Garment { part, kind: kind.to_owned(), colours, details: Vec::new() };
        (!garment.colours.is_empty()).then_some(garment)
    };
    let top = garment(BodyPart::Upper, TOP, torso_start, torso_end);
    let lower = match height > STANDING_RATIO * width {
        true => garment(BodyPart::Lower, TROUSERS, 0.55, 0.85),
        false => None,
    };
    Some(top.into_iter().chain(lower).collect())
}

/// Returns the one or two most frequent colours of a garment, or none if it has no main colour.
fn prominent(image: &Image, part: BoundingBox) -> Vec<String> {
    let colours =
        colour::prominent(image, part).into_iter().zip([MIN_MAIN_SHARE, MIN_SECOND_SHARE]);
    let main = colours.take_while(|((_, share), min_share)| share >= min_share);
    main.map(|((name, _), _)| name.to_owned()).collect()
}

/// Whether much of a part of the background has a colour.
fn is_background(image: &Image, part: BoundingBox, name: &str) -> bool {
    let colours = colour::prominent(image, part);
    colours.iter().any(|(other, share)| *other == name && *share >= BACKGROUND_SHARE)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Returns a picture of 100 × 200 pixels of a person in red and, below the waist, blue, in front
    /// of a white wall. The person is 60 pixels wide.
    pub(crate) fn dressed() -> Image {
        let pixel = |i: usize| match (i % 100, i / 100) {
            (0..20 | 80..100, _) => [250, 250, 250],
            (_, 0..100) => [220, 10, 10],
            _ => [10, 10, 220],
        };
        Image { width: 100, height: 200, rgb: (0..100 * 200).flat_map(pixel).collect() }
    }

    fn worn(part: BodyPart, kind: &str, colour: &str) -> Garment {
        Garment { part, kind: kind.into(), colours: vec![colour.into()], details: Vec::new() }
    }

    #[test]
    fn garments_are_measured_by_height_in_the_box() {
        let image = dressed();
        let top = worn(BodyPart::Upper, TOP, "red");
        let below = worn(BodyPart::Lower, TROUSERS, "blue");
        let measured = |bounds: [f32; 4]| measure_garments(&image, &bounds);
        assert_eq!(measured([0.2, 0.0, 0.6, 1.0]), Some(vec![top.clone(), below]));
        assert_eq!(measured([0.0, 0.0, 1.0, 0.5]), Some(vec![top.clone()]), "from the chest up");
        assert_eq!(measured([0.2, 0.0, 0.6, 0.6]), Some(vec![top]), "without legs");
        assert_eq!(measured([0.2, 0.0, 0.1, 0.1]), None, "too small");
        let far_away = [0.2, 0.0, 0.3, 0.4];
        assert_eq!(measured(far_away), None, "30 × 80 pixels, a torso of 15 × 20");
    }

    #[test]
    fn patterns_and_colours_of_the_background_are_not_measured() {
        let image = dressed();
        let between = [0.3, 0.0, 0.4, 1.0];
        assert_eq!(measure_garments(&image, &between), Some(Vec::new()), "red on both sides");
        let striped = |i: usize| [[220, 10, 10], [10, 10, 220], [10, 200, 10]][i / 500 % 3];
        let rgb = (0..100 * 200).flat_map(striped).collect();
        let striped = Image { width: 100, height: 200, rgb };
        assert_eq!(measure_garments(&striped, &[0.0, 0.0, 1.0, 1.0]), Some(Vec::new()));
    }
}
