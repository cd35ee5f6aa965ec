//! Builds index points from analyzer outputs: embeds the texts and adds the payload for filters and
//! the document that hits return.

pub(crate) mod health;
pub(crate) mod point;
pub(crate) mod point_migration;
pub(crate) mod stored_vectors;

use std::collections::BTreeMap;

use ports::Document;
use ports::embedder::Embedder;
use ports::index::{FieldValue, Point, PointId};

use crate::analysis::facets::Facets;
use crate::analysis::video::Outputs;
use crate::analysis::{Analyzer, COMBINED};
use crate::indexing::point::{POINT_FORMAT, PointDocument};
use crate::kernel::error::Result;
use crate::kernel::time::Span;
use crate::kernel::video::{ChunkId, VideoId};

/// Payload field with the number of people in a chunk.
const PEOPLE_COUNT: &str = "people_count";

/// Builds the points for one analyzer's outputs. A chunk without output or without text gets no
/// point.
pub async fn points(
    embedder: &dyn Embedder,
    video_id: VideoId,
    chunk_config: &str,
    revision: &str,
    spans: &[Span],
    analyzer: &dyn Analyzer,
    outputs: &Outputs,
) -> Result<Vec<Point>> {
    let mut points = Vec::new();
    let mut texts = Vec::new();
    let mut embedded_fields = Vec::new();
    for ((chunk_id, span), output) in (0..).map(ChunkId).zip(spans).zip(outputs) {
        let Some(output) = output else { continue };
        let mut indexed = output.content().index_entry();
        indexed.fields.retain(|_, text| !text.trim().is_empty());
        let Some(text) = indexed.fields.get(COMBINED).cloned() else { continue };
        for (field, text) in &indexed.fields {
            embedded_fields.push((points.len(), *field));
            texts.push(text.clone());
        }
        let mut payload = filter_payload(analyzer, chunk_config, *span, &indexed.facets);
        let mut document = PointDocument {
            format: POINT_FORMAT,
            revision: revision.to_owned(),
            start: span.start,
            end: span.end,
            text: text.clone(),
            statements: output.content().statements(),
            facets: indexed.facets,
            display: indexed.display,
            ..PointDocument::default()
        };
        document.set_fields(indexed.fields);
        payload.insert("revision".into(), FieldValue::Keywords(vec![revision.into()]));
        points.push(Point {
            id: PointId { video_id, chunk_id, analyzer_id: analyzer.spec().id.into() },
            vectors: BTreeMap::new(),
            payload,
            text,
            document: Document::serialize(&document)?,
        });
    }
    let vectors = embedder.embed(&texts).await?;
    for ((point, field), vector) in embedded_fields.into_iter().zip(vectors) {
        points[point].vectors.insert(field.into(), vector);
    }
    Ok(points)
}

/// The payload fields that search filters are matched against, taken from a chunk's output.
pub(crate) fn filter_payload(
    analyzer: &dyn Analyzer,
    chunk_config: &str,
    span: Span,
    facets: &Facets,
) -> BTreeMap<String, FieldValue> {
    let mut fields = BTreeMap::from([
        ("chunk_config".to_owned(), FieldValue::Keywords(vec![chunk_config.into()])),
        ("start".to_owned(), FieldValue::Float(span.start)),
        ("end".to_owned(), FieldValue::Float(span.end)),
    ]);
    for field in analyzer.spec().filter_fields {
        let labels = facets.labels(field);
        if !labels.is_empty() {
            fields.insert((*field).into(), FieldValue::Keywords(labels.to_vec()));
        }
    }
    let counted = analyzer.spec().filter_fields.contains(&PEOPLE_COUNT);
    if let Some(count) = facets.people_count.filter(|_| counted) {
        fields.insert(PEOPLE_COUNT.into(), FieldValue::Integer(count.into()));
    }
    fields
}
