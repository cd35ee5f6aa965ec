//! Whether the files of the segments are those that were written: each ends with the checksum of
//! what is before. Called when an index is opened and when it is asked for.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use ports::{ErrorKind, PortError, Result};
use rayon::ThreadPool;
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
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
    of_last_commit(index, which)?.iter().try_for_each(|file| check_file(index, file))
}

/// The same on every thread of a pool, for whoever waits for it.
pub(super) fn check_at_once(index: &Index, which: Which, pool: &ThreadPool) -> Result<()> {
    let files = of_last_commit(index, which)?;
    pool.install(|| files.par_iter().try_for_each(|file| check_file(index, file)))
}

/// In the order of their names.
fn of_last_commit(index: &Index, which: Which) -> Result<BTreeSet<PathBuf>> {
    let files = index.load_metas().map_err(failed)?.list_segment_files();
    Ok(files.into_iter().filter(|file| which(file)).collect())
}

fn check_file(index: &Index, file: &Path) -> Result<()> {
    let directory = index.directory();
    let there = directory.exists(file).map_err(|e| failed(TantivyError::from(e)))?;
    if !there && is_optional(file) {
        return Ok(());
    }
    let checked = || directory.validate_checksum(file);
    if there && checked().map_err(|e| failed(TantivyError::from(e)))? {
        return Ok(());
    }
    let what = if there { "damaged" } else { "missing" };
    let message = format!(
        "the file {} of the index is {what}; run `shotlog reindex` to rebuild it",
        file.display()
    );
    Err(PortError::new(ErrorKind::Corrupt, message))
}

/// A segment without removed documents has no list of them, and a finished one nothing temporary.
/// One that has need of either fails to open without it.
fn is_optional(file: &Path) -> bool {
    file.extension().is_some_and(|e| e == "del" || e == "temp")
}
