//! Turns a [`SearchRequest`] into a page of ranked hits. The request is first resolved into a
//! [`SearchPlan`], which can then be run to any depth.

use std::collections::HashSet;

use ports::index::{Filter, VectorQuery};

use crate::kernel::access::Access;
use crate::kernel::error::Result;
use crate::kernel::video::{ChunkId, VideoId};
use crate::search::request::{SearchRequest, SearchTarget, SearchedAnalyzers};
use crate::search::{Mode, PageStart, ScoreKind, Search, SearchPage, SearchResult};

/// A search that is ready to run.
#[derive(Debug, Clone)]
pub(crate) struct SearchPlan {
    pub(super) mode: Mode,
    pub(super) analyzers: SearchedAnalyzers,
    /// The search text; empty for a search for similar moments.
    pub(super) text: String,
    pub(super) query: VectorQuery,
    /// Hits with a lower `p_present` are dropped.
    pub(super) min_p_present: f32,
    pub(super) rerank: bool,
    pub(super) score_kind: ScoreKind,
    /// A chunk that is never a hit, because it is the example in a search for similar moments.
    pub(super) exclude: Option<(VideoId, ChunkId)>,
}

/// The best hits of a search.
pub(super) struct RankedHits {
    /// The hits, best first.
    pub(super) hits: Vec<SearchResult>,
    /// Whether there may be more hits.
    pub(super) more: bool,
}

impl SearchPlan {
    /// Plans a search for `text`, whose embedding is `vector`, among the points that match
    /// `filter`.
    fn for_text(request: &SearchRequest, text: &str, vector: Vec<f32>, filter: Filter) -> Self {
        Self {
            mode: request.mode(),
            analyzers: request.analyzers.clone(),
            text: text.to_owned(),
            query: request.nearest_to(vector, filter),
            min_p_present: request.min_p_present.unwrap_or_default(),
            rerank: request.rerank,
            score_kind: ScoreKind::Text,
            exclude: None,
        }
    }
}

impl SearchRequest {
    /// Builds the index query for the points nearest to a vector among those that match a filter.
    pub(super) fn nearest_to(&self, vector: Vec<f32>, filter: Filter) -> VectorQuery {
        VectorQuery {
            field: self.field.name().into(),
            vector,
            filter,
            limit: self.limit as usize,
            threshold: self.score_threshold,
            per_video: None,
        }
    }
}

impl Search {
    /// Searches the videos that the caller can see. Returns `Invalid` for an unknown analyzer or
    /// filter, and for a parameter that does not apply to the target.
    pub(crate) async fn run(&self, access: &Access, request: &SearchRequest) -> Result<SearchPage> {
        self.check(request).await?;
        let plan = match &request.target {
            SearchTarget::Listing(_) => return self.list_filtered(access, request).await,
            SearchTarget::Similar(moment) => self.plan_similar(access, request, moment).await?,
            SearchTarget::Text(text) => {
                let (vector, filter) = futures::try_join!(
                    self.text_vector(&request.analyzers, text),
                    self.request_scope(access, request)
                )?;
                SearchPlan::for_text(request, text, vector, filter)
            }
        };
        let from = match request.page {
            PageStart::Offset(hits) => hits,
            PageStart::First | PageStart::AfterChunk(..) => 0,
        };
        let mut page = self.page(&plan, request.limit as usize, from).await?;
        if page.results.is_empty() {
            page.diagnostics = Some(self.diagnose(access, request, &plan).await?);
        }
        Ok(page)
    }

    /// Searches for a text, using the vector that the caller has already computed. Does not
    /// diagnose an empty result.
    pub(crate) async fn run_with_vector(
        &self,
        access: &Access,
        request: &SearchRequest,
        vector: Vec<f32>,
    ) -> Result<Vec<SearchResult>> {
        self.check(request).await?;
        let filter = self.request_scope(access, request).await?;
        let SearchTarget::Text(text) = &request.target else { return Ok(Vec::new()) };
        let plan = SearchPlan::for_text(request, text, vector, filter);
        Ok(self.rank(&plan, request.limit as usize).await?.hits)
    }

    /// Checks a request. Returns `Invalid` for an unknown analyzer or a parameter that does not
    /// apply to the target, `Unprocessable` if the search text is too long, and `Busy` while the
    /// index is not ready.
    pub(crate) async fn check(&self, request: &SearchRequest) -> Result<()> {
        request.check()?;
        self.check_length("text", request.target.search_text())?;
        self.health.ensure_ready()?;
        if let Some(id) = request.analyzers.id() {
            self.catalog.extractors.load_if_unknown(id).await?;
            self.catalog.analyzers.find(&self.models, id)?;
        }
        Ok(())
    }

    async fn request_scope(&self, access: &Access, request: &SearchRequest) -> Result<Filter> {
        let video_ids = request.video_ids.as_deref();
        self.scope(access, request.analyzers.id(), video_ids, &request.filters).await
    }

    /// Runs a plan and returns the first `limit` hits.
    async fn rank(&self, plan: &SearchPlan, limit: usize) -> Result<RankedHits> {
        let limit_with_example = limit + usize::from(plan.exclude.is_some());
        let query = VectorQuery { limit: limit_with_example, ..plan.query.clone() };
        let mut hits = match plan.analyzers {
            SearchedAnalyzers::All => {
                self.search_all_analyzers(plan.mode, &plan.text, query).await?
            }
            SearchedAnalyzers::One(_) => self.search(plan.mode, &plan.text, query).await?,
        };
        hits.retain(|hit| plan.exclude != Some((hit.video_id, hit.chunk_id)));
        hits.truncate(limit);
        let more = hits.len() == limit;
        if plan.rerank {
            self.rerank(&plan.text, &mut hits).await?;
        }
        hits.retain(|hit| hit.p_present >= plan.min_p_present);
        Ok(RankedHits { hits, more })
    }

    /// Returns a page of `limit` hits. The order of the hits depends on the depth of the search, so
    /// every page after the first is taken from one ranking of
    /// [`page_window`](crate::search::SearchSettings) hits, excluding those on the first page.
    async fn page(&self, plan: &SearchPlan, limit: usize, from: usize) -> Result<SearchPage> {
        let RankedHits { mut hits, mut more } = self.rank(plan, limit).await?;
        if from > 0 {
            let first_page: HashSet<_> =
                hits.iter().map(|hit| (hit.video_id, hit.chunk_id)).collect();
            let deep = self.rank(plan, self.settings.page_window.max(limit)).await?.hits;
            hits.extend(
                deep.into_iter().filter(|h| !first_page.contains(&(h.video_id, h.chunk_id))),
            );
            more = hits.len() > from + limit;
        }
        let results: Vec<_> = hits.into_iter().skip(from).take(limit).collect();
        let next_pages = (from + 1..).map(PageStart::Offset).take(results.len()).collect();
        Ok(SearchPage { score_kind: plan.score_kind, results, next_pages, more, diagnostics: None })
    }
}
