//! An index on a server. It connects on first use.

use std::collections::BTreeSet;

use async_trait::async_trait;
use ports::index::{
    FacetQuery, Filter, Hit, IndexStatistics, IndexUpkeep, ListedPoint, Point, PointId, TextQuery,
    VectorIndex, VectorQuery,
};
use ports::{Result, VideoId};

use crate::lazy::Lazy;

#[async_trait]
impl<T: VectorIndex> VectorIndex for Lazy<T> {
    async fn replace(&self, scope: Option<&Filter>, points: Vec<Point>) -> Result<()> {
        self.get().await?.replace(scope, points).await
    }

    async fn search(&self, query: VectorQuery) -> Result<Vec<Hit>> {
        self.get().await?.search(query).await
    }

    async fn text_search(&self, query: TextQuery) -> Result<Vec<Hit>> {
        self.get().await?.text_search(query).await
    }

    async fn vectors(&self, filter: &Filter, field: &str) -> Result<Vec<(PointId, Vec<f32>)>> {
        self.get().await?.vectors(filter, field).await
    }

    async fn cosines(
        &self,
        field: &str,
        vector: &[f32],
        ids: &BTreeSet<PointId>,
    ) -> Result<Vec<(PointId, f32)>> {
        self.get().await?.cosines(field, vector, ids).await
    }

    async fn list(&self, filter: &Filter, limit: usize) -> Result<Vec<ListedPoint>> {
        self.get().await?.list(filter, limit).await
    }

    async fn probe(&self) -> Result<()> {
        self.get().await?.probe().await
    }
}

#[async_trait]
impl<T: IndexStatistics> IndexStatistics for Lazy<T> {
    async fn count(&self, filter: &Filter) -> Result<u64> {
        self.get().await?.count(filter).await
    }

    async fn values(&self, field: &str) -> Result<Vec<String>> {
        self.get().await?.values(field).await
    }

    async fn facet_counts(&self, query: &FacetQuery) -> Result<Vec<(String, u64)>> {
        self.get().await?.facet_counts(query).await
    }

    async fn revisions(&self, video_id: VideoId) -> Result<Vec<String>> {
        self.get().await?.revisions(video_id).await
    }
}

#[async_trait]
impl<T: IndexUpkeep> IndexUpkeep for Lazy<T> {
    async fn check(&self) -> Result<()> {
        self.get().await?.check().await
    }

    // An index on a server is never reset.
    async fn reset(&self) -> Result<()> {
        Ok(())
    }

    async fn advice(&self) -> Result<Option<String>> {
        self.get().await?.advice().await
    }
}
