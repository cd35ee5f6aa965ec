//! Moments that are like another one, by its own vector.

use std::collections::HashMap;

use ports::index::{Filter, Predicate};

use crate::domain::kernel::access::Access;
use crate::domain::kernel::error::{Error, Result};
use crate::domain::kernel::moment::MomentId;
use crate::domain::kernel::names::listed;
use crate::domain::kernel::video::{ChunkId, VideoId};
use crate::domain::search::pages::{Place, Ranking};
use crate::domain::search::{Found, Known, Mode, Query, Ranked, Search};

/// What stands for a moment: the chunk that has most of it, as one analyzer tells it.
struct Example {
    chunk: (VideoId, ChunkId),
    analyzer: String,
    vector: Vec<f32>,
}

impl Search {
    /// A page of what is like a moment. `Invalid` where its video is gone, it lies outside of it, or
    /// nothing of it is in the field.
    pub(super) async fn by_example(
        &self,
        access: &Access,
        query: &Query,
        known: &Known<'_>,
        moment: &MomentId,
    ) -> Result<Found> {
        let example = self.example(access, moment, known.analyzer, &query.field).await?;
        let video_ids = query.video_ids.as_deref();
        // What one analyzer tells is not compared with what another does.
        let filter = self.scope(access, Some(&example.analyzer), video_ids, &query.filters).await?;
        let ranking = Ranking {
            mode: Mode::Vector,
            every: false,
            text: "",
            query: query.nearest_to(example.vector, filter),
            least: 0.0,
            rerank: false,
            besides: Some(example.chunk),
        };
        let from = match query.page {
            Some(Place::Ranked(hits)) => hits,
            _ => 0,
        };
        let page = self.page_of(&ranking, query.limit as usize, from).await?;
        let diagnostics = match page.results.is_empty() {
            true => Some(self.diagnose(known.empty(access, query, ranking.query)).await?),
            false => None,
        };
        Ok(Found::new(known.detail, Ranked::ByLikeness, page, diagnostics))
    }

    /// The chunk that has most of a moment, as the analyzer tells it that is the best evidence: what is
    /// seen before what is heard or read.
    async fn example(
        &self,
        access: &Access,
        moment: &MomentId,
        analyzer: Option<&str>,
        field: &str,
    ) -> Result<Example> {
        let read = self.catalog.moment(access, moment).await.map_err(|error| match error {
            // What is named in a body is no address.
            Error::NotFound(why) => Error::Invalid(why),
            other => other,
        })?;
        let most = read.chunks.iter().reduce(|a, b| if b.overlap > a.overlap { b } else { a });
        let chunk_id = most.map_or(ChunkId(0), |chunk| chunk.chunk.chunk_id);
        let video_id = moment.video_id();
        let mut filter = Filter::video(video_id).in_chunks([chunk_id]);
        if let Some(id) = analyzer {
            filter = filter.and("analyzer_id", Predicate::AnyKeyword(vec![id.to_owned()]));
        }
        let found = self.index.vectors(&filter, field).await;
        let found = found.map_err(|error| self.mended_soon(error.into()))?;
        let mut vectors: HashMap<String, Vec<f32>> =
            found.into_iter().map(|(id, vector)| (id.analyzer_id, vector)).collect();
        let ids: Vec<String> = vectors.keys().cloned().collect();
        let best = self.catalog.analyzers.by_evidence(ids.iter()).first().copied();
        let best = best.and_then(|id| vectors.remove_entry(id));
        let (analyzer, vector) = best.ok_or_else(|| {
            let told = most.into_iter().flat_map(|chunk| chunk.chunk.outputs.keys());
            let told: Vec<&str> = told.map(String::as_str).collect();
            Error::Invalid(format!(
                "nothing of moment '{moment}' is in the field '{field}' of {}, so that nothing can be \
                 like it there; it has output of: {}",
                analyzer.map_or_else(|| "any analyzer".into(), |id| format!("'{id}'")),
                listed(&told)
            ))
        })?;
        Ok(Example { chunk: (video_id, chunk_id), analyzer, vector })
    }
}
