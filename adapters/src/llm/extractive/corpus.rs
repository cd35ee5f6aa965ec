//! Splits passages into sentences, each with its kind and moment.

use std::collections::{BTreeSet, HashMap};

use ports::llm::{OVERVIEW, Passage, PassageKind};
use text::{Quotations, Token, is_stop_word, sentences, stem, words};

/// A sentence from a passage.
#[derive(Debug, Clone)]
pub(super) struct Sentence {
    /// Index of the passage that contains the sentence.
    pub(super) passage: usize,
    /// Index of the moment. Consecutive passages about the same moment have the same index.
    pub(super) place: usize,
    pub(super) kind: PassageKind,
    /// The speaker; `None` if unknown.
    pub(super) speaker: Option<String>,
    pub(super) text: String,
    /// Stems of the content words, in the order of the words.
    pub(super) stems: Vec<String>,
    /// Number of words in the sentence.
    pub(super) length: usize,
    /// Share of the content words that may be misrecognised, 0..1.
    pub(super) doubt: f64,
    /// Index of an earlier identical sentence, if any.
    pub(super) repeats: Option<usize>,
    /// Whether an identical sentence belongs to another moment.
    pub(super) recurs: bool,
}

impl Sentence {
    /// Returns whether the sentence describes only appearance, such as light, motion or clothing, or
    /// only contains data. It is quoted if there is nothing else.
    pub(super) fn is_scenery(&self) -> bool {
        matches!(self.kind, PassageKind::Scene | PassageKind::People | PassageKind::Row)
    }
}

/// The passages of a request, split into sentences.
#[derive(Debug)]
pub(super) struct Corpus<'a> {
    pub(super) passages: &'a [Passage],
    /// Things that are visible anywhere in the video, such as `a car` or `people`. They come from
    /// an overview passage.
    pub(super) shown: Vec<&'a str>,
    /// Number of moments.
    pub(super) places: usize,
    pub(super) sentences: Vec<Sentence>,
    /// The moments that show a page of text.
    pages: BTreeSet<usize>,
}

/// Maximum number of words in a sentence. Longer text, such as speech without punctuation, is
/// split.
const MAX_WORDS: usize = 40;
/// Long text is split after this many words, at a pause or before a conjunction.
const CUT_WORDS: usize = 18;

/// Prefix of a sentence that quotes on-screen text.
const ON_SCREEN: &str = "On screen: ";

impl<'a> Corpus<'a> {
    pub(super) fn read(passages: &'a [Passage]) -> Self {
        let mut found = Vec::new();
        let mut places = 0;
        let mut shown = Vec::new();
        for (index, passage) in passages.iter().enumerate() {
            if passage.topic.as_deref() == Some(OVERVIEW) {
                shown.extend(passage.text.split(", "));
                continue;
            }
            let before = index.checked_sub(1).map(|before| &passages[before]);
            if !before.is_some_and(|before| belong_together(before, passage)) {
                places += 1;
            }
            read_passage(index, places - 1, passage, &mut found);
        }
        let mut first: HashMap<String, usize> = HashMap::new();
        let known: HashMap<String, PassageKind> = found
            .iter()
            .filter(|s| matches!(s.kind, PassageKind::Objects) || s.is_scenery())
            .map(|sentence| (sentence.text.clone(), sentence.kind))
            .collect();
        for (at, sentence) in found.iter_mut().enumerate() {
            let lower: Vec<String> =
                words(&sentence.text).into_iter().map(|word| word.lower).collect();
            let original = *first.entry(lower.join(" ")).or_insert(at);
            sentence.repeats = (original != at).then_some(original);
            // Prose that repeats a measured sentence, as a summary may, has the same kind as that
            // sentence.
            if let (PassageKind::Prose, Some(kind)) = (sentence.kind, known.get(&sentence.text)) {
                sentence.kind = *kind;
            }
        }
        for at in 0..found.len() {
            let Some(first) = found[at].repeats else { continue };
            if found[first].place != found[at].place {
                (found[first].recurs, found[at].recurs) = (true, true);
            }
        }
        let pages = pages(&found);
        Self { passages, shown, places, sentences: found, pages }
    }

    /// Returns whether any moment shows a page of text rather than captions.
    pub(super) fn has_page(&self) -> bool {
        !self.pages.is_empty()
    }

    /// Returns whether on-screen text was probably read correctly. Readings of a page of small text
    /// are often wrong, unless another moment has the same reading.
    pub(super) fn is_legible(&self, sentence: &Sentence) -> bool {
        sentence.recurs || !self.pages.contains(&sentence.place)
    }

    /// Returns the number of distinct sentences.
    pub(super) fn distinct(&self) -> usize {
        self.sentences.iter().filter(|sentence| sentence.repeats.is_none()).count()
    }

    /// Returns whether all sentences are speech.
    pub(super) fn only_speech(&self) -> bool {
        self.sentences.iter().all(|sentence| sentence.kind == PassageKind::Speech)
    }

    /// Formats a sentence for output. It is in quotation marks if it is quoted from the video.
    pub(super) fn quoted(&self, at: usize) -> String {
        let sentence = &self.sentences[at];
        match sentence.kind {
            PassageKind::Screen | PassageKind::Row => {
                format!("{ON_SCREEN}“{}”.", strip_final_marks(&sentence.text))
            }
            PassageKind::Speech if !self.only_speech() => {
                format!("“{}”", finish_sentence(&sentence.text))
            }
            _ => finish_sentence(&sentence.text),
        }
    }

    /// Joins sentences into running text. Consecutive spoken sentences share one pair of quotation
    /// marks.
    pub(super) fn prose(&self, chosen: &[usize]) -> String {
        let mut pieces: Vec<String> = Vec::new();
        let mut quoting = false;
        for &at in chosen {
            let sentence = &self.sentences[at];
            if sentence.kind != PassageKind::Speech || self.only_speech() {
                quoting = false;
                pieces.push(self.quoted(at));
            } else if let Some(open) = pieces.last_mut().filter(|_| quoting) {
                open.truncate(open.trim_end_matches('”').len());
                open.push_str(&format!(" {}”", finish_sentence(&sentence.text)));
            } else {
                quoting = true;
                pieces.push(self.quoted(at));
            }
        }
        pieces.join(" ")
    }
}

/// Returns whether on-screen text is a title or a sign, and not a notice, an address, a clock or a
/// camera label.
pub(super) fn is_title(caption: &str) -> bool {
    /// Maximum number of words in a title.
    const LONGEST: usize = 7;
    let (lower, all) = (caption.to_lowercase(), words(caption));
    let letters = caption.chars().filter(|c| c.is_alphabetic()).count();
    let others = caption.chars().filter(|c| !c.is_alphabetic() && !c.is_whitespace()).count();
    let numbered = lower.contains(|c: char| c.is_ascii_digit());
    let camera = all
        .first()
        .is_some_and(|first| matches!(first.lower.as_str(), "camera" | "cam" | "channel" | "ch"));
    let named = all.iter().any(|word| !is_stop_word(&word.lower) && word.lower.len() > 2);
    named
        && is_readable(caption)
        && (1..=LONGEST).contains(&all.len())
        && letters >= 2 * others
        && letters > 3
        && !(camera && numbered)
        && !caption.trim_end().ends_with(['.', ',', ':', '-'])
        && !is_notice(caption)
}

/// Returns whether on-screen text consists of words. Code, symbols read as letters, letters of
/// several scripts in one line, and single letters are no words.
fn is_readable(caption: &str) -> bool {
    const SYMBOLS: &[char] = &[
        '_', '=', '{', '}', '[', ']', '<', '>', '|', '\\', '#', '*', '^', '~', '$', '%', '(', ')',
    ];
    let is_latin = |c: char| c.is_ascii() || ('\u{c0}'..='\u{24f}').contains(&c);
    let mut letters = caption.chars().filter(|c| c.is_alphabetic());
    let first_is_latin = letters.next().is_none_or(is_latin);
    let one_script = letters.all(|c| is_latin(c) == first_is_latin);
    let is_word = |word: &str| {
        let letters = word.chars().filter(|c| c.is_alphabetic()).count();
        let is_number = letters == 0 || word.starts_with(|c: char| c.is_ascii_digit());
        let is_mixed = word.chars().any(|c| c.is_ascii_digit()) && !is_number;
        let is_letter = letters == 1 && !matches!(word, "a" | "A" | "I" | "O" | "&");
        let changes_case = word
            .chars()
            .zip(word.chars().skip(1))
            .filter(|(a, b)| a.is_lowercase() && b.is_uppercase())
            .count();
        !(is_mixed || word.is_ascii() && is_letter) && changes_case <= 1
    };
    let mut words = caption.split(|c: char| c.is_whitespace() || ",;:/–—-".contains(c));
    one_script && !caption.contains(SYMBOLS) && words.all(|word| word.is_empty() || is_word(word))
}

/// Returns whether on-screen text is an address or a copyright notice.
pub(super) fn is_notice(caption: &str) -> bool {
    const MARKS: &[&str] = &["©", "copyright", "www.", "http", ".com", "@"];
    let lower = caption.trim().to_lowercase();
    let address = lower.contains('.') && !lower.ends_with('.') && !lower.contains(' ');
    address || MARKS.iter().any(|mark| lower.contains(mark))
}

/// Returns the moments with enough on-screen texts to show a page.
fn pages(sentences: &[Sentence]) -> BTreeSet<usize> {
    /// Minimum number of on-screen texts.
    const MIN_TEXTS: usize = 12;
    let mut counts: HashMap<usize, usize> = HashMap::new();
    for sentence in sentences.iter().filter(|s| s.kind == PassageKind::Screen) {
        *counts.entry(sentence.place).or_default() += 1;
    }
    counts.into_iter().filter(|(_, count)| *count >= MIN_TEXTS).map(|(place, _)| place).collect()
}

/// Returns whether two passages have the same moment and topic.
fn belong_together(a: &Passage, b: &Passage) -> bool {
    a.moment.is_some() && a.moment == b.moment && a.topic == b.topic
}

fn read_passage(index: usize, place: usize, passage: &Passage, found: &mut Vec<Sentence>) {
    // A quotation written by this model may span several sentences.
    let mut quoted: Option<PassageKind> = None;
    let doubtful = |word: &Token| passage.doubtful.contains(&word.lower);
    let parts: Vec<&str> = match passage.kind {
        PassageKind::Row => passage.text.lines().collect(),
        _ => sentences(&passage.text, Quotations::Split),
    };
    for whole in parts {
        let (mut kind, mut text) = (quoted.unwrap_or(passage.kind), whole);
        if passage.kind == PassageKind::Prose {
            if quoted.is_none() && text.starts_with('“') {
                kind = PassageKind::Speech;
            } else if let Some(rest) = text.strip_prefix(ON_SCREEN).filter(|r| r.starts_with('“'))
                && quoted.is_none()
            {
                (kind, text) = (PassageKind::Screen, rest);
            }
            let (opening, closing) = (text.matches('“').count(), text.matches('”').count());
            quoted =
                if opening > closing { Some(kind) } else { quoted.filter(|_| closing <= opening) };
        }
        // The quotation marks are removed here and added again on output.
        let text = match kind {
            PassageKind::Speech | PassageKind::Screen => text.trim_matches(['"', '“', '”', ' ']),
            _ => text,
        };
        let pieces = match kind {
            // Each piece of on-screen text is a separate sentence.
            PassageKind::Screen => text.split("; ").map(str::to_owned).collect(),
            PassageKind::Row => vec![text.to_owned()],
            _ => split_long(text),
        };
        for piece in pieces {
            let text = piece.split_whitespace().collect::<Vec<_>>().join(" ");
            let all = words(&text);
            let length = all.len();
            let meant: Vec<&Token> = all.iter().filter(|word| !is_stop_word(&word.lower)).collect();
            let doubted = meant.iter().filter(|word| doubtful(word)).count();
            let doubt = doubted as f64 / meant.len().max(1) as f64;
            if length > 0 {
                found.push(Sentence {
                    passage: index,
                    place,
                    kind,
                    speaker: passage.speaker.clone(),
                    stems: content(&text),
                    doubt,
                    text,
                    length,
                    repeats: None,
                    recurs: false,
                });
            }
        }
    }
}

/// Splits overlong text at pauses or conjunctions. Returns other text unchanged.
fn split_long(text: &str) -> Vec<String> {
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

/// Returns the distinct stems of the content words in `text`.
pub(super) fn content_stems(text: &str) -> BTreeSet<String> {
    content(text).into_iter().collect()
}

/// Adds an initial capital and a full stop if they are missing.
pub(super) fn finish_sentence(text: &str) -> String {
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

/// Removes the final full stop and surrounding quotation marks.
pub(super) fn strip_final_marks(text: &str) -> &str {
    text.trim().trim_end_matches(['.', ' ']).trim_matches(['"', '“', '”'])
}

#[cfg(test)]
mod tests {
    use ports::llm::PassageKind::{Objects, Prose, Scene, Screen, Speech};
    use ports::llm::VideoSpan;

    use super::*;

    fn found(passages: &[Passage]) -> Vec<(PassageKind, String)> {
        let corpus = Corpus::read(passages);
        corpus.sentences.into_iter().map(|sentence| (sentence.kind, sentence.text)).collect()
    }

    #[test]
    fn sentences_have_the_kind_of_their_passage() {
        let passages = [
            Passage::new("a", Scene, "A bright scene with strong motion."),
            Passage::new("b", Screen, "GOOGLE PARIS."),
            Passage::new("c", Prose, "A man walks in."),
            Passage::new("d", Speech, "Hello there. We make maps."),
        ];
        let expected = [
            (Scene, "A bright scene with strong motion."),
            (Screen, "GOOGLE PARIS."),
            (Prose, "A man walks in."),
            (Speech, "Hello there."),
            (Speech, "We make maps."),
        ];
        assert_eq!(found(&passages), expected.map(|(kind, text)| (kind, text.to_owned())));
        assert_eq!(
            Corpus::read(&passages).prose(&[0, 1, 3, 4]),
            "A bright scene with strong motion. On screen: “GOOGLE PARIS”. “Hello there. We make maps.”"
        );
    }

    #[test]
    fn words_before_a_colon_are_part_of_the_sentence() {
        for kind in [Prose, Speech] {
            let text = "Speech: hello. Text on screen: yes. S1: And so: we begin.";
            let all: String = found(&[Passage::new("a", kind, text)])
                .into_iter()
                .map(|(found, text)| {
                    assert_eq!(found, kind);
                    text + " "
                })
                .collect();
            assert_eq!(all.trim(), text);
        }
    }

    #[test]
    fn neighbours_of_one_moment_share_a_place() {
        let at = |start: f64, kind, speaker: Option<&str>, text| Passage {
            moment: Some(VideoSpan { video_id: None, start, end: start + 10.0 }),
            speaker: speaker.map(str::to_owned),
            ..Passage::new(text, kind, text)
        };
        let passages = [
            at(0.0, Scene, None, "A dim picture in blue, still."),
            at(0.0, Speech, Some("S1"), "hello there"),
            at(0.0, Speech, Some("S2"), "yes"),
            at(10.0, Screen, None, "A"),
            Passage::new("x", Prose, "A man waits."),
            Passage::new("y", Prose, "He goes."),
        ];
        let corpus = Corpus::read(&passages);
        let places: Vec<(usize, Option<&str>)> =
            corpus.sentences.iter().map(|s| (s.place, s.speaker.as_deref())).collect();
        let expected =
            [(0, None), (0, Some("S1")), (0, Some("S2")), (1, None), (2, None), (3, None)];
        assert_eq!((places, corpus.places), (expected.to_vec(), 4));
    }

    #[test]
    fn prose_that_repeats_a_measured_sentence_has_its_kind() {
        let passages = [
            Passage::new("a", Prose, "A dog is in view. It rains."),
            Passage::new("b", Objects, "A dog is in view."),
        ];
        let expected =
            [(Objects, "A dog is in view."), (Prose, "It rains."), (Objects, "A dog is in view.")];
        assert_eq!(found(&passages), expected.map(|(kind, text)| (kind, text.to_owned())));
    }

    #[test]
    fn quotations_can_be_quoted_again() {
        let passages = [Passage::new(
            "a",
            Prose,
            "A man waits. “Hello there. We make maps.” On screen: “ONE. TWO”. He goes.",
        )];
        let corpus = Corpus::read(&passages);
        let kinds: Vec<PassageKind> = corpus.sentences.iter().map(|s| s.kind).collect();
        assert_eq!(kinds, [Prose, Speech, Speech, Screen, Screen, Prose]);
        assert_eq!(
            corpus.prose(&[0, 1, 2, 5]),
            "A man waits. “Hello there. We make maps.” He goes."
        );
    }

    #[test]
    fn text_on_a_page_is_legible_if_it_recurs() {
        let page: Vec<String> = (0..20).map(|n| format!("Line {n}")).collect();
        let screen = |id: &str, start: f64, text: &str| Passage {
            moment: Some(VideoSpan { video_id: None, start, end: start + 5.0 }),
            ..Passage::new(id, Screen, text)
        };
        let passages = [
            screen("a", 0.0, &format!("{}; Price List", page.join("; "))),
            screen("b", 5.0, "Price List; Welcome"),
        ];
        let corpus = Corpus::read(&passages);
        let legible = |text: &str| {
            let sentence = corpus.sentences.iter().find(|sentence| sentence.text == text);
            sentence.is_some_and(|sentence| corpus.is_legible(sentence))
        };
        assert!(corpus.has_page());
        assert_eq!(["Line 7", "Price List", "Welcome"].map(legible), [false, true, true]);
    }

    #[test]
    fn overlong_speech_is_split() {
        let text = "we went to the harbour and looked at the boats ".repeat(12);
        let passages = [Passage::new("a", Speech, text)];
        let corpus = Corpus::read(&passages);
        assert!(corpus.sentences.len() >= 4);
        assert!(corpus.sentences.iter().all(|sentence| sentence.length <= MAX_WORDS));
    }

    #[test]
    fn sentences_are_finished() {
        for (text, expected) in [
            ("we make maps", "We make maps."),
            ("we make maps,", "We make maps."),
            ("He said “go.”", "He said “go.”"),
            ("cut off …", "Cut off …"),
        ] {
            assert_eq!(finish_sentence(text), expected);
        }
    }
}
