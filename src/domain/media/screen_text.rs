//! The text that is read in frames, each line once with when and where it is seen.

use ports::ocr::TextLine;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use text::letters_and_digits;

use crate::domain::kernel::time::rounded;
use crate::domain::media::tracking::Location;

/// Lines read with less confidence are noise more often than text.
const READABLE: f32 = 0.7;

/// Readings of one line are at least this alike (normalised edit distance, spaces aside).
const SAME_LINE: f64 = 0.8;

/// A line of text over time.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ScreenLine {
    /// In its surest reading.
    pub text: String,
    /// Of that reading, 0..1.
    pub confidence: f64,
    /// When it is first seen, seconds of the video.
    pub first_seen: f64,
    /// When it was last seen, seconds of the video.
    pub last_seen: f64,
    /// Every sight, in order of time; left out of hits.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub locations: Vec<Location>,
}

/// The lines of all frames, given with their times in order, each once: in order of when they are
/// first seen, and from top to bottom.
pub(crate) fn merged(frames: &[(f64, Vec<TextLine>)]) -> Vec<ScreenLine> {
    let mut merged: Vec<Line<'_>> = Vec::new();
    for (time, lines) in frames {
        for line in lines.iter().filter(|line| line.confidence >= READABLE) {
            let key = letters_and_digits(&line.text);
            if key.is_empty() {
                continue;
            }
            // A line is in one place at a time, so two alike in one frame are two lines.
            let known = merged.iter_mut().find(|known| {
                known.seen.last().is_some_and(|(last, _)| last < time)
                    && strsim::normalized_levenshtein(&known.key, &key) >= SAME_LINE
            });
            match known {
                Some(known) => {
                    if line.confidence > known.best.confidence {
                        (known.best, known.key) = (line, key);
                    }
                    known.seen.push((*time, line));
                }
                None => merged.push(Line { key, best: line, seen: vec![(*time, line)] }),
            }
        }
    }
    let place = |line: &Line<'_>| (line.seen[0].0, line.seen[0].1.bounds[1]);
    merged.sort_by(|a, b| {
        let ((s, y), (t, v)) = (place(a), place(b));
        s.total_cmp(&t).then(y.total_cmp(&v))
    });
    merged.iter().map(Line::record).collect()
}

/// One line over time.
struct Line<'a> {
    /// Letters and digits in lower case.
    key: String,
    /// The surest reading.
    best: &'a TextLine,
    seen: Vec<(f64, &'a TextLine)>,
}

impl Line<'_> {
    fn record(&self) -> ScreenLine {
        let (first, last) = (self.seen.first(), self.seen.last());
        ScreenLine {
            text: self.best.text.trim().to_owned(),
            confidence: rounded(self.best.confidence.into()),
            first_seen: rounded(first.map_or(0.0, |(t, _)| *t)),
            last_seen: rounded(last.map_or(0.0, |(t, _)| *t)),
            locations: self
                .seen
                .iter()
                .map(|(t, line)| Location::new(*t, &line.bounds, line.confidence))
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_stays_is_one_line_in_its_surest_reading() {
        let line = |text: &str, confidence, y| TextLine {
            text: text.into(),
            confidence,
            bounds: [0.1, y, 0.5, 0.1],
        };
        let frames = [
            (
                1.0,
                vec![line("SPEED LlMIT", 0.8, 0.9), line("Exit", 0.9, 0.1), line("~~", 0.9, 0.5)],
            ),
            (2.0, vec![line("SPEED LIMIT", 0.95, 0.9), line("noise", 0.3, 0.2)]),
            (3.0, vec![line("SPEEDLIMIT", 0.9, 0.9), line("Speed limit", 0.9, 0.2)]),
        ];
        let lines = merged(&frames);
        let seen: Vec<_> =
            lines.iter().map(|l| (l.text.as_str(), l.locations.len(), l.first_seen)).collect();
        assert_eq!(seen, [("Exit", 1, 1.0), ("SPEED LIMIT", 3, 1.0), ("Speed limit", 1, 3.0)]);
    }
}
