//! Verifies the segment files. Each file ends with a checksum of its content. Files are verified
//! when an index is opened, and by [`IndexUpkeep::check`](ports::index::IndexUpkeep::check).

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

/// Checks the files of the last commit. Returns `Corrupt` if a file is missing or damaged.
pub(super) fn check(index: &Index) -> Result<()> {
    committed_files(index)?.iter().try_for_each(|file| check_file(index, file).map(drop))
}

/// Runs `open` and verifies all files that filters and term lookups read. These files are a small
/// part of the index, but damage to them would make the reader panic. Vectors and documents remain
/// unverified until a search reads them. The posting lists are verified on `pool` while `open`
/// runs; `open` reads only files that were verified before it started.
pub(super) fn verify_while<T>(
    index: &Index,
    pool: &ThreadPool,
    open: impl FnOnce() -> Result<T>,
) -> Result<T> {
    let (mut lists, mut others) = (Vec::new(), Vec::new());
    for file in committed_files(index)? {
        match file.extension().and_then(OsStr::to_str) {
            Some(vectors::EXTENSION | "store") => {}
            Some("idx" | "pos") => lists.push(file),
            _ => others.push(file),
        }
    }
    let mut checked = Ok(Vec::new());
    // The verified files stay mapped until `open` has mapped them too.
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

/// How long a verified file counts as intact.
const VERIFIED_FOR: Duration = Duration::from_secs(60);

/// Verifies the files that a commit reads to remove points, which hold the points' keys and the
/// filter columns. Successive commits do not verify the same files again.
#[derive(Default)]
pub(super) struct Lookups {
    checked: BTreeMap<PathBuf, Instant>,
}

impl Lookups {
    /// Does the same as [`check`], but only for the files that lookups read.
    pub(super) fn check(&mut self, index: &Index) -> Result<()> {
        self.checked.retain(|_, at| at.elapsed() < VERIFIED_FOR);
        for file in committed_files(index)? {
            let extension = file.extension().and_then(OsStr::to_str);
            let read_by_lookups =
                !matches!(extension, Some(vectors::EXTENSION | "store" | "idx" | "pos"));
            if read_by_lookups && !self.checked.contains_key(&file) {
                check_file(index, &file)?;
                self.checked.insert(file, Instant::now());
            }
        }
        Ok(())
    }
}

/// Does the same as [`check`], but only for the segments that a merge reads.
pub(super) fn check_segments(index: &Index, segments: &[SegmentId]) -> Result<()> {
    let names: Vec<String> = segments.iter().map(SegmentId::uuid_string).collect();
    let of_these = |file: &PathBuf| {
        let file = file.to_string_lossy();
        names.iter().any(|name| file.starts_with(name.as_str()))
    };
    let files: Vec<PathBuf> = committed_files(index)?.into_iter().filter(of_these).collect();
    files.iter().try_for_each(|file| check_file(index, file).map(drop))
}

/// Returns the files of the last commit, sorted by name.
fn committed_files(index: &Index) -> Result<BTreeSet<PathBuf>> {
    let files = index.load_metas().map_err(failed)?.list_segment_files();
    Ok(files.into_iter().collect())
}

/// Verifies a file and returns it memory-mapped. Returns `None` if the file is absent and optional.
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

/// Returns whether a segment may lack this file. A segment without deleted documents has no delete
/// list, and a finished segment has no temporary file. If a segment needs such a file and the file
/// is missing, opening the segment fails.
fn is_optional(file: &Path) -> bool {
    file.extension().is_some_and(|e| e == "del" || e == "temp")
}
