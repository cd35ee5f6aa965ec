//! `find_intervals`: finds the spans of videos in which an expression holds.

use poem_openapi::Object;
use serde_json::Value;

use super::{Call, Tool, ToolAnswer};
use crate::http::views::{
    AnyObject, HttpFailure, IntervalSpanBody, IntervalsBody, NotAnalyzedBody, OrderedMap,
};
use crate::mcp::prose::seconds;
use domain::interval_search::page::IntervalQuery;

/// Finds intervals.
pub(super) struct FindIntervals;

#[derive(Object)]
pub(super) struct IntervalSearchInput {
    /// The expression, such as {"all": [{"speech": true}, {"not": {"sees": "car"}}]}.
    expression: AnyObject,
    /// Videos to search; null searches all of them.
    #[oai(nullable)]
    video_ids: Option<Vec<String>>,
    /// Hard filters on videos, such as {"collections": ["news"]}.
    #[oai(default)]
    filters: AnyObject,
    /// Maximum number of spans.
    #[oai(default = "limit", validator(minimum(value = "1"), maximum(value = "200")))]
    limit: u32,
    /// The `next` value of the previous page; requires the same other fields, except `limit`.
    #[oai(nullable)]
    cursor: Option<String>,
}

fn limit() -> u32 {
    20
}

#[derive(Object)]
#[oai(rename = "FoundIntervals")]
pub(super) struct FoundIntervals {
    /// The spans; the newest video first, in chronological order within each video.
    spans: Vec<FoundSpan>,
    /// What is not known about the searched videos, by the analyzer that a term needs.
    not_analyzed: OrderedMap<NotAnalyzedBody>,
    /// The `cursor` of the next page; absent on the last page. A page may have few spans, or none,
    /// and still be followed by another.
    #[oai(skip_serializing_if_is_none)]
    next: Option<String>,
    /// What was omitted to fit the token budget, and how to get it.
    #[oai(skip_serializing_if_is_none)]
    rest: Option<String>,
}

/// A span of a video.
#[derive(Object)]
struct FoundSpan {
    video_id: String,
    filename: String,
    #[oai(flatten)]
    span: IntervalSpanBody,
}

impl Tool for FindIntervals {
    const NAME: &'static str = "find_intervals";
    const TITLE: &'static str = "Find intervals";
    const DESCRIPTION: &'static str = "Finds the exact spans of videos in which an expression holds, \
        each with the moments that prove it. Use it for combinations and negations in time, such as \
        speech without a car in view; use search_moments for meaning. An expression is an object with \
        one operator or term. Operators: {\"all\": [A, B]}, {\"any\": [A, B]}, {\"not\": A}, \
        {\"then\": [A, B], \"within\": 5} (B begins at most 5 seconds after A), {\"during\": [A, B]}, \
        {\"overlaps\": [A, B]}, {\"at_least\": {\"seconds\": 5}, \"of\": A}, \
        {\"at_least\": {\"count\": 2}, \"of\": {\"sees\": \"dog\"}}. Terms: {\"says\": \"words\"}, \
        {\"reads\": \"words on screen\"}, {\"sees\": \"dog\"} (kinds such as animal work), \
        {\"speaker\": \"S1\"}, {\"speech\": true}, {\"silence\": true}, \
        {\"people\": {\"at_least\": 1, \"at_most\": 3}}, {\"tag\": \"dim\"}, \
        {\"text\": \"a search\"}, {\"between\": [60, 90]} in seconds. `not` holds only where it is \
        known: not_analyzed says what was not.";
    type Input = IntervalSearchInput;
    type Output = FoundIntervals;

    async fn call(
        mut call: Call<'_>,
        input: IntervalSearchInput,
    ) -> Result<ToolAnswer<FoundIntervals>, HttpFailure> {
        let limit = input.limit;
        let found = call.service.intervals(input.into()).await?;
        let IntervalsBody { videos, not_analyzed, next, .. } = found.into();
        let mut spans = Vec::new();
        for video in videos {
            let (video_id, filename) = (video.video_id, video.filename);
            spans.extend(video.spans.into_iter().map(|span| {
                let (video_id, filename) = (video_id.clone(), filename.clone());
                describe_span(FoundSpan { video_id, filename, span })
            }));
        }
        call.budget.take_value(&not_analyzed);
        let fitting = call.budget.fill(spans);
        let is_complete = fitting.left_out == 0;
        let next = next.filter(|_| is_complete);
        let rest = (!is_complete).then(|| {
            format!(
                "{} of {} spans do not fit; ask with a limit below {limit}",
                fitting.left_out,
                fitting.left_out + fitting.units.len()
            )
        });
        let mut lines = fitting.lines;
        if lines.is_empty() && is_complete {
            lines.push("No spans.".into());
        }
        for (analyzer, missing) in &not_analyzed.0 {
            if missing.videos > 0 {
                lines.push(format!("{} videos were not analyzed by {analyzer}.", missing.videos));
            }
        }
        lines.extend(rest.clone());
        lines.extend(next.iter().map(|next| format!("More: call again with cursor {next}.")));
        let intervals = FoundIntervals { spans: fitting.units, not_analyzed, next, rest };
        Ok(ToolAnswer::new(lines.join("\n"), intervals))
    }
}

impl From<IntervalSearchInput> for IntervalQuery {
    fn from(input: IntervalSearchInput) -> Self {
        Self {
            expression: Value::Object(input.expression.0),
            video_ids: input.video_ids,
            filters: input.filters.0,
            limit: input.limit,
            cursor: input.cursor,
        }
    }
}

/// Renders a span as structured content and as a line of text.
fn describe_span(found: FoundSpan) -> (FoundSpan, String) {
    let FoundSpan { video_id, filename, span } = &found;
    let times = format!("{}-{}s", seconds(span.start), seconds(span.end));
    let line = format!("[{video_id} {times}] {filename}, {}", span.moment_id);
    (found, line)
}
