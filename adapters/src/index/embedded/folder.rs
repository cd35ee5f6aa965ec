//! The folder of an embedded index: who may write to it, and what the vectors in it are.
//! Called when an index is opened, before anything else in the folder is touched.

use std::fs::{self, File, TryLockError};
use std::io::Write;
use std::path::{Path, PathBuf};

use ports::{ErrorKind, PortError, Result};
use serde::{Deserialize, Serialize};

/// Raised when the schema, the analyzer or the vector file changes.
const FORMAT: u32 = 1;

/// A folder that this process alone may use, until dropped.
pub(super) struct Folder {
    path: PathBuf,
    /// The lock goes with the file handle, also when the process is killed.
    _lock: File,
}

/// What the folder was made for.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Contents {
    format: u32,
    dimension: usize,
    model: String,
}

impl Folder {
    /// Locks the folder, creating it when it is not there.
    pub(super) fn lock(path: &Path) -> Result<Self> {
        let unusable = |e: std::io::Error| {
            let message = format!("cannot use the index folder {}: {e}", path.display());
            PortError::caused_by(PortError::from(e).kind(), message, "opening the index folder")
        };
        fs::create_dir_all(path).map_err(unusable)?;
        let lock = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(path.join("lock"))
            .map_err(unusable)?;
        match lock.try_lock() {
            Ok(()) => Ok(Self { path: path.to_owned(), _lock: lock }),
            Err(TryLockError::WouldBlock) => Err(PortError::new(
                ErrorKind::Unavailable,
                format!(
                    "the index folder {} is in use by another process; stop it, or give this one \
                     another folder",
                    path.display()
                ),
            )),
            Err(TryLockError::Error(e)) => Err(unusable(e)),
        }
    }

    /// Fails unless the folder is new or holds vectors of this model and dimension.
    pub(super) fn claim(&self, model: &str, dimension: usize) -> Result<()> {
        let wanted = Contents { format: FORMAT, dimension, model: model.to_owned() };
        let file = self.path.join("index.json");
        let found = match fs::read(&file) {
            Ok(bytes) => serde_json::from_slice::<Contents>(&bytes).map_err(|e| {
                let message = format!(
                    "{} does not say what the index holds; run `shotlog reindex` to rebuild it",
                    file.display()
                );
                PortError::caused_by(ErrorKind::Corrupt, message, e)
            })?,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
                self.write_atomically(&file, &wanted)?;
                return Ok(());
            }
            Err(e) => return Err(e.into()),
        };
        if found == wanted {
            return Ok(());
        }
        let message = if found.format == wanted.format {
            format!(
                "the index in {} holds vectors of `{}` with {} dimensions, not of `{}` with {}; \
                 run `shotlog reindex` to rebuild it",
                self.path.display(),
                found.model,
                found.dimension,
                wanted.model,
                wanted.dimension
            )
        } else {
            format!(
                "the index in {} has format {}, this version reads {FORMAT}; run `shotlog \
                 reindex` to rebuild it",
                self.path.display(),
                found.format
            )
        };
        Err(PortError::new(ErrorKind::Invalid, message))
    }

    /// Where the segments live; created when it is not there. What a killed process was about to
    /// rename is removed.
    pub(super) fn segments(&self) -> Result<PathBuf> {
        let path = self.path.join("segments");
        fs::create_dir_all(&path)?;
        for folder in [&self.path, &path] {
            for entry in fs::read_dir(folder)? {
                let entry = entry?;
                if entry.file_name().as_encoded_bytes().starts_with(b".tmp") {
                    fs::remove_file(entry.path())?;
                }
            }
        }
        File::open(&self.path)?.sync_all()?;
        Ok(path)
    }

    /// Removes everything the index has stored. What it was made for goes last, so that a crash
    /// on the way leaves a folder that still opens as what it was, or as new.
    pub(super) fn clear(&self) -> Result<()> {
        for (path, remove) in [
            (self.path.join("segments"), fs::remove_dir_all as fn(PathBuf) -> _),
            (self.path.join("index.json"), fs::remove_file),
        ] {
            match remove(path) {
                Err(e) if e.kind() != std::io::ErrorKind::NotFound => return Err(e.into()),
                _ => {}
            }
        }
        Ok(())
    }

    fn write_atomically(&self, file: &Path, contents: &Contents) -> Result<()> {
        let mut new = tempfile::NamedTempFile::new_in(&self.path)?;
        let json = serde_json::to_vec_pretty(contents).map_err(std::io::Error::from)?;
        new.write_all(&json)?;
        new.as_file().sync_all()?;
        new.persist(file).map_err(|e| e.error)?;
        File::open(&self.path)?.sync_all()?;
        Ok(())
    }
}
