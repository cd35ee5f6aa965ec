//! Object storage: the public bucket that holds videos and posters.

use std::ops::Range;

use async_trait::async_trait;

use crate::{ByteStream, Result};

/// What is known of a stored object without reading it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObjectInfo {
    /// Size in bytes.
    pub size: u64,
    /// Opaque validator that changes with the content, without quotes.
    pub etag: Option<String>,
    /// MIME type, where the store keeps one.
    pub content_type: Option<String>,
}

/// A bucket of immutable objects under keys such as `<video_id>/<filename>`. Keys are printable
/// text of any script, `/`-separated and relative, at most 1,024 bytes of UTF-8 with segments of at
/// most 200. They have no empty, `.` or `..` segment, no backslash and no space at an end of a segment,
/// and do not start with a dot (what does is reserved to adapters). Any other key is `Invalid`. No key
/// may be a folder of another.
#[async_trait]
pub trait ObjectStorage: Send + Sync {
    /// The bucket's name, for `/health`.
    fn bucket(&self) -> &str;

    /// The object's address, which anyone may fetch where the bucket is public. MUST NOT do I/O.
    fn public_url(&self, key: &str) -> String;

    /// An address that a client can fetch the object from now: the public one, or, where the bucket
    /// is not public, one that is signed and ends.
    async fn link(&self, key: &str) -> Result<String> {
        Ok(self.public_url(key))
    }

    /// The key that a public URL of this bucket points to, or `None` for any other URL.
    fn key_of_url(&self, url: &str) -> Option<String>;

    /// Stores the stream under `key`, replacing what was there. MUST keep memory bounded whatever
    /// the length, and MUST NOT let a reader see a part: a failed stream leaves the earlier object.
    async fn put(&self, key: &str, content: ByteStream, content_type: &str) -> Result<()>;

    /// The object's description, or `None` where there is no such object.
    async fn stat(&self, key: &str) -> Result<Option<ObjectInfo>>;

    /// The object's bytes, or those of a range that lies within it. `NotFound` where there is no
    /// such object.
    async fn get(&self, key: &str, range: Option<Range<u64>>) -> Result<ByteStream>;

    /// The keys of the objects below `prefix` (which ends with `/`), in order.
    async fn list(&self, prefix: &str) -> Result<Vec<String>>;

    /// Removes the object. Nothing there is no error.
    async fn delete(&self, key: &str) -> Result<()>;

    /// Removes every object whose key starts with `prefix` (which ends with `/`) and returns the
    /// removed keys in order. Nothing there is no error.
    async fn delete_prefix(&self, prefix: &str) -> Result<Vec<String>>;

    /// Fails unless the bucket can be reached and written to. MUST NOT try again what failed; the
    /// caller sets the deadline and drops the call at it.
    async fn probe(&self) -> Result<()>;
}
