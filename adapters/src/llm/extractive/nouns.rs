//! Finds the noun phrases of a sentence: runs of content words between stop words, punctuation and
//! verbs.

use std::collections::HashSet;
use std::sync::LazyLock;

use text::{Token, is_stop_word, stem};

const MAX_PHRASE_WORDS: usize = 4;
const MAX_NAME_WORDS: usize = 5;

/// Returns runs of content words that can form a phrase. Runs are separated by stop words,
/// punctuation and verbs.
pub(super) fn runs<'a, 'b>(text: &str, all: &'a [Token<'b>]) -> Vec<&'a [Token<'b>]> {
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
        let before = start.checked_sub(1).map(|before| all[before].lower.as_str());
        let verb = verb_in(&all[start..at], before.unwrap_or_default());
        // Verbs separate phrases, so "dog chases ball" contains two phrases.
        let pieces = all[start..at].split(|word| {
            is_verb(word, all[0].start) || verb.is_some_and(|verb| verb.start == word.start)
        });
        found.extend(pieces.map(noun_phrase).filter(|run| is_topic(run)));
        start = if at < all.len() && is_stop_word(&all[at].lower) { at + 1 } else { at };
    }
    found
}

/// Returns the verb that grammar shows in a run with the word `before` it. In "a harbour opens
/// early", the noun is singular, so the first later word with the ending of a plural is a verb. In
/// "to open shops", the first word is a verb, and in "opens new shops", it has the ending of a plural
/// but other words follow.
fn verb_in<'a, 'b>(run: &'a [Token<'b>], before: &str) -> Option<&'a Token<'b>> {
    /// Words before the base form of a verb.
    const BEFORE_VERBS: &[&str] = &[
        "to", "can", "cannot", "could", "will", "would", "may", "might", "must", "shall", "should",
        "don't", "doesn't", "didn't", "can't", "won't", "let's", "i", "you", "we", "they",
    ];
    /// Words with the ending of a plural that often precede a noun.
    const MODIFIERS: &[&str] =
        &["arms", "clothes", "customs", "goods", "news", "sales", "savings", "sports", "systems"];
    let has_ending = |word: &&Token| {
        let lower = word.lower.as_str();
        lower.ends_with('s')
            && !lower.ends_with("'s")
            && !["ss", "us", "is"].iter().any(|end| lower.ends_with(end))
    };
    let is_plain = |word: &&Token| !word.is_capitalised();
    let [first, _, ..] = run else { return None };
    let opens = BEFORE_VERBS.contains(&before) && !is_weak(first)
        || has_ending(&first) && !MODIFIERS.contains(&first.lower.as_str());
    match before {
        "a" | "an" => run.iter().skip(1).filter(is_plain).find(has_ending),
        _ => Some(first).filter(|first| opens && is_plain(first)),
    }
}

/// Drops what cannot begin or end a noun phrase: adverbs, numbers, and adjectives at the end. Only
/// the end of a long run is kept, because it contains the noun. A name of several words is kept
/// whole, without the words before it.
fn noun_phrase<'a, 'b>(mut run: &'a [Token<'b>]) -> &'a [Token<'b>] {
    let is_number = |word: &Token| word.lower.parse::<f64>().is_ok();
    while let Some((_, rest)) =
        run.split_last().filter(|(last, _)| is_weak(last) || is_number(last))
    {
        run = rest;
    }
    while let Some((_, rest)) =
        run.split_first().filter(|(first, _)| is_adverb(first) || is_number(first))
    {
        run = rest;
    }
    let name = run.iter().rev().take_while(|word| word.is_capitalised()).count();
    let max = if name > 1 { name.min(MAX_NAME_WORDS) } else { MAX_PHRASE_WORDS };
    &run[run.len().saturating_sub(max)..]
}

/// Returns whether a run can be a topic: it is long enough, no greeting and not only of words that
/// name nothing in particular.
fn is_topic(run: &[Token]) -> bool {
    const GENERAL: &[&str] = &[
        "bit", "case", "day", "days", "end", "fact", "guy", "guys", "man", "minute", "moment",
        "morning", "one", "part", "people", "person", "place", "point", "reason", "side", "time",
        "times", "today", "way", "ways", "year", "years",
    ];
    const TIMES_OF_DAY: &[&str] = &["morning", "afternoon", "evening", "night", "day"];
    let is_greeting = match run {
        [first, second] => first.lower == "good" && TIMES_OF_DAY.contains(&second.lower.as_str()),
        _ => false,
    };
    let is_general = run.iter().all(|word| GENERAL.contains(&word.lower.as_str()));
    !is_greeting && !is_general && run.iter().any(|word| word.lower.chars().count() > 2)
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
    const OTHERS: &[&str] = &["hereby", "thereby", "whereby", "herein", "therein", "hence"];
    let lower = word.lower.as_str();
    OTHERS.contains(&lower) || !word.is_capitalised() && lower.len() > 4 && lower.ends_with("ly")
}

/// Returns whether a word is an adjective or adverb. A phrase must not end with such a word.
fn is_weak(word: &Token) -> bool {
    static WEAK: LazyLock<HashSet<&str>> =
        LazyLock::new(|| include_str!("adjectives.txt").split_whitespace().collect());
    is_adverb(word) || (!word.is_all_caps() && WEAK.contains(word.lower.as_str()))
}

#[cfg(test)]
mod tests {
    use text::words;

    use super::*;

    #[test]
    fn runs_are_noun_phrases() {
        for (text, expected) in [
            ("A small harbour opens early in June.", vec!["small harbour", "June"]),
            ("The ferry leaves the harbour.", vec!["ferry", "harbour"]),
            ("Old bread hardens and new bread rises.", vec!["Old bread", "new bread"]),
            ("We visit the sales office.", vec!["sales office"]),
            ("A bus stops.", vec!["bus"]),
            ("You can bolster user rights.", vec!["user rights"]),
            ("The tool, which bolsters weak walls.", vec!["tool", "weak walls"]),
            ("We go to local schools.", vec!["local schools"]),
        ] {
            let all = words(text);
            let runs = runs(text, &all);
            let join = |run: &&[Token]| run.iter().map(|w| w.text).collect::<Vec<_>>().join(" ");
            let phrases: Vec<String> = runs.iter().map(join).collect();
            assert_eq!(phrases, expected, "{text}");
        }
    }
}
