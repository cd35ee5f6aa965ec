//! `read_moments`: what is stored of moments, by the names that hits and citations give them.

use poem_openapi::Object;
use ports::llm::PassageKind;

use super::{Answer, Call, Tool};
use crate::domain::Error;
use crate::domain::analysis::finding::Statement;
use crate::domain::catalog::moments;
use crate::domain::kernel::moment::MomentId;
use crate::http::views::{Failure, MissingMoment, Moment, MomentDetail};
use crate::mcp::prose::one_line;

/// Reads moments.
pub(super) struct ReadMoments;

#[derive(Object)]
pub(super) struct MomentsRequest {
    /// Names of moments, as `moment_id` of search_moments, ask and get_aggregate.
    #[oai(validator(min_items = 1, max_items = 100))]
    moment_ids: Vec<String>,
}

#[derive(Object)]
pub(super) struct MomentsRead {
    /// In the order of their names.
    moments: Vec<Moment>,
    /// Those whose video is gone, or that lie outside of it.
    missing: Vec<MissingMoment>,
    /// What is left out for its length, and how to get it.
    #[oai(skip_serializing_if_is_none)]
    rest: Option<String>,
}

impl Tool for ReadMoments {
    const NAME: &'static str = "read_moments";
    const TITLE: &'static str = "What is stored of moments";
    const DESCRIPTION: &'static str = "Everything that is told of moments: what is described, said and \
        by whom, read off the picture, and what comes right before and after. Names of moments are \
        `moment_id` of results, citations, events and chapters; they last when a video is split anew. \
        Read a moment before you quote it; `before` and `after` name its neighbours.";
    type Input = MomentsRequest;
    type Output = MomentsRead;

    async fn call(
        mut call: Call<'_>,
        input: MomentsRequest,
    ) -> Result<Answer<MomentsRead>, Failure> {
        let ids: Vec<MomentId> =
            input.moment_ids.iter().map(|id| id.parse()).collect::<Result<_, Error>>()?;
        let mut unread = ids.len();
        let (mut found, mut missing) = (Vec::new(), Vec::<MissingMoment>::new());
        for moment in call.service.moments(ids).await? {
            unread -= 1;
            match moment {
                Ok(moment) => found.push(moment),
                Err(gone) => missing.push(gone.into()),
            }
        }
        let mut lines: Vec<String> = missing.iter().map(|m| m.detail.clone()).collect();
        call.budget.take_value(&missing);
        lines.iter().for_each(|line| call.budget.take_text(line));
        let filled = call.budget.fill(found.into_iter().map(told).collect());
        let left_out = filled.left_out + unread;
        let rest = (left_out > 0)
            .then(|| format!("{left_out} moments do not fit; read them in a call of their own"));
        lines.extend(filled.lines);
        lines.extend(rest.clone());
        Ok(Answer::new(lines.join("\n"), MomentsRead { moments: filled.units, missing, rest }))
    }
}

/// A moment as structure and as prose.
fn told(moment: moments::Moment) -> (Moment, String) {
    let mut text = format!(
        "{} of {} ({}):",
        moment.moment_id,
        moment.filename,
        moment.moment_id.span().timecode()
    );
    for says in moment.chunks.iter().flat_map(|chunk| &chunk.says) {
        text.push_str("\n- ");
        text.push_str(&line(says));
    }
    for (word, neighbour) in [("before", &moment.before), ("after", &moment.after)] {
        if let Some(neighbour) = neighbour {
            text.push_str(&format!("\n{word}: {}", neighbour.moment_id));
        }
    }
    (Moment::of(moment, MomentDetail::Standard), text)
}

fn line(says: &Statement) -> String {
    let text = one_line(&says.text);
    match (says.kind, &says.speaker) {
        (PassageKind::Speech, Some(speaker)) => format!("{speaker}: “{text}”"),
        (PassageKind::Speech, None) => format!("said: “{text}”"),
        (PassageKind::Screen, _) => format!("on screen: {text}"),
        _ => text,
    }
}
