//! JSON schemas of analyzer outputs and aggregates, for clients that read them.

use std::any::TypeId;
use std::collections::HashMap;
use std::sync::LazyLock;

use parking_lot::Mutex;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, Transform};
use schemars::{Schema, SchemaGenerator};
use serde_json::Value;

/// Generated schemas by type.
static SCHEMAS: LazyLock<Mutex<HashMap<TypeId, Value>>> = LazyLock::new(Mutex::default);

/// Returns a type's JSON schema with all subschemas inlined and without internal fields, whose
/// names begin with `_`.
pub fn json_schema<T: JsonSchema + 'static>() -> Value {
    let mut schemas = SCHEMAS.lock();
    schemas.entry(TypeId::of::<T>()).or_insert_with(generate::<T>).clone()
}

fn generate<T: JsonSchema>() -> Value {
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
    fn schemas_omit_internal_fields() {
        let start = json!({"description": "Seconds.", "type": "number", "format": "double"});
        let part = json!({"type": "object", "properties": {"start": start}, "required": ["start"]});
        let parts = json!({"type": "array", "items": part});
        let whole =
            json!({"type": "object", "properties": {"parts": parts}, "required": ["parts"]});
        assert_eq!(json_schema::<Whole>(), whole);
    }
}
