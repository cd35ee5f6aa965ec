//! An analyzed video in the form that aggregators and exports read.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use ports::transcriber::Word;
use text::words;

use crate::analysis::output::{AnalyzerOutput, StoredOutput, output_of};
use crate::kernel::time::Span;
use crate::kernel::video::{ChunkId, VideoId};

/// One analyzer's output for one chunk.
pub type Output = Arc<dyn StoredOutput>;

/// One analyzer's outputs, one per chunk. `None` means that the analyzer found nothing in the
/// chunk.
pub type Outputs = Vec<Option<Output>>;

/// A whole analyzed video, as aggregators read it.
#[derive(Debug, Clone)]
pub struct AnalyzedVideo {
    /// First 16 hex characters of the SHA-1 of the file.
    pub video_id: VideoId,
    /// Length of the video, in seconds.
    pub duration: f64,
    /// The time span of each chunk, in seconds from the start of the video.
    pub spans: Vec<Span>,
    /// Outputs by analyzer id.
    pub outputs: BTreeMap<String, Outputs>,
    /// Lower-case words that were recognized with a confidence below 0.6 at every occurrence in the
    /// speech.
    pub doubtful: BTreeSet<String>,
}

/// Returns the lower-case words that were recognized with a confidence below 0.6 at every
/// occurrence.
pub(crate) fn doubtful_words(recognized: &[Word]) -> BTreeSet<String> {
    /// The confidence below which about half of the words are wrong, counted on the words between
    /// 0.5 and 0.6 of the development clips.
    const EVEN: f32 = 0.6;
    let parts = |word: &Word| -> Vec<String> {
        words(&word.text).into_iter().map(|part| part.lower).collect()
    };
    let (likely, unlikely): (Vec<&Word>, Vec<&Word>) =
        recognized.iter().partition(|word| word.confidence >= EVEN);
    let likely: BTreeSet<String> = likely.into_iter().flat_map(parts).collect();
    unlikely.into_iter().flat_map(parts).filter(|word| !likely.contains(word)).collect()
}

impl AnalyzedVideo {
    /// An analyzer's outputs as values of type `T`, each with the id and time span of its chunk.
    pub fn typed_outputs<T: 'static>(
        &self,
        analyzer: &str,
    ) -> impl Iterator<Item = (ChunkId, Span, &T)> {
        let outputs = self.outputs.get(analyzer).into_iter().flatten();
        self.chunks().zip(outputs).filter_map(|((chunk_id, span), output)| {
            Some((chunk_id, span, output_of::<T>(output.as_deref()?)?))
        })
    }

    /// The id and time span of each chunk of the video.
    pub fn chunks(&self) -> impl Iterator<Item = (ChunkId, Span)> {
        (0..).map(ChunkId).zip(self.spans.iter().copied())
    }

    /// The id of each chunk of the video.
    pub fn chunk_ids(&self) -> impl Iterator<Item = ChunkId> {
        self.chunks().map(|(chunk_id, _)| chunk_id)
    }

    /// An analyzer's output for one chunk.
    pub fn output(&self, analyzer: &str, chunk: ChunkId) -> Option<&dyn AnalyzerOutput> {
        Some(self.outputs.get(analyzer)?.get(chunk.index())?.as_deref()?.content())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_confident_occurrence_clears_a_doubtful_word() {
        let word =
            |text: &str, confidence| Word { text: text.into(), start: 0.0, end: 0.1, confidence };
        let words = [word("Webb", 0.4), word("space,", 0.3), word("Space", 0.9)];
        assert_eq!(doubtful_words(&words), BTreeSet::from(["webb".to_owned()]));
    }
}
