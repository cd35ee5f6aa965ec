//! From analyzer outputs to index points: what is embedded, what is filtered by, what comes back.

use std::collections::BTreeMap;

use ports::Document;
use ports::embedder::Embedder;
use ports::index::{FieldValue, Point, PointId};

use crate::domain::analysis::Analyzer;
use crate::domain::analysis::hit::HitDocument;
use crate::domain::analysis::video::Outputs;
use crate::domain::kernel::error::Result;
use crate::domain::kernel::time::Span;
use crate::domain::kernel::video::{ChunkId, VideoId};

/// The payload field of a chunk's number of people.
const PEOPLE_COUNT: &str = "people_count";

/// The points of one analyzer's outputs. A chunk without output, or without any text, has none.
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
    let mut wanted = Vec::new();
    for ((chunk_id, span), output) in (0..).map(ChunkId).zip(spans).zip(outputs) {
        let Some(output) = output else { continue };
        let mut indexed = output.finding().index();
        indexed.fields.retain(|_, text| !text.trim().is_empty());
        let Some(text) = indexed.fields.get("combined").cloned() else { continue };
        for (field, text) in indexed.fields {
            wanted.push((points.len(), field));
            texts.push(text);
        }
        let mut document = indexed.document;
        (document.start, document.end) = (span.start, span.end);
        document.text.clone_from(&text);
        document.revision = revision.to_owned();
        let mut payload = filtered_by(analyzer, chunk_config, *span, &document);
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
    for ((point, field), vector) in wanted.into_iter().zip(vectors) {
        points[point].vectors.insert(field.into(), vector);
    }
    Ok(points)
}

/// What the filters of a search compare of an analyzer's output on a chunk.
pub(crate) fn filtered_by(
    analyzer: &dyn Analyzer,
    chunk_config: &str,
    span: Span,
    document: &HitDocument,
) -> BTreeMap<String, FieldValue> {
    let mut fields = BTreeMap::from([
        ("chunk_config".to_owned(), FieldValue::Keywords(vec![chunk_config.into()])),
        ("start".to_owned(), FieldValue::Float(span.start)),
        ("end".to_owned(), FieldValue::Float(span.end)),
    ]);
    for (field, labels) in [
        ("objects", &document.objects),
        ("tags", &document.tags),
        ("speakers", &document.speakers),
        ("people", &document.people),
    ] {
        if analyzer.spec().filtered_by.contains(&field) && !labels.is_empty() {
            fields.insert(field.into(), FieldValue::Keywords(labels.clone()));
        }
    }
    let counted = analyzer.spec().filtered_by.contains(&PEOPLE_COUNT);
    if let Some(count) = document.people_count.filter(|_| counted) {
        fields.insert(PEOPLE_COUNT.into(), FieldValue::Integer(count.into()));
    }
    fields
}
