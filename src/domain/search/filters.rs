//! The filters of `/query`. The list is what `/schema` shows, what requests are checked against and
//! what nearest-match suggestions are drawn from.

use ports::index::{Condition, Filter, Predicate};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::domain::analysis::{AnalyzerRef, AnalyzerSpec};
use crate::domain::catalog::about;
use crate::domain::kernel::error::{Error, Result};
use crate::domain::kernel::names::{listed, most_alike, nearest};
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

/// What a filter is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum About {
    /// Every chunk, whatever was found in it.
    Chunk,
    /// What the analyzers find that have its field.
    Found,
    /// A whole video, and the listing knows.
    Video,
}

/// One filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spec {
    name: &'static str,
    kind: Kind,
    matches: Matches,
    field: &'static str,
    about: About,
}

const fn spec(name: &'static str, kind: Kind, matches: Matches, field: &'static str) -> Spec {
    Spec { name, kind, matches, field, about: About::Chunk }
}

const fn found(name: &'static str, kind: Kind, matches: Matches, field: &'static str) -> Spec {
    Spec { name, kind, matches, field, about: About::Found }
}

const fn of_video(name: &'static str, kind: Kind, matches: Matches, field: &'static str) -> Spec {
    Spec { name, kind, matches, field, about: About::Video }
}

/// The filter by collection.
pub(crate) const COLLECTIONS: &str = "collections";

/// Every filter.
pub const FILTERS: &[Spec] = &[
    spec("video_ids", Kind::Strings, Matches::Any, "video_id"),
    spec("chunk_ids", Kind::Integers, Matches::Any, "chunk_id"),
    spec("analyzer_ids", Kind::Strings, Matches::Any, "analyzer_id"),
    spec("chunk_config", Kind::Text, Matches::Exact, "chunk_config"),
    found("objects", Kind::Strings, Matches::Any, "objects"),
    found("tags", Kind::Strings, Matches::Any, "tags"),
    found("speakers", Kind::Strings, Matches::Any, "speakers"),
    found("people", Kind::Strings, Matches::Any, "people"),
    found("min_people", Kind::Integer, Matches::AtLeast, "people_count"),
    found("max_people", Kind::Integer, Matches::AtMost, "people_count"),
    spec("after", Kind::Number, Matches::AtLeast, "start"),
    spec("before", Kind::Number, Matches::AtMost, "end"),
    spec("ends_after", Kind::Number, Matches::AtLeast, "end"),
    spec("starts_before", Kind::Number, Matches::AtMost, "start"),
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
    /// The analyzers of the install whose output it is about; `None` where it is about every chunk.
    pub analyzers: Option<Vec<String>>,
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
            analyzers: (self.about == About::Found)
                .then(|| self.of(analyzers).map(|spec| spec.id.to_owned()).collect()),
        }
    }

    /// The analyzers whose points have its field.
    fn of<'a>(&self, analyzers: &'a [AnalyzerRef]) -> impl Iterator<Item = AnalyzerSpec<'a>> {
        let specs = analyzers.iter().map(|analyzer| analyzer.spec());
        specs.filter(|spec| spec.filtered_by.contains(&self.field))
    }

    /// What a request asks of the field. Several predicates must all hold.
    fn predicates(&self, value: &Value) -> Result<Vec<Predicate>> {
        let one = match self.kind {
            Kind::Strings => return self.words(value),
            Kind::Integers => Predicate::AnyInteger(self.read(value)?),
            Kind::Text => Predicate::AnyKeyword(vec![self.read(value)?]),
            Kind::Integer => self.bound(self.read::<i64>(value)? as f64),
            Kind::Time => {
                let time =
                    instant(&self.read::<String>(value)?).ok_or_else(|| self.wrong(value))?;
                self.bound(time as f64)
            }
            Kind::Number | Kind::Object => self.bound(self.read(value)?),
        };
        Ok(vec![one])
    }

    /// A chunk has several words of what is found in it, and one of all else.
    fn words(&self, value: &Value) -> Result<Vec<Predicate>> {
        match self.read(value)? {
            Words::List(any) => Ok(vec![Predicate::AnyKeyword(any)]),
            _ if self.about != About::Found => Err(self.wrong(value)),
            Words::All { all } => {
                Ok(all.into_iter().map(|word| Predicate::AnyKeyword(vec![word])).collect())
            }
            Words::Any { any } => Ok(vec![Predicate::AnyKeyword(any)]),
        }
    }

    fn bound(&self, number: f64) -> Predicate {
        match self.matches {
            Matches::AtLeast => Predicate::AtLeast(number),
            Matches::AtMost | Matches::Any | Matches::Exact => Predicate::AtMost(number),
        }
    }

    fn read<T: DeserializeOwned>(&self, value: &Value) -> Result<T> {
        T::deserialize(value).map_err(|_| self.wrong(value))
    }

    fn wrong(&self, value: &Value) -> Error {
        let form = match (self.kind, self.about) {
            (Kind::Strings, About::Found) => "list[str], or an object with all or any of them",
            _ => self.kind.name(),
        };
        Error::Unprocessable(format!("filter '{}' is {value}; it must be {form}", self.name))
    }
}

/// Words of which a chunk has at least one, or all.
#[derive(Deserialize)]
#[serde(untagged)]
enum Words {
    List(Vec<String>),
    All { all: Vec<String> },
    Any { any: Vec<String> },
}

/// A field whose values are words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WordField {
    /// As the index or the listing names it.
    pub(crate) name: String,
    /// Whether the listing has it; else the index.
    pub(crate) of_videos: bool,
    /// Whether only those analyzers have it that say so.
    found: bool,
}

impl WordField {
    /// Whether the points of an analyzer may have it.
    pub(crate) fn is_of(&self, spec: &AnalyzerSpec<'_>) -> bool {
        !self.found || spec.filtered_by.contains(&self.name.as_str())
    }
}

/// The field of a filter that takes words, or of `metadata.<key>`. `Invalid` for any other name.
pub(crate) fn word_field(name: &str) -> Result<WordField> {
    if let Some(key) = name.strip_prefix("metadata.") {
        return Ok(WordField { name: about::field_of(key), of_videos: true, found: false });
    }
    let of_words = |spec: &&Spec| matches!(spec.kind, Kind::Strings | Kind::Text);
    let Some(spec) = FILTERS.iter().filter(of_words).find(|spec| spec.name == name) else {
        let mut names: Vec<&str> = FILTERS.iter().filter(of_words).map(|spec| spec.name).collect();
        names.push("metadata.<key>");
        let nearest = nearest(name, &names).map(|nearest| format!("did you mean '{nearest}'? "));
        return Err(Error::Invalid(format!(
            "no values are listed of '{name}'; {}available: {}",
            nearest.unwrap_or_default(),
            listed(&names)
        )));
    };
    let (of_videos, found) = (spec.about == About::Video, spec.about == About::Found);
    Ok(WordField { name: spec.field.into(), of_videos, found })
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
            continue;
        }
        for predicate in spec.predicates(value)? {
            if spec.about == About::Video {
                parsed.videos.push(Condition { field: spec.field.into(), predicate });
            } else {
                parsed.chunks = parsed.chunks.and(spec.field, predicate);
            }
        }
    }
    Ok(parsed)
}

fn unknown(name: &str) -> Error {
    let names: Vec<&str> = FILTERS.iter().map(|spec| spec.name).collect();
    let nearest = most_alike(name, &names)
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
            (json!({"ends_after": 1.5}), "end", Predicate::AtLeast(1.5)),
            (json!({"starts_before": 9}), "start", Predicate::AtMost(9.0)),
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
    fn several_words_are_any_of_them_or_all() {
        let word = |word: &str| Predicate::AnyKeyword(vec![word.into()]);
        let all = parsed(json!({"objects": {"all": ["car", "dog"]}})).expect("filters");
        let both = Filter::default().and("objects", word("car")).and("objects", word("dog"));
        assert_eq!(all, Parsed { chunks: both, ..Parsed::default() });
        let any = parsed(json!({"objects": {"any": ["car", "dog"]}})).expect("filters");
        assert_eq!(any, parsed(json!({"objects": ["car", "dog"]})).expect("filters"));
        for wrong in [
            json!({"objects": {"all": "car"}}),
            json!({"objects": {"all": [1]}}),
            json!({"objects": {"some": ["car"]}}),
            json!({"collections": {"all": ["a"]}}),
        ] {
            assert!(matches!(parsed(wrong.clone()), Err(Error::Unprocessable(_))), "{wrong}");
        }
    }

    #[test]
    fn values_are_listed_of_filters_by_words() {
        for (name, field, of_videos) in [
            ("objects", "objects", false),
            ("analyzer_ids", "analyzer_id", false),
            ("collections", "collection", true),
            ("metadata.camera", "metadata.camera", true),
        ] {
            let found = word_field(name).expect("a field");
            assert_eq!((found.name.as_str(), found.of_videos), (field, of_videos));
        }
        for (name, meant) in [("object", "objects"), ("min_people", "people"), ("metadata", "")] {
            let error = word_field(name).expect_err("no field of words");
            assert!(matches!(error, Error::Invalid(_)));
            assert!(error.to_string().contains(meant), "{error}");
        }
    }

    #[test]
    fn a_filter_about_what_no_analyzer_here_finds_is_told_from_one_about_every_chunk() {
        let about = |name: &str| {
            let spec = FILTERS.iter().find(|spec| spec.name == name).expect("a filter");
            spec.describe(&[]).analyzers
        };
        assert_eq!(about("min_people"), Some(vec![]));
        assert_eq!((about("after"), about("collections")), (None, None));
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
