//! Who spoke when: the turns of a video, put together again where the chunks cut them. Shared by
//! `speaker_stats` and `sentiment`.

use serde_json::Value;

use crate::domain::analysis::video::AnalyzedVideo;

/// Pieces of one speaker this close (seconds) are one turn that a chunk's end has cut.
const SEAM: f64 = 0.05;

/// One person speaking without a break.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Turn {
    pub(crate) speaker: String,
    /// Seconds.
    pub(crate) start: f64,
    /// Seconds.
    pub(crate) end: f64,
    pub(crate) text: String,
}

impl Turn {
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
pub(crate) fn turns(video: &AnalyzedVideo) -> Vec<Turn> {
    let outputs = video.outputs.get("diarization").into_iter().flatten().flatten();
    let mut pieces: Vec<Turn> = outputs
        .filter_map(|output| output.get("turns")?.as_array())
        .flatten()
        .filter_map(piece)
        .collect();
    pieces.sort_by(|a, b| a.start.total_cmp(&b.start).then_with(|| a.end.total_cmp(&b.end)));
    let mut turns: Vec<Turn> = Vec::new();
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

fn piece(turn: &Value) -> Option<Turn> {
    let (start, end) = (turn["start"].as_f64()?, turn["end"].as_f64()?);
    (end > start).then(|| Turn {
        speaker: turn["speaker"].as_str().unwrap_or("unknown").to_owned(),
        start,
        end,
        text: turn["text"].as_str().unwrap_or_default().trim().to_owned(),
    })
}
