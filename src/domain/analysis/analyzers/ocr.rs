//! `ocr`: the text in the picture of a chunk, each line once with when and where it is seen.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use ports::llm::PassageKind;
use ports::ocr::TextLine;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use text::letters_and_digits;

use crate::domain::analysis::evidence::ChunkEvidence;
use crate::domain::analysis::finding::{Finding, Statement, Stored, read};
use crate::domain::analysis::hit::HitDocument;
use crate::domain::analysis::video::Output;
use crate::domain::analysis::{Analyzer, AnalyzerSpec, Column, Indexed, READABLE};
use crate::domain::kernel::error::Result;
use crate::domain::kernel::ports::Models;
use crate::domain::kernel::time::rounded;
use crate::domain::media::tracking::Location;

/// The analyzer.
pub(crate) struct Ocr;

/// Its id.
pub(crate) const ID: &str = "ocr";

const VERSION: u32 = 1;

/// The text in the picture of a chunk.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct ScreenText {
    /// All lines.
    pub(crate) text: String,
    /// One record for each line.
    pub(crate) texts: Vec<ScreenLine>,
}

/// A line of text over time.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ScreenLine {
    /// In its surest reading.
    pub text: String,
    /// Of that reading, 0..1.
    pub confidence: f64,
    /// Seconds.
    pub first_seen: f64,
    /// Seconds.
    pub last_seen: f64,
    /// Every sight, in order of time; left out of hits.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub locations: Vec<Location>,
}

/// Readings of one line are at least this alike (normalised edit distance, spaces aside).
const SAME_LINE: f64 = 0.8;

#[async_trait]
impl Analyzer for Ocr {
    fn spec(&self) -> &'static AnalyzerSpec {
        &AnalyzerSpec {
            id: ID,
            group: None,
            description: "text in the picture: lines with when and where they are seen",
            evidence_rank: 5,
            telling_rank: 3,
            columns: &[Column { name: "on_screen_text", rank: 10 }],
        }
    }

    fn unavailable(&self, models: &Models) -> Option<String> {
        let without = "no text reader; `shotlog models --fetch` gets one or says how (ocr.kind)";
        models.ocr.is_none().then(|| without.into())
    }

    fn fingerprint(&self, models: &Models) -> String {
        format!("{}/v{VERSION}", models.ocr.as_ref().map_or("none", |r| r.model()))
    }

    fn cacheable(&self, _models: &Models) -> bool {
        true
    }

    async fn analyze(&self, models: &Models, chunk: &ChunkEvidence) -> Result<Option<Output>> {
        let lines = merged(chunk.lines(models).await?);
        if lines.is_empty() {
            return Ok(None);
        }
        let text = lines.iter().map(|line| line.best.text.trim()).collect::<Vec<_>>().join("\n");
        let texts = lines.iter().map(Line::record).collect();
        Ok(Some(Arc::new(Stored::seen(ScreenText { text, texts }, chunk.frame_times()))))
    }

    fn read(&self, stored: Value) -> Result<Output> {
        read::<ScreenText>(stored)
    }

    fn tells(&self, hit: &HitDocument) -> Vec<Statement> {
        let lines: Vec<&str> = hit.texts.iter().map(|line| line.text.as_str()).collect();
        vec![Statement::new(PassageKind::Screen, lines.join("; "))]
    }
}

impl Finding for ScreenText {
    fn index(&self) -> Indexed {
        let text = self.text.replace('\n', "; ");
        let fields = BTreeMap::from([("combined", text.clone()), ("description", text.clone())]);
        let texts = self
            .texts
            .iter()
            .map(|line| ScreenLine { locations: Vec::new(), ..line.clone() })
            .collect();
        let document = HitDocument { description: text, texts, ..HitDocument::default() };
        Indexed { fields, document }
    }

    fn statements(&self) -> Vec<Statement> {
        let lines = self.text.lines().filter(|line| !line.trim().is_empty());
        lines.map(|line| Statement::new(PassageKind::Screen, line)).collect()
    }

    fn cells(&self) -> Vec<String> {
        vec![self.text.clone()]
    }
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

/// The lines of all frames, each once, in order of first sight and from top to bottom.
fn merged(frames: &[(f64, Vec<TextLine>)]) -> Vec<Line<'_>> {
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
    merged
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
            lines.iter().map(|l| (l.best.text.as_str(), l.seen.len(), l.seen[0].0)).collect();
        assert_eq!(seen, [("Exit", 1, 1.0), ("SPEED LIMIT", 3, 1.0), ("Speed limit", 1, 3.0)]);
    }
}
