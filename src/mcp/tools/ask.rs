//! `ask`: answers a question with citations.

use poem_openapi::Object;

use super::search_moments::told;
use super::{Answer, Call, Tool};
use crate::domain::answering::audit::AuditedSentence;
use crate::domain::kernel::verdict::Verdict;
use crate::http::views::{AskRequest, AskResponse, Failure};

/// Answers a question.
pub(super) struct Ask;

#[derive(Object)]
pub(super) struct Answered {
    #[oai(flatten)]
    response: AskResponse,
    /// What is left out for its length, and how to get it.
    #[oai(skip_serializing_if_is_none)]
    rest: Option<String>,
}

impl Tool for Ask {
    const NAME: &'static str = "ask";
    const TITLE: &'static str = "Ask about the footage";
    const DESCRIPTION: &'static str = "Answers a question about the footage. Every sentence of the \
        answer cites the moment that supports it as [<video_id> <start>-<end>s], and `audit` has how \
        far that moment bears it out: supported, weak or unsupported (and then left out). \
        `answered` is false where the answer only says what the footage does not show. `results` \
        are the supporting moments. Name video_ids where you know which videos are meant; for a \
        thing to find rather than a question, search_moments is cheaper.";
    type Input = AskRequest;
    type Output = Answered;

    async fn call(mut call: Call<'_>, input: AskRequest) -> Result<Answer<Answered>, Failure> {
        let mut answer = call.service.ask(input.into()).await?;
        let hits = std::mem::take(&mut answer.results);
        let mut lines: Vec<String> = [&answer.answer, &answer.error, &answer.answer_error]
            .into_iter()
            .flatten()
            .cloned()
            .collect();
        lines.extend(answer.audit.iter().map(verdict));
        let answered = answer.answered.unwrap_or(true);
        let mut response = AskResponse::from(answer);
        call.budget.take_value(&response);
        lines.iter().for_each(|line| call.budget.take_text(line));
        let filled = call.budget.fill((1..).zip(hits).map(told).collect());
        let rest = (filled.left_out > 0).then(|| {
            format!(
                "{} supporting moments do not fit; ask with fewer video_ids or a lower limit",
                filled.left_out
            )
        });
        if !filled.lines.is_empty() {
            let head = if answered {
                "Supporting moments:"
            } else {
                "What was looked at, none of it an answer:"
            };
            lines.push(head.into());
        }
        lines.extend(filled.lines);
        lines.extend(rest.clone());
        response.results = filled.units;
        Ok(Answer::new(lines.join("\n"), Answered { response, rest }))
    }
}

fn verdict(checked: &AuditedSentence) -> String {
    let verdict = match checked.verdict {
        Verdict::Supported => "supported",
        Verdict::Weak => "weakly supported",
        Verdict::Unsupported => "unsupported, left out",
    };
    format!("- {verdict}: {} {}", checked.sentence, checked.citations.join(" "))
}
