//! Changes to user metadata. A patch neither takes the video's lock nor changes analysis results.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use super::{MetadataValue, VideoMetadata, is_time};
use crate::kernel::access::Access;
use crate::kernel::error::{Error, Result};

/// Maximum length of a key, in characters.
const MAX_KEY_CHARS: usize = 64;

/// Maximum length of a collection name, in characters.
const MAX_COLLECTION_CHARS: usize = 128;

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
}
