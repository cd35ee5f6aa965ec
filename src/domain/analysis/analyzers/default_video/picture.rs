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

/// Describes a picture from measurements alone, such as `A dim, mostly grey view with steady
/// motion`.
pub(super) fn phrase(visual: &[VisualSecond]) -> Option<String> {
    if visual.is_empty() {
        return None;
    }
    let (light, motion) = (light(visual), motion(visual));
    let motion = if motion == STILL { "without motion" } else { motion };
    let colours: Vec<String> = colours(visual).into_iter().take(2).collect();
    if colours.is_empty() || light == LIGHTS[0] {
        return Some(format!("A {light} view {motion}"));
    }
    Some(format!("A {light}, mostly {} view {motion}", colours.join(" and ")))
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
