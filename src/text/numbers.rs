//! Recognises numbers in digits and in words.

use crate::Token;

/// A number in text.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Number {
    /// The value.
    pub value: f64,
    /// Index of the number's first token.
    pub first: usize,
    /// Index of the number's last token.
    pub last: usize,
}

/// Finds the numbers among `tokens`, in digits or in words. Omits clock times. Also omits a lone
/// `one`, which is often a pronoun.
pub fn numbers(tokens: &[Token<'_>]) -> Vec<Number> {
    let mut found: Vec<Number> = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let Some((value, last)) = number_at(tokens, at) else {
            at += 1;
            continue;
        };
        if tokens[at].lower != "one" || last > at {
            found.push(Number { value, first: at, last });
        }
        at = last + 1;
    }
    found
}

/// The value of the number that begins at token `first`, and the index of its last token.
fn number_at(tokens: &[Token<'_>], first: usize) -> Option<(f64, usize)> {
    let scale = |at: usize| -> Option<f64> {
        let word = tokens.get(at)?.lower.as_str();
        SCALES.iter().find(|(name, _)| *name == word).map(|(_, scale)| *scale)
    };
    if let Some(value) = digits(&tokens[first].lower) {
        return Some(match scale(first + 1) {
            Some(scale) => (value * scale, first + 1),
            None => (value, first),
        });
    }
    let small = |at: usize| -> Option<f64> {
        let word = tokens.get(at)?.lower.as_str();
        let mut names = CARDINALS.iter().chain(ORDINALS);
        names.find(|(name, _)| *name == word).map(|(_, value)| f64::from(*value))
    };
    let mut current = match small(first) {
        Some(value) => value,
        None => scale(first)?,
    };
    // `total` is the sum of the groups closed by `thousand`, `million` and so on.
    let (mut total, mut last) = (0.0, first);
    loop {
        let next = last + 1;
        if let Some(scale) = scale(next) {
            current *= scale;
            last = next;
            if scale >= 1000.0 {
                total += current;
                current = 0.0;
            }
            continue;
        }
        // `five hundred and twelve`
        let joined = tokens.get(next).is_some_and(|t| t.lower == "and") && current >= 100.0;
        let next = if joined { next + 1 } else { next };
        match small(next) {
            Some(value) if fits_after(current, value) => {
                current += value;
                last = next;
            }
            _ => return Some((total + current, last)),
        }
    }
}

/// Whether `value` continues a number. For example, `twenty five` is one number, but `twenty
/// twenty` and `five six` are two numbers each.
fn fits_after(current: f64, value: f64) -> bool {
    if current >= 100.0 || current == 0.0 {
        current % 100.0 == 0.0
    } else {
        current >= 20.0 && current % 10.0 == 0.0 && value < 10.0
    }
}

/// Parses `12`, `1,000`, `12.5`, `45th` and `10km`.
fn digits(lower: &str) -> Option<f64> {
    let end = lower
        .find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | ',')))
        .unwrap_or(lower.len());
    let (number, unit) = lower.split_at(end);
    if number.is_empty() || unit.chars().count() > 3 || !unit.chars().all(char::is_alphabetic) {
        return None;
    }
    number.replace(',', "").parse().ok()
}

/// Whether a lower-case word is an amount: digits, a number in words, or a vague amount such as
/// `several`, `none` or `both`.
pub fn is_amount(lower: &str) -> bool {
    const VAGUE: &[&str] =
        &["dozens", "half", "quarter", "none", "no", "several", "single", "couple", "pair", "both"];
    let cardinal = |word: &str| CARDINALS.iter().any(|(name, _)| *name == word);
    lower.starts_with(|c: char| c.is_ascii_digit())
        || lower.split('-').all(cardinal)
        || SCALES.iter().any(|(name, _)| *name == lower)
        || VAGUE.contains(&lower)
}

/// Number words below a hundred, including `dozen`.
pub const CARDINALS: &[(&str, u32)] = &[
    ("zero", 0),
    ("one", 1),
    ("two", 2),
    ("three", 3),
    ("four", 4),
    ("five", 5),
    ("six", 6),
    ("seven", 7),
    ("eight", 8),
    ("nine", 9),
    ("ten", 10),
    ("eleven", 11),
    ("twelve", 12),
    ("dozen", 12),
    ("thirteen", 13),
    ("fourteen", 14),
    ("fifteen", 15),
    ("sixteen", 16),
    ("seventeen", 17),
    ("eighteen", 18),
    ("nineteen", 19),
    ("twenty", 20),
    ("thirty", 30),
    ("forty", 40),
    ("fifty", 50),
    ("sixty", 60),
    ("seventy", 70),
    ("eighty", 80),
    ("ninety", 90),
];

/// Ordinals that are recognised as numbers. `first` and `second` are omitted because they rarely
/// state a number.
const ORDINALS: &[(&str, u32)] = &[
    ("third", 3),
    ("fourth", 4),
    ("fifth", 5),
    ("sixth", 6),
    ("seventh", 7),
    ("eighth", 8),
    ("ninth", 9),
    ("tenth", 10),
    ("eleventh", 11),
    ("twelfth", 12),
];

/// Words that multiply the number before them.
pub const SCALES: &[(&str, f64)] = &[
    ("hundred", 1e2),
    ("hundreds", 1e2),
    ("thousand", 1e3),
    ("thousands", 1e3),
    ("million", 1e6),
    ("millions", 1e6),
    ("billion", 1e9),
    ("billions", 1e9),
    ("trillion", 1e12),
    ("trillions", 1e12),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokens;

    #[test]
    fn numbers_are_recognised_in_digits_and_words() {
        for (text, expected) in [
            ("45 cars and 1,000 people", vec![45.0, 1000.0]),
            ("in the 9th district, 12.5 km on", vec![9.0, 12.5]),
            ("seven hundred employees", vec![700.0]),
            ("five hundred and twelve thousand three hundred", vec![512_300.0]),
            ("twenty-five or thirty", vec![25.0, 30.0]),
            ("twenty twenty six", vec![20.0, 26.0]),
            ("1.5 million dollars", vec![1.5e6]),
            ("a dozen eggs", vec![12.0]),
            ("no one, one of them", vec![]),
            ("one hundred", vec![100.0]),
            ("at 1:30, MP4, SPEAKER_00", vec![]),
            ("five six", vec![5.0, 6.0]),
            ("two trillion", vec![2e12]),
        ] {
            let found: Vec<f64> = numbers(&tokens(text)).iter().map(|n| n.value).collect();
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn amounts_are_numbers_and_vague_amounts() {
        for (word, expected) in [
            ("12.5", true),
            ("45th", true),
            ("thirteen", true),
            ("twenty-five", true),
            ("millions", true),
            ("both", true),
            ("no", true),
            ("third", false),
            ("well-known", false),
            ("many", false),
            ("", false),
        ] {
            assert_eq!(is_amount(word), expected, "{word}");
        }
    }
}
