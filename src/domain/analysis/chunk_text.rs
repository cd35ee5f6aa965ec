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
    /// Its segment.
    pub span: Span,
    /// What the analyzers tell, in their order; what the description says already is not repeated.
    pub statements: Vec<Statement>,
}

impl ChunkText {
    /// What is written about the chunk, if anything is.
    pub fn description(&self) -> Option<&str> {
        let prose = self.statements.iter().find(|s| s.kind == PassageKind::Prose);
        prose.map(|statement| statement.text.as_str())
    }

    /// All statements as prose, a line or more for each kind.
    pub fn prose(&self) -> String {
        let mut lines: Vec<String> = Vec::new();
        for told in self.statements.chunk_by(|a, b| a.kind == b.kind) {
            let texts: Vec<String> = told
                .iter()
                .map(|statement| match &statement.speaker {
                    Some(speaker) => format!("{speaker}: {}", statement.text),
                    None => statement.text.clone(),
                })
                .collect();
            lines.push(match told[0].kind {
                PassageKind::Speech => format!("Speech: {}", texts.join("\n")),
                PassageKind::People => format!("People: {}", texts.join(" ")),
                PassageKind::Screen => format!("Text on screen: {}", texts.join("; ")),
                PassageKind::Objects => format!("In view: {}.", texts.join(", ")),
                PassageKind::Prose | PassageKind::Scene => texts.join(" "),
            });
        }
        lines.join("\n")
    }
}

/// The text of every chunk that has any.
pub(crate) fn chunk_texts(video: &AnalyzedVideo, analyzers: &Analyzers) -> Vec<ChunkText> {
    let order = analyzers.by_telling(video.outputs.keys());
    (0..)
        .zip(&video.spans)
        .map(|(chunk_id, span)| {
            let findings = order.iter().filter_map(|id| video.finding(id, chunk_id as usize));
            let mut chunk = ChunkText { chunk_id, span: *span, statements: Vec::new() };
            for statement in findings.flat_map(|finding| finding.statements()) {
                let told = chunk.description().is_some_and(|d| tells(d, &statement));
                if !told && !statement.text.trim().is_empty() {
                    chunk.statements.push(statement);
                }
            }
            chunk
        })
        .filter(|chunk| !chunk.statements.is_empty())
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

/// Whether a description, which lists objects and quotes the screen by itself, tells this already.
fn tells(description: &str, statement: &Statement) -> bool {
    match statement.kind {
        PassageKind::Objects => true,
        PassageKind::Screen => description.contains(&statement.text),
        _ => false,
    }
}
