//! What a search returns: a page of hits, or why there are none.

use std::str::FromStr;

use crate::analysis::facets::{Display, Facets};
use crate::analysis::output::Statement;
use crate::kernel::error::{Error, Result};
use crate::kernel::moment::MomentId;
use crate::kernel::names::unknown;
use crate::kernel::time::Span;
use crate::kernel::video::{ChunkId, VideoId};
use crate::search::pages::PageStart;

/// Which scores the hits have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScoreKind {
    /// Cosine and probability; the hits are ranked by a search text.
    Text,
    /// Cosine only; the hits are ranked by similarity to a moment.
    Similarity,
    /// No scores; the hits are in listing order.
    Unscored,
}

/// A search hit.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchResult {
    /// Id of the chunk's span. The id stays valid if the video is chunked differently.
    pub moment_id: MomentId,
    /// Id of the video.
    pub video_id: VideoId,
    /// The chunk within the video.
    pub chunk_id: ChunkId,
    /// The chunk's span.
    pub span: Span,
    /// Start and end as `M:SS.ss-M:SS.ss`, for display.
    pub timecode: String,
    /// Cosine, 0..1.
    pub score: f32,
    /// BM25 score; `None` unless full-text search found the hit.
    pub text_score: Option<f32>,
    /// Calibrated probability, 0..1, that the moment contains what was searched for.
    pub p_present: f32,
    /// The value of `p_present` before re-ranking, from the texts alone.
    pub p_found: f32,
    /// Probability, 0..1, that the picture shows what was searched for; 0 if it was not compared.
    pub p_seen: f32,
    /// The analyzers whose output matched, the most probable first.
    pub found_by: Vec<String>,
    /// The text that was embedded for the searched field.
    pub text: String,
    /// The first 180 characters of the whole record's text.
    pub snippet: String,
    /// Public URL of the video.
    pub video_url: String,
    /// The real time at which the moment begins, in ISO 8601 (UTC). `None` if the recording time is
    /// unknown.
    pub recorded_at: Option<String>,
    /// Statements about the chunk from the analyzers whose output matched.
    pub statements: Vec<Statement>,
    /// The chunk's labels.
    pub facets: Facets,
    /// What to show of the output.
    pub display: Display,
}

/// A page of hits.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchPage {
    /// Which scores the hits have.
    pub score_kind: ScoreKind,
    /// The hits, best first.
    pub results: Vec<SearchResult>,
    /// For each hit, where the next page begins if the page ends with that hit.
    pub next_pages: Vec<PageStart>,
    /// Whether more hits may follow the last one.
    pub more: bool,
    /// Why there are no hits; `None` if there are any.
    pub diagnostics: Option<Diagnostics>,
}

/// Why a search found nothing.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Diagnostics {
    /// For each filter, the number of hits that the search would have without that filter, with the
    /// same threshold and limit.
    pub without_filter: Vec<(String, u32)>,
    /// Up to 20 of the searched videos that have no output from the analyzer.
    pub videos_without_analyzer: Vec<VideoId>,
    /// Up to 20 of the searched videos that have output from the analyzer but no vector in the
    /// field.
    pub videos_without_field: Vec<VideoId>,
    /// Up to 20 requested ids that match no video.
    pub unknown_videos: Vec<String>,
    /// Other analyzers with hits, each with the probability of its best hit. The highest
    /// probability comes first.
    pub found_by_others: Vec<(String, f32)>,
    /// Highest cosine among points that match the filters; `None` if no point matches.
    pub best_score: Option<f32>,
}

/// How much of a hit is returned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// Ids, times, score and a snippet.
    Minimal,
    /// Everything in `Minimal`, and the chunk's description, people, objects and speech.
    Standard,
    /// Everything in `Standard`, and the embedded text and nested records.
    Full,
}

/// Each detail level's name and what it returns.
pub const DETAIL_LEVELS: &[(&str, &str)] = &[
    ("minimal", "ids, times, score and a snippet of 180 characters"),
    (
        "standard",
        "minimal without the snippet, plus the video's URL, description, people, objects, \
      actions, tags, speakers, people_count and turns",
    ),
    ("full", "standard plus the embedded text and the persons, detections and texts records"),
];

impl Detail {
    /// The name used in requests.
    pub fn name(self) -> &'static str {
        match self {
            Self::Minimal => "minimal",
            Self::Standard => "standard",
            Self::Full => "full",
        }
    }
}

impl FromStr for Detail {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        match name {
            "minimal" => Ok(Self::Minimal),
            "standard" => Ok(Self::Standard),
            "full" => Ok(Self::Full),
            other => Err(unknown("detail level", other, DETAIL_LEVELS)),
        }
    }
}
