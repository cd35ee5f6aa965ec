//! The sentences spoken in a video, from whichever speech analyzer has run.

use crate::analysis::analyzers::diarization::{self, ChunkDiarization};
use crate::analysis::analyzers::transcript::{self, ChunkTranscript};
use crate::analysis::video::AnalyzedVideo;
use crate::media::speech::Utterance;

/// The analyzers that recognize speech.
pub(crate) const SPEECH_ANALYZERS: [&str; 2] = [diarization::ID, transcript::ID];

/// Collects the sentences in chronological order, with speakers if diarization has run. The result
/// is empty if no speech was recognized.
pub(crate) fn utterances(video: &AnalyzedVideo) -> Vec<Utterance> {
    let voices =
        || video.typed_outputs::<ChunkDiarization>(diarization::ID).map(|(_, _, voices)| voices);
    let words =
        || video.typed_outputs::<ChunkTranscript>(transcript::ID).map(|(_, _, words)| words);
    let sources: [Vec<Utterance>; 4] = [
        voices().flat_map(|voices| voices.sentences.clone()).collect(),
        words().flat_map(|words| words.sentences.clone()).collect(),
        // Fallbacks for records that were stored without sentences.
        voices().flat_map(|voices| &voices.turns).map(Utterance::from).collect(),
        words().flat_map(|words| &words.segments).map(Utterance::from).collect(),
    ];
    let has_text = |utterance: &Utterance| !utterance.text.trim().is_empty();
    let first = sources.into_iter().find(|source| source.iter().any(has_text));
    let mut utterances = first.unwrap_or_default();
    utterances.retain(has_text);
    utterances.sort_by(|a, b| a.start.total_cmp(&b.start));
    // A sentence that crosses a chunk boundary is stored with both chunks.
    utterances.dedup();
    utterances
}
