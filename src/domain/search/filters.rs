//! The filters of `/query`. [`FILTERS`] is the only list of them: `/schema` shows it, requests are
//! validated against it, and it provides the suggestions for misspelt names.

use ports::index::{Condition, Filter, Predicate};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::analysis::{AnalyzerRef, AnalyzerSpec};
use crate::kernel::error::{Error, Result};
use crate::kernel::names::{comma_separated, most_similar, suggest};
use crate::kernel::time::instant;
use crate::records::metadata;

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
    /// An interval expression.
    Expression,
    /// The id of a bin.
    Bin,
}

/// How a filter compares its value with the field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Matches {
    Any,
    Exact,
    AtLeast,
    AtMost,
}

/// What a filter applies to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scope {
    /// Every chunk, regardless of its findings.
    Chunk,
    /// The findings of analyzers that have the field.
    Findings,
    /// A whole video; the filter is evaluated by the listing.
    Video,
}

/// The definition of a filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FilterDefinition {
    name: &'static str,
    kind: Kind,
    matches: Matches,
    field: &'static str,
    scope: Scope,
}

const fn chunk_filter(
    name: &'static str,
    kind: Kind,
    matches: Matches,
    field: &'static str,
) -> FilterDefinition {
    FilterDefinition { name, kind, matches, field, scope: Scope::Chunk }
}

const fn finding_filter(
    name: &'static str,
    kind: Kind,
    matches: Matches,
    field: &'static str,
) -> FilterDefinition {
    FilterDefinition { name, kind, matches, field, scope: Scope::Findings }
}

const fn video_filter(
    name: &'static str,
    kind: Kind,
    matches: Matches,
    field: &'static str,
) -> FilterDefinition {
    FilterDefinition { name, kind, matches, field, scope: Scope::Video }
}

/// The name of the filter for collections.
pub(crate) const COLLECTIONS: &str = "collections";

/// Every filter.
pub const FILTERS: &[FilterDefinition] = &[
    chunk_filter("video_ids", Kind::Strings, Matches::Any, "video_id"),
    chunk_filter("chunk_ids", Kind::Integers, Matches::Any, "chunk_id"),
    chunk_filter("analyzer_ids", Kind::Strings, Matches::Any, "analyzer_id"),
    chunk_filter("chunk_config", Kind::Text, Matches::Exact, "chunk_config"),
    finding_filter("objects", Kind::Strings, Matches::Any, "objects"),
    finding_filter("tags", Kind::Strings, Matches::Any, "tags"),
    finding_filter("speakers", Kind::Strings, Matches::Any, "speakers"),
    finding_filter("people", Kind::Strings, Matches::Any, "people"),
    finding_filter("min_people", Kind::Integer, Matches::AtLeast, "people_count"),
    finding_filter("max_people", Kind::Integer, Matches::AtMost, "people_count"),
    chunk_filter("after", Kind::Number, Matches::AtLeast, "start"),
    chunk_filter("before", Kind::Number, Matches::AtMost, "end"),
    chunk_filter("overlaps_after", Kind::Number, Matches::AtLeast, "end"),
    chunk_filter("overlaps_before", Kind::Number, Matches::AtMost, "start"),
    chunk_filter("where", Kind::Expression, Matches::Any, "intervals"),
    chunk_filter("bin", Kind::Bin, Matches::Exact, "bin"),
    video_filter(COLLECTIONS, Kind::Strings, Matches::Any, metadata::COLLECTION),
    video_filter("recorded_after", Kind::Time, Matches::AtLeast, metadata::RECORDED_AT),
    video_filter("recorded_before", Kind::Time, Matches::AtMost, metadata::RECORDED_AT),
    video_filter("metadata", Kind::Object, Matches::Any, "metadata"),
];

/// A filter as `/schema` describes it.
#[derive(Debug, Clone, PartialEq)]
pub struct FilterSpec {
    /// Name in the `filters` object.
    pub name: String,
    /// `list[str]`, `list[int]`, `str`, `int`, `float`, `time`, `dict`, `expression` or `bin`.
    pub kind: String,
    /// `any`, `exact`, `gte` or `lte`.
    pub matches: String,
    /// Payload field that the value is compared with.
    pub payload_field: String,
    /// The registered analyzers whose output the filter applies to. `None` if the filter applies to
    /// every chunk.
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
            Self::Expression => "expression",
            Self::Bin => "bin",
        }
    }
}

impl FilterDefinition {
    /// The description for `/schema`, given the registered analyzers.
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
            analyzers: (self.scope == Scope::Findings)
                .then(|| self.analyzers(analyzers).map(|spec| spec.id.to_owned()).collect()),
        }
    }

    /// The analyzers whose points have this filter's field.
    fn analyzers<'a>(
        &self,
        analyzers: &'a [AnalyzerRef],
    ) -> impl Iterator<Item = AnalyzerSpec<'a>> {
        let specs = analyzers.iter().map(|analyzer| analyzer.spec());
        specs.filter(|spec| spec.filter_fields.contains(&self.field))
    }

    /// Translates a filter's value into predicates, all of which must hold.
    fn predicates(&self, value: &Value) -> Result<Vec<Predicate>> {
        let one = match self.kind {
            Kind::Strings => return self.words(value),
            Kind::Integers => Predicate::AnyInteger(self.read(value)?),
            Kind::Text => Predicate::AnyKeyword(vec![self.read(value)?]),
            Kind::Integer => self.bound(self.read::<i64>(value)? as f64),
            Kind::Time => {
                let time =
                    instant(&self.read::<String>(value)?).ok_or_else(|| self.type_error(value))?;
                self.bound(time as f64)
            }
            Kind::Number | Kind::Object | Kind::Expression | Kind::Bin => {
                self.bound(self.read(value)?)
            }
        };
        Ok(vec![one])
    }

    /// Parses strings. Accepts `all` and `any` for findings only, because the other fields have a
    /// single value per chunk.
    fn words(&self, value: &Value) -> Result<Vec<Predicate>> {
        match self.read(value)? {
            StringFilter::List(any) => Ok(vec![Predicate::AnyKeyword(any)]),
            _ if self.scope != Scope::Findings => Err(self.type_error(value)),
            StringFilter::All { all } => {
                Ok(all.into_iter().map(|word| Predicate::AnyKeyword(vec![word])).collect())
            }
            StringFilter::Any { any } => Ok(vec![Predicate::AnyKeyword(any)]),
        }
    }

    fn bound(&self, number: f64) -> Predicate {
        match self.matches {
            Matches::AtLeast => Predicate::AtLeast(number),
            Matches::AtMost | Matches::Any | Matches::Exact => Predicate::AtMost(number),
        }
    }

    fn read<T: DeserializeOwned>(&self, value: &Value) -> Result<T> {
        T::deserialize(value).map_err(|_| self.type_error(value))
    }

    fn type_error(&self, value: &Value) -> Error {
        let form = match (self.kind, self.scope) {
            (Kind::Strings, Scope::Findings) => "list[str], or an object with all or any of them",
            (Kind::Bin, _) => "str, the id of a bin",
            _ => self.kind.name(),
        };
        Error::Unprocessable(format!("filter '{}' is {value}; it must be {form}", self.name))
    }
}

/// The strings that a filter looks for. A chunk must have at least one of them, or all of them.
#[derive(Deserialize)]
#[serde(untagged)]
enum StringFilter {
    List(Vec<String>),
    All { all: Vec<String> },
    Any { any: Vec<String> },
}

/// A field with string values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WordField {
    /// The name in the index or the listing.
    pub(crate) name: String,
    /// Whether the field belongs to the listing. If not, it belongs to the index.
    pub(crate) is_video_field: bool,
    /// Whether only the analyzers that list the field in `filter_fields` have it.
    findings_only: bool,
}

impl WordField {
    /// Whether an analyzer's points may have the field.
    pub(crate) fn applies_to(&self, spec: &AnalyzerSpec<'_>) -> bool {
        !self.findings_only || spec.filter_fields.contains(&self.name.as_str())
    }
}

/// Finds the field of a filter that takes strings, or of `metadata.<key>`. Returns `Invalid` for
/// any other name.
pub(crate) fn word_field(name: &str) -> Result<WordField> {
    if let Some(key) = name.strip_prefix("metadata.") {
        return Ok(WordField {
            name: metadata::field_name(key),
            is_video_field: true,
            findings_only: false,
        });
    }
    let takes_words = |spec: &&FilterDefinition| matches!(spec.kind, Kind::Strings | Kind::Text);
    let Some(spec) = FILTERS.iter().filter(takes_words).find(|spec| spec.name == name) else {
        let mut names: Vec<&str> =
            FILTERS.iter().filter(takes_words).map(|spec| spec.name).collect();
        names.push("metadata.<key>");
        let nearest = suggest(name, &names).map(|nearest| format!("did you mean '{nearest}'? "));
        return Err(Error::Invalid(format!(
            "the values of '{name}' cannot be listed; {}available: {}",
            nearest.unwrap_or_default(),
            comma_separated(&names)
        )));
    };
    Ok(WordField {
        name: spec.field.into(),
        is_video_field: spec.scope == Scope::Video,
        findings_only: spec.scope == Scope::Findings,
    })
}

/// A parsed `filters` object.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ParsedFilters {
    /// Conditions on chunks, for the index.
    pub(crate) chunks: Filter,
    /// Conditions on videos, for the listing.
    pub(crate) videos: Vec<Condition>,
    /// Conditions on metadata keys whose types are not resolved yet.
    pub(crate) metadata: Option<Value>,
    /// The interval expression of `where`, unparsed.
    pub(crate) intervals: Option<Value>,
    /// The id of the bin in `bin`.
    pub(crate) bin: Option<String>,
}

impl ParsedFilters {
    /// Whether any filter is on chunks.
    pub(crate) fn has_chunk_filters(&self) -> bool {
        !self.chunks.0.is_empty() || self.intervals.is_some() || self.bin.is_some()
    }
}

/// Earlier names of filters with their current ones. Stored alerts and links may contain them.
const RENAMED: &[(&str, &str)] =
    &[("ends_after", "overlaps_after"), ("starts_before", "overlaps_before")];

/// Parses a request's `filters` object. Returns `Invalid` for an unknown name, and `Unprocessable`
/// for a value of the wrong type.
pub fn parse(filters: &Map<String, Value>) -> Result<ParsedFilters> {
    let mut parsed = ParsedFilters::default();
    for (name, value) in filters {
        let current = RENAMED.iter().find(|(earlier, _)| earlier == name);
        let current = current.map_or(name.as_str(), |(_, current)| current);
        let spec = FILTERS.iter().find(|spec| spec.name == current).ok_or_else(|| unknown(name))?;
        match spec.kind {
            Kind::Object => parsed.metadata = Some(value.clone()),
            Kind::Expression => parsed.intervals = Some(value.clone()),
            Kind::Bin => parsed.bin = Some(spec.read(value)?),
            _ => {
                for predicate in spec.predicates(value)? {
                    if spec.scope == Scope::Video {
                        parsed.videos.push(Condition { field: spec.field.into(), predicate });
                    } else {
                        parsed.chunks = parsed.chunks.and(spec.field, predicate);
                    }
                }
            }
        }
    }
    Ok(parsed)
}

fn unknown(name: &str) -> Error {
    let names: Vec<&str> = FILTERS.iter().map(|spec| spec.name).collect();
    let nearest = most_similar(name, &names)
        .map(|nearest| format!("did you mean '{nearest}'? "))
        .unwrap_or_default();
    Error::Invalid(format!(
        "unknown filter '{name}'; {nearest}available: {}",
        comma_separated(&names)
    ))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn parsed(filters: Value) -> Result<ParsedFilters> {
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
            (json!({"overlaps_after": 1.5}), "end", Predicate::AtLeast(1.5)),
            (json!({"overlaps_before": 9}), "start", Predicate::AtMost(9.0)),
        ] {
            let chunks = Filter::default().and(field, test);
            let expected = ParsedFilters { chunks, ..ParsedFilters::default() };
            assert_eq!(parsed(filters).expect("a filter"), expected);
        }
    }

    #[test]
    fn video_filters_become_listing_conditions() {
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
    fn string_lists_match_any_or_all() {
        let word = |word: &str| Predicate::AnyKeyword(vec![word.into()]);
        let all = parsed(json!({"objects": {"all": ["car", "dog"]}})).expect("filters");
        let both = Filter::default().and("objects", word("car")).and("objects", word("dog"));
        assert_eq!(all, ParsedFilters { chunks: both, ..ParsedFilters::default() });
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
    fn word_field_accepts_only_string_filters() {
        for (name, field, is_video_field) in [
            ("objects", "objects", false),
            ("analyzer_ids", "analyzer_id", false),
            ("collections", "collection", true),
            ("metadata.camera", "metadata.camera", true),
        ] {
            let found = word_field(name).expect("a field");
            assert_eq!((found.name.as_str(), found.is_video_field), (field, is_video_field));
        }
        for (name, meant) in [("object", "objects"), ("min_people", "people"), ("metadata", "")] {
            let error = word_field(name).expect_err("no field of words");
            assert!(matches!(error, Error::Invalid(_)));
            assert!(error.to_string().contains(meant), "{error}");
        }
    }

    #[test]
    fn filters_on_findings_differ_from_filters_on_every_chunk() {
        let analyzers = |name: &str| {
            let spec = FILTERS.iter().find(|spec| spec.name == name).expect("a filter");
            spec.describe(&[]).analyzers
        };
        assert_eq!(analyzers("min_people"), Some(vec![]));
        assert_eq!((analyzers("after"), analyzers("collections")), (None, None));
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
