//! `/videos/{video_id}/chunks`: stored analyzer output.

use std::borrow::Cow;
use std::sync::Arc;

use poem_openapi::param::{Path, Query};
use poem_openapi::registry::{MetaSchema, MetaSchemaRef, Registry};
use poem_openapi::types::{ParseError, ParseFromJSON, ParseResult, ToJSON, Type};
use poem_openapi::{Object, OpenApi};
use serde_json::{Map, Value, json};

use super::auth::Token;
use super::body::Json;
use super::errors::{ApiError, ByIdNamed, OfOne};
use super::params::{Bounded, ChunkId, Flag, Number};
use super::query::SpeakerTurn;
use super::values::AnyObject;
use crate::domain::Shotlog;
use crate::domain::catalog::chunks;

/// The routes of this section.
pub(super) struct ChunksApi(pub(super) Arc<Shotlog>);

#[OpenApi]
impl ChunksApi {
    /// Stored analyzer output, filtered and paged.
    #[expect(clippy::too_many_arguments, reason = "one argument per parameter of the contract")]
    #[oai(path = "/videos/:video_id/chunks", method = "get", operation_id = "chunks")]
    async fn chunks(
        &self,
        _token: Token,
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
    ) -> Result<Json<ChunkPage>, ApiError<ByIdNamed>> {
        let query = chunks::ChunkQuery {
            analyzer: analyzer.0,
            after: after.0.map(|after| after.0),
            before: before.0.map(|before| before.0),
            chunk_ids: chunk_ids.0,
            limit: limit.0.0,
            offset: offset.0.0,
            verbose: verbose.0.0,
        };
        Ok(Json(self.0.catalog.chunks(&video_id, query).await?.into()))
    }

    /// One chunk, all analyzers merged.
    #[oai(path = "/videos/:video_id/chunks/:chunk_id", method = "get", operation_id = "chunk")]
    async fn chunk(
        &self,
        _token: Token,
        video_id: Path<String>,
        chunk_id: Path<ChunkId>,
        /// Include internal keys.
        #[oai(default = "off")]
        verbose: Query<Flag>,
    ) -> Result<Json<Chunk>, ApiError<OfOne>> {
        Ok(Json(Chunk(self.0.catalog.chunk(&video_id, chunk_id.0.0, verbose.0.0).await?)))
    }
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

#[derive(Object)]
struct ChunkPage {
    video_id: String,
    /// Analyzers with output on the video.
    analyzers: Vec<String>,
    /// Chunks that match the filters, on all pages.
    total: u32,
    offset: u32,
    limit: u32,
    chunks: Vec<Chunk>,
}

impl From<chunks::ChunkPage> for ChunkPage {
    fn from(page: chunks::ChunkPage) -> Self {
        Self {
            video_id: page.video_id,
            analyzers: page.analyzers,
            total: page.total,
            offset: page.offset,
            limit: page.limit,
            chunks: page.chunks.into_iter().map(Chunk).collect(),
        }
    }
}

/// One chunk: its segment and one key per analyzer with output on it.
struct Chunk(chunks::ChunkView);

impl Type for Chunk {
    const IS_REQUIRED: bool = true;
    type RawValueType = Self;
    type RawElementValueType = Self;

    fn name() -> Cow<'static, str> {
        "Chunk".into()
    }

    fn schema_ref() -> MetaSchemaRef {
        MetaSchemaRef::Reference("Chunk".into())
    }

    fn register(registry: &mut Registry) {
        registry.create_schema::<Self, _>("Chunk".into(), |registry| {
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
        });
    }

    fn as_raw_value(&self) -> Option<&Self> {
        Some(self)
    }

    fn raw_element_iter<'a>(&'a self) -> Box<dyn Iterator<Item = &'a Self> + 'a> {
        Box::new(std::iter::empty())
    }
}

fn analyzer<T: Type>(registry: &mut Registry, id: &'static str) -> (&'static str, MetaSchemaRef) {
    T::register(registry);
    (id, T::schema_ref())
}

impl ToJSON for Chunk {
    fn to_json(&self) -> Option<Value> {
        let mut object = Map::new();
        object.insert("chunk_id".into(), json!(self.0.chunk_id));
        object.insert("start".into(), json!(self.0.span.start));
        object.insert("end".into(), json!(self.0.span.end));
        object.insert("timecode".into(), json!(self.0.span.timecode()));
        for (id, output) in &self.0.outputs {
            object.insert(id.clone(), Value::Object(output.clone()));
        }
        Some(Value::Object(object))
    }
}

impl ParseFromJSON for Chunk {
    fn parse_from_json(_: Option<Value>) -> ParseResult<Self> {
        Err(ParseError::custom("chunks are sent, never received"))
    }
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
