//! Stored JSON records: small documents that are the service's source of truth.

use async_trait::async_trait;
use serde_json::Value;

use crate::{ErrorKind, Result};

/// What a document must still be for [`RecordStore::compare_and_swap`] to replace it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Expected<'a> {
    /// There is none.
    Absent,
    /// It has this content.
    Document(&'a Value),
    /// It is there but is not JSON.
    Unreadable,
}

impl<'a> From<Option<&'a Value>> for Expected<'a> {
    fn from(document: Option<&'a Value>) -> Self {
        document.map_or(Self::Absent, Self::Document)
    }
}

impl Expected<'_> {
    /// Whether this is what [`RecordStore::get`] has found. Its errors are passed on, `Corrupt` aside.
    pub fn matches(self, found: Result<Option<Value>>) -> Result<bool> {
        match found {
            Ok(None) => Ok(self == Self::Absent),
            Ok(Some(found)) => Ok(matches!(self, Self::Document(document) if *document == found)),
            Err(e) if e.kind() == ErrorKind::Corrupt => Ok(self == Self::Unreadable),
            Err(e) => Err(e),
        }
    }
}

/// Tells a document from whatever else was or will be under its key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Version(String);

impl Version {
    /// Whatever it is that tells.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }
}

/// JSON documents under keys such as `videos/<video_id>/video.json`. Keys obey the rules of
/// [`crate::storage::ObjectStorage`].
#[async_trait]
pub trait RecordStore: Send + Sync {
    /// The document, or `None`. `Corrupt` when it is there but is not JSON.
    async fn get(&self, key: &str) -> Result<Option<Value>>;

    /// The version of the document, and `None` where there is none, or none that is cheaper to ask for
    /// than to read the document. MUST be another one once the document was replaced or removed,
    /// though the same content came back: what is read after it is of this version or a later one.
    async fn version(&self, key: &str) -> Result<Option<Version>> {
        let _ = key;
        Ok(None)
    }

    /// Replaces the document. MUST be atomic (a reader sees the old one or the new one, whole) and
    /// durable when it returns, a crash of the process or the machine included.
    async fn put(&self, key: &str, document: &Value) -> Result<()>;

    /// Replaces the document if it is still what is `expected`, and says whether it did. MUST be
    /// atomic: of several calls that expect the same, in whatever process, one does it. After an
    /// error, and after `false` where the store repeats requests by itself, the document may have
    /// been replaced all the same: the caller tells by reading it again.
    async fn compare_and_swap(
        &self,
        key: &str,
        expected: Expected<'_>,
        document: &Value,
    ) -> Result<bool>;

    /// Removes the document if it still has the content that is `expected`, and says whether it did.
    /// MUST be atomic, as [`Self::compare_and_swap`] is. A store that cannot do so removes nothing.
    async fn remove(&self, key: &str, expected: &Value) -> Result<bool>;

    /// Every key that starts with `prefix` (empty, or ending with `/`), in order.
    async fn list(&self, prefix: &str) -> Result<Vec<String>>;

    /// The distinct next segments below `prefix` (empty, or ending with `/`), in order: for keys
    /// `a/x/1`, `a/x/2` and `a/y` and the prefix `a/` these are `x` and `y`.
    async fn children(&self, prefix: &str) -> Result<Vec<String>>;

    /// Removes every document below `prefix` where it is empty or ends with `/`, and else the one
    /// document of that key. Durable when it returns. Nothing there is no error.
    async fn delete(&self, prefix: &str) -> Result<()>;

    /// Fails unless records can be read and written.
    async fn probe(&self) -> Result<()>;
}
