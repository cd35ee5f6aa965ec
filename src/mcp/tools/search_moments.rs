//! `search_moments`: finds moments by their content.

use poem_openapi::Object;

use super::{Call, Tool, ToolAnswer};
use crate::http::views::{AnyObject, DiagnosticsBody, HttpFailure, StandardResult};
use crate::mcp::prose::{one_line, seconds};
use domain::search::{
    self, ALL_ANALYZERS, ExamplePicture, ScoreKind, SearchRequest, SearchTarget, VectorField,
};

/// Finds moments.
pub(super) struct SearchMoments;

#[derive(Object)]
pub(super) struct MomentSearch {
    /// What to search for: a scene, an object, something said or written. Give either text, like
    /// or image.
    #[oai(nullable, validator(min_length = 1))]
    text: Option<String>,
    /// A moment_id: finds moments similar to it in `field`.
    #[oai(nullable)]
    like: Option<String>,
    /// A JPEG, PNG or WebP picture as a data URL (data:image/jpeg;base64,…): finds moments that look
    /// like it. Scale it down to 640 pixels.
    #[oai(nullable)]
    image: Option<String>,
    /// The part of image to search for: [x, y, width, height] in shares of it (0..1).
    #[oai(nullable)]
    region: Option<Vec<f64>>,
    /// What text or like is compared with: `combined`, or `visual` for the pictures alone.
    #[oai(default = "field")]
    field: String,
    /// Analyzer whose output is searched; `*` for all.
    #[oai(default = "everything")]
    analyzer: String,
    /// Videos to search; null searches all of them.
    #[oai(nullable)]
    video_ids: Option<Vec<String>>,
    /// Hard filters that must all match, such as {"speakers": ["S1"], "after": 60};
    /// describe_library lists them.
    #[oai(default)]
    filters: AnyObject,
    /// Drops moments with a lower `p_present`.
    #[oai(nullable, validator(minimum(value = "0"), maximum(value = "1")))]
    min_p_present: Option<f64>,
    /// Maximum number of moments.
    #[oai(default = "limit", validator(minimum(value = "1"), maximum(value = "50")))]
    limit: u32,
}

fn everything() -> String {
    ALL_ANALYZERS.into()
}

fn field() -> String {
    VectorField::COMBINED.name().into()
}

fn limit() -> u32 {
    10
}

#[derive(Object)]
#[oai(rename = "Moments")]
pub(super) struct MomentHits {
    /// The moments, best first.
    results: Vec<StandardResult>,
    /// Why there are no results; absent otherwise.
    #[oai(skip_serializing_if_is_none)]
    diagnostics: Option<DiagnosticsBody>,
    /// What was omitted to fit the token budget, and how to get it.
    #[oai(skip_serializing_if_is_none)]
    rest: Option<String>,
}

impl Tool for SearchMoments {
    const NAME: &'static str = "search_moments";
    const TITLE: &'static str = "Find moments";
    const DESCRIPTION: &'static str = "Searches the library for moments by what is seen, said or \
        written in them, by meaning and by words (quoted words are a phrase); or for moments that \
        look like a picture (image) or are similar to another moment (like). A search always \
        returns the nearest moments: `p_present` is the probability that the match is really there; \
        set min_p_present to 0.5 to get probable matches only; results of image and like have only \
        a `score`. Each result has its video, chunk, \
        start and end in seconds. Without results, `diagnostics` says why and what to change. Use \
        read_moments to read a result in full with its neighbours, get_frames to see it.";
    type Input = MomentSearch;
    type Output = MomentHits;

    async fn call(
        mut call: Call<'_>,
        input: MomentSearch,
    ) -> Result<ToolAnswer<MomentHits>, HttpFailure> {
        let limit = input.limit;
        let found = call.service.query(&input.try_into()?, false).await?.page;
        let hits = (1..).zip(found.results);
        let hits = hits.map(|hit| describe_ranked_hit(hit, found.score_kind)).collect();
        let diagnostics = found.diagnostics.map(DiagnosticsBody::from);
        call.budget.take_value(&diagnostics);
        let fitting = call.budget.fill(hits);
        let rest = (fitting.left_out > 0).then(|| {
            format!(
                "{} of {} moments do not fit; narrow the search by video_ids or filters, or ask \
                 with a limit below {limit}",
                fitting.left_out,
                fitting.left_out + fitting.units.len()
            )
        });
        let mut lines = fitting.lines;
        if lines.is_empty() && rest.is_none() {
            lines.push("No results; see diagnostics.".into());
        }
        lines.extend(rest.clone());
        let moments = MomentHits { results: fitting.units, diagnostics, rest };
        Ok(ToolAnswer::new(lines.join("\n"), moments))
    }
}

impl TryFrom<MomentSearch> for SearchRequest {
    type Error = domain::Error;

    fn try_from(input: MomentSearch) -> domain::Result<Self> {
        let picture =
            ExamplePicture::from_request(input.image.as_deref(), input.region.as_deref())?;
        Ok(Self {
            target: SearchTarget::parse(input.text, input.like.as_deref(), None, picture)?,
            analyzers: input.analyzer.into(),
            field: input.field.parse()?,
            video_ids: input.video_ids,
            filters: input.filters.0,
            min_p_present: input.min_p_present.map(|min| min as f32),
            rerank: true,
            ..Self::text("", input.limit)
        })
    }
}

/// Renders a hit on a text as structured content and as a line of text.
pub(super) fn describe_hit(hit: (usize, search::SearchResult)) -> (StandardResult, String) {
    describe_ranked_hit(hit, ScoreKind::Text)
}

/// Renders a hit as structured content and as a line of text, with the score that it has.
fn describe_ranked_hit(
    (number, hit): (usize, search::SearchResult),
    score_kind: ScoreKind,
) -> (StandardResult, String) {
    let (start, end) = (seconds(hit.span.start), seconds(hit.span.end));
    let scored = match score_kind {
        ScoreKind::Text => format!("p_present {:.2}", hit.p_present),
        ScoreKind::Similarity | ScoreKind::Unscored => format!("score {:.2}", hit.score),
    };
    let line = format!(
        "{number}. [{} {start}-{end}s] {}, chunk {}, {scored}: {}",
        hit.video_id,
        hit.moment_id,
        hit.chunk_id,
        one_line(&hit.snippet)
    );
    let mut result = StandardResult::from(hit);
    if score_kind != ScoreKind::Text {
        result.p_present = None;
    }
    (result, line)
}
