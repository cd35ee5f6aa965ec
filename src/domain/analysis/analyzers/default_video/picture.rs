//! What can be measured of a picture without knowing what it shows: light, colours, motion,
//! sharpness. They are tags to filter by; a sentence is made of them only where nothing else can be
//! told.

use cuts::VisualSecond;
use text::colours::{Family, named_by};

use crate::domain::media::colour;

/// How light a picture can be, the darkest first.
pub(super) const LIGHTS: [&str; 5] = ["black", "dark", "dim", "bright", "very bright"];

/// Nothing moves in such a picture …
const STILL: &str = "still";

/// … and hardly anything in this one.
const CALM: &str = "with little motion";

/// Light, colours, motion and, where it is so, that the picture is blurred.
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

/// All that there is to say of a picture in which nothing is known: `A dark picture, nothing moves`.
pub(super) fn bare(visual: &[VisualSecond]) -> Option<String> {
    if visual.is_empty() {
        return None;
    }
    let moves = match motion(visual) {
        STILL => "nothing moves",
        CALM => "hardly anything moves",
        _ => "something moves",
    };
    Some(format!("A {} picture, {moves}", light(visual)))
}

fn mean(values: impl Iterator<Item = f32>) -> f32 {
    let (sum, count) = values.fold((0.0, 0_u32), |(sum, n), v| (sum + v, n + 1));
    if count == 0 { 0.0 } else { sum / count as f32 }
}

/// By mean luma, 0 to 255.
fn light(visual: &[VisualSecond]) -> &'static str {
    let (steps, luma) = ([12.0, 50.0, 95.0, 190.0], mean(visual.iter().map(|v| v.luma)));
    LIGHTS[steps.iter().filter(|step| luma >= **step).count()]
}

/// By mean change from frame to frame, in steps of 8-bit colour.
fn motion(visual: &[VisualSecond]) -> &'static str {
    match mean(visual.iter().map(|v| v.motion)) {
        m if m < 0.3 => STILL,
        m if m < 2.0 => CALM,
        m if m < 6.0 => "with steady motion",
        _ => "with strong motion",
    }
}

/// Lit pictures whose neighbouring pixels hardly differ.
fn blurred(visual: &[VisualSecond]) -> bool {
    mean(visual.iter().map(|v| v.luma)) > 25.0 && mean(visual.iter().map(|v| v.sharpness)) < 2.0
}

/// The names of the one to three colours that fill most of the picture, greys only when nothing
/// else is there.
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
    let prominent = |grey: bool, least: f32| {
        shares
            .iter()
            .filter(move |(name, share)| {
                let is_grey = named_by(name).is_some_and(Family::is_achromatic);
                is_grey == grey && *share >= least * total
            })
            .map(|(name, _)| (*name).to_owned())
            .take(3)
            .collect::<Vec<_>>()
    };
    let chromatic = prominent(false, 0.08);
    if chromatic.is_empty() { prominent(true, 0.3) } else { chromatic }
}
