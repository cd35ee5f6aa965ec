//! The form of an extractor: what its JSON schema may be, and its fields.

use indexmap::IndexMap;
use ports::llm::{Field, FieldKind};
use ports::units::byte_size;
use serde::{Deserialize, Serialize};

use crate::domain::kernel::error::{Error, Result};
use crate::domain::kernel::names::listed;

/// The largest form.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ExtractorSettings {
    /// Most extractors that are defined at once.
    pub max: usize,
    /// Most fields of one.
    pub max_fields: usize,
    /// Most levels of objects and lists within each other.
    pub max_depth: usize,
    /// Most bytes of a schema, written as JSON.
    #[serde(with = "byte_size")]
    pub max_schema_bytes: usize,
    /// Most items of a list in one chunk.
    pub max_items: usize,
}

impl Default for ExtractorSettings {
    fn default() -> Self {
        Self { max: 50, max_fields: 50, max_depth: 4, max_schema_bytes: 16_384, max_items: 20 }
    }
}

/// A JSON schema, of the part of JSON Schema that a form needs. Every value may be null besides.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Form {
    /// Of what type its values are.
    #[serde(rename = "type")]
    pub kind: Kind,
    /// What it means: what a language model is told of it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// For people. Without effect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What an object has.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub properties: IndexMap<String, Form>,
    /// What a list has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub items: Option<Box<Form>>,
    /// Most items of a list; as many as are allowed where it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_items: Option<usize>,
    /// The strings that are accepted.
    #[serde(rename = "enum", default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<String>,
    /// What a string is, or that an object is a span of time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<Format>,
    /// The least number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub minimum: Option<f64>,
    /// The largest number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub maximum: Option<f64>,
    /// Without effect: what no chunk shows is null.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub required: Vec<String>,
    /// Without effect: there are no others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub additional_properties: Option<bool>,
}

/// The type of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Has properties, or is a span.
    Object,
    /// Has items.
    Array,
    /// Words.
    String,
    /// Any number.
    Number,
    /// A whole one.
    Integer,
    /// True or false.
    Boolean,
}

/// What a value is beyond its type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// A string that is an address of electronic mail.
    Email,
    /// A string that is a web address.
    Uri,
    /// A string that is a day, as `2026-11-22`.
    Date,
    /// A string that is a time of day, as `18:30`.
    Time,
    /// An object that is a span of the video, `{"start": 12.5, "end": 14.0}` in seconds.
    Span,
}

/// Longest name of a property.
const LONGEST_NAME: usize = 64;

impl Form {
    /// Reads and checks a schema. `Invalid` says what would be right.
    pub fn parse(schema: &str, limits: &ExtractorSettings) -> Result<Self> {
        if schema.len() > limits.max_schema_bytes {
            return Err(Error::Invalid(format!(
                "schema has {} bytes, of {} at most (extractors.max_schema_bytes)",
                schema.len(),
                limits.max_schema_bytes
            )));
        }
        let mut form: Self = serde_json::from_str(schema).map_err(|e| {
            Error::Invalid(format!(
                "schema: {e}; a form is made of objects with properties, arrays with items, \
                 strings (enum, format), numbers, integers and booleans, each written out where it \
                 stands: it cannot refer to itself or to others"
            ))
        })?;
        if form.kind != Kind::Object || form.properties.is_empty() {
            return Err(Error::Invalid(
                "schema must be of type object and have properties, the fields to fill in".into(),
            ));
        }
        form.check("schema", 1, limits)?;
        let fields = form.fields().len();
        if fields > limits.max_fields {
            return Err(Error::Invalid(format!(
                "schema has {fields} fields, of {} at most (extractors.max_fields)",
                limits.max_fields
            )));
        }
        Ok(form)
    }

    /// Whether it is a value rather than a list or an object of others.
    pub(super) fn is_leaf(&self) -> bool {
        self.format == Some(Format::Span) || !matches!(self.kind, Kind::Object | Kind::Array)
    }

    fn check(&mut self, at: &str, depth: usize, limits: &ExtractorSettings) -> Result<()> {
        let refuse = |what: &str| Err(Error::Invalid(format!("{at}: {what}")));
        if depth > limits.max_depth {
            return refuse(&format!(
                "objects and lists are nested more than {} deep (extractors.max_depth)",
                limits.max_depth
            ));
        }
        let fits = match self.format {
            None => true,
            Some(Format::Span) => self.kind == Kind::Object && self.properties.is_empty(),
            Some(_) => self.kind == Kind::String && self.options.is_empty(),
        };
        if !fits {
            return refuse(
                "format is email, uri, date or time of a string, or span of an object without \
                 properties",
            );
        }
        if !self.options.is_empty() && self.kind != Kind::String {
            return refuse("only a string has an enum");
        }
        if self.options.iter().any(|option| option.trim().is_empty()) {
            return refuse("enum has an empty string; what is not shown is null by itself");
        }
        if !matches!(self.kind, Kind::Number | Kind::Integer)
            && (self.minimum.is_some() || self.maximum.is_some())
        {
            return refuse("only a number has a minimum and a maximum");
        }
        if self.items.is_some() != (self.kind == Kind::Array) {
            return refuse("an array has items, and nothing else has");
        }
        let bare = self.properties.is_empty();
        if !bare && self.kind != Kind::Object
            || bare && self.kind == Kind::Object && !self.is_leaf()
        {
            return refuse("an object has properties, or the format span, and nothing else has");
        }
        if self.max_items.is_some_and(|most| most == 0 || most > limits.max_items) {
            return refuse(&format!(
                "maxItems is from 1 to {} (extractors.max_items)",
                limits.max_items
            ));
        }
        if let Some(items) = &mut self.items {
            self.max_items.get_or_insert(limits.max_items);
            items.check(&format!("{at}/items"), depth + 1, limits)?;
        }
        for (name, property) in &mut self.properties {
            let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
            let begins = name.starts_with(|c: char| c.is_ascii_alphabetic());
            if !begins || name.len() > LONGEST_NAME || !name.chars().all(plain) {
                return refuse(&format!(
                    "'{name}' is no name of a property: a letter, then letters, digits, '_' or '-', \
                     {LONGEST_NAME} at most"
                ));
            }
            property.check(&format!("{at}/properties/{name}"), depth + 1, limits)?;
        }
        Ok(())
    }

    /// Its fields, in order, each with the descriptions of all that it is part of.
    pub(super) fn fields(&self) -> Vec<Field> {
        let mut fields = Vec::new();
        self.enter_fields(String::new(), &[], &mut fields);
        fields
    }

    fn enter_fields(&self, path: String, about: &[&str], fields: &mut Vec<Field>) {
        let mut about = about.to_vec();
        about.extend(Some(self.description.trim()).filter(|text| !text.is_empty()));
        if self.is_leaf() {
            fields.push(Field { path, description: about.join(": "), kind: self.values() });
            return;
        }
        if let Some(items) = &self.items {
            items.enter_fields(format!("{path}/*"), &about, fields);
        }
        // What the whole form is about is not said of every field again.
        let about = if path.is_empty() { Vec::new() } else { about };
        for (name, property) in &self.properties {
            property.enter_fields(format!("{path}/{name}"), &about, fields);
        }
    }

    fn values(&self) -> FieldKind {
        match (self.kind, self.format) {
            (_, Some(Format::Email)) => FieldKind::Email,
            (_, Some(Format::Uri)) => FieldKind::Uri,
            (_, Some(Format::Date)) => FieldKind::Date,
            (_, Some(Format::Time)) => FieldKind::Time,
            (Kind::Object | Kind::Array, _) => FieldKind::Span,
            (Kind::String, _) if self.options.is_empty() => FieldKind::Text,
            (Kind::String, _) => FieldKind::OneOf(self.options.clone()),
            (Kind::Boolean, _) => FieldKind::Boolean,
            (Kind::Number | Kind::Integer, _) => FieldKind::Number {
                whole: self.kind == Kind::Integer,
                minimum: self.minimum,
                maximum: self.maximum,
            },
        }
    }
}

/// `Invalid` unless it can be the name of an extractor beside analyzers that are compiled in.
pub(crate) fn check_name(name: &str, is_built_in: bool) -> Result<()> {
    const LONGEST: usize = 40;
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    if name.len() > LONGEST
        || !name.starts_with(|c: char| c.is_ascii_lowercase())
        || !name.chars().all(plain)
    {
        return Err(Error::Invalid(format!(
            "'{name}' is no name of an extractor: a lower-case letter, then lower-case letters, digits \
             or '_', {LONGEST} at most"
        )));
    }
    if is_built_in {
        return Err(Error::Invalid(format!(
            "'{name}' is an analyzer of the service itself; take another name"
        )));
    }
    Ok(())
}

/// `NotFound`, with what there is.
pub(crate) fn unknown(name: &str, defined: &[&str]) -> Error {
    Error::NotFound(format!("unknown extractor '{name}'; defined: {}", listed(defined)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(schema: &str) -> Result<Form> {
        Form::parse(schema, &ExtractorSettings::default())
    }

    #[test]
    fn fields_are_the_leaves_with_what_they_are_part_of() {
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
        let told: Vec<_> =
            fields.iter().map(|f| (f.path.as_str(), f.description.as_str())).collect();
        let expected = [
            ("/score", "As 2:1"),
            ("/goals/*/minute", "Each goal: When"),
            ("/goals/*/moment", "Each goal"),
        ];
        assert_eq!(told, expected);
        assert_eq!(fields[2].kind, FieldKind::Span);
        let again = serde_json::to_string(&form).expect("JSON");
        assert_eq!(parsed(&again).expect("a form"), form);
    }

    #[test]
    fn what_is_no_form_is_told_what_would_be_right() {
        let deep = format!(
            "{}{{\"type\": \"string\"}}{}",
            r#"{"type": "object", "properties": {"a": "#.repeat(5),
            "}}".repeat(5)
        );
        let many: Vec<String> =
            (0..51).map(|n| format!(r#""a{n}": {{"type": "string"}}"#)).collect();
        let many = format!(r#"{{"type": "object", "properties": {{{}}}}}"#, many.join(","));
        let of = |inner: &str| format!(r#"{{"type": "object", "properties": {{"a": {inner}}}}}"#);
        for (schema, told) in [
            (r#"{"type": "string"}"#.to_owned(), "must be of type object"),
            (r#"{"type": "object"}"#.to_owned(), "have properties"),
            (of(r##"{"$ref": "#"}"##), "cannot refer to itself"),
            (of(r#"{"type": ["string", "null"]}"#), "schema: "),
            (of(r#"{"type": "array"}"#), "schema/properties/a: an array has items"),
            (
                of(r#"{"type": "array", "maxItems": 99, "items": {"type": "string"}}"#),
                "extractors.max_items",
            ),
            (of(r#"{"type": "object"}"#), "an object has properties"),
            (of(r#"{"type": "integer", "enum": ["1"]}"#), "only a string has an enum"),
            (of(r#"{"type": "string", "maximum": 1}"#), "only a number"),
            (of(r#"{"type": "string", "format": "span"}"#), "span of an object"),
            (r#"{"type": "object", "properties": {"a/b": {"type": "string"}}}"#.into(), "'a/b'"),
            (deep, "extractors.max_depth"),
            (many, "extractors.max_fields"),
            (
                of(&format!(r#"{{"type": "string", "description": "{}"}}"#, "x".repeat(20_000))),
                "extractors.max_schema_bytes",
            ),
        ] {
            let error = parsed(&schema).expect_err(&schema).to_string();
            assert!(error.contains(told), "{schema}: {error}");
        }
        for name in ["", "Menu", "1menu", "menu card", "menü"] {
            assert!(check_name(name, false).is_err(), "{name}");
        }
        assert!(check_name("menu_2", false).is_ok() && check_name("ocr", true).is_err());
    }
}
