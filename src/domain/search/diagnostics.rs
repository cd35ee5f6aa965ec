//! Diagnoses an empty search result: which filter excluded all hits, which videos were not
//! analyzed, and what the highest score is among points that match the filters.

use std::sync::Arc;

use ports::index::{VectorIndex, VectorQuery};
use serde_json::{Map, Value};

use crate::catalog::Catalog;
use crate::kernel::access::Access;
use crate::kernel::error::Result;
use crate::kernel::ports::Stores;
use crate::kernel::video::VideoId;
use crate::listing::Listing;
use crate::search::plan::SearchPlan;
use crate::search::request::SearchRequest;
use crate::search::results::Diagnostics;
use crate::search::retrieval::Retriever;
use crate::search::retrieval::mode::Mode;
use crate::search::scope::ScopeResolver;

/// Maximum number of videos that are checked and reported.
const MAX_VIDEOS: usize = 20;

/// For a search over all videos, at most this many of the newest videos are checked.
const MAX_SCANNED_VIDEOS: usize = 500;

/// Maximum number of hits to read from other analyzers.
const MAX_OTHER_HITS: usize = 5;

/// Minimum probability at which another analyzer's hit is reported.
const LIKELY: f32 = 0.5;

/// The name of the filter that can also be given as a request parameter. The diagnosis removes the
/// filter and the parameter together.
pub(super) const VIDEO_IDS: &str = "video_ids";

/// A search that found nothing.
struct EmptySearch<'a> {
    access: &'a Access,
    request: &'a SearchRequest,
    plan: &'a SearchPlan,
}

/// Finds out why a search or a listing is empty.
pub(super) struct Diagnoser {
    index: Arc<dyn VectorIndex>,
    listing: Arc<Listing>,
    scopes: Arc<ScopeResolver>,
    retriever: Arc<Retriever>,
}

impl Diagnoser {
    pub(super) fn new(
        stores: &Stores,
        catalog: &Catalog,
        scopes: Arc<ScopeResolver>,
        retriever: Arc<Retriever>,
    ) -> Self {
        let (index, listing) = (stores.index.clone(), catalog.listing.clone());
        Self { index, listing, scopes, retriever }
    }

    /// Finds the reasons for an empty result. Costs one search per filter and one per searched
    /// video.
    pub(super) async fn diagnose(
        &self,
        access: &Access,
        request: &SearchRequest,
        plan: &SearchPlan,
    ) -> Result<Diagnostics> {
        let empty = EmptySearch { access, request, plan };
        let mut diagnostics = Diagnostics::default();
        let nearest = VectorQuery { limit: 1, threshold: None, ..empty.plan.query.clone() };
        let best = self.index.search(nearest).await?;
        diagnostics.best_score = best.first().map(|hit| hit.score.clamp(0.0, 1.0));

        for name in filter_names(&empty.request.filters, empty.request.video_ids.as_deref()) {
            let mut filters = empty.request.filters.clone();
            filters.remove(name);
            let ids = empty.request.video_ids.as_deref().filter(|_| name != VIDEO_IDS);
            let filter = self
                .scopes
                .scope(empty.access, empty.request.analyzers.id(), ids, &filters)
                .await?;
            let query = VectorQuery { filter, ..empty.plan.query.clone() };
            let found =
                self.retriever.searcher.find(empty.plan.mode, &empty.plan.text, query).await?;
            diagnostics.without_filter.push((name.to_owned(), found.hits.len() as u32));
        }
        if let Some(analyzer) = empty.request.analyzers.id() {
            self.find_missing_outputs(&empty, analyzer, &mut diagnostics).await?;
            diagnostics.found_by_others = self.found_by_others(&empty, analyzer).await?;
        }
        Ok(diagnostics)
    }

    /// Finds the other analyzers that have hits with the same filters and threshold.
    async fn found_by_others(
        &self,
        empty: &EmptySearch<'_>,
        analyzer: &str,
    ) -> Result<Vec<(String, f32)>> {
        let filter = self
            .scopes
            .scope(empty.access, None, empty.request.video_ids.as_deref(), &empty.request.filters)
            .await?;
        let query = VectorQuery { filter, limit: MAX_OTHER_HITS, ..empty.plan.query.clone() };
        let mut found: Vec<(String, f32)> = Vec::new();
        for hit in
            self.retriever.search_all_analyzers(Mode::Hybrid, &empty.plan.text, query).await?
        {
            let is_probable = hit.p_present >= empty.plan.min_p_present.max(LIKELY);
            for id in hit.found_by.into_iter().filter(|id| is_probable && id != analyzer) {
                if !found.iter().any(|(known, _)| *known == id) {
                    found.push((id, hit.p_present));
                }
            }
        }
        Ok(found)
    }

    async fn find_missing_outputs(
        &self,
        empty: &EmptySearch<'_>,
        analyzer: &str,
        diagnostics: &mut Diagnostics,
    ) -> Result<()> {
        let with = self
            .videos_with_analyzer(
                empty.access,
                empty.request.video_ids.as_deref(),
                analyzer,
                diagnostics,
            )
            .await?;
        for video in with.into_iter().take(MAX_VIDEOS) {
            let one = [video.to_string()];
            let filter =
                self.scopes.scope(empty.access, Some(analyzer), Some(&one), &Map::new()).await?;
            let any = VectorQuery { filter, limit: 1, threshold: None, ..empty.plan.query.clone() };
            if self.index.search(any).await?.is_empty() {
                diagnostics.videos_without_field.push(video);
            }
        }
        Ok(())
    }

    /// Finds the searched videos that have output from `analyzer`. Adds the other videos and the
    /// unknown ids to `diagnostics`.
    pub(super) async fn videos_with_analyzer(
        &self,
        access: &Access,
        video_ids: Option<&[String]>,
        analyzer: &str,
        diagnostics: &mut Diagnostics,
    ) -> Result<Vec<VideoId>> {
        let videos = match video_ids {
            None => self.listing.newest(access, MAX_SCANNED_VIDEOS).await?,
            Some(ids) => {
                let ids = &ids[..ids.len().min(MAX_VIDEOS)];
                let requested: Vec<VideoId> = ids.iter().filter_map(|id| id.parse().ok()).collect();
                let known = self.listing.entries(access, &requested).await?;
                let is_known = |id: &String| known.iter().any(|v| v.video_id.as_str() == id);
                let unknown = ids.iter().filter(|id| !is_known(id));
                diagnostics.unknown_videos = unknown.cloned().collect();
                known
            }
        };
        let (with, without): (Vec<_>, Vec<_>) =
            videos.into_iter().partition(|v| v.analyzers.iter().any(|id| id == analyzer));
        diagnostics.videos_without_analyzer =
            without.into_iter().map(|v| v.video_id).take(MAX_VIDEOS).collect();
        Ok(with.into_iter().map(|v| v.video_id).collect())
    }
}

/// The names of a search's filters, including `video_ids` if given as a parameter.
pub(super) fn filter_names<'a>(
    filters: &'a Map<String, Value>,
    video_ids: Option<&[String]>,
) -> Vec<&'a str> {
    let mut names: Vec<&str> = filters.keys().map(String::as_str).collect();
    if video_ids.is_some() && !names.contains(&VIDEO_IDS) {
        names.push(VIDEO_IDS);
    }
    names
}
