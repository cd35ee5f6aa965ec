//! Applies corrections to the outputs of a record and to their points in the index.

use std::collections::HashMap;

use ports::index::Point;

use crate::analysis::correction::{Correction, CorrectionSet};
use crate::analysis::video::{Output, Outputs};
use crate::corrections::Corrections;
use crate::indexing::stored_vectors::{CachingEmbedder, embedded_texts, stored_vectors};
use crate::indexing::{VectorModels, points};
use crate::kernel::error::Result;
use crate::kernel::time::Span;
use crate::kernel::video::VideoId;
use crate::records::record::{AnalyzerEntry, VideoRecord};

impl Corrections {
    /// Combines corrections with the speech of a video.
    pub(super) async fn overlay(
        &self,
        record: &VideoRecord,
        corrections: Vec<Correction>,
    ) -> Result<CorrectionSet> {
        let speech = match &record.speech_document {
            Some(document) => Some(self.records.speech(document).await?),
            None => None,
        };
        Ok(CorrectionSet::new(corrections, speech))
    }

    /// Applies corrections to the outputs and points of an unpublished record. Unaffected texts
    /// keep their vectors.
    pub(super) async fn apply(
        &self,
        record: &mut VideoRecord,
        corrections: Vec<Correction>,
        fresh: &mut Vec<Point>,
    ) -> Result<Vec<Correction>> {
        let spans = self.records.spans(record).await?;
        let overlay = self.overlay(record, corrections).await?;
        let ids: Vec<String> = record.analyzers.keys().cloned().collect();
        for id in ids {
            let original = self.records.original_outputs(record, &id).await?;
            let current = self.records.outputs(record, &id).await?;
            let corrected: Outputs = original
                .iter()
                .zip(&spans)
                .map(|(output, span)| Some(apply_overlay(output.as_ref()?, &overlay, *span)))
                .collect();
            if same(&corrected, &current) {
                continue;
            }
            let update = OutputUpdate { id, spans: &spans, original, current, corrected };
            self.replace_outputs(record, update, fresh).await?;
        }
        let corrections = overlay.into_corrections();
        record.corrections_document = match corrections.is_empty() {
            true => None,
            false => Some(self.records.store(record.video_id, "corrections", &corrections).await?),
        };
        Ok(corrections)
    }

    /// Replaces an analyzer's outputs. Updates their pages in the record and their points in
    /// `fresh`.
    async fn replace_outputs(
        &self,
        record: &mut VideoRecord,
        update: OutputUpdate<'_>,
        fresh: &mut Vec<Point>,
    ) -> Result<()> {
        let Some(analyzer) = self.analyzers.get(&update.id) else { return Ok(()) };
        let mut entry = record.analyzers[&update.id].clone();
        let embedder = CachingEmbedder {
            vectors: self.reusable_vectors(record.video_id, &entry, &update, fresh).await?,
            embedder: self.models.embedder.as_ref(),
        };
        let original = entry.uncorrected.take().unwrap_or_else(|| entry.pages.clone());
        if same(&update.corrected, &update.original) {
            entry.pages = original;
        } else {
            let stored = self.records.store_outputs(record.video_id, &update.id, &update.corrected);
            entry.pages = stored.await?;
            entry.uncorrected = Some(original);
        }
        entry.revision = uuid::Uuid::new_v4().simple().to_string();
        let (id, config) = (record.video_id, record.chunking.config());
        let (revision, outputs) = (&entry.revision, &update.corrected);
        let models = VectorModels::new(&embedder, &self.models);
        let points =
            points(models, id, &config, revision, update.spans, &*analyzer, outputs).await?;
        entry.points = points.len() as u64;
        self.models.embedder.model().clone_into(&mut entry.embedder);
        fresh.retain(|point| point.id.analyzer_id != update.id);
        fresh.extend(points);
        record.analyzers.insert(update.id, entry);
        Ok(())
    }

    /// Reads the existing vectors for the current outputs, keyed by text.
    async fn reusable_vectors(
        &self,
        video_id: VideoId,
        entry: &AnalyzerEntry,
        update: &OutputUpdate<'_>,
        fresh: &[Point],
    ) -> Result<HashMap<String, Vec<f32>>> {
        if entry.embedder != self.models.embedder.model() {
            return Ok(HashMap::new());
        }
        let mut texts = embedded_texts(&update.current);
        let own_points: Vec<&Point> =
            fresh.iter().filter(|point| point.id.analyzer_id == update.id).collect();
        if own_points.is_empty() {
            let index = self.index.as_ref();
            return stored_vectors(index, video_id, &entry.revision, texts).await;
        }
        let mut vectors = HashMap::new();
        for point in own_points {
            for (field, vector) in &point.vectors {
                if let Some(text) = texts.remove(&(point.id.chunk_id, field.clone())) {
                    vectors.insert(text, vector.clone());
                }
            }
        }
        Ok(vectors)
    }
}

/// A change to one analyzer's outputs.
struct OutputUpdate<'a> {
    id: String,
    spans: &'a [Span],
    /// The outputs of the models, without corrections.
    original: Outputs,
    /// The outputs before the change.
    current: Outputs,
    /// The outputs after the change.
    corrected: Outputs,
}

fn apply_overlay(output: &Output, overlay: &CorrectionSet, span: Span) -> Output {
    output.with_corrections(overlay, span).unwrap_or_else(|| output.clone())
}

/// Whether outputs are equal, chunk by chunk.
fn same(a: &Outputs, b: &Outputs) -> bool {
    let json = |output: &Option<Output>| output.as_ref().map(|output| output.to_json());
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| json(a) == json(b))
}
