//! `POST /ask`: question answering over aggregates and segments.

use std::borrow::Cow;

use futures::{StreamExt, stream};
use poem::http::{HeaderMap, HeaderValue};
use poem_openapi::registry::{MetaSchema, MetaSchemaRef, Registry};
use poem_openapi::types::{ParseError, ParseFromJSON, ParseResult, ToJSON, Type};
use poem_openapi::{ApiResponse, Enum, Object, OpenApi, ResponseContent};
use serde_json::{Map, Value, json};

use super::auth::{Service, Token};
use super::body::Json;
use super::errors::{ApiError, Search};
use super::events::Events;
use super::query::StandardResult;
use super::values::{AnyObject, Ordered};
use crate::domain::answering::ask::AskEvent;
use crate::domain::answering::{ask, audit};
use crate::domain::kernel::error::Error;
use crate::domain::kernel::verdict;
use crate::domain::search::SearchResult;

/// The routes of this section.
pub(super) struct AskApi(pub(super) Service);

#[OpenApi]
impl AskApi {
    /// Question answering using aggregates and segments.
    ///
    /// Whoever accepts `text/event-stream` is told as it becomes known: `moments` with the `results`,
    /// `piece` with the `text` that a language model is writing, which nobody has checked yet (what was written
    /// before is void where it `begins`), `sentence` for each that stands in the answer, as in `audit`, and `answer` with all that comes as
    /// JSON else. What fails before the moments are known has its status; after that an event `error` with
    /// its `detail` ends the stream.
    #[oai(path = "/ask", method = "post", operation_id = "ask")]
    async fn ask(
        &self,
        token: Token,
        headers: &HeaderMap,
        Json(request): Json<AskRequest>,
    ) -> Result<Asked, ApiError<Search>> {
        let service = self.0.of(&token);
        let streams = |value: &HeaderValue| {
            value.to_str().is_ok_and(|accept| accept.contains("text/event-stream"))
        };
        if !headers.get_all("accept").iter().any(streams) {
            return Ok(Asked::Ok(Reply::Whole(Json(service.ask(request.into()).await?.into()))));
        }
        let mut told = service.ask_told(request.into());
        let first = told.next().await.transpose()?;
        let told = stream::iter(first.map(Ok)).chain(told);
        Ok(Asked::Ok(Reply::Told(Events(told.map(event).boxed()))))
    }
}

#[derive(ApiResponse)]
enum Asked {
    #[oai(status = 200)]
    Ok(Reply),
}

#[derive(ResponseContent)]
enum Reply {
    Whole(Json<AskResponse>),
    Told(Events<Value>),
}

/// The name of an event and its data.
fn event(told: Result<AskEvent, Error>) -> (&'static str, Value) {
    let (name, data) = match told {
        Ok(AskEvent::Moments(hits)) => {
            ("moments", Some(json!({"results": standard(hits).to_json()})))
        }
        Ok(AskEvent::Piece { text, begins }) => {
            ("piece", Some(json!({"text": text, "begins": begins})))
        }
        Ok(AskEvent::Sentence(sentence)) => ("sentence", AuditedSentence::from(sentence).to_json()),
        Ok(AskEvent::Answer(answer)) => ("answer", AskResponse::from(*answer).to_json()),
        Err(error) => ("error", Some(json!({"detail": error.labelled()}))),
    };
    (name, data.unwrap_or_default())
}

/// The analyzer is one and the same for all of a video's.
fn standard(hits: Vec<SearchResult>) -> Vec<StandardResult> {
    let without = |mut hit: SearchResult| {
        hit.found_by.clear();
        hit.into()
    };
    hits.into_iter().map(without).collect()
}

#[derive(Object)]
pub(crate) struct AskRequest {
    #[oai(validator(min_length = 1))]
    question: String,
    /// Null uses every ingested video.
    #[oai(nullable)]
    video_ids: Option<Vec<String>>,
    /// Analyzer whose chunks are retrieved as evidence; chosen per video when null or `auto`.
    #[oai(nullable)]
    analyzer: Option<String>,
    /// Supporting segments per video.
    #[oai(default = "limit", validator(minimum(value = "1"), maximum(value = "20")))]
    limit: u32,
    /// Segments with a lower `p_present` are left out of results and evidence.
    #[oai(nullable, validator(minimum(value = "0"), maximum(value = "1")))]
    min_p_present: Option<f64>,
    /// Hard conditions that must all hold, as those of `/query`.
    #[oai(default)]
    filters: AnyObject,
    /// Only these moments are read, of whichever videos: what was cited before, for a question about the same.
    /// What is told of whole videos is then left out. Null reads what fits best.
    #[oai(nullable, validator(min_items = 1, max_items = 100))]
    moment_ids: Option<Vec<String>>,
}

/// As `analyzer`, the same as null.
pub(super) const CHOSEN_PER_VIDEO: &str = "auto";

fn limit() -> u32 {
    ask::SEGMENTS
}

#[derive(Object)]
pub(crate) struct AskResponse {
    question: String,
    #[oai(nullable)]
    answer: Option<String>,
    /// Whether that answers the question; false where it only says that the footage does not show it.
    /// Absent without an answer.
    #[oai(skip_serializing_if_is_none)]
    answered: Option<bool>,
    /// How far the cited moments bear out each sentence of the answer; absent without an answer.
    #[oai(skip_serializing_if_is_none)]
    audit: Option<Vec<AuditedSentence>>,
    /// `TypeName: message` when writing the answer failed; sources and results stand.
    #[oai(skip_serializing_if_is_none)]
    answer_error: Option<String>,
    /// By video id.
    sources: Ordered<Sources>,
    pub(crate) results: Vec<StandardResult>,
    /// Why there is nothing; present in the empty cases only.
    #[oai(skip_serializing_if_is_none)]
    error: Option<String>,
}

/// A sentence of an answer, checked against the moments it cites: by its numbers, names and words, and
/// by meaning.
#[derive(Object)]
pub(super) struct AuditedSentence {
    /// Without its citations.
    sentence: String,
    /// As in the answer.
    citations: Vec<String>,
    /// What they cite, in their order, as `GET /moments/{moment_id}` takes it.
    moments: Vec<String>,
    /// A sentence that is `unsupported` is not in the answer.
    verdict: Verdict,
}

#[derive(Enum)]
#[oai(rename_all = "lowercase")]
enum Verdict {
    Supported,
    Weak,
    Unsupported,
}

impl From<audit::AuditedSentence> for AuditedSentence {
    fn from(s: audit::AuditedSentence) -> Self {
        let verdict = match s.verdict {
            verdict::Verdict::Supported => Verdict::Supported,
            verdict::Verdict::Weak => Verdict::Weak,
            verdict::Verdict::Unsupported => Verdict::Unsupported,
        };
        let moments = s.moments.iter().map(ToString::to_string).collect();
        Self { sentence: s.sentence, citations: s.citations, moments, verdict }
    }
}

/// Nothing where there is no answer.
pub(super) fn checked(audit: Vec<audit::AuditedSentence>) -> Option<Vec<AuditedSentence>> {
    (!audit.is_empty()).then(|| audit.into_iter().map(Into::into).collect())
}

impl From<AskRequest> for ask::Question {
    fn from(r: AskRequest) -> Self {
        Self {
            question: r.question,
            video_ids: r.video_ids,
            analyzer: r.analyzer.filter(|id| id != CHOSEN_PER_VIDEO),
            limit: r.limit,
            min_p_present: r.min_p_present.map(|least| least as f32),
            filters: r.filters.0,
            moment_ids: r.moment_ids,
        }
    }
}

impl From<ask::AskResponse> for AskResponse {
    fn from(r: ask::AskResponse) -> Self {
        let sources = r.sources.into_iter().map(|(id, sources)| (id.to_string(), Sources(sources)));
        Self {
            question: r.question,
            answer: r.answer,
            answered: r.answered,
            audit: checked(r.audit),
            answer_error: r.answer_error,
            sources: Ordered(sources.collect()),
            results: standard(r.results),
            error: r.error,
        }
    }
}

/// What one video gave to an answer.
struct Sources(ask::Sources);

impl Type for Sources {
    const IS_REQUIRED: bool = true;
    type RawValueType = Self;
    type RawElementValueType = Self;

    fn name() -> Cow<'static, str> {
        "Sources".into()
    }

    fn schema_ref() -> MetaSchemaRef {
        MetaSchemaRef::Reference("Sources".into())
    }

    fn register(registry: &mut Registry) {
        registry.create_schema::<Self, _>("Sources".into(), |_| MetaSchema {
            description: Some(
                "Aggregators consulted, and how many elements of each source were used.",
            ),
            required: vec!["routed_to"],
            properties: vec![("routed_to", Vec::<String>::schema_ref())],
            additional_properties: Some(Box::new(u32::schema_ref())),
            ..MetaSchema::new("object")
        });
    }

    fn as_raw_value(&self) -> Option<&Self> {
        Some(self)
    }

    fn raw_element_iter<'a>(&'a self) -> Box<dyn Iterator<Item = &'a Self> + 'a> {
        Box::new(std::iter::empty())
    }
}

impl ToJSON for Sources {
    fn to_json(&self) -> Option<Value> {
        let mut object = Map::new();
        object.insert("routed_to".into(), json!(self.0.routed_to));
        object.extend(self.0.counts.iter().map(|(source, count)| (source.clone(), json!(count))));
        Some(Value::Object(object))
    }
}

impl ParseFromJSON for Sources {
    fn parse_from_json(_: Option<Value>) -> ParseResult<Self> {
        Err(ParseError::custom("sources are sent, never received"))
    }
}
