//! Types for query and path parameters. They are stricter than the framework's, and their errors
//! name the given value and the accepted values.

use std::borrow::Cow;

use poem_openapi::registry::{MetaSchema, MetaSchemaRef};
use poem_openapi::types::{ParseError, ParseFromParameter, ParseResult, ToJSON, Type};
use serde_json::{Map, Value};

use super::conditional::expected_version;
use super::failure::HttpFailure;

/// A finite number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct FiniteNumber(pub(crate) f64);

/// An integer from `MIN` to `MAX`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Bounded<const MIN: u32, const MAX: u32>(pub(crate) u32);

/// `true` or `false` in any letter case, or `1` or `0`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Flag(pub(crate) bool);

/// An integer of any size and sign, clamped to the range of `i64`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Integer(pub(crate) i64);

/// A chunk id; the chunk need not exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ChunkIdParameter(pub(crate) i64);

/// The condition in `If-Match`: the version of the resource that a change is based on, or `None` if
/// any version meets the condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct IfMatch(pub(crate) Option<u64>);

/// Removes the text that the framework adds to the message of a parameter error.
pub(crate) fn unwrap_message(wrapped: &str) -> String {
    let message = wrapped.split_once("\": ").map_or(wrapped, |(_, message)| message);
    message.split_once(" (occurred while").map_or(message, |(message, _)| message).to_owned()
}

/// Returns a value as error messages quote it: at most 60 printable characters.
pub(crate) fn excerpt(value: &str) -> String {
    let mut text: String = value.chars().take(60).map(printable).collect();
    if value.chars().nth(60).is_some() {
        text.push('…');
    }
    text
}

fn printable(c: char) -> char {
    if c.is_control() { '\u{fffd}' } else { c }
}

impl FiniteNumber {
    pub(crate) fn parse(text: &str) -> Result<f64, String> {
        let numeric = text
            .bytes()
            .all(|b| b.is_ascii_digit() || matches!(b, b'+' | b'-' | b'.' | b'e' | b'E'));
        text.parse()
            .ok()
            .filter(|number: &f64| numeric && number.is_finite())
            .ok_or_else(|| format!("is '{}'; it must be a number", excerpt(text)))
    }
}

/// Parses an integer of any size. Values outside the range of `i64` are clamped, because they are
/// out of bounds or past the end of any list anyway.
fn integer(text: &str) -> Option<i64> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let beyond = if text.starts_with('-') { i64::MIN } else { i64::MAX };
    Some(text.parse().unwrap_or(beyond))
}

impl<const MIN: u32, const MAX: u32> Bounded<MIN, MAX> {
    fn parse(text: &str) -> Result<u32, String> {
        let value = integer(text).filter(|value| *value >= i64::from(MIN));
        match value.map(|value| u32::try_from(value).unwrap_or(u32::MAX)) {
            Some(value) if value <= MAX => Ok(value),
            _ => Err(format!("is '{}'; it must be {}", excerpt(text), Self::accepted())),
        }
    }

    fn accepted() -> String {
        match MAX {
            u32::MAX => format!("an integer of at least {MIN}"),
            _ => format!("an integer from {MIN} to {MAX}"),
        }
    }

    fn schema() -> MetaSchema {
        MetaSchema {
            minimum: Some(f64::from(MIN)),
            maximum: (MAX != u32::MAX).then_some(f64::from(MAX)),
            ..MetaSchema::new("integer")
        }
    }
}

impl Flag {
    fn parse(text: &str) -> Result<bool, String> {
        match text.to_ascii_lowercase().as_str() {
            "true" | "1" => Ok(true),
            "false" | "0" => Ok(false),
            _ => Err(format!("is '{}'; it must be true or false", excerpt(text))),
        }
    }
}

impl Integer {
    fn parse(text: &str) -> Result<i64, String> {
        integer(text).ok_or_else(|| format!("is '{}'; it must be an integer", excerpt(text)))
    }
}

impl ChunkIdParameter {
    fn parse(text: &str) -> Result<i64, String> {
        Integer::parse(text).map_err(|e| format!("chunk_id {e}"))
    }
}

impl IfMatch {
    /// A list of entity tags or `*`. Other values are accepted but match no version.
    const PATTERN: &str = r#"^(\*|(W/)?"[!#-~]*"(, *(W/)?"[!#-~]*")*)$"#;

    fn parse(text: &str) -> Result<Option<u64>, String> {
        Ok(expected_version(text))
    }
}

macro_rules! parameter {
    ($type:ty, [$($generics:tt)*], $inner:ty, $schema:expr) => {
        impl<$($generics)*> Type for $type {
            const IS_REQUIRED: bool = true;
            type RawValueType = $inner;
            type RawElementValueType = $inner;

            fn name() -> Cow<'static, str> {
                "parameter".into()
            }

            fn schema_ref() -> MetaSchemaRef {
                MetaSchemaRef::Inline(Box::new($schema))
            }

            fn as_raw_value(&self) -> Option<&$inner> {
                Some(&self.0)
            }

            fn raw_element_iter<'a>(&'a self) -> Box<dyn Iterator<Item = &'a $inner> + 'a> {
                Box::new(std::iter::once(&self.0))
            }
        }

        impl<$($generics)*> ParseFromParameter for $type {
            fn parse_from_parameter(value: &str) -> ParseResult<Self> {
                Self::parse(value).map(Self).map_err(ParseError::custom)
            }
        }

        impl<$($generics)*> ToJSON for $type {
            fn to_json(&self) -> Option<Value> {
                Some(Value::from(self.0))
            }
        }
    };
}

parameter!(FiniteNumber, [], f64, MetaSchema::new("number"));
parameter!(Flag, [], bool, MetaSchema::new("boolean"));
parameter!(Integer, [], i64, MetaSchema::new("integer"));
parameter!(
    ChunkIdParameter,
    [],
    i64,
    MetaSchema { minimum: Some(0.0), ..MetaSchema::new("integer") }
);
parameter!(
    IfMatch,
    [],
    Option<u64>,
    MetaSchema { pattern: Some(Self::PATTERN.into()), ..MetaSchema::new("string") }
);
parameter!(Bounded<MIN, MAX>, [const MIN: u32, const MAX: u32], u32, Self::schema());

/// Parses the value of the parameter `name`, which must be a JSON object.
pub(crate) fn json_object(name: &str, value: &str) -> Result<Map<String, Value>, HttpFailure> {
    serde_json::from_str(value).map_err(|_| {
        let value = excerpt(value);
        HttpFailure::unprocessable(format!("{name} is '{value}'; it must be a JSON object"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_finite_decimals() {
        for text in ["5", "0.5", "-1", "1e3", "+2"] {
            assert!(FiniteNumber::parse(text).is_ok(), "{text}");
        }
        for text in ["", "abc", "nan", "NaN", "inf", "-infinity", "1e999", "0x5", "5 ", "1,5"] {
            assert!(FiniteNumber::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn integers_keep_their_range() {
        for (text, expected) in [("1", Some(1)), ("500", Some(500)), ("0", None), ("501", None)] {
            assert_eq!(Bounded::<1, 500>::parse(text).ok(), expected, "{text}");
        }
        for text in ["", "-", "5.0", "1e2", "five", "99999999999999999999"] {
            assert!(Bounded::<1, 500>::parse(text).is_err(), "{text}");
        }
        for (text, expected) in [("99999999999999999999", i64::MAX), ("-1", -1), ("+7", 7)] {
            assert_eq!(ChunkIdParameter::parse(text), Ok(expected), "{text}");
        }
        assert_eq!(
            Bounded::<1, 50>::parse("51").unwrap_err(),
            "is '51'; it must be an integer from 1 to 50"
        );
    }

    #[test]
    fn framework_wrapping_is_stripped() {
        let error = Option::<Bounded<1, 50>>::parse_from_parameters(["0"]).unwrap_err();
        assert_eq!(
            unwrap_message(&error.into_message()),
            "is '0'; it must be an integer from 1 to 50"
        );
    }

    #[test]
    fn repeated_values_are_short_and_printable() {
        assert_eq!(excerpt("a\nb"), "a\u{fffd}b");
        assert_eq!(excerpt(&"x".repeat(100)).chars().count(), 61);
    }
}
