//! `/videos/{video_id}/chunks`: stored analyzer output.

use std::borrow::Cow;

use poem::Request;
use poem_openapi::param::{Path, Query};
use poem_openapi::registry::{MetaSchema, MetaSchemaRef, Registry};
use poem_openapi::types::Type;
use poem_openapi::{Object, OpenApi};
use serde_json::{Value, json};

use super::auth::{Service, Token};
use super::body::Written;
use super::budget::{Spent, Wanted};
use super::errors::{ApiError, ByIdNamed, Failure, OfOne};
use super::params::{Bounded, ChunkIdParameter, Flag, Number};
use super::query::SpeakerTurn;
use super::values::AnyObject;
use crate::domain::catalog::chunks;
use crate::domain::kernel::video::{ChunkId, video_named};

/// The routes of this section.
pub(super) struct ChunksApi(pub(super) Service);

#[OpenApi]
impl ChunksApi {
    /// Stored analyzer output, filtered and paged.
    #[expect(clippy::too_many_arguments, reason = "one argument per parameter of the contract")]
    #[oai(path = "/videos/:video_id/chunks", method = "get", operation_id = "chunks")]
    async fn chunks(
        &self,
        request: &Request,
        token: Token,
        video_id: Path<String>,
        /// Restrict to one analyzer's output.
        analyzer: Query<Option<String>>,
        /// Keep chunks ending after this second.
        after: Query<Option<Number>>,
        /// Keep chunks starting before this second.
        before: Query<Option<Number>>,
        /// Comma-separated integers such as `2,4,7`.
        chunk_ids: Query<Option<String>>,
        /// Page size.
        #[oai(default = "fifty")]
        limit: Query<Bounded<1, 500>>,
        /// Chunks to skip.
        #[oai(default = "none")]
        offset: Query<Bounded<0, { u32::MAX }>>,
        /// Include internal keys.
        #[oai(default = "off")]
        verbose: Query<Flag>,
        /// Most tokens of the page's chunks together, whole ones, in their order.
        max_tokens: Query<Option<Bounded<1, { u32::MAX }>>>,
        /// `next` of the page before, which was cut by `max_tokens`.
        cursor: Query<Option<String>>,
    ) -> Result<Written<ChunkPage>, ApiError<ByIdNamed>> {
        let mut query = chunks::ChunkQuery {
            analyzer: analyzer.0,
            after: after.0.map(|after| after.0),
            before: before.0.map(|before| before.0),
            chunk_ids: chunk_ids.0,
            limit: limit.0.0,
            offset: offset.0.0,
            verbose: verbose.0.0,
        };
        let wanted = Wanted { max_tokens: max_tokens.0.map(|most| most.0), cursor: cursor.0 };
        let named = match wanted.is_part() {
            true => format!("{} {query:?}", video_id.0),
            false => String::new(),
        };
        let skipped = wanted.skipped(&named)?;
        query.offset = query.offset.saturating_add(u32::try_from(skipped).unwrap_or(u32::MAX));
        let service = self.0.of(&token);
        let video_id = video_named(&video_id)?;
        // All that the answer depends on.
        let name = request.uri().query().unwrap_or_default();
        let write = async {
            let page = service.chunks(video_id, query).await?;
            let chunks: Vec<String> = page.chunks.iter().map(written_chunk).collect();
            let left = page.total.saturating_sub(page.offset) as usize;
            let (fit, spent) = match wanted.max_tokens {
                Some(_) => wanted.fit(service.tokens(), &chunks, &named, skipped, left).await?,
                None => (chunks.len(), Spent::default()),
            };
            Ok::<_, ApiError<ByIdNamed>>(written_page(&page, &chunks[..fit], spent).into())
        };
        Ok(Written::new(service.written(video_id, name, write).await?))
    }

    /// One chunk, all analyzers merged.
    #[oai(path = "/videos/:video_id/chunks/:chunk_id", method = "get", operation_id = "chunk")]
    async fn chunk(
        &self,
        token: Token,
        video_id: Path<String>,
        chunk_id: Path<ChunkIdParameter>,
        /// Include internal keys.
        #[oai(default = "off")]
        verbose: Query<Flag>,
    ) -> Result<Written<Chunk>, ApiError<OfOne>> {
        let (service, video_id) = (self.0.of(&token), video_named(&video_id)?);
        let chunk_id = chunk_id.0.0;
        let absent = |_| Failure::not_found(format!("video '{video_id}' has no chunk {chunk_id}"));
        let chunk_id = ChunkId(u32::try_from(chunk_id).map_err(absent)?);
        let chunk = service.chunk(video_id, chunk_id, verbose.0.0).await?;
        Ok(Written::new(written_chunk(&chunk)))
    }
}

/// Gives a type that only stands in the document its schema.
macro_rules! schema_of {
    ($name:ident, $called:literal, |$registry:ident| $schema:expr) => {
        impl Type for $name {
            const IS_REQUIRED: bool = true;
            type RawValueType = Self;
            type RawElementValueType = Self;

            fn name() -> Cow<'static, str> {
                $called.into()
            }

            fn schema_ref() -> MetaSchemaRef {
                MetaSchemaRef::Reference($called.into())
            }

            fn register(registry: &mut Registry) {
                registry.create_schema::<Self, _>($called.into(), |$registry| $schema);
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

/// A page as JSON. Its chunks are text already, and written where they go.
fn written_page(page: &chunks::ChunkPage, chunks: &[String], spent: Spent) -> String {
    let mut head = json!({
        "video_id": page.video_id,
        "analyzers": page.analyzers,
        "total": page.total,
        "offset": page.offset,
        "limit": page.limit,
    });
    if let (Some(tokens), Some(tokenizer)) = (spent.tokens, spent.tokenizer) {
        (head["tokens"], head["tokenizer"]) = (tokens.into(), tokenizer.into());
    }
    if let Some(next) = spent.next {
        head["next"] = next.into();
    }
    let room = chunks.iter().map(|chunk| chunk.len() + 1).sum::<usize>() + BESIDE;
    let mut text = String::with_capacity(room);
    text.push_str(head.to_string().trim_end_matches('}'));
    text.push_str(",\"chunks\":[");
    text.push_str(&chunks.join(","));
    text.push_str("]}");
    text
}

/// A chunk as JSON. Outputs are text already.
fn written_chunk(chunk: &chunks::ChunkView) -> String {
    let head = json!({
        "chunk_id": chunk.chunk_id,
        "start": chunk.span.start,
        "end": chunk.span.end,
        "timecode": chunk.span.timecode(),
    });
    let room = chunk.outputs.values().map(|output| output.len() + BESIDE).sum::<usize>() + BESIDE;
    let mut text = String::with_capacity(room);
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

/// About what is written beside an output, bytes.
const BESIDE: usize = 160;

/// A page of chunks, for the document: it goes out as text.
enum ChunkPage {}

schema_of! {
    ChunkPage, "ChunkPage", |registry| {
        Chunk::register(registry);
        let told = |of: MetaSchemaRef, description| {
            of.merge(MetaSchema { description: Some(description), ..MetaSchema::ANY })
        };
        let properties = vec![
            ("video_id", String::schema_ref()),
            ("analyzers", told(Vec::<String>::schema_ref(), "Analyzers with output on the video.")),
            ("total", told(u32::schema_ref(), "Chunks that match the filters, on all pages.")),
            ("offset", u32::schema_ref()),
            ("limit", u32::schema_ref()),
            ("chunks", Vec::<Chunk>::schema_ref()),
        ];
        let budget = [
            ("tokens", told(u32::schema_ref(), "Tokens of `chunks`; present with `max_tokens`.")),
            (
                "tokenizer",
                told(
                    String::schema_ref(),
                    "The embedder whose tokenizer has counted; present with `max_tokens`.",
                ),
            ),
            (
                "next",
                told(
                    String::schema_ref(),
                    "The `cursor` for the rest, where `max_tokens` left any out.",
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

/// One chunk: its segment and one key per analyzer with output on it. For the document: it goes out as
/// text.
enum Chunk {}

schema_of! {
    Chunk, "Chunk", |registry| {
        let mut properties = vec![
            ("chunk_id", u32::schema_ref()),
            ("start", f64::schema_ref()),
            ("end", f64::schema_ref()),
            ("timecode", String::schema_ref()),
        ];
        properties.push(analyzer::<DefaultVideoOutput>(registry, "default_video"));
        properties.push(analyzer::<TranscriptOutput>(registry, "transcript"));
        properties.push(analyzer::<DiarizationOutput>(registry, "diarization"));
        properties.push(analyzer::<ObjectDetectionOutput>(registry, "object_detection"));
        properties.push(analyzer::<OcrOutput>(registry, "ocr"));
        properties.push(analyzer::<PeopleOutput>(registry, "people"));
        MetaSchema {
            description: Some("One chunk, with one key per analyzer that has output on it."),
            required: vec!["chunk_id", "start", "end", "timecode"],
            properties,
            additional_properties: Some(Box::new(AnyObject::schema_ref())),
            ..MetaSchema::new("object")
        }
    }
}

fn analyzer<T: Type>(registry: &mut Registry, id: &'static str) -> (&'static str, MetaSchemaRef) {
    T::register(registry);
    (id, T::schema_ref())
}

// The shapes of the known analyzers' output, for the document: the values go out as stored.

#[derive(Object)]
struct DefaultVideoOutput {
    description: String,
    setting: String,
    people: Vec<String>,
    objects: Vec<String>,
    actions: Vec<String>,
    tags: Vec<String>,
}

#[derive(Object)]
struct TranscriptOutput {
    text: String,
    #[oai(nullable)]
    language: Option<String>,
    /// `{start, end, text, confidence}`; times are video seconds.
    segments: Vec<AnyObject>,
}

#[derive(Object)]
struct DiarizationOutput {
    turns: Vec<SpeakerTurn>,
    speakers: Vec<String>,
}

#[derive(Object)]
struct ObjectDetectionOutput {
    objects: Vec<String>,
    /// `{label, count, confidence, first_seen, last_seen}`, with `verbose` also `locations`.
    detections: Vec<AnyObject>,
}

#[derive(Object)]
struct OcrOutput {
    text: String,
    /// `{text, confidence, first_seen, last_seen}`, with `verbose` also `locations`.
    texts: Vec<AnyObject>,
}

#[derive(Object)]
struct PeopleOutput {
    /// `{person, description, clothing, position, action, first_seen, last_seen}`, with `verbose`
    /// also `locations`.
    people: Vec<AnyObject>,
    people_count: u32,
}
