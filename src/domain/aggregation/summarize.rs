//! Summaries of passages of any number, which chapters and summary share.

use ports::llm::{Passage, Summary, Task};

use crate::domain::aggregation::{Input, batches, complete, each};
use crate::domain::kernel::error::Result;

const PROMPT: &str = include_str!("prompts/summary.md");

/// Tokens of one summary.
const MAX_TOKENS: u32 = 600;

/// Summarises passages: batches that fit the context first, then their summaries. Empty where
/// there is nothing to tell.
pub(crate) async fn summarize(input: &Input<'_>, passages: Vec<Passage>) -> Result<Summary> {
    let mut batches = batches(input, passages);
    loop {
        if batches.is_empty() {
            return Ok(Summary::default());
        }
        let work = batches.into_iter().map(|batch| {
            complete::<Summary>(input, Task::Summarize, PROMPT, None, batch, MAX_TOKENS)
        });
        let mut texts = each(work).await?;
        if texts.len() == 1 {
            return Ok(texts.remove(0));
        }
        let passages = texts.into_iter().enumerate().map(|(i, text)| Passage {
            id: format!("s{i}"),
            source: "part".into(),
            text: text.summary,
        });
        batches = crate::domain::aggregation::batches(input, passages.collect());
    }
}
