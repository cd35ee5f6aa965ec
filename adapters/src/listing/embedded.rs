//! The listing in a local file, which is a redb database. The order of the entries is kept in
//! memory, and documents are read on demand. Only one process at a time can open the file.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use parking_lot::{Mutex, RwLock, RwLockWriteGuard};
use ports::index::{Condition, FieldValue};
use ports::listing::{ListQuery, ListingPage, VideoEntry, VideoListing};
use ports::video::InvalidVideoId;
use ports::{Document, ErrorKind, PortError, Result, VideoId};
use redb::{
    Database, DatabaseError, ReadOnlyTable, ReadTransaction, ReadableDatabase, ReadableTable,
    StorageError, TableDefinition, WriteTransaction,
};

use super::order::EntryOrder;
use crate::blocking;

/// Size of the database cache in bytes.
const CACHE: usize = 16 << 20;

/// `created_at`, filename and analyzers, keyed by video id.
const KEYS: TableDefinition<'_, &str, (i64, &str, Vec<&str>)> = TableDefinition::new("tested");

/// The document as JSON, keyed by video id.
const DOCUMENTS: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("documents");

/// The fields as JSON, keyed by video id. There is no row for an entry without fields.
const FIELDS: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("fields");

/// The mark, stored under the empty key.
const MARK: TableDefinition<'_, &str, &str> = TableDefinition::new("mark");

/// What to do about a full disk.
const FULL_ADVICE: &str = "; free some space on its disk";

/// A listing in a file. Resident memory is about 300 bytes per video plus 16 MiB.
pub struct EmbeddedListing {
    slot: Arc<Slot>,
}

/// An open database, which is opened again after an I/O error: redb then refuses every further
/// call, even once the disk has space again.
struct Slot {
    file: PathBuf,
    /// `None` if it could not be opened again.
    inner: RwLock<Option<Inner>>,
}

struct Inner {
    file: PathBuf,
    database: Database,
    order: RwLock<EntryOrder>,
    /// Locked during a commit and until the order reflects the commit.
    writing: Mutex<()>,
    /// Whether the database refuses further calls.
    stopped: AtomicBool,
}

impl EmbeddedListing {
    /// Opens or creates the listing. Replaces a damaged file with an empty listing, which has no
    /// mark. Returns `Unavailable` if another process has the file open.
    pub async fn open(file: PathBuf) -> Result<Self> {
        let at = file.clone();
        // If the file is damaged, the reader may panic.
        let opened = tokio::task::spawn_blocking(move || Inner::open(&at)).await;
        let damaged = match opened {
            Ok(Ok(inner)) => return Ok(Self::new(file, inner)),
            Ok(Err(error)) if error.kind() != ErrorKind::Corrupt => return Err(error),
            Ok(Err(error)) => error.to_string(),
            Err(panic) if panic.is_panic() => panic.to_string(),
            Err(e) => {
                let message = "the listing was not opened";
                return Err(PortError::caused_by(ErrorKind::Other, message, e));
            }
        };
        tracing::warn!(error = damaged, "cannot read the listing; starting with an empty one");
        blocking::run(move || {
            fs::remove_file(&file)?;
            let inner = Inner::open(&file)?;
            Ok(Self::new(file, inner))
        })
        .await
    }

    fn new(file: PathBuf, inner: Inner) -> Self {
        Self { slot: Arc::new(Slot { file, inner: RwLock::new(Some(inner)) }) }
    }

    async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Inner) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let slot = self.slot.clone();
        blocking::run(move || slot.run(work)).await
    }
}

impl Slot {
    fn run<T>(&self, work: impl FnOnce(&Inner) -> Result<T>) -> Result<T> {
        let is_stopped = |inner: &Option<Inner>| {
            inner.as_ref().is_none_or(|inner| inner.stopped.load(Ordering::Acquire))
        };
        let mut current = self.inner.read();
        if is_stopped(&current) {
            drop(current);
            let mut stopped = self.inner.write();
            // Another call may have opened it meanwhile.
            if is_stopped(&stopped) {
                // The old handle holds the lock of the file.
                *stopped = None;
                *stopped = Some(Inner::open(&self.file)?);
            }
            current = RwLockWriteGuard::downgrade(stopped);
        }
        let closed = || PortError::new(ErrorKind::Unavailable, "the listing is closed");
        work(current.as_ref().ok_or_else(closed)?)
    }
}

impl Inner {
    fn open(file: &Path) -> Result<Self> {
        let new = !file.exists();
        let database = Database::builder()
            .set_cache_size(CACHE)
            .set_check_integrity_on_open(true)
            .create(file)
            .map_err(|e| unusable(file, e))?;
        if new && let Some(folder) = file.parent() {
            File::open(folder)?.sync_all()?;
        }
        let inner = Self {
            file: file.to_owned(),
            database,
            order: RwLock::default(),
            writing: Mutex::default(),
            stopped: AtomicBool::default(),
        };
        inner.write(|change| {
            change.open_table(KEYS)?;
            change.open_table(DOCUMENTS)?;
            change.open_table(FIELDS)?;
            change.open_table(MARK)?;
            Ok(())
        })?;
        let order = inner.read(|read| {
            let mut order = EntryOrder::default();
            let stored = read.open_table(FIELDS)?;
            for entry in read.open_table(KEYS)?.iter()? {
                let (id, tested) = entry?;
                let (created_at, filename, analyzers) = tested.value();
                let analyzers: Vec<String> = analyzers.into_iter().map(str::to_owned).collect();
                let fields = fields(id.value(), &stored)?;
                order.add(parse_key(id.value())?, created_at, filename, &analyzers, fields);
            }
            Ok(order)
        })?;
        Ok(Self { order: RwLock::new(order), ..inner })
    }

    /// Commits one durable change.
    fn write(
        &self,
        change: impl FnOnce(&WriteTransaction) -> std::result::Result<(), redb::Error>,
    ) -> Result<()> {
        let failed = |error| self.failed(error);
        let transaction = self.database.begin_write().map_err(|e| failed(e.into()))?;
        change(&transaction).map_err(failed)?;
        transaction.commit().map_err(|e| failed(e.into()))
    }

    fn read<T>(
        &self,
        read: impl FnOnce(&ReadTransaction) -> std::result::Result<T, redb::Error>,
    ) -> Result<T> {
        let failed = |error| self.failed(error);
        let transaction = self.database.begin_read().map_err(|e| failed(e.into()))?;
        read(&transaction).map_err(failed)
    }

    /// Commits one durable change and then updates the order.
    fn change(
        &self,
        change: impl FnOnce(&WriteTransaction) -> std::result::Result<(), redb::Error>,
        show: impl FnOnce(&mut EntryOrder),
    ) -> Result<()> {
        let _writing = self.writing.lock();
        self.write(change)?;
        show(&mut self.order.write());
        Ok(())
    }

    fn put(&self, entries: &[VideoEntry]) -> Result<()> {
        let fields = entries
            .iter()
            .map(|entry| Ok(serde_json::to_vec(&entry.fields)?))
            .collect::<std::io::Result<Vec<_>>>()?;
        let change = |change: &WriteTransaction| {
            let (mut tested, mut stored) =
                (change.open_table(KEYS)?, change.open_table(DOCUMENTS)?);
            let mut found_by = change.open_table(FIELDS)?;
            for (entry, fields) in entries.iter().zip(&fields) {
                let analyzers = entry.analyzers.iter().map(String::as_str).collect::<Vec<_>>();
                let id = entry.video_id.as_str();
                tested.insert(id, (entry.created_at, entry.filename.as_str(), analyzers))?;
                stored.insert(id, entry.document.as_str().as_bytes())?;
                match entry.fields.is_empty() {
                    true => found_by.remove(id)?,
                    false => found_by.insert(id, fields.as_slice())?,
                };
            }
            Ok(())
        };
        self.change(change, |order| entries.iter().for_each(|entry| order.put(entry)))
    }

    fn remove(&self, ids: &[VideoId]) -> Result<()> {
        let change = |change: &WriteTransaction| {
            let (mut tested, mut stored) =
                (change.open_table(KEYS)?, change.open_table(DOCUMENTS)?);
            let mut found_by = change.open_table(FIELDS)?;
            for id in ids {
                tested.remove(id.as_str())?;
                stored.remove(id.as_str())?;
                found_by.remove(id.as_str())?;
            }
            Ok(())
        };
        self.change(change, |order| ids.iter().for_each(|id| order.remove(*id)))
    }

    /// Returns the current entries of these videos.
    fn entries(&self, ids: &[VideoId]) -> Result<Vec<VideoEntry>> {
        let find = |read: &ReadTransaction| {
            let (tested, documents) = (read.open_table(KEYS)?, read.open_table(DOCUMENTS)?);
            let found_by = read.open_table(FIELDS)?;
            ids.iter()
                .filter_map(|id| find(*id, &tested, &documents, &found_by).transpose())
                .collect::<std::result::Result<Vec<_>, redb::Error>>()
        };
        self.read(find)
    }

    fn failed(&self, error: redb::Error) -> PortError {
        let kind = match &error {
            redb::Error::Corrupted(_)
            | redb::Error::TableTypeMismatch { .. }
            | redb::Error::TypeDefinitionChanged { .. }
            | redb::Error::TableIsMultimap(_) => ErrorKind::Corrupt,
            redb::Error::Io(cause) if is_full(cause) => ErrorKind::Full,
            _ => ErrorKind::Other,
        };
        if matches!(error, redb::Error::Io(_) | redb::Error::PreviousIo) {
            self.stopped.store(true, Ordering::Release);
        }
        let advice = if kind == ErrorKind::Full { FULL_ADVICE } else { "" };
        let message = format!("the listing {} failed: {error}{advice}", self.file.display());
        PortError::caused_by(kind, message, error)
    }
}

fn find(
    id: VideoId,
    tested: &ReadOnlyTable<&str, (i64, &str, Vec<&str>)>,
    documents: &ReadOnlyTable<&str, &[u8]>,
    found_by: &ReadOnlyTable<&str, &[u8]>,
) -> std::result::Result<Option<VideoEntry>, redb::Error> {
    let (Some(tested), Some(json)) = (tested.get(id.as_str())?, documents.get(id.as_str())?) else {
        return Ok(None);
    };
    let json = str::from_utf8(json.value()).map_err(|e| {
        redb::Error::Corrupted(format!("the listed document of {id} is not text: {e}"))
    })?;
    let (created_at, filename, analyzers) = tested.value();
    Ok(Some(VideoEntry {
        video_id: id,
        created_at,
        filename: filename.to_owned(),
        analyzers: analyzers.into_iter().map(str::to_owned).collect(),
        fields: fields(id.as_str(), found_by)?,
        document: Document::from_json(json),
    }))
}

/// Parses the video id in a key.
fn parse_key(key: &str) -> std::result::Result<VideoId, redb::Error> {
    key.parse().map_err(|e: InvalidVideoId| redb::Error::Corrupted(e.to_string()))
}

/// Reads the fields of an entry.
fn fields(
    id: &str,
    found_by: &ReadOnlyTable<&str, &[u8]>,
) -> std::result::Result<BTreeMap<String, FieldValue>, redb::Error> {
    let Some(json) = found_by.get(id)? else { return Ok(BTreeMap::new()) };
    serde_json::from_slice(json.value())
        .map_err(|e| redb::Error::Corrupted(format!("the fields of {id} are not JSON: {e}")))
}

fn unusable(file: &Path, error: DatabaseError) -> PortError {
    let (kind, what) = match &error {
        DatabaseError::DatabaseAlreadyOpen => (ErrorKind::Unavailable, "is in use"),
        DatabaseError::Storage(StorageError::Corrupted(_)) => (ErrorKind::Corrupt, "is damaged"),
        DatabaseError::Storage(StorageError::Io(e))
            if matches!(
                e.kind(),
                std::io::ErrorKind::InvalidData | std::io::ErrorKind::UnexpectedEof
            ) =>
        {
            (ErrorKind::Corrupt, "is damaged")
        }
        DatabaseError::UpgradeRequired(_) => (ErrorKind::Corrupt, "has another format"),
        DatabaseError::Storage(StorageError::Io(cause)) if is_full(cause) => {
            (ErrorKind::Full, "cannot be opened")
        }
        _ => (ErrorKind::Other, "cannot be opened"),
    };
    let advice = if kind == ErrorKind::Full { FULL_ADVICE } else { "" };
    let message = format!("the listing {} {what}: {error}{advice}", file.display());
    PortError::caused_by(kind, message, error)
}

fn is_full(error: &std::io::Error) -> bool {
    ErrorKind::from(error.kind()) == ErrorKind::Full
}

#[async_trait]
impl VideoListing for EmbeddedListing {
    async fn put(&self, entries: Vec<VideoEntry>) -> Result<()> {
        if entries.is_empty() {
            return Ok(());
        }
        self.run(move |inner| inner.put(&entries)).await
    }

    async fn remove(&self, video_ids: &[VideoId]) -> Result<()> {
        if video_ids.is_empty() {
            return Ok(());
        }
        let ids = video_ids.to_vec();
        self.run(move |inner| inner.remove(&ids)).await
    }

    async fn list(&self, query: &ListQuery) -> Result<ListingPage> {
        let query = query.clone();
        self.run(move |inner| {
            let (page, total) = inner.order.read().page(&query);
            Ok(ListingPage { entries: inner.entries(&page)?, total })
        })
        .await
    }

    async fn get(&self, video_ids: &[VideoId]) -> Result<Vec<VideoEntry>> {
        let ids = video_ids.to_vec();
        self.run(move |inner| inner.entries(&ids)).await
    }

    async fn ids(
        &self,
        conditions: &[Condition],
        after: Option<VideoId>,
        limit: usize,
    ) -> Result<Vec<VideoId>> {
        let conditions = conditions.to_vec();
        self.run(move |inner| {
            let order = inner.order.read();
            Ok(order.ids(&conditions, after, limit))
        })
        .await
    }

    async fn keyword_counts(
        &self,
        field: &str,
        conditions: &[Condition],
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<(String, u64)>> {
        let (field, conditions) = (field.to_owned(), conditions.to_vec());
        let after = after.map(str::to_owned);
        self.run(move |inner| {
            let order = inner.order.read();
            Ok(order.keyword_counts(&field, &conditions, after.as_deref(), limit))
        })
        .await
    }

    async fn created_range(&self, conditions: &[Condition]) -> Result<Option<(i64, i64)>> {
        let conditions = conditions.to_vec();
        self.run(move |inner| {
            let order = inner.order.read();
            Ok(order.created_range(&conditions))
        })
        .await
    }

    async fn mark(&self) -> Result<Option<String>> {
        let mark = |read: &ReadTransaction| {
            let mark = read.open_table(MARK)?.get("")?;
            Ok(mark.map(|mark| mark.value().to_owned()))
        };
        self.run(move |inner| inner.read(mark)).await
    }

    async fn set_mark(&self, mark: &str) -> Result<()> {
        let mark = mark.to_owned();
        self.run(move |inner| {
            inner.write(|change| {
                change.open_table(MARK)?.insert("", mark.as_str())?;
                Ok(())
            })
        })
        .await
    }

    async fn probe(&self) -> Result<()> {
        self.mark().await.map(|_| ())
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    #[test]
    fn full_disk_is_reported_as_full() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("videos");
        let inner = Inner::open(&file).expect("a listing");
        for kind in [io::ErrorKind::StorageFull, io::ErrorKind::QuotaExceeded] {
            let of_opening = DatabaseError::Storage(StorageError::Io(kind.into()));
            for error in [inner.failed(redb::Error::Io(kind.into())), unusable(&file, of_opening)] {
                assert_eq!(error.kind(), ErrorKind::Full, "{error}");
                assert!(error.to_string().contains("free some space"), "{error}");
            }
        }
        let other = io::Error::from(io::ErrorKind::FileTooLarge);
        assert_eq!(inner.failed(redb::Error::Io(other)).kind(), ErrorKind::Other);
    }

    #[tokio::test]
    async fn listing_is_opened_again_after_an_io_error() {
        let folder = tempfile::tempdir().expect("a folder");
        let listing = EmbeddedListing::open(folder.path().join("videos")).await.expect("a listing");
        listing.set_mark("in step").await.expect("a write");
        let failed = listing.run(|inner| {
            Err::<(), _>(inner.failed(redb::Error::Io(io::ErrorKind::StorageFull.into())))
        });
        assert_eq!(failed.await.expect_err("an error").kind(), ErrorKind::Full);
        let stopped = listing.run(|inner| Ok(inner.stopped.load(Ordering::Acquire)));
        assert!(!stopped.await.expect("a listing"), "the listing was opened again");
        assert_eq!(listing.mark().await.expect("a read").as_deref(), Some("in step"));
    }
}
