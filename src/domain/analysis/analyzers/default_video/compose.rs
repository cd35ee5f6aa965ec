//! A description composed from what models for one thing each have found: what is read, who speaks
//! and what is said, what is seen and where it goes. It states nothing that was not found, and what
//! is measured of the picture only where nothing else is known.

use std::collections::BTreeSet;

use ports::llm::PassageKind;
use text::plural::counted;
use text::{in_a_row, letters_and_digits};

use crate::domain::analysis::analyzers::default_video::heard::{self, VOICES};
use crate::domain::analysis::analyzers::default_video::{Shown, picture, seen};
use crate::domain::analysis::analyzers::people::{Appearance, person};
use crate::domain::analysis::certainty::Certainty;
use crate::domain::analysis::evidence::{ChunkEvidence, ChunkTracks};
use crate::domain::analysis::finding::Part;
use crate::domain::analysis::prose::sentence;
use crate::domain::media::screen_text::{Caption, ScreenLine, captions};
use crate::domain::media::tracking::Track;

/// People described one by one; of a crowd the others are only counted.
const DESCRIBED: usize = 8;

/// Captions that a description quotes, the most prominent.
const QUOTED: usize = 3;

/// Tags of sound without speech, the quietest first.
pub(super) const SOUNDS: &[&str] = &["silent", "quiet sound", "sound", "loud sound"];

/// Composes the description of a chunk; everything is empty where nothing was found. `listens`
/// tells whether speech would have been found.
pub(crate) fn compose(
    chunk: &ChunkEvidence,
    lines: &[ScreenLine],
    found: &ChunkTracks,
    listens: bool,
) -> Shown {
    let mut tags = picture::tags(chunk.visual());
    let mut told = Told::default();

    let seen = seen::seen(found);
    let certainty = Certainty::of(found).only(&seen.labels);
    tags.extend(seen.labels.iter().cloned());

    let captions = captions(lines);
    if !captions.is_empty() {
        tags.push("text on screen".into());
        told.read(&captions);
    }

    let voices = heard::voices(chunk);
    if let Some(voices) = &voices {
        tags.push(VOICES[voices.count - 1].1.into());
        told.hear(voices);
    } else if let Some(tag) = sound(chunk.loudness()) {
        tags.push(tag.into());
    }
    for sentence in seen.sentences {
        told.tell(PassageKind::Objects, sentence.clone(), sentence);
    }
    if told.parts.is_empty()
        && let Some(bare) = picture::bare(chunk.visual())
    {
        let quiet = if listens && chunk.video.has_audio { " and nobody speaks" } else { "" };
        let all = sentence(&format!("{bare}{quiet}"));
        told.tell(PassageKind::Scene, all.clone(), all);
    }

    let shown = |track: &Track| seen::is_told(track, found.times.len());
    let people = found.people.iter().filter(|person| shown(&person.track)).take(DESCRIBED);
    let people: Vec<Appearance> = people.map(person).collect();
    Shown {
        description: told.sentences.join(" "),
        people: people.into_iter().map(|person| person.description).collect(),
        objects: seen.labels.into_iter().filter(|label| label != "person").collect(),
        counts: seen.counts,
        certainty,
        actions: seen.actions,
        tags,
        parts: told.parts,
        ..Shown::default()
    }
}

/// A description as it is put together.
#[derive(Default)]
struct Told {
    sentences: Vec<String>,
    parts: Vec<Part>,
}

impl Told {
    /// A sentence, and what it tells without the words around it.
    fn tell(&mut self, kind: PassageKind, sentence: String, text: String) {
        self.sentences.push(sentence);
        self.parts.push(Part { kind, text });
    }

    /// Quotes the most prominent captions, in their order.
    fn read(&mut self, captions: &[Caption]) {
        let mut prominent: Vec<&Caption> = captions.iter().collect();
        prominent.sort_by(|a, b| b.prominence.total_cmp(&a.prominence));
        // Whose picture it is matters only where nothing else is written.
        prominent.sort_by_key(|caption| is_notice(&caption.text));
        let notices = prominent.first().is_some_and(|first| is_notice(&first.text));
        prominent.retain(|caption| notices || !is_notice(&caption.text));
        prominent.truncate(QUOTED);
        let quoted: Vec<String> = captions
            .iter()
            .filter(|caption| prominent.contains(caption))
            .map(|caption| format!("“{}”", caption.text))
            .collect();
        self.sentences.push(format!("On screen: {}.", in_a_row(&quoted, "and")));
        let part =
            |caption: &Caption| Part { kind: PassageKind::Screen, text: caption.text.clone() };
        self.parts.extend(captions.iter().map(part));
    }

    /// Tells who speaks, and quotes what is said where that is known.
    fn hear(&mut self, voices: &heard::Voices) {
        let speak = VOICES[voices.count - 1].0.to_owned();
        if voices.count > 1 || voices.sentence.is_none() {
            self.tell(PassageKind::Scene, speak.clone(), speak);
        }
        if let Some(said) = &voices.sentence {
            let who = if voices.count == 1 { "A voice" } else { "One" };
            self.tell(PassageKind::Speech, format!("{who} says: “{said}”"), said.clone());
        }
    }
}

/// Whether a caption is somebody's mark on the picture.
fn is_notice(text: &str) -> bool {
    let lower = text.trim().to_lowercase();
    let address = lower.contains('.') && !lower.ends_with('.') && !lower.contains(' ');
    address || ["©", "copyright", "www.", "http"].iter().any(|mark| lower.contains(mark))
}

/// What is seen and how often, as `2 people`, `3 dogs`, `bus`; the most first.
pub(crate) fn inventory(tracks: &[Track]) -> Vec<String> {
    let mut kinds: Vec<(&str, u64)> = Vec::new();
    for track in tracks {
        match kinds.iter_mut().find(|(label, _)| *label == track.label) {
            Some((_, count)) => *count += 1,
            None => kinds.push((&track.label, 1)),
        }
    }
    kinds.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    kinds.into_iter().map(|(label, count)| counted(label, count)).collect()
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

/// The tag of sound without speech.
fn sound(loudness: &[f32]) -> Option<&'static str> {
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

    #[test]
    fn a_description_quotes_what_stands_out() {
        let captions: Vec<Caption> =
            [("EXIT", 0.1), ("WELCOME", 0.9), ("Room 1", 0.2), ("Hall", 0.3)]
                .map(|(text, prominence)| Caption { text: text.into(), prominence })
                .into();
        let mut told = Told::default();
        told.read(&captions);
        assert_eq!(told.sentences, ["On screen: “WELCOME”, “Room 1” and “Hall”."]);
        assert_eq!(told.parts.len(), 4, "the record has them all");
    }

    #[test]
    fn a_voice_is_quoted_where_its_words_are_known() {
        for (count, sentence, expected) in [
            (1, None, "Someone speaks."),
            (1, Some("We make maps."), "A voice says: “We make maps.”"),
            (2, Some("We make maps."), "Two voices speak in turn. One says: “We make maps.”"),
        ] {
            let mut told = Told::default();
            told.hear(&heard::Voices { count, sentence: sentence.map(str::to_owned) });
            assert_eq!(told.sentences.join(" "), expected);
        }
    }
}
