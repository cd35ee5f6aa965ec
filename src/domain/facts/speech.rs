//! Who speaks when.

use crate::aggregation::aggregators::speaker_stats::SpokenTurn;
use crate::aggregation::turns;
use crate::analysis::video::AnalyzedVideo;
use crate::kernel::time::rounded;

/// The turns of all speakers, in order, with corrected names.
pub(crate) fn turns(video: &AnalyzedVideo) -> Vec<SpokenTurn> {
    let turns = turns::turns(video).into_iter().map(|turn| SpokenTurn {
        start: rounded(turn.start),
        end: rounded(turn.end),
        speaker: turn.speaker,
    });
    turns.collect()
}
