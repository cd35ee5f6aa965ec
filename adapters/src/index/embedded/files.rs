//! Whether the files of the segments are those that were written: each ends with the checksum of
//! what is before. Called when an index is opened and when it is asked for.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use ports::{ErrorKind, PortError, Result};
use rayon::ThreadPool;
use rayon::iter::{IndexedParallelIterator, IntoParallelRefIterator, ParallelIterator};
use tantivy::directory::FileSlice;
use tantivy::directory::error::OpenReadError;
use tantivy::index::SegmentId;
use tantivy::{Directory, Index};

use super::{failed, vectors};

/// `Corrupt` where a file of the last commit is not there, or not what was written.
pub(super) fn check(index: &Index) -> Result<()> {
    of_last_commit(index)?.iter().try_for_each(|file| check_file(index, file).map(drop))
}

/// What `open` makes of segments of which everything is checked that filters and words are looked up
/// in: a small part of the whole, and damage there makes the reader panic. Vectors and documents are
/// what they are until they are searched. The lists of words are checked on the pool while `open` runs,
/// which reads what was checked before: the rest.
pub(super) fn checked_beside<T>(
    index: &Index,
    pool: &ThreadPool,
    open: impl FnOnce() -> Result<T>,
) -> Result<T> {
    let (mut lists, mut others) = (Vec::new(), Vec::new());
    for file in of_last_commit(index)? {
        match file.extension().and_then(OsStr::to_str) {
            Some(vectors::EXTENSION | "store") => {}
            Some("idx" | "pos") => lists.push(file),
            _ => others.push(file),
        }
    }
    let mut checked = Ok(Vec::new());
    // What is mapped stays mapped for whoever maps it next.
    let opened = pool.in_place_scope(|scope| {
        scope.spawn(|_| {
            let each = lists.par_iter().with_max_len(1);
            checked = each.map(|file| check_file(index, file)).collect();
        });
        let _mapped = others
            .iter()
            .map(|file| check_file(index, file))
            .collect::<Result<Vec<Option<FileSlice>>>>()?;
        open()
    });
    checked.and(opened)
}

/// For how long a file that was checked is taken to be what it was.
const CHECKED_FOR: Duration = Duration::from_secs(60);

/// Checks what a commit looks up to remove points, which are their names and what filters read. Many
/// commits in a row do not read the same files again.
#[derive(Default)]
pub(super) struct Lookups {
    checked: BTreeMap<PathBuf, Instant>,
}

impl Lookups {
    /// As [`check`], for those files.
    pub(super) fn check(&mut self, index: &Index) -> Result<()> {
        self.checked.retain(|_, at| at.elapsed() < CHECKED_FOR);
        for file in of_last_commit(index)? {
            let extension = file.extension().and_then(OsStr::to_str);
            let looked_up =
                !matches!(extension, Some(vectors::EXTENSION | "store" | "idx" | "pos"));
            if looked_up && !self.checked.contains_key(&file) {
                check_file(index, &file)?;
                self.checked.insert(file, Instant::now());
            }
        }
        Ok(())
    }
}

/// The same for all files of these segments, of which another is to be made.
pub(super) fn check_segments(index: &Index, segments: &[SegmentId]) -> Result<()> {
    let names: Vec<String> = segments.iter().map(SegmentId::uuid_string).collect();
    let of_these = |file: &PathBuf| {
        let file = file.to_string_lossy();
        names.iter().any(|name| file.starts_with(name.as_str()))
    };
    let files: Vec<PathBuf> = of_last_commit(index)?.into_iter().filter(of_these).collect();
    files.iter().try_for_each(|file| check_file(index, file).map(drop))
}

/// In the order of their names.
fn of_last_commit(index: &Index) -> Result<BTreeSet<PathBuf>> {
    let files = index.load_metas().map_err(failed)?.list_segment_files();
    Ok(files.into_iter().collect())
}

/// The file, mapped; none where it need not be there.
fn check_file(index: &Index, file: &Path) -> Result<Option<FileSlice>> {
    let directory = index.directory();
    let checked = directory
        .open_read(file)
        .and_then(|mapped| Ok((mapped, directory.validate_checksum(file)?)));
    let what = match checked {
        Ok((mapped, true)) => return Ok(Some(mapped)),
        Ok((_, false)) => "damaged",
        Err(OpenReadError::FileDoesNotExist(_)) if is_optional(file) => return Ok(None),
        Err(OpenReadError::FileDoesNotExist(_)) => "missing",
        Err(error) => return Err(failed(error.into())),
    };
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
