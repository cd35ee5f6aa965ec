//! Wire types that the derive macros cannot express: ordered maps and arbitrary JSON objects.

use std::borrow::Cow;

use poem_openapi::registry::{MetaSchema, MetaSchemaRef, Registry};
use poem_openapi::types::{ParseError, ParseFromJSON, ParseResult, ToJSON, Type};
use serde_json::{Map, Value};

/// Returns the shortest decimal that parses to the same number.
pub(crate) fn shortest(number: f32) -> f64 {
    number.to_string().parse().unwrap_or_default()
}

/// An object whose keys are data, such as ids, in a meaningful order.
#[derive(Debug, Clone, Default)]
pub(crate) struct OrderedMap<T>(pub(crate) Vec<(String, T)>);

/// An object with arbitrary fields.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct AnyObject(pub(crate) Map<String, Value>);

impl AnyObject {
    /// Converts a JSON object; any other value becomes an empty object.
    pub(crate) fn from_value(value: Value) -> Self {
        match value {
            Value::Object(map) => Self(map),
            _ => Self::default(),
        }
    }
}

impl<T: Type> Type for OrderedMap<T> {
    const IS_REQUIRED: bool = true;
    type RawValueType = Self;
    type RawElementValueType = Self;

    fn name() -> Cow<'static, str> {
        format!("map_{}", T::name()).into()
    }

    fn schema_ref() -> MetaSchemaRef {
        MetaSchemaRef::Inline(Box::new(MetaSchema {
            additional_properties: Some(Box::new(T::schema_ref())),
            ..MetaSchema::new("object")
        }))
    }

    fn register(registry: &mut Registry) {
        T::register(registry);
    }

    fn as_raw_value(&self) -> Option<&Self> {
        Some(self)
    }

    fn raw_element_iter<'a>(&'a self) -> Box<dyn Iterator<Item = &'a Self> + 'a> {
        Box::new(std::iter::empty())
    }
}

impl<T: ToJSON> ToJSON for OrderedMap<T> {
    fn to_json(&self) -> Option<Value> {
        let entries = self.0.iter().map(|(k, v)| (k.clone(), v.to_json().unwrap_or_default()));
        Some(Value::Object(entries.collect()))
    }
}

impl<T: ParseFromJSON> ParseFromJSON for OrderedMap<T> {
    fn parse_from_json(value: Option<Value>) -> ParseResult<Self> {
        let Some(Value::Object(map)) = value else {
            return Err(ParseError::expected_type(value.unwrap_or_default()));
        };
        let entry = |(key, value)| Ok((key, T::parse_from_json(Some(value))?));
        let entries: Result<_, ParseError<T>> = map.into_iter().map(entry).collect();
        entries.map(Self).map_err(ParseError::propagate)
    }
}

impl Type for AnyObject {
    const IS_REQUIRED: bool = true;
    type RawValueType = Self;
    type RawElementValueType = Self;

    fn name() -> Cow<'static, str> {
        "object".into()
    }

    fn schema_ref() -> MetaSchemaRef {
        MetaSchemaRef::Inline(Box::new(MetaSchema::new("object")))
    }

    fn as_raw_value(&self) -> Option<&Self> {
        Some(self)
    }

    fn raw_element_iter<'a>(&'a self) -> Box<dyn Iterator<Item = &'a Self> + 'a> {
        Box::new(std::iter::empty())
    }
}

impl ToJSON for AnyObject {
    fn to_json(&self) -> Option<Value> {
        Some(Value::Object(self.0.clone()))
    }
}

impl ParseFromJSON for AnyObject {
    fn parse_from_json(value: Option<Value>) -> ParseResult<Self> {
        match value {
            Some(Value::Object(map)) => Ok(Self(map)),
            other => Err(ParseError::expected_type(other.unwrap_or_default())),
        }
    }
}
