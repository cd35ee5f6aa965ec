//! User metadata of videos: custom keys, a collection and the recording time. An ingest sets the
//! metadata, and a patch can change it later. A patch neither takes the video's lock nor changes
//! analysis results.

use std::collections::BTreeMap;

use ports::index::{Condition, FieldValue, Predicate};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use crate::kernel::access::Access;
use crate::kernel::error::{Error, Result};
use crate::kernel::names::{comma_separated, suggest};
use crate::kernel::time::instant;

/// Listing field for the collection.
pub(crate) const COLLECTION: &str = "collection";

/// Listing field for the recording time, in milliseconds since 1970.
pub(crate) const RECORDED_AT: &str = "recorded_at";

/// Listing field for a video's metadata keys.
pub(crate) const METADATA_KEYS: &str = "metadata_keys";

/// Maximum length of a key, in characters.
const MAX_KEY_CHARS: usize = 64;

/// Maximum length of a collection name, in characters.
const MAX_COLLECTION_CHARS: usize = 128;

/// The value of a metadata key.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum MetadataValue {
    /// `true` or `false`.
    Boolean(bool),
    /// A finite number.
    Number(f64),
    /// Text, or a time in ISO 8601.
    Text(String),
    /// An ordered list of strings.
    List(Vec<String>),
}

/// The type of a metadata key's values. It is the same in all videos.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MetadataType {
    /// `true` or `false`.
    Boolean,
    /// A number.
    Number,
    /// Text.
    String,
    /// A date and time in ISO 8601, such as `2026-01-31T12:00:00Z`.
    Time,
    /// A list of strings.
    List,
}

/// The types of all metadata keys ever used.
pub type MetadataKeys = BTreeMap<String, MetadataType>;

/// User metadata of a video.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct VideoMetadata {
    /// Custom values by key.
    #[serde(rename = "metadata", skip_serializing_if = "BTreeMap::is_empty")]
    pub values: BTreeMap<String, MetadataValue>,
    /// The collection that the video is in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub collection: Option<String>,
    /// When the first frame was recorded, in ISO 8601.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recorded_at: Option<String>,
}

/// A change to a video's metadata. Omitted fields and keys stay unchanged; null removes a field or
/// key.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct MetadataPatch {
    /// Custom values by key.
    #[serde(rename = "metadata", skip_serializing_if = "Map::is_empty")]
    pub values: Map<String, Value>,
    /// The new collection, or null to remove the video from its collection.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "nullable")]
    pub collection: Option<Value>,
    /// When the first frame was recorded, in ISO 8601, or null to remove this time.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "nullable")]
    pub recorded_at: Option<Value>,
}

/// Deserializes null as `Some`, to distinguish it from an omitted field (`None`).
fn nullable<'de, D: Deserializer<'de>>(value: D) -> std::result::Result<Option<Value>, D::Error> {
    Value::deserialize(value).map(Some)
}

impl MetadataValue {
    fn read(key: &str, value: &Value) -> Result<Self> {
        let texts = |items: &Vec<Value>| {
            items.iter().map(|item| item.as_str().map(str::to_owned)).collect::<Option<_>>()
        };
        let read = match value {
            Value::Bool(boolean) => Some(Self::Boolean(*boolean)),
            Value::Number(number) => number.as_f64().filter(|n| n.is_finite()).map(Self::Number),
            Value::String(text) => Some(Self::Text(text.clone())),
            Value::Array(items) => texts(items).map(Self::List),
            Value::Null | Value::Object(_) => None,
        };
        read.ok_or_else(|| {
            Error::Unprocessable(format!(
                "metadata '{key}' is {value}; it must be a string, a number, a boolean, a time in \
                 ISO 8601 or a list of strings"
            ))
        })
    }

    /// Returns the type of this value.
    pub fn kind(&self) -> MetadataType {
        match self {
            Self::Boolean(_) => MetadataType::Boolean,
            Self::Number(_) => MetadataType::Number,
            Self::Text(text) if is_time(text) => MetadataType::Time,
            Self::Text(_) => MetadataType::String,
            Self::List(_) => MetadataType::List,
        }
    }

    fn field(&self) -> FieldValue {
        match self {
            Self::Boolean(boolean) => FieldValue::Keywords(vec![boolean.to_string()]),
            Self::Number(number) => FieldValue::Float(*number),
            Self::Text(text) => match instant(text).filter(|_| is_time(text)) {
                Some(instant) => FieldValue::Float(instant as f64),
                None => FieldValue::Keywords(vec![text.clone()]),
            },
            Self::List(texts) => FieldValue::Keywords(texts.clone()),
        }
    }

    fn to_json(&self) -> Value {
        match self {
            Self::Boolean(boolean) => (*boolean).into(),
            // Write integers without a fraction.
            Self::Number(number) if number.fract() == 0.0 && number.abs() < 9e15 => {
                (*number as i64).into()
            }
            Self::Number(number) => (*number).into(),
            Self::Text(text) => text.as_str().into(),
            Self::List(texts) => texts.clone().into(),
        }
    }
}

impl MetadataType {
    /// Returns the type's name in API responses.
    pub fn name(self) -> &'static str {
        match self {
            Self::Boolean => "boolean",
            Self::Number => "number",
            Self::String => "string",
            Self::Time => "time",
            Self::List => "list",
        }
    }
}

/// Whether `text` is a date and time. A date alone does not identify an instant, so it counts as
/// plain text.
fn is_time(text: &str) -> bool {
    text.contains('T') && instant(text).is_some()
}

impl MetadataPatch {
    /// Whether the patch changes nothing.
    pub fn is_empty(&self) -> bool {
        self == &Self::default()
    }

    /// Returns the collection that the patch assigns, if any.
    pub(crate) fn collection(&self) -> Option<&str> {
        self.collection.as_ref()?.as_str().map(str::trim)
    }

    /// Assigns the caller's default collection to a new video if the patch names no collection.
    /// Returns `Forbidden` if the patch names a collection that the caller cannot see. Returns
    /// `Unprocessable` if the patch names no collection and the caller has access to several.
    pub(crate) fn assign_collection(&mut self, access: &Access) -> Result<()> {
        if access.collections().is_none() {
            return Ok(());
        }
        match &self.collection {
            Some(_) => access.check_collection(self.collection()),
            None => {
                self.collection = access.default_collection()?.map(Value::from);
                Ok(())
            }
        }
    }

    /// Checks the collection that the patch assigns. Returns `Forbidden` if the patch moves the
    /// video to a collection that the caller cannot see.
    pub(crate) fn check_collection(&self, access: &Access) -> Result<()> {
        if self.collection.is_none() { Ok(()) } else { access.check_collection(self.collection()) }
    }

    /// Applies the patch to `current`. Returns `Unprocessable` for a value of an unsupported type,
    /// and `Invalid` if a key is malformed or the custom values take more than `max_bytes` as JSON.
    pub fn apply(&self, current: &VideoMetadata, max_bytes: usize) -> Result<VideoMetadata> {
        let mut changed = current.clone();
        for (key, value) in &self.values {
            check_key(key)?;
            match value {
                Value::Null => drop(changed.values.remove(key)),
                value => {
                    changed.values.insert(key.clone(), MetadataValue::read(key, value)?);
                }
            }
        }
        if let Some(collection) = &self.collection {
            changed.collection = parse_collection(collection)?;
        }
        if let Some(recorded_at) = &self.recorded_at {
            changed.recorded_at = parse_time(recorded_at)?;
        }
        let bytes = serde_json::to_string(&changed.values).map_or(usize::MAX, |text| text.len());
        if bytes > max_bytes {
            return Err(Error::Invalid(format!(
                "the metadata takes {bytes} bytes as JSON; ingest.max_metadata_bytes is {max_bytes}"
            )));
        }
        Ok(changed)
    }
}

fn check_key(key: &str) -> Result<()> {
    let is_key_char = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    let starts_with_letter = key.starts_with(|c: char| c.is_ascii_lowercase());
    if !starts_with_letter || key.len() > MAX_KEY_CHARS || !key.chars().all(is_key_char) {
        return Err(Error::Invalid(format!(
            "'{key}' is no metadata key; one has at most {MAX_KEY_CHARS} of a to z, 0 to 9 and _, and \
             begins with a letter"
        )));
    }
    Ok(())
}

/// Validates and trims a collection name. Returns `Unprocessable` if it is invalid.
pub(crate) fn collection_name(name: &str) -> Result<String> {
    let read = parse_collection(&Value::from(name))?;
    Ok(read.unwrap_or_default())
}

/// Returns the listing condition that selects the videos in this collection.
pub(crate) fn in_collection(name: &str) -> Condition {
    Condition { field: COLLECTION.into(), predicate: Predicate::AnyKeyword(vec![name.into()]) }
}

/// Returns the listing condition that selects the videos that a caller may see, or `None` if access
/// is unrestricted.
pub(crate) fn visible_to(access: &Access) -> Option<Condition> {
    let names = access.collections()?.iter().cloned().collect();
    Some(Condition { field: COLLECTION.into(), predicate: Predicate::AnyKeyword(names) })
}

fn parse_collection(value: &Value) -> Result<Option<String>> {
    match value {
        Value::Null => Ok(None),
        Value::String(name)
            if !name.trim().is_empty() && name.chars().count() <= MAX_COLLECTION_CHARS =>
        {
            Ok(Some(name.trim().to_owned()))
        }
        other => Err(Error::Unprocessable(format!(
            "collection is {other}; it must be a name of at most {MAX_COLLECTION_CHARS} characters"
        ))),
    }
}

fn parse_time(value: &Value) -> Result<Option<String>> {
    match value {
        Value::Null => Ok(None),
        Value::String(text) if is_time(text) => Ok(Some(text.clone())),
        other => Err(Error::Unprocessable(format!(
            "recorded_at is {other}; it must be a time in ISO 8601, as 2026-01-31T12:00:00Z"
        ))),
    }
}

impl VideoMetadata {
    /// Returns the fields by which a listing can filter.
    pub(crate) fn fields(&self) -> BTreeMap<String, FieldValue> {
        let values = self.values.iter();
        let mut fields: BTreeMap<String, FieldValue> =
            values.map(|(key, value)| (field_name(key), value.field())).collect();
        if !self.values.is_empty() {
            let keys = self.values.keys().cloned().collect();
            fields.insert(METADATA_KEYS.into(), FieldValue::Keywords(keys));
        }
        if let Some(name) = &self.collection {
            fields.insert(COLLECTION.into(), FieldValue::Keywords(vec![name.clone()]));
        }
        if let Some(recorded) = self.recorded_at.as_deref().and_then(instant) {
            fields.insert(RECORDED_AT.into(), FieldValue::Float(recorded as f64));
        }
        fields
    }

    /// Returns the custom values as a JSON object.
    pub fn metadata_json(&self) -> Map<String, Value> {
        self.values.iter().map(|(key, value)| (key.clone(), value.to_json())).collect()
    }

    /// Converts a time in the video, in seconds, to wall-clock time in ISO 8601 (UTC). Returns
    /// `None` if the recording time is unknown.
    pub fn wall_clock(&self, seconds: f64) -> Option<String> {
        let start = instant(self.recorded_at.as_deref()?)?;
        let at = start.checked_add((seconds * 1000.0).round() as i64)?;
        let at = jiff::Timestamp::from_millisecond(at).ok()?;
        Some(at.strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string())
    }

    /// Performs a three-way merge: applies the changes between `base` and `theirs` to `mine`. In a
    /// conflict, `mine` wins.
    pub(crate) fn merge(base: &Self, mine: Self, theirs: &Self) -> Self {
        fn pick<T: Clone + PartialEq>(base: &T, mine: T, theirs: &T) -> T {
            if mine == *base { theirs.clone() } else { mine }
        }
        let keys = base.values.keys().chain(mine.values.keys()).chain(theirs.values.keys());
        let keys: std::collections::BTreeSet<&String> = keys.collect();
        let value = |current: &Self, key: &String| current.values.get(key).cloned();
        let values = keys.into_iter().filter_map(|key| {
            let merged = pick(&value(base, key), value(&mine, key), &value(theirs, key));
            merged.map(|value| (key.clone(), value))
        });
        Self {
            values: values.collect(),
            collection: pick(&base.collection, mine.collection, &theirs.collection),
            recorded_at: pick(&base.recorded_at, mine.recorded_at, &theirs.recorded_at),
        }
    }
}

/// Returns the listing field for a metadata key.
pub(crate) fn field_name(key: &str) -> String {
    format!("metadata.{key}")
}

/// Parses a metadata filter into listing conditions. For each key, the filter contains a value, a
/// list of values of which one must match, or a range of numbers or times such as `{"gte": 1,
/// "lte": 5}`. Returns `Invalid` for a key that no video has, and `Unprocessable` if a value does
/// not have the type of its key.
pub(crate) fn conditions(filter: &Value, keys: &MetadataKeys) -> Result<Vec<Condition>> {
    let filter = filter.as_object().ok_or_else(|| {
        Error::Unprocessable(format!("filter 'metadata' is {filter}; it must be an object of keys"))
    })?;
    let mut conditions = Vec::new();
    for (key, value) in filter {
        let Some(kind) = keys.get(key) else {
            let known: Vec<&str> = keys.keys().map(String::as_str).collect();
            let hint = suggest(key, &known).map(|n| format!("did you mean '{n}'? "));
            return Err(Error::Invalid(format!(
                "no video has the metadata key '{key}'; {}available: {}",
                hint.unwrap_or_default(),
                comma_separated(&known)
            )));
        };
        let test = |predicate| Condition { field: field_name(key), predicate };
        conditions.extend(predicates(key, *kind, value)?.into_iter().map(test));
    }
    Ok(conditions)
}

fn predicates(key: &str, kind: MetadataType, value: &Value) -> Result<Vec<Predicate>> {
    let type_error = || {
        let range = match kind {
            MetadataType::Number | MetadataType::Time => ", or an object with gte and lte",
            _ => "",
        };
        Error::Unprocessable(format!(
            "filter 'metadata' asks for {value} of '{key}', which is a {}; give one, a list of \
             them{range}",
            kind.name()
        ))
    };
    let number = |value: &Value| match kind {
        MetadataType::Number => value.as_f64(),
        MetadataType::Time => value.as_str().and_then(instant).map(|instant| instant as f64),
        _ => None,
    };
    if let (MetadataType::Number | MetadataType::Time, Value::Object(range)) = (kind, value) {
        let bound = |(name, value): (&String, &Value)| match name.as_str() {
            "gte" => number(value).map(Predicate::AtLeast),
            "lte" => number(value).map(Predicate::AtMost),
            _ => None,
        };
        let bounds: Option<Vec<Predicate>> = range.iter().map(bound).collect();
        return bounds.filter(|bounds| !bounds.is_empty()).ok_or_else(type_error);
    }
    let any = match value {
        Value::Array(values) => values.as_slice(),
        one => std::slice::from_ref(one),
    };
    if matches!(kind, MetadataType::Number | MetadataType::Time) {
        let [one] = any else { return Err(type_error()) };
        let exactly = number(one).ok_or_else(type_error)?;
        return Ok(vec![Predicate::AtLeast(exactly), Predicate::AtMost(exactly)]);
    }
    let keyword = |value: &Value| match (kind, value) {
        (MetadataType::Boolean, Value::Bool(boolean)) => Some(boolean.to_string()),
        (MetadataType::String | MetadataType::List, Value::String(text)) => Some(text.clone()),
        _ => None,
    };
    let keywords: Option<Vec<String>> = any.iter().map(keyword).collect();
    Ok(vec![Predicate::AnyKeyword(keywords.ok_or_else(type_error)?)])
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn patch(value: Value) -> MetadataPatch {
        serde_json::from_value(value).expect("a patch")
    }

    fn applied(current: &VideoMetadata, change: Value) -> VideoMetadata {
        patch(change).apply(current, 1000).expect("applied")
    }

    #[test]
    fn patches_change_only_named_fields() {
        let metadata = json!({"camera": "north", "take": 3, "ok": true, "tags": ["a", "b"]});
        let current =
            applied(&VideoMetadata::default(), json!({"metadata": metadata, "collection": "news"}));
        assert_eq!(Value::from(current.metadata_json()), metadata);
        let changed = applied(&current, json!({"metadata": {"take": null, "camera": "south"}}));
        let left = json!({"camera": "south", "ok": true, "tags": ["a", "b"]});
        assert_eq!(Value::from(changed.metadata_json()), left);
        assert_eq!(changed.collection.as_deref(), Some("news"));
        assert_eq!(applied(&changed, json!({"collection": null})).collection, None);
    }

    #[test]
    fn invalid_metadata_is_rejected() {
        for (change, expected) in [
            (json!({"metadata": {"Camera": "x"}}), "is no metadata key"),
            (json!({"metadata": {"": "x"}}), "is no metadata key"),
            (json!({"metadata": {"a": {"b": 1}}}), "it must be a string, a number"),
            (json!({"metadata": {"a": [1]}}), "it must be a string, a number"),
            (json!({"metadata": {"a": "x".repeat(2000)}}), "ingest.max_metadata_bytes is 1000"),
            (json!({"collection": ""}), "it must be a name"),
            (json!({"collection": 7}), "it must be a name"),
            (json!({"recorded_at": "yesterday"}), "it must be a time in ISO 8601"),
        ] {
            let refused = patch(change.clone()).apply(&VideoMetadata::default(), 1000);
            let error = refused.expect_err("refused").to_string();
            assert!(error.contains(expected), "{change}: {error}");
        }
    }

    #[test]
    fn concurrent_changes_are_merged() {
        let base =
            applied(&VideoMetadata::default(), json!({"metadata": {"a": 1, "b": 1, "c": 1}}));
        let mine = applied(&base, json!({"metadata": {"a": 2, "c": null}, "collection": "x"}));
        let theirs = applied(&base, json!({"metadata": {"b": 3, "d": 4}}));
        let merged = VideoMetadata::merge(&base, mine, &theirs);
        assert_eq!(Value::from(merged.metadata_json()), json!({"a": 2, "b": 3, "d": 4}));
        assert_eq!(merged.collection.as_deref(), Some("x"));
    }

    #[test]
    fn filters_require_the_type_of_their_key() {
        let keys = MetadataKeys::from(
            [
                ("camera", MetadataType::String),
                ("take", MetadataType::Number),
                ("shot", MetadataType::Time),
                ("ok", MetadataType::Boolean),
            ]
            .map(|(key, kind)| (key.to_owned(), kind)),
        );
        let found = |given| conditions(&given, &keys);
        let is =
            |key: &str, predicate| vec![Condition { field: format!("metadata.{key}"), predicate }];
        let any = |words: &[&str]| {
            Predicate::AnyKeyword(words.iter().map(|word| (*word).to_owned()).collect())
        };
        assert_eq!(found(json!({"camera": "n"})).expect("one"), is("camera", any(&["n"])));
        let two = found(json!({"camera": ["n", "s"]})).expect("two");
        assert_eq!(two, is("camera", any(&["n", "s"])));
        assert_eq!(found(json!({"ok": true})).expect("one"), is("ok", any(&["true"])));
        let range = found(json!({"take": {"gte": 2}})).expect("a range");
        assert_eq!(range, is("take", Predicate::AtLeast(2.0)));
        let range = found(json!({"shot": {"lte": "1970-01-01T00:00:01Z"}})).expect("a range");
        assert_eq!(range, is("shot", Predicate::AtMost(1000.0)));
        for (given, expected) in [
            (json!({"camra": "n"}), "did you mean 'camera'?"),
            (json!({"take": "two"}), "which is a number"),
            (json!({"camera": {"gte": 1}}), "which is a string"),
            (json!({"take": {"above": 1}}), "gte and lte"),
            (json!(["camera"]), "an object of keys"),
        ] {
            let error = found(given.clone()).expect_err("refused").to_string();
            assert!(error.contains(expected), "{given}: {error}");
        }
    }

    #[test]
    fn wall_clock_requires_a_recording_time() {
        let current =
            applied(&VideoMetadata::default(), json!({"recorded_at": "2026-01-31T12:00:00+01:00"}));
        assert_eq!(current.wall_clock(1.5).as_deref(), Some("2026-01-31T11:00:01.500Z"));
        assert_eq!(VideoMetadata::default().wall_clock(1.5), None);
    }
}
