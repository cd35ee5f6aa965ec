//! Words of English text, for scores and audits: tokens, stems, numbers, sentences. Pure functions of
//! the text; other languages come apart into tokens and are otherwise left alone.

/// A word or a number of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Token<'a> {
    /// As written.
    pub(crate) text: &'a str,
    /// Lower case, without a possessive ending.
    pub(crate) lower: String,
    /// Byte offset of `text`.
    pub(crate) start: usize,
}

/// The tokens of a text: letters and digits, with an apostrophe or underscore between letters, and a
/// full stop, comma or colon between digits (`don't`, `SPEAKER_00`, `12.5`, `1,000`, `1:30`).
pub(crate) fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut found = Vec::new();
    let mut start = None;
    let mut previous = ' ';
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let next = chars.peek().map_or(' ', |&(_, c)| c);
        let joins = match c {
            '\'' | '’' => previous.is_alphabetic() && next.is_alphabetic(),
            '_' => previous.is_alphanumeric() && next.is_alphanumeric(),
            '.' | ',' | ':' => previous.is_ascii_digit() && next.is_ascii_digit(),
            _ => c.is_alphanumeric(),
        };
        if joins {
            start.get_or_insert(at);
        } else if let Some(start) = start.take() {
            found.push(token(text, start, at));
        }
        previous = c;
    }
    if let Some(start) = start {
        found.push(token(text, start, text.len()));
    }
    found
}

fn token(text: &str, start: usize, end: usize) -> Token<'_> {
    let text = &text[start..end];
    let mut lower = text.to_lowercase().replace('’', "'");
    if let Some(owner) = lower.strip_suffix("'s") {
        lower.truncate(owner.len());
    }
    Token { text, lower, start }
}

/// Whether a lower-case word holds sentences together and says nothing by itself.
pub(crate) fn is_function_word(lower: &str) -> bool {
    FUNCTION_WORDS.contains(&lower)
}

/// A lower-case word without the commonest English endings: `cars` and `car`, `opened` and `opens`.
pub(crate) fn stem(lower: &str) -> &str {
    const LEAST: usize = 3;
    let word = IRREGULAR.iter().find(|(form, _)| *form == lower).map_or(lower, |(_, base)| base);
    let endings = ["ings", "ing", "ies", "es", "ed", "s", "e", "y"];
    let stripped = endings.iter().find_map(|ending| {
        let stem = word.strip_suffix(ending)?;
        (stem.chars().count() >= LEAST).then_some((*ending, stem))
    });
    let Some((ending, stem)) = stripped else { return word };
    // `running` and `run`, `stopped` and `stop`, but `falling` and `fall`.
    let mut letters = stem.chars().rev();
    match (letters.next(), letters.next()) {
        (Some(last), Some(before))
            if ending.contains(['d', 'g'])
                && last == before
                && !"aeiouls".contains(last)
                && stem.chars().count() > LEAST =>
        {
            &stem[..stem.len() - last.len_utf8()]
        }
        _ => stem,
    }
}

/// Share of the words that occur in a text, endings aside; 0 without words. Text read off pictures
/// often lacks its spaces, so long words also count inside longer ones.
pub(crate) fn shared(words: &[String], text: &str) -> f32 {
    if words.is_empty() {
        return 0.0;
    }
    let there = tokens(text);
    words.iter().filter(|word| occurs(word, &there)).count() as f32 / words.len() as f32
}

/// Whether a lower-case word is among tokens, endings aside, or inside one of them when it is long.
pub(crate) fn occurs(word: &str, tokens: &[Token<'_>]) -> bool {
    /// Letters from which a word inside another is no accident.
    const LONG: usize = 5;
    let long = word.chars().count() >= LONG;
    tokens.iter().any(|t| stem(&t.lower) == stem(word) || (long && t.lower.contains(word)))
}

/// A number in a text.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Number {
    pub(crate) value: f64,
    /// Index of its first token.
    pub(crate) first: usize,
    /// Index of its last token.
    pub(crate) last: usize,
}

/// The numbers of a text, in digits or in words; a lone `one` is a pronoun as often as a number and
/// is left out, and so are clock times.
pub(crate) fn numbers(tokens: &[Token<'_>]) -> Vec<Number> {
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

/// The number that begins at a token, and its last token.
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
        SMALL.iter().find(|(name, _)| *name == word).map(|(_, value)| f64::from(*value))
    };
    let mut current = match small(first) {
        Some(value) => value,
        None => scale(first)?,
    };
    // `total` holds what a thousand or a million has closed.
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

/// `twenty five` is one number, `twenty twenty` and `five six` are two.
fn fits_after(current: f64, value: f64) -> bool {
    if current >= 100.0 || current == 0.0 {
        current % 100.0 == 0.0
    } else {
        current >= 20.0 && current % 10.0 == 0.0 && value < 10.0
    }
}

/// `12`, `1,000`, `12.5`, `45th`, `10km`.
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

/// The sentences of a text, trimmed and never empty. What stands between “ and ” is not split.
pub(crate) fn sentences(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let (mut start, mut quoted) = (0, false);
    for (at, c) in text.char_indices() {
        match c {
            '“' => quoted = true,
            '”' => quoted = false,
            _ => {}
        }
        let ends = match c {
            '\n' => true,
            '.' | '!' | '?' | '…' | '”' if !quoted => {
                let rest = &text[at + c.len_utf8()..];
                let opens = rest.trim_start().chars().next();
                // A quotation ends a sentence where its own last sign does.
                let closed = c != '”' || text[start..at].ends_with(['.', '!', '?', '…']);
                closed
                    && (rest.starts_with(char::is_whitespace) || rest.is_empty())
                    && opens.is_none_or(|c| !c.is_lowercase())
                    && !(c == '.' && is_abbreviation(&text[start..at]))
            }
            _ => false,
        };
        if ends {
            let end = at + c.len_utf8();
            found.push(text[start..end].trim());
            start = end;
        }
    }
    found.push(text[start..].trim());
    found.retain(|sentence| !sentence.is_empty());
    found
}

/// Whether a full stop after this text shortens a word instead of ending a sentence.
fn is_abbreviation(text: &str) -> bool {
    let word = text.rsplit(|c: char| c.is_whitespace() || c == '(').next().unwrap_or_default();
    let initial = word.chars().count() == 1 && word.chars().all(char::is_uppercase);
    initial
        || matches!(
            word.to_lowercase().as_str(),
            "mr" | "mrs" | "ms" | "dr" | "st" | "prof" | "vs" | "e.g" | "i.e" | "u.s" | "approx"
        )
}

const SMALL: &[(&str, u32)] = &[
    ("zero", 0),
    ("one", 1),
    ("two", 2),
    ("three", 3),
    ("third", 3),
    ("four", 4),
    ("fourth", 4),
    ("five", 5),
    ("fifth", 5),
    ("six", 6),
    ("sixth", 6),
    ("seven", 7),
    ("seventh", 7),
    ("eight", 8),
    ("eighth", 8),
    ("nine", 9),
    ("ninth", 9),
    ("ten", 10),
    ("tenth", 10),
    ("eleven", 11),
    ("eleventh", 11),
    ("twelve", 12),
    ("twelfth", 12),
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

const SCALES: &[(&str, f64)] = &[
    ("hundred", 1e2),
    ("hundreds", 1e2),
    ("thousand", 1e3),
    ("thousands", 1e3),
    ("million", 1e6),
    ("millions", 1e6),
    ("billion", 1e9),
    ("billions", 1e9),
];

/// Forms that share no beginning with their word.
const IRREGULAR: &[(&str, &str)] = &[
    ("people", "person"),
    ("men", "man"),
    ("women", "woman"),
    ("children", "child"),
    ("feet", "foot"),
    ("said", "say"),
    ("spoke", "speak"),
    ("spoken", "speak"),
    ("ran", "run"),
    ("sat", "sit"),
    ("stood", "stand"),
    ("held", "hold"),
    ("wore", "wear"),
    ("worn", "wear"),
    ("drove", "drive"),
    ("driven", "drive"),
    ("rode", "ride"),
    ("made", "make"),
    ("wrote", "write"),
    ("written", "write"),
    ("took", "take"),
    ("taken", "take"),
    ("gave", "give"),
    ("given", "give"),
    ("went", "go"),
    ("gone", "go"),
    ("came", "come"),
    ("saw", "see"),
    ("seen", "see"),
    ("told", "tell"),
    ("fell", "fall"),
    ("bought", "buy"),
    ("built", "build"),
    ("began", "begin"),
    ("met", "meet"),
    ("led", "lead"),
    ("lay", "lie"),
    ("lying", "lie"),
    ("died", "die"),
    ("dying", "die"),
    ("known", "know"),
    ("knew", "know"),
    ("shown", "show"),
];

const FUNCTION_WORDS: &[&str] = &[
    "a", "about", "after", "again", "all", "also", "am", "an", "and", "any", "are", "as", "at",
    "be", "because", "been", "before", "being", "beside", "both", "but", "by", "can", "could",
    "did", "do", "does", "doing", "down", "during", "each", "for", "from", "had", "has", "have",
    "having", "he", "her", "here", "hers", "him", "his", "how", "i", "if", "in", "into", "is",
    "it", "its", "just", "like", "may", "me", "more", "most", "my", "near", "of", "off", "on",
    "once", "one", "only", "or", "other", "our", "out", "over", "own", "same", "she", "should",
    "so", "some", "such", "than", "that", "the", "their", "them", "then", "there", "these", "they",
    "this", "those", "through", "to", "too", "under", "until", "up", "very", "was", "we", "were",
    "what", "when", "where", "which", "while", "who", "whom", "why", "will", "with", "would",
    "you", "your",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_a_word_share_their_stem() {
        for (a, b) in [
            ("cars", "car"),
            ("opened", "opens"),
            ("running", "runs"),
            ("stopped", "stop"),
            ("falling", "falls"),
            ("cities", "city"),
            ("people", "persons"),
            ("wore", "wears"),
        ] {
            assert_eq!(stem(a), stem(b), "{a} and {b}");
        }
        assert_ne!(stem("art"), stem("cart"));
        assert_ne!(stem("bus"), stem("but"));
    }

    #[test]
    fn numbers_are_read_in_digits_and_words() {
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
        ] {
            let found: Vec<f64> = numbers(&tokens(text)).iter().map(|n| n.value).collect();
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn sentences_come_apart_where_they_end() {
        for (text, expected) in [
            ("He came. She left.", vec!["He came.", "She left."]),
            ("Dr. Who met J. Smith. Fine", vec!["Dr. Who met J. Smith.", "Fine"]),
            ("It cost 12.5 euros.", vec!["It cost 12.5 euros."]),
            (
                "SPEAKER_00: “We go. Now.” On screen: “A. B”.",
                vec!["SPEAKER_00: “We go. Now.”", "On screen: “A. B”."],
            ),
            ("what … is it", vec!["what … is it"]),
            ("", vec![]),
        ] {
            assert_eq!(sentences(text), expected);
        }
    }

    #[test]
    fn words_are_found_whatever_their_ending_and_spacing() {
        let words = |words: &[&str]| words.iter().map(|&w| w.to_owned()).collect::<Vec<_>>();
        for (asked, text, expected) in [
            (words(&["car"]), "2 × car, 1 × person", 1.0),
            (words(&["cars"]), "car", 1.0),
            (words(&["speed", "limit", "45"]), "SPEEDLIMIT45", 2.0 / 3.0),
            (words(&["north", "gate"]), "CAMERA 07 NORTH GATE", 1.0),
            (words(&["art"]), "cart, party", 0.0),
            (words(&["bottle", "wine"]), "three bottles", 0.5),
            (words(&[]), "it is what it is", 0.0),
        ] {
            let found = shared(&asked, text);
            assert!((found - expected).abs() < 1e-6, "{asked:?} in {text}: {found}");
        }
    }
}
