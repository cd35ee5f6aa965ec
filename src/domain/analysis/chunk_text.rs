//! What each chunk says, merged from its analyzers: the material of aggregates.

use ports::llm::PassageKind;

use crate::domain::analysis::Analyzers;
use crate::domain::analysis::finding::Statement;
use crate::domain::analysis::video::AnalyzedVideo;
use crate::domain::kernel::time::Span;

/// What one chunk says.
#[derive(Debug, Clone, PartialEq)]
pub struct ChunkText {
    /// Position in the chunk list.
    pub chunk_id: u32,
    /// When it is, seconds of the video.
    pub span: Span,
    /// What each analyzer tells, in their order; what one says already is not repeated.
    pub told: Vec<Vec<Statement>>,
}

impl ChunkText {
    /// All that is told.
    pub fn statements(&self) -> impl Iterator<Item = &Statement> {
        self.told.iter().flatten()
    }
}

/// The text of every chunk that has any.
pub(crate) fn chunk_texts(video: &AnalyzedVideo, analyzers: &Analyzers) -> Vec<ChunkText> {
    let order = analyzers.by_telling(video.outputs.keys());
    (0..)
        .zip(&video.spans)
        .map(|(chunk_id, span)| {
            let findings = order.iter().filter_map(|id| video.finding(id, chunk_id as usize));
            let mut chunk = ChunkText { chunk_id, span: *span, told: Vec::new() };
            for finding in findings {
                let mut news = finding.statements();
                news.retain(|new| {
                    let known = chunk.statements().any(|told| tells(told, new));
                    !known && !new.text.trim().is_empty()
                });
                if !news.is_empty() {
                    chunk.told.push(news);
                }
            }
            chunk
        })
        .filter(|chunk| !chunk.told.is_empty())
        .collect()
}

/// The analyzers whose output has text, in the order in which they tell.
pub(crate) fn based_on(video: &AnalyzedVideo, analyzers: &Analyzers) -> Vec<String> {
    let tells = |id: &&str| {
        (0..video.spans.len())
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
