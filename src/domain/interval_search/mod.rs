//! Searches for intervals: the spans of videos in which an expression holds, such as speech without a
//! car in view, each with the moments that prove it. A search evaluates the expression on one video
//! after another, newest first, and stops when its page is full.

pub mod page;

use std::cmp::Ordering;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use ports::index::{FieldValue, Predicate};
use ports::listing::Position;
use ports::storage::ObjectUrls;

use crate::catalog::Catalog;
use crate::intervals::IntervalFilter;
use crate::intervals::evaluate::CompiledExpression;
use crate::intervals::expression::{IntervalExpression, IntervalTerm};
use crate::intervals::set::Interval;
use crate::intervals::table::IntervalTable;
use crate::intervals::terms::TextHits;
use crate::kernel::access::Access;
use crate::kernel::error::{Error, Result};
use crate::kernel::ports::Stores;
use crate::kernel::token_budget::Cursor;
use crate::kernel::video::VideoId;
use crate::listing::{BATCH, Listing, listing_order};
use crate::search::scope::ScopeResolver;
use crate::search::{Search, SearchRequest, filters};
use page::{IntervalPage, IntervalQuery, IntervalStart, PageBuilder};

/// Number of videos that are evaluated before the next ones are read.
const WINDOW: usize = 512;

/// Maximum number of requested ids that are reported as unknown.
const MAX_UNKNOWN: usize = 20;

/// Finds the intervals of videos in which an expression holds.
pub struct IntervalSearch {
    intervals: Arc<IntervalFilter>,
    listing: Arc<Listing>,
    scopes: Arc<ScopeResolver>,
    storage: Arc<dyn ObjectUrls>,
    search: Arc<Search>,
}

/// The videos of a search.
struct IntervalScope {
    /// Newest first.
    videos: Vec<Position>,
    /// Requested ids that match no video.
    unknown: Vec<String>,
}

impl IntervalSearch {
    pub(crate) fn new(stores: &Stores, catalog: &Catalog, search: &Arc<Search>) -> Self {
        Self {
            intervals: catalog.intervals.clone(),
            listing: catalog.listing.clone(),
            scopes: search.scopes.clone(),
            storage: stores.storage.clone(),
            search: search.clone(),
        }
    }

    /// Finds a page of the spans in which an expression holds, in the videos that the caller can see.
    /// Returns `Invalid` for an unknown name, an expression that is too large, a filter that is not
    /// on videos, and a cursor of another request; `Unprocessable` for a value of the wrong type or
    /// outside its range.
    pub(crate) async fn find(&self, access: &Access, query: IntervalQuery) -> Result<IntervalPage> {
        let expression = IntervalExpression::parse(&query.expression, &self.intervals.settings)?;
        let canonical = expression.to_json();
        let max = self.intervals.settings.max_spans;
        if !(1..=max).contains(&query.limit) {
            return Err(Error::Unprocessable(format!(
                "limit is {}; it must be an integer from 1 to {max} (intervals.max_spans)",
                query.limit
            )));
        }
        let request_key = format!("{canonical} {:?} {:?}", query.video_ids, query.filters);
        let cursor = query.cursor.as_deref();
        let from = cursor.map(|text| Cursor::<IntervalStart>::read(text, &request_key));
        let from = from.transpose()?.map(|Cursor(start)| start);

        let scope = self.scope(access, &query).await?;
        let mut truncated = Vec::new();
        let compiled = self.compile(access, &query, &expression, &mut truncated).await?;
        let mut page = self.fill_page(scope.videos, &query, Arc::new(compiled), from).await?;
        let not_analyzed = page.take_not_analyzed();
        let next = page.next.take();
        let mut found = IntervalPage {
            expression: canonical,
            videos: page.videos,
            not_analyzed,
            unknown_videos: scope.unknown,
            truncated_texts: truncated,
            next: next.map(|next| Cursor(next).text(&request_key)),
        };
        self.describe_videos(&mut found).await?;
        Ok(found)
    }

    /// Finds the videos of a search that the caller can see, newest first.
    async fn scope(&self, access: &Access, query: &IntervalQuery) -> Result<IntervalScope> {
        let parsed = filters::parse(&query.filters)?;
        if parsed.intervals.is_some() {
            let detail =
                "the filter 'where' is on chunks; add its expression to `expression` with all";
            return Err(Error::Invalid(detail.into()));
        }
        if parsed.bin.is_some() {
            return Err(Error::Invalid("the filter 'bin' is on chunks; use video_ids".into()));
        }
        if let Some(other) = parsed.chunks.0.iter().find(|condition| condition.field != VIDEO_ID) {
            return Err(Error::Invalid(format!(
                "the filter on '{}' is on chunks; use filters on videos, and terms for what is in \
                 them",
                other.field
            )));
        }
        let conditions = self.scopes.video_conditions(access, &parsed).await?;
        let requested: Option<BTreeSet<VideoId>> = query
            .video_ids
            .as_ref()
            .map(|ids| ids.iter().filter_map(|id| id.parse().ok()).collect());
        let mut ids: Vec<VideoId> = match (&requested, conditions.is_empty()) {
            (Some(requested), true) => requested.iter().copied().collect(),
            (Some(requested), false) => {
                let matching = self.listing.matching(&conditions).await?;
                matching.into_iter().filter(|id| requested.contains(id)).collect()
            }
            (None, _) => self.listing.matching(&conditions).await?,
        };
        let matches = |id: &VideoId, predicate: &Predicate| {
            predicate.matches(&FieldValue::Keywords(vec![id.to_string()]))
        };
        for condition in &parsed.chunks.0 {
            ids.retain(|id| matches(id, &condition.predicate));
        }
        let videos = self.positions(access, &ids).await?;
        let known: BTreeSet<VideoId> = videos.iter().map(|video| video.video_id).collect();
        let is_known = |id: &str| id.parse().is_ok_and(|id| known.contains(&id));
        let unknown = query.video_ids.iter().flatten().filter(|id| !is_known(id));
        Ok(IntervalScope { unknown: unknown.take(MAX_UNKNOWN).cloned().collect(), videos })
    }

    /// Finds the positions of videos in the listing. Those with a table are known.
    async fn positions(&self, access: &Access, ids: &[VideoId]) -> Result<Vec<Position>> {
        let (mut positions, mut unknown) = (Vec::with_capacity(ids.len()), Vec::new());
        for id in ids {
            match self.intervals.tables.cached(*id) {
                Some(table) => {
                    let created_at = table.identity.created_at;
                    positions.push(Position { created_at, video_id: *id });
                }
                None => unknown.push(*id),
            }
        }
        for batch in unknown.chunks(BATCH) {
            positions.extend(self.listing.positions(access, batch).await?);
        }
        positions.sort_by(listing_order);
        Ok(positions)
    }

    /// Prepares an expression: searches for its texts, and collects those with more hits than were
    /// read.
    async fn compile(
        &self,
        access: &Access,
        query: &IntervalQuery,
        expression: &IntervalExpression,
        truncated: &mut Vec<String>,
    ) -> Result<CompiledExpression> {
        let mut hits: HashMap<String, TextHits> = HashMap::new();
        for text in expression.texts() {
            if !hits.contains_key(text) {
                let (found, is_truncated) = self.text_hits(access, query, text).await?;
                truncated.extend(is_truncated.then(|| text.to_owned()));
                hits.insert(text.to_owned(), found);
            }
        }
        Ok(CompiledExpression::new(expression, &|term| match term {
            IntervalTerm::Text { text, .. } => hits.get(text).cloned(),
            _ => None,
        }))
    }

    /// Searches for a text. Also returns whether there may be more hits.
    async fn text_hits(
        &self,
        access: &Access,
        query: &IntervalQuery,
        text: &str,
    ) -> Result<(TextHits, bool)> {
        let limit = self.intervals.settings.max_text_hits;
        let request = SearchRequest {
            video_ids: query.video_ids.clone(),
            filters: query.filters.clone(),
            ..SearchRequest::text(text, limit)
        };
        let vector = self.search.embedder.request_vector(&request, text).await?;
        let found = self.search.run_with_vector(access, &request, vector).await?;
        let is_truncated = found.len() >= limit as usize;
        let mut by_video: HashMap<VideoId, Vec<(Interval, f32)>> = HashMap::new();
        for hit in found {
            by_video.entry(hit.video_id).or_default().push((hit.span.into(), hit.p_present));
        }
        Ok((Arc::new(by_video), is_truncated))
    }

    /// Evaluates the expression on one video after another until the page is full.
    async fn fill_page(
        &self,
        mut videos: Vec<Position>,
        query: &IntervalQuery,
        expression: Arc<CompiledExpression>,
        from: Option<IntervalStart>,
    ) -> Result<PageBuilder> {
        if let Some(from) = &from {
            videos.retain(|video| listing_order(&from.video, video) != Ordering::Greater);
        }
        let resumed = from.clone();
        let mut page =
            PageBuilder::new(query.limit as usize, self.intervals.settings.max_proofs, from);
        let mut reads = self.intervals.settings.max_videos_read.max(1);
        for window in videos.chunks(WINDOW) {
            let (tables, evaluated) = self.window_tables(window, &mut reads).await?;
            let expression = expression.clone();
            let evaluating = tokio::task::spawn_blocking(move || {
                for (video, table) in &tables {
                    page.add(&expression, video, table);
                    if page.next.is_some() {
                        break;
                    }
                }
                page
            });
            page = evaluating.await.map_err(|error| {
                Error::corrupt(format!("the evaluation of an expression ended early: {error}"))
            })?;
            if page.next.is_some() {
                break;
            }
            if let Some(video) = window.get(evaluated) {
                let after = resumed.as_ref().filter(|from| from.video == *video);
                let after = after.and_then(|from| from.after);
                page.next = Some(IntervalStart { video: video.clone(), after });
                break;
            }
        }
        Ok(page)
    }

    /// Returns the tables of the first videos: all of them, or those until `reads` videos had to be
    /// read. Also returns the number of these videos, including those that cannot be read.
    async fn window_tables(
        &self,
        window: &[Position],
        reads: &mut usize,
    ) -> Result<(Vec<(Position, Arc<IntervalTable>)>, usize)> {
        let mut cached: HashMap<VideoId, Arc<IntervalTable>> = HashMap::new();
        let (mut missing, mut count) = (Vec::new(), 0);
        for video in window {
            match self.intervals.tables.cached(video.video_id) {
                Some(table) => drop(cached.insert(video.video_id, table)),
                None if missing.len() == *reads => break,
                None => missing.push(video.video_id),
            }
            count += 1;
        }
        *reads -= missing.len();
        if !missing.is_empty() {
            cached.extend(self.intervals.tables.read(&missing).await?);
        }
        let table = |video: &Position| Some((video.clone(), cached.get(&video.video_id)?.clone()));
        Ok((window[..count].iter().filter_map(table).collect(), count))
    }

    /// Adds the names and URLs of the videos to a page, and drops videos that are gone.
    async fn describe_videos(&self, page: &mut IntervalPage) -> Result<()> {
        let ids: Vec<VideoId> = page.videos.iter().map(|video| video.video_id).collect();
        let entries = self.listing.summaries(&ids).await?;
        page.videos.retain(|video| entries.contains_key(&video.video_id));
        for video in &mut page.videos {
            let Some(entry) = entries.get(&video.video_id) else { continue };
            let path = &entry.storage_path;
            video.filename = path.rsplit('/').next().unwrap_or_default().to_owned();
            video.video_url = self.storage.download_url(path).await?;
        }
        Ok(())
    }
}

/// The field of the filter for the ids of videos.
const VIDEO_ID: &str = "video_id";
