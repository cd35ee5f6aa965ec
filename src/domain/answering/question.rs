//! A question to `/ask`.

use serde_json::{Map, Value};

/// Default number of supporting segments per video.
pub const DEFAULT_LIMIT: u32 = 6;

/// A question.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// The question as asked.
    pub question: String,
    /// `None` uses every ingested video.
    pub video_ids: Option<Vec<String>>,
    /// The analyzer whose chunks are retrieved as evidence; `None` chooses per video.
    pub analyzer: Option<String>,
    /// Supporting segments per video, 1..=20.
    pub limit: u32,
    /// Segments with a lower `p_present` are dropped, 0..1.
    pub min_p_present: Option<f32>,
    /// The filters of the request, unparsed.
    pub filters: Map<String, Value>,
    /// Restricts the evidence to these moments; `None` uses the best ones.
    pub moment_ids: Option<Vec<String>>,
}
