//! `POST /query`: search by meaning or by words, at three levels of detail.

use poem_openapi::{Object, OpenApi, Union};
use serde_json::Value;

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
    ALL_ANALYZERS, Detail, ExamplePicture, PageStart, ScoreKind, SearchRequest, SearchTarget,
    SearchedAnalyzers,
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
    /// Search text. Null if `like`, `image` or `order` is used instead.
    #[oai(nullable, validator(min_length = 1))]
    text: Option<String>,
    /// Id of a moment, given instead of `text`. Finds chunks that are similar to the chunk that
    /// overlaps the moment most. Similarity is measured by comparing vectors in `field`. Only the
    /// output of one analyzer is compared. If `analyzer` is `*`, this is the first analyzer that
    /// has output for the chunk, in the order visual content, people, speech, objects, on-screen
    /// text. With the field `visual`, pictures are compared; a moment without vectors of pictures is
    /// represented by its middle frame. The chunk itself is not returned. Results have a `score` but
    /// no `p_present`.
    like: Option<String>,
    /// Picture, given instead of `text`, as a data URL (`data:image/jpeg;base64,…`) of a JPEG, PNG or
    /// WebP. Finds chunks whose frames look like it. Only the field `visual` is compared. Results
    /// have a `score` but no `p_present`.
    image: Option<String>,
    /// The part of `image` to search for: `[x, y, width, height]`, in shares of its width and height
    /// (0..1).
    region: Option<Vec<f64>>,
    /// Sort order, given instead of `text`. `newest` lists all chunks that match the filters,
    /// newest video first and in chronological order within each video. The `score` of each result
    /// is null, and there is no `p_present`. `field` is ignored.
    order: Option<String>,
    /// Search mode. `vector`: by meaning. `text`: BM25 over speech, on-screen text and
    /// descriptions; quoted words are searched as a phrase. `hybrid`: both, merged by reciprocal
    /// rank fusion. Null: `vector` for one analyzer, `hybrid` for `*`.
    #[oai(nullable)]
    mode: Option<String>,
    /// Ids of the videos to search. Null: all videos.
    #[oai(nullable)]
    video_ids: Option<Vec<String>>,
    /// Id of the analyzer whose output is searched. `*` searches the output of all analyzers: hits
    /// on the same chunk are merged and ranked by `p_present`, and `found_by` lists the analyzers
    /// whose output matched. Default: `default_video`.
    #[oai(default = "analyzer")]
    analyzer: String,
    /// Vector field to search, one of the `vector_fields` in `GET /schema`. Default: `combined`.
    #[oai(default = "field")]
    field: String,
    /// Maximum number of results. Default: 5.
    #[oai(default = "limit", validator(minimum(value = "1"), maximum(value = "50")))]
    limit: u32,
    /// Minimum `score` of a hit, from 0 to 1, in every mode. `GET /schema` recommends a value for
    /// each field. Null: no minimum.
    #[oai(nullable)]
    score_threshold: Option<f64>,
    /// Minimum `p_present` of a hit, from 0 to 1. `p_present` is calibrated and comparable across
    /// fields and analyzers. Null: no minimum.
    #[oai(nullable, validator(minimum(value = "0"), maximum(value = "1")))]
    min_p_present: Option<f64>,
    /// Whether to re-rank hits with a model that reads the question and the text together.
    /// `p_present` is then the probability that a hit answers the question, not just that it has
    /// the same topic. Re-ranking takes a few milliseconds per sentence. It has no effect if the
    /// install has no reranker or the query has only a few words. Default: false.
    #[oai(default)]
    rerank: bool,
    /// Whether to generate an answer from the hits. Default: true.
    #[oai(default = "on")]
    synthesize: bool,
    /// Level of detail: `minimal`, `standard` or `full`. Default: `standard`.
    #[oai(default = "detail")]
    detail: String,
    /// Hard filters that must all match. A list of values matches if any one of them does; use
    /// `{"all": [...]}` instead of the list to require all of them (only for `objects`, `tags`,
    /// `speakers` and `people`).
    #[oai(default)]
    filters: AnyObject,
    /// Maximum number of tokens in all results together; the response contains only whole results,
    /// in order. Null: no limit.
    #[oai(nullable, validator(minimum(value = "1")))]
    max_tokens: Option<u32>,
    /// `next` from the previous response. A cursor from a different request is rejected with 400.
    #[oai(nullable)]
    cursor: Option<String>,
    /// Whether `next` leads to further pages beyond `limit`. A listing can be paged to its end, a
    /// search up to `search.page_window` results (500 by default). As long as the library does not
    /// change, no result is repeated or skipped. An answer is generated only for the first page.
    /// Default: false.
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
        let picture = ExamplePicture::from_request(r.image.as_deref(), r.region.as_deref())?;
        let (like, order) = (r.like.as_deref(), r.order.as_deref());
        Ok(Self {
            target: SearchTarget::parse(r.text, like, order, picture)?,
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
    /// The search text; empty if there is none.
    query: String,
    /// Id of the searched analyzer, or `*`.
    analyzer: String,
    /// The searched vector field.
    field: String,
    /// The level of detail.
    detail: String,
    /// The generated answer, with citations; null if `synthesize` is false or nothing matched.
    #[oai(nullable)]
    answer: Option<String>,
    /// Whether the query is answered; false if the answer only says that no moment answers it.
    /// Absent if there is no answer.
    #[oai(skip_serializing_if_is_none)]
    answered: Option<bool>,
    /// How well the cited moments support each sentence of the answer; absent if there is no
    /// answer.
    #[oai(skip_serializing_if_is_none)]
    audit: Option<Vec<AuditedSentenceBody>>,
    /// `TypeName: message` if generating the answer failed; the results are still valid.
    #[oai(skip_serializing_if_is_none)]
    answer_error: Option<String>,
    /// The results: best match first in a search, in the requested order in a listing.
    results: Vec<SearchResultBody>,
    /// Number of tokens in `results`; present if `max_tokens` is set.
    #[oai(skip_serializing_if_is_none)]
    tokens: Option<u32>,
    /// Name of the embedder whose tokenizer counted the tokens; present if `max_tokens` is set.
    #[oai(skip_serializing_if_is_none)]
    tokenizer: Option<String>,
    /// Cursor for the results that `max_tokens` cut off, or for the next page if `pages` is set.
    /// Absent if nothing is left.
    #[oai(skip_serializing_if_is_none)]
    next: Option<String>,
    /// Why there are no results; absent if there are any.
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
            field: request.searched_field().name().to_owned(),
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

/// A search hit at `detail=minimal`.
#[derive(Object)]
struct MinimalResult {
    /// Stable id of the moment, for `GET /moments/{moment_id}`.
    moment_id: String,
    /// Id of the video.
    video_id: String,
    /// Id of the chunk.
    chunk_id: u32,
    /// Start time, in seconds from the start of the video.
    start: f64,
    /// End time, in seconds from the start of the video.
    end: f64,
    /// Start and end as a timecode.
    timecode: String,
    /// Cosine similarity, from 0 to 1; null in a listing, which has no scores.
    #[oai(nullable, validator(minimum(value = "0"), maximum(value = "1")))]
    score: Option<f64>,
    /// BM25 score; present in the modes `text` and `hybrid` if words of the query match.
    #[oai(skip_serializing_if_is_none)]
    text_score: Option<f64>,
    /// Calibrated probability (0 to 1) that the chunk really contains what was searched for; absent
    /// if the request has no search text.
    #[oai(skip_serializing_if_is_none, validator(minimum(value = "0"), maximum(value = "1")))]
    p_present: Option<f64>,
    /// Ids of the analyzers whose output matched, most probable match first; present if the output
    /// of all analyzers was searched.
    #[oai(skip_serializing_if_is_none)]
    found_by: Option<Vec<String>>,
    /// First 180 characters of the text.
    #[oai(validator(max_length = 180))]
    snippet: String,
}

/// A search hit at `detail=full`.
#[derive(Object)]
struct FullResult {
    #[oai(flatten)]
    standard: StandardResult,
    /// The text that was embedded.
    text: String,
    /// People with their details, as stored by the analyzer.
    persons: Vec<AnyObject>,
    /// Detected objects with their details, as stored by the analyzer.
    detections: Vec<AnyObject>,
    /// On-screen texts with their details, as stored by the analyzer.
    texts: Vec<AnyObject>,
    /// Further lists of records, by name, as stored by analyzers that are not built in.
    #[oai(skip_serializing_if_is_none)]
    records: Option<AnyObject>,
}

impl From<search::SearchResult> for MinimalResult {
    fn from(hit: search::SearchResult) -> Self {
        Self {
            moment_id: hit.moment_id.to_string(),
            video_id: hit.video_id.to_string(),
            chunk_id: hit.chunk_id.0,
            start: hit.span.start,
            end: hit.span.end,
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
        let text = std::mem::take(&mut hit.text);
        let mut records = |name: &str| {
            hit.display.take_records(name).into_iter().map(AnyObject::from_value).collect()
        };
        let (persons, detections) = (records("persons"), records("detections"));
        let texts = records("texts");
        let turns = hit.display.records.remove_entry("turns");
        let others = std::mem::replace(&mut hit.display.records, turns.into_iter().collect());
        let others = (!others.is_empty()).then(|| AnyObject::from_value(Value::Object(others)));
        Self { standard: hit.into(), text, persons, detections, texts, records: others }
    }
}
