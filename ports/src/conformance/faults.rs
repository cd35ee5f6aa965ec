//! Fault injection for stores. A test wraps the stores of a service to show that the service loses
//! no data and completes every change, no matter which call fails, hangs or loses its response.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use async_trait::async_trait;
use parking_lot::{Mutex, MutexGuard};
use serde_json::Value;
use tokio::sync::watch;

use crate::index::{
    Condition, FacetQuery, Filter, Hit, Index, IndexStatistics, IndexUpkeep, ListedPoint, Point,
    PointId, TextQuery, VectorIndex, VectorQuery,
};
use crate::listing::{ListQuery, ListingPage, VideoEntry, VideoListing};
use crate::ownership::StoreOwnership;
use crate::records::{Precondition, RecordStore, Version};
use crate::storage::{ObjectInfo, ObjectStorage, ObjectUrls};
use crate::{ByteStream, ErrorKind, PortError, Result, VideoId};

/// What an injected fault does to a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The call fails and has no effect.
    Fails,
    /// The call never returns and has no effect.
    Hangs,
    /// The call takes effect but reports a failure.
    Unanswered,
    /// The call fails as if the data were damaged, and has no effect.
    Damaged,
    /// The call fails as if the disk were full, and has no effect.
    Full,
    /// This call and every later one fails, as if the process had died or the network were down.
    Down,
    /// This call and every later one waits until [`Faults::wake`] is called, as if the process were
    /// suspended.
    Sleeps,
}

/// Decides which call to a group of stores fails. Calls to all stores of the group are counted
/// together.
#[derive(Debug)]
pub struct Faults {
    state: Mutex<State>,
    asleep: watch::Sender<bool>,
}

#[derive(Debug, Default)]
struct State {
    calls: usize,
    planned: Option<(usize, Fault)>,
    last: String,
}

impl Default for Faults {
    fn default() -> Self {
        Self { state: Mutex::default(), asleep: watch::Sender::new(false) }
    }
}

impl Faults {
    /// Injects a fault into the `nth` call after this one; 1 is the next call.
    pub fn plan(&self, nth: usize, fault: Fault) {
        *self.state() = State { calls: 0, planned: Some((nth, fault)), last: String::new() };
    }

    /// Cancels the planned fault. If it has occurred, returns the call that it affected.
    pub fn clear(&self) -> Option<String> {
        let mut state = self.state();
        let met = state.planned.is_some_and(|(nth, _)| state.calls >= nth);
        state.planned = None;
        met.then(|| std::mem::take(&mut state.last))
    }

    /// Returns the number of calls since the last [`Self::plan`].
    pub fn calls(&self) -> usize {
        self.state().calls
    }

    /// Returns whether a call is suspended.
    pub fn sleeps(&self) -> bool {
        *self.asleep.borrow()
    }

    /// Waits until a call is suspended.
    pub async fn asleep(&self) {
        // Cannot fail: `self` owns the sender.
        let _ = self.asleep.subscribe().wait_for(|asleep| *asleep).await;
    }

    /// Resumes suspended calls and lets all later ones pass.
    pub fn wake(&self) {
        self.state().planned = None;
        self.asleep.send_replace(false);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    fn next(&self, call: &str) -> Option<Fault> {
        let mut state = self.state();
        state.calls += 1;
        let (nth, fault) = state.planned?;
        let lasts = matches!(fault, Fault::Down | Fault::Sleeps);
        if state.calls == nth {
            state.last = call.to_owned();
        }
        (state.calls == nth || (lasts && state.calls > nth)).then_some(fault)
    }

    async fn meet<T>(&self, call: &str, work: impl Future<Output = Result<T>>) -> Result<T> {
        let failed = || {
            let message = format!("{call}: this call fails on purpose");
            PortError::new(ErrorKind::Unavailable, message)
        };
        match self.next(call) {
            None => work.await,
            Some(Fault::Fails | Fault::Down) => Err(failed()),
            Some(Fault::Damaged) => {
                let message = format!("{call}: what it reads is damaged on purpose");
                Err(PortError::new(ErrorKind::Corrupt, message))
            }
            Some(Fault::Full) => {
                let message = format!("{call}: there is no space on purpose");
                Err(PortError::new(ErrorKind::Full, message))
            }
            Some(Fault::Hangs) => std::future::pending().await,
            Some(Fault::Unanswered) => {
                work.await?;
                Err(failed())
            }
            Some(Fault::Sleeps) => {
                let mut asleep = self.asleep.subscribe();
                self.asleep.send_replace(true);
                // Cannot fail: `self` owns the sender.
                let _ = asleep.wait_for(|asleep| !*asleep).await;
                work.await
            }
        }
    }
}

/// A store with fault injection.
struct Faulty<P: ?Sized> {
    port: Arc<P>,
    faults: Arc<Faults>,
}

/// Wraps a record store with fault injection.
pub fn records(port: Arc<dyn RecordStore>, faults: &Arc<Faults>) -> Arc<dyn RecordStore> {
    Arc::new(Faulty { port, faults: faults.clone() })
}

/// Wraps an index with fault injection.
pub fn index(port: Arc<dyn Index>, faults: &Arc<Faults>) -> Arc<dyn Index> {
    Arc::new(Faulty { port, faults: faults.clone() })
}

/// Wraps a listing with fault injection.
pub fn listing(port: Arc<dyn VideoListing>, faults: &Arc<Faults>) -> Arc<dyn VideoListing> {
    Arc::new(Faulty { port, faults: faults.clone() })
}

/// Wraps a bucket with fault injection.
pub fn storage(port: Arc<dyn ObjectStorage>, faults: &Arc<Faults>) -> Arc<dyn ObjectStorage> {
    Arc::new(Faulty { port, faults: faults.clone() })
}

#[async_trait]
impl RecordStore for Faulty<dyn RecordStore> {
    async fn get(&self, key: &str) -> Result<Option<Value>> {
        self.faults.meet(&format!("get {key}"), self.port.get(key)).await
    }

    async fn version(&self, key: &str) -> Result<Option<Version>> {
        self.faults.meet(&format!("version {key}"), self.port.version(key)).await
    }

    async fn folder_version(&self, prefix: &str) -> Result<Option<Version>> {
        self.faults.meet(&format!("version {prefix}"), self.port.folder_version(prefix)).await
    }

    async fn put(&self, key: &str, document: &Value) -> Result<()> {
        self.faults.meet(&format!("put {key}"), self.port.put(key, document)).await
    }

    async fn compare_and_swap(
        &self,
        key: &str,
        expected: Precondition<'_>,
        document: &Value,
    ) -> Result<bool> {
        let swap = self.port.compare_and_swap(key, expected, document);
        self.faults.meet(&format!("swap {key}"), swap).await
    }

    async fn remove(&self, key: &str, expected: &Value) -> Result<bool> {
        self.faults.meet(&format!("remove {key}"), self.port.remove(key, expected)).await
    }

    async fn list(&self, prefix: &str) -> Result<Vec<String>> {
        self.faults.meet(&format!("list {prefix}"), self.port.list(prefix)).await
    }

    async fn children(&self, prefix: &str) -> Result<Vec<String>> {
        self.faults.meet(&format!("children {prefix}"), self.port.children(prefix)).await
    }

    async fn delete(&self, prefix: &str) -> Result<()> {
        self.faults.meet(&format!("delete {prefix}"), self.port.delete(prefix)).await
    }

    async fn probe(&self) -> Result<()> {
        self.port.probe().await
    }
}

#[async_trait]
impl VectorIndex for Faulty<dyn Index> {
    async fn replace(&self, scope: Option<&Filter>, points: Vec<Point>) -> Result<()> {
        let call = format!("replace {scope:?} by {} points", points.len());
        self.faults.meet(&call, self.port.replace(scope, points)).await
    }

    async fn search(&self, query: VectorQuery) -> Result<Vec<Hit>> {
        self.faults.meet("search", self.port.search(query)).await
    }

    async fn text_search(&self, query: TextQuery) -> Result<Vec<Hit>> {
        self.faults.meet("text_search", self.port.text_search(query)).await
    }

    async fn vectors(&self, filter: &Filter, field: &str) -> Result<Vec<(PointId, Vec<f32>)>> {
        self.faults.meet("vectors", self.port.vectors(filter, field)).await
    }

    async fn cosines(
        &self,
        field: &str,
        vector: &[f32],
        ids: &BTreeSet<PointId>,
    ) -> Result<Vec<(PointId, f32)>> {
        self.faults.meet("cosines", self.port.cosines(field, vector, ids)).await
    }

    async fn list(&self, filter: &Filter, limit: usize) -> Result<Vec<ListedPoint>> {
        self.faults.meet("list", self.port.list(filter, limit)).await
    }

    async fn probe(&self) -> Result<()> {
        self.port.probe().await
    }
}

#[async_trait]
impl IndexStatistics for Faulty<dyn Index> {
    async fn count(&self, filter: &Filter) -> Result<u64> {
        self.faults.meet("count", self.port.count(filter)).await
    }

    async fn values(&self, field: &str) -> Result<Vec<String>> {
        self.faults.meet("values", self.port.values(field)).await
    }

    async fn facet_counts(&self, query: &FacetQuery) -> Result<Vec<(String, u64)>> {
        self.faults.meet("facet_counts", self.port.facet_counts(query)).await
    }

    async fn revisions(&self, video_id: VideoId) -> Result<Vec<String>> {
        self.faults.meet("revisions", self.port.revisions(video_id)).await
    }
}

#[async_trait]
impl StoreOwnership for Faulty<dyn Index> {
    fn shared(&self) -> bool {
        self.port.shared()
    }

    async fn adopt(&self, install: &str) -> Result<String> {
        self.faults.meet("adopt", self.port.adopt(install)).await
    }
}

#[async_trait]
impl IndexUpkeep for Faulty<dyn Index> {
    async fn check(&self) -> Result<()> {
        self.faults.meet("check", self.port.check()).await
    }

    async fn reset(&self) -> Result<()> {
        self.faults.meet("reset", self.port.reset()).await
    }

    async fn advice(&self) -> Result<Option<String>> {
        self.faults.meet("advice", self.port.advice()).await
    }
}

#[async_trait]
impl VideoListing for Faulty<dyn VideoListing> {
    async fn put(&self, entries: Vec<VideoEntry>) -> Result<()> {
        self.faults.meet("list videos", self.port.put(entries)).await
    }

    async fn remove(&self, video_ids: &[VideoId]) -> Result<()> {
        self.faults.meet("unlist videos", self.port.remove(video_ids)).await
    }

    async fn list(&self, query: &ListQuery) -> Result<ListingPage> {
        self.faults.meet("list a page", self.port.list(query)).await
    }

    async fn get(&self, video_ids: &[VideoId]) -> Result<Vec<VideoEntry>> {
        self.faults.meet("get listed", self.port.get(video_ids)).await
    }

    async fn ids(
        &self,
        conditions: &[Condition],
        after: Option<VideoId>,
        limit: usize,
    ) -> Result<Vec<VideoId>> {
        self.faults.meet("list ids", self.port.ids(conditions, after, limit)).await
    }

    async fn keyword_counts(
        &self,
        field: &str,
        conditions: &[Condition],
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<(String, u64)>> {
        let words = self.port.keyword_counts(field, conditions, after, limit);
        self.faults.meet("count words", words).await
    }

    async fn created_range(&self, conditions: &[Condition]) -> Result<Option<(i64, i64)>> {
        self.faults.meet("find the period", self.port.created_range(conditions)).await
    }

    async fn mark(&self) -> Result<Option<String>> {
        self.faults.meet("read the mark", self.port.mark()).await
    }

    async fn set_mark(&self, mark: &str) -> Result<()> {
        self.faults.meet("set the mark", self.port.set_mark(mark)).await
    }

    async fn probe(&self) -> Result<()> {
        self.port.probe().await
    }
}

#[async_trait]
impl ObjectStorage for Faulty<dyn ObjectStorage> {
    fn bucket(&self) -> &str {
        self.port.bucket()
    }

    async fn put(&self, key: &str, content: ByteStream, content_type: &str) -> Result<()> {
        let put = self.port.put(key, content, content_type);
        self.faults.meet(&format!("store {key}"), put).await
    }

    async fn stat(&self, key: &str) -> Result<Option<ObjectInfo>> {
        self.faults.meet(&format!("stat {key}"), self.port.stat(key)).await
    }

    async fn get(&self, key: &str, range: Option<Range<u64>>) -> Result<ByteStream> {
        self.faults.meet(&format!("fetch {key}"), self.port.get(key, range)).await
    }

    async fn list(&self, prefix: &str) -> Result<Vec<String>> {
        self.faults.meet(&format!("list objects {prefix}"), self.port.list(prefix)).await
    }

    async fn delete(&self, key: &str) -> Result<()> {
        self.faults.meet(&format!("delete object {key}"), self.port.delete(key)).await
    }

    async fn delete_prefix(&self, prefix: &str) -> Result<Vec<String>> {
        self.faults.meet(&format!("delete objects {prefix}"), self.port.delete_prefix(prefix)).await
    }

    async fn probe(&self) -> Result<()> {
        self.port.probe().await
    }
}

#[async_trait]
impl ObjectUrls for Faulty<dyn ObjectStorage> {
    fn public_url(&self, key: &str) -> String {
        self.port.public_url(key)
    }

    async fn download_url(&self, key: &str) -> Result<String> {
        self.faults.meet(&format!("link {key}"), self.port.download_url(key)).await
    }

    fn key_from_url(&self, url: &str) -> Option<String> {
        self.port.key_from_url(url)
    }
}
