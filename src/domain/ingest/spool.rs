//! A source on its way to disk: written, hashed and counted in one pass.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use ports::ByteStream;
use sha1::{Digest, Sha1};
use tempfile::TempPath;
use tokio::io::AsyncWriteExt;

use crate::domain::kernel::disk::BLOCK;
use crate::domain::kernel::error::{Error, Result};
use crate::domain::kernel::video::VideoId;

/// A temporary file that is being written. Dropping it removes the file.
pub struct Spool {
    file: tokio::fs::File,
    path: TempPath,
    hash: Sha1,
    size: u64,
    limit: Limit,
    /// What it shares with other uploads, for one.
    room: Option<Room>,
    /// Bytes until it is looked again whether there is room.
    unlooked: u64,
}

/// The room that uploads share while they arrive, wait and are worked on.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Room {
    folder: PathBuf,
    /// Most bytes of disk that they take together.
    most: u64,
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
    pub video_id: VideoId,
    /// Size of the file, bytes.
    pub size: u64,
}

/// How the names of spooled sources begin: downloads and copies from storage, and uploads.
const SOURCE: &str = "source-";
const UPLOAD: &str = "upload-";

/// Bytes that an upload takes between two looks at the room that is left.
const LOOK: u64 = 8 << 20;

/// When to send an upload again for which there was no room, seconds.
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
                if name.starts_with(SOURCE) || name.starts_with(UPLOAD) {
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
        Self::beginning(SOURCE, folder, limit, None).await
    }

    /// The same for an upload; `Busy` when those in `folder` take more than `most` bytes.
    pub async fn upload(folder: PathBuf, limit: Limit, most: u64) -> Result<Self> {
        let room = Room { folder: folder.clone(), most };
        Self::beginning(UPLOAD, folder, limit, Some(room)).await
    }

    async fn beginning(
        prefix: &'static str,
        folder: PathBuf,
        limit: Limit,
        room: Option<Room>,
    ) -> Result<Self> {
        let (file, path) = tokio::task::spawn_blocking(move || {
            std::fs::create_dir_all(&folder)?;
            let named = tempfile::Builder::new().prefix(prefix).tempfile_in(&folder)?;
            Ok::<_, std::io::Error>(named.into_parts())
        })
        .await
        .map_err(std::io::Error::from)??;
        let file = tokio::fs::File::from_std(file);
        Ok(Self { file, path, hash: Sha1::new(), size: 0, limit, room, unlooked: 0 })
    }

    /// Appends bytes; `TooLarge` beyond the limit, `Busy` where uploads have no more room.
    pub async fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.size += bytes.len() as u64;
        if self.size > self.limit.bytes {
            return Err(Error::TooLarge(format!(
                "the source is larger than the {} bytes that are allowed ({})",
                self.limit.bytes, self.limit.key
            )));
        }
        if let Some(room) = &self.room {
            if self.unlooked == 0 {
                room.look().await?;
                self.unlooked = LOOK;
            }
            self.unlooked = self.unlooked.saturating_sub(bytes.len() as u64);
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
        let video_id = VideoId::from_digest(self.hash.finalize().into());
        Ok(Spooled { path: self.path, video_id, size: self.size })
    }
}

impl Room {
    /// `Busy` when uploads take all of it.
    async fn look(&self) -> Result<()> {
        let folder = self.folder.clone();
        let taken = tokio::task::spawn_blocking(move || taken(&folder));
        let taken = taken.await.map_err(std::io::Error::from)??;
        if taken < self.most {
            return Ok(());
        }
        Err(Error::Busy {
            message: format!(
                "the uploads that wait take {taken} bytes of the {} that they may \
                 (ingest.max_waiting_bytes); try again later",
                self.most
            ),
            retry_after: RETRY_AFTER,
        })
    }
}

/// Bytes of disk that uploads take. *Blocks.*
fn taken(folder: &Path) -> std::io::Result<u64> {
    let mut taken = 0;
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with(UPLOAD) {
            // One that is gone meanwhile takes nothing.
            taken += entry.metadata().map_or(0, |file| file.blocks() * BLOCK);
        }
    }
    Ok(taken)
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
    async fn uploads_share_their_room_and_downloads_have_their_own() {
        let folder = tempfile::tempdir().expect("a folder");
        let upload = async || Spool::upload(folder.path().into(), limit(1 << 30), 1 << 20).await;
        let block = vec![1; LOOK as usize];
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
    async fn a_full_disk_is_told_as_such() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut spool = Spool::create(folder.path().into(), limit(1 << 30)).await.expect("a spool");
        let full = std::fs::File::options().write(true).open("/dev/full").expect("a full device");
        spool.file = tokio::fs::File::from_std(full);
        // What is written is known to be lost at the next write or at the end.
        let _ = spool.write(b"x").await;
        let error = spool.finish().await.expect_err("no space").labelled();
        assert!(error.starts_with("OSError: no space is left on the disk"), "{error}");
    }

    #[tokio::test]
    async fn leftovers_are_cleared_and_nothing_else() {
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
