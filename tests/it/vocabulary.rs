//! Holds the vocabulary of identifiers: a reader searches for the field's words, so names that belong to no
//! field are refused, each with a word to use instead.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

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

/// Names that each module may give its own type. Associated types need no exception: they are not `pub`.
const SHARED_NAMES: &[&str] = &["Error", "Kind", "Result", "Settings"];

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

/// The words of an identifier in lower case: of `next_page` and of `NextPage`, `next` and `page`.
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

/// The part of the project in which a type name has one meaning: a package, a module of the domain, a folder
/// of the adapters, or a module of the service. `None` for tests, benchmarks and examples.
fn room(path: &Path) -> Option<String> {
    let parts: Vec<_> = path.iter().map(|part| part.to_string_lossy()).collect();
    let is_test = |part: &str| matches!(part, "tests" | "tests.rs" | "benches" | "examples");
    if parts.iter().any(|part| is_test(part)) {
        return None;
    }
    let parts: Vec<&str> = parts.iter().map(|part| part.trim_end_matches(".rs")).collect();
    let depth = match parts[..] {
        ["src", "domain", ..] | ["adapters", "src", ..] => 3,
        ["ports", ..] => 1,
        _ => 2,
    };
    Some(parts[..depth.min(parts.len())].join("/"))
}

/// The name of the type that a line declares with some `pub` visibility.
fn public_type(line: &str) -> Option<&str> {
    let declaration = line.trim_start().strip_prefix("pub")?;
    let declaration = match declaration.strip_prefix('(') {
        Some(scope) => scope.split_once(')')?.1,
        None => declaration,
    };
    let mut words = declaration.trim_start().split(|c: char| !c.is_alphanumeric() && c != '_');
    let keyword = words.by_ref().find(|word| *word != "unsafe")?;
    matches!(keyword, "struct" | "enum" | "trait" | "type" | "union").then(|| words.next())?
}

#[test]
fn public_type_names_are_read_from_declarations() {
    for (line, expected) in [
        ("pub struct Chunk {", Some("Chunk")),
        ("    pub(super) enum Fault<'a> {", Some("Fault")),
        ("pub(in super::super) unsafe trait Plain: Send {", Some("Plain")),
        ("pub type Output = Vec<u8>;", Some("Output")),
        ("pub(crate) struct Marker;", Some("Marker")),
        ("pub fn structure() {}", None),
        ("struct Private;", None),
        ("/// pub struct Commented", None),
    ] {
        assert_eq!(public_type(line), expected, "{line}");
    }
}

#[test]
fn a_public_type_name_has_one_meaning() {
    let sources = code();
    let mut declarations: BTreeMap<&str, BTreeMap<String, String>> = BTreeMap::new();
    for (path, text) in &sources {
        let Some(room) = room(path) else { continue };
        for (number, line) in text.lines().enumerate() {
            let Some(name) = public_type(line) else { continue };
            let place = format!("{}:{}", path.display(), number + 1);
            declarations.entry(name).or_default().entry(room.clone()).or_insert(place);
        }
    }
    assert!(declarations.len() > 500, "{} types", declarations.len());
    let mut duplicates = Vec::new();
    for (name, places) in &declarations {
        if places.len() > 1 && !SHARED_NAMES.contains(name) {
            let places: Vec<&str> = places.values().map(String::as_str).collect();
            duplicates.push(format!("`{name}`: {}", places.join(", ")));
        }
    }
    assert_none(duplicates, "type names that mean different things; rename all but one");
}
