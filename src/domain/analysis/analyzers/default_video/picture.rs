//! Picture measurements: brightness, colours, motion and sharpness. They become tags, and a
//! sentence only if nothing else is known.

use cuts::VisualSecond;
use text::colours::{Family, family_named};

use crate::media::colour;

/// Brightness levels, from darkest to brightest.
pub(super) const LIGHTS: [&str; 5] = ["black", "dark", "dim", "bright", "very bright"];

/// The tag for a picture without motion.
const STILL: &str = "still";

/// The tag for a picture with hardly any motion.
const CALM: &str = "with little motion";

/// Tags for brightness, colours and motion, and `blurred` if it applies.
pub(super) fn tags(visual: &[VisualSecond]) -> Vec<String> {
    if visual.is_empty() {
        return Vec::new();
    }
    let mut tags = vec![light(visual).to_owned()];
    tags.extend(colours(visual));
    tags.push(motion(visual).to_owned());
    if blurred(visual) {
        tags.push("blurred".into());
    }
    tags
}

/// Describes a picture from measurements alone, such as `A dim, mostly grey picture with steady
/// motion`.
pub(super) fn phrase(visual: &[VisualSecond]) -> Option<String> {
    /// A picture whose neighbouring pixels differ less than this has the same colour everywhere.
    const MIN_DETAIL: f32 = 0.1;
    /// Less motion than this is noise of the camera or of the encoder.
    const MIN_MOTION: f32 = 0.02;
    if visual.is_empty() {
        return None;
    }
    let motion = match motion(visual) {
        STILL if mean(visual.iter().map(|v| v.motion)) < MIN_MOTION => "without motion",
        STILL => CALM,
        other => other,
    };
    let light = light(visual);
    if light == LIGHTS[0] {
        let is_plain = mean(visual.iter().map(|v| v.sharpness)) < MIN_DETAIL;
        let light = if is_plain { light } else { "very dark" };
        return Some(format!("A {light} picture {motion}"));
    }
    let colours: Vec<String> = colours(visual).into_iter().take(2).collect();
    if colours.is_empty() {
        return Some(format!("A {light} picture {motion}"));
    }
    Some(format!("A {light}, mostly {} picture {motion}", colours.join(" and ")))
}

fn mean(values: impl Iterator<Item = f32>) -> f32 {
    let (sum, count) = values.fold((0.0, 0_u32), |(sum, n), v| (sum + v, n + 1));
    if count == 0 { 0.0 } else { sum / count as f32 }
}

/// Derives the brightness level from the mean luma (0..255).
fn light(visual: &[VisualSecond]) -> &'static str {
    let (steps, luma) = ([12.0, 50.0, 95.0, 190.0], mean(visual.iter().map(|v| v.luma)));
    LIGHTS[steps.iter().filter(|step| luma >= **step).count()]
}

/// Derives the motion tag from the mean difference between frames (0..255).
fn motion(visual: &[VisualSecond]) -> &'static str {
    match mean(visual.iter().map(|v| v.motion)) {
        m if m < 0.3 => STILL,
        m if m < 2.0 => CALM,
        m if m < 6.0 => "with steady motion",
        _ => "with strong motion",
    }
}

/// Whether the picture is not dark, yet neighbouring pixels hardly differ.
fn blurred(visual: &[VisualSecond]) -> bool {
    mean(visual.iter().map(|v| v.luma)) > 25.0 && mean(visual.iter().map(|v| v.sharpness)) < 2.0
}

/// The names of up to three dominant colours. Greys are named only if there is no other colour.
fn colours(visual: &[VisualSecond]) -> Vec<String> {
    let mut shares: Vec<(&str, f32)> = Vec::new();
    for second in visual {
        for (bin, share) in second.histogram.iter().enumerate() {
            let name = colour::bin_name(bin);
            match shares.iter_mut().find(|(n, _)| *n == name) {
                Some(entry) => entry.1 += *share,
                None => shares.push((name, *share)),
            }
        }
    }
    let total: f32 = shares.iter().map(|(_, share)| share).sum();
    shares.sort_by(|a, b| b.1.total_cmp(&a.1));
    let prominent = |grey: bool, min_share: f32| {
        shares
            .iter()
            .filter(move |(name, share)| {
                let is_grey = family_named(name).is_some_and(Family::is_achromatic);
                is_grey == grey && *share >= min_share * total
            })
            .map(|(name, _)| (*name).to_owned())
            .take(3)
            .collect::<Vec<_>>()
    };
    let chromatic = prominent(false, 0.08);
    if chromatic.is_empty() { prominent(true, 0.3) } else { chromatic }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dark_picture_with_detail_is_not_black() {
        let second = |luma, sharpness, motion| VisualSecond {
            luma,
            sharpness,
            motion,
            second: 0,
            colourfulness: 0.0,
            histogram: Vec::new(),
            hash: 0,
        };
        for (visual, expected) in [
            (second(3.0, 0.0, 0.0), "A black picture without motion"),
            (second(3.0, 1.5, 0.1), "A very dark picture with little motion"),
            (second(120.0, 4.0, 8.0), "A bright picture with strong motion"),
        ] {
            assert_eq!(phrase(&[visual]).as_deref(), Some(expected));
        }
        assert_eq!(phrase(&[]), None);
    }
}
