//! Holds the vocabulary of identifiers: a reader searches for the field's words, so names that belong to no
//! field are refused, each with a word to use instead.

use std::path::PathBuf;

use super::tidy::{assert_none, code};

/// Words that no identifier contains, and what to use instead.
const DENIED: &[(&str, &str)] = &[
    ("told", "reported, returned, notified or a noun"),
    ("tells", "statements, describes or returns"),
    ("telling", "a stream, a sink or an event"),
    ("sought", "target or query"),
    ("besides", "exclude or other"),
    ("hears", "needs_speech or recognises"),
    ("sights", "tracks or detections"),
    ("looked", "checked, scrubbed or read"),
    ("lately", "recent, cached or TTL"),
];

/// Participles that are no name of a type.
const PARTICIPLES: &[&str] = &[
    "Asked", "Begun", "Cited", "Found", "Given", "Heard", "Held", "Kept", "Known", "Listed",
    "Looked", "Made", "Read", "Said", "Seen", "Sent", "Shown", "Sought", "Spent", "Taken", "Told",
    "Wanted", "Written",
];

/// A place in the sources.
struct Place<'a> {
    path: &'a PathBuf,
    line: usize,
    name: &'a str,
}

impl Place<'_> {
    fn with(&self, advice: &str) -> String {
        format!("{}:{}: `{}`: {advice}", self.path.display(), self.line, self.name)
    }
}

/// Calls `check` with each identifier outside comments and string literals, and with the one before it on the
/// line.
fn identifiers(mut check: impl FnMut(&Place<'_>, &str)) {
    for (path, text) in &code() {
        for (number, line) in text.lines().enumerate() {
            let mut previous = "";
            let line_code = line.split("//").next().unwrap_or_default();
            for unquoted in line_code.split('"').step_by(2) {
                let words = unquoted.split(|c: char| !c.is_alphanumeric() && c != '_');
                for name in words.filter(|word| !word.is_empty()) {
                    check(&Place { path, line: number + 1, name }, previous);
                    previous = name;
                }
            }
        }
    }
}

/// The words of an identifier in lower case: of `told_by` and of `ToldBy`, `told` and `by`.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    for c in name.chars() {
        if c == '_' || c.is_uppercase() {
            words.push(String::new());
        }
        if c != '_' {
            words.last_mut().expect("a word").extend(c.to_lowercase());
        }
    }
    words
}

#[test]
fn identifiers_use_the_words_of_the_field() {
    let mut denied = Vec::new();
    identifiers(|place, _| {
        let words = words(place.name);
        for (word, advice) in DENIED {
            if words.iter().any(|w| w == word) {
                denied.push(place.with(&format!("use {advice}")));
            }
        }
    });
    assert_none(denied, "names that nobody would search for");
}

#[test]
fn no_function_is_named_of() {
    let mut denied = Vec::new();
    identifiers(|place, previous| {
        if previous == "fn" && (place.name == "of" || place.name.starts_with("of_")) {
            denied.push(place.with("use new, parse, from_… or for_…"));
        }
    });
    assert_none(denied, "functions named after a preposition");
}

#[test]
fn no_type_is_a_bare_participle() {
    let mut denied = Vec::new();
    identifiers(|place, previous| {
        let declares = matches!(previous, "struct" | "enum" | "trait" | "type");
        if declares && PARTICIPLES.contains(&place.name) {
            denied.push(place.with("name the thing, such as SearchPage or ScoredPoint"));
        }
    });
    assert_none(denied, "types named after a participle");
}
