//! Search by meaning and by words, with an optional answer over the hits.

mod alike;
pub(crate) mod calibration;
pub(crate) mod diagnostics;
pub(crate) mod everything;
pub mod filters;
pub mod indexing;
mod listing;
pub mod look;
pub(crate) mod mode;
pub mod pages;
mod published;
pub mod reindex;
pub(crate) mod rerank;
mod scope;
pub mod values;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use ports::index::{Filter, VectorIndex, VectorQuery};
use ports::storage::ObjectStorage;
use ports::units::byte_size;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use text::questions::subject;
use tokio::sync::{Notify, OnceCell};

use crate::domain::analysis::finding::Statement;
use crate::domain::analysis::hit::HitDocument;
use crate::domain::analysis::{self, TextStyle};
use crate::domain::catalog::Catalog;
use crate::domain::kernel::access::Access;
use crate::domain::kernel::error::{Error, Result};
use crate::domain::kernel::moment::MomentId;
use crate::domain::kernel::names::listed;
use crate::domain::kernel::ports::{Models, Stores};
use crate::domain::kernel::recent::Recent;
use crate::domain::kernel::time::Span;
use crate::domain::kernel::vector::{dot, sum};
use crate::domain::kernel::video::{ChunkId, VideoId};
use calibration::{Presence, References};
use diagnostics::Empty;
use pages::{Page, Ranking};
use published::Published;

pub(crate) use calibration::LIKELY;
pub use calibration::Thresholds;
pub use diagnostics::Diagnostics;
pub use everything::EVERY_ANALYZER;
pub use mode::{MODES, Mode};
pub use pages::Place;

/// How much of a hit comes back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// Ids, times, score and a snippet.
    Minimal,
    /// With the chunk's description, people, objects and speech.
    Standard,
    /// With the embedded text and nested records.
    Full,
}

/// What is searched for, and in what.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Query {
    /// What to look for; empty where something else says that.
    pub text: String,
    /// In place of a text: a moment that is like what is looked for.
    pub like: Option<String>,
    /// In place of a text: all that the filters leave, in this order of [`ORDERS`].
    pub order: Option<String>,
    /// `vector`, `text` or `hybrid`; `None` is `vector` for one analyzer and `hybrid` for all.
    pub mode: Option<String>,
    /// `None` searches every video.
    pub video_ids: Option<Vec<String>>,
    /// Whose output is searched; [`EVERY_ANALYZER`] for that of all.
    pub analyzer: String,
    /// Vector field.
    pub field: String,
    /// 1..=50.
    pub limit: u32,
    /// Hits with a lower cosine are dropped, in every mode.
    pub score_threshold: Option<f32>,
    /// Hits that are less probably what was searched for are dropped, 0..1.
    pub min_p_present: Option<f32>,
    /// Whether hits are read together with a question before they are ranked.
    pub rerank: bool,
    /// Whether to answer over the hits.
    pub synthesize: bool,
    /// `minimal`, `standard` or `full`.
    pub detail: String,
    /// As the client gave them.
    pub filters: Map<String, Value>,
    /// Where the page begins; `None` is the first of a search that has no other.
    pub page: Option<Place>,
}

impl Query {
    /// What the index is asked for: what is nearest to a vector, among what a filter leaves.
    fn nearest_to(&self, vector: Vec<f32>, filter: Filter) -> VectorQuery {
        VectorQuery {
            field: self.field.clone(),
            vector,
            filter,
            limit: self.limit as usize,
            threshold: self.score_threshold,
        }
    }
}

/// What a query looks for.
enum Sought {
    Text,
    Like(MomentId),
    AllThatIsLeft,
}

/// The orders that moments are listed in without a search text, with what each means.
pub const ORDERS: &[(&str, &str)] =
    &[("newest", "the video that was ingested last first, and in each from its beginning on")];

/// What the hits are ranked by, and so which of their scores there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ranked {
    /// By a text: by how well they match, and probably do.
    ByText,
    /// By how alike they are.
    ByLikeness,
    /// Not at all: they are in order of time.
    Not,
}

/// One hit.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchResult {
    /// Names the span of its chunk, however the video is split later.
    pub moment_id: MomentId,
    /// The id of its video.
    pub video_id: VideoId,
    /// The id of its chunk within the video.
    pub chunk_id: ChunkId,
    /// What the chunk tells there, by the analyzer whose output was found.
    pub statements: Vec<Statement>,
    /// Human form of start and end.
    pub timecode: String,
    /// Cosine, 0..1.
    pub score: f32,
    /// BM25, when words were searched and found here.
    pub text_score: Option<f32>,
    /// Probability, measured against unrelated searches, that what was searched for is really here, 0..1.
    pub p_present: f32,
    /// The same before it was read together with a question.
    pub p_found: f32,
    /// The analyzers that found it, the surest first.
    pub found_by: Vec<String>,
    /// The text that was embedded for the field that was searched.
    pub text: String,
    /// First 180 characters of the text of the whole record.
    pub snippet: String,
    /// Public storage URL of the video.
    pub video_url: String,
    /// The instant when it begins, ISO 8601 in UTC, where it is known when the video was recorded.
    pub recorded_at: Option<String>,
    /// Everything else.
    pub document: HitDocument,
}

/// What a [`Query`] finds.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Found {
    pub(crate) detail: Detail,
    pub(crate) ranked: Ranked,
    /// Best first.
    pub(crate) results: Vec<SearchResult>,
    /// The place after each of them.
    pub(crate) places: Vec<Place>,
    /// Whether there may be more after the last.
    pub(crate) more: bool,
    /// Why there are no results; `None` when there are.
    pub(crate) diagnostics: Option<Diagnostics>,
}

impl Found {
    fn new(detail: Detail, ranked: Ranked, page: Page, diagnostics: Option<Diagnostics>) -> Self {
        let Page { results, places, more } = page;
        Self { detail, ranked, results, places, more, diagnostics }
    }
}

/// The detail levels with what each returns.
pub const DETAIL_LEVELS: &[(&str, &str)] = &[
    ("minimal", "ids, times, score and a snippet of 180 characters"),
    (
        "standard",
        "minimal without the snippet, plus the video's URL, description, people, objects, \
      actions, tags, speakers, people_count and turns",
    ),
    ("full", "standard plus the embedded text and the persons, detections and texts records"),
];

/// How searches rank, and what their scores are measured against.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SearchSettings {
    /// The constant of reciprocal rank fusion, above 0: the larger, the less the first places count.
    pub fusion_k: f64,
    /// Hits of each list that are merged, at least: what one ranks low the other may rank high.
    pub fusion_depth: usize,
    /// Weight of the list by meaning, above 0.
    pub vector_weight: f64,
    /// Weight of the list by words, above 0.
    pub text_weight: f64,
    /// Standard deviations above the median best score of absent things: the recommended threshold.
    pub threshold_deviations: f32,
    /// Hits that the pages of one search reach, and videos that are put in order at once for a list: every
    /// page but the first costs a search for so many.
    pub page_window: usize,
    /// Texts of hits that are read for one search that asks for it: the likeliest.
    pub rerank_texts: usize,
    /// Longest text that is searched for or asked, bytes.
    #[serde(with = "byte_size")]
    pub max_text_bytes: usize,
    /// Bytes of vectors that are kept, of the texts that were last searched for: one that is searched for
    /// again, with other filters or for its next page, is not embedded again. 0 keeps none.
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

/// What a search names, as this install has it.
pub(crate) struct Known<'q> {
    detail: Detail,
    /// `None` for all.
    analyzer: Option<&'q str>,
    mode: Mode,
}

impl Known<'_> {
    fn ranking<'a>(&self, query: &'a Query, search: VectorQuery) -> Ranking<'a> {
        Ranking {
            mode: self.mode,
            every: self.analyzer.is_none(),
            text: &query.text,
            query: search,
            least: query.min_p_present.unwrap_or_default(),
            rerank: query.rerank,
            besides: None,
        }
    }

    /// A search that found nothing, as it was asked.
    fn empty<'a>(&'a self, access: &'a Access, query: &'a Query, search: VectorQuery) -> Empty<'a> {
        Empty {
            access,
            mode: self.mode,
            text: &query.text,
            analyzer: self.analyzer,
            video_ids: query.video_ids.as_deref(),
            filters: &query.filters,
            query: search,
            min_p_present: query.min_p_present.unwrap_or_default(),
        }
    }
}

/// Characters of a snippet.
const SNIPPET: usize = 180;

impl Detail {
    /// As requests name it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Minimal => "minimal",
            Self::Standard => "standard",
            Self::Full => "full",
        }
    }

    fn parse(name: &str) -> Result<Self> {
        match name {
            "minimal" => Ok(Self::Minimal),
            "standard" => Ok(Self::Standard),
            "full" => Ok(Self::Full),
            other => {
                let names: Vec<_> = DETAIL_LEVELS.iter().map(|(name, _)| *name).collect();
                Err(Error::Invalid(format!(
                    "unknown detail level '{other}'; available: {}",
                    listed(&names)
                )))
            }
        }
    }
}

/// Searching by meaning and by words.
pub struct Search {
    catalog: Arc<Catalog>,
    index: Arc<dyn VectorIndex>,
    storage: Arc<dyn ObjectStorage>,
    models: Models,
    settings: SearchSettings,
    /// Videos without a record that a repair removes without being told to.
    max_orphans: usize,
    /// What scores are measured against; made once, in the background.
    references: OnceCell<References>,
    /// The vectors of the texts that were last searched for.
    embedded: Recent<Vec<f32>>,
    /// A search has met damage in the index.
    damage: Notify,
    /// The index was damaged, and its points are being written again.
    rebuilding: AtomicBool,
}

impl Search {
    pub(crate) fn new(
        stores: &Stores,
        models: &Models,
        catalog: Arc<Catalog>,
        settings: SearchSettings,
        max_orphans: usize,
    ) -> Self {
        Self {
            catalog,
            index: stores.index.clone(),
            storage: stores.storage.clone(),
            models: models.clone(),
            settings,
            max_orphans,
            references: OnceCell::new(),
            embedded: Recent::new(settings.cache_bytes),
            damage: Notify::new(),
            rebuilding: AtomicBool::new(false),
        }
    }

    /// Searches what a caller sees. `Invalid` for an unknown analyzer, field, detail or filter key.
    pub(crate) async fn query(&self, access: &Access, query: &Query) -> Result<Found> {
        let sought = sought(query)?;
        let known = self.check(query).await?;
        match sought {
            Sought::Text => self.by_text(access, query, &known).await,
            Sought::Like(moment) => self.by_example(access, query, &known, &moment).await,
            Sought::AllThatIsLeft => self.by_filters(access, query, &known).await,
        }
    }

    async fn by_text(&self, access: &Access, query: &Query, known: &Known<'_>) -> Result<Found> {
        let (vector, filter) =
            futures::try_join!(self.vector_of(query), self.scope_of(access, query, known))?;
        let ranking = known.ranking(query, query.nearest_to(vector, filter));
        let from = match query.page {
            Some(Place::Ranked(hits)) => hits,
            _ => 0,
        };
        let page = self.page_of(&ranking, query.limit as usize, from).await?;
        let diagnostics = match page.results.is_empty() {
            true => Some(self.diagnose(known.empty(access, query, ranking.query)).await?),
            false => None,
        };
        Ok(Found::new(known.detail, Ranked::ByText, page, diagnostics))
    }

    /// What a search finds with the vector of its text, which the caller has kept; without reasons where
    /// that is nothing.
    pub(crate) async fn hits(
        &self,
        access: &Access,
        query: &Query,
        vector: Vec<f32>,
    ) -> Result<Vec<SearchResult>> {
        let known = self.check(query).await?;
        let filter = self.scope_of(access, query, &known).await?;
        let ranking = known.ranking(query, query.nearest_to(vector, filter));
        Ok(self.first_of(&ranking, query.limit as usize).await?.0)
    }

    /// The vector of what a search looks for.
    pub(crate) async fn vector_of(&self, query: &Query) -> Result<Vec<f32>> {
        match query.analyzer.as_str() {
            EVERY_ANALYZER => self.embed_question(&query.text).await,
            _ => self.embed(&query.text).await,
        }
    }

    /// `Unprocessable` for a text that is too long to search for; `field` is where it stands.
    pub(crate) fn check_length(&self, field: &str, text: &str) -> Result<()> {
        let most = self.settings.max_text_bytes;
        if text.len() <= most {
            return Ok(());
        }
        Err(Error::Unprocessable(format!(
            "{field} has {} bytes; it must have at most {most} (search.max_text_bytes)",
            text.len()
        )))
    }

    async fn scope_of(&self, access: &Access, query: &Query, known: &Known<'_>) -> Result<Filter> {
        let video_ids = query.video_ids.as_deref();
        self.scope(access, known.analyzer, video_ids, &query.filters).await
    }

    /// What a search names, as this install has it. `Invalid` for an unknown analyzer, field, mode or
    /// detail.
    pub(crate) async fn check<'q>(&self, query: &'q Query) -> Result<Known<'q>> {
        self.check_length("text", &query.text)?;
        self.check_index()?;
        let detail = Detail::parse(&query.detail)?;
        let analyzer = match query.analyzer.as_str() {
            EVERY_ANALYZER => None,
            id => {
                self.catalog.look_up(id).await?;
                self.catalog.analyzers.find(&self.models, id)?;
                Some(id)
            }
        };
        if !analysis::VECTOR_FIELDS.iter().any(|(name, _)| *name == query.field) {
            let names: Vec<_> = analysis::VECTOR_FIELDS.iter().map(|(name, _)| *name).collect();
            return Err(Error::Invalid(format!(
                "unknown field '{}'; available: {}",
                query.field,
                listed(&names)
            )));
        }
        let mode = match (&query.mode, analyzer) {
            (Some(name), _) => Mode::parse(name)?,
            (None, Some(_)) => Mode::Vector,
            (None, None) => Mode::Hybrid,
        };
        Ok(Known { detail, analyzer, mode })
    }

    /// The vector of a search text.
    pub(crate) async fn embed(&self, text: &str) -> Result<Vec<f32>> {
        let vectors = self.embed_all(&[text]).await?;
        vectors.into_iter().next().ok_or_else(|| Error::corrupt("the embedder returned no vector"))
    }

    /// The vectors of texts that are searched for; of those that are not known by it, the embedder is
    /// asked at once.
    async fn embed_all(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>> {
        let mut vectors: Vec<_> = texts.iter().map(|text| self.embedded.get(text)).collect();
        let unknown = texts.iter().zip(&vectors).filter(|(_, vector)| vector.is_none());
        let unknown: Vec<String> = unknown.map(|(text, _)| (*text).to_owned()).collect();
        if !unknown.is_empty() {
            let fresh = self.models.embedder.embed(&unknown).await?;
            let missing = vectors.iter_mut().filter(|vector| vector.is_none());
            for ((missing, text), vector) in missing.zip(&unknown).zip(fresh) {
                self.embedded.keep(text, vector.clone(), size_of_val(vector.as_slice()));
                *missing = Some(vector);
            }
        }
        Ok(vectors.into_iter().flatten().collect())
    }

    /// The vector of a question, between the question's own and that of what it is about: the wording
    /// of a question does not hide its content.
    pub(crate) async fn embed_question(&self, question: &str) -> Result<Vec<f32>> {
        let Some(subject) = subject(question) else { return self.embed(question).await };
        let mut vector = sum(&self.embed_all(&[question, subject]).await?);
        let length = dot(&vector, &vector).sqrt().max(f32::MIN_POSITIVE);
        vector.iter_mut().for_each(|x| *x /= length);
        Ok(vector)
    }

    /// Hits of published videos, best first.
    pub(crate) async fn search(
        &self,
        mode: Mode,
        text: &str,
        query: VectorQuery,
    ) -> Result<Vec<SearchResult>> {
        let presence = self.presence(text, &query.vector).await?;
        let field = query.field.clone();
        let hits = self.published(mode, text, query).await?;
        Ok(hits.into_iter().map(|hit| self.result(Some(&presence), &field, hit)).collect())
    }

    /// The best hits of each of the videos that have the best ones, by meaning and by words: at most
    /// `per_video` of each of at least `query.limit` videos, if so many are found. Those of one video
    /// follow each other, best first.
    pub(crate) async fn search_by_video(
        &self,
        text: &str,
        query: VectorQuery,
        per_video: usize,
    ) -> Result<Vec<SearchResult>> {
        let presence = self.presence(text, &query.vector).await?;
        let field = query.field.clone();
        /// Videos that are ranked to the full depth; of more, fewer hits of each are fetched.
        const FULL_DEPTH_VIDEOS: usize = 20;
        // What one list ranks low the other may rank high.
        let depth =
            self.settings.fusion_depth * FULL_DEPTH_VIDEOS / query.limit.max(FULL_DEPTH_VIDEOS);
        let depth = depth.max(per_video);
        let hits = self.find_by_video(text, query, depth).await?;
        let hits = self.current(hits, &mut HashMap::new()).await?;
        let mut results: Vec<SearchResult> = Vec::with_capacity(hits.len());
        for hit in hits {
            let of_video =
                results.iter().rev().take_while(|r| r.video_id == hit.hit.id.video_id).count();
            if of_video < per_video {
                results.push(self.result(Some(&presence), &field, hit));
            }
        }
        Ok(results)
    }

    /// The videos that most probably have what is searched for, the most probable first.
    pub(crate) async fn likely_videos(
        &self,
        text: &str,
        query: VectorQuery,
    ) -> Result<Vec<VideoId>> {
        /// Hits that are looked at of each video: the cosines of its analyzers do not compare.
        const HITS: usize = 3;
        /// Videos that are looked at, times those that are wanted.
        const VIDEOS: usize = 2;
        let presence = self.presence(text, &query.vector).await?;
        let (field, wanted) = (query.field.clone(), query.limit);
        let query = VectorQuery { limit: wanted * VIDEOS, ..query };
        let hits = self.find_by_video(text, query, HITS).await?;
        let mut videos: Vec<(f32, VideoId)> = Vec::new();
        for hit in self.current(hits, &mut HashMap::new()).await? {
            let hit = self.result(Some(&presence), &field, hit);
            match videos.iter_mut().find(|(_, id)| *id == hit.video_id) {
                Some((best, _)) => *best = best.max(hit.p_present),
                None => videos.push((hit.p_present, hit.video_id)),
            }
        }
        videos.sort_by(|a, b| b.0.total_cmp(&a.0));
        Ok(videos.into_iter().map(|(_, id)| id).take(wanted).collect())
    }

    fn result(&self, presence: Option<&Presence<'_>>, field: &str, hit: Published) -> SearchResult {
        let Published { hit, document, video_url, recorded_at } = hit;
        let span = Span { start: document.start, end: document.end };
        let analyzer = self.catalog.analyzers.known(&hit.id.analyzer_id);
        let analyzer = analyzer.as_deref();
        let statements = analyzer.map_or_else(Vec::new, |analyzer| analyzer.tells(&document));
        let whole = analyzer.map_or(TextStyle::Prose, |analyzer| analyzer.spec().style);
        let style = TextStyle::of_field(field, whole);
        let p_found = presence.map_or(0.0, |p| p.of_hit(style, hit.score, &document));
        SearchResult {
            moment_id: MomentId::new(hit.id.video_id, span),
            video_id: hit.id.video_id,
            chunk_id: hit.id.chunk_id,
            statements,
            timecode: span.timecode(),
            score: hit.score.clamp(0.0, 1.0),
            text_score: hit.text_score,
            p_present: p_found,
            p_found,
            found_by: vec![hit.id.analyzer_id],
            text: analyzer.map_or_else(|| document.text.clone(), |a| a.embedded(field, &document)),
            snippet: document.text.chars().take(SNIPPET).collect(),
            video_url,
            recorded_at,
            document,
        }
    }
}

/// What a query looks for: a text, what is like a moment, or all that the filters leave.
fn sought(query: &Query) -> Result<Sought> {
    match (query.text.is_empty(), &query.like, &query.order) {
        (false, None, None) => Ok(Sought::Text),
        (true, None, None) => Err(Error::Unprocessable(
            "text is missing; it must be a string that is not empty, or `like` must name a moment, or \
             `order` must say in which order to list what the filters leave"
                .into(),
        )),
        (true, Some(moment), None) => {
            let words = query.mode.as_deref().is_some_and(|mode| mode != "vector");
            if words || query.min_p_present.is_some() {
                return Err(Error::Invalid(
                    "what is like a moment is found by its vector; leave mode and min_p_present out"
                        .into(),
                ));
            }
            Ok(Sought::Like(moment.parse()?))
        }
        (true, None, Some(order)) => {
            let names: Vec<&str> = ORDERS.iter().map(|(name, _)| *name).collect();
            if !names.contains(&order.as_str()) {
                let available = listed(&names);
                return Err(Error::Invalid(format!(
                    "unknown order '{order}'; available: {available}"
                )));
            }
            let scored = query.score_threshold.is_some() || query.min_p_present.is_some();
            if scored || query.mode.is_some() {
                return Err(Error::Invalid(
                    "what is listed has no score; leave mode, score_threshold and min_p_present out"
                        .into(),
                ));
            }
            Ok(Sought::AllThatIsLeft)
        }
        _ => Err(Error::Invalid(
            "text, like and order exclude each other; give one of them".into(),
        )),
    }
}
