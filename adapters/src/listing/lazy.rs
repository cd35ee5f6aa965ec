//! A listing on a server. It connects on first use.

use async_trait::async_trait;
use ports::index::Condition;
use ports::listing::{ListQuery, ListingPage, VideoEntry, VideoListing};
use ports::{Result, VideoId};

use crate::lazy::Lazy;

#[async_trait]
impl<T: VideoListing> VideoListing for Lazy<T> {
    async fn put(&self, entries: Vec<VideoEntry>) -> Result<()> {
        self.get().await?.put(entries).await
    }

    async fn remove(&self, video_ids: &[VideoId]) -> Result<()> {
        self.get().await?.remove(video_ids).await
    }

    async fn list(&self, query: &ListQuery) -> Result<ListingPage> {
        self.get().await?.list(query).await
    }

    async fn get(&self, video_ids: &[VideoId]) -> Result<Vec<VideoEntry>> {
        self.get().await?.get(video_ids).await
    }

    async fn ids(
        &self,
        conditions: &[Condition],
        after: Option<VideoId>,
        limit: usize,
    ) -> Result<Vec<VideoId>> {
        self.get().await?.ids(conditions, after, limit).await
    }

    async fn keyword_counts(
        &self,
        field: &str,
        conditions: &[Condition],
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<(String, u64)>> {
        self.get().await?.keyword_counts(field, conditions, after, limit).await
    }

    async fn created_range(&self, conditions: &[Condition]) -> Result<Option<(i64, i64)>> {
        self.get().await?.created_range(conditions).await
    }

    async fn mark(&self) -> Result<Option<String>> {
        self.get().await?.mark().await
    }

    async fn set_mark(&self, mark: &str) -> Result<()> {
        self.get().await?.set_mark(mark).await
    }

    async fn probe(&self) -> Result<()> {
        self.get().await?.probe().await
    }
}
