//! Outputs as they are shown: JSON text, made once per page of stored outputs, of which those that
//! were last asked for are kept. Stored pages never change, so what is kept is never out of date.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;

use crate::domain::catalog::outputs::{OutputDocument, OutputDocuments};

/// One output or nothing per chunk, each as JSON text.
pub(super) type ShownPage = Arc<[Option<Arc<str>>]>;

/// What a chunk takes beside its text, bytes.
const OVERHEAD: usize = 64;

/// A page as it is shown, with internal keys or without. *Takes its time.*
pub(super) fn show(documents: OutputDocuments, verbose: bool) -> ShownPage {
    let text = |mut output: OutputDocument| {
        hide_repetition(&mut output);
        if !verbose {
            strip_internal(&mut output);
        }
        Arc::from(Value::Object(output).to_string())
    };
    documents.into_iter().map(|output| output.map(text)).collect()
}

/// Makes the name of the chunk that an output repeats internal: in documents of earlier versions it
/// is not.
fn hide_repetition(output: &mut OutputDocument) {
    if let Some(original) = output.shift_remove("same_as") {
        output.insert("_same_as".into(), original);
    }
}

/// Removes keys that begin with `_` and `locations`, at every depth.
pub(crate) fn strip_internal(output: &mut OutputDocument) {
    output.retain(|key, _| !key.starts_with('_') && key != "locations");
    output.values_mut().for_each(strip_nested);
}

fn strip_nested(value: &mut Value) {
    match value {
        Value::Object(object) => strip_internal(object),
        Value::Array(items) => items.iter_mut().for_each(strip_nested),
        _ => {}
    }
}

/// Pages that were last shown, as far as there is room.
pub(super) struct ShownPages {
    room: usize,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    pages: HashMap<(String, bool), KeptPage>,
    bytes: usize,
    uses: u64,
}

struct KeptPage {
    page: ShownPage,
    bytes: usize,
    last_used: u64,
}

impl ShownPages {
    /// None yet, and room for so many bytes.
    pub(super) fn new(room: usize) -> Self {
        Self { room, kept: Mutex::default() }
    }

    pub(super) fn get(&self, key: &str, verbose: bool) -> Option<ShownPage> {
        let kept = &mut *self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let page = kept.pages.get_mut(&(key.to_owned(), verbose))?;
        kept.uses += 1;
        page.last_used = kept.uses;
        Some(page.page.clone())
    }

    /// Keeps a page, in place of those that were not used for longest.
    pub(super) fn keep(&self, key: String, verbose: bool, page: ShownPage) {
        let text = |output: &Option<Arc<str>>| output.as_ref().map_or(0, |text| text.len());
        let bytes = key.len() + page.iter().map(|output| OVERHEAD + text(output)).sum::<usize>();
        if bytes > self.room {
            return;
        }
        let kept = &mut *self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.uses += 1;
        let page = KeptPage { page, bytes, last_used: kept.uses };
        kept.bytes += bytes;
        if let Some(before) = kept.pages.insert((key, verbose), page) {
            kept.bytes -= before.bytes;
        }
        while kept.bytes > self.room {
            let oldest = kept.pages.iter().min_by_key(|(_, page)| page.last_used);
            let Some(key) = oldest.map(|(key, _)| key.clone()) else { break };
            kept.bytes -= kept.pages.remove(&key).map_or(0, |page| page.bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn output(value: Value) -> OutputDocument {
        value.as_object().cloned().expect("an object")
    }

    #[test]
    fn internal_keys_go_at_every_depth() {
        let found = json!({"a": 1, "_frames": [1], "people": [{"person": "p1", "locations": [1], "_x": 2}]});
        let documents = vec![Some(output(found.clone())), None];
        let shown = show(documents.clone(), false);
        assert_eq!(shown[0].as_deref(), Some(r#"{"a":1,"people":[{"person":"p1"}]}"#));
        assert_eq!(shown[1], None);
        let all = show(documents, true);
        assert_eq!(all[0].as_deref(), Some(found.to_string().as_str()));
    }

    #[test]
    fn the_pages_that_were_last_used_are_kept() {
        let page = || show(vec![Some(output(json!({"text": "x".repeat(1000)})))], false);
        let pages = ShownPages::new(2500);
        pages.keep("a".into(), false, page());
        pages.keep("b".into(), false, page());
        assert!(pages.get("a", false).is_some() && pages.get("a", true).is_none());
        pages.keep("c".into(), false, page());
        let kept = ["a", "b", "c"].map(|key| pages.get(key, false).is_some());
        assert_eq!(kept, [true, false, true], "b was not used for longest");
        pages.keep("c".into(), false, page());
        assert!(pages.get("a", false).is_some(), "the same page is counted once");
        let none = ShownPages::new(0);
        none.keep("a".into(), false, page());
        assert!(none.get("a", false).is_none());
    }
}
