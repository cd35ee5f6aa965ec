//! VADER (Hutto and Gilbert, ICWSM 2014), which analyses the sentiment of English text with a
//! lexicon and rules. To three decimals, scores equal those of the authors' package vaderSentiment
//! 3.3.2, including its quirks. `scripts/models/make_vader_data.py` generates the lexicon and the
//! reference scores for the tests.

use std::{collections::HashMap, sync::Arc};

use async_trait::async_trait;
use ports::{
    ErrorKind, PortError, Result,
    sentiment::{Sentiment, SentimentClassifier},
};

/// The classifier. Clones are cheap.
#[derive(Clone)]
pub struct Vader {
    tables: Arc<Tables>,
}

impl Vader {
    /// Creates a classifier with the built-in lexicon.
    pub fn new() -> Self {
        // A test covers the built-in tables, so a malformed line cannot ship.
        let lexicon = parse(include_str!("vader/lexicon.tsv")).unwrap_or_default();
        Self { tables: Arc::new(Tables::new(lexicon)) }
    }

    /// Creates a classifier with a custom lexicon. Each line has a token, a tab and the token's
    /// valence (−4..4). Further columns and empty lines are ignored, so VADER's original file works
    /// unchanged.
    pub fn with_lexicon(lexicon: &str) -> Result<Self> {
        Ok(Self { tables: Arc::new(Tables::new(parse(lexicon)?)) })
    }
}

impl Default for Vader {
    fn default() -> Self {
        Self::new()
    }
}

#[async_trait]
impl SentimentClassifier for Vader {
    fn model(&self) -> &str {
        "vader"
    }

    async fn classify(&self, texts: &[String]) -> Result<Vec<Sentiment>> {
        let tables = Arc::clone(&self.tables);
        let texts = texts.to_vec();
        crate::blocking::run(move || Ok(texts.iter().map(|t| tables.score(t)).collect())).await
    }
}

// Means of human ratings. They come from the paper and its code.
const BOOST: f64 = 0.293;
const CAPITALS: f64 = 0.733;
const NEGATION: f64 = -0.74;

const INTENSIFIERS: &str = "absolutely amazingly awfully completely considerable considerably \
    decidedly deeply effing enormous enormously entirely especially exceptional exceptionally \
    extreme extremely fabulously flipping flippin frackin fracking fricking frickin frigging \
    friggin fully fuckin fucking fuggin fugging greatly hella highly hugely incredible incredibly \
    intensely major majorly more most particularly purely quite really remarkably so \
    substantially thoroughly total totally tremendous tremendously uber unbelievably unusually \
    utter utterly very";

const DAMPENERS: &str = "almost barely hardly kinda kindof kind-of less little marginal marginally \
    occasional occasionally partly scarce scarcely slight slightly somewhat sorta sortof sort-of";

const DAMPENING_PAIRS: [&str; 3] = ["just enough", "kind of", "sort of"];

const NEGATIONS: &str = "aint arent cannot cant couldnt darent didnt doesnt ain't aren't can't \
    couldn't daren't didn't doesn't dont hadnt hasnt havent isnt mightnt mustnt neither don't \
    hadn't hasn't haven't isn't mightn't mustn't neednt needn't never none nope nor not nothing \
    nowhere oughtnt shant shouldnt uhuh wasnt werent oughtn't shan't shouldn't uh-uh wasn't \
    weren't without wont wouldnt won't wouldn't rarely seldom despite";

const IDIOMS: [(&str, f64); 9] = [
    ("the shit", 3.0),
    ("the bomb", 3.0),
    ("bad ass", 1.5),
    ("badass", 1.5),
    ("bus stop", 0.0),
    ("yeah right", -2.0),
    ("kiss of death", -1.5),
    ("to die for", 3.0),
    ("beating heart", 3.5),
];

struct Tables {
    lexicon: HashMap<String, f64>,
    emoji: HashMap<char, &'static str>,
    boosters: HashMap<&'static str, f64>,
}

impl Tables {
    fn new(lexicon: HashMap<String, f64>) -> Self {
        let emoji = include_str!("vader/emoji.tsv")
            .lines()
            .filter_map(|line| line.split_once('\t'))
            .filter(|(emoji, _)| *emoji != "#")
            .filter_map(|(emoji, meaning)| Some((emoji.chars().next()?, meaning)))
            .collect();
        let boosters = INTENSIFIERS
            .split_whitespace()
            .map(|word| (word, BOOST))
            .chain(DAMPENERS.split_whitespace().map(|word| (word, -BOOST)))
            .collect();
        Self { lexicon, emoji, boosters }
    }

    fn score(&self, text: &str) -> Sentiment {
        let text = self.spell_emoji(text);
        let words = SentimentTokens::new(&text);
        let mut valences: Vec<f64> =
            (0..words.lower.len()).map(|i| self.valence(&words, i)).collect();
        weigh_around_but(&words, &mut valences);
        shares(&valences, emphasis(&text))
    }

    fn spell_emoji(&self, text: &str) -> String {
        let mut spelled = String::with_capacity(text.len());
        let mut after_space = true;
        for c in text.chars() {
            if let Some(meaning) = self.emoji.get(&c) {
                if !after_space {
                    spelled.push(' ');
                }
                spelled.push_str(meaning);
                after_space = false;
            } else {
                spelled.push(c);
                after_space = c == ' ';
            }
        }
        spelled
    }

    fn knows(&self, word: &str) -> bool {
        self.lexicon.contains_key(word)
    }

    fn valence(&self, words: &SentimentTokens, i: usize) -> f64 {
        let word = words.lower[i].as_str();
        if self.boosters.contains_key(word) || (word == "kind" && words.next(i) == Some("of")) {
            return 0.0;
        }
        let Some(&rated) = self.lexicon.get(word) else { return 0.0 };
        let mut valence = rated;
        // "no" before a rated word only negates that word. The rating of "no" itself does not
        // count.
        if word == "no" && words.next(i).is_some_and(|next| self.knows(next)) {
            valence = 0.0;
        }
        if words.before(i, 1) == Some("no")
            || words.before(i, 2) == Some("no")
            || (words.before(i, 3) == Some("no")
                && matches!(words.before(i, 1), Some("or" | "nor")))
        {
            valence = rated * NEGATION;
        }
        if words.stands_out(i) {
            valence += if valence > 0.0 { CAPITALS } else { -CAPITALS };
        }
        for distance in 1..=3 {
            let Some(before) = words.before(i, distance) else { break };
            if self.knows(before) {
                continue;
            }
            let fading = [1.0, 0.95, 0.9][distance - 1];
            valence += self.boost(words, i - distance, valence) * fading;
            valence = negate(words, i, distance, valence);
            if distance == 3 {
                valence = idioms(words, i, valence);
            }
        }
        if words.before(i, 1) == Some("least")
            && !self.knows("least")
            && !matches!(words.before(i, 2), Some("at" | "very"))
        {
            valence *= NEGATION;
        }
        valence
    }

    /// Returns how much the word at `i` changes the `valence` of a following word.
    fn boost(&self, words: &SentimentTokens, i: usize, valence: f64) -> f64 {
        let Some(&boost) = self.boosters.get(words.lower[i].as_str()) else { return 0.0 };
        let mut boost = if valence < 0.0 { -boost } else { boost };
        if words.stands_out(i) {
            boost += if valence > 0.0 { CAPITALS } else { -CAPITALS };
        }
        boost
    }
}

/// The words and emoticons of a text.
struct SentimentTokens {
    lower: Vec<String>,
    upper: Vec<bool>,
    mixed: bool,
}

impl SentimentTokens {
    fn new(text: &str) -> Self {
        let words: Vec<&str> = text.split_whitespace().map(strip).collect();
        let upper: Vec<bool> = words.iter().map(|w| is_upper(w)).collect();
        let capitals = upper.iter().filter(|u| **u).count();
        let mixed = 0 < capitals && capitals < words.len();
        Self { lower: words.iter().map(|w| w.to_lowercase()).collect(), upper, mixed }
    }

    fn before(&self, i: usize, distance: usize) -> Option<&str> {
        self.lower.get(i.checked_sub(distance)?).map(String::as_str)
    }

    fn next(&self, i: usize) -> Option<&str> {
        self.lower.get(i + 1).map(String::as_str)
    }

    /// Returns whether the word at `i` is in capitals and other words are not.
    fn stands_out(&self, i: usize) -> bool {
        self.upper[i] && self.mixed
    }

    fn join(&self, range: std::ops::Range<usize>) -> String {
        self.lower[range].join(" ")
    }
}

/// Strips punctuation around a word. If at most two letters would remain, the token is probably an
/// emoticon and stays unchanged.
fn strip(token: &str) -> &str {
    let stripped = token.trim_matches(|c: char| c.is_ascii_punctuation());
    if stripped.chars().count() <= 2 { token } else { stripped }
}

fn is_upper(word: &str) -> bool {
    word.contains(char::is_uppercase) && !word.contains(char::is_lowercase)
}

fn is_negation(word: &str) -> bool {
    NEGATIONS.split_whitespace().any(|n| n == word) || word.contains("n't")
}

fn negate(words: &SentimentTokens, i: usize, distance: usize, valence: f64) -> f64 {
    let at = |d| words.before(i, d).unwrap_or_default();
    let emphatic = |word: &str| word == "so" || word == "this";
    let (strengthened, unchanged) = match distance {
        2 => (at(2) == "never" && emphatic(at(1)), at(2) == "without" && at(1) == "doubt"),
        // In the reference, "and" binds more tightly than "or" here, so "so" alone intensifies.
        3 => (
            (at(3) == "never" && emphatic(at(2))) || emphatic(at(1)),
            at(3) == "without" && (at(2) == "doubt" || at(1) == "doubt"),
        ),
        _ => (false, false),
    };
    if strengthened {
        valence * 1.25
    } else if !unchanged && is_negation(at(distance)) {
        valence * NEGATION
    } else {
        valence
    }
}

/// Applies idioms whose rating differs from the ratings of their words. There must be three words
/// before `i`.
fn idioms(words: &SentimentTokens, i: usize, mut valence: f64) -> f64 {
    let rating = |phrase: &str| IDIOMS.iter().find(|(p, _)| *p == phrase).map(|(_, v)| *v);
    let ending_here = [i - 1..i + 1, i - 2..i + 1, i - 2..i, i - 3..i, i - 3..i - 1];
    if let Some(rated) = ending_here.into_iter().find_map(|range| rating(&words.join(range))) {
        valence = rated;
    }
    for end in [i + 2, i + 3] {
        if end <= words.lower.len()
            && let Some(rated) = rating(&words.join(i..end))
        {
            valence = rated;
        }
    }
    for range in [i - 3..i, i - 3..i - 1, i - 2..i] {
        if DAMPENING_PAIRS.contains(&words.join(range).as_str()) {
            valence -= BOOST;
        }
    }
    valence
}

/// Halves valences before the first "but" and multiplies valences after it by 1.5. Like the
/// reference, it looks up each valence by value, so an earlier valence with the same value is
/// changed instead.
fn weigh_around_but(words: &SentimentTokens, valences: &mut [f64]) {
    let Some(but) = words.lower.iter().position(|w| w == "but") else { return };
    for k in 0..valences.len() {
        let valence = valences[k];
        // Zero stays zero, and most words have a valence of zero.
        if valence == 0.0 {
            continue;
        }
        let first = valences.iter().position(|v| *v == valence).unwrap_or(k);
        if first < but {
            valences[first] = valence * 0.5;
        } else if first > but {
            valences[first] = valence * 1.5;
        }
    }
}

/// Returns the emphasis from exclamation marks (up to four) and from two or more question marks.
fn emphasis(text: &str) -> f64 {
    let count = |mark| text.bytes().filter(|b| *b == mark).count();
    let exclaimed = count(b'!').min(4) as f64 * 0.292;
    exclaimed
        + match count(b'?') {
            0 | 1 => 0.0,
            few @ (2 | 3) => few as f64 * 0.18,
            _ => 0.96,
        }
}

fn shares(valences: &[f64], emphasis: f64) -> Sentiment {
    // Adds 1 to each rating to balance neutral words, which weigh 1.
    let mut positive: f64 = valences.iter().filter(|v| **v > 0.0).map(|v| v + 1.0).sum();
    let mut negative: f64 = valences.iter().filter(|v| **v < 0.0).map(|v| 1.0 - v).sum();
    let neutral = valences.iter().filter(|v| **v == 0.0).count() as f64;
    if positive > negative {
        positive += emphasis;
    } else if positive < negative {
        negative += emphasis;
    }
    let total = positive + negative + neutral;
    if total == 0.0 {
        return Sentiment { positive: 0.0, neutral: 1.0, negative: 0.0 };
    }
    Sentiment {
        positive: (positive / total) as f32,
        neutral: (neutral / total) as f32,
        negative: (negative / total) as f32,
    }
}

fn parse(lexicon: &str) -> Result<HashMap<String, f64>> {
    let mut entries = HashMap::new();
    for (number, line) in lexicon.lines().enumerate() {
        let mut columns = line.split('\t');
        let (Some(token), Some(valence)) = (columns.next(), columns.next()) else {
            if line.trim().is_empty() {
                continue;
            }
            return Err(malformed(number, line));
        };
        if number == 0 && token == "#" {
            continue;
        }
        let valence: f64 = valence.trim().parse().map_err(|_| malformed(number, line))?;
        if !valence.is_finite() {
            return Err(malformed(number, line));
        }
        entries.insert(token.to_owned(), valence);
    }
    if entries.is_empty() {
        return Err(PortError::new(
            ErrorKind::Invalid,
            "a sentiment lexicon needs at least one word",
        ));
    }
    Ok(entries)
}

fn malformed(number: usize, line: &str) -> PortError {
    let shown: String = line.chars().take(60).collect();
    PortError::new(
        ErrorKind::Invalid,
        format!(
            "line {} of the lexicon is {shown:?}; it needs a word, a tab and a number",
            number + 1
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(serde::Deserialize)]
    struct Reference {
        text: String,
        pos: f32,
        neu: f32,
        neg: f32,
    }

    #[tokio::test]
    async fn scores_equal_the_reference() {
        let expected: Vec<Reference> =
            serde_json::from_str(include_str!("../../tests/fixtures/vader_reference.json"))
                .unwrap();
        assert!(expected.len() > 60);
        let texts: Vec<String> = expected.iter().map(|e| e.text.clone()).collect();
        let scores = Vader::new().classify(&texts).await.unwrap();
        for (expected, score) in expected.iter().zip(scores) {
            let [pos, neu, neg] = [score.positive, score.neutral, score.negative];
            let apart = (pos - expected.pos)
                .abs()
                .max((neu - expected.neu).abs())
                .max((neg - expected.neg).abs());
            assert!(apart <= 0.000_51, "{:?}: {pos} {neu} {neg}", expected.text);
        }
    }

    #[test]
    fn built_in_tables_parse() {
        let lexicon = parse(include_str!("vader/lexicon.tsv")).unwrap();
        assert!(lexicon.len() > 7_000, "{}", lexicon.len());
        assert_eq!(lexicon["love"], 3.2);
        assert_eq!(Tables::new(lexicon).emoji[&'😀'], "grinning face");
    }

    #[tokio::test]
    async fn custom_lexicon_replaces_the_default() {
        let vader = Vader::with_lexicon("flibber\t3.0\t0.1\t[3, 3]\n\n").unwrap();
        let texts = ["flibber".to_owned(), "love".to_owned()];
        let scores = vader.classify(&texts).await.unwrap();
        assert_eq!(scores[0].positive, 1.0);
        assert_eq!(scores[1].neutral, 1.0);
        for broken in ["", "word", "word\tnan", "a\t1\nword\tx"] {
            let error = Vader::with_lexicon(broken).err().map(|e| e.kind());
            assert_eq!(error, Some(ErrorKind::Invalid), "{broken:?}");
        }
    }
}
