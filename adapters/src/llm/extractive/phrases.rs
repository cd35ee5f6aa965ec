//! Extracts keyphrases and titles. Phrases are runs of content words, weighted by word frequency in
//! the manner of RAKE (Rose et al., 2010).

use std::collections::{HashMap, HashSet};

use ports::llm::PassageKind;
use text::calendar::{MONTHS, WEEKDAYS};
use text::plural::is_counted;
use text::{Token, is_article, join_list, stem, words};

use super::corpus::{Corpus, Sentence, is_title};
use super::nouns::runs;
use super::speakers::Speakers;

/// A phrase and its score.
struct WeightedPhrase {
    words: Vec<String>,
    stems: Vec<String>,
    score: f64,
    /// Number of occurrences of the phrase.
    times: f64,
    /// Number of occurrences at the end of longer phrases.
    tails: f64,
    /// Whether the phrase contains a name.
    is_name: bool,
    /// The article before the first occurrence, with a space; empty if there is none.
    article: &'static str,
    /// Whether the first occurrence is on-screen text.
    on_screen: bool,
}

/// One occurrence of a possible phrase.
struct Candidate {
    words: Vec<String>,
    stems: Vec<String>,
    on_screen: bool,
    is_name: bool,
    article: &'static str,
    /// How much the candidate adds to the frequencies of its words.
    weight: f64,
}

/// Maximum number of words in an on-screen title that is taken as one phrase.
const MAX_CAPTION_WORDS: usize = 7;
const MAX_TITLE_WORDS: usize = 8;
/// Score factor for phrases in on-screen text.
const SCREEN_BONUS: f64 = 1.4;
/// Weight factor for a stem that belongs to a name.
const NAME_WEIGHT: f64 = 1.5;
/// Weight of each word in a repeated sentence.
const REPEAT_WEIGHT: f64 = 0.3;
/// Minimum score of the second phrase of a title, as a share of the score of the first.
const MIN_SECOND_SCORE: f64 = 0.55;
/// Maximum number of candidate phrases per corpus.
const MAX_CANDIDATES: usize = 20_000;

/// Returns the topics of a corpus, most important first. They are names, on-screen titles and
/// phrases that occur more than once or have several words.
pub(super) fn topics(corpus: &Corpus, count: usize) -> Vec<String> {
    let topics = best(corpus, count, |_| true).into_iter().filter(WeightedPhrase::has_weight);
    topics.map(|phrase| phrase.words.join(" ")).collect()
}

/// Returns the topics of the speech, each with its article. They are names and phrases that occur
/// more than once.
pub(super) fn subjects(corpus: &Corpus, count: usize) -> Vec<String> {
    let phrases = best(corpus, count, |kind| kind == PassageKind::Speech);
    let topics = phrases.into_iter().filter(WeightedPhrase::is_topic);
    topics.map(|phrase| format!("{}{}", phrase.article, phrase.words.join(" "))).collect()
}

/// Makes a title of at most eight words. Names and repeated phrases come first, then on-screen
/// titles, phrases of several words, and visible things. Returns an empty title if nothing is known.
pub(super) fn title(corpus: &Corpus) -> String {
    let is_language = |kind| matches!(kind, PassageKind::Speech | PassageKind::Prose);
    let phrases = best(corpus, 3, is_language);
    let first = phrases.first();
    if let Some(topic) = first.filter(|phrase| phrase.is_topic()) {
        return joint_title(topic, &phrases[1..]);
    }
    let caption = best(corpus, 1, |kind| kind == PassageKind::Screen).pop();
    // A single word of a page of text, such as the label of a button, is no title.
    if let Some(caption) = caption.filter(|text| text.words.len() > 1 || !corpus.has_page()) {
        return title_case(&caption.words);
    }
    if let Some(phrase) = first.filter(|phrase| phrase.has_weight()) {
        return joint_title(phrase, &phrases[1..]);
    }
    // Things that are visible throughout the video matter more than a word that is spoken once.
    if !corpus.shown.is_empty() {
        return title_case(&seen(corpus));
    }
    // A single word that is spoken once is no topic.
    kind_of_content(corpus)
}

/// Names what is heard or seen if it has no topic. Returns an empty title if nothing is known.
fn kind_of_content(corpus: &Corpus) -> String {
    let has = |kind| corpus.sentences.iter().any(|sentence| sentence.kind == kind);
    if has(PassageKind::Speech) {
        let speakers = Speakers::new(corpus).count();
        return if speakers > 1 { "Conversation" } else { "Speech" }.to_owned();
    }
    if corpus.has_page() {
        return "Page of Text".to_owned();
    }
    let scene = corpus.sentences.iter().find(|sentence| sentence.is_scenery());
    let words = scene.map(|scene| words(&scene.text)).unwrap_or_default();
    let skipped = usize::from(words.first().is_some_and(|word| is_article(&word.lower)));
    let words: Vec<String> = words.iter().skip(skipped).map(|w| w.text.to_owned()).collect();
    let is_phrase = words.len() <= MAX_TITLE_WORDS;
    if is_phrase { title_case(&words) } else { String::new() }
}

/// Makes a title of a phrase and, if there is one of similar weight, a second phrase. A name is joined
/// with topics only.
fn joint_title(first: &WeightedPhrase, others: &[WeightedPhrase]) -> String {
    let second = others.iter().find(|phrase| {
        (phrase.is_topic() || !first.is_name && phrase.has_weight())
            && phrase.score >= MIN_SECOND_SCORE * first.score
            && first.words.len() + phrase.words.len() < MAX_TITLE_WORDS
            && !phrase.stems.iter().any(|stem| first.stems.contains(stem))
    });
    let mut title = first.words.clone();
    if let Some(second) = second {
        title.push("and".to_owned());
        title.extend(second.words.iter().cloned());
    }
    title_case(&title)
}

impl WeightedPhrase {
    /// Whether the phrase is probably a topic: a name, or repeated.
    fn is_topic(&self) -> bool {
        self.times + self.tails > 1.0 || self.is_name
    }

    fn has_weight(&self) -> bool {
        self.is_topic() || self.words.len() > 1
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

/// Sorts visible things so that people come first, as in a sentence about them.
pub(super) fn people_first<'a>(shown: &[&'a str]) -> Vec<&'a str> {
    let mut sorted = shown.to_vec();
    sorted.sort_by_key(|name| !name.split(' ').any(|word| matches!(word, "person" | "people")));
    sorted
}

/// Returns the most prominent visible things without articles and numbers, as in `people, cars and
/// bird`.
fn seen(corpus: &Corpus) -> Vec<String> {
    const NAMED: usize = 3;
    let named = people_first(&corpus.shown[..corpus.shown.len().min(NAMED)]);
    let bare = |name: &&str| match name.split_once(' ') {
        Some((first, rest)) if is_article(first) || is_counted(name) => rest.to_owned(),
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
        let is_quotable = sentence.kind != PassageKind::Screen
            || is_title(&sentence.text) && corpus.is_legible(sentence);
        // Two analyzers may report the same words.
        let is_copy =
            sentence.repeats.is_some_and(|at| corpus.sentences[at].place == sentence.place);
        is_content && is_quotable && !is_copy && includes(sentence.kind)
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
    let runs = match on_screen && all.len() <= MAX_CAPTION_WORDS {
        true => vec![without_times(&sentence.text, &all)],
        false => runs(&sentence.text, &all),
    };
    let is_doubtful = |run: &[Token]| run.iter().any(|word| doubtful.contains(&word.lower));
    let candidate = |run: &[Token]| {
        let stems: Vec<String> = run.iter().map(|word| stem(&word.lower)).collect();
        let words = phrase_words(run, &stems, &all, on_screen, names);
        let is_date = |word: &Token| {
            let lower = word.lower.as_str();
            MONTHS.contains(&lower) || WEEKDAYS.contains(&lower)
        };
        let is_name = stems.iter().any(|stem| names.contains(stem)) && !run.iter().any(is_date);
        let article = article_before(run, &all);
        Candidate { words, stems, on_screen, is_name, article, weight }
    };
    let is_phrase = |run: &&[Token]| !run.is_empty() && !is_doubtful(run);
    runs.into_iter().filter(is_phrase).map(candidate).collect()
}

/// Drops times of day, such as 16:30, from both ends of a caption: they are no part of its title.
fn without_times<'a, 'b>(text: &str, all: &'a [Token<'b>]) -> &'a [Token<'b>] {
    let is_number = |word: &Token| word.text.chars().all(|c| c.is_ascii_digit());
    let is_time = |pair: &[Token]| {
        let between = &text[pair[0].start + pair[0].text.len()..pair[1].start];
        pair.iter().all(is_number) && between == ":"
    };
    let times: Vec<bool> = all.windows(2).map(is_time).collect();
    // A time of n pairs has n + 1 numbers.
    let numbers = |pairs: usize| if pairs > 0 { pairs + 1 } else { 0 };
    let first = numbers(times.iter().take_while(|is_time| **is_time).count());
    let last = numbers(times.iter().rev().take_while(|is_time| **is_time).count());
    all.get(first..all.len() - last).unwrap_or_default()
}

/// Returns the article for a phrase with this word before it: `the` also after `our` or `this`.
fn article_before(run: &[Token], all: &[Token]) -> &'static str {
    const DEFINITE: &[&str] =
        &["the", "this", "that", "my", "your", "his", "her", "its", "our", "their"];
    let at = run.first().and_then(|first| all.iter().position(|w| w.start == first.start));
    let before = at.and_then(|at| at.checked_sub(1)).map(|at| all[at].lower.as_str());
    match before {
        Some("a") => "a ",
        Some("an") => "an ",
        Some(word) if DEFINITE.contains(&word) => "the ",
        _ => "",
    }
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
    for Candidate { words, stems, on_screen, is_name, article, .. } in candidates {
        let next = phrases.len();
        let place = *places.entry(stems.clone()).or_insert(next);
        if place == next {
            let (score, times, tails) = (0.0, 0.0, 0.0);
            phrases.push(WeightedPhrase {
                words,
                stems,
                score,
                times,
                tails,
                is_name,
                article,
                on_screen,
            });
        }
        phrases[place].times += 1.0;
    }
    let occurrences: Vec<f64> = phrases.iter().map(|phrase| phrase.times).collect();
    for (phrase, times) in occurrences.iter().enumerate() {
        for skipped in 1..phrases[phrase].stems.len() {
            if let Some(&tail) = places.get(&phrases[phrase].stems[skipped..]) {
                phrases[tail].tails += times;
            }
        }
    }
    phrases
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
