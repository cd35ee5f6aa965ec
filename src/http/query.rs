//! `POST /query`: vector search at three levels of detail.

use poem_openapi::{Object, OpenApi, Union};

use super::ask::{AuditedSentence, checked};
use super::auth::{Service, Token};
use super::body::Json;
use super::budget::Wanted;
use super::errors::{ApiError, Search};
use super::values::{AnyObject, Ordered, shortest};
use crate::domain::answering::query;
use crate::domain::kernel::video::VideoId;
use crate::domain::media::speech;
use crate::domain::search;
use crate::domain::search::{Detail, Ranked};

/// The routes of this section.
pub(super) struct QueryApi(pub(super) Service);

#[OpenApi]
impl QueryApi {
    /// Vector search with an optional synthesized answer.
    #[oai(path = "/query", method = "post", operation_id = "query")]
    async fn query(
        &self,
        token: Token,
        Json(request): Json<QueryRequest>,
    ) -> Result<Json<QueryResponse>, ApiError<Search>> {
        let wanted = Wanted { max_tokens: request.max_tokens, cursor: request.cursor.clone() };
        let pages = request.pages;
        let mut query: search::Query = request.into();
        let named = match pages || wanted.is_part() {
            true => format!("{pages} {query:?}"),
            false => String::new(),
        };
        let service = self.0.of(&token);
        if pages {
            query.page = Some(wanted.place(&named)?);
        }
        let mut found = service.query(query).await?;
        let places = (std::mem::take(&mut found.places), found.more);
        let mut response: QueryResponse = found.into();
        let (results, spent) = match pages {
            true => wanted.of_page(service.tokens(), response.results, places, &named).await?,
            false => wanted.of(service.tokens(), response.results, &named).await?,
        };
        (response.tokens, response.tokenizer) = (spent.tokens, spent.tokenizer);
        (response.results, response.next) = (results, spent.next);
        Ok(Json(response))
    }
}

#[derive(Object)]
struct QueryRequest {
    /// Search query; null where `like` or `order` stands in its place.
    #[oai(nullable, validator(min_length = 1))]
    text: Option<String>,
    /// In place of `text`: a moment's id. Finds what is like the chunk that has most of it, by that
    /// chunk's own vector in `field`, among the output of one analyzer: the named one, or with `*` the
    /// first that has something there of what is seen, people, speech, objects and text on screen. The
    /// chunk itself is no result, and results have a `score` and no `p_present`.
    like: Option<String>,
    /// In place of `text`: `newest` lists what the filters leave, the video that was ingested last first
    /// and in each from its beginning on; results have a `score` of null and no `p_present`, and `field` has
    /// no part in it.
    order: Option<String>,
    /// `vector`: by meaning. `text`: BM25 over speech, on-screen text and descriptions; quoted
    /// words are a phrase. `hybrid`: both, merged by reciprocal rank fusion. Null is `vector` for one
    /// analyzer, `hybrid` for all.
    #[oai(nullable)]
    mode: Option<String>,
    /// Null searches every video.
    #[oai(nullable)]
    video_ids: Option<Vec<String>>,
    /// Analyzer whose output is searched. `*` searches that of all: hits of one chunk are merged and
    /// ranked by `p_present`, and `found_by` names the analyzers.
    #[oai(default = "analyzer")]
    analyzer: String,
    /// Vector field.
    #[oai(default = "field")]
    field: String,
    #[oai(default = "limit", validator(minimum(value = "1"), maximum(value = "50")))]
    limit: u32,
    /// Hits with a lower `score` are dropped, in every mode; `/schema` recommends a value per
    /// field.
    #[oai(nullable)]
    score_threshold: Option<f64>,
    /// Hits with a lower `p_present` are dropped: the calibrated switch, the same for every field and
    /// analyzer.
    #[oai(nullable, validator(minimum(value = "0"), maximum(value = "1")))]
    min_p_present: Option<f64>,
    /// Read the hits for a question together with it, before they are ranked and dropped: `p_present` is
    /// then how probable it is that they answer it, rather than that they are about the same. Takes a few
    /// milliseconds for each sentence; nothing changes without a `reranker` (`/health`), and for a search by
    /// a few words.
    #[oai(default)]
    rerank: bool,
    /// Generate an answer over the hits.
    #[oai(default = "on")]
    synthesize: bool,
    /// `minimal`, `standard` or `full`.
    #[oai(default = "detail")]
    detail: String,
    /// Hard conditions that must all hold. Of several words any will do; `{"all": [...]}` in place of the
    /// list wants all of them (`objects`, `tags`, `speakers`, `people`).
    #[oai(default)]
    filters: AnyObject,
    /// Most tokens of the results together, whole ones, best first; all when left out.
    #[oai(nullable, validator(minimum(value = "1")))]
    max_tokens: Option<u32>,
    /// `next` of the answer before. One of another request is refused with 400.
    #[oai(nullable)]
    cursor: Option<String>,
    /// Whether `next` leads on past `limit`, to the page after this one, until there is none: all of a
    /// listing, and of a search the first `search.page_window` results (500). Nothing comes twice and
    /// nothing is left out as long as the library stays as it is. An answer is written with the first
    /// page alone.
    #[oai(default)]
    pages: bool,
}

/// The analyzer that is searched where none is named.
pub(super) fn analyzer() -> String {
    "default_video".into()
}

/// The vector field that is searched where none is named.
pub(crate) fn field() -> String {
    "combined".into()
}

/// Hits where no number is named.
pub(super) fn limit() -> u32 {
    5
}

fn on() -> bool {
    true
}

fn detail() -> String {
    "standard".into()
}

impl From<QueryRequest> for search::Query {
    fn from(r: QueryRequest) -> Self {
        Self {
            text: r.text.unwrap_or_default(),
            like: r.like,
            order: r.order,
            mode: r.mode,
            video_ids: r.video_ids,
            analyzer: r.analyzer,
            field: r.field,
            limit: r.limit,
            score_threshold: r.score_threshold.map(|threshold| threshold as f32),
            min_p_present: r.min_p_present.map(|least| least as f32),
            rerank: r.rerank,
            synthesize: r.synthesize,
            detail: r.detail,
            filters: r.filters.0,
            page: None,
        }
    }
}

#[derive(Object)]
struct QueryResponse {
    /// Empty where nothing was searched for.
    query: String,
    analyzer: String,
    field: String,
    detail: String,
    /// Null when `synthesize` is false or nothing matched.
    #[oai(nullable)]
    answer: Option<String>,
    /// Whether that tells what is searched for; false where it only says that the footage does not show
    /// it. Absent without an answer.
    #[oai(skip_serializing_if_is_none)]
    answered: Option<bool>,
    /// How far the cited moments bear out each sentence of the answer; absent without an answer.
    #[oai(skip_serializing_if_is_none)]
    audit: Option<Vec<AuditedSentence>>,
    /// `TypeName: message` when an answer was asked for and writing it failed; the results stand.
    #[oai(skip_serializing_if_is_none)]
    answer_error: Option<String>,
    results: Vec<SearchResult>,
    /// Tokens of `results`; present with `max_tokens`.
    #[oai(skip_serializing_if_is_none)]
    tokens: Option<u32>,
    /// The embedder whose tokenizer has counted; present with `max_tokens`.
    #[oai(skip_serializing_if_is_none)]
    tokenizer: Option<String>,
    /// The `cursor` for the rest of the `limit` results, where `max_tokens` left any out; with `pages` for
    /// what follows, where anything may.
    #[oai(skip_serializing_if_is_none)]
    next: Option<String>,
    /// Why there are no results; absent when there are.
    #[oai(skip_serializing_if_is_none)]
    diagnostics: Option<Diagnostics>,
}

/// Why nothing was found.
#[derive(Object)]
pub(crate) struct Diagnostics {
    /// Filter to the hits there would be without it.
    hits_without_filter: Ordered<u32>,
    /// Videos in scope that the analyzer has not run on, at most 20.
    videos_without_analyzer: Vec<String>,
    /// Videos in scope with nothing stored in the vector field, at most 20.
    videos_without_field: Vec<String>,
    /// Ids that were named and do not exist, at most 20.
    unknown_videos: Vec<String>,
    /// The other analyzers that have it, with the probability of their best hit; absent where none has.
    #[oai(skip_serializing_if_is_none)]
    found_by_others: Option<Ordered<f64>>,
    /// Best cosine among what the filters let through; null when they let nothing through.
    #[oai(nullable)]
    best_score: Option<f64>,
}

impl From<query::QueryResponse> for QueryResponse {
    fn from(r: query::QueryResponse) -> Self {
        let every = r.analyzer == search::EVERY_ANALYZER;
        let result = |mut hit: search::SearchResult| {
            if !every {
                hit.found_by.clear();
            }
            SearchResult::of(hit, r.detail, r.ranked)
        };
        Self {
            query: r.query,
            analyzer: r.analyzer,
            field: r.field,
            detail: r.detail.name().into(),
            answer: r.answer,
            audit: checked(r.audit),
            answered: r.answered,
            answer_error: r.answer_error,
            results: r.results.into_iter().map(result).collect(),
            tokens: None,
            tokenizer: None,
            next: None,
            diagnostics: r.diagnostics.map(Into::into),
        }
    }
}

impl From<search::Diagnostics> for Diagnostics {
    fn from(d: search::Diagnostics) -> Self {
        let strings = |ids: Vec<VideoId>| ids.into_iter().map(String::from).collect();
        Self {
            hits_without_filter: Ordered(d.without_filter),
            videos_without_analyzer: strings(d.videos_without_analyzer),
            videos_without_field: strings(d.videos_without_field),
            unknown_videos: d.unknown_videos,
            found_by_others: found_by_others(d.found_by_others),
            best_score: d.best_score.map(score),
        }
    }
}

#[derive(Union)]
#[oai(one_of)]
enum SearchResult {
    Minimal(MinimalResult),
    Standard(StandardResult),
    Full(FullResult),
}

impl SearchResult {
    fn of(hit: search::SearchResult, detail: Detail, ranked: Ranked) -> Self {
        let mut result = match detail {
            Detail::Minimal => Self::Minimal(hit.into()),
            Detail::Standard => Self::Standard(hit.into()),
            Detail::Full => Self::Full(hit.into()),
        };
        let (score, p_present) = match &mut result {
            Self::Minimal(hit) => (&mut hit.score, &mut hit.p_present),
            Self::Standard(hit) => (&mut hit.score, &mut hit.p_present),
            Self::Full(hit) => (&mut hit.standard.score, &mut hit.standard.p_present),
        };
        if ranked == Ranked::Not {
            *score = None;
        }
        if ranked != Ranked::ByText {
            *p_present = None;
        }
        result
    }
}

/// A hit at `detail=minimal`.
#[derive(Object)]
struct MinimalResult {
    /// Names it for `GET /moments/{moment_id}`, however the video is split later.
    moment_id: String,
    video_id: String,
    chunk_id: u32,
    /// When it begins, seconds of the video.
    start: f64,
    /// When it ends, seconds of the video.
    end: f64,
    timecode: String,
    /// Cosine similarity; null where nothing was searched for.
    #[oai(nullable, validator(minimum(value = "0"), maximum(value = "1")))]
    score: Option<f64>,
    /// BM25 score; present in modes `text` and `hybrid` where the words were found.
    #[oai(skip_serializing_if_is_none)]
    text_score: Option<f64>,
    /// Probability, measured against unrelated searches, that what was searched for is really here; absent
    /// without a search text.
    #[oai(skip_serializing_if_is_none, validator(minimum(value = "0"), maximum(value = "1")))]
    p_present: Option<f64>,
    /// The analyzers that found it, the surest first; present when all were searched.
    #[oai(skip_serializing_if_is_none)]
    found_by: Option<Vec<String>>,
    /// First 180 characters.
    #[oai(validator(max_length = 180))]
    snippet: String,
}

/// A hit at `detail=standard`.
#[derive(Object)]
pub(crate) struct StandardResult {
    /// Names it for `GET /moments/{moment_id}`, however the video is split later.
    moment_id: String,
    video_id: String,
    chunk_id: u32,
    /// When it begins, seconds of the video.
    start: f64,
    /// When it ends, seconds of the video.
    end: f64,
    timecode: String,
    /// Cosine similarity; null where nothing was searched for.
    #[oai(nullable, validator(minimum(value = "0"), maximum(value = "1")))]
    score: Option<f64>,
    /// BM25 score; present in modes `text` and `hybrid` where the words were found.
    #[oai(skip_serializing_if_is_none)]
    text_score: Option<f64>,
    /// Probability, measured against unrelated searches, that what was searched for is really here; absent
    /// without a search text.
    #[oai(skip_serializing_if_is_none, validator(minimum(value = "0"), maximum(value = "1")))]
    p_present: Option<f64>,
    /// The analyzers that found it, the surest first; present when all were searched.
    #[oai(skip_serializing_if_is_none)]
    found_by: Option<Vec<String>>,
    video_url: String,
    /// The instant when it begins, ISO 8601 in UTC; present where the video has `recorded_at`.
    #[oai(skip_serializing_if_is_none)]
    recorded_at: Option<String>,
    description: String,
    people: Vec<String>,
    objects: Vec<String>,
    actions: Vec<String>,
    tags: Vec<String>,
    speakers: Vec<String>,
    #[oai(nullable)]
    people_count: Option<u32>,
    turns: Vec<SpeakerTurn>,
}

/// A hit at `detail=full`.
#[derive(Object)]
struct FullResult {
    #[oai(flatten)]
    standard: StandardResult,
    /// The text that was embedded.
    text: String,
    persons: Vec<AnyObject>,
    detections: Vec<AnyObject>,
    texts: Vec<AnyObject>,
}

/// A stretch of one speaker's speech.
#[derive(Object)]
#[oai(rename = "Turn")]
pub(super) struct SpeakerTurn {
    speaker: String,
    /// When it begins, seconds of the video.
    start: f64,
    /// When it ends, seconds of the video.
    end: f64,
    text: String,
}

fn found_by_others(others: Vec<(String, f32)>) -> Option<Ordered<f64>> {
    let others: Vec<_> = others.into_iter().map(|(id, p)| (id, score(p))).collect();
    (!others.is_empty()).then_some(Ordered(others))
}

/// The shortest decimal that reads back as the same score, within 0..1.
fn score(score: f32) -> f64 {
    shortest(score).clamp(0.0, 1.0)
}

impl From<speech::SpeakerTurn> for SpeakerTurn {
    fn from(t: speech::SpeakerTurn) -> Self {
        Self { speaker: t.speaker, start: t.start, end: t.end, text: t.text }
    }
}

impl From<search::SearchResult> for MinimalResult {
    fn from(hit: search::SearchResult) -> Self {
        Self {
            moment_id: hit.moment_id.to_string(),
            video_id: hit.video_id.to_string(),
            chunk_id: hit.chunk_id.0,
            start: hit.document.start,
            end: hit.document.end,
            timecode: hit.timecode,
            score: Some(score(hit.score)),
            text_score: hit.text_score.map(shortest),
            p_present: Some(score(hit.p_present)),
            found_by: Some(hit.found_by).filter(|analyzers| !analyzers.is_empty()),
            snippet: hit.snippet,
        }
    }
}

impl From<search::SearchResult> for StandardResult {
    fn from(hit: search::SearchResult) -> Self {
        let document = hit.document;
        Self {
            moment_id: hit.moment_id.to_string(),
            video_id: hit.video_id.to_string(),
            chunk_id: hit.chunk_id.0,
            start: document.start,
            end: document.end,
            timecode: hit.timecode,
            score: Some(score(hit.score)),
            text_score: hit.text_score.map(shortest),
            p_present: Some(score(hit.p_present)),
            found_by: Some(hit.found_by).filter(|analyzers| !analyzers.is_empty()),
            video_url: hit.video_url,
            recorded_at: hit.recorded_at,
            description: document.description,
            people: document.people,
            objects: document.objects,
            actions: document.actions,
            tags: document.tags,
            speakers: document.speakers,
            people_count: document.people_count,
            turns: document.turns.into_iter().map(Into::into).collect(),
        }
    }
}

impl From<search::SearchResult> for FullResult {
    fn from(mut hit: search::SearchResult) -> Self {
        fn free<T: serde::Serialize>(records: Vec<T>) -> Vec<AnyObject> {
            records
                .into_iter()
                .map(|record| AnyObject::from_value(serde_json::json!(record)))
                .collect()
        }
        let text = std::mem::take(&mut hit.text);
        let document = &mut hit.document;
        let persons = free(std::mem::take(&mut document.persons));
        let detections = free(std::mem::take(&mut document.detections));
        let texts = free(std::mem::take(&mut document.texts));
        Self { standard: hit.into(), text, persons, detections, texts }
    }
}
