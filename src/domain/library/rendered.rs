//! Renders pages of stored outputs to JSON text.

use std::sync::Arc;

use serde_json::Value;

use crate::records::outputs::{OutputDocument, OutputDocuments};

/// A page of outputs as JSON text: one output or `None` per chunk.
pub(crate) type RenderedPage = Arc<[Option<Arc<str>>]>;

/// Memory that a chunk takes in addition to its text, in bytes.
const OVERHEAD: usize = 64;

/// Renders a page, with or without internal keys. *CPU-bound.*
pub(crate) fn render(documents: OutputDocuments, verbose: bool) -> RenderedPage {
    let text = |mut output: OutputDocument| {
        hide_same_as(&mut output);
        if !verbose {
            strip_internal(&mut output);
        }
        Arc::from(Value::Object(output).to_string())
    };
    documents.into_iter().map(|output| output.map(text)).collect()
}

/// Renames the key `same_as`, which earlier versions used, to the internal key `_same_as`.
fn hide_same_as(output: &mut OutputDocument) {
    if let Some(original) = output.shift_remove("same_as") {
        output.insert("_same_as".into(), original);
    }
}

/// Removes `locations` and keys that begin with `_`, at every depth.
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

/// Returns the memory that a page takes, in bytes.
pub(crate) fn size(page: &RenderedPage) -> usize {
    let text = |output: &Option<Arc<str>>| output.as_ref().map_or(0, |text| text.len());
    page.iter().map(|output| OVERHEAD + text(output)).sum()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn output(value: Value) -> OutputDocument {
        value.as_object().cloned().expect("an object")
    }

    #[test]
    fn internal_keys_are_removed_at_every_depth() {
        let stored = json!({"a": 1, "_frames": [1], "people": [{"person": "p1", "locations": [1], "_x": 2}]});
        let documents = vec![Some(output(stored.clone())), None];
        let rendered = render(documents.clone(), false);
        assert_eq!(rendered[0].as_deref(), Some(r#"{"a":1,"people":[{"person":"p1"}]}"#));
        assert_eq!(rendered[1], None);
        let all = render(documents, true);
        assert_eq!(all[0].as_deref(), Some(stored.to_string().as_str()));
    }
}
