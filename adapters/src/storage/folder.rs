//! Reads objects from a storage folder. opendal would stat and read a file by name in two steps,
//! and the object may be replaced in between. For files, opendal also provides neither content
//! types nor validators.

use std::io::{self, ErrorKind as Io};
use std::ops::Range;
use std::path::{Path, PathBuf};

use futures::{StreamExt, TryStreamExt};
use ports::storage::ObjectInfo;
use ports::{ByteStream, PortError, Result};
use tokio::fs::File;
use tokio::io::{AsyncReadExt, AsyncSeekExt};
use tokio_util::io::ReaderStream;

/// Read size, in bytes.
const BLOCK: usize = 256 << 10;

/// An open object. Replacing or removing the object later does not affect reads.
pub(super) struct ObjectFile {
    pub(super) info: ObjectInfo,
    file: File,
    key: String,
}

/// Opens the object under `key`. Returns `None` if it is not a regular file or is a link that leads
/// out of the folder. `root` must be canonical, and `key` must be valid.
pub(super) async fn open(root: &Path, key: &str) -> Result<Option<ObjectFile>> {
    let (root, key) = (root.to_owned(), key.to_owned());
    let opened = tokio::task::spawn_blocking({
        let key = key.clone();
        move || open_plain(&root, &key)
    })
    .await
    .unwrap_or_else(|e| Err(io::Error::other(e)));
    match opened {
        Ok(Some((file, info))) => Ok(Some(ObjectFile { info, file: File::from_std(file), key })),
        Ok(None) => Ok(None),
        Err(e) if matches!(e.kind(), Io::NotFound | Io::NotADirectory) => Ok(None),
        Err(e) => Err(failed(&key, e)),
    }
}

impl ObjectFile {
    /// Reads a byte range of the object.
    pub(super) async fn read(mut self, range: Range<u64>) -> Result<ByteStream> {
        let key = self.key;
        let length = range.end - range.start;
        self.file.seek(io::SeekFrom::Start(range.start)).await.map_err(|e| failed(&key, e))?;
        let blocks = ReaderStream::with_capacity(self.file.take(length), BLOCK);
        Ok(blocks.map_err(move |e| failed(&key, e)).boxed())
    }
}

fn open_plain(root: &Path, key: &str) -> io::Result<Option<(std::fs::File, ObjectInfo)>> {
    let path: PathBuf = root.join(key).canonicalize()?;
    // Opening anything but a regular file, such as a pipe, may block forever.
    if !path.starts_with(root) || !path.metadata()?.is_file() {
        return Ok(None);
    }
    let file = std::fs::File::open(path)?;
    let metadata = file.metadata()?;
    let info = ObjectInfo {
        size: metadata.len(),
        etag: Some(etag(&metadata)?),
        content_type: mime_guess::from_path(key).first_raw().map(str::to_owned),
    };
    Ok(Some((file, info)))
}

/// Returns an ETag. Every write creates a new file, and the ETag includes the inode, so two
/// versions that were written within one clock tick have different tags.
fn etag(metadata: &std::fs::Metadata) -> io::Result<String> {
    use std::os::unix::fs::MetadataExt;
    let modified = metadata.modified()?.duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    Ok(format!("{:x}-{:x}-{:x}", metadata.ino(), metadata.len(), modified.as_nanos()))
}

fn failed(key: &str, e: io::Error) -> PortError {
    let kind = PortError::from(io::Error::from(e.kind())).kind();
    PortError::caused_by(kind, format!("cannot read {key}: {e}"), e)
}
