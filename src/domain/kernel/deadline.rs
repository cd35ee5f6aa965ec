//! A deadline for store calls. A call that exceeds the deadline fails with a timeout, so that a
//! hanging store does not keep a video locked. The store may still complete the operation.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures::StreamExt;
use ports::index::{
    Condition, FacetQuery, Filter, Hit, Index, IndexStatistics, IndexUpkeep, ListedPoint, Point,
    PointId, TextQuery, VectorIndex, VectorQuery,
};
use ports::listing::{ListQuery, ListingPage, VideoEntry, VideoListing};
use ports::ownership::StoreOwnership;
use ports::records::{Precondition, RecordStore, Version};
use ports::storage::{ObjectInfo, ObjectStorage, ObjectUrls};
use ports::{ByteStream, ErrorKind, PortError, Result};
use serde_json::Value;
use tokio::sync::Notify;

use crate::kernel::ports::Stores;
use crate::kernel::video::VideoId;

/// Wraps the stores that hold videos, so that each call fails if it takes longer than `limit`.
pub(crate) fn with_deadline(stores: Stores, limit: Duration) -> Stores {
    Stores {
        records: Arc::new(Deadline { port: stores.records, name: "the record store", limit }),
        index: Arc::new(Deadline { port: stores.index, name: "the index", limit }),
        listing: Arc::new(Deadline { port: stores.listing, name: "the listing", limit }),
        storage: Arc::new(Deadline { port: stores.storage, name: "storage", limit }),
        ..stores
    }
}

struct Deadline<P: ?Sized> {
    port: Arc<P>,
    name: &'static str,
    limit: Duration,
}

impl<P: ?Sized> Deadline<P> {
    async fn within<T>(&self, call: impl Future<Output = Result<T>>) -> Result<T> {
        tokio::time::timeout(self.limit, call).await.unwrap_or_else(|_| Err(self.timeout_error()))
    }

    fn timeout_error(&self) -> PortError {
        let message = format!(
            "{} did not answer within {} s (records.deadline)",
            self.name,
            self.limit.as_secs_f64()
        );
        PortError::new(ErrorKind::Timeout, message)
    }
}

#[async_trait]
impl RecordStore for Deadline<dyn RecordStore> {
    async fn get(&self, key: &str) -> Result<Option<Value>> {
        self.within(self.port.get(key)).await
    }

    async fn version(&self, key: &str) -> Result<Option<Version>> {
        self.within(self.port.version(key)).await
    }

    async fn folder_version(&self, prefix: &str) -> Result<Option<Version>> {
        self.within(self.port.folder_version(prefix)).await
    }

    async fn put(&self, key: &str, document: &Value) -> Result<()> {
        self.within(self.port.put(key, document)).await
    }

    async fn compare_and_swap(
        &self,
        key: &str,
        expected: Precondition<'_>,
        document: &Value,
    ) -> Result<bool> {
        self.within(self.port.compare_and_swap(key, expected, document)).await
    }

    async fn remove(&self, key: &str, expected: &Value) -> Result<bool> {
        self.within(self.port.remove(key, expected)).await
    }

    async fn list(&self, prefix: &str) -> Result<Vec<String>> {
        self.within(self.port.list(prefix)).await
    }

    async fn children(&self, prefix: &str) -> Result<Vec<String>> {
        self.within(self.port.children(prefix)).await
    }

    async fn delete(&self, prefix: &str) -> Result<()> {
        self.within(self.port.delete(prefix)).await
    }

    async fn probe(&self) -> Result<()> {
        self.within(self.port.probe()).await
    }
}

#[async_trait]
impl VectorIndex for Deadline<dyn Index> {
    async fn replace(&self, scope: Option<&Filter>, points: Vec<Point>) -> Result<()> {
        self.within(self.port.replace(scope, points)).await
    }

    async fn search(&self, query: VectorQuery) -> Result<Vec<Hit>> {
        self.within(self.port.search(query)).await
    }

    async fn text_search(&self, query: TextQuery) -> Result<Vec<Hit>> {
        self.within(self.port.text_search(query)).await
    }

    async fn vectors(&self, filter: &Filter, field: &str) -> Result<Vec<(PointId, Vec<f32>)>> {
        self.within(self.port.vectors(filter, field)).await
    }

    async fn cosines(
        &self,
        field: &str,
        vector: &[f32],
        ids: &BTreeSet<PointId>,
    ) -> Result<Vec<(PointId, f32)>> {
        self.within(self.port.cosines(field, vector, ids)).await
    }

    async fn list(&self, filter: &Filter, limit: usize) -> Result<Vec<ListedPoint>> {
        self.within(self.port.list(filter, limit)).await
    }

    async fn probe(&self) -> Result<()> {
        self.within(self.port.probe()).await
    }
}

#[async_trait]
impl IndexStatistics for Deadline<dyn Index> {
    async fn count(&self, filter: &Filter) -> Result<u64> {
        self.within(self.port.count(filter)).await
    }

    async fn values(&self, field: &str) -> Result<Vec<String>> {
        self.within(self.port.values(field)).await
    }

    async fn facet_counts(&self, query: &FacetQuery) -> Result<Vec<(String, u64)>> {
        self.within(self.port.facet_counts(query)).await
    }

    async fn revisions(&self, video_id: VideoId) -> Result<Vec<String>> {
        self.within(self.port.revisions(video_id)).await
    }
}

#[async_trait]
impl StoreOwnership for Deadline<dyn Index> {
    fn shared(&self) -> bool {
        self.port.shared()
    }

    async fn adopt(&self, install: &str) -> Result<String> {
        self.within(self.port.adopt(install)).await
    }
}

#[async_trait]
impl IndexUpkeep for Deadline<dyn Index> {
    /// Checks the index without a deadline, because the check reads the whole index, which may be
    /// large.
    async fn check(&self) -> Result<()> {
        self.port.check().await
    }

    async fn reset(&self) -> Result<()> {
        self.within(self.port.reset()).await
    }

    async fn advice(&self) -> Result<Option<String>> {
        self.within(self.port.advice()).await
    }
}

#[async_trait]
impl VideoListing for Deadline<dyn VideoListing> {
    async fn put(&self, entries: Vec<VideoEntry>) -> Result<()> {
        self.within(self.port.put(entries)).await
    }

    async fn remove(&self, video_ids: &[VideoId]) -> Result<()> {
        self.within(self.port.remove(video_ids)).await
    }

    async fn list(&self, query: &ListQuery) -> Result<ListingPage> {
        self.within(self.port.list(query)).await
    }

    async fn get(&self, video_ids: &[VideoId]) -> Result<Vec<VideoEntry>> {
        self.within(self.port.get(video_ids)).await
    }

    async fn ids(
        &self,
        conditions: &[Condition],
        after: Option<VideoId>,
        limit: usize,
    ) -> Result<Vec<VideoId>> {
        self.within(self.port.ids(conditions, after, limit)).await
    }

    async fn keyword_counts(
        &self,
        field: &str,
        conditions: &[Condition],
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<(String, u64)>> {
        self.within(self.port.keyword_counts(field, conditions, after, limit)).await
    }

    async fn created_range(&self, conditions: &[Condition]) -> Result<Option<(i64, i64)>> {
        self.within(self.port.created_range(conditions)).await
    }

    async fn mark(&self) -> Result<Option<String>> {
        self.within(self.port.mark()).await
    }

    async fn set_mark(&self, mark: &str) -> Result<()> {
        self.within(self.port.set_mark(mark)).await
    }

    async fn probe(&self) -> Result<()> {
        self.within(self.port.probe()).await
    }
}

#[async_trait]
impl ObjectStorage for Deadline<dyn ObjectStorage> {
    fn bucket(&self) -> &str {
        self.port.bucket()
    }

    /// Stores an object. The deadline restarts with each chunk of the content, so that storing a
    /// large object may take any amount of time as long as it makes progress.
    async fn put(&self, key: &str, content: ByteStream, content_type: &str) -> Result<()> {
        let progressed = Arc::new(Notify::new());
        let progress = progressed.clone();
        let content = content.inspect(move |_| progress.notify_one()).boxed();
        let mut put = self.port.put(key, content, content_type);
        loop {
            tokio::select! {
                done = &mut put => return done,
                () = progressed.notified() => {}
                () = tokio::time::sleep(self.limit) => return Err(self.timeout_error()),
            }
        }
    }

    async fn stat(&self, key: &str) -> Result<Option<ObjectInfo>> {
        self.within(self.port.stat(key)).await
    }

    async fn get(&self, key: &str, range: Option<Range<u64>>) -> Result<ByteStream> {
        self.within(self.port.get(key, range)).await
    }

    async fn list(&self, prefix: &str) -> Result<Vec<String>> {
        self.within(self.port.list(prefix)).await
    }

    async fn delete(&self, key: &str) -> Result<()> {
        self.within(self.port.delete(key)).await
    }

    async fn delete_prefix(&self, prefix: &str) -> Result<Vec<String>> {
        self.within(self.port.delete_prefix(prefix)).await
    }

    async fn probe(&self) -> Result<()> {
        self.within(self.port.probe()).await
    }
}

#[async_trait]
impl ObjectUrls for Deadline<dyn ObjectStorage> {
    fn public_url(&self, key: &str) -> String {
        self.port.public_url(key)
    }

    async fn download_url(&self, key: &str) -> Result<String> {
        self.within(self.port.download_url(key)).await
    }

    fn key_from_url(&self, url: &str) -> Option<String> {
        self.port.key_from_url(url)
    }
}
