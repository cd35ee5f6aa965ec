//! `POST /query`: vector search at three levels of detail.

use poem_openapi::{Object, OpenApi, Union};

use crate::http::edge::auth::{CallerToken, Service};
use crate::http::wire::answers::{AuditedSentenceBody, audited_sentences};
use crate::http::wire::body::Json;
use crate::http::wire::budget::ResponseBudget;
use crate::http::wire::errors::{ApiError, Search};
use crate::http::wire::hits::{DiagnosticsBody, StandardResult, analyzer, field, limit, score};
use crate::http::wire::values::{AnyObject, shortest};
use domain::answering::query;
use domain::search;
use domain::search::{
    ALL_ANALYZERS, Detail, PageStart, ScoreKind, SearchRequest, SearchTarget, SearchedAnalyzers,
};

/// The routes of this section.
pub(super) struct QueryApi(pub(super) Service);

#[OpenApi]
impl QueryApi {
    /// Search.
    ///
    /// Searches by meaning, by words or both, with an optional generated answer.
    #[oai(path = "/query", method = "post", operation_id = "query")]
    async fn query(
        &self,
        token: CallerToken,
        Json(request): Json<QueryRequest>,
    ) -> Result<Json<QueryResponseBody>, ApiError<Search>> {
        let budget =
            ResponseBudget { max_tokens: request.max_tokens, cursor: request.cursor.clone() };
        let pages = request.pages;
        let (detail, synthesize) = (request.detail.parse::<Detail>()?, request.synthesize);
        let mut search = SearchRequest::try_from(request)?;
        let request_key = match pages || budget.is_partial() {
            true => format!("{pages} {synthesize} {detail:?} {search:?}"),
            false => String::new(),
        };
        let service = self.0.scoped(&token);
        if pages {
            search.page = budget.position(&request_key)?;
        }
        let mut found = service.query(&search, synthesize).await?;
        let places = (std::mem::take(&mut found.page.next_pages), found.page.more);
        let mut response = QueryResponseBody::new(&search, detail, found);
        let (results, usage) = match pages {
            true => {
                budget.fit_page(service.tokens(), response.results, places, &request_key).await?
            }
            false => budget.fit_items(service.tokens(), response.results, &request_key).await?,
        };
        (response.tokens, response.tokenizer) = (usage.tokens, usage.tokenizer);
        (response.results, response.next) = (results, usage.next);
        Ok(Json(response))
    }
}

#[derive(Object)]
struct QueryRequest {
    /// Search query. Null if `like` or `order` replaces it.
    #[oai(nullable, validator(min_length = 1))]
    text: Option<String>,
    /// Id of a moment, instead of `text`: finds chunks similar to the chunk that overlaps it most, by that
    /// chunk's vector in `field`. Compares the output of one analyzer: the given one, or with `*` the first
    /// that has output there, in the order visual content, people, speech, objects, on-screen text. The
    /// chunk itself is not returned. Results have a `score` and no `p_present`.
    like: Option<String>,
    /// Sort order, instead of `text`: `newest` lists everything that the filters match, the last ingested
    /// video first and each video from its beginning. Results have a null `score` and no `p_present`;
    /// `field` is ignored.
    order: Option<String>,
    /// Search mode. `vector`: by meaning. `text`: BM25 over speech, on-screen text and descriptions; quoted
    /// words are a phrase. `hybrid`: both, merged by reciprocal rank fusion. Null: `vector` for one
    /// analyzer, `hybrid` for `*`.
    #[oai(nullable)]
    mode: Option<String>,
    /// Ids of the videos to search. Null: all videos.
    #[oai(nullable)]
    video_ids: Option<Vec<String>>,
    /// Analyzer whose output is searched. `*` searches all: hits of the same chunk are merged and ranked by
    /// `p_present`, and `found_by` lists the analyzers. Default: `default_video`.
    #[oai(default = "analyzer")]
    analyzer: String,
    /// Vector field to search, one of `vector_fields` of `GET /schema`. Default: `combined`.
    #[oai(default = "field")]
    field: String,
    /// Maximum results. Default: 5.
    #[oai(default = "limit", validator(minimum(value = "1"), maximum(value = "50")))]
    limit: u32,
    /// Drops hits with a lower `score` (0 to 1), in every mode. `GET /schema` recommends a value per field.
    /// Null: none.
    #[oai(nullable)]
    score_threshold: Option<f64>,
    /// Drops hits with a lower `p_present` (0 to 1), which is calibrated and comparable across fields and
    /// analyzers. Null: none.
    #[oai(nullable, validator(minimum(value = "0"), maximum(value = "1")))]
    min_p_present: Option<f64>,
    /// Re-rank hits with a model that reads question and text together: `p_present` is then the probability
    /// that a hit answers the question rather than that it has the same topic. Takes a few milliseconds per
    /// sentence. Has no effect without a `reranker` (see `GET /health`) and on queries of a few words.
    /// Default: false.
    #[oai(default)]
    rerank: bool,
    /// Generate an answer from the hits. Default: true.
    #[oai(default = "on")]
    synthesize: bool,
    /// Level of detail: `minimal`, `standard` or `full`. Default: `standard`.
    #[oai(default = "detail")]
    detail: String,
    /// Hard filters that must all match. For a list of values, any one matches; `{"all": [...]}` instead of
    /// the list requires all of them (`objects`, `tags`, `speakers`, `people`).
    #[oai(default)]
    filters: AnyObject,
    /// Maximum tokens of the results together; the response contains whole results, best first. Null: no
    /// limit.
    #[oai(nullable, validator(minimum(value = "1")))]
    max_tokens: Option<u32>,
    /// `next` of the previous response. A cursor of another request is rejected with 400.
    #[oai(nullable)]
    cursor: Option<String>,
    /// Whether `next` continues past `limit` to further pages: all results of a listing, and the first
    /// `search.page_window` (500) of a search. As long as the library does not change, no result is
    /// repeated or skipped. An answer is generated only with the first page. Default: false.
    #[oai(default)]
    pages: bool,
}

fn on() -> bool {
    true
}

fn detail() -> String {
    "standard".into()
}

impl TryFrom<QueryRequest> for SearchRequest {
    type Error = domain::Error;

    fn try_from(r: QueryRequest) -> domain::Result<Self> {
        Ok(Self {
            target: SearchTarget::parse(r.text, r.like.as_deref(), r.order.as_deref())?,
            analyzers: r.analyzer.into(),
            field: r.field.parse()?,
            mode: r.mode.as_deref().map(str::parse).transpose()?,
            video_ids: r.video_ids,
            filters: r.filters.0,
            limit: r.limit,
            score_threshold: r.score_threshold.map(|threshold| threshold as f32),
            min_p_present: r.min_p_present.map(|min| min as f32),
            rerank: r.rerank,
            page: PageStart::First,
        })
    }
}

#[derive(Object)]
#[oai(rename = "QueryResponse")]
struct QueryResponseBody {
    /// The search query; empty without one.
    query: String,
    /// The searched analyzer.
    analyzer: String,
    /// The searched vector field.
    field: String,
    /// The level of detail.
    detail: String,
    /// The generated answer, with citations; null if `synthesize` is false or nothing matched.
    #[oai(nullable)]
    answer: Option<String>,
    /// Whether the answer answers the query; false if it only says that the footage does not show it.
    /// Absent without an answer.
    #[oai(skip_serializing_if_is_none)]
    answered: Option<bool>,
    /// How well the cited moments support each sentence of the answer; absent without an answer.
    #[oai(skip_serializing_if_is_none)]
    audit: Option<Vec<AuditedSentenceBody>>,
    /// `TypeName: message` if generating the answer failed; the results are still valid.
    #[oai(skip_serializing_if_is_none)]
    answer_error: Option<String>,
    /// The results, best first.
    results: Vec<SearchResultBody>,
    /// Tokens of `results`; present with `max_tokens`.
    #[oai(skip_serializing_if_is_none)]
    tokens: Option<u32>,
    /// Name of the embedder whose tokenizer counted the tokens; present with `max_tokens`.
    #[oai(skip_serializing_if_is_none)]
    tokenizer: Option<String>,
    /// Cursor of the remaining results, if `max_tokens` truncated them; with `pages`, of the next page.
    /// Absent if nothing is left.
    #[oai(skip_serializing_if_is_none)]
    next: Option<String>,
    /// Why there are no results; absent otherwise.
    #[oai(skip_serializing_if_is_none)]
    diagnostics: Option<DiagnosticsBody>,
}

impl QueryResponseBody {
    fn new(request: &SearchRequest, detail: Detail, found: query::QueryResponse) -> Self {
        let of_all = request.analyzers == SearchedAnalyzers::All;
        let score_kind = found.page.score_kind;
        let result = |mut hit: search::SearchResult| {
            if !of_all {
                hit.found_by.clear();
            }
            SearchResultBody::new(hit, detail, score_kind)
        };
        Self {
            query: request.target.search_text().to_owned(),
            analyzer: request.analyzers.id().unwrap_or(ALL_ANALYZERS).to_owned(),
            field: request.field.name().to_owned(),
            detail: detail.name().into(),
            answer: found.answer,
            audit: audited_sentences(found.audit),
            answered: found.answered,
            answer_error: found.answer_error,
            results: found.page.results.into_iter().map(result).collect(),
            tokens: None,
            tokenizer: None,
            next: None,
            diagnostics: found.page.diagnostics.map(Into::into),
        }
    }
}

#[derive(Union)]
#[oai(one_of)]
#[oai(rename = "SearchResult")]
enum SearchResultBody {
    Minimal(MinimalResult),
    Standard(StandardResult),
    Full(FullResult),
}

impl SearchResultBody {
    fn new(hit: search::SearchResult, detail: Detail, score_kind: ScoreKind) -> Self {
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
        if score_kind == ScoreKind::Unscored {
            *score = None;
        }
        if score_kind != ScoreKind::Text {
            *p_present = None;
        }
        result
    }
}

/// A hit at `detail=minimal`.
#[derive(Object)]
struct MinimalResult {
    /// Stable id of the moment, for `GET /moments/{moment_id}`.
    moment_id: String,
    /// Id of the video.
    video_id: String,
    /// Id of the chunk.
    chunk_id: u32,
    /// Start, seconds of the video.
    start: f64,
    /// End, seconds of the video.
    end: f64,
    /// Start and end as a timecode.
    timecode: String,
    /// Cosine similarity, 0 to 1; null if nothing was searched for.
    #[oai(nullable, validator(minimum(value = "0"), maximum(value = "1")))]
    score: Option<f64>,
    /// BM25 score; present in modes `text` and `hybrid` if the words match.
    #[oai(skip_serializing_if_is_none)]
    text_score: Option<f64>,
    /// Calibrated probability that the match is really there, 0 to 1; absent without a search text.
    #[oai(skip_serializing_if_is_none, validator(minimum(value = "0"), maximum(value = "1")))]
    p_present: Option<f64>,
    /// Ids of the analyzers that matched, most certain first; present if all analyzers were searched.
    #[oai(skip_serializing_if_is_none)]
    found_by: Option<Vec<String>>,
    /// First 180 characters of the text.
    #[oai(validator(max_length = 180))]
    snippet: String,
}

/// A hit at `detail=full`.
#[derive(Object)]
struct FullResult {
    #[oai(flatten)]
    standard: StandardResult,
    /// The embedded text.
    text: String,
    /// People with their details, as stored by the analyzer.
    persons: Vec<AnyObject>,
    /// Detected objects with their details, as stored by the analyzer.
    detections: Vec<AnyObject>,
    /// On-screen texts with their details, as stored by the analyzer.
    texts: Vec<AnyObject>,
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
