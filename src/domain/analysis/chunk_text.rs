//! What each chunk says, merged from its analyzers: the material of aggregates.

use std::collections::{BTreeSet, HashMap};

use ports::llm::PassageKind;
use text::words;

use crate::domain::analysis::Analyzers;
use crate::domain::analysis::finding::Statement;
use crate::domain::analysis::video::AnalyzedVideo;
use crate::domain::kernel::time::Span;
use crate::domain::kernel::video::ChunkId;

/// What one chunk says.
#[derive(Debug, Clone, PartialEq)]
pub struct ChunkText {
    /// Names the chunk within its video.
    pub chunk_id: ChunkId,
    /// When it is, seconds of the video.
    pub span: Span,
    /// What each analyzer tells, in their order; what one says already is not repeated.
    pub told: Vec<Vec<Statement>>,
    /// Words, in lower case, that may have been misheard.
    pub doubtful: Vec<String>,
}

impl ChunkText {
    /// All that is told.
    pub fn statements(&self) -> impl Iterator<Item = &Statement> {
        self.told.iter().flatten()
    }
}

impl ChunkText {
    /// Marks the words that are among the doubtful ones of the video.
    fn doubt(&mut self, doubtful: &BTreeSet<String>) {
        let said = self.statements().filter(|told| is_speech(told));
        let said: BTreeSet<String> =
            said.flat_map(|told| words(&told.text)).map(|word| word.lower).collect();
        self.doubtful = said.intersection(doubtful).cloned().collect();
    }

    /// Drops what a description quotes of the speech, where another finding has all of it.
    fn keep_all_that_is_said(&mut self) {
        let says = |told: &&Vec<Statement>| told.iter().any(is_speech);
        if self.told.iter().filter(says).count() > 1 {
            let describes = |told: &&mut Vec<Statement>| !told.iter().all(is_speech);
            self.told
                .iter_mut()
                .filter(describes)
                .for_each(|told| told.retain(|told| !is_speech(told)));
            self.told.retain(|told| !told.is_empty());
        }
    }
}

fn is_speech(told: &Statement) -> bool {
    told.kind == PassageKind::Speech
}

/// The text of every chunk that has any, of words that are likely right. What runs over the end of a
/// chunk is told once, of the chunk that has the most of it.
pub(crate) fn chunk_texts(video: &AnalyzedVideo, analyzers: &Analyzers) -> Vec<ChunkText> {
    let order = analyzers.by_telling(video.outputs.keys());
    let mut chunks: Vec<ChunkText> = video
        .chunks()
        .map(|(chunk_id, span)| {
            let findings = order.iter().filter_map(|id| video.finding(id, chunk_id));
            let mut chunk = ChunkText { chunk_id, span, told: Vec::new(), doubtful: Vec::new() };
            for finding in findings {
                let mut news = finding.statements();
                news.retain(|new| {
                    let known = chunk.statements().any(|told| tells(told, new));
                    !known && !new.text.trim().is_empty() && new.is_likely()
                });
                if !news.is_empty() {
                    chunk.told.push(news);
                }
            }
            chunk.keep_all_that_is_said();
            chunk.doubt(&video.doubtful);
            chunk
        })
        .collect();
    tell_once(&mut chunks);
    chunks.retain(|chunk| !chunk.told.is_empty());
    chunks
}

/// Leaves a statement that several chunks tell of one stretch to the one that has the most of it.
fn tell_once(chunks: &mut [ChunkText]) {
    /// What is told, by whom and from when, in milliseconds.
    type Told = (Option<String>, i64, String);
    let told = |statement: &Statement| -> Option<Told> {
        let start = (statement.span?.start * 1000.0).round() as i64;
        Some((statement.speaker.clone(), start, statement.text.clone()))
    };
    let mut most: HashMap<Told, (f64, ChunkId)> = HashMap::new();
    for chunk in chunks.iter() {
        for statement in chunk.statements() {
            let (Some(key), Some(span)) = (told(statement), statement.span) else { continue };
            let inside = span.end.min(chunk.span.end) - span.start.max(chunk.span.start);
            let best = most.entry(key).or_insert((inside, chunk.chunk_id));
            if inside > best.0 {
                *best = (inside, chunk.chunk_id);
            }
        }
    }
    for chunk in chunks {
        let id = chunk.chunk_id;
        let own = |statement: &Statement| {
            told(statement).is_none_or(|key| most.get(&key).is_none_or(|(_, chunk)| *chunk == id))
        };
        chunk.told.iter_mut().for_each(|statements| statements.retain(own));
        chunk.told.retain(|statements| !statements.is_empty());
    }
}

/// The analyzers whose output has text, in the order in which they tell.
pub(crate) fn based_on(video: &AnalyzedVideo, analyzers: &Analyzers) -> Vec<String> {
    let tells = |id: &&str| {
        video
            .chunk_ids()
            .filter_map(|chunk| video.finding(id, chunk))
            .flat_map(|finding| finding.statements())
            .any(|statement| !statement.text.trim().is_empty())
    };
    let order = analyzers.by_telling(video.outputs.keys());
    order.into_iter().filter(tells).map(str::to_owned).collect()
}

/// Whether a statement of one finding tells what another's does: a description names what is in
/// view, and whatever quotes the screen need not be followed by its lines.
fn tells(told: &Statement, new: &Statement) -> bool {
    match new.kind {
        PassageKind::Objects => matches!(told.kind, PassageKind::Prose | PassageKind::Objects),
        PassageKind::Screen => {
            matches!(told.kind, PassageKind::Prose | PassageKind::Screen)
                && told.text.contains(&new.text)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_runs_over_the_end_of_a_chunk_is_told_once() {
        let said = |start, end, text: &str| Statement {
            span: Some(Span { start, end }),
            ..Statement::new(PassageKind::Speech, text)
        };
        let chunk = |chunk_id, start, told: &[Statement]| ChunkText {
            chunk_id: ChunkId(chunk_id),
            span: Span { start, end: start + 10.0 },
            told: vec![told.to_vec()],
            doubtful: Vec::new(),
        };
        let over = said(8.0, 13.0, "One two three.");
        let still = Statement::new(PassageKind::Prose, "A street.");
        let mut chunks = [
            chunk(0, 0.0, &[still.clone(), over.clone()]),
            chunk(1, 10.0, &[over.clone(), said(13.0, 15.0, "Four."), still.clone()]),
            chunk(2, 20.0, &[said(22.0, 24.0, "Four.")]),
        ];
        tell_once(&mut chunks);
        let told = chunks.map(|c| c.statements().map(|s| s.text.clone()).collect::<Vec<_>>());
        assert_eq!(told[0], ["A street."]);
        assert_eq!(told[1], ["One two three.", "Four.", "A street."]);
        assert_eq!(told[2], ["Four."], "said again is told again");
    }
}
