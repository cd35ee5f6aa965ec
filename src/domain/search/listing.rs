//! Moments without a search text: all that the filters leave, the newest video first, and in each from
//! its beginning on.

use std::cmp::Ordering;
use std::collections::HashMap;

use ports::index::{FacetQuery, Filter, Predicate};
use ports::listing::Position;
use serde_json::{Map, Value};

use crate::domain::catalog::in_order;
use crate::domain::kernel::access::Access;
use crate::domain::kernel::error::Result;
use crate::domain::kernel::video::{ChunkId, VideoId};
use crate::domain::search::diagnostics::{Diagnostics, VIDEOS, narrowing};
use crate::domain::search::everything::by_chunk;
use crate::domain::search::pages::{Page, Place};
use crate::domain::search::{Found, Known, Query, Ranked, Search, SearchResult, filters, mode};

/// What is listed of what a caller sees.
struct Listing<'a> {
    access: &'a Access,
    analyzer: Option<&'a str>,
    video_ids: Option<&'a [String]>,
    filters: &'a Map<String, Value>,
}

/// What was listed, with the place of each.
type Rows = Vec<(Place, SearchResult)>;

impl Search {
    /// A page of what the filters leave.
    pub(super) async fn by_filters(
        &self,
        access: &Access,
        query: &Query,
        known: &Known<'_>,
    ) -> Result<Found> {
        let listing = Listing {
            access,
            analyzer: known.analyzer,
            video_ids: query.video_ids.as_deref(),
            filters: &query.filters,
        };
        let limit = query.limit as usize;
        let from = match &query.page {
            Some(Place::Listed(video, chunk)) => Some((video.clone(), *chunk)),
            _ => None,
        };
        let mut rows = self.list(&listing, from, limit + 1).await?;
        let more = rows.len() > limit;
        rows.truncate(limit);
        let diagnostics = match rows.is_empty() {
            true => Some(self.why_nothing_is_listed(&listing, limit).await?),
            false => None,
        };
        let (places, results) = rows.into_iter().unzip();
        let page = Page { results, places, more };
        Ok(Found::new(known.detail, Ranked::Not, page, diagnostics))
    }

    async fn list(
        &self,
        listing: &Listing<'_>,
        from: Option<(Position, ChunkId)>,
        limit: usize,
    ) -> Result<Rows> {
        let Listing { access, analyzer, video_ids, filters } = *listing;
        let filter = self.scope(access, analyzer, video_ids, filters).await?;
        let mut rows = Rows::new();
        if let Some((video, chunk)) = &from {
            self.list_video(&filter, video, chunk.next(), limit, &mut rows).await?;
        }
        let mut after = from.map(|(video, _)| video);
        // Where few videos have a match those are put in order; else all are gone through.
        let few = self.settings.page_window;
        let with = self.videos_with(&filter, few + 1).await?;
        if with.len() <= few {
            let videos = self.catalog.places(access, &with).await?;
            self.list_videos(&filter, videos, after.as_ref(), limit, &mut rows).await?;
            return Ok(rows);
        }
        let conditions = self.of_videos(access, &filters::parse(filters)?).await?;
        while rows.len() < limit {
            let mut videos = self.catalog.places_of(&conditions, after.clone()).await?;
            let Some(last) = videos.last().cloned() else { break };
            let of_these = filter.clone().in_videos(videos.iter().map(|place| place.video_id));
            let with = self.videos_with(&of_these, videos.len()).await?;
            videos.retain(|place| with.contains(&place.video_id));
            self.list_videos(&filter, videos, None, limit, &mut rows).await?;
            after = Some(last);
        }
        Ok(rows)
    }

    /// Videos with a moment that the filter lets through, at most so many.
    async fn videos_with(&self, filter: &Filter, limit: usize) -> Result<Vec<VideoId>> {
        let field = "video_id".to_owned();
        let query = FacetQuery { field, filter: filter.clone(), prefix: String::new(), limit };
        let counted = self.index.facet_counts(&query).await;
        let counted = counted.map_err(|error| self.mended_soon(error.into()))?;
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
        let follows =
            |video: &Position| after.is_none_or(|after| in_order(after, video) == Ordering::Less);
        for video in videos.iter().filter(|video| follows(video)) {
            if rows.len() >= limit {
                break;
            }
            self.list_video(filter, video, ChunkId(0), limit, rows).await?;
        }
        Ok(())
    }

    /// Adds the moments of a video from a chunk on, until there are so many in all.
    async fn list_video(
        &self,
        filter: &Filter,
        video: &Position,
        first: ChunkId,
        limit: usize,
        rows: &mut Rows,
    ) -> Result<()> {
        let analyzers = self.catalog.analyzers.all().len().max(1);
        let of_video = filter.clone().in_videos([video.video_id]);
        let mut from = first;
        let mut videos = HashMap::new();
        while rows.len() < limit {
            let wanted = (limit - rows.len()) * analyzers;
            let onwards = of_video.clone().and("chunk_id", Predicate::AtLeast(from.0.into()));
            let points = self.index.list(&onwards, wanted).await;
            let mut points = points.map_err(|error| self.mended_soon(error.into()))?;
            let Some(last) = points.last().map(|point| point.id.chunk_id) else { break };
            let complete = points.len() < wanted;
            // Of the last chunk there may be more than was read.
            let whole = complete || points.iter().all(|point| point.id.chunk_id == last);
            points.retain(|point| whole || point.id.chunk_id != last);
            let unranked = |point: ports::index::ListedPoint| mode::Found {
                id: point.id,
                score: 0.0,
                text_score: None,
                document: point.document,
            };
            let hits = points.into_iter().map(unranked).collect();
            let hits = self.current(hits, &mut videos).await?;
            let hits = hits.into_iter().map(|hit| self.result(None, FIELD, hit)).collect();
            for hit in by_chunk(self.as_told(hits)) {
                if rows.len() < limit {
                    rows.push((Place::Listed(video.clone(), hit.chunk_id), hit));
                }
            }
            if complete {
                break;
            }
            from = if whole { last.next() } else { last };
        }
        Ok(())
    }

    /// Chunk by chunk, and of each first what tells most of it.
    fn as_told(&self, mut hits: Vec<SearchResult>) -> Vec<SearchResult> {
        let ids: Vec<String> = hits.iter().flat_map(|hit| hit.found_by.clone()).collect();
        let telling = self.catalog.analyzers.by_telling(ids.iter());
        let rank = |hit: &SearchResult| {
            let id = hit.found_by.first().map(String::as_str);
            telling.iter().position(|told| Some(*told) == id)
        };
        hits.sort_by_key(|hit| (hit.chunk_id, rank(hit)));
        hits
    }

    async fn why_nothing_is_listed(
        &self,
        listing: &Listing<'_>,
        limit: usize,
    ) -> Result<Diagnostics> {
        let mut diagnostics = Diagnostics::default();
        for name in narrowing(listing.filters, listing.video_ids) {
            let mut left = listing.filters.clone();
            left.remove(name);
            let video_ids = listing.video_ids.filter(|_| name != VIDEOS);
            let without = Listing { video_ids, filters: &left, ..*listing };
            let rows = self.list(&without, None, limit).await?;
            diagnostics.without_filter.push((name.to_owned(), rows.len() as u32));
        }
        if let Some(analyzer) = listing.analyzer {
            let Listing { access, video_ids, .. } = *listing;
            self.with_analyzer(access, video_ids, analyzer, &mut diagnostics).await?;
        }
        Ok(diagnostics)
    }
}

/// The field whose text a listed moment comes with.
const FIELD: &str = "combined";
