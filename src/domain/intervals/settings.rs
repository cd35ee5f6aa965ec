//! The limits on searches for intervals.

use ports::units::byte_size;
use serde::{Deserialize, Serialize};

/// Limits on searches for intervals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct IntervalSettings {
    /// Maximum number of terms in an expression.
    pub max_terms: usize,
    /// Maximum number of nested operators in an expression, including the term.
    pub max_depth: usize,
    /// Maximum number of spans per page.
    pub max_spans: u32,
    /// Maximum number of moments that are listed as proof of a term in one span; further ones are
    /// counted.
    pub max_proofs: usize,
    /// Maximum number of videos whose stored results are read for one page. A page ends when it
    /// would read more, and the next page resumes there. Videos in the cache do not count.
    pub max_videos_read: usize,
    /// Maximum number of moments that a search for a `text` term finds. Each term costs a search of
    /// this depth.
    pub max_text_hits: u32,
    /// Size of the cache of interval tables, in bytes. A table takes a few kilobytes per minute of
    /// speech. 0 disables the cache.
    #[serde(with = "byte_size")]
    pub cache_bytes: usize,
}

impl Default for IntervalSettings {
    fn default() -> Self {
        Self {
            max_terms: 64,
            max_depth: 16,
            max_spans: 500,
            max_proofs: 20,
            max_videos_read: 2000,
            max_text_hits: 200,
            cache_bytes: 128 << 20,
        }
    }
}
