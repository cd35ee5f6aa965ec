//! What a film shows and says, in whole sentences, where nobody wrote about it: the things that are
//! seen, a title or two, what is talked about and the sentences that say most.

use ports::llm::PassageKind;
use text::in_a_row;

use super::document::{Document, finished, is_title};
use super::{phrases, rank};

/// Titles in the picture that are quoted.
const TITLES: usize = 2;
/// Subjects of the talk that are named.
const SUBJECTS: usize = 3;
/// Sentences of the talk that are quoted, at most.
const QUOTED: usize = 3;
/// More doubtful sentences are not quoted: of five words of meaning one may be misheard.
const MOST_DOUBT: f64 = 0.2;

/// Whether a document is one of findings alone, which an account is given of.
pub(super) fn is_due(document: &Document) -> bool {
    let prose = document.sentences.iter().any(|sentence| sentence.kind == PassageKind::Prose);
    !prose && !document.only_speech()
}

/// What there is to tell, in sentences; empty where nothing but looks is known.
pub(super) fn summary(document: &Document, most: usize) -> Vec<String> {
    let mut told = Vec::new();
    if !document.shown.is_empty() {
        let seen = in_a_row(&document.shown, "and");
        let one =
            matches!(document.shown[..], [one] if one.starts_with("a ") || one.starts_with("an "));
        told.push(finished(&format!("{seen} {} seen", if one { "is" } else { "are" })));
    }
    let titles: Vec<String> = titles(document).map(|text| format!("“{text}”")).collect();
    match &titles[..] {
        [] => {}
        [one] => told.push(format!("On screen it says {one}.")),
        _ => told.push(format!("On screen it says {}.", in_a_row(&titles, "and"))),
    }
    let mut quoted = quotable(document, most, QUOTED);
    quoted.sort_unstable();
    if !quoted.is_empty() {
        told.extend(talk(document));
    }
    let mut last: Option<usize> = None;
    for at in quoted {
        let sentence = &document.sentences[at];
        let same = last.is_some_and(|last| document.sentences[last].speaker == sentence.speaker);
        match told.last_mut().filter(|_| same) {
            Some(open) => {
                open.truncate(open.trim_end_matches('”').len());
                open.push_str(&format!(" {}”", finished(&sentence.text)));
            }
            None => told.push(said(document, at)),
        }
        last = Some(at);
    }
    told
}

/// The statements that matter most: what is said, and only without any of it what is seen.
pub(super) fn key_points(document: &Document, most: usize, count: usize) -> Vec<String> {
    let mut points: Vec<String> =
        quotable(document, most, count).into_iter().map(|at| said(document, at)).collect();
    if points.is_empty() {
        let seen = |at: usize| document.sentences[at].kind == PassageKind::Objects;
        let seen = rank::rank(document, most, seen).best(count);
        points.extend(seen.into_iter().map(|at| document.quoted(at)));
    }
    points
}

/// `People talk about maps and Paris.`
fn talk(document: &Document) -> Option<String> {
    let subjects = phrases::subjects(document, SUBJECTS);
    let mut speakers: Vec<&str> =
        document.sentences.iter().filter_map(|sentence| sentence.speaker.as_deref()).collect();
    speakers.sort_unstable();
    speakers.dedup();
    let who = if speakers.len() > 1 { "People talk" } else { "Somebody talks" };
    (!subjects.is_empty()).then(|| format!("{who} about {}.", in_a_row(&subjects, "and")))
}

/// The first titles in the picture.
fn titles<'a>(document: &'a Document) -> impl Iterator<Item = &'a str> {
    let shown = document.sentences.iter().filter(|sentence| {
        sentence.kind == PassageKind::Screen
            && sentence.repeats.is_none()
            && sentence.length > 1
            && is_title(&sentence.text)
    });
    shown.map(|sentence| sentence.text.as_str()).take(TITLES)
}

/// The sentences of the talk that say most and are likely right, the best first.
fn quotable(document: &Document, most: usize, count: usize) -> Vec<usize> {
    let ranking = rank::rank(document, most, |at| {
        let sentence = &document.sentences[at];
        sentence.kind == PassageKind::Speech
            && sentence.doubt <= MOST_DOUBT
            && sentence.length > 3
            && !sentence.stems.is_empty()
    });
    ranking.best(count)
}

/// `S1 says: “We make maps.”`
fn said(document: &Document, at: usize) -> String {
    let sentence = &document.sentences[at];
    let who = sentence.speaker.as_deref().unwrap_or("A voice");
    format!("{who} says: “{}”", finished(&sentence.text))
}
