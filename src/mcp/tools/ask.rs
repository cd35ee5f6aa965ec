//! `ask`: answers a question with citations.

use poem_openapi::Object;

use super::search_moments::describe_hit;
use super::{Call, Tool, ToolAnswer};
use crate::http::views::{AskRequest, AskResponseBody, HttpFailure};
use domain::answering::audit::AuditedSentence;
use domain::kernel::verdict::Verdict;

/// Answers a question.
pub(super) struct Ask;

#[derive(Object)]
pub(super) struct Answered {
    #[oai(flatten)]
    response: AskResponseBody,
    /// What was omitted to fit the token budget, and how to get it.
    #[oai(skip_serializing_if_is_none)]
    rest: Option<String>,
}

impl Tool for Ask {
    const NAME: &'static str = "ask";
    const TITLE: &'static str = "Ask about the footage";
    const DESCRIPTION: &'static str = "Answers a question about the footage. Every sentence of the \
        answer cites the moment that supports it as [<video_id> <start>-<end>s], and `audit` rates \
        how well that moment supports it: supported, weak or unsupported (such sentences are removed \
        from the answer). `answered` is false if the answer only says that no moment answers the \
        question. `results` are the supporting moments. Set video_ids if you know which videos are meant. \
        To find something rather than answer a question, search_moments is cheaper.";
    type Input = AskRequest;
    type Output = Answered;

    async fn call(
        mut call: Call<'_>,
        input: AskRequest,
    ) -> Result<ToolAnswer<Answered>, HttpFailure> {
        let mut answer = call.service.ask(input.into()).await?;
        let hits = std::mem::take(&mut answer.results);
        let mut lines: Vec<String> = [&answer.answer, &answer.error, &answer.answer_error]
            .into_iter()
            .flatten()
            .cloned()
            .collect();
        lines.extend(answer.audit.iter().map(describe_sentence));
        let answered = answer.answered.unwrap_or(true);
        let mut response = AskResponseBody::from(answer);
        call.budget.take_value(&response);
        lines.iter().for_each(|line| call.budget.take_text(line));
        let fitting = call.budget.fill((1..).zip(hits).map(describe_hit).collect());
        let rest = (fitting.left_out > 0).then(|| {
            format!(
                "{} supporting moments do not fit; ask with fewer video_ids or a lower limit",
                fitting.left_out
            )
        });
        if !fitting.lines.is_empty() {
            let head = if answered {
                "Supporting moments:"
            } else {
                "Moments that were read, none of which answers the question:"
            };
            lines.push(head.into());
        }
        lines.extend(fitting.lines);
        lines.extend(rest.clone());
        response.results = fitting.units;
        Ok(ToolAnswer::new(lines.join("\n"), Answered { response, rest }))
    }
}

fn describe_sentence(sentence: &AuditedSentence) -> String {
    let verdict = match sentence.verdict {
        Verdict::Supported => "supported",
        Verdict::Weak => "weakly supported",
        Verdict::Unsupported => "unsupported, left out",
    };
    format!("- {verdict}: {} {}", sentence.sentence, sentence.citations.join(" "))
}
