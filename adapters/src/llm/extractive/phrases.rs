//! Extracts keyphrases and titles. Phrases are runs of content words, weighted by word frequency in
//! the manner of RAKE (Rose et al., 2010).

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use ports::llm::PassageKind;
use text::{Token, is_article, is_stop_word, join_list, stem, words};

use super::corpus::{Corpus, Sentence, is_title, strip_final_marks};
use super::rank;

/// A phrase and its score.
struct WeightedPhrase {
    words: Vec<String>,
    stems: Vec<String>,
    score: f64,
    /// Number of occurrences of the phrase.
    times: f64,
    /// Whether the first occurrence is on-screen text.
    on_screen: bool,
}

/// One occurrence of a possible phrase.
struct Candidate {
    words: Vec<String>,
    stems: Vec<String>,
    on_screen: bool,
    /// How much the candidate adds to the frequencies of its words.
    weight: f64,
}

const MAX_PHRASE_WORDS: usize = 4;
const MAX_NAME_WORDS: usize = 5;
const MAX_TITLE_WORDS: usize = 8;
/// Score factor for phrases in on-screen text.
const SCREEN_BONUS: f64 = 1.4;
/// Weight factor for a stem that belongs to a name.
const NAME_WEIGHT: f64 = 1.5;
/// Weight of each word in a repeated sentence.
const REPEAT_WEIGHT: f64 = 0.3;
/// Maximum number of candidate phrases per corpus.
const MAX_CANDIDATES: usize = 20_000;

/// Returns the topics of a corpus, most important first.
pub(super) fn topics(corpus: &Corpus, count: usize) -> Vec<String> {
    let named = |phrase: &WeightedPhrase| phrase.words[0].starts_with(char::is_uppercase);
    let (strong, weak): (Vec<WeightedPhrase>, Vec<WeightedPhrase>) = best(corpus, count, |_| true)
        .into_iter()
        .partition(|phrase| phrase.has_weight() || named(phrase));
    let topics = if strong.is_empty() { weak } else { strong };
    topics.into_iter().map(|phrase| phrase.words.join(" ")).collect()
}

/// Returns the topics of the speech. They are phrases that occur more than once or have several
/// words.
pub(super) fn subjects(corpus: &Corpus, count: usize) -> Vec<String> {
    let phrases = best(corpus, count, |kind| kind == PassageKind::Speech);
    phrases.into_iter().filter(WeightedPhrase::has_weight).map(|p| p.words.join(" ")).collect()
}

/// Makes a title of at most eight words. Returns an empty title if there is no topic.
pub(super) fn title(corpus: &Corpus) -> String {
    let is_language = |kind| matches!(kind, PassageKind::Speech | PassageKind::Prose);
    let mut phrases = best(corpus, 3, is_language);
    let weighty = phrases.first().is_some_and(WeightedPhrase::has_weight);
    if !weighty {
        if let Some(caption) = best(corpus, 1, |kind| kind == PassageKind::Screen).pop() {
            return title_case(&caption.words);
        }
        // Things that are visible throughout the video matter more than a word that is spoken once.
        if !corpus.shown.is_empty() {
            return title_case(&seen(corpus));
        }
    }
    if phrases.is_empty() {
        return title_case(&opening(corpus));
    }
    let first = phrases.remove(0);
    let second = phrases.into_iter().find(|phrase| {
        phrase.times > 1.0
            && phrase.score >= 0.55 * first.score
            && first.words.len() + phrase.words.len() < MAX_TITLE_WORDS
            && !phrase.stems.iter().any(|stem| first.stems.contains(stem))
    });
    let mut title = first.words;
    if let Some(second) = second {
        title.push("and".to_owned());
        title.extend(second.words);
    }
    title_case(&title)
}

impl WeightedPhrase {
    fn has_weight(&self) -> bool {
        self.times > 1.0 || self.words.len() > 1
    }

    /// Returns the phrase's score, given the weights of all stems.
    fn rate(&self, weights: &HashMap<String, f64>) -> f64 {
        let sum: f64 = self.stems.iter().map(|stem| weights[stem]).sum();
        let length = self.stems.len() as f64;
        let compound = if self.stems.len() > 1 { 1.2 } else { 1.0 };
        let compound = if self.on_screen { compound * SCREEN_BONUS } else { compound };
        compound * sum / length.powf(0.4) * (1.0 + 0.5 * f64::ln(self.times))
    }
}

/// Returns the most prominent visible things without articles and numbers, as in `people, cars and
/// bird`.
fn seen(corpus: &Corpus) -> Vec<String> {
    const NAMED: usize = 3;
    let named = &corpus.shown[..corpus.shown.len().min(NAMED)];
    let counts = |word: &str| is_article(word) || word.parse::<u64>().is_ok();
    let bare = |name: &&str| match name.split_once(' ') {
        Some((first, rest)) if counts(first) => rest.to_owned(),
        _ => (*name).to_owned(),
    };
    let names: Vec<String> = named.iter().map(bare).collect();
    let text = join_list(&names, "and");
    text.split_whitespace().map(str::to_owned).collect()
}

fn best(corpus: &Corpus, count: usize, of: impl Fn(PassageKind) -> bool) -> Vec<WeightedPhrase> {
    let mut found: Vec<WeightedPhrase> = Vec::new();
    for phrase in weighted_phrases(corpus, of) {
        if found.len() == count {
            break;
        }
        let shared = |other: &WeightedPhrase| {
            let common = phrase.stems.iter().filter(|stem| other.stems.contains(stem)).count();
            common * 2 >= phrase.stems.len().min(other.stems.len())
        };
        if !found.iter().any(shared) {
            found.push(phrase);
        }
    }
    found
}

/// Returns the phrases in the sentences of the included kinds, most important first.
fn weighted_phrases(
    corpus: &Corpus,
    includes: impl Fn(PassageKind) -> bool,
) -> Vec<WeightedPhrase> {
    // Measurements and lists of detections are not topics.
    let about = |sentence: &&Sentence| {
        let is_content = !sentence.is_scenery() && sentence.kind != PassageKind::Objects;
        let is_notice = sentence.kind == PassageKind::Screen && !is_title(&sentence.text);
        is_content && !is_notice && includes(sentence.kind)
    };
    let sentences: Vec<&Sentence> = corpus.sentences.iter().filter(about).collect();
    let names = name_stems(&sentences);
    let mut candidates: Vec<Candidate> = Vec::new();
    for sentence in sentences {
        if candidates.len() >= MAX_CANDIDATES {
            break;
        }
        candidates.extend(candidates_of_sentence(corpus, sentence, &names));
    }
    let weights = stem_weights(&candidates, &names);
    let mut phrases = distinct_phrases(candidates);
    for phrase in &mut phrases {
        phrase.score = phrase.rate(&weights);
    }
    // The sort is stable, so phrases with equal scores keep their order.
    phrases.sort_by(|a, b| b.score.total_cmp(&a.score));
    phrases
}

/// Returns the stems of names. Names are words that are capitalised within a sentence.
fn name_stems(sentences: &[&Sentence]) -> HashSet<String> {
    let mut names = HashSet::new();
    for sentence in sentences {
        let all = words(&sentence.text);
        if !is_all_caps(&all) {
            let capitals = all.iter().skip(1).filter(|word| word.is_capitalised());
            names.extend(capitals.map(|word| stem(&word.lower)));
        }
    }
    names
}

/// Returns the possible phrases in a sentence, except those with doubtful words.
fn candidates_of_sentence(
    corpus: &Corpus,
    sentence: &Sentence,
    names: &HashSet<String>,
) -> Vec<Candidate> {
    let all = words(&sentence.text);
    let doubtful = &corpus.passages[sentence.passage].doubtful;
    let on_screen = sentence.kind == PassageKind::Screen;
    let weight = if sentence.repeats.is_some() { REPEAT_WEIGHT } else { 1.0 };
    // A short on-screen title is one phrase. Other text is split into runs.
    let runs = match on_screen && all.len() <= MAX_NAME_WORDS + 2 {
        true => vec![&all[..]],
        false => runs(&sentence.text, &all),
    };
    let is_doubtful = |run: &[Token]| run.iter().any(|word| doubtful.contains(&word.lower));
    let candidate = |run: &[Token]| {
        let stems: Vec<String> = run.iter().map(|word| stem(&word.lower)).collect();
        let words = phrase_words(run, &stems, &all, on_screen, names);
        Candidate { words, stems, on_screen, weight }
    };
    runs.into_iter().filter(|run| !is_doubtful(run)).map(candidate).collect()
}

/// Returns the words of `run`, a part of the sentence `all`, as they are spelled in the middle of a
/// sentence.
fn phrase_words(
    run: &[Token],
    stems: &[String],
    all: &[Token],
    on_screen: bool,
    names: &HashSet<String>,
) -> Vec<String> {
    // On screen, capitalisation may differ from line to line.
    let all_caps = is_all_caps(if on_screen { run } else { all });
    if all_caps && on_screen && run.len() > 1 {
        return run.iter().map(|word| capitalise(&word.lower)).collect();
    }
    let word = |(at, word): (usize, &Token)| {
        // A capital at the beginning of a sentence does not mark a name.
        let opens = word.start == all[0].start && !all_caps;
        let named =
            names.contains(&stems[at]) || run.get(at + 1).is_some_and(|next| next.is_capitalised());
        shown(word, opens && !named, all_caps)
    };
    run.iter().enumerate().map(word).collect()
}

/// Returns the weight of every stem. It is the logarithm of the stem's frequency, and higher for
/// names.
fn stem_weights(candidates: &[Candidate], names: &HashSet<String>) -> HashMap<String, f64> {
    let mut weights: HashMap<String, f64> = HashMap::new();
    for candidate in candidates {
        for stem in &candidate.stems {
            *weights.entry(stem.clone()).or_default() += candidate.weight;
        }
    }
    for (stem, weight) in &mut weights {
        *weight = (1.0 + *weight).ln() * if names.contains(stem) { NAME_WEIGHT } else { 1.0 };
    }
    weights
}

/// Merges candidates with the same stems into one phrase without a score. The phrase is spelled
/// like the first candidate.
fn distinct_phrases(candidates: Vec<Candidate>) -> Vec<WeightedPhrase> {
    let mut phrases: Vec<WeightedPhrase> = Vec::new();
    let mut places: HashMap<Vec<String>, usize> = HashMap::new();
    for Candidate { words, stems, on_screen, .. } in candidates {
        let next = phrases.len();
        let place = *places.entry(stems.clone()).or_insert(next);
        if place == next {
            phrases.push(WeightedPhrase { words, stems, score: 0.0, times: 0.0, on_screen });
        }
        phrases[place].times += 1.0;
    }
    phrases
}

/// Returns runs of content words that can form a phrase. Runs are separated by stop words,
/// punctuation and verbs.
fn runs<'a, 'b>(text: &str, all: &'a [Token<'b>]) -> Vec<&'a [Token<'b>]> {
    let mut found = Vec::new();
    let mut start = 0;
    for at in 0..=all.len() {
        let ends = at == all.len()
            || is_stop_word(&all[at].lower)
            || (at > start && {
                let between = &text[all[at - 1].start + all[at - 1].text.len()..all[at].start];
                !between.chars().all(char::is_whitespace)
            });
        if !ends {
            continue;
        }
        let mut run = &all[start..at];
        // Verbs separate phrases, so "dog chases ball" contains two phrases.
        for piece in run.split(|word| is_verb(word, all[0].start)) {
            run = piece;
            while let Some((last, rest)) = run.split_last() {
                if !is_weak(last) && last.lower.parse::<f64>().is_err() {
                    break;
                }
                run = rest;
            }
            while let Some((first, rest)) = run.split_first() {
                if !is_adverb(first) && first.lower.parse::<f64>().is_err() {
                    break;
                }
                run = rest;
            }
            // Only the end of a long run is kept, because it contains the noun. A name of several
            // words is kept whole, without the words before it.
            let name = run.iter().rev().take_while(|word| word.is_capitalised()).count();
            let max = if name > 1 { name.min(MAX_NAME_WORDS) } else { MAX_PHRASE_WORDS };
            let run = &run[run.len().saturating_sub(max)..];
            if run.iter().any(|word| word.lower.chars().count() > 2) {
                found.push(run);
            }
        }
        start = if at < all.len() && is_stop_word(&all[at].lower) { at + 1 } else { at };
    }
    found
}

fn is_verb(word: &Token, sentence_start: usize) -> bool {
    /// Nouns that share their stem with a verb.
    const NOUNS: &[&str] = &[
        "building",
        "buildings",
        "meeting",
        "meetings",
        "drawing",
        "drawings",
        "beginning",
        "feeling",
        "feelings",
        "recording",
        "talks",
        "production",
        "introduction",
        "presentation",
        "discovery",
        "delivery",
        "payment",
        "development",
        "improvement",
        "movement",
        "management",
        "appearance",
        "performance",
        "operation",
        "description",
        "collection",
        "connection",
        "invitation",
        "protection",
        "provider",
        "opening",
    ];
    static VERBS: LazyLock<HashSet<String>> =
        LazyLock::new(|| include_str!("verbs.txt").split_whitespace().map(stem).collect());
    let name = word.is_capitalised() && word.start > sentence_start;
    !name
        && !word.is_all_caps()
        && !NOUNS.contains(&word.lower.as_str())
        && (VERBS.contains(&stem(&word.lower))
            || (word.lower.len() > 5 && word.lower.ends_with("ed")))
}

fn is_adverb(word: &Token) -> bool {
    !word.is_capitalised() && word.lower.len() > 4 && word.lower.ends_with("ly")
}

/// Returns whether a word is an adjective or adverb. A phrase must not end with such a word.
fn is_weak(word: &Token) -> bool {
    static WEAK: LazyLock<HashSet<&str>> =
        LazyLock::new(|| include_str!("adjectives.txt").split_whitespace().collect());
    is_adverb(word) || (!word.is_all_caps() && WEAK.contains(word.lower.as_str()))
}

/// Returns whether most words are in capitals. If so, capitals do not mark names.
fn is_all_caps(all: &[Token<'_>]) -> bool {
    all.iter().filter(|word| word.is_all_caps()).count() * 2 > all.len()
}

/// Returns the word as it is written in the middle of a sentence.
fn shown(word: &Token, lowered: bool, all_caps: bool) -> String {
    let text = word.text.trim_end_matches("'s").trim_end_matches("’s");
    if all_caps && word.is_all_caps() && text.chars().count() > 3 {
        capitalise(&word.lower)
    } else if lowered && !word.is_all_caps() {
        word.lower.clone()
    } else {
        text.to_owned()
    }
}

fn capitalise(word: &str) -> String {
    let mut chars = word.chars();
    chars.next().map_or(String::new(), |first| first.to_uppercase().chain(chars).collect())
}

/// Returns the beginning of the most informative sentence, for documents without phrases.
fn opening(corpus: &Corpus) -> Vec<String> {
    let Some(&at) = rank::rank(corpus, 64, |_| true).best(1).first() else { return Vec::new() };
    let text = strip_final_marks(&corpus.sentences[at].text);
    let clause = text
        .split([',', ';', ':', '('])
        .map(str::trim)
        .find(|clause| !clause.is_empty())
        .unwrap_or(text);
    let all = words(clause);
    let skipped = all.first().is_some_and(|word| is_article(&word.lower));
    let mut kept: Vec<&Token> =
        all.iter().skip(usize::from(skipped)).take(MAX_TITLE_WORDS).collect();
    while kept.len() > 1 && kept.last().is_some_and(|word| is_stop_word(&word.lower)) {
        kept.pop();
    }
    kept.into_iter().map(|word| word.text.to_owned()).collect()
}

/// Converts words to title case. Capitalises all words except small words that are neither first
/// nor last. Short words in capitals are treated as acronyms.
fn title_case(title: &[String]) -> String {
    const SMALL: &[&str] = &[
        "a", "an", "and", "as", "at", "but", "by", "for", "from", "in", "into", "of", "on", "or",
        "over", "the", "to", "with",
    ];
    let last = title.len().saturating_sub(1);
    let cased = title.iter().enumerate().map(|(at, word)| {
        let lower = word.to_lowercase();
        let letters = word.chars().filter(|c| c.is_alphabetic()).count();
        let all_caps = letters > 1 && word.chars().all(|c| !c.is_lowercase());
        if at > 0 && at < last && SMALL.contains(&lower.as_str()) {
            lower
        } else if all_caps && letters > 4 {
            capitalise(&lower)
        } else {
            capitalise(word)
        }
    });
    cased.collect::<Vec<_>>().join(" ")
}
