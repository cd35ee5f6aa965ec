//! Long documents in pages: a document is a row of units, and a page is a run of them, each at its
//! place in the document.

use serde_json::{Map, Value};

use super::budget::{Budget, tokens};
use crate::domain::kernel::units::{Split, Unit};
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
    let sizes: Vec<usize> = split.units(&document).iter().map(|unit| size(unit, cost)).collect();
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
    let document = split.keep(&document, |unit| kept[unit]);
    Page { document, next: (at < sizes.len()).then_some(at), passed_over }
}

/// What a unit takes with the names around it, tokens.
fn size(unit: &Unit<'_>, cost: Cost) -> usize {
    let names: usize = unit.names.iter().map(|name| 2 * tokens(name) + 4).sum();
    cost(unit.value) + names + unit.lists
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
