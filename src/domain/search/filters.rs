//! The filters of `/query`. The list is what `/schema` shows, what requests are checked against and
//! what nearest-match suggestions are drawn from.

use ports::index::{Filter, Predicate};
use serde_json::{Map, Value};

use crate::domain::analysis::{Analyzer, AnalyzerSpec};
use crate::domain::kernel::error::{Error, Result};
use crate::domain::kernel::names::{listed, nearest};

/// The type of a filter's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Strings,
    Integers,
    Text,
    Integer,
    Number,
}

/// How a filter compares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Matches {
    Any,
    Exact,
    AtLeast,
    AtMost,
}

/// One filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spec {
    name: &'static str,
    kind: Kind,
    matches: Matches,
    field: &'static str,
}

const fn spec(name: &'static str, kind: Kind, matches: Matches, field: &'static str) -> Spec {
    Spec { name, kind, matches, field }
}

/// Every filter.
pub const FILTERS: &[Spec] = &[
    spec("video_ids", Kind::Strings, Matches::Any, "video_id"),
    spec("chunk_ids", Kind::Integers, Matches::Any, "chunk_id"),
    spec("analyzer_ids", Kind::Strings, Matches::Any, "analyzer_id"),
    spec("chunk_config", Kind::Text, Matches::Exact, "chunk_config"),
    spec("objects", Kind::Strings, Matches::Any, "objects"),
    spec("tags", Kind::Strings, Matches::Any, "tags"),
    spec("speakers", Kind::Strings, Matches::Any, "speakers"),
    spec("people", Kind::Strings, Matches::Any, "people"),
    spec("min_people", Kind::Integer, Matches::AtLeast, "people_count"),
    spec("max_people", Kind::Integer, Matches::AtMost, "people_count"),
    spec("after", Kind::Number, Matches::AtLeast, "start"),
    spec("before", Kind::Number, Matches::AtMost, "end"),
];

/// One filter of `/query`.
#[derive(Debug, Clone, PartialEq)]
pub struct FilterSpec {
    /// Name in the `filters` object.
    pub name: String,
    /// `list[str]`, `list[int]`, `str`, `int` or `float`.
    pub kind: String,
    /// `any`, `exact`, `gte` or `lte`.
    pub matches: String,
    /// Payload field it is compared with.
    pub payload_field: String,
    /// The analyzers whose output it is about; empty where it is about every chunk.
    pub analyzers: Vec<String>,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Strings => "list[str]",
            Self::Integers => "list[int]",
            Self::Text => "str",
            Self::Integer => "int",
            Self::Number => "float",
        }
    }
}

impl Spec {
    /// As `/schema` shows it, in an install of these analyzers.
    pub fn describe(&self, analyzers: &[&'static dyn Analyzer]) -> FilterSpec {
        let matches = match self.matches {
            Matches::Any => "any",
            Matches::Exact => "exact",
            Matches::AtLeast => "gte",
            Matches::AtMost => "lte",
        };
        FilterSpec {
            name: self.name.into(),
            kind: self.kind.name().into(),
            matches: matches.into(),
            payload_field: self.field.into(),
            analyzers: self.of(analyzers).map(|spec| spec.id.to_owned()).collect(),
        }
    }

    /// The analyzers whose points have its field.
    fn of(
        &self,
        analyzers: &[&'static dyn Analyzer],
    ) -> impl Iterator<Item = &'static AnalyzerSpec> {
        let specs = analyzers.iter().map(|analyzer| analyzer.spec());
        specs.filter(|spec| spec.filtered_by.contains(&self.field))
    }

    fn test(&self, value: &Value) -> Result<Predicate> {
        let wrong = || {
            Error::Unprocessable(format!(
                "filter '{}' is {value}; it must be {}",
                self.name,
                self.kind.name()
            ))
        };
        let test = match self.kind {
            Kind::Strings => {
                let items = value.as_array().ok_or_else(wrong)?.iter();
                let strings = items.map(|v| v.as_str().map(str::to_owned)).collect::<Option<_>>();
                Predicate::AnyKeyword(strings.ok_or_else(wrong)?)
            }
            Kind::Integers => {
                let items = value.as_array().ok_or_else(wrong)?.iter();
                Predicate::AnyInteger(
                    items.map(Value::as_i64).collect::<Option<_>>().ok_or_else(wrong)?,
                )
            }
            Kind::Text => Predicate::AnyKeyword(vec![value.as_str().ok_or_else(wrong)?.to_owned()]),
            Kind::Integer | Kind::Number => {
                let number = match self.kind {
                    Kind::Integer => value.as_i64().map(|n| n as f64),
                    _ => value.as_f64(),
                };
                let number = number.filter(|n| n.is_finite()).ok_or_else(wrong)?;
                if self.matches == Matches::AtLeast {
                    Predicate::AtLeast(number)
                } else {
                    Predicate::AtMost(number)
                }
            }
        };
        Ok(test)
    }
}

/// The index filter that a request's `filters` object means.
pub fn parse(filters: &Map<String, Value>) -> Result<Filter> {
    let mut filter = Filter::default();
    for (name, value) in filters {
        let spec = FILTERS.iter().find(|spec| spec.name == name).ok_or_else(|| unknown(name))?;
        filter = filter.and(spec.field, spec.test(value)?);
    }
    Ok(filter)
}

fn unknown(name: &str) -> Error {
    let names: Vec<&str> = FILTERS.iter().map(|spec| spec.name).collect();
    let nearest = nearest(name, &names)
        .map(|nearest| format!("did you mean '{nearest}'? "))
        .unwrap_or_default();
    Error::Invalid(format!("unknown filter '{name}'; {nearest}available: {}", listed(&names)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn parsed(filters: Value) -> Result<Filter> {
        parse(filters.as_object().expect("an object"))
    }

    #[test]
    fn each_filter_becomes_its_condition() {
        for (filters, field, test) in [
            (json!({"objects": ["car"]}), "objects", Predicate::AnyKeyword(vec!["car".into()])),
            (json!({"chunk_ids": [1, 2]}), "chunk_id", Predicate::AnyInteger(vec![1, 2])),
            (json!({"chunk_config": "a"}), "chunk_config", Predicate::AnyKeyword(vec!["a".into()])),
            (json!({"min_people": 2}), "people_count", Predicate::AtLeast(2.0)),
            (json!({"max_people": 2}), "people_count", Predicate::AtMost(2.0)),
            (json!({"after": 1.5}), "start", Predicate::AtLeast(1.5)),
            (json!({"before": 9}), "end", Predicate::AtMost(9.0)),
        ] {
            assert_eq!(parsed(filters).expect("a filter"), Filter::default().and(field, test));
        }
    }

    #[test]
    fn mistyped_names_get_the_nearest_match() {
        for (typed, meant) in [
            ("object", "objects"),
            ("speeker", "speakers"),
            ("min_peple", "min_people"),
            ("chunkconfig", "chunk_config"),
            ("videoids", "video_ids"),
        ] {
            let error = parsed(json!({typed: []})).expect_err("unknown");
            assert!(matches!(error, Error::Invalid(_)));
            assert!(error.to_string().contains(&format!("did you mean '{meant}'?")), "{error}");
        }
    }

    #[test]
    fn wrong_types_are_unprocessable() {
        for filters in [
            json!({"objects": "car"}),
            json!({"objects": [1]}),
            json!({"chunk_ids": ["1"]}),
            json!({"chunk_ids": [1.5]}),
            json!({"chunk_config": 1}),
            json!({"min_people": 1.5}),
            json!({"after": "1"}),
            json!({"tags": null}),
        ] {
            assert!(matches!(parsed(filters.clone()), Err(Error::Unprocessable(_))), "{filters}");
        }
    }
}
