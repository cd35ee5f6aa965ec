//! `POST /ask`: question answering over aggregates and segments.

use std::borrow::Cow;

use futures::{StreamExt, stream};
use poem::http::{HeaderMap, HeaderValue};
use poem_openapi::registry::{MetaSchema, MetaSchemaRef, Registry};
use poem_openapi::types::{ParseError, ParseFromJSON, ParseResult, ToJSON, Type};
use poem_openapi::{ApiResponse, Object, OpenApi, ResponseContent};
use serde_json::{Map, Value, json};

use crate::http::edge::auth::{CallerToken, Service};
use crate::http::wire::answers::{AUTO_ANALYZER, AuditedSentenceBody, audited_sentences};
use crate::http::wire::body::Json;
use crate::http::wire::errors::{ApiError, Search};
use crate::http::wire::events::EventStream;
use crate::http::wire::hits::StandardResult;
use crate::http::wire::values::{AnyObject, OrderedMap};
use domain::answering::ask;
use domain::answering::ask::AskEvent;
use domain::kernel::error::Error;
use domain::search::SearchResult;

/// The routes of this section.
pub(super) struct AskApi(pub(super) Service);

#[OpenApi]
impl AskApi {
    /// Ask a question.
    ///
    /// Answers a question from the aggregates and segments of videos, with citations.
    ///
    /// With `Accept: text/event-stream`, the response is a stream of server-sent events: `moments`
    /// with the `results`; `piece` with a fragment of the answer as `text`, before its audit (if
    /// `begins` is true, discard earlier fragments); `sentence` for each sentence of the final
    /// answer, as in `audit`; and `answer` with the complete JSON response. Errors before `moments`
    /// are returned with an error status code; later errors end the stream with an `error` event
    /// that has a `detail`.
    #[oai(path = "/ask", method = "post", operation_id = "ask")]
    async fn ask(
        &self,
        token: CallerToken,
        headers: &HeaderMap,
        Json(request): Json<AskRequest>,
    ) -> Result<AskOutcome, ApiError<Search>> {
        let service = self.0.scoped(&token);
        let streams = |value: &HeaderValue| {
            value.to_str().is_ok_and(|accept| accept.contains("text/event-stream"))
        };
        if !headers.get_all("accept").iter().any(streams) {
            return Ok(AskOutcome::Ok(AskBody::Json(Json(
                service.ask(request.into()).await?.into(),
            ))));
        }
        let mut events = service.ask_stream(request.into());
        let first = events.next().await.transpose()?;
        let events = stream::iter(first.map(Ok)).chain(events);
        Ok(AskOutcome::Ok(AskBody::Events(EventStream(events.map(event).boxed()))))
    }
}

#[derive(ApiResponse)]
enum AskOutcome {
    #[oai(status = 200)]
    Ok(AskBody),
}

#[derive(ResponseContent)]
enum AskBody {
    Json(Json<AskResponseBody>),
    Events(EventStream<Value>),
}

/// Returns the name and the data of an event.
fn event(event: Result<AskEvent, Error>) -> (&'static str, Value) {
    let (name, data) = match event {
        Ok(AskEvent::Moments(hits)) => {
            ("moments", Some(json!({"results": standard_results(hits).to_json()})))
        }
        Ok(AskEvent::Piece { text, begins }) => {
            ("piece", Some(json!({"text": text, "begins": begins})))
        }
        Ok(AskEvent::Sentence(sentence)) => {
            ("sentence", AuditedSentenceBody::from(sentence).to_json())
        }
        Ok(AskEvent::Answer(answer)) => ("answer", AskResponseBody::from(*answer).to_json()),
        Err(error) => ("error", Some(json!({"detail": error.labelled()}))),
    };
    (name, data.unwrap_or_default())
}

/// Converts hits to results without `found_by`, because only one analyzer is used per video.
fn standard_results(hits: Vec<SearchResult>) -> Vec<StandardResult> {
    let without = |mut hit: SearchResult| {
        hit.found_by.clear();
        hit.into()
    };
    hits.into_iter().map(without).collect()
}

#[derive(Object)]
pub(crate) struct AskRequest {
    /// The question.
    #[oai(validator(min_length = 1))]
    question: String,
    /// Ids of the videos to use. Null: all videos.
    #[oai(nullable)]
    video_ids: Option<Vec<String>>,
    /// Id of the analyzer whose output is retrieved as evidence. Null or `auto`: an analyzer is
    /// chosen for each video.
    #[oai(nullable)]
    analyzer: Option<String>,
    /// Maximum number of supporting segments per video.
    #[oai(default = "limit", validator(minimum(value = "1"), maximum(value = "20")))]
    limit: u32,
    /// Minimum `p_present` of segments in results and evidence, from 0 to 1. Null: no minimum.
    #[oai(nullable, validator(minimum(value = "0"), maximum(value = "1")))]
    min_p_present: Option<f64>,
    /// Hard filters that must all match, as in `/query`.
    #[oai(default)]
    filters: AnyObject,
    /// Ids of the moments to answer from. For a follow-up question, set the moments that an earlier
    /// answer cites. If set, aggregates are not used. Null: the service retrieves the best evidence
    /// for the question.
    #[oai(nullable, validator(min_items = 1, max_items = 100))]
    moment_ids: Option<Vec<String>>,
}

fn limit() -> u32 {
    ask::DEFAULT_LIMIT
}

#[derive(Object)]
#[oai(rename = "AskResponse")]
pub(crate) struct AskResponseBody {
    /// The question.
    question: String,
    /// The answer, with citations; null if none was generated.
    #[oai(nullable)]
    answer: Option<String>,
    /// Whether the question is answered; false if the answer only says that no moment answers it.
    /// Absent if there is no answer.
    #[oai(skip_serializing_if_is_none)]
    answered: Option<bool>,
    /// How well the cited moments support each sentence of the answer; absent if there is no
    /// answer.
    #[oai(skip_serializing_if_is_none)]
    audit: Option<Vec<AuditedSentenceBody>>,
    /// `TypeName: message` if generating the answer failed; sources and results are still valid.
    #[oai(skip_serializing_if_is_none)]
    answer_error: Option<String>,
    /// What each video contributed to the answer, by video id.
    sources: OrderedMap<SourcesBody>,
    /// Supporting moments, best match first.
    pub(crate) results: Vec<StandardResult>,
    /// Why nothing was found; present only if there are no sources.
    #[oai(skip_serializing_if_is_none)]
    error: Option<String>,
}

impl From<AskRequest> for ask::Question {
    fn from(r: AskRequest) -> Self {
        Self {
            question: r.question,
            video_ids: r.video_ids,
            analyzer: r.analyzer.filter(|id| id != AUTO_ANALYZER),
            limit: r.limit,
            min_p_present: r.min_p_present.map(|min| min as f32),
            filters: r.filters.0,
            moment_ids: r.moment_ids,
        }
    }
}

impl From<ask::AskResponse> for AskResponseBody {
    fn from(r: ask::AskResponse) -> Self {
        let sources =
            r.sources.into_iter().map(|(id, sources)| (id.to_string(), SourcesBody(sources)));
        Self {
            question: r.question,
            answer: r.answer,
            answered: r.answered,
            audit: audited_sentences(r.audit),
            answer_error: r.answer_error,
            sources: OrderedMap(sources.collect()),
            results: standard_results(r.results),
            error: r.error,
        }
    }
}

/// What one video contributed to an answer.
struct SourcesBody(ask::AnswerSources);

impl Type for SourcesBody {
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
                "The consulted aggregators, and the number of elements used from each source.",
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

impl ToJSON for SourcesBody {
    fn to_json(&self) -> Option<Value> {
        let mut object = Map::new();
        object.insert("routed_to".into(), json!(self.0.routed_to));
        object.extend(self.0.counts.iter().map(|(source, count)| (source.clone(), json!(count))));
        Some(Value::Object(object))
    }
}

impl ParseFromJSON for SourcesBody {
    fn parse_from_json(_: Option<Value>) -> ParseResult<Self> {
        Err(ParseError::custom("sources are sent, never received"))
    }
}
