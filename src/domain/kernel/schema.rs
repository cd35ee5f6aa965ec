//! JSON schemas of what analyzers and aggregators store, for clients that read it.

use std::any::TypeId;
use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, PoisonError};

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, Transform};
use schemars::{Schema, SchemaGenerator};
use serde_json::Value;

/// Schemas that were asked for: types do not change while the program runs.
static KNOWN: LazyLock<Mutex<HashMap<TypeId, Value>>> = LazyLock::new(Mutex::default);

/// The JSON schema of a type as clients see it, in one piece: without its internal fields, whose
/// names begin with `_`.
pub fn schema_of<T: JsonSchema + 'static>() -> Value {
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    known.entry(TypeId::of::<T>()).or_insert_with(make::<T>).clone()
}

fn make<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut schema = SchemaGenerator::new(settings).into_root_schema_for::<T>();
    RecursiveTransform(without_internal).transform(&mut schema);
    schema.to_value()
}

fn without_internal(schema: &mut Schema) {
    schema.remove("title");
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        properties.retain(|name, _| !name.starts_with('_'));
    }
    if let Some(Value::Array(required)) = schema.get_mut("required") {
        required.retain(|name| !matches!(name, Value::String(name) if name.starts_with('_')));
    }
}

#[cfg(test)]
mod tests {
    use serde::Serialize;
    use serde_json::json;

    use super::*;

    #[derive(Serialize, JsonSchema)]
    struct Part {
        _hidden: u32,
        /// Seconds.
        start: f64,
    }

    #[derive(Serialize, JsonSchema)]
    struct Whole {
        parts: Vec<Part>,
    }

    #[test]
    fn internal_fields_are_not_in_it() {
        let start = json!({"description": "Seconds.", "type": "number", "format": "double"});
        let part = json!({"type": "object", "properties": {"start": start}, "required": ["start"]});
        let parts = json!({"type": "array", "items": part});
        let whole =
            json!({"type": "object", "properties": {"parts": parts}, "required": ["parts"]});
        assert_eq!(schema_of::<Whole>(), whole);
    }
}
