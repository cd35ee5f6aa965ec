//! The form of an extractor: the supported subset of JSON Schema, its validation and its fields.

use indexmap::IndexMap;
use ports::llm::{Field, FieldKind};
use ports::units::byte_size;
use serde::{Deserialize, Serialize};

use crate::kernel::error::{Error, Result};
use crate::kernel::names::comma_separated;

/// Limits of extractors.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ExtractorSettings {
    /// Maximum number of extractors.
    pub max: usize,
    /// Maximum number of fields per extractor.
    pub max_fields: usize,
    /// Maximum nesting depth of objects and lists.
    pub max_depth: usize,
    /// Maximum size of a schema as JSON, in bytes.
    #[serde(with = "byte_size")]
    pub max_schema_bytes: usize,
    /// Maximum number of items in a list in one chunk.
    pub max_items: usize,
}

impl Default for ExtractorSettings {
    fn default() -> Self {
        Self { max: 50, max_fields: 50, max_depth: 4, max_schema_bytes: 16_384, max_items: 20 }
    }
}

/// A JSON schema, restricted to what a form needs. Every value may also be null.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct ExtractorForm {
    /// The type of its values.
    #[serde(rename = "type")]
    pub kind: ValueType,
    /// What the value means. This text is passed to the language model.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// A human-readable title; has no effect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The properties of an object.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub properties: IndexMap<String, ExtractorForm>,
    /// The items of a list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub items: Option<Box<ExtractorForm>>,
    /// Maximum number of items in a list; defaults to [`ExtractorSettings::max_items`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_items: Option<usize>,
    /// The accepted strings.
    #[serde(rename = "enum", default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<String>,
    /// The format of a string, or [`ValueFormat::Span`] for an object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<ValueFormat>,
    /// The minimum of a number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub minimum: Option<f64>,
    /// The maximum of a number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub maximum: Option<f64>,
    /// Has no effect: values without evidence are null.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub required: Vec<String>,
    /// Has no effect: only the declared properties are filled in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub additional_properties: Option<bool>,
}

/// The type of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ValueType {
    /// An object with properties, or a span.
    Object,
    /// A list of items.
    Array,
    /// Text.
    String,
    /// Any number.
    Number,
    /// An integer.
    Integer,
    /// True or false.
    Boolean,
}

/// The format of a value, in addition to its type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ValueFormat {
    /// A string that is an e-mail address.
    Email,
    /// A string that is a URL.
    Uri,
    /// A string that is a date, such as `2026-11-22`.
    Date,
    /// A string that is a time of day, such as `18:30`.
    Time,
    /// An object that is a span of the video, such as `{"start": 12.5, "end": 14.0}`, with times in
    /// seconds.
    Span,
}

/// Maximum length of a property name, in bytes.
const MAX_NAME_LEN: usize = 64;

impl ExtractorForm {
    /// Parses and validates a schema; an `Invalid` error states what is accepted.
    pub fn parse(schema: &str, limits: &ExtractorSettings) -> Result<Self> {
        if schema.len() > limits.max_schema_bytes {
            return Err(Error::Invalid(format!(
                "schema has {} bytes; the maximum is {} (extractors.max_schema_bytes)",
                schema.len(),
                limits.max_schema_bytes
            )));
        }
        let mut form: Self = serde_json::from_str(schema).map_err(|e| {
            Error::Invalid(format!(
                "schema: {e}; a form is made of objects with properties, arrays with items, \
                 strings (enum, format), numbers, integers and booleans, all defined inline: it \
                 cannot refer to itself or to other schemas"
            ))
        })?;
        if form.kind != ValueType::Object || form.properties.is_empty() {
            return Err(Error::Invalid(
                "schema must be of type object and have properties, the fields to fill in".into(),
            ));
        }
        form.validate("schema", 1, limits)?;
        let fields = form.fields().len();
        if fields > limits.max_fields {
            return Err(Error::Invalid(format!(
                "schema has {fields} fields; the maximum is {} (extractors.max_fields)",
                limits.max_fields
            )));
        }
        Ok(form)
    }

    /// Whether the form is a single value rather than a list or an object with properties.
    pub(super) fn is_leaf(&self) -> bool {
        self.format == Some(ValueFormat::Span)
            || !matches!(self.kind, ValueType::Object | ValueType::Array)
    }

    /// Validates this level and the levels below it. Sets `max_items` to its default if absent.
    fn validate(&mut self, path: &str, depth: usize, limits: &ExtractorSettings) -> Result<()> {
        let refuse = |reason: String| Error::Invalid(format!("{path}: {reason}"));
        if depth > limits.max_depth {
            return Err(refuse(format!(
                "objects and lists are nested more than {} deep (extractors.max_depth)",
                limits.max_depth
            )));
        }
        self.check_keywords().map_err(|reason| refuse(reason.to_owned()))?;
        if self.max_items.is_some_and(|max| max == 0 || max > limits.max_items) {
            return Err(refuse(format!(
                "maxItems must be from 1 to {} (extractors.max_items)",
                limits.max_items
            )));
        }
        if let Some(items) = &mut self.items {
            self.max_items.get_or_insert(limits.max_items);
            items.validate(&format!("{path}/items"), depth + 1, limits)?;
        }
        for (name, property) in &mut self.properties {
            if !is_property_name(name) {
                return Err(refuse(format!(
                    "'{name}' is not a valid property name: use a letter, then letters, digits, '_' \
                     or '-', at most {MAX_NAME_LEN} characters"
                )));
            }
            property.validate(&format!("{path}/properties/{name}"), depth + 1, limits)?;
        }
        Ok(())
    }

    /// Checks that the type allows the keywords at this level. The error states why it does not.
    fn check_keywords(&self) -> Result<(), &'static str> {
        let fits = match self.format {
            None => true,
            Some(ValueFormat::Span) => self.kind == ValueType::Object && self.properties.is_empty(),
            Some(_) => self.kind == ValueType::String && self.options.is_empty(),
        };
        if !fits {
            return Err(
                "format is email, uri, date or time for a string, or span for an object without \
                 properties",
            );
        }
        if !self.options.is_empty() && self.kind != ValueType::String {
            return Err("only a string can have an enum");
        }
        if self.options.iter().any(|option| option.trim().is_empty()) {
            return Err("enum contains an empty string; a missing value is null anyway");
        }
        if !matches!(self.kind, ValueType::Number | ValueType::Integer)
            && (self.minimum.is_some() || self.maximum.is_some())
        {
            return Err("only a number can have a minimum and a maximum");
        }
        if self.items.is_some() != (self.kind == ValueType::Array) {
            return Err("an array needs items, and nothing else can have them");
        }
        let bare = self.properties.is_empty();
        if !bare && self.kind != ValueType::Object
            || bare && self.kind == ValueType::Object && !self.is_leaf()
        {
            return Err(
                "an object needs properties or the format span, and nothing else can have them",
            );
        }
        Ok(())
    }

    /// The fields in order. The description of a field includes the descriptions of the lists and
    /// objects that enclose it.
    pub(super) fn fields(&self) -> Vec<Field> {
        let mut fields = Vec::new();
        self.collect_fields(String::new(), &[], &mut fields);
        fields
    }

    fn collect_fields(&self, path: String, context: &[&str], fields: &mut Vec<Field>) {
        let mut context = context.to_vec();
        context.extend(Some(self.description.trim()).filter(|text| !text.is_empty()));
        if self.is_leaf() {
            fields.push(Field { path, description: context.join(": "), kind: self.field_kind() });
            return;
        }
        if let Some(items) = &self.items {
            items.collect_fields(format!("{path}/*"), &context, fields);
        }
        // The description of the whole form is not repeated for every field.
        let context = if path.is_empty() { Vec::new() } else { context };
        for (name, property) in &self.properties {
            property.collect_fields(format!("{path}/{name}"), &context, fields);
        }
    }

    fn field_kind(&self) -> FieldKind {
        match (self.kind, self.format) {
            (_, Some(ValueFormat::Email)) => FieldKind::Email,
            (_, Some(ValueFormat::Uri)) => FieldKind::Uri,
            (_, Some(ValueFormat::Date)) => FieldKind::Date,
            (_, Some(ValueFormat::Time)) => FieldKind::Time,
            (ValueType::Object | ValueType::Array, _) => FieldKind::Span,
            (ValueType::String, _) if self.options.is_empty() => FieldKind::Text,
            (ValueType::String, _) => FieldKind::OneOf(self.options.clone()),
            (ValueType::Boolean, _) => FieldKind::Boolean,
            (ValueType::Number | ValueType::Integer, _) => FieldKind::Number {
                whole: self.kind == ValueType::Integer,
                minimum: self.minimum,
                maximum: self.maximum,
            },
        }
    }
}

/// Fails with `Invalid` unless `name` is a valid extractor name and no built-in analyzer has it.
pub(crate) fn check_name(name: &str, is_built_in: bool) -> Result<()> {
    const MAX_LEN: usize = 40;
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    if name.len() > MAX_LEN
        || !name.starts_with(|c: char| c.is_ascii_lowercase())
        || !name.chars().all(plain)
    {
        return Err(Error::Invalid(format!(
            "'{name}' is not a valid extractor name: use a lower-case letter, then lower-case letters, \
             digits or '_', at most {MAX_LEN} characters"
        )));
    }
    if is_built_in {
        return Err(Error::Invalid(format!(
            "'{name}' is a built-in analyzer; choose another name"
        )));
    }
    Ok(())
}

/// A `NotFound` error that lists the defined extractors.
pub(crate) fn unknown_extractor(name: &str, defined: &[&str]) -> Error {
    Error::NotFound(format!("unknown extractor '{name}'; defined: {}", comma_separated(defined)))
}

fn is_property_name(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.len() <= MAX_NAME_LEN
        && name.chars().all(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(schema: &str) -> Result<ExtractorForm> {
        ExtractorForm::parse(schema, &ExtractorSettings::default())
    }

    #[test]
    fn fields_are_the_leaves_with_inherited_descriptions() {
        let form = parsed(
            r#"{"type": "object", "description": "A match", "properties": {
                "score": {"type": "string", "description": "As 2:1"},
                "goals": {"type": "array", "description": "Each goal", "items": {
                    "type": "object", "properties": {
                        "minute": {"type": "integer", "minimum": 0, "description": "When"},
                        "moment": {"type": "object", "format": "span"}}}}}}"#,
        );
        let form = form.expect("a form");
        let fields = form.fields();
        let described: Vec<_> =
            fields.iter().map(|f| (f.path.as_str(), f.description.as_str())).collect();
        let expected = [
            ("/score", "As 2:1"),
            ("/goals/*/minute", "Each goal: When"),
            ("/goals/*/moment", "Each goal"),
        ];
        assert_eq!(described, expected);
        assert_eq!(fields[2].kind, FieldKind::Span);
        let again = serde_json::to_string(&form).expect("JSON");
        assert_eq!(parsed(&again).expect("a form"), form);
    }

    #[test]
    fn errors_of_invalid_schemas_state_what_is_accepted() {
        let deep = format!(
            "{}{{\"type\": \"string\"}}{}",
            r#"{"type": "object", "properties": {"a": "#.repeat(5),
            "}}".repeat(5)
        );
        let properties: Vec<String> =
            (0..51).map(|n| format!(r#""a{n}": {{"type": "string"}}"#)).collect();
        let large = format!(r#"{{"type": "object", "properties": {{{}}}}}"#, properties.join(","));
        let with_field =
            |inner: &str| format!(r#"{{"type": "object", "properties": {{"a": {inner}}}}}"#);
        for (schema, expected) in [
            (r#"{"type": "string"}"#.to_owned(), "must be of type object"),
            (r#"{"type": "object"}"#.to_owned(), "have properties"),
            (with_field(r##"{"$ref": "#"}"##), "cannot refer to itself"),
            (with_field(r#"{"type": ["string", "null"]}"#), "schema: "),
            (with_field(r#"{"type": "array"}"#), "schema/properties/a: an array needs items"),
            (
                with_field(r#"{"type": "array", "maxItems": 99, "items": {"type": "string"}}"#),
                "extractors.max_items",
            ),
            (with_field(r#"{"type": "object"}"#), "an object needs properties"),
            (with_field(r#"{"type": "integer", "enum": ["1"]}"#), "only a string can have an enum"),
            (with_field(r#"{"type": "string", "maximum": 1}"#), "only a number"),
            (with_field(r#"{"type": "string", "format": "span"}"#), "span for an object"),
            (r#"{"type": "object", "properties": {"a/b": {"type": "string"}}}"#.into(), "'a/b'"),
            (deep, "extractors.max_depth"),
            (large, "extractors.max_fields"),
            (
                with_field(&format!(
                    r#"{{"type": "string", "description": "{}"}}"#,
                    "x".repeat(20_000)
                )),
                "extractors.max_schema_bytes",
            ),
        ] {
            let error = parsed(&schema).expect_err(&schema).to_string();
            assert!(error.contains(expected), "{schema}: {error}");
        }
        for name in ["", "Menu", "1menu", "menu card", "menü"] {
            assert!(check_name(name, false).is_err(), "{name}");
        }
        assert!(check_name("menu_2", false).is_ok() && check_name("ocr", true).is_err());
    }
}
