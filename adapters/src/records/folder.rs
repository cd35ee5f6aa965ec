//! JSON records as files in a folder, one file per key. The store uses plain system calls, because
//! a durable `put` must also sync directories.

use std::collections::BTreeMap;
use std::fs::{self, File, TryLockError};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, ErrorKind as Io, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use parking_lot::{Mutex, RwLock};
use ports::records::{Precondition, RecordStore, Version};
use ports::{ErrorKind, PortError, Result};
use serde_json::Value;
use tempfile::{Builder, NamedTempFile};

use crate::keys::{check_key, check_prefix};

/// Folder for documents that are being written and folders that are being removed. No key can name
/// it.
const PARTIAL: &str = ".partial";
/// File in the `PARTIAL` folder. A compare-and-swap locks it.
const SWAP_LOCK: &str = "swap.lock";
/// File in the root folder. A process with exclusive use locks it.
const EXCLUSIVE_LOCK: &str = ".lock";
/// How long a cached document version stays valid if this process has not changed the document.
const VERSION_TTL: Duration = Duration::from_millis(100);
/// How long the version of a folder stays valid if this process has not changed its documents.
const FOLDER_VERSION_TTL: Duration = Duration::from_secs(60);
/// Number of change counters. Keys are distributed among them by hash.
const COUNTERS: usize = 256;
/// Maximum number of attempts to write a document while another process removes the document's
/// folder.
const ATTEMPTS: usize = 8;

/// Records in a folder. Several processes may use it at once, unless one has opened it exclusively.
#[derive(Debug, Clone)]
pub struct FolderRecords {
    root: Arc<Path>,
    /// Every write of a document takes the read lock, and every removal of a folder takes the write
    /// lock, so that writes and removals do not interfere within this process.
    removal_lock: Arc<RwLock<()>>,
    /// Counts this process's changes to documents.
    changes: Arc<ChangeCounters>,
    opened: Instant,
    /// Locked during exclusive use. The lock is released with the file handle, even if the process
    /// is killed.
    exclusive: Option<Arc<File>>,
}

/// Counts changes to documents: by hash bucket of their keys, and by folder in the root folder.
#[derive(Debug)]
struct ChangeCounters {
    by_hash: [ChangeCounter; COUNTERS],
    by_folder: Mutex<BTreeMap<String, u64>>,
    /// Number of removals of folders.
    removals: AtomicU64,
}

/// The number of changes to documents in one hash bucket, and the last observed version of one of
/// these documents.
#[derive(Debug)]
struct ChangeCounter {
    count: AtomicU64,
    cached: Mutex<Option<CachedVersion>>,
}

/// A document's version as last observed.
#[derive(Debug)]
struct CachedVersion {
    key: String,
    changes: u64,
    version: Version,
    at: Instant,
}

impl ChangeCounter {
    /// Returns the cached version of a document if it is recent and this process has not changed
    /// the document since.
    fn cached_version(&self, key: &str, changes: u64) -> Option<Version> {
        let cached = self.cached.lock();
        let same = |cached: &&CachedVersion| {
            cached.key == key && cached.changes == changes && cached.at.elapsed() < VERSION_TTL
        };
        cached.as_ref().filter(same).map(|cached| cached.version.clone())
    }

    fn cache(&self, cached: CachedVersion) {
        *self.cached.lock() = Some(cached);
    }
}

impl ChangeCounters {
    fn new() -> Self {
        let none = || ChangeCounter { count: AtomicU64::new(0), cached: Mutex::new(None) };
        Self {
            by_hash: std::array::from_fn(|_| none()),
            by_folder: Mutex::default(),
            removals: AtomicU64::new(0),
        }
    }

    fn for_key(&self, key: &str) -> &ChangeCounter {
        let mut hasher = DefaultHasher::new();
        key.hash(&mut hasher);
        &self.by_hash[hasher.finish() as usize % COUNTERS]
    }

    /// Counts a completed change.
    fn count(&self, key: &str) {
        self.for_key(key).count.fetch_add(1, Ordering::Release);
        let mut by_folder = self.by_folder.lock();
        match by_folder.get_mut(root_folder(key)) {
            Some(count) => *count += 1,
            None => _ = by_folder.insert(root_folder(key).to_owned(), 1),
        }
    }

    /// Returns the number of changes to the documents below a prefix, and possibly to others.
    fn below(&self, prefix: &str) -> u64 {
        let by_folder = self.by_folder.lock();
        let count = match root_folder(prefix) {
            "" => by_folder.values().sum(),
            folder => by_folder.get(folder).copied().unwrap_or_default(),
        };
        count + self.removals.load(Ordering::Acquire)
    }

    fn count_all(&self) {
        self.removals.fetch_add(1, Ordering::Release);
        self.by_hash.iter().for_each(|counter| _ = counter.count.fetch_add(1, Ordering::Release));
    }
}

impl FolderRecords {
    /// Opens the folder, creating it if necessary, and removes incomplete files left by a crash.
    /// *Blocks.*
    pub fn open(root: &Path) -> Result<Self> {
        let unusable = |e: io::Error| {
            PortError::caused_by(
                PortError::from(io::Error::from(e.kind())).kind(),
                format!("cannot use {} as the folder of records: {e}", root.display()),
                e,
            )
        };
        make_durable_folder(root).map_err(unusable)?;
        let root = root.canonicalize().map_err(unusable)?;
        make_durable_folder(&root.join(PARTIAL)).map_err(unusable)?;
        remove_abandoned(&root.join(PARTIAL)).map_err(unusable)?;
        let (removal_lock, changes) = (Arc::default(), Arc::new(ChangeCounters::new()));
        let opened = Instant::now();
        Ok(Self { root: root.into(), removal_lock, changes, opened, exclusive: None })
    }

    /// Opens the folder for exclusive use. On success, no other process has unfinished work in it.
    /// Returns `Unavailable` while another process has exclusive use. *Blocks.*
    pub fn open_exclusive(root: &Path) -> Result<Self> {
        let unusable = |e: io::Error| {
            let message = format!("cannot lock {} as the folder of records: {e}", root.display());
            PortError::caused_by(PortError::from(e).kind(), message, "opening the records")
        };
        let records = Self::open(root)?;
        let lock = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(root.join(EXCLUSIVE_LOCK));
        let lock = lock.map_err(unusable)?;
        match lock.try_lock() {
            Ok(()) => Ok(Self { exclusive: Some(Arc::new(lock)), ..records }),
            Err(TryLockError::WouldBlock) => Err(PortError::new(
                ErrorKind::Unavailable,
                format!(
                    "the folder of records {} is in use by another process; stop it, or give this \
                     one another folder (records.kind = \"bucket\" shares records)",
                    root.display()
                ),
            )),
            Err(TryLockError::Error(e)) => Err(unusable(e)),
        }
    }

    /// Acquires the compare-and-swap lock across all processes. Closing the file releases the lock.
    async fn lock_swap(&self, key: &str) -> Result<File> {
        let lock = self.root.join(PARTIAL).join(SWAP_LOCK);
        self.blocking(format!("replace the record {key}"), move |_| {
            let file = File::options().create(true).truncate(false).write(true).open(lock)?;
            file.lock()?;
            Ok(file)
        })
        .await
    }

    /// Runs `work` on a blocking thread. Error messages read `cannot {action}: …`.
    async fn blocking<T: Send + 'static>(
        &self,
        action: String,
        work: impl FnOnce(&Path) -> io::Result<T> + Send + 'static,
    ) -> Result<T> {
        let root = self.root.clone();
        let done = tokio::task::spawn_blocking(move || work(&root)).await;
        let failed = |e: io::Error| {
            let kind = match e.kind() {
                Io::InvalidData => ErrorKind::Corrupt,
                Io::IsADirectory | Io::NotADirectory | Io::AlreadyExists => ErrorKind::Invalid,
                Io::ReadOnlyFilesystem => ErrorKind::Unavailable,
                kind => PortError::from(io::Error::from(kind)).kind(),
            };
            PortError::caused_by(kind, format!("cannot {action}: {e}"), e)
        };
        match done {
            Ok(done) => done.map_err(failed),
            Err(e) => Err(failed(io::Error::other(e))),
        }
    }
}

#[async_trait]
impl RecordStore for FolderRecords {
    async fn get(&self, key: &str) -> Result<Option<Value>> {
        check_key(key)?;
        let file = self.root.join(key);
        self.blocking(format!("read the record {key}"), move |_| {
            let json = match fs::read(&file) {
                Err(e) if is_absent(&e) || e.kind() == Io::IsADirectory => return Ok(None),
                read => read?,
            };
            serde_json::from_slice(&json)
                .map(Some)
                .map_err(|e| io::Error::new(Io::InvalidData, format!("it is not JSON ({e})")))
        })
        .await
    }

    /// Returns a version only during exclusive use. The change count detects several writes within
    /// one clock tick of the file system. File metadata detects manual edits, with a short delay.
    async fn version(&self, key: &str) -> Result<Option<Version>> {
        check_key(key)?;
        if self.exclusive.is_none() {
            return Ok(None);
        }
        let counter = self.changes.for_key(key);
        let changes = counter.count.load(Ordering::Acquire);
        if let Some(version) = counter.cached_version(key, changes) {
            return Ok(Some(version));
        }
        let file = self.root.join(key);
        let reading = self.blocking(format!("check the record {key}"), move |_| {
            let found = match fs::metadata(&file) {
                Err(e) if is_absent(&e) => return Ok(None),
                found => found?,
            };
            let version = || {
                let (seconds, nanos) = (found.mtime(), found.mtime_nsec());
                format!("{changes} {} {} {seconds}.{nanos}", found.ino(), found.size())
            };
            Ok(found.is_file().then(|| Version::new(version())))
        });
        let at = Instant::now();
        let version = reading.await?;
        if let Some(version) = &version {
            counter.cache(CachedVersion {
                key: key.to_owned(),
                changes,
                version: version.clone(),
                at,
            });
        }
        Ok(version)
    }

    /// Returns a version only during exclusive use. Manual edits are noticed within
    /// `FOLDER_VERSION_TTL`.
    async fn folder_version(&self, prefix: &str) -> Result<Option<Version>> {
        check_prefix(prefix)?;
        if self.exclusive.is_none() {
            return Ok(None);
        }
        let period = self.opened.elapsed().as_secs() / FOLDER_VERSION_TTL.as_secs();
        Ok(Some(Version::new(format!("{} {period}", self.changes.below(prefix)))))
    }

    async fn put(&self, key: &str, document: &Value) -> Result<()> {
        check_key(key)?;
        let json = block_in_place(|| serde_json::to_vec(document)).map_err(|e| {
            PortError::caused_by(ErrorKind::Invalid, format!("the record {key} is not JSON"), e)
        })?;
        let target = self.root.join(key);
        let (removal_lock, changes, name) =
            (self.removal_lock.clone(), self.changes.clone(), key.to_owned());
        self.blocking(format!("write the record {key}"), move |root| {
            let _shared = removal_lock.read();
            let mut written = replace(root, &target, &json);
            for _ in 1..ATTEMPTS {
                if !written.as_ref().is_err_and(|e| e.kind() == Io::NotFound) {
                    break;
                }
                written = replace(root, &target, &json);
            }
            // Failed writes count too, because the rename may have happened.
            changes.count(&name);
            written
        })
        .await
    }

    async fn compare_and_swap(
        &self,
        key: &str,
        expected: Precondition<'_>,
        document: &Value,
    ) -> Result<bool> {
        check_key(key)?;
        let lock = self.lock_swap(key).await?;
        let same = expected.matches(self.get(key).await)?;
        if same {
            self.put(key, document).await?;
        }
        drop(lock);
        Ok(same)
    }

    async fn remove(&self, key: &str, expected: &Value) -> Result<bool> {
        check_key(key)?;
        let lock = self.lock_swap(key).await?;
        let same = Precondition::Document(expected).matches(self.get(key).await)?;
        if same {
            self.delete(key).await?;
        }
        drop(lock);
        Ok(same)
    }

    async fn list(&self, prefix: &str) -> Result<Vec<String>> {
        check_prefix(prefix)?;
        let folder = prefix.trim_end_matches('/').to_owned();
        self.blocking(format!("list the records below {prefix:?}"), move |root| {
            let (mut keys, mut folders) = (Vec::new(), vec![folder]);
            while let Some(folder) = folders.pop() {
                for (name, is_folder) in entries(root, &folder)? {
                    let path = if folder.is_empty() { name } else { format!("{folder}/{name}") };
                    if is_folder { folders.push(path) } else { keys.push(path) }
                }
            }
            keys.sort();
            Ok(keys)
        })
        .await
    }

    async fn children(&self, prefix: &str) -> Result<Vec<String>> {
        check_prefix(prefix)?;
        let folder = prefix.trim_end_matches('/').to_owned();
        self.blocking(format!("list the records below {prefix:?}"), move |root| {
            let mut names = Vec::new();
            for (name, is_folder) in entries(root, &folder)? {
                let path =
                    if folder.is_empty() { name.clone() } else { format!("{folder}/{name}") };
                if !is_folder || holds_document(root, &path)? {
                    names.push(name);
                }
            }
            names.sort();
            Ok(names)
        })
        .await
    }

    async fn delete(&self, prefix: &str) -> Result<()> {
        let whole = prefix.is_empty() || prefix.ends_with('/');
        if whole {
            check_prefix(prefix)?
        } else {
            check_key(prefix)?
        }
        let path = prefix.trim_end_matches('/').to_owned();
        let (removal_lock, changes) = (self.removal_lock.clone(), self.changes.clone());
        self.blocking(format!("remove the records {prefix:?}"), move |root| {
            if !whole {
                let removed = remove_file(&root.join(&path));
                changes.count(&path);
                return removed;
            }
            let _exclusive = removal_lock.write();
            let removed = match path.is_empty() {
                true => remove_every(root),
                false => remove_folder(root, &root.join(path)),
            };
            changes.count_all();
            removed
        })
        .await
    }

    async fn probe(&self) -> Result<()> {
        self.blocking("write and read records".into(), |root| {
            let mut file = NamedTempFile::new_in(root.join(PARTIAL))?;
            file.write_all(b"probe")?;
            if fs::read(file.path())? != b"probe" {
                return Err(io::Error::other("the folder returns something else than was written"));
            }
            file.close()
        })
        .await
    }
}

/// Returns the folder in the root folder that a key or prefix is in; empty for the root folder.
fn root_folder(key: &str) -> &str {
    key.split_once('/').map_or("", |(folder, _)| folder)
}

/// Runs `work`, moving other tasks off this thread if the runtime supports it.
fn block_in_place<T>(work: impl FnOnce() -> T) -> T {
    use tokio::runtime::{Handle, RuntimeFlavor};
    match Handle::try_current().map(|runtime| runtime.runtime_flavor()) {
        Ok(RuntimeFlavor::MultiThread) => tokio::task::block_in_place(work),
        _ => work(),
    }
}

/// Replaces a document. Syncs the content before the rename and the folder after it, so that only
/// complete documents survive a crash.
fn replace(root: &Path, target: &Path, json: &[u8]) -> io::Result<()> {
    let folder = target.parent().ok_or(Io::InvalidInput)?;
    make_durable_folder(folder)?;
    let mut file = Builder::new().suffix(".json").tempfile_in(root.join(PARTIAL))?;
    // The lock shows processes that open the folder that this file is in use. If the file system
    // does not support locks, opening the folder removes no files.
    let _ = file.as_file().try_lock();
    file.write_all(json)?;
    file.as_file().sync_all()?;
    file.persist(target).map_err(|e| e.error)?;
    sync_folder(folder)
}

fn remove_file(file: &Path) -> io::Result<()> {
    match fs::remove_file(file) {
        Err(e) if is_absent(&e) || e.kind() == Io::IsADirectory => Ok(()),
        removed => {
            removed?;
            file.parent().map_or(Ok(()), sync_folder)
        }
    }
}

fn remove_every(root: &Path) -> io::Result<()> {
    for (name, is_folder) in entries(root, "")? {
        let path = root.join(name);
        if is_folder { remove_folder(root, &path)? } else { remove_file(&path)? }
    }
    Ok(())
}

/// Moves the folder away atomically, then removes its documents.
fn remove_folder(root: &Path, folder: &Path) -> io::Result<()> {
    for _ in 0..ATTEMPTS {
        match fs::metadata(folder) {
            Ok(found) if found.is_dir() => {}
            Ok(_) => return Ok(()),
            Err(e) if is_absent(&e) => return Ok(()),
            Err(e) => return Err(e),
        }
        let bin = Builder::new().tempdir_in(root.join(PARTIAL))?;
        match fs::rename(folder, bin.path().join("removed")) {
            // Either the folder no longer exists, or another process that opened the store has
            // removed the bin.
            Err(e) if is_absent(&e) => continue,
            renamed => renamed?,
        }
        folder.parent().map_or(Ok(()), sync_folder)?;
        return empty_bin(&bin.keep());
    }
    Err(io::Error::new(Io::ResourceBusy, "the folder keeps changing"))
}

/// Removes a folder that no key can name any more. A writer that resolved the folder before the
/// move may still add documents. If documents remain after all attempts, they are removed the next
/// time the store is opened.
fn empty_bin(bin: &Path) -> io::Result<()> {
    for _ in 0..ATTEMPTS {
        match fs::remove_dir_all(bin) {
            Err(e) if e.kind() == Io::DirectoryNotEmpty => {}
            Err(e) if is_absent(&e) => return Ok(()),
            removed => return removed,
        }
    }
    Ok(())
}

/// Lists the names of the documents and folders directly in `folder`. The flag is `true` for
/// folders.
fn entries(root: &Path, folder: &str) -> io::Result<Vec<(String, bool)>> {
    let found = match fs::read_dir(root.join(folder)) {
        Err(e) if is_absent(&e) => return Ok(Vec::new()),
        found => found?,
    };
    let mut names = Vec::new();
    for entry in found {
        let entry = entry?;
        let Ok(name) = entry.file_name().into_string() else { continue };
        // Skips names that are not valid keys. This store never writes such names.
        if check_key(&name).is_err() && (folder.is_empty() || !name.starts_with('.')) {
            continue;
        }
        let kind = match entry.file_type() {
            Err(e) if is_absent(&e) => continue,
            kind => kind?,
        };
        if kind.is_dir() || kind.is_file() {
            names.push((name, kind.is_dir()));
        }
    }
    Ok(names)
}

fn holds_document(root: &Path, folder: &str) -> io::Result<bool> {
    for (name, is_folder) in entries(root, folder)? {
        if !is_folder || holds_document(root, &format!("{folder}/{name}"))? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Creates the folder and its parents durably.
fn make_durable_folder(folder: &Path) -> io::Result<()> {
    let mut missing: Vec<PathBuf> = Vec::new();
    let mut existing = folder;
    while !existing.try_exists()? {
        missing.push(existing.to_owned());
        match existing.parent() {
            Some(parent) => existing = parent,
            None => break,
        }
        if existing.as_os_str().is_empty() {
            existing = Path::new(".");
        }
    }
    for folder in missing.iter().rev() {
        match fs::create_dir(folder) {
            Err(e) if e.kind() == Io::AlreadyExists && folder.is_dir() => {}
            // Another process has removed the folder in the meantime.
            Err(e) if e.kind() == Io::AlreadyExists && !folder.try_exists()? => {
                return Err(Io::NotFound.into());
            }
            made => made?,
        }
        sync_folder(
            folder.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new(".")),
        )?;
    }
    Ok(())
}

fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// Removes abandoned files, which are those that no process has locked.
fn remove_abandoned(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            // Readers already treat this folder as removed.
            let _ = fs::remove_dir_all(&path);
        } else if File::open(&path).is_ok_and(|file| file.try_lock().is_ok()) {
            let _ = fs::remove_file(&path);
        }
    }
    Ok(())
}

fn is_absent(e: &io::Error) -> bool {
    matches!(e.kind(), Io::NotFound | Io::NotADirectory)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[tokio::test]
    async fn crash_leftovers_are_invisible_and_removed_at_opening() {
        let folder = tempfile::tempdir().expect("a folder");
        let records = FolderRecords::open(folder.path()).expect("opens");
        records.put("videos/a/video.json", &json!({"n": 1})).await.expect("writes");
        let partial = folder.path().join(PARTIAL);
        let torn = partial.join("torn.json");
        fs::write(&torn, b"{\"n\": 2, \"title\": \"cut o").expect("a torn file");
        fs::create_dir_all(partial.join("half/removed/b")).expect("a folder half removed");
        fs::write(partial.join("half/removed/b/video.json"), b"{}").expect("a file in it");

        assert_eq!(records.list("").await.expect("lists"), ["videos/a/video.json"]);
        assert_eq!(records.children("").await.expect("lists"), ["videos"]);
        let read = records.get("videos/a/video.json").await.expect("reads");
        assert_eq!(read, Some(json!({"n": 1})));
        assert_eq!(
            records.get(".partial/torn.json").await.expect_err("is out of reach").kind(),
            ErrorKind::Invalid
        );

        let reopened = FolderRecords::open(folder.path()).expect("opens");
        assert_eq!(fs::read_dir(&partial).expect("is there").count(), 0, "leftovers are gone");
        assert_eq!(reopened.list("").await.expect("lists"), ["videos/a/video.json"]);
    }

    #[tokio::test]
    async fn opening_keeps_files_of_a_running_writer() {
        let folder = tempfile::tempdir().expect("a folder");
        FolderRecords::open(folder.path()).expect("opens");
        let writing = folder.path().join(PARTIAL).join("writing.json");
        let file = File::create(&writing).expect("a file");
        file.try_lock().expect("its lock");
        FolderRecords::open(folder.path()).expect("opens");
        assert!(writing.exists(), "a file under way must stay");
        drop(file);
        FolderRecords::open(folder.path()).expect("opens");
        assert!(!writing.exists(), "an abandoned file must go");
    }

    #[test]
    fn exclusive_use_is_limited_to_one_process() {
        let folder = tempfile::tempdir().expect("a folder");
        let first = FolderRecords::open_exclusive(folder.path()).expect("opens");
        let error = FolderRecords::open_exclusive(folder.path()).expect_err("is in use");
        assert_eq!(error.kind(), ErrorKind::Unavailable);
        assert!(error.to_string().contains("in use by another process"), "{error}");
        drop(first);
        FolderRecords::open_exclusive(folder.path()).expect("is free again");
    }

    #[tokio::test]
    async fn damaged_document_is_corrupt_not_absent() {
        let folder = tempfile::tempdir().expect("a folder");
        let records = FolderRecords::open(folder.path()).expect("opens");
        fs::write(folder.path().join("broken.json"), b"{\"n\": ").expect("a damaged file");
        fs::create_dir(folder.path().join("empty")).expect("an empty folder");
        let error = records.get("broken.json").await.expect_err("is damaged");
        assert_eq!(error.kind(), ErrorKind::Corrupt);
        assert!(error.to_string().contains("broken.json"), "{error}");
        assert_eq!(records.get("empty").await.expect("a folder is no document"), None);
        assert_eq!(records.children("").await.expect("lists"), ["broken.json"]);
        let error = records.put("broken.json/inner", &json!(1)).await.expect_err("a file");
        assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
    }

    #[tokio::test]
    async fn failed_write_keeps_the_earlier_document() {
        let folder = tempfile::tempdir().expect("a folder");
        let records = FolderRecords::open(folder.path()).expect("opens");
        records.put("a.json", &json!(1)).await.expect("writes");
        fs::remove_dir_all(folder.path().join(PARTIAL)).expect("breaks the folder");
        records.put("a.json", &json!(2)).await.expect_err("has nowhere to write");
        assert_eq!(records.get("a.json").await.expect("reads"), Some(json!(1)));
        records.probe().await.expect_err("the folder is broken");
    }
}
