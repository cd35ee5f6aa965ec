//! Object storage through opendal: in a folder, in memory, or in a bucket that `cloud` opens.

use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Duration;

use async_trait::async_trait;
use futures::{StreamExt, TryStreamExt, stream};
use opendal::{Operator, Writer, services};
use ports::storage::{ObjectInfo, ObjectStorage, ObjectUrls};
use ports::{ByteStream, ErrorKind, PortError, Result};

use super::folder;
use super::urls::PublicUrls;
use crate::keys::{check_key, check_prefix};

/// Folder for incomplete uploads. No key can name it.
const PARTIAL: &str = ".partial";
/// The key that `probe` writes.
const PROBE: &str = ".probe";
/// Minimum age of the partial files that are removed when the folder is opened. Another process may
/// still be writing younger files.
const ABANDONED_AFTER: Duration = Duration::from_secs(24 * 60 * 60);
/// The URL path under which the service serves local objects.
const URL_FOLDER: &str = "storage";
/// Block size for reads and writes in a folder or in memory, in bytes.
const LOCAL_BLOCK: usize = 1 << 20;

/// Limits for requests to a bucket.
#[derive(Debug, Clone, PartialEq)]
pub struct RemoteLimits {
    /// Size of an upload part in bytes; at least 5 MiB on S3. Parts are buffered in memory.
    pub part_size: usize,
    /// Number of parts of one upload to send in parallel.
    pub concurrency: usize,
    /// Timeout for a request without a body.
    pub timeout: Duration,
    /// Timeout for each read or write of a body.
    pub io_timeout: Duration,
    /// Maximum number of retries of a failed request, with exponential backoff.
    pub retries: usize,
}

impl Default for RemoteLimits {
    /// The defaults of `[storage]`.
    fn default() -> Self {
        (&super::Settings::default()).into()
    }
}

/// Object storage in a bucket, in a folder or in memory.
pub struct OpendalStorage {
    pub(crate) operator: Operator,
    /// The same operator, but without retries.
    pub(crate) probing: Operator,
    pub(super) bucket: String,
    pub(super) urls: PublicUrls,
    /// The canonical path of the folder, if objects are files.
    pub(super) root: Option<PathBuf>,
    pub(super) block: usize,
    pub(super) concurrency: usize,
    /// Lifetime of presigned URLs; `None` for a public bucket.
    pub(super) signed: Option<Duration>,
}

impl OpendalStorage {
    /// Stores objects as files in `root`, which is created if necessary. Their public URLs are
    /// `{base_url}/storage/<key>`, which the service serves. *Blocks.*
    pub fn folder(root: &Path, base_url: &str) -> Result<Self> {
        let unusable = |e: io::Error| {
            PortError::caused_by(
                PortError::from(io::Error::from(e.kind())).kind(),
                format!("cannot use {} as the storage folder: {e}", root.display()),
                e,
            )
        };
        let partial = root.join(PARTIAL);
        std::fs::create_dir_all(&partial).map_err(unusable)?;
        let root = root.canonicalize().map_err(unusable)?;
        remove_abandoned(&root.join(PARTIAL)).map_err(unusable)?;
        let service = services::Fs::default()
            .root(&root.to_string_lossy())
            .atomic_write_dir(&root.join(PARTIAL).to_string_lossy());
        let bucket = root
            .file_name()
            .map_or_else(|| URL_FOLDER.into(), |name| name.to_string_lossy().into_owned());
        let operator = Operator::new(service).map_err(|e| failed("open", "", e))?;
        Ok(Self {
            probing: operator.clone(),
            operator,
            bucket,
            urls: PublicUrls::new(base_url, URL_FOLDER)?,
            root: Some(root),
            block: LOCAL_BLOCK,
            concurrency: 1,
            signed: None,
        })
    }

    /// Stores objects in memory, where they are lost when the process ends. URLs are as in
    /// [`Self::folder`].
    pub fn memory(base_url: &str) -> Result<Self> {
        let operator =
            Operator::new(services::Memory::default()).map_err(|e| failed("open", "", e))?;
        Ok(Self {
            probing: operator.clone(),
            operator,
            bucket: "memory".into(),
            urls: PublicUrls::new(base_url, URL_FOLDER)?,
            root: None,
            block: LOCAL_BLOCK,
            concurrency: 1,
            signed: None,
        })
    }

    /// Returns `Unavailable` if the folder has disappeared since it was opened, for example because
    /// its disk is no longer mounted. Without this check, the folder would be recreated empty, and
    /// every object would count as removed.
    async fn check_root(&self) -> Result<()> {
        let Some(root) = &self.root else { return Ok(()) };
        // This subfolder was created when the folder was opened, so an empty mount point fails the
        // check.
        match tokio::fs::metadata(root.join(PARTIAL)).await {
            Ok(metadata) if metadata.is_dir() => Ok(()),
            Ok(_) => Err(root_missing(io::ErrorKind::NotADirectory.into())),
            Err(e) => Err(root_missing(e)),
        }
    }

    async fn write(&self, key: &str, mut content: ByteStream, content_type: &str) -> Result<()> {
        let writing = self.operator.writer_with(key).chunk(self.block).concurrent(self.concurrency);
        let writing =
            if self.root.is_some() { writing } else { writing.content_type(content_type) };
        let writer = writing.await.map_err(|e| failed("store", key, e))?;
        let mut upload = Upload { writer: Some(writer) };
        let written = async {
            while let Some(block) = content.try_next().await? {
                upload.writer()?.write(block).await.map_err(|e| failed("store", key, e))?;
            }
            upload.writer()?.close().await.map_err(|e| failed("store", key, e))
        }
        .await;
        match written {
            Ok(_) => {
                upload.writer = None;
                Ok(())
            }
            Err(e) => {
                upload.abort().await;
                Err(e)
            }
        }
    }

    /// Lists the keys and the folders under a prefix. The folders include the prefix itself.
    async fn below(&self, prefix: &str) -> Result<(Vec<String>, Vec<String>)> {
        let failed = |e: opendal::Error| failed("list", prefix, e);
        let (mut keys, mut folders) = (Vec::new(), vec![prefix.to_owned()]);
        let mut entries =
            self.operator.lister_with(prefix).recursive(true).await.map_err(failed)?;
        while let Some(entry) = entries.try_next().await.map_err(failed)? {
            let path = entry.path().to_owned();
            if entry.metadata().is_dir() { folders.push(path) } else { keys.push(path) }
        }
        keys.sort();
        Ok((keys, folders))
    }

    /// Removes a file. It is not an error if another caller has just removed it.
    async fn delete_file(&self, key: &str) -> Result<()> {
        match self.operator.delete(key).await {
            Err(e) if e.kind() != opendal::ErrorKind::NotFound => Err(failed("remove", key, e)),
            _ => Ok(()),
        }
    }

    async fn read(
        &self,
        key: &str,
        etag: Option<&str>,
        range: Option<Range<u64>>,
    ) -> Result<ByteStream> {
        let reading = self.operator.reader_with(key);
        // The range was checked against this version of the object and is meaningless for any other
        // version.
        let conditional = self.operator.info().capability().read_with_if_match;
        let reading = match etag {
            Some(etag) if conditional && range.is_some() => {
                reading.if_match(&format!("\"{etag}\""))
            }
            _ => reading,
        };
        let reader = reading.await.map_err(|e| failed("read", key, e))?;
        let blocks = match range {
            Some(range) => reader.into_bytes_stream(range).await,
            None => reader.into_bytes_stream(..).await,
        };
        let key = key.to_owned();
        Ok(blocks
            .map_err(|e| failed("read", &key, e))?
            .map_err(move |e| failed_stream(&key, e))
            .boxed())
    }
}

#[async_trait]
impl ObjectStorage for OpendalStorage {
    fn bucket(&self) -> &str {
        &self.bucket
    }

    async fn put(&self, key: &str, content: ByteStream, content_type: &str) -> Result<()> {
        check_key(key)?;
        self.check_root().await?;
        self.write(key, content, content_type).await
    }

    async fn stat(&self, key: &str) -> Result<Option<ObjectInfo>> {
        check_key(key)?;
        if let Some(root) = &self.root {
            let file = folder::open(root, key).await?;
            if file.is_none() {
                self.check_root().await?;
            }
            return Ok(file.map(|file| file.info));
        }
        match self.operator.stat(key).await {
            Ok(metadata) if metadata.is_file() => Ok(Some(ObjectInfo {
                size: metadata.content_length(),
                etag: metadata.etag().map(|etag| etag.trim_matches('"').to_owned()),
                content_type: metadata.content_type().map(str::to_owned),
            })),
            Ok(_) => Ok(None),
            Err(e) if e.kind() == opendal::ErrorKind::NotFound => Ok(None),
            Err(e) => Err(failed("describe", key, e)),
        }
    }

    async fn get(&self, key: &str, range: Option<Range<u64>>) -> Result<ByteStream> {
        check_key(key)?;
        let absent =
            || PortError::new(ErrorKind::NotFound, format!("there is no object {key} in storage"));
        if let Some(root) = &self.root {
            let Some(file) = folder::open(root, key).await? else {
                self.check_root().await?;
                return Err(absent());
            };
            let range = check_range(key, range, file.info.size)?;
            return file.read(range).await;
        }
        let info = self.stat(key).await?.ok_or_else(absent)?;
        let range = match range {
            None => None,
            Some(range) => Some(check_range(key, Some(range), info.size)?),
        };
        if range.as_ref().is_some_and(Range::is_empty) {
            return Ok(stream::empty().boxed());
        }
        self.read(key, info.etag.as_deref(), range).await
    }

    async fn list(&self, prefix: &str) -> Result<Vec<String>> {
        check_prefix(prefix)?;
        self.check_root().await?;
        Ok(self.below(prefix).await?.0)
    }

    async fn delete(&self, key: &str) -> Result<()> {
        check_key(key)?;
        self.check_root().await?;
        self.delete_file(key).await?;
        if self.root.is_some()
            && let Some((folder, _)) = key.rsplit_once('/')
        {
            // This fails if the folder is not empty.
            let _ = self.operator.delete(&format!("{folder}/")).await;
        }
        Ok(())
    }

    async fn delete_prefix(&self, prefix: &str) -> Result<Vec<String>> {
        check_prefix(prefix)?;
        if prefix.is_empty() {
            return Err(PortError::new(
                ErrorKind::Invalid,
                "refusing to empty the whole bucket: name a prefix that ends with a slash",
            ));
        }
        let gone = |e: opendal::Error| failed("remove", prefix, e);
        self.check_root().await?;
        let (keys, mut folders) = self.below(prefix).await?;
        if self.root.is_none() {
            self.operator.delete_iter(keys.clone()).await.map_err(gone)?;
            return Ok(keys);
        }
        for key in &keys {
            self.delete_file(key).await?;
        }
        // Removes the innermost folders first. If a folder is not empty, a file has just been
        // written to it, so the folder stays.
        folders.sort_by_key(|folder| std::cmp::Reverse(folder.len()));
        for folder in folders {
            let _ = self.operator.delete(&folder).await;
        }
        Ok(keys)
    }

    async fn probe(&self) -> Result<()> {
        self.check_root().await?;
        let written = self.probing.write(PROBE, "probe").await;
        written.map_err(|e| failed("store", PROBE, e))?;
        match self.probing.delete(PROBE).await {
            // Another instance's probe may have removed the object first.
            Err(e) if e.kind() != opendal::ErrorKind::NotFound => Err(failed("remove", PROBE, e)),
            _ => Ok(()),
        }
    }
}

#[async_trait]
impl ObjectUrls for OpendalStorage {
    fn public_url(&self, key: &str) -> String {
        self.urls.url(key)
    }

    async fn download_url(&self, key: &str) -> Result<String> {
        check_key(key)?;
        let Some(holds) = self.signed else { return Ok(self.urls.url(key)) };
        let signed = self.operator.presign_read(key, holds).await;
        Ok(signed.map_err(|e| failed("sign the address of", key, e))?.uri().to_string())
    }

    fn key_from_url(&self, url: &str) -> Option<String> {
        self.urls.key(url)
    }
}

/// A guard that discards an upload unless the upload was closed, even if the future that writes it
/// is dropped.
struct Upload {
    writer: Option<Writer>,
}

impl Upload {
    fn writer(&mut self) -> Result<&mut Writer> {
        self.writer
            .as_mut()
            .ok_or_else(|| PortError::new(ErrorKind::Other, "the upload has already ended"))
    }

    async fn abort(mut self) {
        if let Some(writer) = self.writer.take() {
            discard(writer).await;
        }
    }
}

impl Drop for Upload {
    fn drop(&mut self) {
        if let (Some(writer), Ok(runtime)) =
            (self.writer.take(), tokio::runtime::Handle::try_current())
        {
            runtime.spawn(discard(writer));
        }
    }
}

async fn discard(mut writer: Writer) {
    if let Err(e) = writer.abort().await {
        tracing::debug!(error = %e, "an unfinished upload could not be discarded");
    }
}

/// Returns the requested range, or the range of the whole object if none was requested. Fails
/// unless the range is within the object.
fn check_range(key: &str, range: Option<Range<u64>>, size: u64) -> Result<Range<u64>> {
    let range = range.unwrap_or(0..size);
    if range.start <= range.end && range.end <= size {
        return Ok(range);
    }
    Err(PortError::new(
        ErrorKind::Invalid,
        format!("bytes {}..{} do not lie within the {size} bytes of {key}", range.start, range.end),
    ))
}

fn root_missing(e: io::Error) -> PortError {
    let message = "the storage folder is gone; mount its disk again, or restart the service to begin with \
                   an empty one";
    PortError::caused_by(ErrorKind::Unavailable, message, e)
}

fn remove_abandoned(folder: &Path) -> io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let age = entry.metadata().and_then(|m| m.modified()).map(|t| t.elapsed());
        if matches!(age, Ok(Ok(age)) if age > ABANDONED_AFTER) {
            let _ = std::fs::remove_file(entry.path());
        }
    }
    Ok(())
}

/// Converts an error. The message reads like `cannot store a/b: No space left on device (os error
/// 28)`. opendal keeps paths, URLs and credentials as context, which appears only in the source
/// error.
pub(crate) fn failed(action: &str, key: &str, e: opendal::Error) -> PortError {
    use opendal::ErrorKind as From;
    let mut kind = match e.kind() {
        From::NotFound => ErrorKind::NotFound,
        From::PermissionDenied => ErrorKind::Denied,
        From::ConfigInvalid | From::RangeNotSatisfied => ErrorKind::Invalid,
        From::RateLimited => ErrorKind::Unavailable,
        _ if e.is_temporary() || e.is_persistent() => ErrorKind::Unavailable,
        _ => ErrorKind::Other,
    };
    let mut reason = e.message().to_owned();
    let mut cause = std::error::Error::source(&e);
    while let Some(deeper) = cause {
        reason = deeper.to_string();
        // opendal considers these errors temporary.
        if let Some(io) = deeper.downcast_ref::<io::Error>()
            && matches!(
                io.kind(),
                io::ErrorKind::IsADirectory
                    | io::ErrorKind::NotADirectory
                    | io::ErrorKind::AlreadyExists
            )
        {
            kind = ErrorKind::Invalid;
        }
        if let Some(io) = deeper.downcast_ref::<io::Error>()
            && ErrorKind::from(io.kind()) == ErrorKind::Full
        {
            kind = ErrorKind::Full;
        }
        cause = deeper.source();
    }
    PortError::caused_by(kind, format!("cannot {action} {key}: {reason}"), e)
}

fn failed_stream(key: &str, e: io::Error) -> PortError {
    match e.downcast::<opendal::Error>() {
        Ok(e) => failed("read", key, e),
        Err(e) => PortError::caused_by(ErrorKind::Other, format!("cannot read {key}: {e}"), e),
    }
}
