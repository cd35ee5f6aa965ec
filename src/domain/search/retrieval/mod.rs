//! Retrieves the hits in published videos, with their probabilities.

pub(crate) mod merge;
pub(crate) mod mode;
pub(crate) mod published;

use std::sync::Arc;

use ports::index::VectorQuery;

use crate::analysis::{Analyzers, COMBINED, VISUAL};
use crate::catalog::Catalog;
use crate::indexing::health::IndexHealth;
use crate::kernel::error::Result;
use crate::kernel::ports::Stores;
use crate::kernel::video::VideoId;
use crate::search::calibration::Calibrator;
use crate::search::embedding::QueryEmbedder;
use crate::search::results::SearchResult;
use crate::search::settings::SearchSettings;
use merge::{add_visual_hits, merge_by_chunk};
use mode::{IndexSearcher, Mode};
use published::{HitReader, HitVideos, Scoring};

/// Maximum factor by which a search's limit is raised above the requested number of hits.
const MAX_WIDENING: usize = 4;

/// Retrieves hits in published videos and estimates their probabilities.
pub(crate) struct Retriever {
    pub(super) searcher: IndexSearcher,
    pub(super) hits: Arc<HitReader>,
    calibrator: Arc<Calibrator>,
    embedder: Arc<QueryEmbedder>,
    analyzers: Analyzers,
    /// Minimum number of hits taken from each list for fusion.
    fusion_depth: usize,
}

impl Retriever {
    pub(super) fn new(
        stores: &Stores,
        catalog: &Catalog,
        health: Arc<IndexHealth>,
        calibrator: Arc<Calibrator>,
        embedder: Arc<QueryEmbedder>,
        settings: SearchSettings,
    ) -> Self {
        let hits = HitReader::new(stores.storage.clone(), catalog, health.clone());
        Self {
            searcher: IndexSearcher { index: stores.index.clone(), health, settings },
            hits: Arc::new(hits),
            calibrator,
            embedder,
            analyzers: catalog.analyzers.clone(),
            fusion_depth: settings.fusion_depth,
        }
    }

    /// Finds hits in published videos, best first.
    pub(crate) async fn search(
        &self,
        mode: Mode,
        text: &str,
        query: VectorQuery,
    ) -> Result<Vec<SearchResult>> {
        let presence = self.calibrator.presence(text, &query.vector).await?;
        let field = query.field.clone();
        let scoring = Scoring { field: &field, presence: Some(&presence), per_video: usize::MAX };
        self.published_hits(mode, text, query, scoring).await
    }

    /// Runs a hybrid search and returns up to `per_video` hits from each of the best videos,
    /// grouped by video, best first. Returns hits from at least `query.limit` videos if that many
    /// match.
    pub(crate) async fn search_by_video(
        &self,
        text: &str,
        query: VectorQuery,
        per_video: usize,
    ) -> Result<Vec<SearchResult>> {
        let presence = self.calibrator.presence(text, &query.vector).await?;
        let field = query.field.clone();
        /// Up to this number of videos, hits are ranked to the full depth. If there are more
        /// videos, fewer hits are fetched from each.
        const FULL_DEPTH_VIDEOS: usize = 20;
        // A hit ranked low in one list may rank high in the other.
        let depth = self.fusion_depth * FULL_DEPTH_VIDEOS / query.limit.max(FULL_DEPTH_VIDEOS);
        let depth = depth.max(per_video);
        let scoring = Scoring { field: &field, presence: Some(&presence), per_video };
        let hits = self.searcher.find_by_video(text, query, depth).await?;
        self.hits.keep_published(hits, scoring, &mut HitVideos::new()).await
    }

    /// Finds the videos that are most likely to contain what is searched for, most likely first.
    pub(crate) async fn likely_videos(
        &self,
        text: &str,
        query: VectorQuery,
    ) -> Result<Vec<VideoId>> {
        /// How many hits to read per video. One hit is not enough, since cosines from different
        /// analyzers are not comparable.
        const HITS_PER_VIDEO: usize = 3;
        /// How many videos to read, as a multiple of the requested number.
        const OVERSAMPLING: usize = 2;
        let presence = self.calibrator.presence(text, &query.vector).await?;
        let (field, requested) = (query.field.clone(), query.limit);
        let query = VectorQuery { limit: requested * OVERSAMPLING, ..query };
        let scoring = Scoring { field: &field, presence: Some(&presence), per_video: usize::MAX };
        let hits = self.searcher.find_by_video(text, query, HITS_PER_VIDEO).await?;
        let mut videos: Vec<(f32, VideoId)> = Vec::new();
        for hit in self.hits.keep_published(hits, scoring, &mut HitVideos::new()).await? {
            match videos.iter_mut().find(|(_, id)| *id == hit.video_id) {
                Some((best, _)) => *best = best.max(hit.p_present),
                None => videos.push((hit.p_present, hit.video_id)),
            }
        }
        videos.sort_by(|a, b| b.0.total_cmp(&a.0));
        Ok(videos.into_iter().map(|(_, id)| id).take(requested).collect())
    }

    /// Finds the hits that pass the filter in the output of all analyzers, and merges the hits of
    /// each chunk. The most probable hit comes first. Hits are ranked by probability because
    /// cosines from different analyzers are not comparable: each analyzer embeds a different kind
    /// of text.
    pub(crate) async fn search_all_analyzers(
        &self,
        mode: Mode,
        text: &str,
        query: VectorQuery,
    ) -> Result<Vec<SearchResult>> {
        let limit = query.limit;
        // Enough hits for `limit` chunks even if every analyzer matches every chunk.
        let total = limit * self.analyzers.all().len().max(1);
        let texts = self.search(mode, text, VectorQuery { limit: total, ..query.clone() });
        let (hits, visual) = futures::try_join!(texts, self.visual_hits(text, &query))?;
        let mut merged = merge_by_chunk(hits);
        add_visual_hits(&mut merged, visual);
        merged.truncate(limit);
        Ok(merged)
    }

    /// Finds the hits whose pictures match the text. Returns none if there is no image embedder, and
    /// none if there is a threshold, because a threshold refers to the cosines of texts.
    async fn visual_hits(&self, text: &str, query: &VectorQuery) -> Result<Vec<SearchResult>> {
        if !self.embedder.embeds_images() || query.threshold.is_some() || query.field != COMBINED {
            return Ok(Vec::new());
        }
        let vector = self.embedder.visual_vector(text).await?;
        let query = VectorQuery { field: VISUAL.into(), vector, ..query.clone() };
        self.search(Mode::Vector, text, query).await
    }

    /// Searches published points only. While a video is being published or deleted, the index also
    /// holds unpublished points. If they crowd out the requested hits, the search is repeated with
    /// a larger limit.
    async fn published_hits(
        &self,
        mode: Mode,
        text: &str,
        query: VectorQuery,
        scoring: Scoring<'_>,
    ) -> Result<Vec<SearchResult>> {
        let requested = query.limit;
        let mut videos = HitVideos::new();
        let mut limit = requested;
        loop {
            let hits =
                self.searcher.find(mode, text, VectorQuery { limit, ..query.clone() }).await?;
            let complete = hits.hits.len() < limit || limit > MAX_WIDENING * requested;
            let mut published = self.hits.keep_published(hits, scoring, &mut videos).await?;
            if complete || published.len() >= requested {
                published.truncate(requested);
                return Ok(published);
            }
            limit *= 2;
        }
    }
}
