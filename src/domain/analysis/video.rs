//! An analyzed video as aggregates and exports read it.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::domain::analysis::finding::{Finding, StoredFinding, output_of};
use crate::domain::kernel::time::Span;

/// One analyzer's output on one chunk.
pub type Output = Arc<dyn StoredFinding>;

/// One analyzer's outputs, one per chunk; `None` where it found nothing.
pub type Outputs = Vec<Option<Output>>;

/// A whole analyzed video, as aggregators read it.
#[derive(Debug, Clone)]
pub struct AnalyzedVideo {
    /// First 16 hex characters of the SHA-1 of the file.
    pub video_id: String,
    /// Length of the video, seconds.
    pub duration: f64,
    /// When its chunks are, seconds of the video.
    pub spans: Vec<Span>,
    /// Outputs by analyzer id.
    pub outputs: BTreeMap<String, Outputs>,
}

impl AnalyzedVideo {
    /// What an analyzer has found, of the type of its output, with the chunk's id and segment.
    pub fn of<T: 'static>(&self, analyzer: &str) -> impl Iterator<Item = (u32, Span, &T)> {
        let outputs = self.outputs.get(analyzer).into_iter().flatten();
        (0..).zip(&self.spans).zip(outputs).filter_map(|((chunk_id, span), output)| {
            Some((chunk_id, *span, output_of::<T>(output.as_deref()?)?))
        })
    }

    /// What an analyzer has found in one chunk.
    pub fn finding(&self, analyzer: &str, chunk: usize) -> Option<&dyn Finding> {
        Some(self.outputs.get(analyzer)?.get(chunk)?.as_deref()?.finding())
    }
}
