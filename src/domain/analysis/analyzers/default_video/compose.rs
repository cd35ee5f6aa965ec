//! Composes a description from the results of specialized models for screen text, speech and
//! objects. The description states only what these models found. Picture measurements are used only
//! if the models found nothing.

use std::collections::BTreeSet;

use ports::llm::PassageKind;
use text::plural::plural_with_count;
use text::{join_list, letters_and_digits};

use crate::analysis::analyzers::default_video::voices::{self, VOICES, VoiceSummary};
use crate::analysis::analyzers::default_video::{ChunkDescription, objects, picture};
use crate::analysis::analyzers::people::{PeopleInView, measure};
use crate::analysis::certainty::Certainty;
use crate::analysis::evidence::ChunkEvidence;
use crate::analysis::output::{DescriptionPart, MIN_SCREEN_CONFIDENCE};
use crate::analysis::prose::sentence;
use crate::analysis::tracks::ChunkTracks;
use crate::media::screen_text::{Caption, ScreenLine, captions};
use crate::media::tracking::Track;

/// Maximum number of people described individually. Any others are only counted.
const MAX_PEOPLE: usize = 8;

/// Maximum number of captions quoted. The most prominent are chosen.
const MAX_CAPTIONS: usize = 3;

/// Tags for sound without speech, from quietest to loudest.
pub(super) const SOUNDS: &[&str] = &["silent", "quiet sound", "sound", "loud sound"];

/// Composes the description of a chunk. The description is empty if nothing was found. It can say
/// that nobody speaks only if `detects_speech` is true, which means that speech detection is
/// available.
pub(crate) fn compose(
    chunk: &ChunkEvidence,
    lines: &[ScreenLine],
    objects: &ChunkTracks,
    detects_speech: bool,
) -> ChunkDescription {
    let mut tags = picture::tags(chunk.visual());
    let mut description = DescriptionBuilder::default();

    let summary = objects::summarize(objects);
    let certainty = Certainty::from_tracks(objects).for_labels(&summary.labels);
    tags.extend(summary.labels.iter().cloned());

    if !lines.is_empty() {
        tags.push("text on screen".into());
    }
    let captions: Vec<Caption> = captions(lines).into_iter().filter(is_quotable).collect();
    if !captions.is_empty() {
        description.add_captions(&captions);
    }

    let voices = voices::summarize(chunk);
    if let Some(voices) = &voices {
        tags.push(VOICES[voices.count - 1].1.into());
        description.add_voices(voices);
    } else if let Some(tag) = sound_tag(chunk.loudness()) {
        tags.push(tag.into());
    }
    for sentence in summary.sentences {
        description.add(PassageKind::Objects, sentence.clone(), sentence);
    }
    if description.parts.is_empty()
        && let Some(picture) = picture::phrase(chunk.visual())
    {
        let listens = detects_speech && chunk.video.has_audio;
        let nobody_speaks = listens && !voices::has_voice_activity(chunk);
        let speech = if nobody_speaks { " Nobody speaks." } else { "" };
        let all = format!("{}{speech}", sentence(&picture));
        description.add(PassageKind::Scene, all.clone(), all);
    }

    let people = measure(&PeopleInView::from_tracks(objects)).into_iter().take(MAX_PEOPLE);
    ChunkDescription {
        description: description.sentences.join(" "),
        people: people.map(|person| person.description).collect(),
        objects: summary.labels.into_iter().filter(|label| label != "person").collect(),
        counts: summary.counts,
        certainty,
        actions: summary.actions,
        tags,
        parts: description.parts,
        ..ChunkDescription::default()
    }
}

/// Builds a description sentence by sentence.
#[derive(Default)]
struct DescriptionBuilder {
    sentences: Vec<String>,
    parts: Vec<DescriptionPart>,
}

impl DescriptionBuilder {
    /// Adds `sentence` to the description, and `text` as a statement: the same content without
    /// connecting words.
    fn add(&mut self, kind: PassageKind, sentence: String, text: String) {
        self.sentences.push(sentence);
        self.parts.push(DescriptionPart { kind, text });
    }

    /// Quotes the most prominent captions, in their original order.
    fn add_captions(&mut self, captions: &[Caption]) {
        let mut prominent: Vec<&Caption> = captions.iter().collect();
        prominent.sort_by(|a, b| b.prominence.total_cmp(&a.prominence));
        // Copyright notices and web addresses are quoted only if there is no other text.
        prominent.sort_by_key(|caption| is_notice(&caption.text));
        let notices = prominent.first().is_some_and(|first| is_notice(&first.text));
        prominent.retain(|caption| notices || !is_notice(&caption.text));
        prominent.truncate(MAX_CAPTIONS);
        let quoted: Vec<String> = captions
            .iter()
            .filter(|caption| prominent.contains(caption))
            .map(|caption| format!("“{}”", caption.text))
            .collect();
        self.sentences.push(format!("On screen: {}.", join_list(&quoted, "and")));
        let part = |caption: &Caption| DescriptionPart {
            kind: PassageKind::Screen,
            text: caption.text.clone(),
        };
        self.parts.extend(captions.iter().map(part));
    }

    /// States how many voices speak, and quotes a sentence if speech is recognized.
    fn add_voices(&mut self, voices: &VoiceSummary) {
        let speak = VOICES[voices.count - 1].0.to_owned();
        if voices.count > 1 || voices.sentence.is_none() {
            self.add(PassageKind::Scene, speak.clone(), speak);
        }
        if let Some(quote) = &voices.sentence {
            let who = if voices.count == 1 { "Someone" } else { "One of them" };
            self.add(PassageKind::Speech, format!("{who} says: “{quote}”"), quote.clone());
        }
    }
}

/// Whether a caption is probably read correctly, and more than a counter or two letters of a logo.
fn is_quotable(caption: &Caption) -> bool {
    /// Minimum number of letters, or of the digits of a lone number.
    const MIN_CHARS: usize = 3;
    let letters = caption.text.chars().filter(|c| c.is_alphabetic()).count();
    let digits = caption.text.chars().filter(|c| c.is_numeric()).count();
    let says_something = letters >= MIN_CHARS || letters == 0 && digits >= MIN_CHARS;
    says_something && caption.confidence >= f64::from(MIN_SCREEN_CONFIDENCE)
}

/// Whether a caption is a copyright notice or a web address.
fn is_notice(text: &str) -> bool {
    let lower = text.trim().to_lowercase();
    let address = lower.contains('.') && !lower.ends_with('.') && !lower.contains(' ');
    address || ["©", "copyright", "www.", "http"].iter().any(|mark| lower.contains(mark))
}

/// Counts the tracks with each label, such as `two people`, `three dogs` or `bus`. The most frequent
/// label comes first.
pub(crate) fn inventory(tracks: &[Track]) -> Vec<String> {
    let mut kinds: Vec<(&str, u64)> = Vec::new();
    for track in tracks {
        match kinds.iter_mut().find(|(label, _)| *label == track.label) {
            Some((_, count)) => *count += 1,
            None => kinds.push((&track.label, 1)),
        }
    }
    kinds.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    kinds.into_iter().map(|(label, count)| plural_with_count(label, count)).collect()
}

/// Returns each distinct line of screen text once, in order of appearance, without single letters.
pub(crate) fn on_screen_text(lines: &[ScreenLine]) -> Vec<&str> {
    let mut seen: BTreeSet<String> = BTreeSet::new();
    let new = lines.iter().filter(|line| {
        let key = letters_and_digits(&line.text);
        key.chars().count() >= 2 && seen.insert(key)
    });
    new.map(|line| line.text.as_str()).collect()
}

/// The tag for sound without speech.
fn sound_tag(loudness: &[f32]) -> Option<&'static str> {
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
    fn on_screen_text_drops_duplicates() {
        let line = |text: &str| ScreenLine { text: text.into(), ..ScreenLine::default() };
        let lines = ["GOOGLE PARIS", "x", "Exit", "Google Paris", "Room 101", "Room 102"].map(line);
        let unique = ["GOOGLE PARIS", "Exit", "Room 101", "Room 102"];
        assert_eq!(on_screen_text(&lines), unique);
    }

    #[test]
    fn a_description_quotes_prominent_captions() {
        let captions: Vec<Caption> =
            [("EXIT", 0.1), ("WELCOME", 0.9), ("Room 1", 0.2), ("Hall", 0.3)]
                .map(|(text, prominence)| Caption {
                    text: text.into(),
                    prominence,
                    confidence: 0.9,
                })
                .into();
        let mut description = DescriptionBuilder::default();
        description.add_captions(&captions);
        assert_eq!(description.sentences, ["On screen: “WELCOME”, “Room 1” and “Hall”."]);
        assert_eq!(description.parts.len(), 4, "the record has them all");
    }

    #[test]
    fn a_voice_is_quoted_if_speech_is_recognized() {
        for (count, sentence, expected) in [
            (1, None, "Someone speaks."),
            (1, Some("We make maps."), "Someone says: “We make maps.”"),
            (2, Some("We make maps."), "Two people speak. One of them says: “We make maps.”"),
        ] {
            let mut description = DescriptionBuilder::default();
            description.add_voices(&VoiceSummary { count, sentence: sentence.map(str::to_owned) });
            assert_eq!(description.sentences.join(" "), expected);
        }
    }
}
