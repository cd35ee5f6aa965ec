//! Checks what clients send against the published schema of its type, so that the document is the
//! only place where types and ranges are stated and every refusal names the field, what was given
//! and what is accepted.

use std::any::TypeId;
use std::collections::HashMap;
use std::sync::{Arc, LazyLock, PoisonError, RwLock};

use poem_openapi::registry::{MetaSchema, MetaSchemaRef, Registry};
use poem_openapi::types::Type;
use serde_json::{Map, Value};

use super::params::{Number, shown};
use crate::domain::kernel::names::nearest;

/// The schema of a type, with those of what its fields hold.
struct Schemas {
    of_type: MetaSchemaRef,
    registry: Registry,
}

impl Schemas {
    /// Those of a type: made when it is first met, kept from then on.
    fn of<T: Type + 'static>() -> Arc<Self> {
        static KNOWN: LazyLock<RwLock<HashMap<TypeId, Arc<Schemas>>>> =
            LazyLock::new(RwLock::default);
        let id = TypeId::of::<T>();
        if let Some(known) = KNOWN.read().unwrap_or_else(PoisonError::into_inner).get(&id) {
            return known.clone();
        }
        let mut registry = Registry::new();
        T::register(&mut registry);
        let made = Arc::new(Self { of_type: T::schema_ref(), registry });
        KNOWN.write().unwrap_or_else(PoisonError::into_inner).insert(id, made.clone());
        made
    }

    fn resolve<'s>(&'s self, reference: &'s MetaSchemaRef) -> &'s MetaSchema {
        static ANY: LazyLock<MetaSchema> = LazyLock::new(|| MetaSchema::ANY);
        match reference {
            MetaSchemaRef::Inline(schema) => schema,
            MetaSchemaRef::Reference(name) => self.registry.schemas.get(name).unwrap_or(&ANY),
        }
    }
}

/// The value as `T` parses it, or what is wrong with it. Fields that the schema does not name are
/// refused.
pub(crate) fn conform<T: Type + 'static>(value: Value) -> Result<Value, String> {
    let schemas = Schemas::of::<T>();
    check(&schemas, &schemas.of_type, "the body", value)
}

/// Text fields of a form as the JSON object their schema describes: numbers are read as numbers,
/// and a field left empty counts as left out.
pub(super) fn from_text<T: Type + 'static>(
    fields: impl IntoIterator<Item = (String, String)>,
) -> Result<Value, String> {
    let schemas = Schemas::of::<T>();
    let schema = schemas.resolve(&schemas.of_type);
    let mut object = Map::new();
    for (name, text) in fields {
        let Some((_, field)) = schema.properties.iter().find(|(known, _)| *known == name) else {
            return Err(unknown("field", &name, &names(schema)));
        };
        if text.is_empty() {
            continue;
        }
        let value = match schemas.resolve(field).ty {
            "number" | "integer" => {
                Value::from(Number::read(&text).map_err(|e| format!("{name} {e}"))?)
            }
            "object" => serde_json::from_str(&text)
                .ok()
                .filter(Value::is_object)
                .ok_or_else(|| format!("{name} is '{}'; it must be a JSON object", shown(&text)))?,
            _ => Value::from(text),
        };
        object.insert(name, value);
    }
    check(&schemas, &schemas.of_type, "the form", Value::Object(object))
}

/// Names the accepted fields, and the one that a mistyped name is most like: passed over in
/// silence, it would widen what was asked for.
pub(crate) fn unknown(what: &str, name: &str, accepted: &[&str]) -> String {
    let name = shown(name);
    let meant = match nearest(&name, accepted) {
        Some(meant) => format!("did you mean '{meant}'? "),
        None => String::new(),
    };
    let accepted = if accepted.is_empty() { "none".into() } else { accepted.join(", ") };
    format!("unknown {what} '{name}'; {meant}accepted: {accepted}")
}

/// The fields that an object of this schema may have.
pub(super) fn names(schema: &MetaSchema) -> Vec<&'static str> {
    schema.properties.iter().map(|(name, _)| *name).collect()
}

fn check(
    schemas: &Schemas,
    reference: &MetaSchemaRef,
    name: &str,
    value: Value,
) -> Result<Value, String> {
    let schema = schemas.resolve(reference);
    let refuse =
        |value: &Value| Err(format!("{name} is {}; it must be {}", given(value), accepted(schema)));
    match (schema.ty, value) {
        (_, Value::Null) if schema.nullable => Ok(Value::Null),
        ("", value) => Ok(value),
        ("object", Value::Object(mut object)) => {
            let accepted_fields = names(schema);
            let open = accepted_fields.is_empty() || schema.additional_properties.is_some();
            let stranger = object.keys().find(|key| !accepted_fields.contains(&key.as_str()));
            if let Some(stranger) = stranger.filter(|_| !open) {
                return Err(unknown("field", stranger, &accepted_fields));
            }
            for (field, reference) in &schema.properties {
                match object.remove(*field) {
                    Some(value) => {
                        let value = check(schemas, reference, field, value)?;
                        object.insert((*field).to_owned(), value);
                    }
                    None if schema.required.contains(field) => {
                        let schema = accepted(schemas.resolve(reference));
                        return Err(format!("{field} is missing; it must be {schema}"));
                    }
                    None => {}
                }
            }
            Ok(Value::Object(object))
        }
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
            if empty { refuse(&Value::String(text)) } else { Ok(Value::String(text)) }
        }
        ("boolean", value @ Value::Bool(_)) => Ok(value),
        ("number", Value::Number(number)) => {
            match number.as_f64().filter(|n| n.is_finite() && within(schema, *n)) {
                Some(number) => Ok(Value::from(number)),
                None => refuse(&Value::Number(number)),
            }
        }
        ("integer", value @ Value::Number(_)) => {
            let number = value.as_f64().filter(|n| n.fract() == 0.0 && within(schema, *n));
            match number {
                Some(number) => Ok(Value::from(number as i64)),
                None => refuse(&value),
            }
        }
        (_, value) => refuse(&value),
    }
}

fn within(schema: &MetaSchema, number: f64) -> bool {
    schema.minimum.is_none_or(|min| number >= min) && schema.maximum.is_none_or(|max| number <= max)
}

fn given(value: &Value) -> String {
    match value {
        Value::Array(_) => "a list".into(),
        Value::Object(_) => "an object".into(),
        Value::String(text) if text.trim().is_empty() => "empty".into(),
        other => shown(&other.to_string()),
    }
}

fn accepted(schema: &MetaSchema) -> String {
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
    struct Probe {
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
    fn refusals_name_field_given_and_accepted() {
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
            assert_eq!(conform::<Probe>(value.clone()).unwrap_err(), expected, "{value}");
        }
    }

    #[test]
    fn what_the_schema_allows_passes() {
        for value in [
            json!({"text": "a"}),
            json!({"text": "a", "ids": null, "threshold": null, "limit": 5.0}),
            json!({"text": "a", "ids": [], "threshold": 1}),
        ] {
            assert!(conform::<Probe>(value.clone()).is_ok(), "{value}");
        }
        assert_eq!(
            conform::<Probe>(json!({"text": "a", "limit": 5.0})).unwrap()["limit"],
            json!(5)
        );
    }

    #[test]
    fn unknown_fields_are_refused_with_the_nearest_one() {
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
            assert_eq!(conform::<Probe>(value.clone()).unwrap_err(), expected, "{value}");
        }
        assert_eq!(unknown("parameter", "x", &[]), "unknown parameter 'x'; accepted: none");
    }

    #[test]
    fn forms_are_read_by_the_same_schema() {
        let fields = |pairs: &[(&str, &str)]| {
            pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect::<Vec<_>>()
        };
        let value = from_text::<Probe>(fields(&[("text", "5"), ("threshold", "0.5")]));
        assert_eq!(value.unwrap(), json!({"text": "5", "threshold": 0.5}));
        let value = from_text::<Probe>(fields(&[("text", "a"), ("threshold", "")]));
        assert_eq!(value.unwrap(), json!({"text": "a"}));
        let error = from_text::<Probe>(fields(&[("text", "a"), ("treshold", "")])).unwrap_err();
        assert!(error.contains("did you mean 'threshold'?"), "{error}");
        for text in ["abc", "nan", "inf", "1e999"] {
            let error = from_text::<Probe>(fields(&[("text", "a"), ("threshold", text)]));
            assert_eq!(error.unwrap_err(), format!("threshold is '{text}'; it must be a number"));
        }
    }
}
