//! The writer thread of an embedded index. It takes all waiting batches, commits them durably
//! together, publishes the new snapshot and only then acknowledges each batch. Merges run in the
//! background, one at a time.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use parking_lot::RwLock;
use ports::{ErrorKind, PortError, Result};
use tantivy::index::SegmentId;
use tantivy::indexer::{IndexWriterOptions, LogMergePolicy, MergePolicy, NoMergePolicy};
use tantivy::query::Query;
use tantivy::{Directory, Index, IndexReader, IndexWriter, TantivyDocument, TantivyError, Term};
use tokio::sync::{mpsc, oneshot};

use super::panic_guard::catch_panics;
use super::schema::any_of;
use super::snapshot::Snapshot;
use super::{Damage, failed, files};
use crate::index::dimensions::Dimensions;

/// Capacity of the batch queue. If the queue is full, callers wait for a free slot.
const QUEUE: usize = 32;

/// Number of points at which a commit stops taking further batches.
const GROUP_POINTS: usize = 4096;

/// Share of deleted documents above which a segment is merged.
const REMOVED_SHARE: f32 = 0.5;

/// Segments with fewer documents than this are merged with each other regardless of their size.
const SMALL_SEGMENT: u32 = 2000;

/// The deletions and insertions of one `replace`.
type Change = (Option<Box<dyn Query>>, Vec<(Term, TantivyDocument)>);

/// A `replace` that waits to be committed.
pub(super) struct Batch {
    pub(super) scope: Option<Box<dyn Query>>,
    /// The points, whose ids are unique.
    pub(super) points: Vec<(Term, TantivyDocument)>,
    pub(super) done: oneshot::Sender<Result<()>>,
}

pub(super) enum Message {
    Replace(Batch),
    /// These segments have been verified and can be merged.
    Checked(Vec<SegmentId>),
    /// The merge that was running has ended.
    Merged,
}

/// The snapshot that searches read. The writer replaces it.
pub(super) struct CurrentSnapshot(RwLock<Arc<Snapshot>>);

impl CurrentSnapshot {
    pub(super) fn new(first: Snapshot) -> Self {
        Self(RwLock::new(Arc::new(first)))
    }

    pub(super) fn get(&self) -> Arc<Snapshot> {
        self.0.read().clone()
    }

    fn set(&self, new: Arc<Snapshot>) {
        *self.0.write() = new;
    }
}

/// Handle to the writer thread. Dropping it waits for a running commit and merge.
pub(super) struct Writer {
    sender: Option<mpsc::Sender<Message>>,
    closing: Arc<AtomicBool>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Writer {
    /// Starts the thread, which drops `keep` when it ends.
    pub(super) fn start(
        index: Index,
        reader: IndexReader,
        published: Arc<CurrentSnapshot>,
        dimensions: Arc<Dimensions>,
        memory: usize,
        damage: Arc<Damage>,
        keep: impl Send + 'static,
    ) -> Result<Self> {
        let (sender, receiver) = mpsc::channel(QUEUE);
        let closing = Arc::new(AtomicBool::new(false));
        let options = IndexWriterOptions::builder()
            .num_worker_threads(1)
            .num_merge_threads(1)
            .memory_budget_per_thread(memory)
            .build();
        let mut merging = LogMergePolicy::default();
        merging.set_del_docs_ratio_before_merge(REMOVED_SHARE);
        merging.set_min_layer_size(SMALL_SEGMENT);
        let writer = index.writer_with_options(options.clone()).map_err(failed)?;
        let mut worker = Worker {
            writer: Some(writer),
            index,
            reader,
            options,
            merging,
            dimensions,
            published,
            sender: sender.downgrade(),
            closing: closing.clone(),
            merge_running: false,
            damage,
            lookups: files::Lookups::default(),
        };
        let thread = thread::Builder::new().name("index-writer".into()).spawn(move || {
            worker.run(receiver);
            drop(worker);
            drop(keep);
        })?;
        Ok(Self { sender: Some(sender), closing, thread: Some(thread) })
    }

    /// Replaces points. Returns once the change is durable and visible.
    pub(super) async fn replace(
        &self,
        scope: Option<Box<dyn Query>>,
        points: Vec<(Term, TantivyDocument)>,
    ) -> Result<()> {
        let (done, acknowledged) = oneshot::channel();
        let stopped =
            || PortError::new(ErrorKind::Unavailable, "the index writer has stopped; restart it");
        let sender = self.sender.as_ref().ok_or_else(stopped)?;
        let batch = Message::Replace(Batch { scope, points, done });
        sender.send(batch).await.map_err(|_| stopped())?;
        acknowledged.await.map_err(|_| stopped())?
    }

    /// Fails if the writer can no longer write.
    pub(super) fn probe(&self) -> Result<()> {
        match &self.sender {
            Some(sender) if !sender.is_closed() => Ok(()),
            _ => Err(PortError::new(ErrorKind::Unavailable, "the index writer has stopped")),
        }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.closing.store(true, Ordering::Release);
        self.sender = None;
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("the index writer panicked");
        }
    }
}

struct Worker {
    index: Index,
    /// The writer. `None` if a failed commit could not be rolled back, or if leftover files could
    /// not be removed; the next batch then opens a new writer.
    writer: Option<IndexWriter>,
    reader: IndexReader,
    options: IndexWriterOptions,
    merging: LogMergePolicy,
    dimensions: Arc<Dimensions>,
    published: Arc<CurrentSnapshot>,
    /// A weak sender, so that the channel closes when the last strong sender is dropped.
    sender: mpsc::WeakSender<Message>,
    closing: Arc<AtomicBool>,
    merge_running: bool,
    damage: Arc<Damage>,
    lookups: files::Lookups,
}

impl Worker {
    fn run(&mut self, mut receiver: mpsc::Receiver<Message>) {
        if let Some(writer) = self.writer.take() {
            self.resume_with(writer);
        }
        self.start_merge();
        while let Some(first) = receiver.blocking_recv() {
            let mut group = Vec::new();
            let mut points = 0;
            let mut next = Some(first);
            while let Some(message) = next {
                match message {
                    Message::Replace(batch) => {
                        points += batch.points.len();
                        group.push(batch);
                    }
                    Message::Checked(segments) => self.merge(&segments),
                    Message::Merged => self.end_merge(),
                }
                next = (points < GROUP_POINTS).then(|| receiver.try_recv().ok()).flatten();
            }
            if !group.is_empty() {
                self.commit(group);
            }
            self.start_merge();
        }
    }

    fn commit(&mut self, group: Vec<Batch>) {
        let (waiting, changes): (Vec<_>, Vec<_>) =
            group.into_iter().map(|batch| (batch.done, (batch.scope, batch.points))).unzip();
        let outcome = self.write(changes);
        if outcome.is_err() {
            self.restore();
        }
        let outcome = outcome.and_then(|()| self.publish().map_err(failed));
        if let Err(error) = &outcome {
            self.damage.note(error);
        }
        for done in waiting {
            let outcome = match &outcome {
                Ok(()) => Ok(()),
                Err(error) => Err(PortError::new(error.kind(), error.to_string())),
            };
            // The caller may have stopped waiting for the answer.
            let _ = done.send(outcome);
        }
    }

    /// Commits several changes durably, in one commit.
    fn write(&mut self, changes: Vec<Change>) -> Result<()> {
        // tantivy opens segments from which a commit deletes documents on a thread that must not
        // panic.
        self.lookups.check(&self.index)?;
        self.commit_changes(changes).map_err(failed)
    }

    fn commit_changes(&mut self, changes: Vec<Change>) -> tantivy::Result<()> {
        let writer = match &mut self.writer {
            Some(writer) => writer,
            none => none.insert(clean_up(self.index.writer_with_options(self.options.clone())?)?),
        };
        for (scope, points) in changes {
            if let Some(scope) = scope {
                writer.delete_query(catch_panics(scope))?;
            }
            let (keys, documents): (Vec<Term>, Vec<TantivyDocument>) = points.into_iter().unzip();
            if !keys.is_empty() {
                writer.delete_query(catch_panics(any_of(keys)))?;
            }
            for document in documents {
                if let Err(stopped) = writer.add_document(document) {
                    return Err(worker_error(writer).unwrap_or(stopped));
                }
            }
        }
        writer.commit()?;
        // The commit renames a file. The rename becomes durable only when the directory is synced.
        self.index.directory().sync_directory()?;
        Ok(())
    }

    /// Makes the last commit visible to searches.
    fn publish(&self) -> tantivy::Result<()> {
        self.reader.reload()?;
        let previous = self.published.get();
        let new = Snapshot::new(self.reader.searcher(), Some(&previous), &self.dimensions)?;
        self.published.set(Arc::new(new));
        Ok(())
    }

    /// Rolls back to the last successful commit after a commit has failed.
    fn restore(&mut self) {
        let Some(mut writer) = self.writer.take() else { return };
        match writer.rollback() {
            Ok(_) => self.resume_with(writer),
            Err(e) => tracing::error!(error = %e, "cannot roll the index back to its last commit"),
        }
    }

    /// Resumes with a writer that is at its last commit. If the leftover files cannot be removed,
    /// resumes without a writer.
    fn resume_with(&mut self, writer: IndexWriter) {
        match clean_up(writer) {
            Ok(writer) => self.writer = Some(writer),
            Err(e) => tracing::error!(error = %e, "cannot clean up the index"),
        }
    }

    /// Starts the first merge that is due, unless a merge is running.
    fn start_merge(&mut self) {
        if self.merge_running || self.closing.load(Ordering::Acquire) {
            return;
        }
        let Some(sender) = self.sender.upgrade().filter(|_| self.writer.is_some()) else { return };
        let due = match self.index.searchable_segment_metas() {
            Ok(segments) => self.merging.compute_merge_candidates(&segments),
            Err(e) => {
                tracing::warn!(error = %e, "cannot plan a merge of index segments");
                return;
            }
        };
        let Some(candidate) = due.into_iter().next() else { return };
        // The files are checked first, because a merge would give damaged data new checksums.
        let (index, damage) = (self.index.clone(), self.damage.clone());
        let check = move || match files::check_segments(&index, &candidate.0) {
            Ok(()) => drop(sender.blocking_send(Message::Checked(candidate.0))),
            Err(error) => {
                tracing::error!(%error, "cannot merge index segments");
                damage.note(&error);
            }
        };
        self.spawn_merging(check);
    }

    /// Starts a merge of verified segments.
    fn merge(&mut self, segments: &[SegmentId]) {
        self.merge_running = false;
        let (Some(writer), Some(sender)) = (&mut self.writer, self.sender.upgrade()) else {
            return;
        };
        let merge = writer.merge(segments);
        // The sender keeps this thread alive until the merge has ended.
        let wait = move || {
            if let Err(e) = merge.wait() {
                tracing::warn!(error = %e, "a merge of index segments failed");
            }
            let _ = sender.blocking_send(Message::Merged);
        };
        self.spawn_merging(wait);
    }

    fn spawn_merging(&mut self, work: impl FnOnce() + Send + 'static) {
        match thread::Builder::new().name("index-merge".into()).spawn(work) {
            Ok(_) => self.merge_running = true,
            Err(e) => tracing::warn!(error = %e, "cannot watch a merge of index segments"),
        }
    }

    fn end_merge(&mut self) {
        self.merge_running = false;
        if let Err(e) = self.publish() {
            tracing::warn!(error = %e, "cannot publish merged index segments yet");
        }
        // Removes the files of the merged segments, which were still in use when the merge ended.
        if let Some(writer) = &self.writer
            && let Err(e) = writer.garbage_collect_files().wait()
        {
            tracing::warn!(error = %e, "cannot remove merged index segments yet");
        }
    }
}

/// The error that stopped tantivy's indexing thread, such as a full disk. Adding a document reports
/// only that the thread has stopped; preparing a commit collects the thread's own error.
fn worker_error(writer: &mut IndexWriter) -> Option<TantivyError> {
    writer.prepare_commit().err()
}

/// Prepares a writer that is at its last commit for the next commit. Removes the files of an
/// unfinished commit, since the next commit may use the same names.
fn clean_up(writer: IndexWriter) -> tantivy::Result<IndexWriter> {
    writer.set_merge_policy(Box::new(NoMergePolicy));
    writer.garbage_collect_files().wait()?;
    Ok(writer)
}
