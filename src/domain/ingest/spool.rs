//! A source on its way to disk: written, hashed and counted in one pass.

use std::path::PathBuf;

use ports::ByteStream;
use sha1::{Digest, Sha1};
use tempfile::TempPath;
use tokio::io::AsyncWriteExt;

use crate::domain::error::{Error, Result};

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
    /// Bytes.
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
    /// Bytes.
    pub size: u64,
}

impl Spool {
    /// An empty file in `folder`, which is made if it is missing.
    pub async fn create(folder: PathBuf, limit: Limit) -> Result<Self> {
        let (file, path) = tokio::task::spawn_blocking(move || {
            std::fs::create_dir_all(&folder)?;
            let named = tempfile::Builder::new().prefix("source-").tempfile_in(&folder)?;
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
