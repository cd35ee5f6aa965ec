//! Compares the words of a sentence, `own`, with those of the segments that it cites: quotations,
//! numbers, names, opposites and negation.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use text::calendar::{MONTHS, WEEKDAYS, is_ambiguous_month};
use text::colours::FAMILIES;
use text::numbers::{Number, numbers};
use text::plural::plural;
use text::{Token, is_framing, is_function_word, is_negation, occurs, stem};

/// Whether the words of the sentence `own` occur verbatim in the sentence `said`, which must not
/// negate them.
pub(super) fn is_quoted(own: &[Token<'_>], said: &[Token<'_>]) -> bool {
    // A quotation may begin with the name of its speaker or source.
    let is_content = |t: &Token<'_>| !is_framing(&t.lower) && !is_speaker(t);
    let body = own.iter().position(is_content).map_or(own, |first| &own[first..]);
    let same = |window: &[Token<'_>]| window.iter().zip(body).all(|(a, b)| a.lower == b.lower);
    !body.is_empty()
        && said.windows(body.len()).enumerate().any(|(at, window)| {
            let rest = || said[..at].iter().chain(&said[at + body.len()..]);
            same(window) && !rest().any(|token| is_negation(&token.lower))
        })
}

/// Returns the distinct content words in lower case. Excludes function words, negations, numbers,
/// speaker labels and framing words.
pub(super) fn content<'a>(own: &'a [Token<'_>]) -> Vec<&'a str> {
    let counted: BTreeSet<usize> = numbers(own).iter().flat_map(|n| n.first..=n.last).collect();
    let mut words: Vec<&str> = Vec::new();
    let mut stems: BTreeSet<&str> = BTreeSet::new();
    for (at, token) in own.iter().enumerate() {
        let word = token.lower.as_str();
        let plain = counted.contains(&at)
            || word.len() < 2
            || word.contains(':')
            || is_function_word(word)
            || is_negation(word)
            || is_speaker(token)
            || is_framing(word);
        if !plain && stems.insert(token.stem()) {
            words.push(word);
        }
    }
    words
}

/// Whether a token is a speaker label such as `S1`.
pub(super) fn is_speaker(token: &Token<'_>) -> bool {
    let number = token.lower.strip_prefix('s').filter(|_| token.text.starts_with('S'));
    number.is_some_and(|n| !n.is_empty() && n.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Whether the segments support every number in the sentence. If the segments give a number for the
/// counted thing, it must be equal. Otherwise, a segment sentence must contain both the number and
/// one of the sentence's content words.
pub(super) fn numbers_supported(
    own: &[Token<'_>],
    words: &[&str],
    said: &[Vec<Token<'_>>],
    times: &[f64],
) -> bool {
    let holds = |number: &Number| {
        let after = &own[number.last + 1..];
        let seconds = |t: &Token<'_>| matches!(&*t.lower, "s" | "sec" | "second" | "seconds");
        if after.first().is_some_and(seconds)
            && times.iter().any(|time| (time - number.value).abs() <= 0.5)
        {
            return true;
        }
        let thing = after.iter().take(3).find(|t| words.contains(&t.lower.as_str()));
        let counts: Vec<f64> = thing
            .into_iter()
            .flat_map(|thing| said.iter().flat_map(|there| counts_of(&thing.lower, there)))
            .collect();
        if !counts.is_empty() {
            return counts.iter().any(|count| is_same(*count, number.value));
        }
        said.iter().any(|there| {
            readings(there).iter().any(|value| is_same(*value, number.value))
                && (words.is_empty() || words.iter().any(|word| occurs(word, there)))
        })
    };
    let clock_holds = |clock: &str| {
        said.iter().flatten().any(|token| token.lower == clock) || is_within(clock, times)
    };
    let mut clocks = own.iter().map(|t| t.lower.as_str()).filter(|lower| lower.contains(':'));
    numbers(own).iter().all(holds) && clocks.all(clock_holds)
}

/// Returns the numbers that stand shortly before a thing, such as `4` in `4 red cars`.
fn counts_of(thing: &str, there: &[Token<'_>]) -> Vec<f64> {
    let counted = numbers(there);
    let thing = stem(thing);
    let places = (0..there.len()).filter(|&at| there[at].stem() == thing);
    places
        .filter_map(|at| {
            let before = counted.iter().rev().find(|n| n.last < at)?;
            (at - before.last <= 3).then_some(before.value)
        })
        .collect()
}

/// Returns every number that the tokens may stand for. OCR confuses 0 with O and 1 with l, and
/// speech recognition splits spelled-out years into two numbers.
fn readings(there: &[Token<'_>]) -> Vec<f64> {
    let counted = numbers(there);
    let mut values: Vec<f64> = counted.iter().map(|n| n.value).collect();
    for pair in counted.windows(2) {
        let [a, b] = [pair[0].value, pair[1].value];
        if pair[0].last + 1 == pair[1].first
            && (10.0..100.0).contains(&a)
            && (0.0..100.0).contains(&b)
        {
            values.push(a * 100.0 + b);
        }
    }
    let confused = there.iter().filter(|t| t.text.contains(|c: char| c.is_ascii_digit()));
    for token in confused {
        let digits: String = token
            .lower
            .chars()
            .map(|c| match c {
                'o' => '0',
                'l' | 'i' => '1',
                other => other,
            })
            .collect();
        values.extend(digits.parse::<f64>().ok());
    }
    values
}

fn is_same(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs())
}

/// Whether a clock time lies within the times of the segments.
fn is_within(clock: &str, times: &[f64]) -> bool {
    let parts: Option<Vec<f64>> = clock.split(':').map(|part| part.parse().ok()).collect();
    let Some(parts) = parts else { return false };
    let seconds = parts.iter().fold(0.0, |sum, part| sum * 60.0 + part);
    let start = times.iter().copied().fold(f64::INFINITY, f64::min);
    let end = times.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    (start - 1.0..=end + 1.0).contains(&seconds)
}

/// Returns the capitalized words, except speaker labels and words that are capitalized only because
/// they begin a sentence or quotation.
pub(super) fn names<'a>(
    sentence: &'a str,
    own: &'a [Token<'a>],
) -> impl Iterator<Item = &'a Token<'a>> {
    let begins = |token: &Token<'_>| {
        let before = sentence[..token.start].trim_end();
        before.is_empty() || before.ends_with(['“', '"', '‘', '(', ':', '.', '!', '?', ';'])
    };
    own.iter().enumerate().filter_map(move |(at, token)| {
        let capital = token.text.starts_with(char::is_uppercase);
        // At the beginning, `Carlo Rossi` is a name and `People walk` is not.
        let name = !begins(token)
            || own.get(at + 1).is_some_and(|next| {
                next.text.starts_with(char::is_uppercase)
                    && sentence[token.start + token.text.len()..next.start].trim().is_empty()
            });
        let plain =
            is_function_word(&token.lower) || is_negation(&token.lower) || is_speaker(token);
        (capital && name && !plain).then_some(token)
    })
}

/// Whether a name occurs in the segments. In a long name, one letter may differ, since speech
/// recognition and OCR make errors.
pub(super) fn is_named(name: &Token<'_>, there: &[Token<'_>]) -> bool {
    const FORGIVEN: usize = 8;
    // OCR often confuses `rn` with `m`.
    let read = |lower: &str| lower.replace("rn", "m");
    occurs(&name.lower, there)
        || (name.lower.chars().count() >= FORGIVEN
            && there.iter().any(|t| strsim::levenshtein(&read(&t.lower), &read(&name.lower)) <= 1))
}

/// Groups of mutually exclusive members. Each member is a list of words with the same meaning.
static CONTRASTS: LazyLock<Vec<Vec<Vec<String>>>> = LazyLock::new(|| {
    // Turquoise may also be called blue or green.
    let colours = FAMILIES.iter().filter(|family| family.name() != "turquoise");
    let months = MONTHS.into_iter().filter(|month| !is_ambiguous_month(month));
    let each = |words: &[&'static str]| words.iter().map(|word| vec![*word]).collect::<Vec<_>>();
    let groups = [
        colours.map(|family| family.names.to_vec()).collect(),
        each(&["left", "right"]),
        each(&["man", "woman", "boy", "girl"]),
        each(&WEEKDAYS),
        each(&months.collect::<Vec<_>>()),
        each(&["morning", "afternoon", "evening", "night"]),
    ];
    let forms = |words: Vec<&'static str>| -> Vec<String> {
        words.into_iter().flat_map(|word| [word.to_owned(), plural(word)]).collect()
    };
    groups.into_iter().map(|group| group.into_iter().map(forms).collect()).collect()
});

/// Whether the sentence contains a word that the segments lack, while the segments contain an
/// opposite that the sentence lacks.
pub(super) fn contradicts(own: &[Token<'_>], there: &[Token<'_>]) -> bool {
    let has = |tokens: &[Token<'_>], member: &Vec<String>| {
        tokens.iter().any(|t| member.contains(&t.lower))
    };
    CONTRASTS.iter().any(|group| {
        let lacking = group.iter().any(|member| has(own, member) && !has(there, member));
        lacking && group.iter().any(|member| has(there, member) && !has(own, member))
    })
}

/// Whether the claim is negated and the segment sentences that share the most words with it are
/// not, or the other way round.
pub(super) fn is_denied(own: &[Token<'_>], words: &[&str], said: &[Vec<Token<'_>>]) -> bool {
    let common = |there: &Vec<Token<'_>>| words.iter().filter(|word| occurs(word, there)).count();
    let negative = |tokens: &[Token<'_>]| tokens.iter().any(|t| is_negation(&t.lower));
    let most = said.iter().map(common).max().unwrap_or(0);
    if most * 4 < words.len() * 3 {
        return false;
    }
    let mut likest = said.iter().filter(|there| common(there) == most);
    likest.all(|there| negative(there) != negative(own))
}

/// Whether the segments are in English but the sentence is not. A sentence is assumed not to be in
/// English if it has several words but no English function word.
pub(super) fn is_foreign(own: &[Token<'_>], there: &[Token<'_>]) -> bool {
    const LENGTH: usize = 5;
    let english = |tokens: &[Token<'_>]| tokens.iter().any(|t| is_function_word(&t.lower));
    own.len() >= LENGTH && !english(own) && english(there)
}
