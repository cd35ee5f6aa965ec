//! Validates requests against the published schema of their type. Types and ranges are stated only
//! in that schema. Every error names the field, the given value and the accepted values.

use std::any::TypeId;
use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use parking_lot::RwLock;
use poem_openapi::registry::{MetaSchema, MetaSchemaRef, Registry};
use poem_openapi::types::Type;
use serde_json::{Map, Value};

use super::params::{FiniteNumber, excerpt};
use domain::kernel::names::suggest;

/// The schema of a type and the schemas that it refers to.
struct Schemas {
    root: MetaSchemaRef,
    registry: Registry,
}

impl Schemas {
    /// Returns the schemas of a type, which are cached after the first use.
    fn for_type<T: Type + 'static>() -> Arc<Self> {
        static CACHE: LazyLock<RwLock<HashMap<TypeId, Arc<Schemas>>>> =
            LazyLock::new(RwLock::default);
        let id = TypeId::of::<T>();
        if let Some(known) = CACHE.read().get(&id) {
            return known.clone();
        }
        let mut registry = Registry::new();
        T::register(&mut registry);
        let schemas = Arc::new(Self { root: T::schema_ref(), registry });
        CACHE.write().insert(id, schemas.clone());
        schemas
    }

    fn resolve<'s>(&'s self, reference: &'s MetaSchemaRef) -> &'s MetaSchema {
        static ANY: LazyLock<MetaSchema> = LazyLock::new(|| MetaSchema::ANY);
        match reference {
            MetaSchemaRef::Inline(schema) => schema,
            MetaSchemaRef::Reference(name) => self.registry.schemas.get(name).unwrap_or(&ANY),
        }
    }
}

/// Returns `value` in the form that `T` parses, or an error message. Rejects fields that the schema
/// does not have.
pub(crate) fn validate<T: Type + 'static>(value: Value) -> Result<Value, String> {
    let schemas = Schemas::for_type::<T>();
    check(&schemas, &schemas.root, "the body", value)
}

/// Converts the text fields of a form to a JSON object and validates it against the schema of `T`.
/// Numbers and JSON objects are parsed, and an empty field counts as absent.
pub(crate) fn validate_form<T: Type + 'static>(
    fields: impl IntoIterator<Item = (String, String)>,
) -> Result<Value, String> {
    let schemas = Schemas::for_type::<T>();
    let schema = schemas.resolve(&schemas.root);
    let mut object = Map::new();
    for (name, text) in fields {
        let Some((_, field)) = schema.properties.iter().find(|(known, _)| *known == name) else {
            return Err(unknown_name("field", &name, &field_names(schema)));
        };
        if text.is_empty() {
            continue;
        }
        let value = match schemas.resolve(field).ty {
            "number" | "integer" => {
                Value::from(FiniteNumber::parse(&text).map_err(|e| format!("{name} {e}"))?)
            }
            "object" => {
                serde_json::from_str(&text).ok().filter(Value::is_object).ok_or_else(|| {
                    format!("{name} is '{}'; it must be a JSON object", excerpt(&text))
                })?
            }
            _ => Value::from(text),
        };
        object.insert(name, value);
    }
    check(&schemas, &schemas.root, "the form", Value::Object(object))
}

/// Returns the error message for an unknown name. It lists the accepted names and suggests the most
/// similar one. Unknown names are rejected because ignoring a misspelled filter would silently
/// widen a request.
pub(crate) fn unknown_name(what: &str, name: &str, accepted: &[&str]) -> String {
    let name = excerpt(name);
    let suggestion = match suggest(&name, accepted) {
        Some(suggestion) => format!("did you mean '{suggestion}'? "),
        None => String::new(),
    };
    let accepted = if accepted.is_empty() { "none".into() } else { accepted.join(", ") };
    format!("unknown {what} '{name}'; {suggestion}accepted: {accepted}")
}

/// Returns the field names of an object schema.
pub(crate) fn field_names(schema: &MetaSchema) -> Vec<&'static str> {
    schema.properties.iter().map(|(name, _)| *name).collect()
}

fn check(
    schemas: &Schemas,
    reference: &MetaSchemaRef,
    name: &str,
    value: Value,
) -> Result<Value, String> {
    let schema = schemas.resolve(reference);
    let reject = |value: &Value| {
        Err(format!("{name} is {}; it must be {}", describe_value(value), describe_schema(schema)))
    };
    match (schema.ty, value) {
        (_, Value::Null) if schema.nullable => Ok(Value::Null),
        ("", value) => Ok(value),
        ("object", Value::Object(object)) => check_object(schemas, schema, object),
        ("array", Value::Array(values)) => {
            let Some(items) = &schema.items else { return Ok(Value::Array(values)) };
            let named = values.into_iter().enumerate();
            named
                .map(|(i, value)| check(schemas, items, &format!("{name}[{i}]"), value))
                .collect::<Result<_, _>>()
                .map(Value::Array)
        }
        ("string", Value::String(text)) => {
            let empty = schema.min_length.is_some_and(|min| min > 0) && text.trim().is_empty();
            if empty { reject(&Value::String(text)) } else { Ok(Value::String(text)) }
        }
        ("boolean", value @ Value::Bool(_)) => Ok(value),
        ("number", Value::Number(number)) => {
            match number.as_f64().filter(|n| n.is_finite() && in_range(schema, *n)) {
                Some(number) => Ok(Value::from(number)),
                None => reject(&Value::Number(number)),
            }
        }
        ("integer", value @ Value::Number(_)) => {
            let number = value.as_f64().filter(|n| n.fract() == 0.0 && in_range(schema, *n));
            match number {
                Some(number) => Ok(Value::from(number as i64)),
                None => reject(&value),
            }
        }
        (_, value) => reject(&value),
    }
}

/// Checks the fields of an object.
fn check_object(
    schemas: &Schemas,
    schema: &MetaSchema,
    mut object: Map<String, Value>,
) -> Result<Value, String> {
    let accepted_fields = field_names(schema);
    let open = accepted_fields.is_empty() || schema.additional_properties.is_some();
    let unknown = object.keys().find(|key| !accepted_fields.contains(&key.as_str()));
    if let Some(unknown) = unknown.filter(|_| !open) {
        return Err(unknown_name("field", unknown, &accepted_fields));
    }
    for (field, reference) in &schema.properties {
        match object.remove(*field) {
            Some(value) => {
                let value = check(schemas, reference, field, value)?;
                object.insert((*field).to_owned(), value);
            }
            None if schema.required.contains(field) => {
                let schema = describe_schema(schemas.resolve(reference));
                return Err(format!("{field} is missing; it must be {schema}"));
            }
            None => {}
        }
    }
    Ok(Value::Object(object))
}

fn in_range(schema: &MetaSchema, number: f64) -> bool {
    schema.minimum.is_none_or(|min| number >= min) && schema.maximum.is_none_or(|max| number <= max)
}

fn describe_value(value: &Value) -> String {
    match value {
        Value::Array(_) => "a list".into(),
        Value::Object(_) => "an object".into(),
        Value::String(text) if text.trim().is_empty() => "empty".into(),
        other => excerpt(&other.to_string()),
    }
}

fn describe_schema(schema: &MetaSchema) -> String {
    let mut text = match schema.ty {
        "object" => "an object".to_owned(),
        "array" => match schema.items.as_deref() {
            Some(MetaSchemaRef::Inline(items)) => format!("a list of {}s", items.ty),
            _ => "a list".to_owned(),
        },
        "string" if schema.min_length.is_some_and(|min| min > 0) => {
            "a string that is not empty".to_owned()
        }
        "string" => "a string".to_owned(),
        "boolean" => "true or false".to_owned(),
        "integer" => "an integer".to_owned(),
        _ => "a number".to_owned(),
    };
    match (schema.minimum, schema.maximum) {
        (Some(min), Some(max)) => text.push_str(&format!(" from {min} to {max}")),
        (Some(min), None) => text.push_str(&format!(" of at least {min}")),
        (None, Some(max)) => text.push_str(&format!(" of at most {max}")),
        (None, None) => {}
    }
    if schema.nullable {
        text.push_str(" or null");
    }
    text
}

#[cfg(test)]
mod tests {
    use poem_openapi::Object;
    use serde_json::json;

    use super::*;

    #[derive(Object)]
    #[oai(rename = "Probe")]
    struct ProbeBody {
        #[oai(validator(min_length = 1))]
        text: String,
        #[oai(nullable)]
        ids: Option<Vec<String>>,
        #[oai(default = "five", validator(minimum(value = "1"), maximum(value = "50")))]
        limit: u32,
        #[oai(nullable, validator(minimum(value = "0"), maximum(value = "1")))]
        threshold: Option<f64>,
    }

    fn five() -> u32 {
        5
    }

    #[test]
    fn errors_name_the_field_the_value_and_what_is_accepted() {
        for (value, expected) in [
            (json!([]), "the body is a list; it must be an object"),
            (json!(null), "the body is null; it must be an object"),
            (json!({}), "text is missing; it must be a string that is not empty"),
            (json!({"text": " "}), "text is empty; it must be a string that is not empty"),
            (json!({"text": 5}), "text is 5; it must be a string that is not empty"),
            (
                json!({"text": "a", "ids": "b"}),
                "ids is \"b\"; it must be a list of strings or null",
            ),
            (json!({"text": "a", "ids": [1]}), "ids[0] is 1; it must be a string"),
            (json!({"text": "a", "limit": 0}), "limit is 0; it must be an integer from 1 to 50"),
            (
                json!({"text": "a", "limit": 1.5}),
                "limit is 1.5; it must be an integer from 1 to 50",
            ),
            (
                json!({"text": "a", "limit": null}),
                "limit is null; it must be an integer from 1 to 50",
            ),
            (
                json!({"text": "a", "limit": "5"}),
                "limit is \"5\"; it must be an integer from 1 to 50",
            ),
            (
                json!({"text": "a", "threshold": true}),
                "threshold is true; it must be a number from 0 to 1 or null",
            ),
            (
                json!({"text": "a", "threshold": 7}),
                "threshold is 7; it must be a number from 0 to 1 or null",
            ),
        ] {
            assert_eq!(validate::<ProbeBody>(value.clone()).unwrap_err(), expected, "{value}");
        }
    }

    #[test]
    fn values_that_match_the_schema_pass() {
        for value in [
            json!({"text": "a"}),
            json!({"text": "a", "ids": null, "threshold": null, "limit": 5.0}),
            json!({"text": "a", "ids": [], "threshold": 1}),
        ] {
            assert!(validate::<ProbeBody>(value.clone()).is_ok(), "{value}");
        }
        assert_eq!(
            validate::<ProbeBody>(json!({"text": "a", "limit": 5.0})).unwrap()["limit"],
            json!(5)
        );
    }

    #[test]
    fn unknown_fields_are_rejected_with_a_suggestion() {
        for (value, expected) in [
            (
                json!({"text": "a", "id": ["b"]}),
                "unknown field 'id'; did you mean 'ids'? accepted: text, ids, limit, threshold",
            ),
            (
                json!({"txt": "a"}),
                "unknown field 'txt'; did you mean 'text'? accepted: text, ids, limit, threshold",
            ),
            (
                json!({"text": "a", "q": 1}),
                "unknown field 'q'; accepted: text, ids, limit, threshold",
            ),
        ] {
            assert_eq!(validate::<ProbeBody>(value.clone()).unwrap_err(), expected, "{value}");
        }
        assert_eq!(unknown_name("parameter", "x", &[]), "unknown parameter 'x'; accepted: none");
    }

    #[test]
    fn forms_are_checked_by_the_same_schema() {
        let fields = |pairs: &[(&str, &str)]| {
            pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect::<Vec<_>>()
        };
        let value = validate_form::<ProbeBody>(fields(&[("text", "5"), ("threshold", "0.5")]));
        assert_eq!(value.unwrap(), json!({"text": "5", "threshold": 0.5}));
        let value = validate_form::<ProbeBody>(fields(&[("text", "a"), ("threshold", "")]));
        assert_eq!(value.unwrap(), json!({"text": "a"}));
        let error =
            validate_form::<ProbeBody>(fields(&[("text", "a"), ("treshold", "")])).unwrap_err();
        assert!(error.contains("did you mean 'threshold'?"), "{error}");
        for text in ["abc", "nan", "inf", "1e999"] {
            let error = validate_form::<ProbeBody>(fields(&[("text", "a"), ("threshold", text)]));
            assert_eq!(error.unwrap_err(), format!("threshold is '{text}'; it must be a number"));
        }
    }
}
