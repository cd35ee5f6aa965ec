//! Names in questions: what must occur in a video if the video is to answer the question.

use crate::numbers::{Number, numbers};
use crate::questions::is_question;
use crate::{Token, is_function_word, letters_and_digits, stem, tokens};

/// Something that a question names: a proper name, a name or label with its number (`Apollo 13`,
/// `exit 46`), a year, or quoted words.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedSubject {
    /// The name as written; a quotation with its marks.
    pub text: String,
    parts: Vec<Part>,
    /// Whether the parts must follow one another. If not, each may occur anywhere.
    is_sequence: bool,
}

#[derive(Debug, Clone, PartialEq)]
enum Part {
    /// A word in lower case. Names are often misspelt, so that similar words match.
    Word(String),
    /// A single letter or a code such as `b2`, in lower case.
    Code(String),
    Number(f64),
}

/// A text in which names are looked for.
pub struct NamedText<'t> {
    tokens: Vec<Token<'t>>,
    numbers: Vec<Number>,
    /// The letters and digits, since text on screen is often read without spaces.
    letters: String,
}

impl<'t> NamedText<'t> {
    /// Splits a text into words and numbers.
    pub fn new(text: &'t str) -> Self {
        let tokens = tokens(text);
        let numbers = numbers(&tokens);
        Self { tokens, numbers, letters: letters_and_digits(text) }
    }
}

/// Nouns that a number follows as a name: `exit 46`.
const NUMBERED: &[&str] = &[
    "apollo", "bus", "chapter", "channel", "day", "episode", "exercise", "exit", "figure",
    "flight", "gate", "highway", "lap", "lesson", "level", "number", "page", "part", "platform",
    "question", "room", "round", "route", "season", "section", "slide", "step", "table", "track",
    "version",
];

/// Verbs that begin a request which is worded like a command.
const COMMANDS: &[&str] =
    &["describe", "explain", "find", "give", "go", "jump", "list", "show", "tell"];

/// Maximum number of words after `which` or `what` that describe the kind of answer: `Which Mexican
/// dish`.
const KIND_WORDS: usize = 3;

/// Finds what a question names. The first word is not a name, and neither is the kind of answer
/// that the question asks for: `Mexican` in `Which Mexican dish is a favourite?`. Returns nothing for
/// a text that is not a question.
pub fn named_subjects(question: &str) -> Vec<NamedSubject> {
    let all = tokens(question);
    let is_command = |word: &Token<'_>| COMMANDS.contains(&word.lower.as_str());
    if !is_question(question) && !all.first().is_some_and(is_command) {
        return Vec::new();
    }
    let quoted = quotations(question);
    let is_quoted = |at: usize| {
        quoted.iter().any(|(start, text)| (*start..start + text.len()).contains(&all[at].start))
    };
    let exempt = kinds_of_answer(&all);
    let numbers = numbers(&all);
    let is_name =
        |at: usize| at > 0 && !exempt.contains(&at) && !is_quoted(at) && is_capital_name(&all[at]);
    let mut found: Vec<NamedSubject> =
        quoted.iter().filter_map(|(_, text)| NamedSubject::quoted(text)).collect();
    if is_title_case(&all) {
        return found;
    }
    let mut at = 0;
    while at < all.len() {
        let is_numbered = NUMBERED.contains(&all[at].lower.as_str()) && !is_quoted(at);
        if !is_name(at) && !is_numbered {
            found.extend(year(&all[at]).filter(|_| !is_quoted(at)));
            at += 1;
            continue;
        }
        let mut end = at + 1;
        while end < all.len() && is_name(end) && is_adjacent(question, &all, end) {
            end += 1;
        }
        let number = numbers.iter().find(|number| number.first == end);
        let number = number.filter(|_| is_adjacent(question, &all, end));
        let letter = all.get(end).filter(|next| is_code(next) && is_adjacent(question, &all, end));
        let last = match (number, letter) {
            (Some(number), _) => number.last,
            (None, Some(_)) => end,
            (None, None) => end - 1,
        };
        let has_label = last >= end;
        if has_label || is_name(at) {
            let words = all[at..end].iter().map(|token| Part::Word(token.lower.clone()));
            let label = match number {
                Some(number) => Some(Part::Number(number.value)),
                None => letter.map(|letter| Part::Code(letter.lower.clone())),
            };
            let text = &question[all[at].start..all[last].start + all[last].text.len()];
            let owner = text.strip_suffix("'s").or_else(|| text.strip_suffix("’s"));
            found.push(NamedSubject {
                text: owner.unwrap_or(text).to_owned(),
                parts: words.chain(label).collect(),
                is_sequence: has_label,
            });
        }
        at = last + 1;
    }
    found
}

/// The texts in quotation marks, with their positions.
fn quotations(question: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut open: Option<usize> = None;
    for (at, c) in question.char_indices() {
        match (c, open) {
            ('“' | '"' | '«', None) => open = Some(at + c.len_utf8()),
            ('”' | '"' | '»', Some(start)) => {
                found.push((start, &question[start..at]));
                open = None;
            }
            _ => {}
        }
    }
    found
}

/// The indexes of the words that describe the kind of answer.
fn kinds_of_answer(all: &[Token<'_>]) -> Vec<usize> {
    let asks = |token: &Token<'_>| matches!(token.lower.as_str(), "which" | "what");
    let mut found = Vec::new();
    for (at, _) in all.iter().enumerate().filter(|(_, token)| asks(token)) {
        let after = (at + 1..all.len()).take(KIND_WORDS);
        found.extend(after.take_while(|at| !is_function_word(&all[*at].lower)));
    }
    found
}

fn is_capital_name(token: &Token<'_>) -> bool {
    let letters = token.text.chars().filter(|c| c.is_alphabetic()).count();
    let is_abbreviation = token.is_all_caps() && letters <= 2;
    let is_speaker = token.lower.strip_prefix('s').is_some_and(|n| n.parse::<u32>().is_ok());
    token.is_capitalised()
        && letters > 1
        && !is_abbreviation
        && !is_speaker
        && !is_function_word(&token.lower)
}

/// Whether a token is a single capital letter, or has letters and digits.
fn is_code(token: &Token<'_>) -> bool {
    let has = |is: fn(char) -> bool| token.text.chars().any(is);
    let is_letter = token.text.chars().count() == 1 && token.is_capitalised() && token.text != "I";
    is_letter || (has(char::is_alphabetic) && has(|c| c.is_ascii_digit()))
}

fn year(token: &Token<'_>) -> Option<NamedSubject> {
    let year = token.lower.parse::<u32>().ok().filter(|year| (1000..2100).contains(year))?;
    (token.text.len() == 4).then(|| NamedSubject {
        text: token.text.to_owned(),
        parts: vec![Part::Number(f64::from(year))],
        is_sequence: true,
    })
}

/// Whether only a space or a hyphen is between a token and the one before it.
fn is_adjacent(question: &str, all: &[Token<'_>], at: usize) -> bool {
    let before = &all[at - 1];
    let between = &question[before.start + before.text.len()..all[at].start];
    between.chars().all(|c| c.is_whitespace() || matches!(c, '-' | '&'))
}

/// Whether all words that carry meaning begin with a capital, so that capitals say nothing.
fn is_title_case(all: &[Token<'_>]) -> bool {
    const MIN_WORDS: usize = 4;
    let content: Vec<&Token<'_>> =
        all.iter().skip(1).filter(|token| !is_function_word(&token.lower)).collect();
    content.len() >= MIN_WORDS && content.iter().all(|token| token.is_capitalised())
}

impl NamedSubject {
    fn quoted(text: &str) -> Option<Self> {
        let words = tokens(text).into_iter().map(|token| Part::Word(token.lower));
        let parts: Vec<Part> = words.collect();
        (!parts.is_empty())
            .then(|| Self { text: format!("“{text}”"), parts, is_sequence: true })
    }

    /// Whether the name occurs in a text, perhaps with another spelling.
    pub fn occurs_in(&self, text: &NamedText<'_>) -> bool {
        const MIN_LETTERS: usize = 6;
        let is_words = self.parts.iter().all(|part| matches!(part, Part::Word(_)));
        let letters = letters_and_digits(&self.text);
        if is_words && letters.chars().count() >= MIN_LETTERS && text.letters.contains(&letters) {
            return true;
        }
        let starts = || 0..text.tokens.len();
        match self.is_sequence {
            true => starts().any(|at| follows(&self.parts, text, at)),
            false => self
                .parts
                .iter()
                .all(|part| starts().any(|at| follows(std::slice::from_ref(part), text, at))),
        }
    }
}

/// Whether the parts follow one another from a token on.
fn follows(parts: &[Part], text: &NamedText<'_>, at: usize) -> bool {
    let Some((part, rest)) = parts.split_first() else { return true };
    let Some(token) = text.tokens.get(at) else { return false };
    let next = match part {
        Part::Word(word) => {
            let joined = || {
                let next = text.tokens.get(at + 1)?;
                Some(format!("{}{}", token.lower, next.lower))
            };
            match () {
                () if is_similar(word, &token.lower) => Some(at + 1),
                () if joined().is_some_and(|joined| joined == *word) => Some(at + 2),
                () => None,
            }
        }
        Part::Code(code) => (token.lower == *code).then_some(at + 1),
        Part::Number(value) => {
            let number = text.numbers.iter().find(|number| number.first == at);
            number.filter(|number| number.value == *value).map(|number| number.last + 1)
        }
    };
    next.is_some_and(|next| follows(rest, text, next))
}

/// Whether a word may be another form or spelling of a name, as speech recognition and OCR write it.
fn is_similar(name: &str, word: &str) -> bool {
    const MISSPELT: [(usize, usize); 2] = [(5, 1), (8, 2)];
    const MIN_PREFIX: usize = 4;
    const MIN_CONSONANTS: usize = 3;
    if name == word || stem(name) == stem(word) {
        return true;
    }
    let length = name.chars().count();
    if length >= MISSPELT[0].0 && word.contains(name) {
        return true;
    }
    let allowed = MISSPELT.iter().rev().find(|(letters, _)| length >= *letters);
    if allowed.is_some_and(|(_, edits)| strsim::levenshtein(name, word) <= *edits) {
        return true;
    }
    // `German` and `Germany`, `Mexico` and `Mexican`
    let shared = name.chars().zip(word.chars()).take_while(|(a, b)| a == b).count();
    let longest = length.max(word.chars().count());
    if shared >= MIN_PREFIX && shared * 5 >= longest * 3 {
        return true;
    }
    let sound = consonants(name);
    sound.len() >= MIN_CONSONANTS && sound == consonants(word)
}

/// The consonants of a word by their sound: `Caitlin` and `Kaitlyn` have the same.
fn consonants(word: &str) -> String {
    let word = word.replace("ph", "f").replace("ck", "k").replace("th", "t");
    let mut sounds = String::new();
    for c in word.chars() {
        let sound = match c {
            'a' | 'e' | 'i' | 'o' | 'u' | 'y' | 'h' | 'w' | '\'' => continue,
            'c' | 'q' => 'k',
            'z' => 's',
            other => other,
        };
        if !sounds.ends_with(sound) {
            sounds.push(sound);
        }
    }
    sounds
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(question: &str) -> Vec<String> {
        named_subjects(question).into_iter().map(|subject| subject.text).collect()
    }

    #[test]
    fn questions_name_what_is_capitalised_numbered_or_quoted() {
        for (question, expected) in [
            ("When does Apollo 13 land?", &["Apollo 13"][..]),
            ("What does Neil Armstrong say about Widget K?", &["Neil Armstrong", "Widget K"]),
            ("Which sign is at exit 46?", &["exit 46"]),
            ("What happened in 1969 on the Moon?", &["1969", "Moon"]),
            ("When does the user type “fix my jupyter notebook”?", &["“fix my jupyter notebook”"]),
            ("Which Mexican dish does the speaker like?", &[]),
            ("In which US state do people drink iced coffee?", &[]),
            ("What colour T-shirt does S1 wear?", &[]),
            ("Why does he say that I should go?", &[]),
            ("What Is The Best Way To Learn Rust Fast?", &[]),
            ("Tell me what they say about Texas.", &["Texas"]),
            ("Texas weather", &[]),
            ("What does Rosa's neighbour say after 30 seconds?", &["Rosa"]),
            ("How many steps are in step two?", &["step two"]),
            ("", &[]),
        ] {
            assert_eq!(names(question), expected, "{question}");
        }
    }

    #[test]
    fn names_occur_in_other_spellings_but_not_with_other_numbers() {
        for (question, text, expected) in [
            ("When does Apollo 13 land?", "Apollo thirteen landed.", true),
            ("When does Apollo 13 land?", "Apollo 11 landed 13 hours later.", false),
            ("How are the sales of Widget K?", "Widget A; Widget C; k", false),
            ("How are the sales of Widget K?", "widget K 200", true),
            ("What does Roebling build?", "Robeling built a bridge", true),
            ("Who is Kaitlyn?", "This is Caitlin.", true),
            ("What is said about Texas?", "Here in Maine, yes.", false),
            ("What is said about Texas?", "a Texan hat", true),
            ("Who recommends GraphQL?", "a Graph QL server", true),
            ("Who recommends GraphQL?", "a REST API", false),
            ("Is the German flag shown?", "Germany", true),
            ("Who is Neil Smith?", "Neil Armstrong and John Smith", true),
            ("Who is Neil Smith?", "John Smith", false),
            ("Who says “fix my jupyter notebook”?", "fix my marimo notebook", false),
            ("Who says “fix my marimo notebook”?", "> Fix my marimo  notebook!", true),
            ("What happened in 1969?", "It was in 1968.", false),
            ("When was The Land Girls made?", "TheLandGirls 12Jun", true),
        ] {
            let text = NamedText::new(text);
            let occurs = named_subjects(question).iter().all(|subject| subject.occurs_in(&text));
            assert_eq!(occurs, expected, "{question}");
        }
    }
}
