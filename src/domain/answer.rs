//! Answers from evidence: every sentence cites the moments that bear it out.

use ports::llm::{Answer, Passage, Request, Task};

use super::Shotlog;
use super::error::{Error, Result};
use super::record::Span;
use super::search::SearchResult;

const PROMPT: &str = include_str!("answer.md");

/// Longest answer.
const MAX_TOKENS: u32 = 700;

/// About how many characters one token of English takes.
const CHARACTERS_PER_TOKEN: usize = 4;

/// A piece of text about a moment of a video.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Evidence {
    pub(crate) video_id: String,
    pub(crate) span: Span,
    /// What it is, as `description`, `speech`, `chapter`.
    pub(crate) source: String,
    pub(crate) text: String,
}

impl Evidence {
    /// What a search hit says: its prose and its speech.
    pub(crate) fn of_hit(hit: &SearchResult) -> Vec<Self> {
        let document = &hit.document;
        let evidence = |source: &str, text: String| Self {
            video_id: hit.video_id.clone(),
            span: Span { start: document.start, end: document.end },
            source: source.into(),
            text,
        };
        let mut pieces = Vec::new();
        if !document.description.is_empty() {
            pieces.push(evidence("description", document.description.clone()));
        }
        if !document.turns.is_empty() {
            let turns: Vec<String> =
                document.turns.iter().map(|t| format!("{}: {}", t.speaker, t.text)).collect();
            pieces.push(evidence("speech", turns.join("\n")));
        }
        if pieces.is_empty() && !document.text.is_empty() {
            pieces.push(evidence("text", document.text.clone()));
        }
        pieces
    }
}

/// How a moment is cited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CitationForm {
    /// `[<video_id> <start>-<end>s]`, in `/query`.
    Seconds,
    /// `[<video_id> <start>-<end>]`, in `/ask`.
    Plain,
}

impl CitationForm {
    fn cite(self, evidence: &Evidence) -> String {
        let unit = if self == Self::Seconds { "s" } else { "" };
        let Span { start, end } = evidence.span;
        format!("[{} {start}-{end}{unit}]", evidence.video_id)
    }
}

impl Shotlog {
    /// Answers a question from evidence, most relevant first; what does not fit the model's context
    /// is left out from the end. `None` without evidence. When nothing in the evidence answers the
    /// question, the answer says so and cites the nearest moment.
    pub(crate) async fn answer(
        &self,
        question: &str,
        evidence: &[Evidence],
        form: CitationForm,
    ) -> Result<Option<String>> {
        let budget = self.ports.llm.context_tokens().min(self.settings.answer_tokens as usize)
            * CHARACTERS_PER_TOKEN;
        let mut used = 0;
        let kept: Vec<&Evidence> = evidence
            .iter()
            .take_while(|e| {
                used += e.text.len() + e.source.len() + 16;
                used <= budget
            })
            .collect();
        let Some(nearest) = kept.first() else { return Ok(None) };
        let passages = kept
            .iter()
            .enumerate()
            .map(|(i, e)| Passage {
                id: format!("p{}", i + 1),
                source: format!("{} of video {}, {}", e.source, e.video_id, e.span.timecode()),
                text: e.text.clone(),
            })
            .collect();
        let request = Request {
            task: Task::Answer,
            instructions: PROMPT.into(),
            passages,
            question: Some(question.to_owned()),
            images: Vec::new(),
            max_tokens: MAX_TOKENS,
        };
        let completion = self.ports.llm.complete(&request).await?;
        let answer: Answer = serde_json::from_value(completion.answer)
            .map_err(|e| Error::corrupt(format!("the model's answer does not parse: {e}")))?;
        let sentences: Vec<String> = answer
            .sentences
            .iter()
            .filter_map(|s| cited(&s.text, &s.passages, &kept, form))
            .collect();
        if sentences.is_empty() {
            return Ok(Some(format!(
                "Nothing in the footage answers this directly. The nearest moment: {} {}",
                first_sentence(&nearest.text),
                form.cite(nearest)
            )));
        }
        Ok(Some(sentences.join(" ")))
    }
}

/// A sentence with the citations that exist; `None` when none does.
fn cited(text: &str, ids: &[String], kept: &[&Evidence], form: CitationForm) -> Option<String> {
    let mut citations: Vec<String> = Vec::new();
    for id in ids {
        let number: Option<usize> = id.trim().strip_prefix('p').and_then(|n| n.parse().ok());
        let found = number.and_then(|n| kept.get(n.checked_sub(1)?));
        if let Some(citation) = found.map(|e| form.cite(e))
            && !citations.contains(&citation)
        {
            citations.push(citation);
        }
    }
    let text = without_brackets(text);
    (!citations.is_empty() && !text.is_empty()).then(|| format!("{text} {}", citations.join(" ")))
}

/// The text without anything in square brackets: only citations that were checked are shown.
fn without_brackets(text: &str) -> String {
    let mut depth = 0_u32;
    let kept: String = text
        .chars()
        .filter(|c| {
            match c {
                '[' => depth += 1,
                ']' => {
                    depth = depth.saturating_sub(1);
                    return false;
                }
                _ => {}
            }
            depth == 0
        })
        .collect();
    kept.split_whitespace().collect::<Vec<_>>().join(" ").replace(" .", ".")
}

/// Up to the first full stop that ends a sentence, at most 200 characters.
fn first_sentence(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let end = text.find(". ").map_or(text.len(), |i| i + 1);
    text[..end].chars().take(200).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_citations_from_the_context_survive() {
        let evidence = Evidence {
            video_id: "00ff00ff00ff00ff".into(),
            span: Span { start: 3.0, end: 6.12 },
            source: "speech".into(),
            text: "Hello.".into(),
        };
        let kept = [&evidence];
        let form = CitationForm::Seconds;
        let ids = |ids: &[&str]| ids.iter().map(|&id| id.to_owned()).collect::<Vec<_>>();
        assert_eq!(
            cited("He says hello [p1].", &ids(&["p1", "p9", "p1"]), &kept, form).as_deref(),
            Some("He says hello. [00ff00ff00ff00ff 3-6.12s]")
        );
        assert_eq!(cited("He flies.", &ids(&["p2", "p0", "x"]), &kept, form), None);
        assert_eq!(cited("He flies.", &[], &kept, form), None);
    }
}
