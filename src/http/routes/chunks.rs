//! `/videos/{video_id}/chunks`: stored analyzer output.

mod outputs;

use std::borrow::Cow;

use bytes::Bytes;
use poem::Request;
use poem_openapi::OpenApi;
use poem_openapi::param::{Path, Query};
use poem_openapi::registry::{MetaSchema, MetaSchemaRef, Registry};
use poem_openapi::types::Type;
use serde_json::{Value, json};

use crate::http::edge::auth::{CallerToken, Service};
use crate::http::wire::body::RawJson;
use crate::http::wire::budget::{BudgetUsage, ResponseBudget};
use crate::http::wire::errors::{ApiError, ById, ByIdChecked};
use crate::http::wire::failure::HttpFailure;
use crate::http::wire::params::{Bounded, ChunkIdParameter, FiniteNumber, Flag};
use crate::http::wire::values::AnyObject;
use domain::analysis::ANALYZERS;
use domain::kernel::token_budget::TokenCounter;
use domain::kernel::video::{ChunkId, parse_video_id};
use domain::library::chunks;
use domain::scoped::VisibleVideo;

/// The routes of this section.
pub(super) struct ChunksApi(pub(super) Service);

#[OpenApi]
impl ChunksApi {
    /// List chunks.
    ///
    /// Returns a video's stored analyzer output, filtered and paginated.
    #[expect(clippy::too_many_arguments, reason = "one argument per parameter of the contract")]
    #[oai(path = "/videos/:video_id/chunks", method = "get", operation_id = "chunks")]
    async fn chunks(
        &self,
        request: &Request,
        token: CallerToken,
        /// Id of the video.
        video_id: Path<String>,
        /// Id of the analyzer whose output is returned. Default: all analyzers.
        analyzer: Query<Option<String>>,
        /// Only chunks that end after this time, in seconds from the start of the video.
        after: Query<Option<FiniteNumber>>,
        /// Only chunks that start before this time, in seconds from the start of the video.
        before: Query<Option<FiniteNumber>>,
        /// Only chunks with these ids, given as comma-separated integers such as `2,4,7`.
        chunk_ids: Query<Option<String>>,
        /// Maximum number of chunks per page, from 1 to 500. Default: 50.
        #[oai(default = "fifty")]
        limit: Query<Bounded<1, 500>>,
        /// Number of chunks to skip. Default: 0.
        #[oai(default = "none")]
        offset: Query<Bounded<0, { u32::MAX }>>,
        /// Whether to include internal fields such as `locations`. Default: false.
        #[oai(default = "off")]
        verbose: Query<Flag>,
        /// Maximum number of tokens in all chunks of the page together; the response contains only
        /// whole chunks, in order. Default: no limit.
        max_tokens: Query<Option<Bounded<1, { u32::MAX }>>>,
        /// `next` from the previous page, if `max_tokens` truncated it.
        cursor: Query<Option<String>>,
    ) -> Result<RawJson<ChunkPageBody>, ApiError<ByIdChecked>> {
        let mut query = chunks::ChunkQuery {
            analyzer: analyzer.0,
            after: after.0.map(|after| after.0),
            before: before.0.map(|before| before.0),
            chunk_ids: chunk_ids.0,
            limit: limit.0.0,
            offset: offset.0.0,
            verbose: verbose.0.0,
        };
        let budget =
            ResponseBudget { max_tokens: max_tokens.0.map(|tokens| tokens.0), cursor: cursor.0 };
        let request_key = match budget.is_partial() {
            true => format!("{} {query:?}", video_id.0),
            false => String::new(),
        };
        let skipped = budget.skipped(&request_key)?;
        query.offset = query.offset.saturating_add(u32::try_from(skipped).unwrap_or(u32::MAX));
        let service = self.0.scoped(&token);
        let video = service.video(parse_video_id(&video_id)?).await?;
        // This is the cache key: for a given video, the response depends only on the query string.
        let name = request.uri().query().unwrap_or_default();
        let write = page_text(&video, service.tokens(), query, &budget, &request_key, skipped);
        Ok(RawJson::new(video.cached_response(name, write).await?))
    }

    /// Get a chunk.
    ///
    /// Returns the output of all analyzers for the chunk.
    #[oai(path = "/videos/:video_id/chunks/:chunk_id", method = "get", operation_id = "chunk")]
    async fn chunk(
        &self,
        token: CallerToken,
        /// Id of the video.
        video_id: Path<String>,
        /// Id of the chunk, counted from 0.
        chunk_id: Path<ChunkIdParameter>,
        /// Whether to include internal fields such as `locations`. Default: false.
        #[oai(default = "off")]
        verbose: Query<Flag>,
    ) -> Result<RawJson<Chunk>, ApiError<ById>> {
        let (service, video_id) = (self.0.scoped(&token), parse_video_id(&video_id)?);
        let chunk_id = chunk_id.0.0;
        let absent =
            |_| HttpFailure::not_found(format!("video '{video_id}' has no chunk {chunk_id}"));
        let chunk_id = ChunkId(u32::try_from(chunk_id).map_err(absent)?);
        let chunk = service.video(video_id).await?.chunk(chunk_id, verbose.0.0).await?;
        Ok(RawJson::new(chunk_json(&chunk)))
    }
}

/// Implements the schema of a type that exists only in the OpenAPI document.
macro_rules! document_type {
    ($name:ident, $schema_name:literal, |$registry:ident| $schema:expr) => {
        impl Type for $name {
            const IS_REQUIRED: bool = true;
            type RawValueType = Self;
            type RawElementValueType = Self;

            fn name() -> Cow<'static, str> {
                $schema_name.into()
            }

            fn schema_ref() -> MetaSchemaRef {
                MetaSchemaRef::Reference($schema_name.into())
            }

            fn register(registry: &mut Registry) {
                registry.create_schema::<Self, _>($schema_name.into(), |$registry| $schema);
            }

            fn as_raw_value(&self) -> Option<&Self> {
                Some(self)
            }

            fn raw_element_iter<'a>(&'a self) -> Box<dyn Iterator<Item = &'a Self> + 'a> {
                Box::new(std::iter::empty())
            }
        }
    };
}

fn fifty() -> Bounded<1, 500> {
    Bounded(50)
}

fn none() -> Bounded<0, { u32::MAX }> {
    Bounded(0)
}

fn off() -> Flag {
    Flag(false)
}

/// Returns the JSON text of a page with the chunks that match `query` and fit the budget. `skipped`
/// is the number of chunks in earlier responses.
async fn page_text(
    video: &VisibleVideo<'_>,
    tokens: &TokenCounter,
    query: chunks::ChunkQuery,
    budget: &ResponseBudget,
    request_key: &str,
    skipped: usize,
) -> Result<Bytes, ApiError<ByIdChecked>> {
    let page = video.chunks(query).await?;
    let chunks: Vec<String> = page.chunks.iter().map(chunk_json).collect();
    let left = page.total.saturating_sub(page.offset) as usize;
    let (fit, usage) = match budget.max_tokens {
        Some(_) => budget.fit(tokens, &chunks, request_key, skipped, left).await?,
        None => (chunks.len(), BudgetUsage::default()),
    };
    Ok(page_json(&page, &chunks[..fit], usage).into())
}

/// Serializes a page. Its chunks are already JSON text.
fn page_json(page: &chunks::ChunkPage, chunks: &[String], usage: BudgetUsage) -> String {
    let mut head = json!({
        "video_id": page.video_id,
        "analyzers": page.analyzers,
        "total": page.total,
        "offset": page.offset,
        "limit": page.limit,
    });
    if let (Some(tokens), Some(tokenizer)) = (usage.tokens, usage.tokenizer) {
        (head["tokens"], head["tokenizer"]) = (tokens.into(), tokenizer.into());
    }
    if let Some(next) = usage.next {
        head["next"] = next.into();
    }
    let capacity = chunks.iter().map(|chunk| chunk.len() + 1).sum::<usize>() + FRAMING_BYTES;
    let mut text = String::with_capacity(capacity);
    text.push_str(head.to_string().trim_end_matches('}'));
    text.push_str(",\"chunks\":[");
    text.push_str(&chunks.join(","));
    text.push_str("]}");
    text
}

/// Serializes a chunk. Its outputs are already JSON text.
fn chunk_json(chunk: &chunks::ChunkView) -> String {
    let head = json!({
        "chunk_id": chunk.chunk_id,
        "start": chunk.span.start,
        "end": chunk.span.end,
        "timecode": chunk.span.timecode(),
    });
    let capacity = chunk.outputs.values().map(|output| output.len() + FRAMING_BYTES).sum::<usize>()
        + FRAMING_BYTES;
    let mut text = String::with_capacity(capacity);
    text.push_str(head.to_string().trim_end_matches('}'));
    for (analyzer, output) in &chunk.outputs {
        text.push(',');
        text.push_str(&Value::from(analyzer.as_str()).to_string());
        text.push(':');
        text.push_str(output);
    }
    text.push('}');
    text
}

/// Approximate size of the JSON around an output, in bytes.
const FRAMING_BYTES: usize = 160;

/// The schema of a page of chunks. Pages are sent as text that is already serialized.
enum ChunkPageBody {}

document_type! {
    ChunkPageBody, "ChunkPage", |registry| {
        Chunk::register(registry);
        let properties = vec![
            ("video_id", described(String::schema_ref(), "Id of the video.")),
            ("analyzers", described(Vec::<String>::schema_ref(), "Ids of the analyzers that have output for the video.")),
            ("total", described(u32::schema_ref(), "Number of chunks that match the filters, on all pages.")),
            ("offset", described(u32::schema_ref(), "Number of chunks before this page.")),
            ("limit", described(u32::schema_ref(), "Maximum number of chunks per page.")),
            ("chunks", described(Vec::<Chunk>::schema_ref(), "The chunks of the page, in chronological order.")),
        ];
        let budget = [
            ("tokens", described(u32::schema_ref(), "Number of tokens in `chunks`; present if `max_tokens` is set.")),
            (
                "tokenizer",
                described(
                    String::schema_ref(),
                    "Name of the embedder whose tokenizer counted the tokens; present if `max_tokens` is set.",
                ),
            ),
            (
                "next",
                described(
                    String::schema_ref(),
                    "Cursor for the remaining chunks; present if `max_tokens` truncated the page.",
                ),
            ),
        ];
        MetaSchema {
            title: Some("ChunkPage".into()),
            required: properties.iter().map(|(name, _)| *name).collect(),
            properties: properties.into_iter().chain(budget).collect(),
            ..MetaSchema::new("object")
        }
    }
}

/// The schema of a chunk. Chunks are sent as text that is already serialized.
enum Chunk {}

document_type! {
    Chunk, "Chunk", |registry| {
        let mut properties = vec![
            ("chunk_id", described(u32::schema_ref(), "Id of the chunk, counted from 0.")),
            ("start", described(f64::schema_ref(), "Start time, in seconds from the start of the video.")),
            ("end", described(f64::schema_ref(), "End time, in seconds from the start of the video.")),
            ("timecode", described(String::schema_ref(), "Start and end as a timecode.")),
        ];
        outputs::register(registry);
        let built_in = ANALYZERS.iter().map(|analyzer| analyzer.spec());
        properties.extend(built_in.map(|spec| (spec.id, outputs::schema_ref(registry, &spec))));
        MetaSchema {
            description: Some("A chunk, with one field for each analyzer that has output for it."),
            required: vec!["chunk_id", "start", "end", "timecode"],
            properties,
            additional_properties: Some(Box::new(AnyObject::schema_ref())),
            ..MetaSchema::new("object")
        }
    }
}

/// Adds a description to a field's schema.
fn described(schema: MetaSchemaRef, description: &'static str) -> MetaSchemaRef {
    schema.merge(MetaSchema { description: Some(description), ..MetaSchema::ANY })
}
