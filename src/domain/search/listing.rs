//! Lists moments without a search text. All moments that match the filters are listed, with the
//! newest video first and in chronological order within each video.

use std::cmp::Ordering;
use std::sync::Arc;

use ports::index::{FacetQuery, Filter, Hit, Index, ListedPoint, Predicate};
use ports::listing::Position;
use serde_json::{Map, Value};

use crate::analysis::Analyzers;
use crate::indexing::health::IndexHealth;
use crate::kernel::access::Access;
use crate::kernel::error::Result;
use crate::kernel::video::{ChunkId, VideoId};
use crate::listing::{Listing, listing_order};
use crate::search::diagnostics::{Diagnoser, VIDEO_IDS, filter_names};
use crate::search::filters;
use crate::search::pages::PageStart;
use crate::search::request::{SearchRequest, VectorField};
use crate::search::results::{Diagnostics, ScoreKind, SearchPage, SearchResult};
use crate::search::retrieval::merge::merge_by_chunk;
use crate::search::retrieval::mode::IndexHits;
use crate::search::retrieval::published::{HitReader, HitVideos, Scoring};
use crate::search::scope::ScopeResolver;

/// Listed moments have no scores.
const UNSCORED: Scoring<'static> =
    Scoring { field: VectorField::COMBINED.name(), presence: None, per_video: usize::MAX };

/// What to list from the videos that the caller can see.
struct MomentQuery<'a> {
    access: &'a Access,
    analyzer: Option<&'a str>,
    video_ids: Option<&'a [String]>,
    filters: &'a Map<String, Value>,
}

/// Listed moments. Each comes with the position at which the next page begins if the page ends with
/// that moment.
type Rows = Vec<(PageStart, SearchResult)>;

/// Lists moments without a search text.
pub(super) struct MomentListing {
    pub(super) index: Arc<dyn Index>,
    pub(super) health: Arc<IndexHealth>,
    pub(super) analyzers: Analyzers,
    pub(super) listing: Arc<Listing>,
    pub(super) hits: Arc<HitReader>,
    pub(super) scopes: Arc<ScopeResolver>,
    pub(super) diagnoser: Arc<Diagnoser>,
    /// Maximum number of videos sorted at once.
    pub(super) max_sorted: usize,
}

impl MomentListing {
    /// Lists a page of the moments that match the filters.
    pub(super) async fn page(
        &self,
        access: &Access,
        request: &SearchRequest,
    ) -> Result<SearchPage> {
        let query = MomentQuery {
            access,
            analyzer: request.analyzers.id(),
            video_ids: request.video_ids.as_deref(),
            filters: &request.filters,
        };
        let limit = request.limit as usize;
        let from = match &request.page {
            PageStart::AfterChunk(video, chunk) => Some((video.clone(), *chunk)),
            PageStart::First | PageStart::Offset(_) => None,
        };
        let mut rows = self.list(&query, from, limit + 1).await?;
        let more = rows.len() > limit;
        rows.truncate(limit);
        let diagnostics = match rows.is_empty() {
            true => Some(self.diagnose_listing(&query, limit).await?),
            false => None,
        };
        let (next_pages, results) = rows.into_iter().unzip();
        Ok(SearchPage { score_kind: ScoreKind::Unscored, results, next_pages, more, diagnostics })
    }

    /// Lists the first moments of a video that match the filters. Does not diagnose an empty result.
    pub(super) async fn video_moments(
        &self,
        video_id: VideoId,
        request: &SearchRequest,
    ) -> Result<Vec<SearchResult>> {
        let video_ids = [video_id.to_string()];
        let query = MomentQuery {
            access: &Access::default(),
            analyzer: request.analyzers.id(),
            video_ids: Some(&video_ids),
            filters: &request.filters,
        };
        let rows = self.list(&query, None, request.limit as usize).await?;
        // The filters are certain.
        Ok(rows.into_iter().map(|(_, hit)| SearchResult { p_present: 1.0, ..hit }).collect())
    }

    async fn list(
        &self,
        query: &MomentQuery<'_>,
        from: Option<(Position, ChunkId)>,
        limit: usize,
    ) -> Result<Rows> {
        let MomentQuery { access, analyzer, video_ids, filters } = *query;
        let filter = self.scopes.scope(access, analyzer, video_ids, filters).await?;
        let mut rows = Rows::new();
        if let Some((video, chunk)) = &from {
            self.list_video(&filter, video, chunk.next(), limit, &mut rows).await?;
        }
        let mut after = from.map(|(video, _)| video);
        // If few videos match, only those are sorted; otherwise all videos are scanned in order.
        let max_sorted = self.max_sorted;
        let matching = self.videos_with(&filter, max_sorted + 1).await?;
        if matching.len() <= max_sorted {
            let videos = self.listing.positions(access, &matching).await?;
            self.list_videos(&filter, videos, after.as_ref(), limit, &mut rows).await?;
            return Ok(rows);
        }
        let conditions = self.scopes.video_conditions(access, &filters::parse(filters)?).await?;
        while rows.len() < limit {
            let mut videos = self.listing.matching_positions(&conditions, after.clone()).await?;
            let Some(last) = videos.last().cloned() else { break };
            let batch = filter.clone().in_videos(videos.iter().map(|video| video.video_id));
            let matching = self.videos_with(&batch, videos.len()).await?;
            videos.retain(|video| matching.contains(&video.video_id));
            self.list_videos(&filter, videos, None, limit, &mut rows).await?;
            after = Some(last);
        }
        Ok(rows)
    }

    /// Finds up to `limit` videos that have a moment matching the filter.
    async fn videos_with(&self, filter: &Filter, limit: usize) -> Result<Vec<VideoId>> {
        let field = "video_id".to_owned();
        let query = FacetQuery { field, filter: filter.clone(), prefix: String::new(), limit };
        let counted = self.index.facet_counts(&query).await;
        let counted = counted.map_err(|error| self.health.report_damage(error.into()))?;
        Ok(counted.into_iter().filter_map(|(id, _)| id.parse().ok()).collect())
    }

    async fn list_videos(
        &self,
        filter: &Filter,
        videos: Vec<Position>,
        after: Option<&Position>,
        limit: usize,
        rows: &mut Rows,
    ) -> Result<()> {
        let follows = |video: &Position| {
            after.is_none_or(|after| listing_order(after, video) == Ordering::Less)
        };
        for video in videos.iter().filter(|video| follows(video)) {
            if rows.len() >= limit {
                break;
            }
            self.list_video(filter, video, ChunkId(0), limit, rows).await?;
        }
        Ok(())
    }

    /// Appends a video's moments, starting at chunk `first`, until `rows` has `limit` entries.
    async fn list_video(
        &self,
        filter: &Filter,
        video: &Position,
        first: ChunkId,
        limit: usize,
        rows: &mut Rows,
    ) -> Result<()> {
        let analyzers = self.analyzers.all().len().max(1);
        let of_video = filter.clone().in_videos([video.video_id]);
        let mut from = first;
        let mut videos = HitVideos::new();
        while rows.len() < limit {
            let point_limit = (limit - rows.len()) * analyzers;
            let onwards = of_video.clone().and("chunk_id", Predicate::AtLeast(from.0.into()));
            let points = self.index.list(&onwards, point_limit).await;
            let mut points = points.map_err(|error| self.health.report_damage(error.into()))?;
            let Some(last) = points.last().map(|point| point.id.chunk_id) else { break };
            let complete = points.len() < point_limit;
            // The last chunk may have more points than were read.
            let whole = complete || points.iter().all(|point| point.id.chunk_id == last);
            points.retain(|point| whole || point.id.chunk_id != last);
            let unranked =
                |point: ListedPoint| Hit { id: point.id, score: 0.0, document: point.document };
            let hits = points.into_iter().map(unranked).collect();
            let found = IndexHits { hits, ..IndexHits::default() };
            let hits = self.hits.keep_published(found, UNSCORED, &mut videos).await?;
            for hit in merge_by_chunk(self.order_by_chunk(hits)) {
                if rows.len() < limit {
                    rows.push((PageStart::AfterChunk(video.clone(), hit.chunk_id), hit));
                }
            }
            if complete {
                break;
            }
            from = if whole { last.next() } else { last };
        }
        Ok(())
    }

    /// Sorts hits by chunk and, within a chunk, by the analyzers' statement rank.
    fn order_by_chunk(&self, mut hits: Vec<SearchResult>) -> Vec<SearchResult> {
        let ids: Vec<String> = hits.iter().flat_map(|hit| hit.found_by.clone()).collect();
        let order = self.analyzers.by_statement_rank(ids.iter());
        let rank = |hit: &SearchResult| {
            let id = hit.found_by.first().map(String::as_str);
            order.iter().position(|analyzer| Some(*analyzer) == id)
        };
        hits.sort_by_key(|hit| (hit.chunk_id, rank(hit)));
        hits
    }

    async fn diagnose_listing(&self, query: &MomentQuery<'_>, limit: usize) -> Result<Diagnostics> {
        let mut diagnostics = Diagnostics::default();
        for name in filter_names(query.filters, query.video_ids) {
            let mut filters = query.filters.clone();
            filters.remove(name);
            let video_ids = query.video_ids.filter(|_| name != VIDEO_IDS);
            let without = MomentQuery { video_ids, filters: &filters, ..*query };
            let rows = self.list(&without, None, limit).await?;
            diagnostics.without_filter.push((name.to_owned(), rows.len() as u32));
        }
        if let Some(analyzer) = query.analyzer {
            let MomentQuery { access, video_ids, .. } = *query;
            self.diagnoser
                .videos_with_analyzer(access, video_ids, analyzer, &mut diagnostics)
                .await?;
        }
        Ok(diagnostics)
    }
}
