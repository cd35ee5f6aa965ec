//! Evidence for a question: the sentences that share its rare words, or none. An answer that the
//! passages do not bear out is worse than no answer, so every doubt ends in silence.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use ports::llm::{Answer, AnswerSentence};

use crate::english::{is_stop_word, stem, words};

use super::document::{Document, Kind, Sentence, content_stems};
use super::rank;

const MAX_SENTENCES: usize = 3;
/// Part of the question's weight that a sentence must carry by itself.
const LEAST_OWN: f64 = 0.3;
/// Part of it that the sentence must carry together with what stands around it.
const LEAST_TOTAL: f64 = 0.5;
/// What a word in the sentence's surroundings counts of one inside it.
const AROUND: f64 = 0.5;
/// What a word counts that belongs to asking rather than to what is asked about.
const META_WEIGHT: f64 = 0.25;

/// Words of questions about videos that say little about what is looked for.
const META: &[&str] = &[
    "video",
    "videos",
    "clip",
    "clips",
    "footage",
    "film",
    "movie",
    "recording",
    "scene",
    "scenes",
    "show",
    "shows",
    "shown",
    "showing",
    "see",
    "seen",
    "visible",
    "talk",
    "talks",
    "talking",
    "talked",
    "speak",
    "speaks",
    "speaking",
    "spoken",
    "mention",
    "mentioned",
    "mentions",
    "tell",
    "tells",
    "told",
    "happen",
    "happens",
    "happening",
    "happened",
    "discuss",
    "discussed",
    "discusses",
    "describe",
    "described",
    "describes",
    "appear",
    "appears",
    "picture",
    "pictures",
    "image",
    "moment",
    "part",
    "color",
    "colour",
    "colors",
    "colours",
    "name",
    "named",
    "names",
    "called",
    "type",
    "kind",
    "sort",
    "number",
    "reason",
    "time",
    "place",
    "year",
    "person",
    "people",
    "someone",
    "anyone",
    "summary",
    "summarize",
    "summarise",
    "overview",
    "topic",
    "topics",
    "main",
    "text",
    "word",
    "words",
    "written",
    "write",
    "hear",
    "heard",
    "speech",
    "watch",
    "explain",
    "explains",
    "contain",
    "contains",
    "start",
    "starts",
    "begin",
    "begins",
    "end",
    "ends",
    "content",
    "subject",
    "point",
    "points",
    "screen",
    "during",
    "made",
    "beginning",
    "opening",
    "ending",
    "first",
    "last",
    "finally",
];

/// What a question about nothing in particular is after.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Overview {
    Everything,
    Speech,
    Screen,
}

/// Which part of the passages a question about nothing in particular means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stretch {
    Whole,
    Beginning,
    End,
}

impl Stretch {
    fn asked(question: &str) -> Self {
        let asked: Vec<String> = words(question).into_iter().map(|word| word.lower).collect();
        let has = |list: &[&str]| asked.iter().any(|word| list.contains(&word.as_str()));
        if has(&["end", "ends", "last", "finally", "ending"]) {
            Self::End
        } else if has(&["start", "starts", "begin", "begins", "beginning", "first", "opening"]) {
            Self::Beginning
        } else {
            Self::Whole
        }
    }
}

struct Question {
    /// Stems and their weight as words of a question.
    terms: BTreeMap<String, f64>,
    /// Stems without which nothing is an answer: names and numbers.
    required: BTreeSet<String>,
    hint: Hint,
}

/// The kind of thing a question asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Hint {
    Person,
    Time,
    Place,
    /// Without a number nothing is an answer.
    Quantity,
    /// Without a colour nothing is an answer.
    Colour,
    Anything,
}

/// The sentences that answer `question`, the best first.
pub(super) fn find(document: &Document, question: &str, most: usize) -> Answer {
    let asked = Question::read(question);
    if let Some(answer) = described(document, &asked) {
        return answer;
    }
    if asked.terms.values().all(|&weight| weight < 1.0)
        && let Some(overview) = overview(question)
    {
        return about(document, overview, Stretch::asked(question), most);
    }
    if asked.terms.is_empty() {
        return Answer::default();
    }
    evidence(document, &asked)
}

/// The answer to a question about nothing but what some passages are said, in brackets, to be good for.
fn described(document: &Document, question: &Question) -> Option<Answer> {
    let own: Vec<&String> =
        question.terms.iter().filter(|(_, weight)| **weight >= 1.0).map(|(term, _)| term).collect();
    let terms = match own[..] {
        [] if question.hint == Hint::Anything => return None,
        [] => question.terms.keys().collect(),
        _ => own,
    };
    if terms.is_empty() || !question.required.is_empty() {
        return None;
    }
    let mut best: Option<(f64, &str)> = None;
    for passage in document.passages {
        let Some((_, label)) = passage.source.split_once('(') else { continue };
        let Some((label, _)) = label.split_once(')') else { continue };
        let stems = content_stems(label);
        if !terms.iter().all(|term| stems.contains(*term)) {
            continue;
        }
        // The label that is about little else.
        let all = question.terms.keys().filter(|term| stems.contains(*term)).count();
        let share = all as f64 / stems.len().max(1) as f64;
        if best.is_none_or(|(most, _)| share > most) {
            best = Some((share, label));
        }
    }
    let (_, label) = best?;
    let wanted = |at: usize| {
        let sentence = &document.sentences[at];
        document.passages[sentence.passage].source.contains(label)
            && sentence.repeats.is_none()
            && question.hint.bonus(&sentence.text).is_some()
    };
    let mut told: Vec<usize> = (0..document.sentences.len()).filter(|&at| wanted(at)).collect();
    let names = |at: &usize| {
        let stems = &document.sentences[*at].stems;
        question.terms.keys().any(|term| stems.contains(term))
    };
    if told.iter().any(names) {
        told.retain(names);
    }
    // The first sentence of every passage before the second of any.
    let rank = |at: &usize| {
        let passage = document.sentences[*at].passage;
        (0..*at).filter(|other| document.sentences[*other].passage == passage).count()
    };
    told.sort_by_key(|at| (rank(at), *at));
    told.truncate(MAX_SENTENCES);
    let told: Vec<_> =
        told.into_iter().map(|at| (at, vec![document.sentences[at].passage])).collect();
    (!told.is_empty()).then(|| cited(document, told))
}

fn evidence(document: &Document, question: &Question) -> Answer {
    let sentences = &document.sentences;
    let weights = question.weights(sentences);
    let total: f64 = weights.values().sum();
    let around = surroundings(document);

    let mut scored: Vec<(usize, f64)> = Vec::new();
    for (at, sentence) in sentences.iter().enumerate() {
        let near = &around[sentence.passage];
        let (mut own, mut with_near) = (0.0, 0.0);
        let mut complete = true;
        for (term, weight) in &weights {
            let inside = sentence.stems.iter().map(|stem| likeness(term, stem)).fold(0.0, f64::max);
            let outside = if near.contains(term) { AROUND } else { 0.0 };
            own += weight * inside;
            with_near += weight * inside.max(outside);
            complete &= !question.required.contains(term) || inside.max(outside) > 0.0;
        }
        if !complete || own < LEAST_OWN * total || with_near < LEAST_TOTAL * total {
            continue;
        }
        let Some(bonus) = question.hint.bonus(&sentence.text) else { continue };
        let kind = match sentence.kind {
            Kind::Scene => 0.8,
            Kind::List => 0.9,
            _ => 1.0,
        };
        let brevity = if sentence.length < 3 { 0.7 } else { 1.0 };
        scored.push((at, with_near / total * bonus * kind * brevity));
    }
    scored.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let Some(&(_, best)) = scored.first() else { return Answer::default() };

    let mut told: Vec<(usize, Vec<usize>)> = Vec::new();
    for (at, score) in scored {
        if score < 0.75 * best {
            break;
        }
        let full = told.len() == MAX_SENTENCES;
        match told.iter_mut().find(|(other, _)| same(&sentences[*other], &sentences[at])) {
            // Said again: the first to say it is cited, and a few that bear it out.
            Some((_, passages)) if passages.len() < MAX_SENTENCES => {
                passages.push(sentences[at].passage)
            }
            Some(_) => {}
            None if full => {}
            None => told.push((at, vec![sentences[at].passage])),
        }
    }
    cited(document, told)
}

fn cited(document: &Document, told: Vec<(usize, Vec<usize>)>) -> Answer {
    let sentences = told
        .into_iter()
        .map(|(at, passages)| {
            let mut ids: Vec<String> = Vec::new();
            for passage in passages {
                let id = &document.passages[passage].id;
                if !ids.contains(id) {
                    ids.push(id.clone());
                }
            }
            AnswerSentence { text: told_by(document, at), passages: ids }
        })
        .collect();
    Answer { sentences }
}

fn told_by(document: &Document, at: usize) -> String {
    let text = document.quoted(at);
    let sentence = &document.sentences[at];
    match (&sentence.speaker, sentence.kind) {
        (Some(speaker), _) => format!("{speaker}: “{}”", text.trim_matches(['“', '”'])),
        (None, Kind::Speech) if !text.starts_with('“') => format!("“{text}”"),
        _ => text,
    }
}

/// A question about the video as a whole, or about everything said or written in it.
fn overview(question: &str) -> Option<Overview> {
    let lower = question.to_lowercase();
    let asked: Vec<String> = words(&lower).into_iter().map(|word| word.lower).collect();
    let has = |list: &[&str]| asked.iter().any(|word| list.contains(&word.as_str()));
    if has(&[
        "said",
        "say",
        "says",
        "saying",
        "talk",
        "talking",
        "talked",
        "speak",
        "speaking",
        "speaks",
        "speech",
        "spoken",
        "discuss",
        "discussed",
        "hear",
        "heard",
        "mentioned",
    ]) {
        Some(Overview::Speech)
    } else if has(&["text", "written", "words"]) {
        Some(Overview::Screen)
    } else if has(&[
        "about",
        "happen",
        "happens",
        "happening",
        "happened",
        "summary",
        "summarize",
        "summarise",
        "overview",
        "describe",
        "topic",
        "topics",
        "shown",
        "show",
        "shows",
        "seen",
        "see",
        "contain",
        "contains",
        "subject",
        "content",
    ]) || lower.contains("going on")
    {
        Some(Overview::Everything)
    } else {
        None
    }
}

fn about(document: &Document, overview: Overview, stretch: Stretch, most: usize) -> Answer {
    let is_summary =
        |passage: usize| document.passages[passage].source.to_lowercase().starts_with("summary");
    let summarised = document.sentences.iter().any(|sentence| is_summary(sentence.passage));
    let part = document.passages.len().div_ceil(5);
    let ranking = rank::rank(document, most, |at| {
        let sentence = &document.sentences[at];
        let inside = match stretch {
            Stretch::Whole => true,
            Stretch::Beginning => sentence.passage < part,
            Stretch::End => sentence.passage + part >= document.passages.len(),
        };
        inside
            && match overview {
                Overview::Speech => sentence.kind == Kind::Speech,
                Overview::Screen => sentence.kind == Kind::Screen,
                Overview::Everything => {
                    stretch != Stretch::Whole || !summarised || is_summary(sentence.passage)
                }
            }
    });
    let mut told = ranking.best(MAX_SENTENCES);
    told.sort_unstable();
    cited(document, told.into_iter().map(|at| (at, vec![document.sentences[at].passage])).collect())
}

impl Question {
    fn read(question: &str) -> Self {
        let all = words(question);
        let mut terms = BTreeMap::new();
        let mut required = BTreeSet::new();
        for (place, word) in all.iter().enumerate() {
            if is_stop_word(&word.lower) && !is_name(word.text, place) {
                continue;
            }
            let stem = stem(&word.lower);
            let meta = META.contains(&word.lower.as_str());
            let numeric = word.lower.chars().any(|c| c.is_ascii_digit());
            if numeric || (is_name(word.text, place) && !meta) {
                required.insert(stem.clone());
            }
            terms.insert(stem, if meta { META_WEIGHT } else { 1.0 });
        }
        let lower: Vec<&str> = all.iter().map(|word| word.lower.as_str()).collect();
        Self { terms, required, hint: Hint::read(&lower) }
    }

    /// Rarer words weigh more; one that occurs nowhere weighs most.
    fn weights(&self, sentences: &[Sentence]) -> BTreeMap<String, f64> {
        let mut counts: HashMap<&str, f64> = HashMap::new();
        for sentence in sentences {
            let distinct: BTreeSet<&str> = sentence.stems.iter().map(String::as_str).collect();
            distinct.into_iter().for_each(|stem| *counts.entry(stem).or_default() += 1.0);
        }
        let total = sentences.len() as f64;
        self.terms
            .iter()
            .map(|(term, weight)| {
                let count = counts.get(term.as_str()).copied().unwrap_or(0.5);
                (term.clone(), weight * (1.0 + total / count).ln())
            })
            .collect()
    }
}

/// A capital inside a question marks a name.
fn is_name(text: &str, place: usize) -> bool {
    place > 0
        && text.starts_with(char::is_uppercase)
        && !matches!(text, "I" | "I'm" | "I've" | "I'll" | "I'd")
        && !is_stop_word(&text.to_lowercase())
}

impl Hint {
    fn read(lower: &[&str]) -> Self {
        const MEASURES: &[&str] =
            &["many", "much", "old", "tall", "far", "high", "fast", "long", "deep", "heavy"];
        for (at, word) in lower.iter().enumerate() {
            match *word {
                "colour" | "color" | "colours" | "colors" => return Self::Colour,
                "who" | "whom" | "whose" => return Self::Person,
                "when" => return Self::Time,
                "where" => return Self::Place,
                "how" if lower.get(at + 1).is_some_and(|next| MEASURES.contains(next)) => {
                    return Self::Quantity;
                }
                _ => {}
            }
        }
        Self::Anything
    }

    /// How well a sentence fits what is asked for; `None` when it cannot be the answer.
    fn bonus(self, sentence: &str) -> Option<f64> {
        const FITS: f64 = 1.15;
        let all = words(sentence);
        let any = |list: &[&str]| all.iter().any(|word| list.contains(&word.lower.as_str()));
        let named = all.iter().skip(1).any(|word| word.is_capitalised() && word.lower != "i");
        let numbered = all.iter().any(|word| word.lower.starts_with(|c: char| c.is_ascii_digit()))
            || any(NUMBERS);
        let fits = match self {
            Self::Anything => return Some(1.0),
            Self::Quantity => return numbered.then_some(1.0),
            Self::Colour => return any(COLOURS).then_some(1.0),
            Self::Person => named || any(PERSONS),
            Self::Time => numbered || any(TIMES),
            Self::Place => any(PLACES),
        };
        Some(if fits { FITS } else { 1.0 })
    }
}

const NUMBERS: &[&str] = &[
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "fifteen",
    "twenty",
    "thirty",
    "forty",
    "fifty",
    "sixty",
    "seventy",
    "eighty",
    "ninety",
    "hundred",
    "hundreds",
    "thousand",
    "thousands",
    "million",
    "millions",
    "billion",
    "billions",
    "dozen",
    "dozens",
    "half",
    "quarter",
    "none",
    "no",
    "several",
    "single",
    "couple",
    "pair",
    "both",
];
const COLOURS: &[&str] = &[
    "red",
    "orange",
    "yellow",
    "green",
    "blue",
    "purple",
    "pink",
    "brown",
    "black",
    "white",
    "grey",
    "gray",
    "violet",
    "turquoise",
    "beige",
    "gold",
    "silver",
];
const PERSONS: &[&str] = &[
    "man",
    "men",
    "woman",
    "women",
    "boy",
    "girl",
    "child",
    "children",
    "people",
    "person",
    "he",
    "she",
    "they",
    "speaker",
    "player",
    "worker",
    "driver",
    "president",
    "doctor",
    "teacher",
    "host",
    "crowd",
    "team",
    "i",
    "we",
];
const TIMES: &[&str] = &[
    "today",
    "tomorrow",
    "yesterday",
    "morning",
    "afternoon",
    "evening",
    "night",
    "noon",
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
    "sunday",
    "january",
    "february",
    "march",
    "april",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
    "year",
    "years",
    "month",
    "week",
    "hour",
    "minute",
    "second",
    "century",
    "spring",
    "summer",
    "autumn",
    "winter",
    "after",
    "before",
    "when",
    "while",
    "until",
    "then",
];
const PLACES: &[&str] = &[
    "in", "at", "on", "inside", "outside", "near", "under", "over", "behind", "between", "beside",
    "from", "into", "onto", "through", "across", "along", "around", "above", "below", "here",
    "there",
];

/// Stems of each passage and of the end of the one before it, where a pronoun may point.
fn surroundings(document: &Document) -> Vec<BTreeSet<String>> {
    let mut around = vec![BTreeSet::new(); document.passages.len()];
    for (at, sentence) in document.sentences.iter().enumerate() {
        around[sentence.passage].extend(sentence.stems.iter().cloned());
        let next = document.sentences.get(at + 1);
        if let Some(next) = next.filter(|next| next.passage == sentence.passage + 1) {
            around[next.passage].extend(sentence.stems.iter().cloned());
        }
    }
    around
}

/// 1 for the same stem, less for another form of a long word, as `photograph` and `photographi`.
fn likeness(a: &str, b: &str) -> f64 {
    if a == b {
        return 1.0;
    }
    let common = a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    let longest = a.len().max(b.len());
    let letters = !a.bytes().any(|byte| byte.is_ascii_digit());
    if letters && common >= 5 && common * 10 >= longest * 7 { 0.7 } else { 0.0 }
}

fn same(a: &Sentence, b: &Sentence) -> bool {
    let a: BTreeSet<&String> = a.stems.iter().collect();
    let b: BTreeSet<&String> = b.stems.iter().collect();
    let common = a.intersection(&b).count() as f64;
    common >= 0.8 * a.union(&b).count() as f64
}
