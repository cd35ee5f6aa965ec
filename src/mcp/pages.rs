//! Long documents in pages: a document is a row of units, and a page is a run of them, each at its
//! place in the document.

use serde_json::{Map, Value};

use super::budget::{Budget, tokens};
use crate::http::views::Failure;

/// Share of a page that a unit takes at most; what is larger is several units.
const UNITS_PER_PAGE: usize = 8;

/// A part of a document, of its shape.
#[derive(Debug, PartialEq)]
pub(super) struct Page {
    /// Lists and objects hold only what is on this page.
    pub(super) document: Map<String, Value>,
    /// Where the next page begins.
    pub(super) next: Option<usize>,
    /// How many units are passed over here, since none of them fits any page: texts of many pages.
    pub(super) passed_over: usize,
}

/// What a value takes of an answer, tokens.
pub(super) type Cost = fn(&Value) -> usize;

/// The page of a document that begins with its unit `from`.
pub(super) fn page(
    document: Map<String, Value>,
    from: usize,
    mut budget: Budget,
    cost: Cost,
) -> Page {
    let whole = budget.left();
    let split = Split { largest: whole / UNITS_PER_PAGE, cost };
    let document = Value::Object(document);
    let mut sizes = Vec::new();
    split.measure(&document, 0, &mut sizes);
    let mut kept = vec![false; sizes.len()];
    let (mut at, mut passed_over) = (from.min(sizes.len()), 0);
    while at < sizes.len() {
        if sizes[at] > whole {
            passed_over += 1;
        } else if budget.take(sizes[at]) {
            kept[at] = true;
        } else {
            break;
        }
        at += 1;
    }
    let document = match split.prune(&document, &mut kept.iter()) {
        Some(Value::Object(document)) => document,
        _ => Map::new(),
    };
    Page { document, next: (at < sizes.len()).then_some(at), passed_over }
}

/// How a document falls into units.
struct Split {
    /// What a unit may take, tokens; a list or an object that takes more is several.
    largest: usize,
    cost: Cost,
}

impl Split {
    fn is_unit(&self, value: &Value) -> bool {
        let empty = match value {
            Value::Array(elements) => elements.is_empty(),
            Value::Object(fields) => fields.is_empty(),
            _ => true,
        };
        empty || (self.cost)(value) <= self.largest
    }

    /// The sizes of the units in order, tokens; `beside` is what the names around one take.
    fn measure(&self, value: &Value, beside: usize, sizes: &mut Vec<usize>) {
        match value {
            value if self.is_unit(value) => sizes.push((self.cost)(value) + beside),
            Value::Array(elements) => {
                for element in elements {
                    self.measure(element, beside + 1, sizes);
                }
            }
            Value::Object(fields) => {
                for (name, value) in fields {
                    self.measure(value, beside + 2 * tokens(name) + 4, sizes);
                }
            }
            _ => {}
        }
    }

    /// The value with the units alone that are kept; `kept` goes on behind it.
    fn prune<'k>(&self, value: &Value, kept: &mut impl Iterator<Item = &'k bool>) -> Option<Value> {
        match value {
            value if self.is_unit(value) => {
                kept.next().is_some_and(|kept| *kept).then(|| value.clone())
            }
            Value::Array(elements) => {
                let left: Vec<Value> =
                    elements.iter().filter_map(|element| self.prune(element, kept)).collect();
                (!left.is_empty()).then_some(Value::Array(left))
            }
            Value::Object(fields) => {
                let left: Map<String, Value> = fields
                    .iter()
                    .filter_map(|(name, value)| Some((name.clone(), self.prune(value, kept)?)))
                    .collect();
                (!left.is_empty()).then_some(Value::Object(left))
            }
            _ => None,
        }
    }
}

/// Where a page begins; the beginning without a cursor.
pub(super) fn position(cursor: Option<&str>) -> Result<usize, Failure> {
    let Some(cursor) = cursor else { return Ok(0) };
    cursor.parse().map_err(|_| {
        let given: String = cursor.chars().take(60).filter(|c| !c.is_control()).collect();
        Failure::unprocessable(format!(
            "cursor is '{given}'; it must be the `next` of the answer before"
        ))
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::mcp::budget::tokens_of;

    fn object(value: Value) -> Map<String, Value> {
        value.as_object().expect("an object").clone()
    }

    #[test]
    fn what_fits_is_one_page() {
        let document = object(json!({"a": [1, 2, {"b": null}], "c": {}}));
        let page = page(document.clone(), 0, Budget::new(1000), tokens_of);
        assert_eq!(page, Page { document, next: None, passed_over: 0 });
    }

    #[test]
    fn pages_together_are_the_document() {
        let scenes: Vec<Value> =
            (0..200).map(|n| json!({"n": n, "text": "what is seen".repeat(4)})).collect();
        let by_label: Map<String, Value> =
            (0..100).map(|n| (format!("label {n}"), json!([n, n + 1, "seen"]))).collect();
        let document = object(json!({"count": 200, "scenes": scenes, "by_label": by_label}));
        let (mut from, mut pages, mut seen, mut labels) = (0, 0, Vec::new(), Map::new());
        loop {
            let page = page(document.clone(), from, Budget::new(1300), tokens_of);
            assert!(tokens_of(&Value::Object(page.document.clone())) <= 1300);
            pages += 1;
            seen.extend(
                page.document.get("scenes").and_then(Value::as_array).cloned().unwrap_or_default(),
            );
            labels.extend(
                page.document
                    .get("by_label")
                    .and_then(Value::as_object)
                    .cloned()
                    .unwrap_or_default(),
            );
            match page.next {
                Some(next) => from = next,
                None => break,
            }
        }
        assert!(pages > 3);
        assert_eq!(json!(seen), document["scenes"]);
        assert_eq!(json!(labels), document["by_label"]);
    }

    #[test]
    fn a_text_that_no_page_holds_is_passed_over() {
        let document = object(json!({"a": 1, "text": "x".repeat(9000), "z": 2}));
        let page = page(document, 0, Budget::new(1300), tokens_of);
        assert_eq!(page.document, object(json!({"a": 1, "z": 2})));
        assert_eq!((page.next, page.passed_over), (None, 1));
    }

    #[test]
    fn a_cursor_is_a_position() {
        assert_eq!(position(None).expect("the beginning"), 0);
        assert_eq!(position(Some("12")).expect("a position"), 12);
        for bad in ["", "-1", "a", "1e3", "99999999999999999999999999"] {
            assert!(position(Some(bad)).is_err(), "{bad}");
        }
    }
}
