//! A person's garments. They can be estimated from the colours in a picture.

use ports::decoder::Image;
use ports::detector::BoundingBox;
use serde::{Deserialize, Serialize};

use crate::media::colour;

/// A colour counts if it covers at least this share of a garment. Smaller areas are patterns or
/// background.
const MIN_SHARE: f32 = 0.3;

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

/// Measures the garments of the person in a box. Returns no garments if the torso covers less than
/// [`MIN_TORSO_AREA`].
pub(crate) fn measure_garments(image: &Image, bounds: &BoundingBox) -> Vec<Garment> {
    let [x, y, w, h] = *bounds;
    let (width, height) = (w * image.width as f32, h * image.height as f32);
    let chest_up = width > CHEST_UP_RATIO * height;
    let (torso_start, torso_end) = if chest_up { (0.6, 1.0) } else { (0.2, 0.45) };
    if WIDTH_SHARE * width * (torso_end - torso_start) * height < MIN_TORSO_AREA {
        return Vec::new();
    }
    let garment = |part, kind: &str, from: f32, to: f32| {
        let margin = (1.0 - WIDTH_SHARE) / 2.0;
        let band = [x + margin * w, y + from * h, WIDTH_SHARE * w, (to - from) * h];
        let colours = prominent(image, band);
        let garment = Garment { part, kind: kind.to_owned(), colours, details: Vec::new() };
        (!garment.colours.is_empty()).then_some(garment)
    };
    let top = garment(BodyPart::Upper, TOP, torso_start, torso_end);
    let lower = if chest_up { None } else { garment(BodyPart::Lower, TROUSERS, 0.55, 0.85) };
    top.into_iter().chain(lower).collect()
}

/// Returns the one or two most frequent colours of a garment.
fn prominent(image: &Image, part: BoundingBox) -> Vec<String> {
    let colours = colour::prominent(image, part);
    let main = colours.into_iter().take_while(|(_, share)| *share >= MIN_SHARE);
    main.map(|(name, _)| name.to_owned()).collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Returns a picture with a red upper half and a blue lower half.
    pub(crate) fn dressed() -> Image {
        let rgb =
            (0..100 * 200).flat_map(|i| if i < 100 * 100 { [220, 10, 10] } else { [10, 10, 220] });
        Image { width: 100, height: 200, rgb: rgb.collect() }
    }

    fn worn(part: BodyPart, kind: &str, colour: &str) -> Garment {
        Garment { part, kind: kind.into(), colours: vec![colour.into()], details: Vec::new() }
    }

    #[test]
    fn garments_are_measured_by_height_in_the_box() {
        let image = dressed();
        let top = worn(BodyPart::Upper, TOP, "red");
        let below = worn(BodyPart::Lower, TROUSERS, "blue");
        assert_eq!(measure_garments(&image, &[0.2, 0.0, 0.6, 1.0]), [top.clone(), below]);
        assert_eq!(measure_garments(&image, &[0.0, 0.0, 1.0, 0.5]), [top], "from the chest up");
        assert_eq!(measure_garments(&image, &[0.2, 0.0, 0.1, 0.1]), [], "too small");
        let far_away = [0.2, 0.0, 0.3, 0.4];
        assert_eq!(measure_garments(&image, &far_away), [], "30 × 80 pixels, a torso of 15 × 20");
    }
}
