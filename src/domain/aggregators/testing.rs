//! Hand-made videos for the tests of the aggregators.

use serde_json::{Value, json};

use crate::domain::record::{AnalyzedVideo, Output, Outputs, Span};

/// A video of `count` chunks of `seconds` each, without output.
pub(super) fn video(seconds: f64, count: usize) -> AnalyzedVideo {
    AnalyzedVideo {
        video_id: "0123456789abcdef".into(),
        duration: seconds * count as f64,
        spans: (0..count)
            .map(|i| Span { start: i as f64 * seconds, end: (i + 1) as f64 * seconds })
            .collect(),
        outputs: [].into(),
    }
}

impl AnalyzedVideo {
    /// The video with one analyzer's outputs.
    pub(super) fn with(mut self, analyzer: &str, outputs: Outputs) -> Self {
        assert_eq!(outputs.len(), self.spans.len(), "one output per chunk");
        self.outputs.insert(analyzer.into(), outputs);
        self
    }
}

/// One chunk's output.
pub(super) fn output(value: Value) -> Option<Output> {
    Some(value.as_object().expect("an object").clone())
}

/// Diarization of one chunk: speaker, start, end, text.
pub(super) fn spoken(turns: &[(&str, f64, f64, &str)]) -> Option<Output> {
    let turns: Vec<Value> = turns
        .iter()
        .map(|(speaker, start, end, text)| {
            json!({"speaker": speaker, "start": start, "end": end, "text": text})
        })
        .collect();
    output(json!({"turns": turns}))
}
