//! What a store keeps for the domain without looking into it.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{ErrorKind, PortError, Result};

/// A document as it is stored: JSON that comes back byte for byte and is read only by whoever needs what it
/// says. Cheap to clone.
#[derive(Clone, PartialEq, Eq)]
pub struct Document(Arc<str>);

impl Document {
    /// The document of a value. `Invalid` where that has no form in JSON, as a map whose keys are lists.
    pub fn of(value: &impl Serialize) -> Result<Self> {
        let json = serde_json::to_string(value).map_err(|e| {
            PortError::caused_by(ErrorKind::Invalid, "a document has no form in JSON", e)
        })?;
        Ok(Self::stored(&json))
    }

    /// One that was stored, as it was.
    pub fn stored(json: &str) -> Self {
        Self(json.into())
    }

    /// The JSON.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// What it says; an error where it was damaged, or says something else.
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
