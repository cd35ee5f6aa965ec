//! Voice changes: boundaries between turns of different speakers.

use crate::chunking::signal::Candidate;
use crate::media::speech::VoiceTurn;

/// Length from which both turns give a voice change full strength, in seconds. A shorter turn may
/// be an interjection.
const FULL_TURN: f64 = 3.0;

/// Maximum pause between the turns of a voice change, in seconds. A longer pause counts as silence.
const MAX_PAUSE: f64 = 5.0;

/// Finds voice changes. Each lies midway between the turns of two speakers, and the longer both
/// turns are, the stronger it is. Turns within another speaker's turn are ignored.
pub fn voice_changes(turns: &[VoiceTurn]) -> Vec<Candidate> {
    let mut leading: Vec<&VoiceTurn> = Vec::with_capacity(turns.len());
    for turn in turns {
        if leading.last().is_none_or(|last| turn.span.end > last.span.end) {
            leading.push(turn);
        }
    }
    leading
        .windows(2)
        .filter(|pair| {
            pair[0].speaker != pair[1].speaker && pair[1].span.start - pair[0].span.end < MAX_PAUSE
        })
        .map(|pair| {
            let shorter = pair[0].span.seconds().min(pair[1].span.seconds());
            Candidate {
                time: (pair[0].span.end + pair[1].span.start) / 2.0,
                strength: (shorter / FULL_TURN).min(1.0) as f32,
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::time::Span;

    #[test]
    fn changes_are_between_turns_with_strength_by_the_shorter() {
        let turn = |speaker: &str, start, end| VoiceTurn {
            speaker: speaker.into(),
            span: Span { start, end },
            channel: None,
        };
        let turns = [
            turn("S1", 0.0, 4.0),
            turn("S3", 1.0, 2.0),
            turn("S2", 5.0, 5.75),
            turn("S2", 7.0, 12.0),
            turn("S1", 12.0, 20.0),
            turn("S2", 40.0, 45.0),
        ];
        let found: Vec<_> = voice_changes(&turns).iter().map(|c| (c.time, c.strength)).collect();
        assert_eq!(found, [(4.5, 0.25), (12.0, 1.0)]);
    }
}
