//! The folder of an embedded index, with its lock, the description of its vectors, and the segment
//! folder that searches use. A rebuild fills a new segment folder and atomically makes it the one
//! in use. Opening an index starts here, before anything else in the folder is touched.

use std::fs::{self, File, TryLockError};
use std::io::Write;
use std::path::{Path, PathBuf};

use ports::{ErrorKind, PortError, Result};
use serde::{Deserialize, Serialize};

/// Version of the on-disk format. It is incremented when the schema, the analyzer or the vector
/// file changes in a way that other versions cannot read.
const FORMAT: u32 = 2;

/// Name of the file that describes the index and names its segment folder.
const DESCRIPTION: &str = "index.json";

/// Name of the first segment folder, and prefix for the names of later segment folders.
const SEGMENTS: &str = "segments";

/// A folder that this process holds exclusively until it is dropped.
pub(super) struct Folder {
    path: PathBuf,
    /// Holds the lock. The lock is released with the file handle, even if the process is killed.
    _lock: File,
}

/// The description of an index.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct IndexDescription {
    format: u32,
    dimension: usize,
    model: String,
    /// The installation that owns the vectors, if one is recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) install: Option<String>,
    /// Name of the segment folder that searches use.
    #[serde(default = "first")]
    segments: String,
}

fn first() -> String {
    SEGMENTS.to_owned()
}

impl IndexDescription {
    /// Creates the description of an index for this model and dimension that uses the first segment
    /// folder.
    pub(super) fn new(model: &str, dimension: usize) -> Self {
        let model = model.to_owned();
        Self { format: FORMAT, dimension, model, install: None, segments: first() }
    }

    /// Fails unless this index matches `requested`.
    fn check_matches(&self, requested: &Self, folder: &Path) -> Result<()> {
        let identity = |description: &Self| {
            (description.format, description.dimension, description.model.clone())
        };
        if identity(self) == identity(requested) {
            return Ok(());
        }
        let message = if self.format == requested.format {
            format!(
                "the index in {} holds vectors of `{}` with {} dimensions, not of `{}` with {}; \
                 run `shotlog reindex` to rebuild it",
                folder.display(),
                self.model,
                self.dimension,
                requested.model,
                requested.dimension
            )
        } else {
            format!(
                "the index in {} has format {}, this version reads {FORMAT}; run `shotlog \
                 reindex` to rebuild it",
                folder.display(),
                self.format
            )
        };
        Err(PortError::new(ErrorKind::Invalid, message))
    }
}

impl Folder {
    /// Locks the folder, creating it if necessary.
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

    /// Reads the description of the index. If the folder is new, saves `requested` as the
    /// description. Fails unless the description matches `requested`.
    pub(super) fn load_or_create(&self, requested: IndexDescription) -> Result<IndexDescription> {
        match self.description()? {
            Some(found) => found.check_matches(&requested, &self.path).map(|()| found),
            None => self.save(&requested).map(|()| requested),
        }
    }

    fn description(&self) -> Result<Option<IndexDescription>> {
        let file = self.path.join(DESCRIPTION);
        let unclear = |why: Box<dyn std::error::Error + Send + Sync>| {
            let message = format!(
                "{} is not a valid index description; run `shotlog reindex` to rebuild it",
                file.display()
            );
            PortError::caused_by(ErrorKind::Corrupt, message, why)
        };
        let found: IndexDescription = match fs::read(&file) {
            Ok(bytes) => serde_json::from_slice(&bytes).map_err(|e| unclear(e.into()))?,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(e) => return Err(e.into()),
        };
        // A damaged name must not lead outside the folder.
        let name = found.segments.strip_prefix(SEGMENTS);
        if !name.is_some_and(|rest| rest.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')) {
            return Err(unclear(format!("'{}' is not a segment folder", found.segments).into()));
        }
        Ok(Some(found))
    }

    /// Returns the path of the segments of `description`, creating it if necessary. Removes
    /// temporary files that a killed process may have left.
    pub(super) fn segments(&self, description: &IndexDescription) -> Result<PathBuf> {
        let path = self.path.join(&description.segments);
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

    /// Atomically replaces the description of the index.
    pub(super) fn save(&self, description: &IndexDescription) -> Result<()> {
        let mut new = tempfile::NamedTempFile::new_in(&self.path)?;
        let json = serde_json::to_vec_pretty(description).map_err(std::io::Error::from)?;
        new.write_all(&json)?;
        new.as_file().sync_all()?;
        new.persist(self.path.join(DESCRIPTION)).map_err(|e| e.error)?;
        File::open(&self.path)?.sync_all()?;
        Ok(())
    }

    /// Returns `description` with the name of a segment folder that does not exist yet.
    pub(super) fn next_segments(&self, description: IndexDescription) -> Result<IndexDescription> {
        let mut last = 1;
        for entry in fs::read_dir(&self.path)? {
            let name = entry?.file_name().to_string_lossy().into_owned();
            let number = name.strip_prefix(SEGMENTS).and_then(|rest| rest.strip_prefix('-'));
            last = last.max(number.and_then(|number| number.parse().ok()).unwrap_or(0));
        }
        Ok(IndexDescription { segments: format!("{SEGMENTS}-{}", last + 1), ..description })
    }

    /// Returns whether the index uses the segments of `description`.
    pub(super) fn is_current(&self, description: &IndexDescription) -> Result<bool> {
        Ok(self.description()?.is_some_and(|found| found.segments == description.segments))
    }

    /// Removes every segment folder except that of `description`.
    pub(super) fn remove_other_segments(&self, description: &IndexDescription) -> Result<()> {
        for entry in fs::read_dir(&self.path)? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.starts_with(SEGMENTS) && name != description.segments {
                fs::remove_dir_all(entry.path())?;
            }
        }
        Ok(())
    }
}
