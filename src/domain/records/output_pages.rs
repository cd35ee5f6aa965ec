//! Where the pages of an analyzer's outputs are stored. Each page holds [`PAGE_CHUNKS`] chunks, so that a
//! request for a few chunks of a long video parses little more than those chunks.

use serde::{Deserialize, Serialize};

use crate::kernel::video::{ChunkId, VideoId};

/// Number of chunks per stored page, and the default page size of chunk listings.
pub const PAGE_CHUNKS: u32 = 50;

/// Location of one analyzer's stored outputs for a video.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutputPages {
    /// Key prefix of the pages. If `page_chunks` is 0, as in records up to version 2, this is the
    /// key of the single document that holds all outputs.
    document: String,
    /// Number of chunks per page; 0 if the outputs are not paged.
    #[serde(default)]
    page_chunks: u32,
}

impl OutputPages {
    /// Creates a location with a random key for new pages.
    pub fn new(video_id: VideoId, analyzer: &str) -> Self {
        let random = uuid::Uuid::new_v4().simple();
        Self {
            document: format!("videos/{video_id}/{analyzer}-{random}"),
            page_chunks: PAGE_CHUNKS,
        }
    }

    /// Returns the number of the page that contains a chunk, and the chunk's index in that page.
    pub(crate) fn locate(&self, chunk: ChunkId) -> (u32, usize) {
        match self.page_chunks {
            0 => (0, chunk.index()),
            per_page => (chunk.0 / per_page, (chunk.0 % per_page) as usize),
        }
    }

    /// Returns the key of a page.
    pub(crate) fn key(&self, page: u32) -> String {
        match self.page_chunks {
            0 => self.document.clone(),
            _ => format!("{}-{page}.json", self.document),
        }
    }

    /// Returns the keys of all pages for a video with `chunks` chunks.
    pub fn keys(&self, chunks: u32) -> impl Iterator<Item = String> {
        let pages = if self.page_chunks == 0 { 1 } else { chunks.div_ceil(self.page_chunks) };
        (0..pages).map(|page| self.key(page))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn pages_cover_every_chunk_in_order() {
        let pages = OutputPages::new(VideoId::from_digest([0; 20]), "ocr");
        for chunks in [0, 1, PAGE_CHUNKS, PAGE_CHUNKS + 1, 2000] {
            let keys: Vec<String> = pages.keys(chunks).collect();
            let mut filled = vec![0; keys.len()];
            for chunk in (0..chunks).map(ChunkId) {
                let (page, index) = pages.locate(chunk);
                assert_eq!(keys[page as usize], pages.key(page));
                assert_eq!(index, filled[page as usize], "in order");
                filled[page as usize] += 1;
            }
            assert!(filled.iter().all(|count| (1..=PAGE_CHUNKS as usize).contains(count)));
        }
    }

    #[test]
    fn unpaged_outputs_of_earlier_versions_are_one_page() {
        let pages: OutputPages =
            serde_json::from_value(json!({"document": "videos/v/ocr-1.json"})).expect("pages");
        assert_eq!(pages.keys(2000).collect::<Vec<_>>(), ["videos/v/ocr-1.json"]);
        assert_eq!(pages.locate(ChunkId(1999)), (0, 1999));
    }
}
