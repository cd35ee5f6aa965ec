//! A description composed from what was measured: light, colour, motion, sharpness, the text that
//! was read and the sound that is there. It states nothing that was not measured.

use ports::llm::Description;
use ports::reader::TextLine;

use crate::domain::analyzers::evidence::ChunkEvidence;
use crate::domain::chunking::Candidate;
use crate::domain::chunking::cut::VisualSecond;

/// Lines read with less confidence are noise more often than text.
const READABLE: f32 = 0.7;

/// A cut this strong is one a viewer sees.
const VISIBLE_CUT: f32 = 0.5;

/// Composes the description of a chunk; everything is empty where nothing was measured.
pub(super) fn compose(chunk: &ChunkEvidence, lines: &[(f64, Vec<TextLine>)]) -> Description {
    let visual = chunk.visual();
    let mut sentences = Vec::new();
    let mut tags = Vec::new();
    if !visual.is_empty() {
        let light = light(visual);
        let colours = colours(visual);
        let motion = motion(visual);
        let cuts = cuts(&chunk.video.signals.candidates.cut, chunk.span.start, chunk.span.end);
        sentences.push(picture_sentence(light, &colours, motion, cuts));
        tags.push(light.to_owned());
        tags.extend(colours);
        tags.push(motion.to_owned());
        if blurred(visual) {
            sentences.push("The picture is soft or out of focus.".into());
            tags.push("blurred".into());
        }
    }
    let text = on_screen_text(lines);
    if !text.is_empty() {
        sentences.push(format!("Text on screen: {}.", text.join("; ")));
        tags.push("text on screen".into());
    }
    if let Some((sentence, tag)) = sound(chunk.loudness()) {
        sentences.push(sentence.into());
        tags.push(tag.into());
    }
    Description { description: sentences.join(" "), tags, ..Description::default() }
}

/// The distinct lines that were read confidently, in the order of their appearance.
pub(super) fn on_screen_text(lines: &[(f64, Vec<TextLine>)]) -> Vec<String> {
    let key = |text: &str| -> String {
        text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
    };
    let mut distinct: Vec<(String, String)> = Vec::new();
    let readable = lines.iter().flat_map(|(_, lines)| lines).filter(|l| l.confidence >= READABLE);
    for line in readable {
        let key = key(&line.text);
        if key.chars().count() >= 2
            && !distinct.iter().any(|(k, _)| strsim::normalized_levenshtein(k, &key) > 0.8)
        {
            distinct.push((key, line.text.trim().to_owned()));
        }
    }
    distinct.into_iter().map(|(_, text)| text).collect()
}

fn picture_sentence(light: &str, colours: &[String], motion: &str, cuts: usize) -> String {
    let colours = match colours {
        [] => String::new(),
        [one] => format!(" in {one}"),
        [first, rest @ ..] => format!(" in {first} and {}", rest.join(" and ")),
    };
    let cuts = match cuts {
        0 => String::new(),
        1 => ", with a cut to another shot".into(),
        n => format!(", with {n} cuts between shots"),
    };
    format!("A {light} picture{colours}, {motion}{cuts}.")
}

fn mean(values: impl Iterator<Item = f32>) -> f32 {
    let (sum, count) = values.fold((0.0, 0_u32), |(sum, n), v| (sum + v, n + 1));
    if count == 0 { 0.0 } else { sum / count as f32 }
}

/// By mean luma, 0 to 255.
fn light(visual: &[VisualSecond]) -> &'static str {
    match mean(visual.iter().map(|v| v.luma)) {
        l if l < 12.0 => "black",
        l if l < 50.0 => "dark",
        l if l < 95.0 => "dim",
        l if l < 190.0 => "bright",
        _ => "very bright",
    }
}

/// By mean change from frame to frame, in steps of 8-bit colour.
fn motion(visual: &[VisualSecond]) -> &'static str {
    match mean(visual.iter().map(|v| v.motion)) {
        m if m < 0.3 => "still",
        m if m < 2.0 => "with little motion",
        m if m < 6.0 => "with steady motion",
        _ => "with strong motion",
    }
}

/// Lit pictures whose neighbouring pixels hardly differ.
fn blurred(visual: &[VisualSecond]) -> bool {
    mean(visual.iter().map(|v| v.luma)) > 25.0 && mean(visual.iter().map(|v| v.sharpness)) < 2.0
}

fn cuts(candidates: &[Candidate], start: f64, end: f64) -> usize {
    const EDGE: f64 = 0.3;
    candidates
        .iter()
        .filter(|c| c.strength >= VISIBLE_CUT && c.time > start + EDGE && c.time < end - EDGE)
        .count()
}

/// The names of the one to three colours that fill most of the picture, greys only when nothing
/// else is there.
fn colours(visual: &[VisualSecond]) -> Vec<String> {
    let mut shares: Vec<(&str, f32)> = Vec::new();
    for second in visual {
        for (bin, share) in second.histogram.iter().enumerate() {
            let name = colour_name(bin);
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
                matches!(*name, "black" | "grey" | "white") == grey && *share >= least * total
            })
            .map(|(name, _)| (*name).to_owned())
            .take(3)
            .collect::<Vec<_>>()
    };
    let chromatic = prominent(false, 0.08);
    if chromatic.is_empty() { prominent(true, 0.3) } else { chromatic }
}

/// The name of one of the 64 bins of the colour histogram: two bits each of red, green, blue.
fn colour_name(bin: usize) -> &'static str {
    let level = |shift: usize| (((bin >> shift) & 3) as f32 + 0.5) / 4.0;
    let (r, g, b) = (level(4), level(2), level(0));
    let (max, min) = (r.max(g).max(b), r.min(g).min(b));
    // One step of the histogram apart is within what a grey surface spreads to.
    if max - min < 0.3 {
        return match (max + min) / 2.0 {
            m if m < 0.25 => "black",
            m if m > 0.7 => "white",
            _ => "grey",
        };
    }
    let hue = if max == r {
        60.0 * ((g - b) / (max - min)).rem_euclid(6.0)
    } else if max == g {
        60.0 * ((b - r) / (max - min) + 2.0)
    } else {
        60.0 * ((r - g) / (max - min) + 4.0)
    };
    match hue {
        h if h < 15.0 => "red",
        h if h < 45.0 && max < 0.7 => "brown",
        h if h < 45.0 => "orange",
        h if h < 70.0 => "yellow",
        h if h < 165.0 => "green",
        h if h < 195.0 => "turquoise",
        h if h < 265.0 => "blue",
        h if h < 290.0 => "violet",
        h if h < 335.0 => "pink",
        _ => "red",
    }
}

fn sound(loudness: &[f32]) -> Option<(&'static str, &'static str)> {
    if loudness.is_empty() {
        return None;
    }
    let loudest = loudness.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    Some(match loudest {
        l if l < -60.0 => ("There is no sound.", "silent"),
        l if l < -35.0 => ("There is quiet sound.", "quiet sound"),
        l if l < -15.0 => ("There is sound.", "sound"),
        _ => ("There is loud sound.", "loud sound"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_have_the_names_people_give_them() {
        let bin = |r: usize, g: usize, b: usize| (r << 4) | (g << 2) | b;
        for (bin, name) in [
            (bin(0, 0, 0), "black"),
            (bin(3, 3, 3), "white"),
            (bin(2, 2, 2), "grey"),
            (bin(3, 0, 0), "red"),
            (bin(0, 3, 0), "green"),
            (bin(0, 0, 3), "blue"),
            (bin(3, 3, 0), "yellow"),
            (bin(3, 1, 0), "orange"),
            (bin(2, 1, 0), "brown"),
        ] {
            assert_eq!(colour_name(bin), name);
        }
    }

    #[test]
    fn text_is_said_once() {
        let line =
            |text: &str, confidence| TextLine { text: text.into(), confidence, bounds: [0.0; 4] };
        let lines = [
            (1.0, vec![line("GOOGLE PARIS", 0.9), line("~", 0.9), line("noise", 0.2)]),
            (2.0, vec![line("GOOGLE PARlS", 0.9), line("Exit", 0.8)]),
        ];
        assert_eq!(on_screen_text(&lines), ["GOOGLE PARIS", "Exit"]);
    }
}
