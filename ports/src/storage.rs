//! Object storage, the bucket that holds videos and posters.

use std::ops::Range;

use async_trait::async_trait;

use crate::{ByteStream, Result};

/// Metadata of a stored object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObjectInfo {
    /// Size in bytes.
    pub size: u64,
    /// Opaque validator that changes with the content, without quotes.
    pub etag: Option<String>,
    /// MIME type, if the store records one.
    pub content_type: Option<String>,
}

/// A bucket of immutable objects under keys such as `<video_id>/<filename>`.
///
/// A key is a relative path of printable text in any script, with segments separated by `/`. A key
/// has at most 1,024 bytes of UTF-8, and a segment at most 200 bytes. No segment is empty, is `.`
/// or `..`, contains a backslash, or begins or ends with a space. No key starts with a dot, because
/// such keys are reserved for adapters. No key is a folder that contains another key. A key that
/// breaks these rules is `Invalid`.
///
/// ```
/// use adapters::storage::OpendalStorage;
/// use futures::{StreamExt, TryStreamExt, stream};
/// use shotlog_ports::storage::{ObjectStorage, ObjectUrls};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> shotlog_ports::Result<()> {
/// let storage = OpendalStorage::memory("http://localhost:8000/files")?;
/// let content = stream::iter([Ok("first ".into()), Ok("second".into())]).boxed();
/// storage.put("0123456789abcdef/clip.mp4", content, "video/mp4").await?;
///
/// let url = storage.public_url("0123456789abcdef/clip.mp4");
/// assert_eq!(storage.key_from_url(&url).as_deref(), Some("0123456789abcdef/clip.mp4"));
///
/// let range = storage.get("0123456789abcdef/clip.mp4", Some(6..12)).await?;
/// let blocks: Vec<bytes::Bytes> = range.try_collect().await?;
/// assert_eq!(blocks.concat(), b"second");
/// # Ok(())
/// # }
/// ```
#[async_trait]
pub trait ObjectStorage: ObjectUrls {
    /// Returns the bucket's name as shown by `/health`.
    fn bucket(&self) -> &str;

    /// Stores the stream's content under `key` and replaces an earlier object. MUST use bounded
    /// memory, no matter how long the stream is. MUST NOT expose a partial object: if the stream
    /// fails, the earlier object stays.
    async fn put(&self, key: &str, content: ByteStream, content_type: &str) -> Result<()>;

    /// Reads the object's metadata; returns `None` if the object does not exist.
    async fn stat(&self, key: &str) -> Result<Option<ObjectInfo>>;

    /// Streams the object's bytes, or a range of them. Returns `NotFound` if the object does not
    /// exist.
    async fn get(&self, key: &str, range: Option<Range<u64>>) -> Result<ByteStream>;

    /// Lists the keys that start with `prefix` (which ends with `/`), in order.
    async fn list(&self, prefix: &str) -> Result<Vec<String>>;

    /// Removes the object. A missing object is not an error.
    async fn delete(&self, key: &str) -> Result<()>;

    /// Removes every object whose key starts with `prefix` (which ends with `/`) and returns the
    /// removed keys in order. If there is no such object, that is not an error.
    async fn delete_prefix(&self, prefix: &str) -> Result<Vec<String>>;

    /// Checks that the bucket can be reached and written to, and fails otherwise. MUST NOT retry.
    /// The caller sets a deadline and drops the call when the deadline passes.
    async fn probe(&self) -> Result<()>;
}

/// The URLs of the objects in a bucket.
#[async_trait]
pub trait ObjectUrls: Send + Sync {
    /// Returns the object's public URL, which anyone can fetch if the bucket is public. MUST NOT do
    /// I/O.
    fn public_url(&self, key: &str) -> String;

    /// Returns a URL that a client can fetch now. It is the public URL or, if the bucket is
    /// private, a presigned URL that expires.
    async fn download_url(&self, key: &str) -> Result<String>;

    /// Extracts the key from a public URL of an object in this bucket. Returns `None` for any other
    /// URL.
    fn key_from_url(&self, url: &str) -> Option<String>;
}
