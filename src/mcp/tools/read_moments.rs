//! `read_moments`: what is stored about moments, by id.

use poem_openapi::Object;
use ports::llm::PassageKind;

use super::{Call, Tool, ToolAnswer};
use crate::http::views::{HttpFailure, MissingMomentBody, MomentBody, MomentDetail};
use crate::mcp::prose::one_line;
use domain::Error;
use domain::analysis::output::Statement;
use domain::kernel::moment::MomentId;
use domain::library::moments;

/// Reads moments.
pub(super) struct ReadMoments;

#[derive(Object)]
pub(super) struct MomentsRequest {
    /// Moment ids, from the `moment_id` fields that search_moments, ask and get_aggregate return.
    #[oai(validator(min_items = 1, max_items = 100))]
    moment_ids: Vec<String>,
}

#[derive(Object)]
pub(super) struct MomentsRead {
    /// The moments, in the order of the request.
    moments: Vec<MomentBody>,
    /// Moments whose video was deleted, or that lie outside their video.
    missing: Vec<MissingMomentBody>,
    /// What was omitted to fit the token budget, and how to get it.
    #[oai(skip_serializing_if_is_none)]
    rest: Option<String>,
}

impl Tool for ReadMoments {
    const NAME: &'static str = "read_moments";
    const TITLE: &'static str = "Read moments";
    const DESCRIPTION: &'static str = "Returns everything stored about moments: descriptions, speech \
        with speakers, on-screen text, and the adjacent chunks. Moment ids are `moment_id` of \
        results, citations, events and chapters; they stay valid when a video is chunked again. Read \
        a moment before you quote it; `before` and `after` are its neighbours.";
    type Input = MomentsRequest;
    type Output = MomentsRead;

    async fn call(
        mut call: Call<'_>,
        input: MomentsRequest,
    ) -> Result<ToolAnswer<MomentsRead>, HttpFailure> {
        let ids: Vec<MomentId> =
            input.moment_ids.iter().map(|id| id.parse()).collect::<Result<_, Error>>()?;
        let mut remaining = ids.len();
        let (mut moments, mut missing) = (Vec::new(), Vec::<MissingMomentBody>::new());
        for result in call.service.moments(ids).await? {
            remaining -= 1;
            match result {
                Ok(moment) => moments.push(moment),
                Err(gone) => missing.push(gone.into()),
            }
        }
        let mut lines: Vec<String> = missing.iter().map(|m| m.detail.clone()).collect();
        call.budget.take_value(&missing);
        lines.iter().for_each(|line| call.budget.take_text(line));
        let fitting = call.budget.fill(moments.into_iter().map(describe_moment).collect());
        let left_out = fitting.left_out + remaining;
        let rest = (left_out > 0)
            .then(|| format!("{left_out} moments do not fit; read them in a separate call"));
        lines.extend(fitting.lines);
        lines.extend(rest.clone());
        Ok(ToolAnswer::new(lines.join("\n"), MomentsRead { moments: fitting.units, missing, rest }))
    }
}

/// Renders a moment as structured content and as text.
fn describe_moment(moment: moments::Moment) -> (MomentBody, String) {
    let mut text = format!(
        "{} of {} ({}):",
        moment.moment_id,
        moment.filename,
        moment.moment_id.span().timecode()
    );
    for says in moment.chunks.iter().flat_map(|chunk| &chunk.statements) {
        text.push_str("\n- ");
        text.push_str(&line(says));
    }
    for (word, neighbour) in [("before", &moment.before), ("after", &moment.after)] {
        if let Some(neighbour) = neighbour {
            text.push_str(&format!("\n{word}: {}", neighbour.moment_id));
        }
    }
    (MomentBody::new(moment, MomentDetail::Standard), text)
}

fn line(says: &Statement) -> String {
    let text = one_line(&says.text);
    match (says.kind, &says.speaker) {
        (PassageKind::Speech, Some(speaker)) => format!("{speaker}: “{text}”"),
        (PassageKind::Speech, None) => format!("said: “{text}”"),
        (PassageKind::Screen | PassageKind::Row, _) => format!("on screen: {text}"),
        _ => text,
    }
}
