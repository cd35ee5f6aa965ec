//! The lines that are read on screen, each from its first to its last frame.

use std::collections::BTreeMap;

use text::letters_and_digits;

use crate::analysis::analyzers::ocr::{self, ScreenText};
use crate::analysis::output::{OutputRecord, record_of};
use crate::analysis::video::AnalyzedVideo;
use crate::kernel::time::Span;
use crate::media::screen_text::ScreenLine;

/// A line on screen with the times that are known about it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TimedLine {
    pub(crate) text: String,
    /// The confidence of the reading, 0..1.
    pub(crate) confidence: f64,
    /// From the first to the last frame in which the line was read.
    pub(crate) span: Span,
    /// From the last frame before in which it was not read, to the first frame after.
    pub(crate) possible: Span,
}

impl TimedLine {
    /// The span in which the line is visible, on average, given when frames were read.
    pub(crate) fn likely(&self) -> Span {
        let middle = |a: f64, b: f64| (a + b) / 2.0;
        Span {
            start: middle(self.possible.start, self.span.start),
            end: middle(self.span.end, self.possible.end),
        }
    }

    /// A line that was read in a chunk. `frames` are the times of the frames that are read even if
    /// the picture does not change; all other frames are read because it has changed.
    fn new(line: &ScreenLine, chunk: Span, frames: &[f64]) -> Self {
        let is_at = |frame: &f64, time: f64| (frame - time).abs() < 0.001;
        let is_sampled = |time: f64| frames.iter().any(|frame| is_at(frame, time));
        let (first, last) = (line.first_seen, line.last_seen);
        let before = frames.iter().copied().rfind(|frame| *frame < first - 0.001);
        let after = frames.iter().copied().find(|frame| *frame > last + 0.001);
        Self {
            text: line.text.clone(),
            confidence: line.confidence,
            span: Span { start: first, end: last },
            possible: Span {
                start: if is_sampled(first) { before.unwrap_or(chunk.start) } else { first },
                end: if is_sampled(last) { after.unwrap_or(chunk.end) } else { last },
            },
        }
    }
}

/// The lines on screen in all chunks, in order of appearance. A line that continues in the next
/// chunk is one line.
pub(crate) fn lines(video: &AnalyzedVideo) -> Vec<TimedLine> {
    /// Maximum gap between two sightings of the same line, in seconds.
    const MAX_GAP: f64 = 1.0;
    let outputs = video.outputs.get(ocr::ID).map_or(&[][..], Vec::as_slice);
    let mut found: Vec<TimedLine> = Vec::new();
    let mut open: BTreeMap<String, usize> = BTreeMap::new();
    for (chunk, output) in video.spans.iter().zip(outputs) {
        let output = output.as_deref().and_then(|output| record_of::<ScreenText>(output));
        let Some(OutputRecord { output, frames, .. }) = output else { continue };
        let frames = frames.as_deref().unwrap_or_default();
        for line in output.texts.iter().map(|line| TimedLine::new(line, *chunk, frames)) {
            let key = letters_and_digits(&line.text);
            let known = open.get(&key).map(|at| &mut found[*at]);
            match known.filter(|known| line.possible.start - known.possible.end <= MAX_GAP) {
                Some(known) => {
                    known.span.end = known.span.end.max(line.span.end);
                    known.possible.end = known.possible.end.max(line.possible.end);
                    known.confidence = known.confidence.max(line.confidence);
                }
                None => {
                    open.insert(key, found.len());
                    found.push(line);
                }
            }
        }
    }
    found.sort_by(|a, b| a.span.start.total_cmp(&b.span.start));
    found
}
