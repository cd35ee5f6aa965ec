//! Who spoke when: the turns of a video, put together again where the chunks cut them. Shared by
//! `speaker_stats` and `sentiment`.

use crate::domain::analysis::analyzers::diarization::{self, Voices};
use crate::domain::analysis::video::AnalyzedVideo;
use crate::domain::media::speech::SpeakerTurn;

/// Pieces of one speaker this close (seconds) are one turn that a chunk's end has cut.
const SEAM: f64 = 0.05;

impl SpeakerTurn {
    pub(crate) fn seconds(&self) -> f64 {
        self.end - self.start
    }

    /// Its weight in a mean over turns: words where they are known, else seconds at the usual rate
    /// of speech.
    pub(crate) fn weight(&self) -> f64 {
        const WORDS_PER_SECOND: f64 = 2.5;
        match self.text.split_whitespace().count() {
            0 => self.seconds() * WORDS_PER_SECOND,
            words => words as f64,
        }
    }
}

/// Every turn in order of time.
pub(crate) fn turns(video: &AnalyzedVideo) -> Vec<SpeakerTurn> {
    let voices = video.of::<Voices>(diarization::ID);
    let pieces = voices.flat_map(|(_, _, voices)| &voices.turns);
    let trimmed =
        |piece: &SpeakerTurn| SpeakerTurn { text: piece.text.trim().to_owned(), ..piece.clone() };
    let mut pieces: Vec<SpeakerTurn> =
        pieces.filter(|piece| piece.end > piece.start).map(trimmed).collect();
    pieces.sort_by(|a, b| a.start.total_cmp(&b.start).then_with(|| a.end.total_cmp(&b.end)));
    let mut turns: Vec<SpeakerTurn> = Vec::new();
    for piece in pieces {
        match turns.iter_mut().rev().find(|turn| turn.speaker == piece.speaker) {
            Some(turn) if (piece.start - turn.end).abs() <= SEAM => {
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
