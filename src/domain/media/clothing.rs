//! What somebody wears, garment by garment, and how much of it the colours in a picture tell.

use ports::decoder::Image;
use ports::detector::BoundingBox;
use serde::{Deserialize, Serialize};

use crate::domain::media::colour;

/// A colour that covers less of a garment is its pattern or its surroundings.
const PROMINENT: f32 = 0.3;

/// Wider than this for its height, a box shows a person from the chest up.
const HALF_LENGTH: f32 = 0.75;

/// Fewer pixels in height show no clothes.
const READABLE: f32 = 40.0;

/// What is worn on the upper body, as far as its colours tell.
pub(crate) const TOP: &str = "top";

/// What is worn below the waist, as far as its colours tell.
pub(crate) const TROUSERS: &str = "trousers";

/// Where on the body something is worn.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BodyPart {
    /// Clothes of which only the colour is told.
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
    /// Where it is worn.
    pub part: BodyPart,
    /// What it is, by one name for all that can be taken for each other; empty where unknown.
    pub kind: String,
    /// Names of its colours, that of the largest part first where it was measured.
    pub colours: Vec<String>,
    /// Further words, as `striped`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub details: Vec<String>,
}

/// What a person in a box wears; nothing where the box is too small to tell.
pub(crate) fn measured(image: &Image, bounds: &BoundingBox) -> Vec<Garment> {
    let [x, y, w, h] = *bounds;
    let (width, height) = (w * image.width as f32, h * image.height as f32);
    if height < READABLE {
        return Vec::new();
    }
    let garment = |part, kind: &str, from: f32, to: f32| {
        let band = [x + 0.25 * w, y + from * h, 0.5 * w, (to - from) * h];
        let colours = prominent(image, band);
        let garment = Garment { part, kind: kind.to_owned(), colours, details: Vec::new() };
        (!garment.colours.is_empty()).then_some(garment)
    };
    if width > HALF_LENGTH * height {
        return garment(BodyPart::Upper, TOP, 0.6, 1.0).into_iter().collect();
    }
    let top = garment(BodyPart::Upper, TOP, 0.2, 0.45);
    top.into_iter().chain(garment(BodyPart::Lower, TROUSERS, 0.55, 0.85)).collect()
}

/// The one or two colours that are a garment's own.
fn prominent(image: &Image, part: BoundingBox) -> Vec<String> {
    let colours = colour::prominent(image, part);
    let own = colours.into_iter().take_while(|(_, share)| *share >= PROMINENT);
    own.map(|(name, _)| name.to_owned()).collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A red upper and a blue lower half.
    pub(crate) fn dressed() -> Image {
        let rgb =
            (0..100 * 200).flat_map(|i| if i < 100 * 100 { [220, 10, 10] } else { [10, 10, 220] });
        Image { width: 100, height: 200, rgb: rgb.collect() }
    }

    fn worn(part: BodyPart, kind: &str, colour: &str) -> Garment {
        Garment { part, kind: kind.into(), colours: vec![colour.into()], details: Vec::new() }
    }

    #[test]
    fn clothes_are_measured_by_height_in_the_box() {
        let image = dressed();
        let top = worn(BodyPart::Upper, TOP, "red");
        let below = worn(BodyPart::Lower, TROUSERS, "blue");
        assert_eq!(measured(&image, &[0.2, 0.0, 0.6, 1.0]), [top.clone(), below]);
        assert_eq!(measured(&image, &[0.0, 0.0, 1.0, 0.5]), [top], "from the chest up");
        assert_eq!(measured(&image, &[0.2, 0.0, 0.1, 0.1]), [], "too small");
    }
}
