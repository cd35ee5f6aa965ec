//! `search_moments`: finds moments by what is in them.

use poem_openapi::Object;

use super::{Answer, Call, Tool};
use crate::domain::search::{self, EVERY_ANALYZER};
use crate::http::views::{AnyObject, Diagnostics, Failure, StandardResult, field};
use crate::mcp::prose::{one_line, seconds};

/// Finds moments.
pub(super) struct SearchMoments;

#[derive(Object)]
pub(super) struct MomentSearch {
    /// What to look for, in words: a scene, a thing, something said or written.
    #[oai(validator(min_length = 1))]
    text: String,
    /// Whose findings are searched; `*` for those of all.
    #[oai(default = "everything")]
    analyzer: String,
    /// Null searches every video.
    #[oai(nullable)]
    video_ids: Option<Vec<String>>,
    /// Hard conditions that must all hold, as {"speakers": ["S1"], "after": 60}; describe_library
    /// lists them.
    #[oai(default)]
    filters: AnyObject,
    /// Moments with a lower `p_present` are left out.
    #[oai(nullable, validator(minimum(value = "0"), maximum(value = "1")))]
    min_p_present: Option<f64>,
    /// Most moments.
    #[oai(default = "limit", validator(minimum(value = "1"), maximum(value = "50")))]
    limit: u32,
}

fn everything() -> String {
    EVERY_ANALYZER.into()
}

fn limit() -> u32 {
    10
}

#[derive(Object)]
pub(super) struct Moments {
    /// The best first.
    results: Vec<StandardResult>,
    /// Why nothing was found; absent when something was.
    #[oai(skip_serializing_if_is_none)]
    diagnostics: Option<Diagnostics>,
    /// What is left out for its length, and how to get it.
    #[oai(skip_serializing_if_is_none)]
    rest: Option<String>,
}

impl Tool for SearchMoments {
    const NAME: &'static str = "search_moments";
    const TITLE: &'static str = "Find moments";
    const DESCRIPTION: &'static str = "Finds moments of the library by what is seen, said or \
        written in them, by meaning and by words (quoted words are a phrase). Something is always \
        nearest: `p_present` is the probability that it is really there; set min_p_present to 0.5 to \
        get only what probably is. Each result has its video, chunk, start and end in seconds. \
        Without results `diagnostics` says why, and what to change. To read a result \
        whole, with its neighbours, use read_moments, to see it get_frames.";
    type Input = MomentSearch;
    type Output = Moments;

    async fn call(mut call: Call<'_>, input: MomentSearch) -> Result<Answer<Moments>, Failure> {
        let limit = input.limit;
        let found = call.service.query(input.into()).await?;
        let diagnostics = found.diagnostics.map(Diagnostics::from);
        call.budget.take_value(&diagnostics);
        let filled = call.budget.fill((1..).zip(found.results).map(told).collect());
        let rest = (filled.left_out > 0).then(|| {
            format!(
                "{} of {} moments do not fit; narrow the search by video_ids or filters, or ask \
                 with a limit below {limit}",
                filled.left_out,
                filled.left_out + filled.units.len()
            )
        });
        let mut lines = filled.lines;
        if lines.is_empty() && rest.is_none() {
            lines.push("Nothing was found; diagnostics says why.".into());
        }
        lines.extend(rest.clone());
        let moments = Moments { results: filled.units, diagnostics, rest };
        Ok(Answer::new(lines.join("\n"), moments))
    }
}

impl From<MomentSearch> for search::Query {
    fn from(input: MomentSearch) -> Self {
        Self {
            text: input.text,
            mode: None,
            video_ids: input.video_ids,
            analyzer: input.analyzer,
            field: field(),
            limit: input.limit,
            score_threshold: None,
            min_p_present: input.min_p_present.map(|least| least as f32),
            rerank: true,
            synthesize: false,
            detail: "standard".into(),
            filters: input.filters.0,
            ..Self::default()
        }
    }
}

/// A moment as structure and as a line.
pub(super) fn told((number, hit): (usize, search::SearchResult)) -> (StandardResult, String) {
    let (start, end) = (seconds(hit.document.start), seconds(hit.document.end));
    let line = format!(
        "{number}. [{} {start}-{end}s] {}, chunk {}, p_present {:.2}: {}",
        hit.video_id,
        hit.moment_id,
        hit.chunk_id,
        hit.p_present,
        one_line(&hit.snippet)
    );
    (hit.into(), line)
}
