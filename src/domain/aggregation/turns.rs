//! The speaker turns in a video. Turns that were split at chunk boundaries are joined again. Shared
//! by `speaker_stats` and `sentiment`.

use crate::analysis::analyzers::diarization::{self, ChunkDiarization};
use crate::analysis::video::AnalyzedVideo;
use crate::media::speech::SpeakerTurn;

/// Maximum gap between two parts of a turn that was split at a chunk boundary, in seconds.
const MAX_GAP: f64 = 0.05;

impl SpeakerTurn {
    pub(crate) fn seconds(&self) -> f64 {
        self.end - self.start
    }

    /// Returns the turn's weight in a mean over turns. The weight is the number of words or, if
    /// there is no text, an estimate from the turn's length.
    pub(crate) fn weight(&self) -> f64 {
        const WORDS_PER_SECOND: f64 = 2.5;
        match self.text.split_whitespace().count() {
            0 => self.seconds() * WORDS_PER_SECOND,
            words => words as f64,
        }
    }
}

/// Returns all turns in chronological order.
pub(crate) fn turns(video: &AnalyzedVideo) -> Vec<SpeakerTurn> {
    let outputs = video.typed_outputs::<ChunkDiarization>(diarization::ID);
    let pieces = outputs.flat_map(|(_, _, diarization)| &diarization.turns);
    let trimmed =
        |piece: &SpeakerTurn| SpeakerTurn { text: piece.text.trim().to_owned(), ..piece.clone() };
    let mut pieces: Vec<SpeakerTurn> =
        pieces.filter(|piece| piece.end > piece.start).map(trimmed).collect();
    pieces.sort_by(|a, b| a.start.total_cmp(&b.start).then_with(|| a.end.total_cmp(&b.end)));
    let mut turns: Vec<SpeakerTurn> = Vec::new();
    for piece in pieces {
        match turns.iter_mut().rev().find(|turn| turn.speaker == piece.speaker) {
            Some(turn) if (piece.start - turn.end).abs() <= MAX_GAP => {
                turn.end = turn.end.max(piece.end);
                if !turn.text.is_empty() && !piece.text.is_empty() {
                    turn.text.push(' ');
                }
                turn.text.push_str(&piece.text);
            }
            _ => turns.push(piece),
        }
    }
    turns
}
