//! The settings of searches.

use ports::units::byte_size;
use serde::{Deserialize, Serialize};

/// Ranking, calibration and limits of searches.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SearchSettings {
    /// The constant k of reciprocal rank fusion, above 0. The larger it is, the less the first
    /// ranks dominate.
    pub fusion_k: f64,
    /// Minimum number of hits taken from each list for fusion, since a hit that ranks low in one
    /// list may rank high in the other.
    pub fusion_depth: usize,
    /// Weight of vector search, above 0.
    pub vector_weight: f64,
    /// Weight of full-text search, above 0.
    pub text_weight: f64,
    /// How far the recommended threshold lies above the median of the best scores that unrelated
    /// queries reach, in standard deviations.
    pub threshold_deviations: f32,
    /// Maximum number of hits that paging can reach. Also the maximum number of videos sorted at
    /// once for a listing. Every page after the first costs a search for this many hits.
    pub page_window: usize,
    /// Maximum number of texts that the re-ranker scores per search.
    pub rerank_texts: usize,
    /// Maximum length of a search text or question, in bytes.
    #[serde(with = "byte_size")]
    pub max_text_bytes: usize,
    /// Maximum number of pixels of a picture in a search request.
    pub max_image_pixels: u64,
    /// Size of the query-vector cache, in bytes. Repeating a search with different filters, or
    /// fetching its next page, does not embed the text again. 0 disables the cache.
    #[serde(with = "byte_size")]
    pub cache_bytes: usize,
}

impl Default for SearchSettings {
    fn default() -> Self {
        Self {
            fusion_k: 60.0,
            fusion_depth: 50,
            vector_weight: 1.0,
            text_weight: 1.0,
            threshold_deviations: 3.0,
            page_window: 500,
            rerank_texts: 48,
            max_text_bytes: 16 << 10,
            max_image_pixels: 24_000_000,
            cache_bytes: 8 << 20,
        }
    }
}
