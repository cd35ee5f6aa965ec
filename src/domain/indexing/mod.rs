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
use crate::analysis::output::AnalyzerOutput;
use crate::analysis::video::Outputs;
use crate::analysis::views::FrameVector;
use crate::analysis::{Analyzer, COMBINED, VISUAL_FRAMES};
use crate::indexing::point::{POINT_FORMAT, PointDocument};
use crate::kernel::error::Result;
use crate::kernel::ports::Models;
use crate::kernel::time::Span;
use crate::kernel::video::{ChunkId, VideoId};

/// Payload field with the number of people in a chunk.
const PEOPLE_COUNT: &str = "people_count";

/// The models whose vectors the points have.
#[derive(Clone, Copy)]
pub struct VectorModels<'a> {
    /// Embeds the texts.
    pub embedder: &'a dyn Embedder,
    /// The model of the image vectors; vectors of any other model are left out.
    pub image_model: Option<&'a str>,
}

impl<'a> VectorModels<'a> {
    /// Embeds texts with `embedder`, and keeps the image vectors of the image embedder in use.
    pub(crate) fn new(embedder: &'a dyn Embedder, models: &'a Models) -> Self {
        Self { embedder, image_model: models.image_embedder.as_ref().map(|images| images.model()) }
    }
}

/// Builds the points for one analyzer's outputs. A chunk without output or without text gets no
/// point.
pub async fn points(
    models: VectorModels<'_>,
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
            vectors: image_vectors(output.content(), models.image_model),
            payload,
            text,
            document: Document::serialize(&document)?,
        });
    }
    let vectors = models.embedder.embed(&texts).await?;
    for ((point, field), vector) in embedded_fields.into_iter().zip(vectors) {
        points[point].vectors.insert(field.into(), vector);
    }
    Ok(points)
}

/// The vectors of an output's frames, by field.
fn image_vectors(output: &dyn AnalyzerOutput, model: Option<&str>) -> BTreeMap<String, Vec<f32>> {
    let stored = output.image_vectors().filter(|stored| Some(stored.model.as_str()) == model);
    let frames = stored.into_iter().flat_map(|stored| &stored.frames);
    let fields = VISUAL_FRAMES.iter().map(|field| (*field).to_owned());
    fields.zip(frames.map(FrameVector::unit_vector)).collect()
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
