//! Test points, and helpers for calls that the suite makes often.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::DIMENSION;
use crate::conformance::video;
use crate::index::{
    FieldValue, Filter, Hit, Index, Point, PointId, Predicate, TextQuery, VectorQuery,
};
use crate::{ChunkId, Document, ErrorKind, Result, VideoId};

/// A point under construction.
pub(super) struct PointBuilder {
    pub(super) id: PointId,
    vectors: BTreeMap<String, Vec<f32>>,
    payload: BTreeMap<String, FieldValue>,
    text: String,
    document: Document,
}

impl PointBuilder {
    pub(super) fn vector(self, field: &str, vector: [f32; DIMENSION]) -> Self {
        self.raw(field, vector.to_vec())
    }

    pub(super) fn raw(mut self, field: &str, vector: Vec<f32>) -> Self {
        self.vectors.insert(field.into(), vector);
        self
    }

    pub(super) fn keywords(self, field: &str, words: &[&str]) -> Self {
        self.payload(field, FieldValue::Keywords(words.iter().map(|&w| w.into()).collect()))
    }

    pub(super) fn integer(self, field: &str, number: i64) -> Self {
        self.payload(field, FieldValue::Integer(number))
    }

    pub(super) fn float(self, field: &str, number: f64) -> Self {
        self.payload(field, FieldValue::Float(number))
    }

    pub(super) fn payload(mut self, field: &str, value: FieldValue) -> Self {
        self.payload.insert(field.into(), value);
        self
    }

    pub(super) fn says(mut self, text: &str) -> Self {
        self.text = text.into();
        self
    }

    pub(super) fn document(mut self, document: Value) -> Self {
        self.document = document.into();
        self
    }

    pub(super) fn build(self) -> Point {
        let Self { id, vectors, payload, text, document } = self;
        Point { id, vectors, payload, text, document }
    }
}

pub(super) fn point(video: &str, chunk: u32) -> PointBuilder {
    PointBuilder {
        id: id(video, chunk, "default_video"),
        vectors: BTreeMap::new(),
        payload: BTreeMap::new(),
        text: String::new(),
        document: json!({ "video": video, "chunk": chunk }).into(),
    }
}

pub(super) fn id(video: &str, chunk: u32, analyzer: &str) -> PointId {
    PointId { video_id: self::video(video), chunk_id: ChunkId(chunk), analyzer_id: analyzer.into() }
}

/// Returns the unit vector along axis `i`.
pub(super) fn axis(i: usize) -> [f32; DIMENSION] {
    let mut vector = [0.0; DIMENSION];
    vector[i] = 1.0;
    vector
}

/// Returns a unit vector at this angle (in radians) to the first axis.
pub(super) fn lean(angle: f32) -> [f32; DIMENSION] {
    let mut vector = [0.0; DIMENSION];
    vector[0] = angle.cos();
    vector[DIMENSION - 1] = angle.sin();
    vector
}

pub(super) fn filter(field: &str, test: Predicate) -> Filter {
    Filter::default().and(field, test)
}

pub(super) fn nearest(field: &str, vector: [f32; DIMENSION], limit: usize) -> VectorQuery {
    VectorQuery {
        field: field.into(),
        vector: vector.to_vec(),
        filter: Filter::default(),
        limit,
        threshold: None,
        per_video: None,
    }
}

pub(super) fn words(text: &str, limit: usize) -> TextQuery {
    TextQuery { text: text.into(), filter: Filter::default(), limit, per_video: None }
}

pub(super) async fn replace(index: &dyn Index, points: Vec<impl Into<Point>>) {
    index.replace(None, points.into_iter().map(Into::into).collect()).await.unwrap();
}

impl From<PointBuilder> for Point {
    fn from(builder: PointBuilder) -> Self {
        builder.build()
    }
}

pub(super) async fn search(
    index: &dyn Index,
    field: &str,
    vector: [f32; DIMENSION],
    limit: usize,
) -> Vec<Hit> {
    index.search(nearest(field, vector, limit)).await.unwrap()
}

pub(super) async fn text(index: &dyn Index, text: &str) -> Vec<Hit> {
    index.text_search(words(text, 100)).await.unwrap()
}

pub(super) fn chunks(hits: &[Hit]) -> Vec<u32> {
    hits.iter().map(|hit| hit.id.chunk_id.0).collect()
}

/// Returns the video id and chunk id of each hit.
pub(super) fn places(hits: &[Hit]) -> Vec<(VideoId, ChunkId)> {
    hits.iter().map(|hit| (hit.id.video_id, hit.id.chunk_id)).collect()
}

pub(super) fn owned(places: &[(&str, u32)]) -> Vec<(VideoId, ChunkId)> {
    places.iter().map(|(video, chunk)| (self::video(video), ChunkId(*chunk))).collect()
}

pub(super) fn invalid<T>(result: Result<T>, why: &str) {
    match result {
        Ok(_) => panic!("{why} must be refused"),
        Err(e) => assert_eq!(e.kind(), ErrorKind::Invalid, "{why}: {e}"),
    }
}
