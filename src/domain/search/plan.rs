//! The plan of a search: a [`SearchRequest`] whose target, filters and vector are resolved. It can be
//! run to any depth.

use ports::index::{Filter, VectorQuery};

use crate::kernel::video::{ChunkId, VideoId};
use crate::search::request::{SearchRequest, SearchedAnalyzers};
use crate::search::results::ScoreKind;
use crate::search::retrieval::mode::Mode;

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

impl SearchPlan {
    /// Plans a search for `text`, whose embedding is `vector`, among the points that match
    /// `filter`.
    pub(super) fn for_text(
        request: &SearchRequest,
        text: &str,
        vector: Vec<f32>,
        filter: Filter,
    ) -> Self {
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

    /// Plans a search for pictures near `vector` among the points that match `filter`, except in
    /// the chunk `exclude`.
    pub(super) fn for_picture(
        request: &SearchRequest,
        vector: Vec<f32>,
        filter: Filter,
        exclude: Option<(VideoId, ChunkId)>,
    ) -> Self {
        Self {
            mode: Mode::Vector,
            analyzers: request.analyzers.clone(),
            text: String::new(),
            query: request.nearest_to(vector, filter),
            min_p_present: 0.0,
            rerank: false,
            score_kind: ScoreKind::Similarity,
            exclude,
        }
    }
}

impl SearchRequest {
    /// Builds the index query for the points nearest to a vector among those that match a filter.
    pub(super) fn nearest_to(&self, vector: Vec<f32>, filter: Filter) -> VectorQuery {
        VectorQuery {
            field: self.searched_field().name().into(),
            vector,
            filter,
            limit: self.limit as usize,
            threshold: self.score_threshold,
            per_video: None,
        }
    }
}
