//! Pages of long documents: a document is a sequence of units, and a page contains consecutive
//! units, each at its place in the document.

use serde_json::{Map, Value};

use super::budget::{TokenBudget, json_tokens};
use crate::http::views::HttpFailure;
use crate::http::views::{Unit, UnitSplitter};

/// Minimum number of units per page. Values that are too large for this are split into several
/// units.
const UNITS_PER_PAGE: usize = 8;

/// A part of a document, with the structure of the whole.
#[derive(Debug, PartialEq)]
pub(super) struct DocumentPage {
    /// The document, whose lists and objects contain only what is on this page.
    pub(super) document: Map<String, Value>,
    /// Position of the next page, if there is one.
    pub(super) next: Option<usize>,
    /// Number of units that are skipped on this page because they do not fit on any page.
    pub(super) skipped: usize,
}

/// Computes the number of tokens that a value takes up in the response.
pub(super) type TokenCost = fn(&Value) -> usize;

/// Returns the page of a document that starts at unit `from`.
pub(super) fn page(
    document: Map<String, Value>,
    from: usize,
    mut budget: TokenBudget,
    cost: TokenCost,
) -> DocumentPage {
    let page_tokens = budget.remaining();
    let split = UnitSplitter { max_cost: page_tokens / UNITS_PER_PAGE, cost };
    let document = Value::Object(document);
    let sizes: Vec<usize> = split.units(&document).iter().map(|unit| size(unit, cost)).collect();
    let mut kept = vec![false; sizes.len()];
    let (mut at, mut skipped) = (from.min(sizes.len()), 0);
    while at < sizes.len() {
        if sizes[at] > page_tokens {
            skipped += 1;
        } else if budget.take(sizes[at]) {
            kept[at] = true;
        } else {
            break;
        }
        at += 1;
    }
    let document = split.keep(&document, |unit| kept[unit]);
    DocumentPage { document, next: (at < sizes.len()).then_some(at), skipped }
}

/// Number of tokens in a unit and the field names around it.
fn size(unit: &Unit<'_>, cost: TokenCost) -> usize {
    let names: usize = unit.names.iter().map(|name| 2 * json_tokens(name) + 4).sum();
    cost(unit.value) + names + unit.lists
}

/// Returns the position that a cursor contains, or 0 if there is no cursor.
pub(super) fn position(cursor: Option<&str>) -> Result<usize, HttpFailure> {
    let Some(cursor) = cursor else { return Ok(0) };
    cursor.parse().map_err(|_| {
        let text: String = cursor.chars().take(60).filter(|c| !c.is_control()).collect();
        HttpFailure::unprocessable(format!(
            "cursor is '{text}'; it must be the `next` of the answer before"
        ))
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::mcp::budget::value_tokens;

    fn object(value: Value) -> Map<String, Value> {
        value.as_object().expect("an object").clone()
    }

    #[test]
    fn a_small_document_is_one_page() {
        let document = object(json!({"a": [1, 2, {"b": null}], "c": {}}));
        let page = page(document.clone(), 0, TokenBudget::new(1000), value_tokens);
        assert_eq!(page, DocumentPage { document, next: None, skipped: 0 });
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
            let page = page(document.clone(), from, TokenBudget::new(1300), value_tokens);
            assert!(value_tokens(&Value::Object(page.document.clone())) <= 1300);
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
    fn texts_larger_than_a_page_are_skipped() {
        let document = object(json!({"a": 1, "text": "x".repeat(9000), "z": 2}));
        let page = page(document, 0, TokenBudget::new(1300), value_tokens);
        assert_eq!(page.document, object(json!({"a": 1, "z": 2})));
        assert_eq!((page.next, page.skipped), (None, 1));
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
