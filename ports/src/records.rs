//! JSON records. These small documents are the service's source of truth.

use async_trait::async_trait;
use serde_json::Value;

use crate::{ErrorKind, Result};

/// The state that a document must be in for [`RecordStore::compare_and_swap`] to replace it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Precondition<'a> {
    /// The document does not exist.
    Absent,
    /// The document has this content.
    Document(&'a Value),
    /// The document exists but is not JSON.
    Unreadable,
}

impl<'a> From<Option<&'a Value>> for Precondition<'a> {
    fn from(document: Option<&'a Value>) -> Self {
        document.map_or(Self::Absent, Self::Document)
    }
}

impl Precondition<'_> {
    /// Returns whether the result of [`RecordStore::get`] meets the precondition. An error other
    /// than `Corrupt` is returned to the caller.
    pub fn matches(self, stored: Result<Option<Value>>) -> Result<bool> {
        match stored {
            Ok(None) => Ok(self == Self::Absent),
            Ok(Some(stored)) => Ok(matches!(self, Self::Document(document) if *document == stored)),
            Err(e) if e.kind() == ErrorKind::Corrupt => Ok(self == Self::Unreadable),
            Err(e) => Err(e),
        }
    }
}

/// An opaque version of a document. It is unique among all documents ever stored under the same
/// key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Version(String);

impl Version {
    /// Wraps a version that is written in the store's notation.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }
}

/// JSON documents under keys such as `videos/<video_id>/video.json`. Keys follow the rules of
/// [`ObjectStorage`](crate::storage::ObjectStorage).
///
/// ```
/// use adapters::records::MemoryRecords;
/// use serde_json::json;
/// use shotlog_ports::records::{Precondition, RecordStore};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> shotlog_ports::Result<()> {
/// let records = MemoryRecords::new();
/// let (key, one, two) = ("videos/0123456789abcdef/video.json", json!(1), json!(2));
/// records.put(key, &one).await?;
///
/// assert!(!records.compare_and_swap(key, Precondition::Absent, &two).await?);
/// assert!(records.compare_and_swap(key, Precondition::Document(&one), &two).await?);
/// assert_eq!(records.get(key).await?, Some(two));
/// assert_eq!(records.children("videos/").await?, ["0123456789abcdef"]);
/// # Ok(())
/// # }
/// ```
#[async_trait]
pub trait RecordStore: Send + Sync {
    /// Reads the document. Returns `None` if it does not exist. Fails with `Corrupt` if it is not
    /// JSON.
    async fn get(&self, key: &str) -> Result<Option<Value>>;

    /// Returns the document's version. Returns `None` if the document does not exist, or if the
    /// store has no version that is cheaper to fetch than the document. The version MUST change
    /// when the document is replaced or removed, even if the same content is stored again later. A
    /// `get` after this call MUST return a document of this version or a newer one.
    async fn version(&self, key: &str) -> Result<Option<Version>>;

    /// Returns the version of all documents whose keys start with `prefix`, which ends with `/`. It
    /// MUST change when one of them is created, replaced or removed, and may change more often.
    /// Returns `None` if the store has no version that is much cheaper to fetch than the documents.
    /// A `get` after this call MUST return a document of this version or a newer one.
    async fn folder_version(&self, prefix: &str) -> Result<Option<Version>>;

    /// Replaces the document. MUST be atomic: a reader sees either the old document or the new one,
    /// never a mixture. When the call returns, the document MUST survive a crash of the process or
    /// the machine.
    async fn put(&self, key: &str, document: &Value) -> Result<()>;

    /// Replaces the document if it meets the `expected` precondition and returns whether it did.
    /// MUST be atomic: if several calls, in any process, have the same precondition, only one
    /// succeeds. If the call fails, or if a store that retries requests returns `false`, the
    /// document may still have been replaced; read it again to find out.
    async fn compare_and_swap(
        &self,
        key: &str,
        expected: Precondition<'_>,
        document: &Value,
    ) -> Result<bool>;

    /// Removes the document if its content equals `expected` and returns whether it did. MUST be
    /// atomic like [`Self::compare_and_swap`]. A store that cannot guarantee this removes nothing
    /// and returns `false`.
    async fn remove(&self, key: &str, expected: &Value) -> Result<bool>;

    /// Lists every key that starts with `prefix`, in order. The prefix is empty or ends with `/`.
    async fn list(&self, prefix: &str) -> Result<Vec<String>>;

    /// Lists the distinct key segments that directly follow `prefix`, in order. For example, if the
    /// keys are `a/x/1`, `a/x/2` and `a/y`, the prefix `a/` yields `x` and `y`. The prefix is empty
    /// or ends with `/`.
    async fn children(&self, prefix: &str) -> Result<Vec<String>>;

    /// If the prefix is empty or ends with `/`, removes every document whose key starts with it.
    /// Otherwise removes the one document whose key equals the prefix. When the call returns, the
    /// removal is durable. If there is no such document, that is not an error.
    async fn delete(&self, prefix: &str) -> Result<()>;

    /// Checks that documents can be read and written, and fails otherwise.
    async fn probe(&self) -> Result<()>;
}
