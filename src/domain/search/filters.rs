//! The filters of `/query`. The list is what `/schema` shows, what requests are checked against and
//! what nearest-match suggestions are drawn from.

use ports::index::{Condition, Filter, Predicate};
use serde_json::{Map, Value};

use crate::domain::analysis::{AnalyzerRef, AnalyzerSpec};
use crate::domain::catalog::about;
use crate::domain::kernel::error::{Error, Result};
use crate::domain::kernel::names::{listed, nearest};
use crate::domain::kernel::time::instant;

/// The type of a filter's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Strings,
    Integers,
    Text,
    Integer,
    Number,
    Time,
    /// Conditions by metadata key.
    Object,
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
    /// Whether it is about a whole video, and the listing knows.
    of_video: bool,
}

const fn spec(name: &'static str, kind: Kind, matches: Matches, field: &'static str) -> Spec {
    Spec { name, kind, matches, field, of_video: false }
}

const fn of_video(name: &'static str, kind: Kind, matches: Matches, field: &'static str) -> Spec {
    Spec { name, kind, matches, field, of_video: true }
}

/// The filter by collection.
pub(crate) const COLLECTIONS: &str = "collections";

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
    of_video(COLLECTIONS, Kind::Strings, Matches::Any, about::COLLECTION),
    of_video("recorded_after", Kind::Time, Matches::AtLeast, about::RECORDED_AT),
    of_video("recorded_before", Kind::Time, Matches::AtMost, about::RECORDED_AT),
    of_video("metadata", Kind::Object, Matches::Any, "metadata"),
];

/// One filter of `/query`.
#[derive(Debug, Clone, PartialEq)]
pub struct FilterSpec {
    /// Name in the `filters` object.
    pub name: String,
    /// `list[str]`, `list[int]`, `str`, `int`, `float`, `time` or `dict`.
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
            Self::Time => "time",
            Self::Object => "dict",
        }
    }
}

impl Spec {
    /// As `/schema` shows it, in an install of these analyzers.
    pub fn describe(&self, analyzers: &[AnalyzerRef]) -> FilterSpec {
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
    fn of<'a>(&self, analyzers: &'a [AnalyzerRef]) -> impl Iterator<Item = AnalyzerSpec<'a>> {
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
            Kind::Integer | Kind::Number | Kind::Time | Kind::Object => {
                let number = match self.kind {
                    Kind::Integer => value.as_i64().map(|n| n as f64),
                    Kind::Time => value.as_str().and_then(instant).map(|instant| instant as f64),
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

/// What a request's `filters` object means.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Parsed {
    /// Of chunks: the index knows.
    pub(crate) chunks: Filter,
    /// Of videos: the listing knows.
    pub(crate) videos: Vec<Condition>,
    /// Of videos, by keys whose types are to be looked up.
    pub(crate) metadata: Option<Value>,
}

/// What a request's `filters` object means.
pub fn parse(filters: &Map<String, Value>) -> Result<Parsed> {
    let mut parsed = Parsed::default();
    for (name, value) in filters {
        let spec = FILTERS.iter().find(|spec| spec.name == name).ok_or_else(|| unknown(name))?;
        if spec.kind == Kind::Object {
            parsed.metadata = Some(value.clone());
        } else if spec.of_video {
            let predicate = spec.test(value)?;
            parsed.videos.push(Condition { field: spec.field.into(), predicate });
        } else {
            parsed.chunks = parsed.chunks.and(spec.field, spec.test(value)?);
        }
    }
    Ok(parsed)
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

    fn parsed(filters: Value) -> Result<Parsed> {
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
            let chunks = Filter::default().and(field, test);
            let expected = Parsed { chunks, ..Parsed::default() };
            assert_eq!(parsed(filters).expect("a filter"), expected);
        }
    }

    #[test]
    fn what_is_said_of_videos_is_asked_of_the_listing() {
        let filters = json!({"collections": ["a"], "recorded_after": "1970-01-01T00:00:01Z"});
        let is = |field: &str, predicate| Condition { field: field.into(), predicate };
        let expected = [
            is("collection", Predicate::AnyKeyword(vec!["a".into()])),
            is("recorded_at", Predicate::AtLeast(1000.0)),
        ];
        let found = parsed(filters).expect("filters");
        assert_eq!((found.chunks, found.videos), (Filter::default(), expected.to_vec()));
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
            json!({"recorded_after": 7}),
            json!({"collections": "news"}),
        ] {
            assert!(matches!(parsed(filters.clone()), Err(Error::Unprocessable(_))), "{filters}");
        }
    }
}
