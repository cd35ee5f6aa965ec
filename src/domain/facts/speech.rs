//! Who speaks when, and whether voice activity is known.

use crate::aggregation::aggregators::speaker_stats::SpokenTurn;
use crate::aggregation::turns;
use crate::analysis::video::AnalyzedVideo;
use crate::kernel::time::rounded;
use crate::media::speech::Speech;

/// The turns of all speakers, in order, with corrected names.
pub(crate) fn turns(video: &AnalyzedVideo) -> Vec<SpokenTurn> {
    let turns = turns::turns(video).into_iter().map(|turn| SpokenTurn {
        start: rounded(turn.start),
        end: rounded(turn.end),
        speaker: turn.speaker,
    });
    turns.collect()
}

/// Whether the spans of voice activity are known. Without a detector, there are none, although
/// somebody may speak.
pub(crate) fn has_voice_activity(speech: &Speech) -> bool {
    !speech.voices_by.starts_with("none/")
}
