//! User metadata of videos: custom keys, a collection and the recording time. An ingest sets the
//! metadata, and a patch can change it later.

mod filter;
mod patch;

use std::collections::BTreeMap;

use ports::index::FieldValue;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::kernel::error::{Error, Result};
use crate::kernel::time::instant;
pub(crate) use filter::{conditions, in_collection, visible_to};
pub use patch::MetadataPatch;
pub(crate) use patch::collection_name;

/// Listing field for the collection.
pub(crate) const COLLECTION: &str = "collection";

/// Listing field for the recording time, in milliseconds since 1970.
pub(crate) const RECORDED_AT: &str = "recorded_at";

/// Listing field for a video's metadata keys.
pub(crate) const METADATA_KEYS: &str = "metadata_keys";

/// The key of the metadata that the web UI shows instead of the file name.
const TITLE: &str = "title";

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

    /// Returns the title that a user gave to the video, if it is not empty.
    pub fn title(&self) -> Option<&str> {
        match self.values.get(TITLE)? {
            MetadataValue::Text(title) => Some(title.as_str()).filter(|title| !title.is_empty()),
            _ => None,
        }
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn applied(current: &VideoMetadata, change: Value) -> VideoMetadata {
        let patch: MetadataPatch = serde_json::from_value(change).expect("a patch");
        patch.apply(current, 1000).expect("applied")
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
    fn wall_clock_requires_a_recording_time() {
        let current =
            applied(&VideoMetadata::default(), json!({"recorded_at": "2026-01-31T12:00:00+01:00"}));
        assert_eq!(current.wall_clock(1.5).as_deref(), Some("2026-01-31T11:00:01.500Z"));
        assert_eq!(VideoMetadata::default().wall_clock(1.5), None);
    }
}
