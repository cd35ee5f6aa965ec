//! The index in a local folder. tantivy provides document storage, payload filters and BM25. A
//! custom segment component stores the vectors next to the documents. The vectors are
//! memory-mapped, as eight-bit codes for the scan and as float32 for scoring. One commit publishes
//! documents and vectors, so after a crash the index contains either all of a `replace` or none of
//! it. Only one process at a time can open the index.

mod chunk_set;
mod codes;
mod collectors;
mod counts;
mod files;
mod folder;
mod list;
mod panic_guard;
mod schema;
mod search;
mod selection;
mod snapshot;
mod vectors;
mod writer;

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use parking_lot::{Mutex, RwLock};
use ports::index::{
    FacetQuery, Filter, Hit, IndexStatistics, IndexUpkeep, ListedPoint, PictureSpace, Point,
    PointId, TextQuery, VectorIndex, VectorQuery,
};
use ports::ownership::StoreOwnership;
use ports::{ErrorKind, PortError, Result, VideoId};
use rayon::iter::{IndexedParallelIterator, IntoParallelRefIterator, ParallelIterator};
use rayon::{ThreadPool, ThreadPoolBuilder};
use tantivy::directory::MmapDirectory;
use tantivy::directory::error::{LockError, OpenDirectoryError, OpenReadError, OpenWriteError};
use tantivy::tokenizer::{TextAnalyzer, TokenizerManager};
use tantivy::{Index, IndexReader, ReloadPolicy, TantivyDocument, TantivyError, Term};

use self::folder::{Folder, IndexDescription};
use self::schema::{PointSchema, TOKENIZER};
use self::snapshot::Snapshot;
use self::vectors::Vectors;
use self::writer::{CurrentSnapshot, Writer};
use super::dimensions::Dimensions;
use super::{check, cosines, words};

/// tantivy's minimum memory for a segment writer, in bytes.
const MIN_WRITER_MEMORY: usize = 15_000_000;

/// Number of decompressed 16 KiB document blocks that each segment caches.
const CACHED_BLOCKS: usize = 32;

/// How to open an [`EmbeddedIndex`].
#[derive(Debug, Clone)]
pub struct EmbeddedOptions {
    /// The index folder, which is created if it does not exist.
    pub folder: PathBuf,
    /// Number of components in each vector, except in the picture fields.
    pub dimension: usize,
    /// The embedding model. An index that was created with another model is rejected.
    pub model: String,
    /// The picture fields, if any. An index that was created without them, or with another picture
    /// model or dimension, opens with these fields empty and accepts new vectors in them.
    pub pictures: Option<PictureSpace>,
    /// Number of threads that score the vectors of a search, including the calling thread. The
    /// other threads are shared by all searches. 0 means one thread per core.
    pub threads: usize,
    /// Number of bytes to buffer in memory before a segment is written; at least 15,000,000.
    pub writer_memory: usize,
    /// Number of points at which [`IndexUpkeep::advice`] starts to recommend a server; 0 means
    /// never.
    pub large: u64,
}

/// An index in a folder, with exact rankings. It keeps 12 bytes per point and 28 bytes per video in
/// memory. In addition, it uses the vector pages that searches touch, which the operating system
/// can reclaim.
pub struct EmbeddedIndex {
    options: EmbeddedOptions,
    /// Replaced if the files turn out to be damaged.
    inner: RwLock<Arc<Inner>>,
}

/// The first error that revealed damaged files, if any.
#[derive(Default)]
struct Damage(Mutex<Option<String>>);

impl Damage {
    /// Records an error if it indicates damage, unless an error is already recorded.
    fn note(&self, error: &PortError) {
        if error.kind() == ErrorKind::Corrupt {
            let mut damage = self.0.lock();
            damage.get_or_insert_with(|| error.to_string());
        }
    }

    /// Clears the recorded error.
    fn clear(&self) {
        *self.0.lock() = None;
    }

    fn check(&self) -> Result<()> {
        let damage = self.0.lock();
        match &*damage {
            None => Ok(()),
            Some(why) => Err(PortError::new(ErrorKind::Corrupt, why.clone())),
        }
    }
}

struct Inner {
    dimensions: Arc<Dimensions>,
    schema: PointSchema,
    pool: ThreadPool,
    analyzer: Mutex<TextAnalyzer>,
    published: Arc<CurrentSnapshot>,
    writer: Writer,
    folder: Arc<Folder>,
    description: Mutex<IndexDescription>,
    large: u64,
    damage: Arc<Damage>,
    /// Whether the advice has already been logged.
    advice_logged: AtomicBool,
}

/// Segments that a rebuild fills next to the current segments.
pub struct EmbeddedRebuild {
    /// The new segments, initially empty.
    pub fresh: EmbeddedIndex,
    /// The current segments, unless they are damaged or have another format, model or dimension.
    pub current: Option<EmbeddedIndex>,
}

impl EmbeddedIndex {
    /// Opens or creates the index. Returns `Invalid` if the folder has another format, or vectors
    /// of another model or dimension. Returns `Corrupt` if its files are damaged, and `Unavailable`
    /// if another process has it open.
    pub async fn open(options: EmbeddedOptions) -> Result<Self> {
        let with = options.clone();
        let inner = open_blocking(move || {
            let folder = Arc::new(Folder::lock(&with.folder)?);
            let requested = IndexDescription::new(&with.model, with.dimension);
            let inner = Inner::open(&with, folder, |folder| folder.load_or_create(requested))?;
            inner.folder.remove_other_segments(&inner.description())?;
            inner.log_advice();
            Ok(inner)
        });
        Ok(Self::new(options, inner.await?))
    }

    /// Creates empty segments next to the current segments, even if the current ones are damaged.
    /// The caller fills the new segments and then calls [`Self::publish`] on them. Returns
    /// `Unavailable` if another process has the index open.
    pub async fn begin_rebuild(options: EmbeddedOptions) -> Result<EmbeddedRebuild> {
        let folder = options.folder.clone();
        let folder = Arc::new(blocking(move || Folder::lock(&folder)).await?);
        let (old, at) = (options.clone(), folder.clone());
        let requested = IndexDescription::new(&old.model, old.dimension);
        let searched =
            open_blocking(move || Inner::open(&old, at, |folder| folder.load_or_create(requested)));
        let searched = match searched.await {
            Ok(inner) => Some(Self::new(options.clone(), inner)),
            Err(error) if is_replaceable(&error) => {
                tracing::warn!(%error, "cannot read the index; rebuilding it");
                None
            }
            Err(error) => return Err(error),
        };
        let description = IndexDescription::new(&options.model, options.dimension);
        let with = options.clone();
        let inner = open_blocking(move || {
            Inner::open(&with, folder, |folder| folder.next_segments(description))
        });
        Ok(EmbeddedRebuild { fresh: Self::new(options, inner.await?), current: searched })
    }

    /// Atomically makes these segments the current ones and removes all others, which must no
    /// longer be open.
    pub async fn publish(&self) -> Result<()> {
        let inner = self.inner();
        blocking(move || {
            let description = inner.description();
            inner.folder.save(&description)?;
            inner.folder.remove_other_segments(&description)
        })
        .await
    }

    /// Runs `search` on a blocking thread with the latest snapshot.
    async fn read<T: Send + 'static>(
        &self,
        search: impl FnOnce(&Inner, &Snapshot) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let inner = self.inner();
        let searched = inner.clone();
        let found = blocking(move || search(&searched, &searched.published.get())).await;
        if let Err(error) = &found {
            inner.damage.note(error);
        }
        found
    }

    fn new(options: EmbeddedOptions, inner: Inner) -> Self {
        Self { options, inner: RwLock::new(Arc::new(inner)) }
    }

    fn inner(&self) -> Arc<Inner> {
        self.inner.read().clone()
    }
}

/// Returns whether the error requires a rebuild of the index.
pub(super) fn is_replaceable(error: &PortError) -> bool {
    matches!(error.kind(), ErrorKind::Corrupt | ErrorKind::Invalid)
}

impl Inner {
    fn open(
        options: &EmbeddedOptions,
        folder: Arc<Folder>,
        description: impl FnOnce(&Folder) -> Result<IndexDescription>,
    ) -> Result<Self> {
        let pictures = options.pictures.clone();
        let dimensions = Arc::new(Dimensions { text: options.dimension, pictures });
        dimensions.check()?;
        if options.writer_memory < MIN_WRITER_MEMORY {
            let message = format!(
                "the index writer's memory is {} bytes; at least {MIN_WRITER_MEMORY} are expected",
                options.writer_memory
            );
            return Err(PortError::new(ErrorKind::Invalid, message));
        }
        let description = description(&folder)?;
        let schema = PointSchema::new();
        let index = open_segments(&schema, dimensions.clone(), &folder.segments(&description)?)?;
        let pool = ThreadPoolBuilder::new()
            .num_threads(options.threads)
            .thread_name(|i| format!("index-scan-{i}"))
            .build()
            .map_err(|e| {
                PortError::caused_by(ErrorKind::Other, "cannot start the index's threads", e)
            })?;
        let (of_writer, memory) = (dimensions.clone(), options.writer_memory);
        let (reader, first) = files::verify_while(&index, &pool, || {
            let reader: IndexReader = index
                .reader_builder()
                .reload_policy(ReloadPolicy::Manual)
                .doc_store_cache_num_blocks(CACHED_BLOCKS)
                .try_into()
                .map_err(failed)?;
            let first = Snapshot::new(reader.searcher(), None, &dimensions).map_err(failed)?;
            Ok((reader, first))
        })?;
        let published = Arc::new(CurrentSnapshot::new(first));
        let damage = Arc::<Damage>::default();
        let (noting, keep) = (damage.clone(), folder.clone());
        let writer =
            Writer::start(index, reader, published.clone(), of_writer, memory, noting, keep)?;
        let analyzer = Mutex::new(words::analyzer());
        let description = Mutex::new(description);
        let (large, advice_logged) = (options.large, AtomicBool::new(false));
        Ok(Self {
            dimensions,
            schema,
            pool,
            analyzer,
            published,
            writer,
            folder,
            description,
            large,
            damage,
            advice_logged,
        })
    }

    /// Converts points to tantivy documents on all cores. If several points have the same id and
    /// revision, the last one wins.
    fn documents(&self, points: &[Point]) -> Result<Vec<(Term, TantivyDocument)>> {
        let mut last = HashMap::with_capacity(points.len());
        for (i, point) in points.iter().enumerate() {
            last.insert((&point.id, point.revision()), i);
        }
        let document = |(i, point): (usize, &Point)| {
            let checked = check::point(point, &self.dimensions);
            let is_last = last.get(&(&point.id, point.revision())) == Some(&i);
            match checked {
                Ok(()) => is_last.then(|| self.schema.document(point)),
                Err(error) => Some(Err(error)),
            }
        };
        self.pool.install(|| points.par_iter().enumerate().filter_map(document).collect())
    }

    /// Returns the advice to use a server if the index is large.
    fn advice(&self) -> Option<String> {
        let points = self.published.get().searcher.num_docs();
        let bytes = points.saturating_mul(codes::stride(self.dimensions.text) as u64);
        (self.large > 0 && points >= self.large).then(|| {
            format!(
                "the embedded index holds {points} points, and every search without a filter looks \
                 through {} MB of vectors; from {} points on (index.warn_above_points) a Qdrant server \
                 (index.kind = \"qdrant\"), whose graph visits few of them (index.exact = false), is \
                 the better place",
                bytes / 1_000_000,
                self.large,
            )
        })
    }

    /// Logs the advice once.
    fn log_advice(&self) {
        if let Some(advice) = self.advice()
            && !self.advice_logged.swap(true, Ordering::Relaxed)
        {
            tracing::warn!("{advice}");
        }
    }

    fn analyzer(&self) -> TextAnalyzer {
        self.analyzer.lock().clone()
    }

    fn description(&self) -> IndexDescription {
        self.description.lock().clone()
    }

    /// Returns the installation that owns the points. If no owner is recorded, records `install` as
    /// the owner.
    fn adopt(&self, install: &str) -> Result<String> {
        let mut description = self.description.lock();
        if let Some(owner) = &description.install {
            return Ok(owner.clone());
        }
        let mut owned = description.clone();
        owned.install = Some(install.to_owned());
        // The owner of segments under construction is recorded when they are published.
        if self.folder.is_current(&owned)? {
            self.folder.save(&owned)?;
        }
        *description = owned;
        Ok(install.to_owned())
    }
}

fn open_segments(
    schema: &PointSchema,
    dimensions: Arc<Dimensions>,
    segments: &Path,
) -> Result<Index> {
    let tokenizers = TokenizerManager::default();
    tokenizers.register(TOKENIZER, words::analyzer());
    let directory = MmapDirectory::open(segments).map_err(|e| failed(TantivyError::from(e)))?;
    let analyzer = schema.payload["analyzer_id"];
    let vectors = Vectors { field: schema.vectors, analyzer, dimensions };
    Index::builder()
        .schema(schema.schema.clone())
        .tokenizers(tokenizers)
        .register_plugin(Arc::new(vectors))
        .open_or_create(directory)
        .map_err(failed)
}

#[async_trait]
impl VectorIndex for EmbeddedIndex {
    async fn replace(&self, scope: Option<&Filter>, points: Vec<Point>) -> Result<()> {
        let (inner, scope) = (self.inner(), scope.cloned());
        let index = inner.clone();
        let (scope, points) = blocking(move || {
            let scope = match &scope {
                Some(scope) => {
                    check::filter(scope)?;
                    Some(index.schema.filter(scope)?)
                }
                None => None,
            };
            Ok((scope, index.documents(&points)?))
        })
        .await?;
        if scope.is_none() && points.is_empty() {
            return Ok(());
        }
        inner.writer.replace(scope, points).await?;
        inner.log_advice();
        Ok(())
    }

    async fn search(&self, query: VectorQuery) -> Result<Vec<Hit>> {
        check::vector_query(&query, &self.inner().dimensions)?;
        self.read(move |inner, now| {
            let (schema, pool) = (&inner.schema, &inner.pool);
            match query.per_video {
                None => search::nearest(now, schema, pool, &query),
                Some(per_video) => search::nearest_by_video(now, schema, pool, &query, per_video),
            }
        })
        .await
    }

    async fn text_search(&self, query: TextQuery) -> Result<Vec<Hit>> {
        check::text_query(&query)?;
        self.read(move |inner, now| {
            let (schema, analyzer) = (&inner.schema, &mut inner.analyzer());
            match query.per_video {
                None => search::text(now, schema, analyzer, &query),
                Some(per_video) => search::text_by_video(now, schema, analyzer, &query, per_video),
            }
        })
        .await
    }

    async fn vectors(&self, filter: &Filter, field: &str) -> Result<Vec<(PointId, Vec<f32>)>> {
        check::filter(filter)?;
        let (filter, field) = (filter.clone(), field.to_owned());
        self.read(move |inner, now| search::vectors(now, &inner.schema, &filter, &field)).await
    }

    async fn cosines(
        &self,
        field: &str,
        vector: &[f32],
        ids: &BTreeSet<PointId>,
    ) -> Result<Vec<(PointId, f32)>> {
        check::vector(field, vector, &self.inner().dimensions)?;
        cosines::from_vectors(self, field, vector, ids).await
    }

    async fn list(&self, filter: &Filter, limit: usize) -> Result<Vec<ListedPoint>> {
        check::filter(filter)?;
        let filter = filter.clone();
        self.read(move |inner, now| list::points(now, &inner.schema, &filter, limit)).await
    }

    async fn probe(&self) -> Result<()> {
        self.inner().damage.check()?;
        self.inner().writer.probe()?;
        self.read(|_, now| {
            now.searcher.index().load_metas().map_err(failed)?;
            Ok(())
        })
        .await
    }
}

#[async_trait]
impl IndexStatistics for EmbeddedIndex {
    async fn count(&self, filter: &Filter) -> Result<u64> {
        check::filter(filter)?;
        let filter = filter.clone();
        self.read(move |inner, now| search::count(now, &inner.schema, &filter)).await
    }

    async fn values(&self, field: &str) -> Result<Vec<String>> {
        check::keyword_field(field)?;
        let field = field.to_owned();
        self.read(move |inner, now| search::values(now, &inner.schema, &field)).await
    }

    async fn facet_counts(&self, query: &FacetQuery) -> Result<Vec<(String, u64)>> {
        check::facet_query(query)?;
        let query = query.clone();
        self.read(move |inner, now| counts::facet_counts(now, &inner.schema, &query)).await
    }

    async fn revisions(&self, video_id: VideoId) -> Result<Vec<String>> {
        let of_video = Filter::video(video_id);
        self.read(move |inner, now| search::revisions(now, &inner.schema, &of_video)).await
    }
}

#[async_trait]
impl StoreOwnership for EmbeddedIndex {
    // Only this process can open the folder.
    fn shared(&self) -> bool {
        false
    }

    async fn adopt(&self, install: &str) -> Result<String> {
        let (inner, install) = (self.inner(), install.to_owned());
        blocking(move || inner.adopt(&install)).await
    }
}

#[async_trait]
impl IndexUpkeep for EmbeddedIndex {
    async fn check(&self) -> Result<()> {
        let checked = |inner: &Inner, now: &Snapshot| {
            let noted = inner.damage.check();
            files::check(now.searcher.index())?;
            if let Err(noted) = noted {
                tracing::warn!(%noted, "no file of the index is damaged; it stays in use");
                inner.damage.clear();
            }
            Ok(())
        };
        self.read(checked).await
    }

    async fn reset(&self) -> Result<()> {
        let (options, old) = (self.options.clone(), self.inner());
        let description = old.description();
        let folder = old.folder.clone();
        let new = open_blocking(move || {
            Inner::open(&options, folder, |folder| folder.next_segments(description))
        });
        let new = Arc::new(new.await?);
        *self.inner.write() = new.clone();
        blocking(move || {
            // Dropping the old index waits for its writer, unless a search still uses the index.
            drop(old);
            let description = new.description();
            new.folder.save(&description)?;
            new.folder.remove_other_segments(&description)
        })
        .await
    }

    async fn advice(&self) -> Result<Option<String>> {
        Ok(self.inner().advice())
    }
}

/// Converts a tantivy error.
fn failed(error: TantivyError) -> PortError {
    let kind = match &error {
        TantivyError::DataCorruption(_)
        | TantivyError::IncompatibleIndex(_)
        | TantivyError::InternalError(_)
        | TantivyError::OpenReadError(
            OpenReadError::FileDoesNotExist(_) | OpenReadError::IncompatibleIndex(_),
        ) => ErrorKind::Corrupt,
        TantivyError::OpenReadError(OpenReadError::IoError { io_error, .. })
            if is_decode_error(io_error.kind()) =>
        {
            ErrorKind::Corrupt
        }
        TantivyError::IoError(io_error) if is_decode_error(io_error.kind()) => ErrorKind::Corrupt,
        TantivyError::SchemaError(_)
        | TantivyError::MissingPlugin(_)
        | TantivyError::UnexpectedPlugin(_) => ErrorKind::Invalid,
        error if io_cause(error).is_some_and(is_full) => ErrorKind::Full,
        _ => ErrorKind::Other,
    };
    let advice = match kind {
        ErrorKind::Corrupt | ErrorKind::Invalid => "; run `shotlog reindex` to rebuild it",
        ErrorKind::Full => "; free some space on its disk",
        _ => "",
    };
    PortError::caused_by(kind, format!("the index failed: {error}{advice}"), error)
}

/// The operating system's error inside a tantivy error.
fn io_cause(error: &TantivyError) -> Option<&std::io::Error> {
    match error {
        TantivyError::IoError(cause)
        | TantivyError::OpenWriteError(OpenWriteError::IoError { io_error: cause, .. })
        | TantivyError::OpenReadError(OpenReadError::IoError { io_error: cause, .. })
        | TantivyError::OpenDirectoryError(
            OpenDirectoryError::IoError { io_error: cause, .. }
            | OpenDirectoryError::FailedToCreateTempDir(cause),
        )
        | TantivyError::LockFailure(LockError::IoError(cause), _) => Some(cause),
        _ => None,
    }
}

fn is_full(error: &std::io::Error) -> bool {
    ErrorKind::from(error.kind()) == ErrorKind::Full
}

/// Returns whether errors of this kind result from decoding damaged bytes.
fn is_decode_error(kind: std::io::ErrorKind) -> bool {
    use std::io::ErrorKind::{InvalidData, InvalidInput, UnexpectedEof};
    matches!(kind, InvalidData | InvalidInput | UnexpectedEof)
}

/// Opens an index on a blocking thread. If the reader panics, the files are damaged.
async fn open_blocking<T: Send + 'static>(
    open: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    tokio::task::spawn_blocking(open).await.unwrap_or_else(|panic| {
        let message = "the index cannot be read; run `shotlog reindex` to rebuild it";
        Err(PortError::caused_by(ErrorKind::Corrupt, message, panic))
    })
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|e| {
        // Reading damaged data panics.
        let kind = if e.is_panic() { ErrorKind::Corrupt } else { ErrorKind::Other };
        Err(PortError::caused_by(kind, "reading the index ended abnormally", e))
    })
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    #[test]
    fn full_disk_is_reported_as_full() {
        let file = || PathBuf::from("segment.store");
        for kind in [io::ErrorKind::StorageFull, io::ErrorKind::QuotaExceeded] {
            let cause = || io::Error::from(kind);
            for error in [
                TantivyError::from(cause()),
                OpenWriteError::wrap_io_error(cause(), file()).into(),
                OpenReadError::wrap_io_error(cause(), file()).into(),
                OpenDirectoryError::wrap_io_error(cause(), file()).into(),
                OpenDirectoryError::FailedToCreateTempDir(Arc::new(cause())).into(),
                LockError::wrap_io_error(cause()).into(),
            ] {
                let error = failed(error);
                assert_eq!(error.kind(), ErrorKind::Full, "{error}");
                assert!(error.to_string().contains("free some space"), "{error}");
            }
        }
        for kind in [io::ErrorKind::WriteZero, io::ErrorKind::FileTooLarge] {
            let error = OpenWriteError::wrap_io_error(kind.into(), file());
            assert_eq!(failed(error.into()).kind(), ErrorKind::Other, "{kind}");
        }
    }
}
