//! JSON documents that stores keep without parsing them.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{ErrorKind, PortError, Result};

/// A stored JSON document. Stores return it byte for byte. It is parsed only when its content is
/// needed. Clones are cheap.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Document(Arc<str>);

impl Document {
    /// Serializes a value. Returns `Invalid` if the value has no JSON form, such as a map with
    /// lists as keys.
    pub fn serialize(value: &impl Serialize) -> Result<Self> {
        let json = serde_json::to_string(value).map_err(|e| {
            PortError::caused_by(ErrorKind::Invalid, "a document has no form in JSON", e)
        })?;
        Ok(Self::from_json(&json))
    }

    /// Wraps stored JSON without checking it.
    pub fn from_json(json: &str) -> Self {
        Self(json.into())
    }

    /// Returns the JSON text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Deserializes the document. Fails if the document is damaged or does not have the form of a
    /// `T`.
    pub fn read<'d, T: Deserialize<'d>>(&'d self) -> serde_json::Result<T> {
        serde_json::from_str(&self.0)
    }
}

impl fmt::Debug for Document {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<serde_json::Value> for Document {
    fn from(value: serde_json::Value) -> Self {
        Self(value.to_string().into())
    }
}
