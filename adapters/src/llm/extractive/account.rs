//! Writes a summary from detections, on-screen text and speech, for documents without prose. It
//! names the visible things and their movements, the on-screen titles and the topics of the speech,
//! and quotes the most informative spoken sentences.

use ports::llm::PassageKind;
use text::plural::is_counted;
use text::{Token, join_list, words};

use super::corpus::{Corpus, finish_sentence, is_notice, is_title};
use super::speakers::Speakers;
use super::{phrases, rank};

/// Maximum number of movements to name.
const MAX_MOVEMENTS: usize = 2;
/// Maximum number of quoted on-screen titles.
const MAX_TITLES: usize = 2;
/// Maximum number of topics of the speech to name.
const MAX_SUBJECTS: usize = 3;
/// Maximum number of quoted sentences.
const MAX_QUOTES: usize = 3;
/// Maximum number of quoted sentences if there is nothing but speech.
const MAX_SPEECH_QUOTES: usize = 5;
/// Maximum share of a quoted sentence's content words that may be misrecognised.
const MAX_DOUBT: f64 = 0.2;

/// Returns whether the corpus has no prose.
pub(super) fn is_needed(corpus: &Corpus) -> bool {
    !corpus.sentences.iter().any(|sentence| sentence.kind == PassageKind::Prose)
}

/// Writes the sentences of the summary. Returns none if only the appearance of the scene is known.
pub(super) fn summary(corpus: &Corpus, max_sentences: usize) -> Vec<String> {
    let mut sentences = Vec::new();
    let movements = movements(corpus);
    sentences.extend(in_view(corpus, &movements));
    sentences.extend(movements.into_iter().map(str::to_owned));
    let titles: Vec<String> = titles(corpus).map(|text| format!("“{text}”")).collect();
    match &titles[..] {
        [] if corpus.has_page() => sentences.push("A page of text is on screen.".to_owned()),
        [] => {}
        [one] => sentences.push(format!("The text {one} appears on screen.")),
        _ => {
            sentences.push(format!("The texts {} appear on screen.", join_list(&titles, "and")));
        }
    }
    let speakers = Speakers::new(corpus);
    let max_quotes = match corpus.only_speech() {
        true => ((corpus.distinct() as f64).sqrt().ceil() as usize).clamp(1, MAX_SPEECH_QUOTES),
        false => MAX_QUOTES,
    };
    let mut quoted = quotable(corpus, max_sentences, max_quotes);
    quoted.sort_unstable();
    if !quoted.is_empty() {
        sentences.extend(talk(corpus, &speakers));
    }
    let mut last: Option<String> = None;
    for at in quoted {
        let sentence = &corpus.sentences[at];
        let name = speakers.name(sentence);
        let same = last.as_ref() == Some(&name);
        match sentences.last_mut().filter(|_| same) {
            Some(open) => {
                open.truncate(open.trim_end_matches('”').len());
                open.push_str(&format!(" {}”", finish_sentence(&sentence.text)));
            }
            None => sentences.push(said(corpus, &speakers, at)),
        }
        last = Some(name);
    }
    sentences
}

/// Writes a sentence that names the visible things, such as `Up to three people and a car are in
/// view.` Leaves out a thing whose only sight is one of the `movements`.
fn in_view(corpus: &Corpus, movements: &[&str]) -> Option<String> {
    let is_moving = |name: &str| {
        let moves = |sentence: &&str| {
            let rest = sentence.get(name.len()..).filter(|rest| rest.starts_with(' '));
            rest.is_some() && sentence[..name.len()].eq_ignore_ascii_case(name)
        };
        corpus.places == 1 && movements.iter().any(moves)
    };
    // The numbers are the largest of all moments.
    let counted = |name: &&str| match is_counted(name) {
        true if corpus.places > 1 => format!("up to {name}"),
        _ => (*name).to_owned(),
    };
    let things = phrases::people_first(&corpus.shown);
    let names: Vec<String> = things.iter().filter(|name| !is_moving(name)).map(counted).collect();
    let one = matches!(&names[..], [one] if one.starts_with("a ") || one.starts_with("an "));
    let verb = if one { "is" } else { "are" };
    let names: Vec<String> = names.into_iter().map(|name| dressed(corpus, name)).collect();
    let text = format!("{} {verb} in view", join_list(&names, "and"));
    (!names.is_empty()).then(|| finish_sentence(&text))
}

/// Adds the clothes to a person who is alone in every moment and always wears the same ones.
fn dressed(corpus: &Corpus, name: String) -> String {
    if name != "a person" {
        return name;
    }
    let people = corpus.sentences.iter().filter(|sentence| sentence.kind == PassageKind::People);
    let mut clothes: Vec<Option<&str>> = people.map(|person| upper_clothes(&person.text)).collect();
    clothes.dedup();
    match clothes[..] {
        [Some(clothes)] => format!("{name} {clothes}"),
        _ => name,
    }
}

/// Returns the upper garment in a description of one person, such as `in a white top`. Returns
/// `None` for colours that bare skin or a shadow may have.
fn upper_clothes(description: &str) -> Option<&str> {
    const GARMENT: &str = " top";
    const AMBIGUOUS: &[&str] = &["beige", "black", "brown", "orange", "pink", "red"];
    let clothes = description.strip_prefix("A person ").filter(|rest| rest.starts_with("in a"))?;
    let end = clothes.find(GARMENT)? + GARMENT.len();
    let clothes = &clothes[..end];
    let is_clear = !words(clothes).iter().any(|word| AMBIGUOUS.contains(&word.lower.as_str()));
    is_clear.then_some(clothes)
}

/// Returns the sentences that say how things move, the most frequent first. Of sentences that differ
/// only in the verb, such as `A person walks to the right.` and `A person moves to the right.`, only
/// one is returned.
fn movements<'a>(corpus: &'a Corpus) -> Vec<&'a str> {
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for sentence in &corpus.sentences {
        let text = sentence.text.as_str();
        if sentence.kind != PassageKind::Objects || is_list_of_things(text) {
            continue;
        }
        match counts.iter_mut().find(|(known, _)| *known == text) {
            Some((_, count)) => *count += 1,
            None => counts.push((text, 1)),
        }
    }
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let mut chosen: Vec<&str> = Vec::new();
    for (text, _) in counts {
        if chosen.len() < MAX_MOVEMENTS && !chosen.iter().any(|other| is_same_movement(other, text))
        {
            chosen.push(text);
        }
    }
    chosen
}

/// Returns whether two sentences about movements differ only in the verb.
fn is_same_movement(one: &str, other: &str) -> bool {
    const VERBS: &[&str] = &["moves", "move", "walks", "walk", "drives", "drive"];
    let (one, other) = (words(one), words(other));
    let is_same = |(a, b): (&Token, &Token)| {
        let are_verbs = [a, b].iter().all(|word| VERBS.contains(&word.lower.as_str()));
        a.lower == b.lower || are_verbs
    };
    one.len() == other.len() && one.iter().zip(&other).all(is_same)
}

/// Returns whether a sentence only lists what is in view.
pub(super) fn is_list_of_things(sentence: &str) -> bool {
    !sentence.ends_with('.') || sentence.ends_with(" in view.")
}

/// Returns the most important statements, which come from speech. Detections are in the summary.
pub(super) fn key_points(corpus: &Corpus, max_sentences: usize, count: usize) -> Vec<String> {
    let speakers = Speakers::new(corpus);
    let quotable = quotable(corpus, max_sentences, count).into_iter();
    quotable.map(|at| said(corpus, &speakers, at)).collect()
}

/// Writes a sentence that names the topics of the speech, such as
/// `The speaker talks about maps and Paris.`
fn talk(corpus: &Corpus, speakers: &Speakers) -> Option<String> {
    let subjects = phrases::subjects(corpus, MAX_SUBJECTS);
    let who = if speakers.count() > 1 { "The speakers talk" } else { "The speaker talks" };
    (!subjects.is_empty()).then(|| format!("{who} about {}.", join_list(&subjects, "and")))
}

/// Returns the first on-screen titles.
fn titles<'a>(corpus: &'a Corpus) -> impl Iterator<Item = &'a str> {
    let shown = corpus.sentences.iter().filter(|sentence| {
        sentence.kind == PassageKind::Screen
            && sentence.repeats.is_none()
            && sentence.length > 1
            && corpus.is_legible(sentence)
            && is_title(&sentence.text)
    });
    shown.map(|sentence| sentence.text.as_str()).take(MAX_TITLES)
}

/// Returns the most informative of the spoken sentences that were probably recognised correctly,
/// most informative first. A sentence with a word that may be misrecognised is only returned if
/// there is no other.
fn quotable(corpus: &Corpus, max_sentences: usize, count: usize) -> Vec<usize> {
    let ranked = |max_doubt: f64, count: usize| {
        let ranking = rank::rank(corpus, max_sentences, |at| {
            let sentence = &corpus.sentences[at];
            sentence.kind == PassageKind::Speech
                && sentence.doubt <= max_doubt
                // A web address that is only heard is rarely spelled right.
                && !is_notice(&sentence.text)
                && sentence.length > 3
                && !sentence.stems.is_empty()
        });
        ranking.best(count)
    };
    match ranked(0.0, count) {
        sure if sure.is_empty() => ranked(MAX_DOUBT, 1),
        sure => sure,
    }
}

/// Quotes a sentence, as in `The speaker says: “We make maps.”`
fn said(corpus: &Corpus, speakers: &Speakers, at: usize) -> String {
    let sentence = &corpus.sentences[at];
    let who = speakers.name(sentence);
    format!("{who} says: “{}”", finish_sentence(&sentence.text))
}
