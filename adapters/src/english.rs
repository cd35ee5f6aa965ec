//! English words for the adapters that read text without a model: tokens, stems, stop words and
//! sentences. Used by the hashing embedder and the extractive language model; knows neither.

use std::collections::HashSet;
use std::sync::LazyLock;

use frostem::{Algorithm, Stemmer};

/// A word of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Word<'a> {
    /// As written.
    pub(crate) text: &'a str,
    /// Lower case, without a possessive ending.
    pub(crate) lower: String,
    /// Byte offset of `text`.
    pub(crate) start: usize,
}

impl Word<'_> {
    /// Whether it begins with a capital letter.
    pub(crate) fn is_capitalised(&self) -> bool {
        self.text.chars().next().is_some_and(char::is_uppercase)
    }

    /// Whether every letter is a capital one and there are at least two.
    pub(crate) fn is_shouted(&self) -> bool {
        self.text.chars().filter(|c| c.is_alphabetic()).count() > 1
            && self.text.chars().all(|c| !c.is_lowercase())
    }
}

/// The words of a text. Letters and digits make a word, and so do an apostrophe, a hyphen, a
/// full stop or a comma between two of them (`o'clock`, `long-term`, `12.5`, `U.S`); an ideograph
/// or a kana is a word by itself.
pub(crate) fn words(text: &str) -> Vec<Word<'_>> {
    let mut found = Vec::new();
    let mut start = None;
    let mut chars = text.char_indices().peekable();
    let mut previous = ' ';
    while let Some((at, c)) = chars.next() {
        let next = chars.peek().map_or(' ', |&(_, c)| c);
        let joins = start.is_some()
            && match c {
                '\'' | '’' | '-' => previous.is_alphanumeric() && next.is_alphanumeric(),
                '.' | ',' => previous.is_ascii_digit() && next.is_ascii_digit(),
                '&' => previous.is_uppercase() && next.is_uppercase(),
                _ => false,
            };
        if is_ideograph(c) {
            if let Some(start) = start.take() {
                found.push(word(text, start, at));
            }
            found.push(word(text, at, at + c.len_utf8()));
        } else if c.is_alphanumeric() || joins || (start.is_some() && is_mark(c)) {
            start.get_or_insert(at);
        } else if let Some(start) = start.take() {
            found.push(word(text, start, at));
        }
        previous = c;
    }
    if let Some(start) = start {
        found.push(word(text, start, text.len()));
    }
    found
}

fn word(text: &str, start: usize, end: usize) -> Word<'_> {
    let text = &text[start..end];
    let mut lower = text.to_lowercase().replace('’', "'");
    if let Some(stripped) = lower.strip_suffix("'s") {
        lower.truncate(stripped.len());
    }
    Word { text, lower, start }
}

/// Combining marks continue a word: Devanagari, Arabic and decomposed Latin need them.
fn is_mark(c: char) -> bool {
    matches!(u32::from(c), 0x0300..=0x036F | 0x0900..=0x0DFF | 0x064B..=0x065F | 0x200C..=0x200D)
}

fn is_ideograph(c: char) -> bool {
    matches!(u32::from(c), 0x3040..=0x30FF | 0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0xF900..=0xFAFF | 0x20000..=0x2FA1F)
}

/// The stem of a lower-case word: `cycling` and `cycles` are `cycl`, `women` is `woman`.
pub(crate) fn stem(lower: &str) -> String {
    static ENGLISH: LazyLock<Stemmer> = LazyLock::new(|| Stemmer::new(Algorithm::English));
    if lower.len() > 40 || !lower.is_ascii() {
        return lower.to_owned();
    }
    let regular = IRREGULAR.iter().find(|(form, _)| *form == lower).map_or(lower, |(_, base)| base);
    ENGLISH.stem(regular).into_owned()
}

/// Whether a lower-case word says nothing about the topic.
pub(crate) fn is_stop_word(lower: &str) -> bool {
    static STOP_WORDS: LazyLock<HashSet<&str>> =
        LazyLock::new(|| include_str!("english/stop_words.txt").split_whitespace().collect());
    STOP_WORDS.contains(lower)
}

/// The sentences of a text, trimmed and never empty. Abbreviations, initials, decimals and quotes
/// after the full stop are minded; a line break ends a sentence.
pub(crate) fn sentences(text: &str) -> Vec<&str> {
    text.lines().flat_map(sentences_of_line).collect()
}

fn sentences_of_line(line: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut start = 0;
    let mut chars = line.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let wide = matches!(c, '。' | '！' | '？' | '।' | '؟');
        if !wide && !matches!(c, '.' | '!' | '?' | '…') {
            continue;
        }
        let mut end = at + c.len_utf8();
        while let Some(&(at, c)) = chars.peek() {
            if !matches!(c, '.' | '!' | '?' | '…' | '"' | '\'' | '”' | '’' | ')' | ']' | '»')
            {
                break;
            }
            end = at + c.len_utf8();
            chars.next();
        }
        let rest = &line[end..];
        let ends = wide
            || rest.is_empty()
            || (rest.starts_with(char::is_whitespace)
                && !(c == '.' && end == at + 1 && is_abbreviation(&line[start..at], rest)));
        if ends {
            push_trimmed(&mut found, &line[start..end]);
            start = end;
        }
    }
    push_trimmed(&mut found, &line[start..]);
    found
}

fn push_trimmed<'a>(found: &mut Vec<&'a str>, sentence: &'a str) {
    let sentence = sentence.trim();
    if sentence.chars().any(char::is_alphanumeric) {
        found.push(sentence);
    }
}

/// Whether the full stop between `before` and `after` belongs to the word before it.
fn is_abbreviation(before: &str, after: &str) -> bool {
    const TITLES: &[&str] = &[
        "mr", "mrs", "ms", "dr", "prof", "st", "sr", "jr", "mt", "gen", "col", "sgt", "capt", "lt",
        "rev", "hon", "vs", "e.g", "i.e", "fig", "approx", "dept", "est", "no", "vol", "cf",
    ];
    const MIDDLE: &[&str] =
        &["etc", "inc", "ltd", "co", "corp", "a.m", "p.m", "ave", "blvd", "u.s", "u.k"];
    let last = before.rsplit(|c: char| c.is_whitespace() || c == '(').next().unwrap_or_default();
    let lower = last.to_lowercase();
    let next = after.trim_start().chars().next();
    let goes_on_small = next.is_some_and(char::is_lowercase);
    match lower.as_str() {
        // "No." is a number's abbreviation only in front of one.
        "no" => next.is_some_and(|c| c.is_ascii_digit()),
        _ if TITLES.contains(&lower.as_str()) => true,
        _ if MIDDLE.contains(&lower.as_str()) => goes_on_small,
        // An initial, as in "J. Smith"; "I" ends sentences.
        _ if last.chars().count() == 1 => last.chars().all(char::is_uppercase) && last != "I",
        _ => false,
    }
}

/// Forms that the stemmer's rules do not reach.
const IRREGULAR: &[(&str, &str)] = &[
    ("men", "man"),
    ("women", "woman"),
    ("children", "child"),
    ("kids", "kid"),
    ("people", "person"),
    ("feet", "foot"),
    ("teeth", "tooth"),
    ("mice", "mouse"),
    ("geese", "goose"),
    ("knives", "knife"),
    ("wives", "wife"),
    ("ran", "run"),
    ("went", "go"),
    ("gone", "go"),
    ("said", "say"),
    ("says", "say"),
    ("spoke", "speak"),
    ("spoken", "speak"),
    ("told", "tell"),
    ("drove", "drive"),
    ("driven", "drive"),
    ("rode", "ride"),
    ("ridden", "ride"),
    ("flew", "fly"),
    ("flown", "fly"),
    ("fell", "fall"),
    ("fallen", "fall"),
    ("rose", "rise"),
    ("grew", "grow"),
    ("grown", "grow"),
    ("held", "hold"),
    ("took", "take"),
    ("taken", "take"),
    ("gave", "give"),
    ("given", "give"),
    ("sat", "sit"),
    ("stood", "stand"),
    ("wore", "wear"),
    ("worn", "wear"),
    ("built", "build"),
    ("bought", "buy"),
    ("brought", "bring"),
    ("made", "make"),
    ("wrote", "write"),
    ("written", "write"),
    ("began", "begin"),
    ("begun", "begin"),
    ("left", "leave"),
    ("ate", "eat"),
    ("eaten", "eat"),
    ("swam", "swim"),
    ("sang", "sing"),
    ("sung", "sing"),
    ("thought", "think"),
    ("won", "win"),
    ("lost", "lose"),
    ("met", "meet"),
    ("paid", "pay"),
    ("sold", "sell"),
    ("shown", "show"),
    ("threw", "throw"),
    ("thrown", "throw"),
    ("caught", "catch"),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn lower(text: &str) -> Vec<String> {
        words(text).into_iter().map(|word| word.lower).collect()
    }

    #[test]
    fn words_keep_what_belongs_together() {
        assert_eq!(lower("It's 12.5 km, o'clock!"), ["it", "12.5", "km", "o'clock"]);
        assert_eq!(
            lower("A long-term AT&T deal -- 1,200 people’s"),
            ["a", "long-term", "at&t", "deal", "1,200", "people"]
        );
        assert_eq!(lower("naïve Žluťoučký 東京 kůň"), ["naïve", "žluťoučký", "東", "京", "kůň"]);
        assert!(words(" \u{0} --- … ").is_empty());
    }

    #[test]
    fn word_offsets_point_at_the_text() {
        let text = "«Été» 🚲 rides";
        for word in words(text) {
            assert!(text[word.start..].starts_with(word.text));
        }
    }

    #[test]
    fn forms_of_a_word_share_a_stem() {
        for (a, b) in
            [("cycling", "cycles"), ("women", "woman"), ("ran", "running"), ("said", "says")]
        {
            assert_eq!(stem(a), stem(b), "{a} and {b}");
        }
        assert_ne!(stem("university"), stem("meeting"));
    }

    #[test]
    fn sentences_end_where_a_reader_would_end_them() {
        let cases: &[(&str, &[&str])] = &[
            ("Dr. Smith met J. Doe. They left.", &["Dr. Smith met J. Doe.", "They left."]),
            ("It grew 3.5 percent. Good!", &["It grew 3.5 percent.", "Good!"]),
            ("He said \"go.\" She went.", &["He said \"go.\"", "She went."]),
            ("Wait... what? Yes", &["Wait...", "what?", "Yes"]),
            ("One line\nanother line", &["One line", "another line"]),
            ("He told me no. I left.", &["He told me no.", "I left."]),
            ("It was I. Then it ended.", &["It was I.", "Then it ended."]),
            ("At 5 p.m. sharp.", &["At 5 p.m. sharp."]),
            ("今日は。明日。", &["今日は。", "明日。"]),
            (" . ? !\n\n", &[]),
        ];
        for (text, expected) in cases {
            assert_eq!(sentences(text), *expected, "{text}");
        }
    }
}
