//! Summarizes any number of passages, for chapters and the summary.

use ports::llm::{Passage, Summary, VideoSpan};

use crate::aggregation::{AggregatorInput, batches, kind_of, try_each};
use crate::kernel::error::Result;
use crate::llm::structured::Prompt;

const PROMPT: &str = include_str!("prompts/summary.md");

/// Maximum length of one summary, in tokens.
const MAX_TOKENS: u32 = 600;

/// Summarizes passages in batches that fit the model's context, and then summarizes the summaries
/// of the batches. Returns an empty summary if there are no passages.
pub(crate) async fn summarize(
    input: &AggregatorInput<'_>,
    passages: Vec<Passage>,
) -> Result<Summary> {
    let mut batches = batches(input, passages);
    loop {
        if batches.is_empty() {
            return Ok(Summary::default());
        }
        let parts: Vec<Passage> = (0..).zip(&batches).map(|(n, batch)| part(n, batch)).collect();
        let calls = batches.into_iter().map(|passages| {
            input.ask::<Summary>(Prompt {
                instructions: PROMPT.into(),
                passages,
                max_tokens: MAX_TOKENS,
                ..Prompt::default()
            })
        });
        let mut texts = try_each(calls).await?;
        if texts.len() == 1 {
            return Ok(texts.remove(0));
        }
        let passages =
            parts.into_iter().zip(texts).map(|(part, text)| Passage { text: text.summary, ..part });
        batches = crate::aggregation::batches(input, passages.collect());
    }
}

/// Builds the passage for the summary of a batch. Its text is still empty.
fn part(number: u32, batch: &[Passage]) -> Passage {
    let mut moments = batch.iter().filter_map(|passage| passage.moment.clone());
    let first = moments.next();
    let end = moments.next_back().or_else(|| first.clone()).map(|last| last.end);
    let moment = first.zip(end).map(|(first, end)| VideoSpan { end, ..first });
    let topic = Some("part".into());
    Passage { moment, topic, ..Passage::new(format!("s{number}"), kind_of(batch), "") }
}
