//! The JSON schemas of the contract's shapes, as tools declare them: those of the OpenAPI document,
//! said in the words of JSON Schema, with what they refer to within.

use std::sync::Arc;

use poem_openapi::registry::Registry;
use poem_openapi::types::Type;
use rmcp::model::JsonObject;
use serde_json::{Map, Value, json};

/// Where the document has its schemas, and where one that stands alone has them.
const DOCUMENT: &str = "#/components/schemas/";
const ALONE: &str = "#/$defs/";

/// The schema of an object that a tool takes or gives.
pub(super) fn schema_of<T: Type>() -> Arc<JsonObject> {
    let mut registry = Registry::new();
    T::register(&mut registry);
    let mut schemas: Map<String, Value> = registry
        .schemas
        .iter()
        .map(|(name, schema)| (name.clone(), translated(json!(schema))))
        .collect();
    let own = schemas.remove(&*T::name());
    let Some(Value::Object(mut schema)) = own else { return Arc::default() };
    let mut within = Map::new();
    take_what_is_named(&Value::Object(schema.clone()), &mut schemas, &mut within);
    if !within.is_empty() {
        schema.insert("$defs".into(), Value::Object(within));
    }
    Arc::new(schema)
}

/// Moves the schemas that one refers to, and those that they refer to.
fn take_what_is_named(
    schema: &Value,
    all: &mut Map<String, Value>,
    taken: &mut Map<String, Value>,
) {
    match schema {
        Value::Object(fields) => {
            for (key, value) in fields {
                let name = value.as_str().filter(|_| key == "$ref");
                let name = name.and_then(|target| target.strip_prefix(ALONE));
                if let Some((name, named)) = name.and_then(|name| all.remove_entry(name)) {
                    take_what_is_named(&named, all, taken);
                    taken.insert(name, named);
                }
                take_what_is_named(value, all, taken);
            }
        }
        Value::Array(schemas) => {
            schemas.iter().for_each(|schema| take_what_is_named(schema, all, taken));
        }
        _ => {}
    }
}

/// The schema of arguments, of which no other are taken than it names.
pub(super) fn arguments_of<T: Type>() -> Arc<JsonObject> {
    let mut schema = (*schema_of::<T>()).clone();
    schema.insert("additionalProperties".into(), false.into());
    Arc::new(schema)
}

/// A schema of the document in the words of JSON Schema.
fn translated(schema: Value) -> Value {
    match schema {
        Value::Object(mut schema) => {
            if let Some(Value::String(target)) = schema.get_mut("$ref") {
                *target = target.replace(DOCUMENT, ALONE);
            }
            let nullable = schema.remove("nullable") == Some(Value::Bool(true));
            schema.remove("discriminator");
            let schema: Map<String, Value> =
                schema.into_iter().map(|(key, value)| (key, translated(value))).collect();
            if nullable { or_null(schema) } else { Value::Object(schema) }
        }
        Value::Array(schemas) => schemas.into_iter().map(translated).collect(),
        other => other,
    }
}

/// What the schema allows, and null.
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
        let schema = Value::Object((*arguments_of::<Outer>()).clone());
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
