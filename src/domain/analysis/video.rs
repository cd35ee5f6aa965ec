//! An analyzed video as aggregates and exports read it.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::domain::kernel::time::Span;

/// One analyzer's output on one chunk.
pub type Output = Map<String, Value>;

/// One analyzer's outputs, one per chunk; `None` where it found nothing.
pub type Outputs = Vec<Option<Output>>;

/// A whole analyzed video, as aggregators read it.
#[derive(Debug, Clone, PartialEq)]
pub struct AnalyzedVideo {
    /// Its id.
    pub video_id: String,
    /// Seconds.
    pub duration: f64,
    /// Its chunks.
    pub spans: Vec<Span>,
    /// Outputs by analyzer id.
    pub outputs: BTreeMap<String, Outputs>,
}
