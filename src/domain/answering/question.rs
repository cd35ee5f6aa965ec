//! A question to `/ask`.

use serde_json::{Map, Value};

/// Default number of supporting segments per video.
pub const DEFAULT_LIMIT: u32 = 6;

/// A question.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// The question as asked.
    pub question: String,
    /// The videos to search; `None` means every ingested video.
    pub video_ids: Option<Vec<String>>,
    /// The analyzer whose chunks are retrieved as evidence; if `None`, it is chosen for each video.
    pub analyzer: Option<String>,
    /// Maximum number of supporting segments per video, 1..=20.
    pub limit: u32,
    /// Minimum `p_present` of a segment, 0..1; less probable segments are dropped.
    pub min_p_present: Option<f32>,
    /// The filters of the request, unparsed.
    pub filters: Map<String, Value>,
    /// The moments that the evidence is restricted to; `None` means the best moments.
    pub moment_ids: Option<Vec<String>>,
}
