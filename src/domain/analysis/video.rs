//! An analyzed video as aggregates and exports read it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use ports::transcriber::Word;
use text::words;

use crate::domain::analysis::finding::{Finding, StoredFinding, output_of};
use crate::domain::kernel::time::Span;
use crate::domain::kernel::video::{ChunkId, VideoId};

/// One analyzer's output on one chunk.
pub type Output = Arc<dyn StoredFinding>;

/// One analyzer's outputs, one per chunk; `None` where it found nothing.
pub type Outputs = Vec<Option<Output>>;

/// A whole analyzed video, as aggregators read it.
#[derive(Debug, Clone)]
pub struct AnalyzedVideo {
    /// First 16 hex characters of the SHA-1 of the file.
    pub video_id: VideoId,
    /// Length of the video, seconds.
    pub duration: f64,
    /// When its chunks are, seconds of the video.
    pub spans: Vec<Span>,
    /// Outputs by analyzer id.
    pub outputs: BTreeMap<String, Outputs>,
    /// Words, in lower case, that were heard nowhere with more likelihood than not.
    pub doubtful: BTreeSet<String>,
}

/// The words that are rather wrong than right wherever they were recognised.
pub(crate) fn doubtful(recognised: &[Word]) -> BTreeSet<String> {
    /// As likely right as wrong.
    const EVEN: f32 = 0.5;
    let parts = |word: &Word| -> Vec<String> {
        words(&word.text).into_iter().map(|part| part.lower).collect()
    };
    let (likely, unlikely): (Vec<&Word>, Vec<&Word>) =
        recognised.iter().partition(|word| word.confidence >= EVEN);
    let likely: BTreeSet<String> = likely.into_iter().flat_map(parts).collect();
    unlikely.into_iter().flat_map(parts).filter(|word| !likely.contains(word)).collect()
}

impl AnalyzedVideo {
    /// What an analyzer has found, of the type of its output, with the chunk's id and segment.
    pub fn of<T: 'static>(&self, analyzer: &str) -> impl Iterator<Item = (ChunkId, Span, &T)> {
        let outputs = self.outputs.get(analyzer).into_iter().flatten();
        self.chunks().zip(outputs).filter_map(|((chunk_id, span), output)| {
            Some((chunk_id, span, output_of::<T>(output.as_deref()?)?))
        })
    }

    /// Its chunks: their ids, and when they are.
    pub fn chunks(&self) -> impl Iterator<Item = (ChunkId, Span)> {
        (0..).map(ChunkId).zip(self.spans.iter().copied())
    }

    /// The ids of its chunks.
    pub fn chunk_ids(&self) -> impl Iterator<Item = ChunkId> {
        self.chunks().map(|(chunk_id, _)| chunk_id)
    }

    /// What an analyzer has found in one chunk.
    pub fn finding(&self, analyzer: &str, chunk: ChunkId) -> Option<&dyn Finding> {
        Some(self.outputs.get(analyzer)?.get(chunk.index())?.as_deref()?.finding())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_that_is_heard_surely_once_is_not_doubtful() {
        let word =
            |text: &str, confidence| Word { text: text.into(), start: 0.0, end: 0.1, confidence };
        let words = [word("Webb", 0.4), word("space,", 0.3), word("Space", 0.9)];
        assert_eq!(doubtful(&words), BTreeSet::from(["webb".to_owned()]));
    }
}
