//! The unit of disk usage, and a reserve of disk space.

use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;

use rustix::fs::statvfs;

/// Size of the blocks in which file metadata counts disk usage (`st_blocks`), in bytes.
pub(crate) const BLOCK: u64 = 512;

/// Size of one write while filling the reserve, in bytes.
const CHUNK: usize = 64 << 10;

/// A file that reserves disk space. It is removed if the disk is full when a video is deleted,
/// because a deletion has to write a little before it frees space.
#[derive(Debug, Clone)]
pub(crate) struct Reserve {
    path: PathBuf,
    bytes: u64,
}

impl Reserve {
    pub(crate) fn new(path: PathBuf, bytes: u64) -> Self {
        Self { path, bytes }
    }

    /// Writes the file, unless it already has its full size. Fails if the file would take more than
    /// half of the free space. *Blocks.*
    pub(crate) fn fill(&self) -> io::Result<()> {
        if self.bytes == 0 {
            return self.release();
        }
        if self.path.metadata().is_ok_and(|file| file.len() == self.bytes) {
            return Ok(());
        }
        if let Some(folder) = self.path.parent() {
            std::fs::create_dir_all(folder)?;
            let space = statvfs(folder)?;
            let free = space.f_bavail.saturating_mul(space.f_frsize);
            if free < self.bytes.saturating_mul(2) {
                return Err(io::ErrorKind::StorageFull.into());
            }
        }
        let filled = self.write();
        if filled.is_err() {
            // A partial file would take the last space from other writers.
            self.release()?;
        }
        filled
    }

    fn write(&self) -> io::Result<()> {
        let mut file = File::create(&self.path)?;
        let zeros = [0; CHUNK];
        let mut left = self.bytes;
        while left > 0 {
            let length = left.min(CHUNK as u64);
            file.write_all(&zeros[..length as usize])?;
            left -= length;
        }
        file.sync_all()
    }

    /// Calls [`Self::fill`] or [`Self::release`] on a thread that may block, and logs a failure.
    pub(crate) async fn change(&self, change: fn(&Self) -> io::Result<()>) {
        let reserve = self.clone();
        let changed = tokio::task::spawn_blocking(move || change(&reserve)).await;
        if let Err(error) = changed.unwrap_or_else(|panic| Err(io::Error::other(panic))) {
            tracing::warn!(%error, "could not change the disk reserve for deletes (records.reserve_bytes)");
        }
    }

    /// Removes the file. *Blocks.*
    pub(crate) fn release(&self) -> io::Result<()> {
        match std::fs::remove_file(&self.path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reserve_occupies_its_bytes_until_released() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("data").join("reserve");
        let reserve = Reserve::new(path.clone(), 100_000);
        reserve.fill().expect("filled");
        assert_eq!(path.metadata().expect("a file").len(), 100_000);
        reserve.release().expect("released");
        reserve.release().expect("nothing to release");
        assert!(!path.exists());
        reserve.fill().expect("filled again");
        Reserve::new(path.clone(), 0).fill().expect("removed");
        assert!(!path.exists());
        let error = Reserve::new(path.clone(), 1 << 60).fill().expect_err("more than is free");
        assert_eq!((error.kind(), path.exists()), (io::ErrorKind::StorageFull, false));
    }
}
