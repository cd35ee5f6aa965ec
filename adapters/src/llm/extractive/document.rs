//! Passages as sentences that know what they are: prose, speech, text on screen or a measured
//! description of the picture.

use std::collections::{BTreeSet, HashMap};

use ports::llm::Passage;
use text::{Quotations, colours, is_stop_word, sentences, stem, words};

/// What a sentence is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Written about the video.
    Prose,
    /// Spoken in it.
    Speech,
    /// Read in its picture.
    Screen,
    /// A list of what a detector has found.
    List,
    /// What can be measured without understanding: light, colour, motion.
    Scene,
}

/// A sentence.
#[derive(Debug, Clone)]
pub(super) struct Sentence {
    /// Index of its passage.
    pub(super) passage: usize,
    pub(super) kind: Kind,
    /// Who speaks, when the passage says so.
    pub(super) speaker: Option<String>,
    /// Without labels.
    pub(super) text: String,
    /// Stems of its content words, in order.
    pub(super) stems: Vec<String>,
    /// Words of any kind.
    pub(super) length: usize,
    /// Index of an earlier sentence that says the same.
    pub(super) repeats: Option<usize>,
}

/// Everything a request gives to read.
#[derive(Debug)]
pub(super) struct Document<'a> {
    pub(super) passages: &'a [Passage],
    pub(super) sentences: Vec<Sentence>,
}

/// Longest sentence in words; speech recognition may yield more without a full stop.
const MAX_WORDS: usize = 40;
/// Such a run is cut after this many words, or a little later in front of a conjunction.
const CUT_WORDS: usize = 18;

const SPEECH_LABELS: &[&str] =
    &["speech", "spoken", "transcript", "said", "dialogue", "narration", "voice"];
const SCREEN_LABELS: &[&str] = &[
    "text on screen",
    "on-screen text",
    "on screen",
    "screen text",
    "visible text",
    "caption",
    "captions",
];
/// Labels of what people look like: of each picture true, of a video beside the point.
const PEOPLE_LABELS: &[&str] = &["people"];
/// Labels of measured facts about picture and sound.
const SCENE_LABELS: &[&str] = &["sound", "light", "colour", "colours", "color", "colors", "motion"];

/// Words of measured descriptions, beside the names of colours.
const SCENE_WORDS: &[&str] = &[
    "bright",
    "dark",
    "dim",
    "light",
    "lit",
    "scene",
    "motion",
    "strong",
    "slight",
    "moderate",
    "still",
    "static",
    "steady",
    "camera",
    "colour",
    "color",
    "colourful",
    "colorful",
    "muted",
    "warm",
    "cool",
    "sharp",
    "soft",
    "blurred",
    "blurry",
    "picture",
    "frame",
    "image",
    "movement",
    "moving",
    "fast",
    "slow",
    "contrast",
    "high",
    "low",
    "sound",
    "silent",
    "silence",
    "quiet",
    "loud",
    "music",
    "tone",
    "dominant",
    "mainly",
    "fade",
    "change",
    "cut",
    "constant",
    "audible",
    "detail",
    "focus",
    "average",
    "medium",
    "speech",
    "text",
    "shot",
    "pale",
    "vivid",
    "saturated",
    "well-lit",
    "brightly",
    "dimly",
    "visible",
    "heard",
    "mixed",
    "neutral",
    "shots",
    "cuts",
    "little",
    "someone",
    "speak",
    "speaks",
    "voices",
    "turn",
    "two",
    "several",
];

impl<'a> Document<'a> {
    pub(super) fn read(passages: &'a [Passage]) -> Self {
        let mut found = Vec::new();
        for (index, passage) in passages.iter().enumerate() {
            read_passage(index, passage, &mut found);
        }
        let mut first: HashMap<String, usize> = HashMap::new();
        for (at, sentence) in found.iter_mut().enumerate() {
            let lower: Vec<String> =
                words(&sentence.text).into_iter().map(|word| word.lower).collect();
            let original = *first.entry(lower.join(" ")).or_insert(at);
            sentence.repeats = (original != at).then_some(original);
        }
        Self { passages, sentences: found }
    }

    /// How many sentences say something of their own.
    pub(super) fn distinct(&self) -> usize {
        self.sentences.iter().filter(|sentence| sentence.repeats.is_none()).count()
    }

    /// Whether everything there is was spoken.
    fn only_speech(&self) -> bool {
        self.sentences.iter().all(|sentence| sentence.kind == Kind::Speech)
    }

    /// A sentence by itself, as a person wants to read it. What is quoted from the video shows it.
    pub(super) fn quoted(&self, at: usize) -> String {
        let sentence = &self.sentences[at];
        match sentence.kind {
            Kind::Prose | Kind::List | Kind::Scene => finished(&sentence.text),
            Kind::Screen => format!("On screen: “{}”.", bare(&sentence.text)),
            Kind::Speech if self.only_speech() => finished(&sentence.text),
            Kind::Speech => format!("“{}”", finished(&sentence.text)),
        }
    }

    /// Sentences as running text; neighbouring speech shares its quotation marks.
    pub(super) fn prose(&self, chosen: &[usize]) -> String {
        let mut pieces: Vec<String> = Vec::new();
        let mut quoting = false;
        for &at in chosen {
            let sentence = &self.sentences[at];
            if sentence.kind != Kind::Speech || self.only_speech() {
                quoting = false;
                pieces.push(self.quoted(at));
            } else if let Some(open) = pieces.last_mut().filter(|_| quoting) {
                open.truncate(open.trim_end_matches('”').len());
                open.push_str(&format!(" {}”", finished(&sentence.text)));
            } else {
                quoting = true;
                pieces.push(self.quoted(at));
            }
        }
        pieces.join(" ")
    }
}

fn read_passage(index: usize, passage: &Passage, found: &mut Vec<Sentence>) {
    // What stands in brackets tells what the passage is good for.
    let source = passage.source.split('(').next().unwrap_or_default().to_lowercase();
    let has = |marks: &[&str]| marks.iter().any(|mark| source.contains(mark));
    let base = if has(&["speech", "transcript", "diarization", "spoken"]) {
        Kind::Speech
    } else if has(&["screen", "ocr", "caption"]) {
        Kind::Screen
    } else if has(&["objects"]) {
        Kind::List
    } else if source.starts_with("people") {
        Kind::Scene
    } else {
        Kind::Prose
    };
    let mut kind = base;
    let mut speaker = None;
    // A quotation may span sentences: what it opens with holds until it closes.
    let mut quoted: Option<Kind> = None;
    for whole in sentences(&on_lines_of_their_own(&passage.text), Quotations::Split) {
        let mut text = whole;
        let mut this = quoted.unwrap_or(kind);
        if quoted.is_none()
            && let Some((label, rest)) = label(text)
        {
            let lower = label.to_lowercase();
            if SPEECH_LABELS.contains(&lower.as_str()) {
                (kind, this, text) = (Kind::Speech, Kind::Speech, rest);
            } else if SCREEN_LABELS.contains(&lower.as_str()) {
                (kind, this, text) = (base, Kind::Screen, rest);
            } else if PEOPLE_LABELS.contains(&lower.as_str()) {
                (kind, this, text) = (Kind::Scene, Kind::Scene, rest);
            } else if SCENE_LABELS.contains(&lower.as_str()) {
                (kind, this) = (base, Kind::Scene);
            }
        }
        if this == Kind::Prose && text.starts_with('“') {
            this = Kind::Speech;
        }
        let (opening, closing) = (text.matches('“').count(), text.matches('”').count());
        quoted = if opening > closing { Some(this) } else { quoted.filter(|_| closing <= opening) };

        if this == Kind::Speech
            && let Some((name, rest)) = label(text)
            && is_speaker(name)
        {
            (speaker, text) = (Some(name.to_owned()), rest);
        }
        // The quotation marks are put back where they are wanted.
        let text = match this {
            Kind::Speech | Kind::Screen => text.trim_matches(['"', '“', '”', ' ']),
            Kind::Prose | Kind::List | Kind::Scene => text,
        };
        for piece in chopped(text) {
            push(index, this, speaker.clone().filter(|_| this == Kind::Speech), &piece, found);
        }
    }
}

/// Labels and turns that a composed text puts behind something without a full stop begin a line.
fn on_lines_of_their_own(text: &str) -> String {
    const LABELS: [&str; 3] = ["Speech: ", "Text on screen: ", "On screen: "];
    let begins = |rest: &str| {
        let number = rest.strip_prefix("SPEAKER_").or_else(|| rest.strip_prefix("Speaker "));
        let digits = number.and_then(|rest| rest.split_once(": ")).map_or("", |(digits, _)| digits);
        LABELS.iter().any(|label| rest.starts_with(label))
            || ((1..=3).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_digit()))
    };
    let mut lines = String::with_capacity(text.len());
    for (at, c) in text.char_indices() {
        // "Speech: SPEAKER_00: hello" is one line.
        let breaks = c == ' ' && !text[..at].ends_with(':') && begins(&text[at + 1..]);
        lines.push(if breaks { '\n' } else { c });
    }
    lines
}

fn push(
    passage: usize,
    kind: Kind,
    speaker: Option<String>,
    text: &str,
    found: &mut Vec<Sentence>,
) {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let length = words(&text).len();
    if length == 0 {
        return;
    }
    let kind = match kind {
        Kind::Prose if is_list(&text) => Kind::List,
        Kind::Prose if is_measured(&text) => Kind::Scene,
        kind => kind,
    };
    let stems = content(&text);
    found.push(Sentence { passage, kind, speaker, text, stems, length, repeats: None });
}

/// `Text on screen: X` is `("Text on screen", "X")`.
fn label(sentence: &str) -> Option<(&str, &str)> {
    let (label, rest) = sentence.split_once(':')?;
    let rest = rest.strip_prefix(char::is_whitespace)?.trim();
    let fits = label.len() <= 32
        && label.split_whitespace().count() <= 3
        && label.chars().all(|c| c.is_alphanumeric() || matches!(c, ' ' | '_' | '-' | '.'))
        && label.starts_with(char::is_alphabetic);
    (fits && !rest.is_empty()).then_some((label, rest))
}

/// Whether what stands before a colon in speech names who speaks.
fn is_speaker(name: &str) -> bool {
    let capital = name
        .split_whitespace()
        .all(|part| part.starts_with(|c: char| c.is_uppercase() || c.is_ascii_digit()));
    capital && !name.split_whitespace().any(|part| is_stop_word(&part.to_lowercase()))
}

/// `4 people and a dog are in view.`, `In view: dog, cat.`
fn is_list(text: &str) -> bool {
    ["In view: ", "Most often in view: "].iter().any(|start| text.starts_with(start))
        || text.ends_with(" in view.")
}

fn is_measured(text: &str) -> bool {
    let content: Vec<String> = words(text)
        .into_iter()
        .map(|word| word.lower)
        .filter(|lower| !is_stop_word(lower))
        .collect();
    let measured = content
        .iter()
        .filter(|lower| {
            SCENE_WORDS.contains(&lower.as_str())
                || colours::named_by(lower).is_some()
                || lower.parse::<f64>().is_ok()
        })
        .count();
    !content.is_empty() && measured * 5 >= content.len() * 4
}

/// A run of words without a full stop, cut where it hurts least; anything else as it is.
fn chopped(text: &str) -> Vec<String> {
    const OPENERS: &[&str] =
        &["and", "but", "so", "because", "then", "well", "now", "which", "when", "or"];
    let all = words(text);
    if all.len() <= MAX_WORDS {
        return vec![text.to_owned()];
    }
    let mut pieces = Vec::new();
    let (mut start, mut since) = (0, 0);
    for pair in all.windows(2) {
        since += 1;
        let between = &text[pair[0].start + pair[0].text.len()..pair[1].start];
        let pause = between.contains([',', ';', ':', '–', '—']);
        let opens = OPENERS.contains(&pair[1].lower.as_str());
        if (since >= CUT_WORDS && (pause || opens)) || since >= CUT_WORDS + 12 {
            pieces.push(text[start..pair[1].start].to_owned());
            (start, since) = (pair[1].start, 0);
        }
    }
    pieces.push(text[start..].to_owned());
    let last = pieces.len() - 1;
    for (at, piece) in pieces.iter_mut().enumerate() {
        let trimmed = piece.trim().trim_end_matches([',', ';', ':', '–', '—', ' ']);
        *piece = if at == last { trimmed.to_owned() } else { format!("{trimmed} …") };
    }
    pieces
}

fn content(text: &str) -> Vec<String> {
    words(text)
        .into_iter()
        .filter(|word| !is_stop_word(&word.lower))
        .map(|word| stem(&word.lower))
        .collect()
}

/// The distinct stems of a text's content words.
pub(super) fn content_stems(text: &str) -> BTreeSet<String> {
    content(text).into_iter().collect()
}

/// With a capital at the beginning and a full stop at the end.
pub(super) fn finished(text: &str) -> String {
    let text = text.trim();
    let mut chars = text.chars();
    let mut out: String = match chars.next() {
        Some(first) if first.is_lowercase() => first.to_uppercase().chain(chars).collect(),
        _ => text.to_owned(),
    };
    let closed = out.trim_end_matches(['"', '”', '’', ')', '»', '\'']);
    if !closed.ends_with(['.', '!', '?', '…', '。', '！', '？', '।', '؟']) {
        let kept = out.trim_end_matches([',', ';', ':', '-', '–', '—', ' ']).len();
        out.truncate(kept);
        out.push('.');
    }
    out
}

/// Without the full stop at the end.
pub(super) fn bare(text: &str) -> &str {
    text.trim().trim_end_matches(['.', ' ']).trim_matches(['"', '“', '”'])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passage(source: &str, text: &str) -> Passage {
        Passage { id: "p".to_owned(), source: source.to_owned(), text: text.to_owned() }
    }

    #[test]
    fn composed_descriptions_come_apart() {
        let passages = [passage(
            "description",
            "A bright scene with strong motion. Text on screen: GOOGLE PARIS. A man walks in. \
             Speech: Hello there. We make maps.",
        )];
        let document = Document::read(&passages);
        let found: Vec<(Kind, &str)> = document
            .sentences
            .iter()
            .map(|sentence| (sentence.kind, sentence.text.as_str()))
            .collect();
        assert_eq!(
            found,
            [
                (Kind::Scene, "A bright scene with strong motion."),
                (Kind::Screen, "GOOGLE PARIS."),
                (Kind::Prose, "A man walks in."),
                (Kind::Speech, "Hello there."),
                (Kind::Speech, "We make maps."),
            ]
        );
        assert_eq!(
            document.prose(&[0, 1, 3, 4]),
            "A bright scene with strong motion. On screen: “GOOGLE PARIS”. “Hello there. We make maps.”"
        );
    }

    #[test]
    fn speakers_are_told_from_speech() {
        let passages =
            [passage("diarization", "SPEAKER_00: hello. And so: we begin.\nSpeaker 2: Yes")];
        let document = Document::read(&passages);
        let found: Vec<(Option<&str>, &str)> =
            document.sentences.iter().map(|s| (s.speaker.as_deref(), s.text.as_str())).collect();
        assert_eq!(
            found,
            [
                (Some("SPEAKER_00"), "hello."),
                (Some("SPEAKER_00"), "And so: we begin."),
                (Some("Speaker 2"), "Yes"),
            ]
        );
    }

    #[test]
    fn turns_and_labels_need_no_full_stop_before_them() {
        let passages = [passage(
            "description",
            "A dim picture in blue, still. There is sound. Speech: SPEAKER_00: hello there \
             SPEAKER_01: yes Text on screen: A; B",
        )];
        let document = Document::read(&passages);
        let found: Vec<(Kind, &str)> =
            document.sentences.iter().map(|s| (s.kind, s.text.as_str())).collect();
        assert_eq!(
            found,
            [
                (Kind::Scene, "A dim picture in blue, still."),
                (Kind::Scene, "There is sound."),
                (Kind::Speech, "hello there"),
                (Kind::Speech, "yes"),
                (Kind::Screen, "A; B"),
            ]
        );
        assert_eq!(document.sentences[3].speaker.as_deref(), Some("SPEAKER_01"));
    }

    #[test]
    fn what_was_quoted_once_can_be_quoted_again() {
        let passages = [passage(
            "summary",
            "A man waits. “Hello there. We make maps.” On screen: “ONE. TWO”. He goes.",
        )];
        let document = Document::read(&passages);
        let kinds: Vec<Kind> = document.sentences.iter().map(|sentence| sentence.kind).collect();
        let (prose, speech, screen) = (Kind::Prose, Kind::Speech, Kind::Screen);
        assert_eq!(kinds, [prose, speech, speech, screen, screen, prose]);
        assert_eq!(
            document.prose(&[0, 1, 2, 5]),
            "A man waits. “Hello there. We make maps.” He goes."
        );
    }

    #[test]
    fn endless_speech_is_cut_into_readable_pieces() {
        let text = "we went to the harbour and looked at the boats ".repeat(12);
        let passages = [passage("speech", &text)];
        let document = Document::read(&passages);
        assert!(document.sentences.len() >= 4);
        assert!(document.sentences.iter().all(|sentence| sentence.length <= MAX_WORDS));
    }

    #[test]
    fn sentences_are_finished() {
        for (text, expected) in [
            ("we make maps", "We make maps."),
            ("we make maps,", "We make maps."),
            ("He said “go.”", "He said “go.”"),
            ("cut off …", "Cut off …"),
        ] {
            assert_eq!(finished(text), expected);
        }
    }
}
