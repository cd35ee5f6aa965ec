//! The statements about each chunk, merged from all analyzers' outputs: the input to aggregators.

use std::collections::{BTreeSet, HashMap};

use ports::llm::PassageKind;
use text::words;

use crate::analysis::Analyzers;
use crate::analysis::output::Statement;
use crate::analysis::video::AnalyzedVideo;
use crate::kernel::time::Span;
use crate::kernel::video::ChunkId;

/// The merged statements about one chunk.
#[derive(Debug, Clone, PartialEq)]
pub struct ChunkText {
    /// The chunk's id within its video.
    pub chunk_id: ChunkId,
    /// The time span, in seconds from the start of the video.
    pub span: Span,
    /// The statements from each analyzer, ordered by `statement_rank`, without duplicates.
    pub statements_by_analyzer: Vec<Vec<Statement>>,
    /// Lower-case words that may have been misrecognized.
    pub doubtful: Vec<String>,
}

impl ChunkText {
    /// All statements.
    pub fn statements(&self) -> impl Iterator<Item = &Statement> {
        self.statements_by_analyzer.iter().flatten()
    }

    /// Records which of the video's doubtful words are spoken in the chunk.
    fn mark_doubtful(&mut self, doubtful: &BTreeSet<String>) {
        let speech = self.statements().filter(|statement| is_speech(statement));
        let spoken: BTreeSet<String> =
            speech.flat_map(|statement| words(&statement.text)).map(|word| word.lower).collect();
        self.doubtful = spoken.intersection(doubtful).cloned().collect();
    }

    /// Drops speech quoted in a description if another analyzer provides the complete speech.
    fn drop_quoted_speech(&mut self) {
        let has_speech = |statements: &&Vec<Statement>| statements.iter().any(is_speech);
        if self.statements_by_analyzer.iter().filter(has_speech).count() > 1 {
            let is_mixed = |statements: &&mut Vec<Statement>| !statements.iter().all(is_speech);
            self.statements_by_analyzer
                .iter_mut()
                .filter(is_mixed)
                .for_each(|statements| statements.retain(|statement| !is_speech(statement)));
            self.statements_by_analyzer.retain(|statements| !statements.is_empty());
        }
    }
}

fn is_speech(statement: &Statement) -> bool {
    statement.kind == PassageKind::Speech
}

/// Collects the statements about each chunk, except those that are unlikely to be right. Omits
/// chunks without statements. A sentence that crosses a chunk boundary is kept only in the chunk
/// that contains most of it.
pub(crate) fn chunk_texts(video: &AnalyzedVideo, analyzers: &Analyzers) -> Vec<ChunkText> {
    let order = analyzers.by_statement_rank(video.outputs.keys());
    let mut chunks: Vec<ChunkText> = video
        .chunks()
        .map(|(chunk_id, span)| {
            let outputs = order.iter().filter_map(|id| video.output(id, chunk_id));
            let mut chunk = ChunkText {
                chunk_id,
                span,
                statements_by_analyzer: Vec::new(),
                doubtful: Vec::new(),
            };
            for output in outputs {
                let mut statements = output.statements();
                statements.retain(|new| {
                    let redundant = chunk.statements().any(|earlier| covers(earlier, new));
                    !redundant && !new.text.trim().is_empty() && new.is_likely()
                });
                if !statements.is_empty() {
                    chunk.statements_by_analyzer.push(statements);
                }
            }
            chunk.drop_quoted_speech();
            chunk.mark_doubtful(&video.doubtful);
            chunk
        })
        .collect();
    deduplicate(&mut chunks);
    chunks.retain(|chunk| !chunk.statements_by_analyzer.is_empty());
    chunks
}

/// Keeps a statement that several chunks share only in the chunk that contains most of its span.
fn deduplicate(chunks: &mut [ChunkText]) {
    /// The speaker, the start in milliseconds and the text.
    type Key = (Option<String>, i64, String);
    let key = |statement: &Statement| -> Option<Key> {
        let start = (statement.span?.start * 1000.0).round() as i64;
        Some((statement.speaker.clone(), start, statement.text.clone()))
    };
    let mut best: HashMap<Key, (f64, ChunkId)> = HashMap::new();
    for chunk in chunks.iter() {
        for statement in chunk.statements() {
            let (Some(key), Some(span)) = (key(statement), statement.span) else { continue };
            let inside = span.end.min(chunk.span.end) - span.start.max(chunk.span.start);
            let best = best.entry(key).or_insert((inside, chunk.chunk_id));
            if inside > best.0 {
                *best = (inside, chunk.chunk_id);
            }
        }
    }
    for chunk in chunks {
        let id = chunk.chunk_id;
        let own = |statement: &Statement| {
            key(statement).is_none_or(|key| best.get(&key).is_none_or(|(_, chunk)| *chunk == id))
        };
        chunk.statements_by_analyzer.iter_mut().for_each(|statements| statements.retain(own));
        chunk.statements_by_analyzer.retain(|statements| !statements.is_empty());
    }
}

/// The ids of the analyzers that made statements about the video, ordered by `statement_rank`.
pub(crate) fn based_on(video: &AnalyzedVideo, analyzers: &Analyzers) -> Vec<String> {
    let has_text = |id: &&str| {
        video
            .chunk_ids()
            .filter_map(|chunk| video.output(id, chunk))
            .flat_map(|output| output.statements())
            .any(|statement| !statement.text.trim().is_empty())
    };
    let order = analyzers.by_statement_rank(video.outputs.keys());
    order.into_iter().filter(has_text).map(str::to_owned).collect()
}

/// Whether an earlier statement makes a new one redundant. It does if it is a description that
/// already names the visible objects, or if it quotes the screen and already contains the
/// recognized line.
fn covers(earlier: &Statement, new: &Statement) -> bool {
    match new.kind {
        PassageKind::Objects => matches!(earlier.kind, PassageKind::Prose | PassageKind::Objects),
        PassageKind::Screen => {
            matches!(earlier.kind, PassageKind::Prose | PassageKind::Screen)
                && earlier.text.contains(&new.text)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deduplicate_keeps_a_sentence_in_one_chunk() {
        let speech = |start, end, text: &str| Statement {
            span: Some(Span { start, end }),
            ..Statement::new(PassageKind::Speech, text)
        };
        let chunk = |chunk_id, start, statements: &[Statement]| ChunkText {
            chunk_id: ChunkId(chunk_id),
            span: Span { start, end: start + 10.0 },
            statements_by_analyzer: vec![statements.to_vec()],
            doubtful: Vec::new(),
        };
        let crossing = speech(8.0, 13.0, "One two three.");
        let still = Statement::new(PassageKind::Prose, "A street.");
        let mut chunks = [
            chunk(0, 0.0, &[still.clone(), crossing.clone()]),
            chunk(1, 10.0, &[crossing.clone(), speech(13.0, 15.0, "Four."), still.clone()]),
            chunk(2, 20.0, &[speech(22.0, 24.0, "Four.")]),
        ];
        deduplicate(&mut chunks);
        let texts = chunks.map(|c| c.statements().map(|s| s.text.clone()).collect::<Vec<_>>());
        assert_eq!(texts[0], ["A street."]);
        assert_eq!(texts[1], ["One two three.", "Four.", "A street."]);
        assert_eq!(texts[2], ["Four."], "a repeated sentence stays");
    }
}
