//! Writes a summary from detections and speech, for documents without prose. It names the visible
//! things, the on-screen titles and the topics of the speech, and quotes the most informative
//! spoken sentences.

use ports::llm::PassageKind;
use text::join_list;

use super::corpus::{Corpus, finish_sentence, is_title};
use super::{phrases, rank};

/// Maximum number of quoted on-screen titles.
const MAX_TITLES: usize = 2;
/// Maximum number of topics of the speech to name.
const MAX_SUBJECTS: usize = 3;
/// Maximum number of quoted sentences.
const MAX_QUOTES: usize = 3;
/// Maximum share of a quoted sentence's content words that may be misrecognised.
const MAX_DOUBT: f64 = 0.2;

/// Returns whether the corpus has no prose but contains more than speech.
pub(super) fn is_needed(corpus: &Corpus) -> bool {
    let prose = corpus.sentences.iter().any(|sentence| sentence.kind == PassageKind::Prose);
    !prose && !corpus.only_speech()
}

/// Writes the sentences of the summary. Returns none if only the appearance of the scene is known.
pub(super) fn summary(corpus: &Corpus, max_sentences: usize) -> Vec<String> {
    let mut sentences = Vec::new();
    sentences.extend(shown(corpus));
    let titles: Vec<String> = titles(corpus).map(|text| format!("“{text}”")).collect();
    match &titles[..] {
        [] => {}
        [one] => sentences.push(format!("On screen it says {one}.")),
        _ => sentences.push(format!("On screen it says {}.", join_list(&titles, "and"))),
    }
    let mut quoted = quotable(corpus, max_sentences, MAX_QUOTES);
    quoted.sort_unstable();
    if !quoted.is_empty() {
        sentences.extend(talk(corpus));
    }
    let mut last: Option<usize> = None;
    for at in quoted {
        let sentence = &corpus.sentences[at];
        let same = last.is_some_and(|last| corpus.sentences[last].speaker == sentence.speaker);
        match sentences.last_mut().filter(|_| same) {
            Some(open) => {
                open.truncate(open.trim_end_matches('”').len());
                open.push_str(&format!(" {}”", finish_sentence(&sentence.text)));
            }
            None => sentences.push(said(corpus, at)),
        }
        last = Some(at);
    }
    sentences
}

/// Writes a sentence that names the visible things, such as `Up to 3 people and a car are in view.`
fn shown(corpus: &Corpus) -> Option<String> {
    // The numbers are the largest of all moments.
    let counted = |name: &&str| match name.starts_with(|c: char| c.is_ascii_digit()) {
        true if corpus.places > 1 => format!("up to {name}"),
        _ => (*name).to_owned(),
    };
    let names: Vec<String> = corpus.shown.iter().map(counted).collect();
    let one = matches!(&names[..], [one] if one.starts_with("a ") || one.starts_with("an "));
    let verb = if one { "is" } else { "are" };
    let text = format!("{} {verb} in view", join_list(&names, "and"));
    (!names.is_empty()).then(|| finish_sentence(&text))
}

/// Returns the most important statements. They come from speech, or from detections if no speech
/// can be quoted.
pub(super) fn key_points(corpus: &Corpus, max_sentences: usize, count: usize) -> Vec<String> {
    let mut points: Vec<String> =
        quotable(corpus, max_sentences, count).into_iter().map(|at| said(corpus, at)).collect();
    if points.is_empty() {
        let seen = |at: usize| corpus.sentences[at].kind == PassageKind::Objects;
        let seen = rank::rank(corpus, max_sentences, seen).best(count);
        points.extend(seen.into_iter().map(|at| corpus.quoted(at)));
    }
    points
}

/// Writes a sentence that names the topics of the speech, such as
/// `People talk about maps and Paris.`
fn talk(corpus: &Corpus) -> Option<String> {
    let subjects = phrases::subjects(corpus, MAX_SUBJECTS);
    let mut speakers: Vec<&str> =
        corpus.sentences.iter().filter_map(|sentence| sentence.speaker.as_deref()).collect();
    speakers.sort_unstable();
    speakers.dedup();
    let who = if speakers.len() > 1 { "People talk" } else { "Somebody talks" };
    (!subjects.is_empty()).then(|| format!("{who} about {}.", join_list(&subjects, "and")))
}

/// Returns the first on-screen titles.
fn titles<'a>(corpus: &'a Corpus) -> impl Iterator<Item = &'a str> {
    let shown = corpus.sentences.iter().filter(|sentence| {
        sentence.kind == PassageKind::Screen
            && sentence.repeats.is_none()
            && sentence.length > 1
            && is_title(&sentence.text)
    });
    shown.map(|sentence| sentence.text.as_str()).take(MAX_TITLES)
}

/// Returns the most informative of the spoken sentences that were probably recognised correctly,
/// most informative first.
fn quotable(corpus: &Corpus, max_sentences: usize, count: usize) -> Vec<usize> {
    let ranking = rank::rank(corpus, max_sentences, |at| {
        let sentence = &corpus.sentences[at];
        sentence.kind == PassageKind::Speech
            && sentence.doubt <= MAX_DOUBT
            && sentence.length > 3
            && !sentence.stems.is_empty()
    });
    ranking.best(count)
}

/// Quotes a sentence, as in `S1 says: “We make maps.”`
fn said(corpus: &Corpus, at: usize) -> String {
    let sentence = &corpus.sentences[at];
    let who = sentence.speaker.as_deref().unwrap_or("A voice");
    format!("{who} says: “{}”", finish_sentence(&sentence.text))
}
