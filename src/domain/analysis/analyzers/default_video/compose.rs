//! A description composed from what was measured: light, colour, motion, sharpness, the text that
//! was read and the sound that is there. It states nothing that was not measured.

use std::collections::BTreeSet;

use ports::llm::PassageKind;
use text::colours::{Family, named_by};
use text::letters_and_digits;
use text::plural::counted;

use crate::domain::analysis::analyzers::default_video::Shown;
use crate::domain::analysis::analyzers::people::{Appearance, person};
use crate::domain::analysis::evidence::{ChunkEvidence, ChunkTracks};
use crate::domain::analysis::finding::Part;
use crate::domain::analysis::prose::{in_view, movement};
use crate::domain::chunking::Candidate;
use crate::domain::chunking::cut::VisualSecond;
use crate::domain::kernel::time::Span;
use crate::domain::media::colour;
use crate::domain::media::screen_text::ScreenLine;
use crate::domain::media::tracking::Track;

/// People described one by one; of a crowd the others are only counted.
const DESCRIBED: usize = 8;

/// What is said of a picture that is blurred.
pub(super) const BLURRED: &str = "The picture is soft or out of focus.";

/// How light a picture can be, the darkest first.
pub(super) const LIGHTS: [&str; 5] = ["black", "dark", "dim", "bright", "very bright"];

/// Stands in front of the text that was read.
pub(super) const ON_SCREEN: &str = "Text on screen: ";

/// Sentence and tag of one, two and more voices.
pub(super) const SPEECH: &[(&str, &str)] = &[
    ("Someone speaks.", "speech"),
    ("Two voices speak in turn.", "conversation"),
    ("Several voices speak in turn.", "conversation"),
];

/// Sentence and tag of sound without speech, the quietest first.
pub(super) const SOUNDS: &[(&str, &str)] = &[
    ("There is no sound.", "silent"),
    ("There is quiet sound.", "quiet sound"),
    ("There is sound.", "sound"),
    ("There is loud sound.", "loud sound"),
];

/// A cut this strong is one a viewer sees.
const VISIBLE_CUT: f32 = 0.5;

/// Composes the description of a chunk; everything is empty where nothing was measured.
pub(crate) fn compose(chunk: &ChunkEvidence, lines: &[ScreenLine], seen: &ChunkTracks) -> Shown {
    let visual = chunk.visual();
    let mut parts: Vec<Part> = Vec::new();
    let mut tell = |kind, text: String| parts.push(Part { kind, text });
    let mut tags = Vec::new();
    if !visual.is_empty() {
        let light = light(visual);
        let colours = colours(visual);
        let motion = motion(visual);
        let cuts = cuts(&chunk.video.signals.candidates.cut, chunk.span.start, chunk.span.end);
        tell(PassageKind::Scene, picture_sentence(light, &colours, motion, cuts));
        tags.push(light.to_owned());
        tags.extend(colours);
        tags.push(motion.to_owned());
        if blurred(visual) {
            tell(PassageKind::Scene, BLURRED.into());
            tags.push("blurred".into());
        }
    }
    if let Some(sentence) = in_view(&inventory(&seen.tracks)) {
        tell(PassageKind::Objects, sentence);
        tags.extend(labels(&seen.tracks));
    }
    let text = on_screen_text(lines);
    if !text.is_empty() {
        tell(PassageKind::Screen, text.join("; "));
        tags.push("text on screen".into());
    }
    let heard = speech(chunk).or_else(|| sound(chunk.loudness()));
    if let Some((sentence, tag)) = heard {
        tell(PassageKind::Scene, sentence.into());
        tags.push(tag.into());
    }
    let people: Vec<Appearance> = seen.people.iter().take(DESCRIBED).map(person).collect();
    let objects = labels(&seen.tracks).into_iter().filter(|label| label != "person").collect();
    let mut actions: Vec<String> =
        seen.people.iter().filter_map(|p| moving(&p.track, "person")).collect();
    let others = seen.tracks.iter().filter(|track| track.label != "person");
    actions.extend(others.filter_map(|track| moving(track, &track.label)));
    actions.sort_unstable();
    actions.dedup();
    Shown {
        description: parts.iter().map(sentence).collect::<Vec<_>>().join(" "),
        people: people.into_iter().map(|person| person.description).collect(),
        objects,
        actions,
        tags,
        parts,
        ..Shown::default()
    }
}

/// A part as it stands in the description.
fn sentence(part: &Part) -> String {
    match part.kind {
        PassageKind::Screen => format!("{ON_SCREEN}{}.", part.text),
        _ => part.text.clone(),
    }
}

/// What is seen and how often, as `2 people`, `3 dogs`, `bus`; the most first.
pub(crate) fn inventory(tracks: &[Track]) -> Vec<String> {
    labels(tracks)
        .into_iter()
        .map(|label| {
            counted(&label, tracks.iter().filter(|track| track.label == label).count() as u64)
        })
        .collect()
}

/// The distinct labels, those of the most objects first.
fn labels(tracks: &[Track]) -> Vec<String> {
    let mut counted: Vec<(&str, usize)> = Vec::new();
    for track in tracks {
        match counted.iter_mut().find(|(label, _)| *label == track.label) {
            Some((_, count)) => *count += 1,
            None => counted.push((&track.label, 1)),
        }
    }
    counted.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    counted.into_iter().map(|(label, _)| label.to_owned()).collect()
}

/// `car moving to the left`, when it moves.
fn moving(track: &Track, label: &str) -> Option<String> {
    let going = track.movement();
    going.is_going().then(|| format!("{label} {}", movement(going)))
}

/// Whether anyone speaks, and whether to another.
fn speech(chunk: &ChunkEvidence) -> Option<(&'static str, &'static str)> {
    /// Less is a shout or a mistake, seconds.
    const TELLING: f64 = 0.8;
    let (heard, span) = (&chunk.video.speech, chunk.span);
    let within = |s: &Span| (s.end.min(span.end) - s.start.max(span.start)).max(0.0);
    if heard.spans.iter().map(within).sum::<f64>() < TELLING {
        return None;
    }
    let mut speakers: Vec<&str> = heard
        .turns
        .iter()
        .filter(|turn| within(&turn.span) >= TELLING)
        .map(|turn| turn.speaker.as_str())
        .collect();
    speakers.sort_unstable();
    speakers.dedup();
    Some(SPEECH[speakers.len().clamp(1, SPEECH.len()) - 1])
}

/// What is read, each text once, in the order of its appearance. Single letters are left out.
pub(crate) fn on_screen_text(lines: &[ScreenLine]) -> Vec<&str> {
    let mut said: BTreeSet<String> = BTreeSet::new();
    let new = lines.iter().filter(|line| {
        let key = letters_and_digits(&line.text);
        key.chars().count() >= 2 && said.insert(key)
    });
    new.map(|line| line.text.as_str()).collect()
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
    let (steps, luma) = ([12.0, 50.0, 95.0, 190.0], mean(visual.iter().map(|v| v.luma)));
    LIGHTS[steps.iter().filter(|step| luma >= **step).count()]
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

fn sound(loudness: &[f32]) -> Option<(&'static str, &'static str)> {
    if loudness.is_empty() {
        return None;
    }
    let loudest = loudness.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let steps = [-60.0, -35.0, -15.0];
    Some(SOUNDS[steps.iter().filter(|step| loudest >= **step).count()])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_said_once() {
        let line = |text: &str| ScreenLine { text: text.into(), ..ScreenLine::default() };
        let lines = ["GOOGLE PARIS", "x", "Exit", "Google Paris", "Room 101", "Room 102"].map(line);
        let said = ["GOOGLE PARIS", "Exit", "Room 101", "Room 102"];
        assert_eq!(on_screen_text(&lines), said);
    }
}
