//! Vector, full-text and hybrid search over moments.

pub(crate) mod all_analyzers;
pub(crate) mod calibration;
pub(crate) mod diagnostics;
pub mod filters;
mod listing;
pub(crate) mod mode;
pub mod pages;
mod plan;
mod published;
pub mod request;
pub(crate) mod rerank;
mod scope;
mod similar;
pub mod values;

use std::str::FromStr;
use std::sync::Arc;

use ports::index::{Index, VectorQuery};
use ports::storage::ObjectUrls;
use ports::units::byte_size;
use serde::{Deserialize, Serialize};
use text::questions::subject;
use tokio::sync::OnceCell;

use crate::analysis::facets::{Display, Facets};
use crate::analysis::output::Statement;
use crate::catalog::Catalog;
use crate::indexing::health::IndexHealth;
use crate::kernel::cache::ByteCache;
use crate::kernel::error::{Error, Result};
use crate::kernel::moment::MomentId;
use crate::kernel::ports::{Models, Stores};
use crate::kernel::time::Span;
use crate::kernel::vector::{dot, sum};
use crate::kernel::video::{ChunkId, VideoId};
use calibration::Calibration;
use published::{HitVideos, Scoring};

pub(crate) use calibration::LIKELY;
pub use calibration::Thresholds;
pub use diagnostics::Diagnostics;
pub use mode::{MODES, Mode};
pub use pages::PageStart;
pub use request::{
    ALL_ANALYZERS, ListingOrder, SearchRequest, SearchTarget, SearchedAnalyzers, VectorField,
};

/// How much of a hit is returned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// Ids, times, score and a snippet.
    Minimal,
    /// Everything in `Minimal`, and the chunk's description, people, objects and speech.
    Standard,
    /// Everything in `Standard`, and the embedded text and nested records.
    Full,
}

/// Which scores the hits have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScoreKind {
    /// Cosine and probability; the hits are ranked by a search text.
    Text,
    /// Cosine only; the hits are ranked by similarity to a moment.
    Similarity,
    /// No scores; the hits are in listing order.
    Unscored,
}

/// A search hit.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchResult {
    /// Id of the chunk's span. The id stays valid if the video is chunked differently.
    pub moment_id: MomentId,
    /// Id of the video.
    pub video_id: VideoId,
    /// The chunk within the video.
    pub chunk_id: ChunkId,
    /// The chunk's span.
    pub span: Span,
    /// Start and end as `M:SS.ss-M:SS.ss`, for display.
    pub timecode: String,
    /// Cosine, 0..1.
    pub score: f32,
    /// BM25 score; `None` unless full-text search found the hit.
    pub text_score: Option<f32>,
    /// Calibrated probability, 0..1, that the moment contains what was searched for.
    pub p_present: f32,
    /// The value of `p_present` before re-ranking.
    pub p_found: f32,
    /// The analyzers whose output matched, the most probable first.
    pub found_by: Vec<String>,
    /// The text that was embedded for the searched field.
    pub text: String,
    /// The first 180 characters of the whole record's text.
    pub snippet: String,
    /// Public URL of the video.
    pub video_url: String,
    /// The real time at which the moment begins, in ISO 8601 (UTC). `None` if the recording time is
    /// unknown.
    pub recorded_at: Option<String>,
    /// Statements about the chunk from the analyzers whose output matched.
    pub statements: Vec<Statement>,
    /// The chunk's labels.
    pub facets: Facets,
    /// What to show of the output.
    pub display: Display,
}

/// A page of hits.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchPage {
    /// Which scores the hits have.
    pub score_kind: ScoreKind,
    /// The hits, best first.
    pub results: Vec<SearchResult>,
    /// For each hit, where the next page begins if the page ends with that hit.
    pub next_pages: Vec<PageStart>,
    /// Whether more hits may follow the last one.
    pub more: bool,
    /// Why there are no hits; `None` if there are any.
    pub diagnostics: Option<Diagnostics>,
}

/// Each detail level's name and what it returns.
pub const DETAIL_LEVELS: &[(&str, &str)] = &[
    ("minimal", "ids, times, score and a snippet of 180 characters"),
    (
        "standard",
        "minimal without the snippet, plus the video's URL, description, people, objects, \
      actions, tags, speakers, people_count and turns",
    ),
    ("full", "standard plus the embedded text and the persons, detections and texts records"),
];

/// Ranking, calibration and limits of searches.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SearchSettings {
    /// The constant k of reciprocal rank fusion, above 0. The larger it is, the less the first
    /// ranks dominate.
    pub fusion_k: f64,
    /// Minimum number of hits taken from each list for fusion, since a hit that ranks low in one
    /// list may rank high in the other.
    pub fusion_depth: usize,
    /// Weight of vector search, above 0.
    pub vector_weight: f64,
    /// Weight of full-text search, above 0.
    pub text_weight: f64,
    /// How far the recommended threshold lies above the median of the best scores that unrelated
    /// queries reach, in standard deviations.
    pub threshold_deviations: f32,
    /// Maximum number of hits that paging can reach. Also the maximum number of videos sorted at
    /// once for a listing. Every page after the first costs a search for this many hits.
    pub page_window: usize,
    /// Maximum number of texts that the re-ranker scores per search.
    pub rerank_texts: usize,
    /// Maximum length of a search text or question, in bytes.
    #[serde(with = "byte_size")]
    pub max_text_bytes: usize,
    /// Size of the query-vector cache, in bytes. Repeating a search with different filters, or
    /// fetching its next page, does not embed the text again. 0 disables the cache.
    #[serde(with = "byte_size")]
    pub cache_bytes: usize,
}

impl Default for SearchSettings {
    fn default() -> Self {
        Self {
            fusion_k: 60.0,
            fusion_depth: 50,
            vector_weight: 1.0,
            text_weight: 1.0,
            threshold_deviations: 3.0,
            page_window: 500,
            rerank_texts: 48,
            max_text_bytes: 16 << 10,
            cache_bytes: 8 << 20,
        }
    }
}

impl Detail {
    /// The name used in requests.
    pub fn name(self) -> &'static str {
        match self {
            Self::Minimal => "minimal",
            Self::Standard => "standard",
            Self::Full => "full",
        }
    }
}

impl FromStr for Detail {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        match name {
            "minimal" => Ok(Self::Minimal),
            "standard" => Ok(Self::Standard),
            "full" => Ok(Self::Full),
            other => Err(request::unknown("detail level", other, DETAIL_LEVELS)),
        }
    }
}

/// The search service.
pub struct Search {
    catalog: Arc<Catalog>,
    index: Arc<dyn Index>,
    storage: Arc<dyn ObjectUrls>,
    models: Models,
    settings: SearchSettings,
    /// The score calibration, measured once, in the background.
    calibration: OnceCell<Calibration>,
    /// Cache of query vectors by text.
    query_vectors: ByteCache<Vec<f32>>,
    /// Whether the index is damaged or being rebuilt.
    pub health: Arc<IndexHealth>,
}

impl Search {
    pub(crate) fn new(
        stores: &Stores,
        models: &Models,
        catalog: Arc<Catalog>,
        settings: SearchSettings,
    ) -> Self {
        Self {
            catalog,
            index: stores.index.clone(),
            storage: stores.storage.clone(),
            models: models.clone(),
            settings,
            calibration: OnceCell::new(),
            query_vectors: ByteCache::new(settings.cache_bytes),
            health: Arc::default(),
        }
    }

    /// Computes the vector for a search text. If the search covers all analyzers, the text is
    /// embedded as a question: see [`Self::embed_question`].
    pub(crate) async fn text_vector(
        &self,
        analyzers: &SearchedAnalyzers,
        text: &str,
    ) -> Result<Vec<f32>> {
        match analyzers {
            SearchedAnalyzers::All => self.embed_question(text).await,
            SearchedAnalyzers::One(_) => self.embed(text).await,
        }
    }

    /// Returns `Unprocessable` if `text` is too long; `field` is its name in the request.
    pub(crate) fn check_length(&self, field: &str, text: &str) -> Result<()> {
        let max = self.settings.max_text_bytes;
        if text.len() <= max {
            return Ok(());
        }
        Err(Error::Unprocessable(format!(
            "{field} has {} bytes; it must have at most {max} (search.max_text_bytes)",
            text.len()
        )))
    }

    /// Embeds one text.
    pub(crate) async fn embed(&self, text: &str) -> Result<Vec<f32>> {
        let vectors = self.embed_all(&[text]).await?;
        vectors.into_iter().next().ok_or_else(|| Error::corrupt("the embedder returned no vector"))
    }

    /// Embeds texts. Takes vectors from the cache and computes the missing vectors with one call to
    /// the embedder.
    async fn embed_all(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>> {
        let mut vectors: Vec<_> = texts.iter().map(|text| self.query_vectors.get(text)).collect();
        let uncached = texts.iter().zip(&vectors).filter(|(_, vector)| vector.is_none());
        let uncached: Vec<String> = uncached.map(|(text, _)| (*text).to_owned()).collect();
        if !uncached.is_empty() {
            let embedded = self.models.embedder.embed(&uncached).await?;
            let missing = vectors.iter_mut().filter(|vector| vector.is_none());
            for ((missing, text), vector) in missing.zip(&uncached).zip(embedded) {
                self.query_vectors.insert(text, vector.clone(), size_of_val(vector.as_slice()));
                *missing = Some(vector);
            }
        }
        Ok(vectors.into_iter().flatten().collect())
    }

    /// Embeds a question as the normalized sum of its vector and the vector of its subject, so that
    /// the wording of the question does not obscure its content.
    pub(crate) async fn embed_question(&self, question: &str) -> Result<Vec<f32>> {
        let Some(subject) = subject(question) else { return self.embed(question).await };
        let mut vector = sum(&self.embed_all(&[question, subject]).await?);
        let length = dot(&vector, &vector).sqrt().max(f32::MIN_POSITIVE);
        vector.iter_mut().for_each(|x| *x /= length);
        Ok(vector)
    }

    /// Finds hits in published videos, best first.
    pub(crate) async fn search(
        &self,
        mode: Mode,
        text: &str,
        query: VectorQuery,
    ) -> Result<Vec<SearchResult>> {
        let presence = self.presence(text, &query.vector).await?;
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
        let presence = self.presence(text, &query.vector).await?;
        let field = query.field.clone();
        /// Up to this number of videos, hits are ranked to the full depth. If there are more
        /// videos, fewer hits are fetched from each.
        const FULL_DEPTH_VIDEOS: usize = 20;
        // A hit ranked low in one list may rank high in the other.
        let depth =
            self.settings.fusion_depth * FULL_DEPTH_VIDEOS / query.limit.max(FULL_DEPTH_VIDEOS);
        let depth = depth.max(per_video);
        let scoring = Scoring { field: &field, presence: Some(&presence), per_video };
        let hits = self.find_by_video(text, query, depth).await?;
        self.keep_published(hits, scoring, &mut HitVideos::new()).await
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
        let presence = self.presence(text, &query.vector).await?;
        let (field, requested) = (query.field.clone(), query.limit);
        let query = VectorQuery { limit: requested * OVERSAMPLING, ..query };
        let scoring = Scoring { field: &field, presence: Some(&presence), per_video: usize::MAX };
        let hits = self.find_by_video(text, query, HITS_PER_VIDEO).await?;
        let mut videos: Vec<(f32, VideoId)> = Vec::new();
        for hit in self.keep_published(hits, scoring, &mut HitVideos::new()).await? {
            match videos.iter_mut().find(|(_, id)| *id == hit.video_id) {
                Some((best, _)) => *best = best.max(hit.p_present),
                None => videos.push((hit.p_present, hit.video_id)),
            }
        }
        videos.sort_by(|a, b| b.0.total_cmp(&a.0));
        Ok(videos.into_iter().map(|(_, id)| id).take(requested).collect())
    }
}
