//! JSON schemas of tools. They are the schemas of the OpenAPI document, converted to JSON Schema,
//! with the schemas that they refer to in `$defs`.

use std::sync::Arc;

use poem_openapi::registry::Registry;
use poem_openapi::types::Type;
use rmcp::model::JsonObject;
use serde_json::{Map, Value, json};

/// Prefixes of references in the OpenAPI document and in a standalone schema.
const COMPONENTS_PREFIX: &str = "#/components/schemas/";
const DEFS_PREFIX: &str = "#/$defs/";

/// The schema of a tool's output.
pub(super) fn output_schema<T: Type>() -> Arc<JsonObject> {
    let mut registry = Registry::new();
    T::register(&mut registry);
    let mut schemas: Map<String, Value> = registry
        .schemas
        .iter()
        .map(|(name, schema)| (name.clone(), to_json_schema(json!(schema))))
        .collect();
    let root = schemas.remove(&*T::name());
    let Some(Value::Object(mut schema)) = root else { return Arc::default() };
    let mut defs = Map::new();
    collect_references(&Value::Object(schema.clone()), &mut schemas, &mut defs);
    if !defs.is_empty() {
        schema.insert("$defs".into(), Value::Object(defs));
    }
    Arc::new(schema)
}

/// Moves the schemas that `schema` refers to, directly or indirectly, from `all` to `defs`.
fn collect_references(schema: &Value, all: &mut Map<String, Value>, defs: &mut Map<String, Value>) {
    match schema {
        Value::Object(fields) => {
            for (key, value) in fields {
                let name = value.as_str().filter(|_| key == "$ref");
                let name = name.and_then(|target| target.strip_prefix(DEFS_PREFIX));
                if let Some((name, named)) = name.and_then(|name| all.remove_entry(name)) {
                    collect_references(&named, all, defs);
                    defs.insert(name, named);
                }
                collect_references(value, all, defs);
            }
        }
        Value::Array(schemas) => {
            schemas.iter().for_each(|schema| collect_references(schema, all, defs));
        }
        _ => {}
    }
}

/// The schema of a tool's arguments, which forbids additional properties.
pub(super) fn input_schema<T: Type>() -> Arc<JsonObject> {
    let mut schema = (*output_schema::<T>()).clone();
    schema.insert("additionalProperties".into(), false.into());
    Arc::new(schema)
}

/// Converts an OpenAPI schema to JSON Schema.
fn to_json_schema(schema: Value) -> Value {
    match schema {
        Value::Object(mut schema) => {
            if let Some(Value::String(target)) = schema.get_mut("$ref") {
                *target = target.replace(COMPONENTS_PREFIX, DEFS_PREFIX);
            }
            let nullable = schema.remove("nullable") == Some(Value::Bool(true));
            schema.remove("discriminator");
            let schema: Map<String, Value> =
                schema.into_iter().map(|(key, value)| (key, to_json_schema(value))).collect();
            if nullable { or_null(schema) } else { Value::Object(schema) }
        }
        Value::Array(schemas) => schemas.into_iter().map(to_json_schema).collect(),
        other => other,
    }
}

/// Extends a schema to allow null.
fn or_null(mut schema: Map<String, Value>) -> Value {
    if let Some(choices) = schema.get_mut("enum").and_then(Value::as_array_mut) {
        choices.push(Value::Null);
    }
    match schema.get_mut("type") {
        Some(kind) => {
            *kind = json!([kind.take(), "null"]);
            Value::Object(schema)
        }
        None => json!({"anyOf": [schema, {"type": "null"}]}),
    }
}

#[cfg(test)]
mod tests {
    use poem_openapi::{Enum, Object};

    use super::*;

    #[derive(Enum)]
    #[oai(rename_all = "lowercase")]
    enum Colour {
        Red,
    }

    #[derive(Object)]
    struct Inner {
        colour: Colour,
    }

    #[derive(Object)]
    struct Flat {
        flat: bool,
    }

    #[derive(Object)]
    struct Outer {
        #[oai(flatten)]
        flat: Flat,
        /// Seconds.
        #[oai(validator(minimum(value = "0")))]
        t: f64,
        #[oai(nullable)]
        inner: Option<Inner>,
        #[oai(nullable)]
        name: Option<String>,
        list: Vec<Inner>,
    }

    #[test]
    fn a_schema_stands_alone_and_is_json_schema() {
        let schema = Value::Object((*input_schema::<Outer>()).clone());
        assert_eq!(schema["type"], "object");
        assert_eq!(schema["additionalProperties"], false);
        assert_eq!(schema["required"], json!(["flat", "t", "list"]));
        assert_eq!(schema["properties"]["t"]["description"], "Seconds.");
        assert_eq!(schema["properties"]["name"]["type"], json!(["string", "null"]));
        assert_eq!(schema["properties"]["list"]["items"]["$ref"], "#/$defs/Inner");
        assert_eq!(schema["properties"]["inner"]["anyOf"][1], json!({"type": "null"}));
        assert_eq!(schema["$defs"]["Colour"]["enum"], json!(["red"]));
        assert!(schema["$defs"]["Flat"].is_null(), "nothing refers to it");
        let text = schema.to_string();
        assert!(!text.contains("nullable") && !text.contains("components"), "{text}");
    }
}
