//! Outputs as they are shown: JSON text, made once per page of stored outputs.

use std::sync::Arc;

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

/// What the text of a page takes, bytes.
pub(super) fn size(page: &ShownPage) -> usize {
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
    fn internal_keys_go_at_every_depth() {
        let found = json!({"a": 1, "_frames": [1], "people": [{"person": "p1", "locations": [1], "_x": 2}]});
        let documents = vec![Some(output(found.clone())), None];
        let shown = show(documents.clone(), false);
        assert_eq!(shown[0].as_deref(), Some(r#"{"a":1,"people":[{"person":"p1"}]}"#));
        assert_eq!(shown[1], None);
        let all = show(documents, true);
        assert_eq!(all[0].as_deref(), Some(found.to_string().as_str()));
    }
}
