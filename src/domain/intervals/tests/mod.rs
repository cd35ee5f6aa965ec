//! Expressions over made-up videos.

mod algebra;
mod expressions;
mod locate;
mod terms;

use ports::transcriber::Word;
use serde_json::Value;

use super::evaluate::CompiledExpression;
use super::expression::IntervalExpression;
use super::settings::IntervalSettings;
use super::table::{IntervalTable, TableIdentity};
use crate::analysis::correction::CorrectionSet;
use crate::analysis::video::AnalyzedVideo;
use crate::facts::{Needs, VideoFacts};
use crate::kernel::time::Span;
use crate::media::speech::{Speech, Words};

/// The table of a video with these facts.
pub(crate) fn table(facts: &VideoFacts) -> IntervalTable {
    let identity = TableIdentity { video_id: facts.video_id, created_at: 0, epoch: 1 };
    IntervalTable::new(identity, facts)
}

/// The facts of a video with these outputs and, if it was recognised, this speech.
pub(crate) fn facts(video: &AnalyzedVideo, speech: Option<Speech>) -> VideoFacts {
    let speech = CorrectionSet::new(Vec::new(), speech).into_speech();
    VideoFacts { speech, ..VideoFacts::from_outputs(video, Needs::TIMED, true) }
}

/// Speech with voice activity in these spans, and words with their start and end, in seconds.
pub(crate) fn speech(spans: &[(f64, f64)], words: &[(&str, f64, f64)]) -> Speech {
    let word = |(text, start, end): &(&str, f64, f64)| Word {
        text: (*text).to_owned(),
        start: *start,
        end: *end,
        confidence: 0.9,
    };
    Speech {
        voices_by: "test/test/v1".into(),
        spans: spans.iter().map(|(start, end)| Span { start: *start, end: *end }).collect(),
        turns: Vec::new(),
        words: Some(Words {
            recogniser: "test".into(),
            language: None,
            languages: Vec::new(),
            words: words.iter().map(word).collect(),
            channels: Vec::new(),
        }),
    }
}

fn parse(expression: &Value) -> IntervalExpression {
    let limits = IntervalSettings::default();
    IntervalExpression::parse(expression, &limits).unwrap_or_else(|e| panic!("{expression}: {e}"))
}

pub(crate) fn compile(expression: &Value) -> CompiledExpression {
    CompiledExpression::new(&parse(expression), &|_| None)
}

/// The spans in which an expression holds, in seconds.
fn spans(table: &IntervalTable, expression: &Value) -> Vec<(f64, f64)> {
    let holds = compile(expression).spans(table);
    let seconds = holds.intervals().iter().map(|interval| interval.span());
    seconds.map(|span| (span.start, span.end)).collect()
}
