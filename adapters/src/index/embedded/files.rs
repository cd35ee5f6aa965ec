//! Whether the files of the segments are those that were written: each ends with the checksum of
//! what is before. Called when an index is opened and when it is asked for.

use std::path::Path;

use ports::{ErrorKind, PortError, Result};
use tantivy::{Directory, Index, TantivyError};

use super::{failed, vectors};

/// Which files are read.
pub(super) type Which = fn(&Path) -> bool;

/// Every file.
pub(super) const ALL: Which = |_| true;

/// What filters and words are looked up in: a small part of the whole, and damage there makes the
/// reader panic. Vectors and documents are what they are until they are searched.
pub(super) const LOOKED_UP: Which =
    |path| !path.extension().is_some_and(|e| e == vectors::EXTENSION || e == "store");

/// `Corrupt` where a file of the last commit is not there, or not what was written.
pub(super) fn check(index: &Index, which: Which) -> Result<()> {
    let directory = index.directory();
    let mut files: Vec<_> =
        index.load_metas().map_err(failed)?.list_segment_files().into_iter().collect();
    files.sort();
    for file in files.iter().filter(|file| which(file)) {
        let there = directory.exists(file).map_err(|e| failed(TantivyError::from(e)))?;
        if !there && is_optional(file) {
            continue;
        }
        let checked = || directory.validate_checksum(file);
        if !there || !checked().map_err(|e| failed(TantivyError::from(e)))? {
            let what = if there { "damaged" } else { "missing" };
            let message = format!(
                "the file {} of the index is {what}; run `shotlog reindex` to rebuild it",
                file.display()
            );
            return Err(PortError::new(ErrorKind::Corrupt, message));
        }
    }
    Ok(())
}

/// A segment without removed documents has no list of them, and a finished one nothing temporary.
/// One that has need of either fails to open without it.
fn is_optional(file: &Path) -> bool {
    file.extension().is_some_and(|e| e == "del" || e == "temp")
}
