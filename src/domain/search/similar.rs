//! Similarity search: moments near a given moment's vector.

use std::collections::HashMap;
use std::sync::Arc;

use ports::index::{Filter, Predicate, VectorIndex};

use crate::analysis::Analyzers;
use crate::indexing::health::IndexHealth;
use crate::kernel::access::Access;
use crate::kernel::error::{Error, Result};
use crate::kernel::moment::MomentId;
use crate::kernel::names::comma_separated;
use crate::kernel::video::{ChunkId, VideoId};
use crate::library::Library;
use crate::library::moments::{Moment, MomentChunk};
use crate::search::plan::SearchPlan;
use crate::search::request::{SearchRequest, SearchedAnalyzers};
use crate::search::results::ScoreKind;
use crate::search::retrieval::mode::Mode;
use crate::search::scope::ScopeResolver;

/// The representation of a moment in a search: the chunk that overlaps it most, and that chunk's
/// vector from one analyzer.
struct ExampleMoment {
    chunk: (VideoId, ChunkId),
    analyzer: String,
    vector: Vec<f32>,
}

/// A frame that stands for a moment.
pub(crate) struct ExampleFrame {
    /// The chunk that overlaps the moment most.
    pub(crate) chunk: (VideoId, ChunkId),
    /// Time of the frame, in seconds from the start of the video.
    pub(crate) time: f64,
}

/// Plans searches for moments similar to a given one.
pub(super) struct SimilarMoments {
    pub(super) index: Arc<dyn VectorIndex>,
    pub(super) health: Arc<IndexHealth>,
    pub(super) analyzers: Analyzers,
    pub(super) library: Arc<Library>,
    pub(super) scopes: Arc<ScopeResolver>,
}

impl SimilarMoments {
    /// Plans a search for moments similar to `moment`. Returns `Invalid` if the moment's video does
    /// not exist, if the moment lies outside the video, or if it has no vector in the field.
    pub(super) async fn plan(
        &self,
        access: &Access,
        request: &SearchRequest,
        moment: &MomentId,
    ) -> Result<SearchPlan> {
        let field = request.field.name();
        let example = self.example_moment(access, moment, request.analyzers.id(), field).await?;
        // Vectors of different analyzers are not comparable.
        let analyzers = SearchedAnalyzers::One(example.analyzer);
        let video_ids = request.video_ids.as_deref();
        let filter = self.scopes.scope(access, analyzers.id(), video_ids, &request.filters).await?;
        Ok(SearchPlan {
            mode: Mode::Vector,
            analyzers,
            text: String::new(),
            query: request.nearest_to(example.vector, filter),
            min_p_present: 0.0,
            rerank: false,
            score_kind: ScoreKind::Similarity,
            exclude: Some(example.chunk),
        })
    }

    /// Returns the frame in the middle of the moment if no frame of its chunk has a vector, as in a
    /// video that was analyzed without an image embedder.
    pub(super) async fn frame_without_vector(
        &self,
        access: &Access,
        request: &SearchRequest,
        moment: &MomentId,
    ) -> Result<Option<ExampleFrame>> {
        let stored = self.stored_moment(access, moment).await?;
        let chunk_id = largest_chunk(&stored).map_or(ChunkId(0), |chunk| chunk.chunk.chunk_id);
        let chunk = (moment.video_id(), chunk_id);
        let vectors = self.vectors(chunk, None, request.field.name()).await?;
        let span = moment.span();
        let time = (span.start + span.end) / 2.0;
        Ok(vectors.is_empty().then_some(ExampleFrame { chunk, time }))
    }

    async fn stored_moment(&self, access: &Access, moment: &MomentId) -> Result<Moment> {
        self.library.moment(access, moment).await.map_err(|error| match error {
            // The id comes from the request body, not from the URL, so a 404 would be misleading.
            Error::NotFound(why) => Error::Invalid(why),
            other => other,
        })
    }

    /// The vectors that a chunk has in this field, by analyzer.
    async fn vectors(
        &self,
        (video_id, chunk_id): (VideoId, ChunkId),
        analyzer: Option<&str>,
        field: &str,
    ) -> Result<HashMap<String, Vec<f32>>> {
        let mut filter = Filter::default().in_chunks([(video_id, chunk_id)]);
        if let Some(id) = analyzer {
            filter = filter.and("analyzer_id", Predicate::AnyKeyword(vec![id.to_owned()]));
        }
        let found = self.index.vectors(&filter, field).await;
        let found = found.map_err(|error| self.health.report_damage(error.into()))?;
        Ok(found.into_iter().map(|(id, vector)| (id.analyzer_id, vector)).collect())
    }

    /// Finds the chunk that overlaps the moment most, and its vector from the analyzer with the
    /// best evidence rank: visual analyzers come before speech and on-screen text.
    async fn example_moment(
        &self,
        access: &Access,
        moment: &MomentId,
        analyzer: Option<&str>,
        field: &str,
    ) -> Result<ExampleMoment> {
        let stored = self.stored_moment(access, moment).await?;
        let largest = largest_chunk(&stored);
        let chunk_id = largest.map_or(ChunkId(0), |chunk| chunk.chunk.chunk_id);
        let chunk = (moment.video_id(), chunk_id);
        let mut vectors = self.vectors(chunk, analyzer, field).await?;
        let ids: Vec<String> = vectors.keys().cloned().collect();
        let best = self.analyzers.by_evidence_rank(ids.iter()).first().copied();
        let best = best.and_then(|id| vectors.remove_entry(id));
        let (analyzer, vector) = best.ok_or_else(|| {
            let with_output = largest.into_iter().flat_map(|chunk| chunk.chunk.outputs.keys());
            let with_output: Vec<&str> = with_output.map(String::as_str).collect();
            Error::Invalid(format!(
                "nothing of moment '{moment}' is in the field '{field}' of {}, so that nothing can be \
                 like it there; it has output of: {}",
                analyzer.map_or_else(|| "any analyzer".into(), |id| format!("'{id}'")),
                comma_separated(&with_output)
            ))
        })?;
        Ok(ExampleMoment { chunk, analyzer, vector })
    }
}

/// The chunk that overlaps the moment most; the first one if several do.
fn largest_chunk(moment: &Moment) -> Option<&MomentChunk> {
    moment.chunks.iter().reduce(|a, b| if b.overlap > a.overlap { b } else { a })
}
