//! What is said in a video, sentence by sentence, whichever analyzer heard it.

use crate::domain::analysis::analyzers::diarization::{self, Voices};
use crate::domain::analysis::analyzers::transcript::{self, Words};
use crate::domain::analysis::video::AnalyzedVideo;
use crate::domain::media::speech::Utterance;

/// The analyzers that hear words.
pub(crate) const HEARD_BY: [&str; 2] = [diarization::ID, transcript::ID];

/// What is said in order of time, with speakers where those are told apart. Empty where nothing was
/// recognised.
pub(crate) fn spoken(video: &AnalyzedVideo) -> Vec<Utterance> {
    let voices = || video.of::<Voices>(diarization::ID).map(|(_, _, voices)| voices);
    let words = || video.of::<Words>(transcript::ID).map(|(_, _, words)| words);
    let sources: [Vec<Utterance>; 4] = [
        voices().flat_map(|voices| voices.sentences.clone()).collect(),
        words().flat_map(|words| words.sentences.clone()).collect(),
        // What was stored without sentences.
        voices().flat_map(|voices| &voices.turns).map(Utterance::from).collect(),
        words().flat_map(|words| &words.segments).map(Utterance::from).collect(),
    ];
    let said = |source: &Vec<Utterance>| source.iter().any(|said| !said.text.trim().is_empty());
    let mut spoken = sources.into_iter().find(said).unwrap_or_default();
    spoken.retain(|said| !said.text.trim().is_empty());
    spoken.sort_by(|a, b| a.start.total_cmp(&b.start));
    // A sentence that runs over the end of a chunk is kept with both.
    spoken.dedup();
    spoken
}
