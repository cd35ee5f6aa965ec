//! Summaries of passages of any number, which chapters and summary share.

use ports::llm::{Moment, Passage, Summary};

use crate::domain::aggregation::{Input, batches, kind_of, try_each};
use crate::domain::kernel::error::Result;
use crate::domain::llm::ask::Prompt;

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
        let parts: Vec<Passage> = (0..).zip(&batches).map(|(n, batch)| part(n, batch)).collect();
        let work = batches.into_iter().map(|passages| {
            input.ask::<Summary>(Prompt {
                instructions: PROMPT.into(),
                passages,
                max_tokens: MAX_TOKENS,
                ..Prompt::default()
            })
        });
        let mut texts = try_each(work).await?;
        if texts.len() == 1 {
            return Ok(texts.remove(0));
        }
        let told = parts.into_iter().zip(texts);
        let passages = told.map(|(part, text)| Passage { text: text.summary, ..part });
        batches = crate::domain::aggregation::batches(input, passages.collect());
    }
}

/// A passage for the summary of a batch.
fn part(number: u32, batch: &[Passage]) -> Passage {
    let mut moments = batch.iter().filter_map(|passage| passage.moment.clone());
    let first = moments.next();
    let end = moments.next_back().or_else(|| first.clone()).map(|last| last.end);
    let moment = first.zip(end).map(|(first, end)| Moment { end, ..first });
    let topic = Some("part".into());
    Passage { moment, topic, ..Passage::new(format!("s{number}"), kind_of(batch), "") }
}
