//! Spools a source to disk: writes, hashes and counts its bytes in one pass.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use ports::ByteStream;
use sha1::{Digest, Sha1};
use tempfile::TempPath;
use tokio::io::AsyncWriteExt;

use crate::kernel::disk::BLOCK;
use crate::kernel::error::{Error, Result};
use crate::kernel::video::VideoId;

/// A temporary file being written. Dropping it removes the file.
pub struct Spool {
    file: tokio::fs::File,
    path: TempPath,
    hash: Sha1,
    size: u64,
    limit: Limit,
    /// The quota shared with other uploads; `None` for downloads.
    quota: Option<UploadQuota>,
    /// Number of bytes to write before the quota is checked again.
    until_check: u64,
}

/// The disk quota of uploads that are arriving, waiting or being processed.
#[derive(Debug, Clone, PartialEq, Eq)]
struct UploadQuota {
    folder: PathBuf,
    /// Maximum disk usage of all uploads together, in bytes.
    max_bytes: u64,
}

/// The maximum size of a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limit {
    /// Maximum size, in bytes.
    pub bytes: u64,
    /// The configuration key for the limit, for error messages.
    pub key: &'static str,
}

/// A complete source on disk. Dropping it removes the file.
#[derive(Debug)]
pub struct SpooledFile {
    /// Path of the file.
    pub path: TempPath,
    /// First 16 hexadecimal digits of the SHA-1 of the bytes.
    pub video_id: VideoId,
    /// Size of the file, in bytes.
    pub size: u64,
}

/// File name prefix of spooled downloads and of spooled copies from storage.
const SOURCE_PREFIX: &str = "source-";
/// File name prefix of spooled uploads.
const UPLOAD_PREFIX: &str = "upload-";

/// Number of bytes written between two quota checks.
const CHECK_INTERVAL: u64 = 8 << 20;

/// `Retry-After` if the quota is exhausted, in seconds.
const RETRY_AFTER: u32 = 30;

impl Spool {
    /// Removes every spooled source from `folder`.
    pub async fn clear(folder: PathBuf) -> Result<()> {
        tokio::task::spawn_blocking(move || {
            let entries = match std::fs::read_dir(&folder) {
                Ok(entries) => entries,
                Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(()),
                Err(e) => return Err(e),
            };
            for entry in entries {
                let entry = entry?;
                let name = entry.file_name();
                let name = name.to_string_lossy();
                if name.starts_with(SOURCE_PREFIX) || name.starts_with(UPLOAD_PREFIX) {
                    std::fs::remove_file(entry.path())?;
                }
            }
            Ok(())
        })
        .await
        .map_err(std::io::Error::from)??;
        Ok(())
    }

    /// Creates an empty file in `folder`. Creates the folder if it is missing.
    pub async fn create(folder: PathBuf, limit: Limit) -> Result<Self> {
        Self::open(SOURCE_PREFIX, folder, limit, None).await
    }

    /// Creates an empty file for an upload, like [`Self::create`]. Writing returns `Busy` while
    /// uploads in `folder` take `max_bytes` bytes or more.
    pub async fn upload(folder: PathBuf, limit: Limit, max_bytes: u64) -> Result<Self> {
        let quota = UploadQuota { folder: folder.clone(), max_bytes };
        Self::open(UPLOAD_PREFIX, folder, limit, Some(quota)).await
    }

    async fn open(
        prefix: &'static str,
        folder: PathBuf,
        limit: Limit,
        quota: Option<UploadQuota>,
    ) -> Result<Self> {
        let (file, path) = tokio::task::spawn_blocking(move || {
            std::fs::create_dir_all(&folder)?;
            let named = tempfile::Builder::new().prefix(prefix).tempfile_in(&folder)?;
            Ok::<_, std::io::Error>(named.into_parts())
        })
        .await
        .map_err(std::io::Error::from)??;
        let file = tokio::fs::File::from_std(file);
        Ok(Self { file, path, hash: Sha1::new(), size: 0, limit, quota, until_check: 0 })
    }

    /// Appends bytes. Returns `TooLarge` if the file would exceed the limit, and `Busy` if the
    /// quota for uploads is exhausted.
    pub async fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.size += bytes.len() as u64;
        if self.size > self.limit.bytes {
            return Err(Error::TooLarge(format!(
                "the source is larger than the {} bytes that are allowed ({})",
                self.limit.bytes, self.limit.key
            )));
        }
        if let Some(quota) = &self.quota {
            if self.until_check == 0 {
                quota.check().await?;
                self.until_check = CHECK_INTERVAL;
            }
            self.until_check = self.until_check.saturating_sub(bytes.len() as u64);
        }
        // Hashing takes about 100 µs per 64 KiB, which is short enough to do without a blocking
        // thread.
        for piece in bytes.chunks(64 * 1024) {
            self.hash.update(piece);
            self.file.write_all(piece).await?;
        }
        Ok(())
    }

    /// Appends a whole stream.
    pub async fn write_stream(&mut self, mut stream: ByteStream) -> Result<()> {
        use futures::TryStreamExt;
        while let Some(bytes) = stream.try_next().await? {
            self.write(&bytes).await?;
        }
        Ok(())
    }

    /// Completes the file and returns it with its hash.
    pub async fn finish(mut self) -> Result<SpooledFile> {
        self.file.flush().await?;
        let video_id = VideoId::from_digest(self.hash.finalize().into());
        Ok(SpooledFile { path: self.path, video_id, size: self.size })
    }
}

impl UploadQuota {
    /// Checks the quota and returns `Busy` if it is exhausted.
    async fn check(&self) -> Result<()> {
        let folder = self.folder.clone();
        let used = tokio::task::spawn_blocking(move || disk_usage(&folder));
        let used = used.await.map_err(std::io::Error::from)??;
        if used < self.max_bytes {
            return Ok(());
        }
        Err(Error::Busy {
            message: format!(
                "waiting uploads use {used} of {} bytes (ingest.max_waiting_bytes); try again later",
                self.max_bytes
            ),
            retry_after: RETRY_AFTER,
        })
    }
}

/// Computes the disk space that uploads take, in bytes. *Blocks.*
fn disk_usage(folder: &Path) -> std::io::Result<u64> {
    let mut used = 0;
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with(UPLOAD_PREFIX) {
            // An upload that was removed in the meantime takes no space.
            used += entry.metadata().map_or(0, |file| file.blocks() * BLOCK);
        }
    }
    Ok(used)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limit(bytes: u64) -> Limit {
        Limit { bytes, key: "a.key" }
    }

    #[tokio::test]
    async fn spool_hashes_and_limits_bytes() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut spool = Spool::create(folder.path().into(), limit(3)).await.expect("a spool");
        spool.write(b"ab").await.expect("room");
        spool.write(b"c").await.expect("room");
        let spooled = spool.finish().await.expect("a file");
        // The SHA-1 of "abc" is a9993e364706816aba3e25717850c26c9cd0d89d (FIPS 180).
        assert_eq!((spooled.video_id.as_str(), spooled.size), ("a9993e364706816a", 3));
        assert_eq!(std::fs::read(&spooled.path).expect("the file"), b"abc");

        let mut spool = Spool::create(folder.path().into(), limit(3)).await.expect("a spool");
        let error = spool.write(b"abcd").await.expect_err("no room");
        assert!(matches!(&error, Error::TooLarge(why) if why.contains("a.key")), "{error}");
        drop((spool, spooled));
        assert_eq!(std::fs::read_dir(folder.path()).expect("the folder").count(), 0);
    }

    #[tokio::test]
    async fn uploads_share_a_quota_and_downloads_have_none() {
        let folder = tempfile::tempdir().expect("a folder");
        let upload = async || Spool::upload(folder.path().into(), limit(1 << 30), 1 << 20).await;
        let block = vec![1; CHECK_INTERVAL as usize];
        let mut first = upload().await.expect("a spool");
        first.write(&block).await.expect("there was room when it began");
        let mut second = upload().await.expect("a spool");
        for spool in [&mut first, &mut second] {
            let refusal = spool.write(b"x").await.expect_err("no room");
            let Error::Busy { message, .. } = &refusal else { panic!("{refusal:?}") };
            assert!(message.contains("ingest.max_waiting_bytes"), "{message}");
            let mut download =
                Spool::create(folder.path().into(), limit(1 << 30)).await.expect("a spool");
            download.write(&block).await.expect("it is bounded by the jobs that run");
        }
        drop((first, second));
        upload().await.expect("a spool").write(b"x").await.expect("they are gone");
    }

    #[tokio::test]
    async fn full_disks_are_reported() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut spool = Spool::create(folder.path().into(), limit(1 << 30)).await.expect("a spool");
        let full = std::fs::File::options().write(true).open("/dev/full").expect("a full device");
        spool.file = tokio::fs::File::from_std(full);
        // The error surfaces at the next write or at the end.
        let _ = spool.write(b"x").await;
        let error = spool.finish().await.expect_err("no space").labelled();
        assert!(error.starts_with("OSError: no space is left on the disk"), "{error}");
    }

    #[tokio::test]
    async fn clear_removes_only_spooled_sources() {
        let folder = tempfile::tempdir().expect("a folder");
        for name in ["source-left", "upload-left", "other"] {
            std::fs::write(folder.path().join(name), b"x").expect("a file");
        }
        Spool::clear(folder.path().into()).await.expect("cleared");
        Spool::clear(folder.path().join("missing")).await.expect("nothing to clear");
        let names: Vec<_> = std::fs::read_dir(folder.path())
            .expect("the folder")
            .map(|e| e.expect("an entry").file_name())
            .collect();
        assert_eq!(names, ["other"]);
    }
}
