//! A source on its way to disk: written, hashed and counted in one pass.

use std::path::PathBuf;

use ports::ByteStream;
use sha1::{Digest, Sha1};
use tempfile::TempPath;
use tokio::io::AsyncWriteExt;

use crate::domain::kernel::error::{Error, Result};

/// A temporary file that is being written. Dropping it removes the file.
pub struct Spool {
    file: tokio::fs::File,
    path: TempPath,
    hash: Sha1,
    size: u64,
    limit: Limit,
}

/// How many bytes a spool takes, and what to say beyond.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limit {
    /// Most bytes that are taken.
    pub bytes: u64,
    /// The key that sets it.
    pub key: &'static str,
}

/// A whole source on disk. Dropping it removes the file.
#[derive(Debug)]
pub struct Spooled {
    /// Where it is.
    pub path: TempPath,
    /// First 16 hexadecimal digits of the SHA-1 of the bytes.
    pub video_id: String,
    /// Size of the file, bytes.
    pub size: u64,
}

/// How the names of spooled sources begin.
const PREFIX: &str = "source-";

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
                if entry.file_name().to_string_lossy().starts_with(PREFIX) {
                    std::fs::remove_file(entry.path())?;
                }
            }
            Ok(())
        })
        .await
        .map_err(std::io::Error::from)??;
        Ok(())
    }

    /// An empty file in `folder`, which is made if it is missing.
    pub async fn create(folder: PathBuf, limit: Limit) -> Result<Self> {
        let (file, path) = tokio::task::spawn_blocking(move || {
            std::fs::create_dir_all(&folder)?;
            let named = tempfile::Builder::new().prefix(PREFIX).tempfile_in(&folder)?;
            Ok::<_, std::io::Error>(named.into_parts())
        })
        .await
        .map_err(std::io::Error::from)??;
        Ok(Self { file: tokio::fs::File::from_std(file), path, hash: Sha1::new(), size: 0, limit })
    }

    /// Appends bytes; `TooLarge` beyond the limit.
    pub async fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.size += bytes.len() as u64;
        if self.size > self.limit.bytes {
            return Err(Error::TooLarge(format!(
                "the source is larger than the {} bytes that are allowed ({})",
                self.limit.bytes, self.limit.key
            )));
        }
        // About 100 µs per 64 KiB: hashing here keeps it to one pass without a blocking thread.
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

    /// The written file and its hash.
    pub async fn finish(mut self) -> Result<Spooled> {
        self.file.flush().await?;
        let digest = self.hash.finalize();
        let video_id = digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        Ok(Spooled { path: self.path, video_id, size: self.size })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limit(bytes: u64) -> Limit {
        Limit { bytes, key: "a.key" }
    }

    #[tokio::test]
    async fn bytes_are_written_hashed_and_capped_in_one_pass() {
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
    async fn leftovers_are_cleared_and_nothing_else() {
        let folder = tempfile::tempdir().expect("a folder");
        for name in ["source-left", "other"] {
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
