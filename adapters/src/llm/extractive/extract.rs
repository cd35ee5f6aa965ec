//! Extracts field values by pattern matching. A value may be a named option, a number near the
//! field's words, text after the field's name and a colon, an address, a date, a time, or the
//! passage about the field. Values that require understanding are not extracted.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use ports::llm::{ExtractedValue, Extraction, Field, FieldKind, Passage, PassageKind};
use regex::Regex;
use text::numbers::numbers;
use text::{Quotations, Token, is_function_word, sentences, stem, tokens};

/// Maximum number of items in a list.
const MAX_ITEMS: usize = 50;

/// Finds the fields' values in the passages, in the order of the fields.
pub(super) fn find(passages: &[Passage], fields: &[Field]) -> Extraction {
    let lines = Line::from_passages(passages);
    let mut values = Vec::new();
    for field in fields {
        let found = find_values(field, &lines);
        match field.path.strip_suffix("/*") {
            Some(list) if !list.contains('*') => {
                let mut known = BTreeSet::new();
                let distinct = found.into_iter().filter(|(value, _)| known.insert(value.clone()));
                values.extend(distinct.take(MAX_ITEMS).enumerate().map(|(n, (value, passage))| {
                    ExtractedValue { field: format!("{list}/{n}"), value, passage }
                }));
            }
            // Pattern matching cannot determine which values belong to the same list item.
            _ if field.path.contains('*') => {}
            _ => values.extend(found.into_iter().next().map(|(value, passage)| ExtractedValue {
                field: field.path.clone(),
                value,
                passage,
            })),
        }
    }
    Extraction { values }
}

/// A sentence of speech or prose, or a line of on-screen text.
struct Line<'a> {
    passage: &'a Passage,
    text: &'a str,
    tokens: Vec<Token<'a>>,
}

impl<'a> Line<'a> {
    fn from_passages(passages: &'a [Passage]) -> Vec<Self> {
        let with_content = passages.iter().filter(|passage| passage.kind != PassageKind::Scene);
        let lines = with_content.flat_map(|passage| {
            let lines: Vec<&str> = match passage.kind {
                PassageKind::Screen | PassageKind::Row | PassageKind::Objects => {
                    passage.text.lines().collect()
                }
                _ => sentences(&passage.text, Quotations::Whole),
            };
            lines.into_iter().map(move |text| Self { passage, text, tokens: tokens(text) })
        });
        lines.collect()
    }

    /// Returns the text after the colon if the text before it consists of exactly the words in
    /// `name`.
    fn labelled(&self, name: &BTreeSet<String>) -> Option<&'a str> {
        let (label, value) = self.text.split_once(": ")?;
        let label: BTreeSet<String> = content(&tokens(label)).collect();
        (!label.is_empty() && label == *name && !value.trim().is_empty()).then(|| value.trim())
    }

    /// Returns how many of these word stems the line contains.
    fn count_shared(&self, words: &BTreeSet<String>) -> usize {
        words.iter().filter(|word| self.tokens.iter().any(|t| t.stem() == word.as_str())).count()
    }
}

/// Returns the stems of the content words in `tokens`.
fn content<'a>(tokens: &'a [Token<'_>]) -> impl Iterator<Item = String> + 'a {
    tokens.iter().filter(|t| !is_function_word(&t.lower)).map(|t| stem(&t.lower))
}

/// Returns the values found for a field, most likely first, each with its passage id.
fn find_values(field: &Field, lines: &[Line<'_>]) -> Vec<(String, String)> {
    let name = field.path.trim_end_matches("/*").rsplit('/').next().unwrap_or_default();
    let name = name.replace(['_', '-'], " ");
    let named: BTreeSet<String> = content(&tokens(&name)).collect();
    let mut about = named.clone();
    about.extend(content(&tokens(&field.description)));
    let collect = |find: &dyn Fn(&Line<'_>) -> Vec<String>| {
        let found = lines
            .iter()
            .flat_map(|line| find(line).into_iter().map(|value| (value, line.passage.id.clone())));
        found.collect::<Vec<_>>()
    };
    let matches = |pattern: &Regex| {
        collect(&|line| pattern.find_iter(line.text).map(|m| m.as_str().to_owned()).collect())
    };
    match &field.kind {
        FieldKind::Text => {
            collect(&|line| line.labelled(&named).map(str::to_owned).into_iter().collect())
        }
        FieldKind::Email => matches(&EMAIL),
        FieldKind::Uri => matches(&URI),
        FieldKind::Date => matches(&DATE),
        FieldKind::Time => matches(&TIME),
        FieldKind::OneOf(options) => collect(&|line| {
            let is_named = |option: &&String| is_named(option, &line.tokens);
            options.iter().filter(is_named).cloned().collect()
        }),
        FieldKind::Number { whole, minimum, maximum } => {
            let fits = |value: &f64| {
                (!*whole || value.fract() == 0.0)
                    && minimum.is_none_or(|min| *value >= min)
                    && maximum.is_none_or(|max| *value <= max)
            };
            let mut found: Vec<(usize, (String, String))> = Vec::new();
            for line in lines {
                let shared = line.count_shared(&about);
                if shared == 0 {
                    continue;
                }
                let values = numbers_near(&line.tokens, &about).into_iter().filter(fits);
                found.extend(
                    values.map(|value| (shared, (value.to_string(), line.passage.id.clone()))),
                );
            }
            found.sort_by_key(|(shared, _)| std::cmp::Reverse(*shared));
            found.into_iter().map(|(_, value)| value).collect()
        }
        FieldKind::Span => {
            let speaks = |line: &Line<'_>| 2 * line.count_shared(&about) >= about.len();
            let spans = lines.iter().filter(|line| !about.is_empty() && speaks(line));
            let span = |line: &Line<'_>| {
                let moment = line.passage.moment.as_ref()?;
                Some((format!("{}-{}", moment.start, moment.end), line.passage.id.clone()))
            };
            spans.filter_map(span).collect()
        }
        // Pattern matching cannot distinguish a statement from its negation.
        FieldKind::Boolean => Vec::new(),
    }
}

/// Returns whether an option occurs in a sentence, in any inflection.
fn is_named(option: &str, there: &[Token<'_>]) -> bool {
    let option = option.replace(['_', '-'], " ");
    let words = tokens(&option);
    !words.is_empty()
        && there.windows(words.len()).any(|window| {
            window.iter().zip(&words).all(|(a, b)| a.lower == b.lower || a.stem() == b.stem())
        })
}

/// Returns the numbers in a sentence. The number nearest to one of these words comes first.
fn numbers_near(there: &[Token<'_>], words: &BTreeSet<String>) -> Vec<f64> {
    let places: Vec<usize> =
        (0..there.len()).filter(|at| words.contains(there[*at].stem())).collect();
    let mut found = numbers(there);
    let distance = |at: usize| places.iter().map(|place| place.abs_diff(at)).min();
    found.sort_by_key(|number| distance(number.first).min(distance(number.last)));
    found.into_iter().map(|number| number.value).collect()
}

static EMAIL: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"\b[\w.+-]+@[\w-]+(?:\.[\w-]+)*\.[A-Za-z]{2,}\b"));
static URI: LazyLock<Regex> = LazyLock::new(|| pattern(r#"\bhttps?://[^\s<>"']+[^\s<>"'.,;:!?)]"#));
static DATE: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"\b\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])\b"));
static TIME: LazyLock<Regex> = LazyLock::new(|| pattern(r"\b(?:[01]?\d|2[0-3]):[0-5]\d\b"));

fn pattern(pattern: &str) -> Regex {
    Regex::new(pattern).expect("a pattern that compiles")
}

#[cfg(test)]
mod tests {
    use ports::llm::VideoSpan;

    use super::*;

    fn passages() -> Vec<Passage> {
        let passage = |id: &str, kind, start: f64, text: &str| Passage {
            moment: Some(VideoSpan { video_id: None, start, end: start + 2.0 }),
            ..Passage::new(id, kind, text)
        };
        vec![
            passage("t0", PassageKind::Screen, 1.0, "Dish: Fish soup"),
            passage(
                "t1",
                PassageKind::Screen,
                1.0,
                "Open 11:15, www and https://rosa.example/menu.",
            ),
            passage(
                "s0",
                PassageKind::Speech,
                4.0,
                "The soup costs 12 euros. It serves sixty guests.",
            ),
            passage(
                "s1",
                PassageKind::Speech,
                8.0,
                "Write to rosa@kitchen.example before 2026-12-01.",
            ),
            passage("o0", PassageKind::Objects, 0.0, "2 bowls"),
        ]
    }

    fn found(path: &str, description: &str, kind: FieldKind) -> Vec<(String, String, String)> {
        let field = Field { path: path.into(), description: description.into(), kind };
        let found = find(&passages(), &[field]).values;
        found.into_iter().map(|v| (v.field, v.value, v.passage)).collect()
    }

    fn one(path: &str, description: &str, kind: FieldKind) -> Option<(String, String)> {
        let mut found = found(path, description, kind);
        assert!(found.len() < 2, "{found:?}");
        found.pop().map(|(_, value, passage)| (value, passage))
    }

    #[test]
    fn each_kind_is_extracted_by_its_pattern() {
        let number = || FieldKind::Number { whole: true, minimum: None, maximum: None };
        let options = |options: &[&str]| {
            FieldKind::OneOf(options.iter().map(|option| (*option).to_owned()).collect())
        };
        for (path, description, kind, expected) in [
            ("/dish", "what is cooked", FieldKind::Text, Some(("Fish soup", "t0"))),
            ("/price", "what it costs, in euros", number(), Some(("12", "s0"))),
            ("/guests", "how many it serves", number(), Some(("60", "s0"))),
            ("/contact", "", FieldKind::Email, Some(("rosa@kitchen.example", "s1"))),
            ("/link", "", FieldKind::Uri, Some(("https://rosa.example/menu", "t1"))),
            ("/until", "", FieldKind::Date, Some(("2026-12-01", "s1"))),
            ("/opens", "", FieldKind::Time, Some(("11:15", "t1"))),
            ("/course", "", options(&["dessert", "soup"]), Some(("soup", "t0"))),
            ("/writing", "", FieldKind::Span, Some(("8-10", "s1"))),
            ("/price", "what the soup costs", FieldKind::Span, Some(("4-6", "s0"))),
            ("/good", "whether it is good", FieldKind::Boolean, None),
            ("/chef", "who cooks", FieldKind::Text, None),
            ("/year", "the year of the harvest", number(), None),
        ] {
            let expected = expected.map(|(value, id)| (value.to_owned(), id.to_owned()));
            assert_eq!(one(path, description, kind), expected, "{path}");
        }
    }

    #[test]
    fn bounds_and_lists_are_respected() {
        let bounded = FieldKind::Number { whole: true, minimum: Some(20.0), maximum: None };
        assert_eq!(one("/price", "soup", bounded), None);
        let options = FieldKind::OneOf(vec!["bowl".into(), "soup".into(), "pan".into()]);
        let numbered = |n: &str, value: &str, id: &str| (n.into(), value.into(), id.into());
        let expected = [numbered("/things/0", "soup", "t0"), numbered("/things/1", "bowl", "o0")];
        assert_eq!(found("/things/*", "", options), expected);
        assert!(found("/courses/*/dish", "", FieldKind::Text).is_empty());
    }
}
