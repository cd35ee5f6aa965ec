//! Search hits as several routes return them, and the defaults for searches.

use poem_openapi::Object;

use super::values::{OrderedMap, shortest};
use domain::analysis::DEFAULT_ANALYZER;
use domain::analysis::facets::Facets;
use domain::kernel::video::VideoId;
use domain::media::speech;
use domain::search;

/// The default analyzer for searches.
pub(crate) fn analyzer() -> String {
    DEFAULT_ANALYZER.into()
}

/// The default vector field for searches.
pub(crate) fn field() -> String {
    "combined".into()
}

/// The default limit for searches.
pub(crate) fn limit() -> u32 {
    5
}

/// A search hit at `detail=standard`.
#[derive(Object)]
pub(crate) struct StandardResult {
    /// Stable id of the moment, for `GET /moments/{moment_id}`.
    moment_id: String,
    /// Id of the video.
    video_id: String,
    /// Id of the chunk.
    chunk_id: u32,
    /// Start time, in seconds from the start of the video.
    start: f64,
    /// End time, in seconds from the start of the video.
    end: f64,
    /// Start and end as a timecode.
    timecode: String,
    /// Cosine similarity, from 0 to 1; null in a listing, which has no scores.
    #[oai(nullable, validator(minimum(value = "0"), maximum(value = "1")))]
    pub(crate) score: Option<f64>,
    /// BM25 score; present in the modes `text` and `hybrid` if words of the query match.
    #[oai(skip_serializing_if_is_none)]
    text_score: Option<f64>,
    /// Calibrated probability (0 to 1) that the chunk really contains what was searched for; absent
    /// if the request has no search text.
    #[oai(skip_serializing_if_is_none, validator(minimum(value = "0"), maximum(value = "1")))]
    pub(crate) p_present: Option<f64>,
    /// Ids of the analyzers whose output matched, most probable match first; present if the output
    /// of all analyzers was searched.
    #[oai(skip_serializing_if_is_none)]
    found_by: Option<Vec<String>>,
    /// URL of the video in storage.
    video_url: String,
    /// Wall-clock time at the start (ISO 8601, UTC); present if the video has `recorded_at`.
    #[oai(skip_serializing_if_is_none)]
    recorded_at: Option<String>,
    /// What happens in the chunk.
    description: String,
    /// Descriptions of the people in the chunk.
    people: Vec<String>,
    /// Objects in the chunk.
    objects: Vec<String>,
    /// Actions in the chunk.
    actions: Vec<String>,
    /// Keywords for the chunk.
    tags: Vec<String>,
    /// How certain (0 to 1) objects and tags are that were recognised in the picture, by label.
    /// Other labels are stated without a probability. Absent if there are none.
    #[oai(skip_serializing_if_is_none)]
    certainty: Option<OrderedMap<f64>>,
    /// Labels or names of the speakers in the chunk.
    speakers: Vec<String>,
    /// Number of people in the chunk; null if unknown.
    #[oai(nullable)]
    people_count: Option<u32>,
    /// Speaker turns in the chunk.
    turns: Vec<SpeakerTurnBody>,
}

/// Uninterrupted speech by one speaker.
#[derive(Object)]
#[oai(rename = "Turn")]
pub(crate) struct SpeakerTurnBody {
    /// Label or name of the speaker.
    speaker: String,
    /// Start time, in seconds from the start of the video.
    start: f64,
    /// End time, in seconds from the start of the video.
    end: f64,
    /// The spoken words.
    text: String,
}

fn found_by_others(others: Vec<(String, f32)>) -> Option<OrderedMap<f64>> {
    let others: Vec<_> = others.into_iter().map(|(id, p)| (id, score(p))).collect();
    (!others.is_empty()).then_some(OrderedMap(others))
}

/// Clamps a score to the range from 0 to 1. Returns the shortest decimal that parses to the same
/// number.
pub(crate) fn score(score: f32) -> f64 {
    shortest(score).clamp(0.0, 1.0)
}

impl StandardResult {
    /// Removes the scores of a moment that was listed by filters.
    pub(crate) fn remove_scores(&mut self) {
        (self.score, self.p_present) = (None, None);
    }
}

impl From<speech::SpeakerTurn> for SpeakerTurnBody {
    fn from(t: speech::SpeakerTurn) -> Self {
        Self { speaker: t.speaker, start: t.start, end: t.end, text: t.text }
    }
}

impl From<search::SearchResult> for StandardResult {
    fn from(hit: search::SearchResult) -> Self {
        let Facets { people, objects, actions, tags, speakers, people_count, certainty } =
            hit.facets;
        let certainty: Vec<_> =
            certainty.iter().map(|(label, p)| (label.to_owned(), p.clamp(0.0, 1.0))).collect();
        let mut display = hit.display;
        let turns = display.take_records("turns").into_iter();
        let turns = turns.map(serde_json::from_value::<speech::SpeakerTurn>).filter_map(|turn| {
            turn.inspect_err(|error| tracing::warn!(%error, "a speaker turn has another shape"))
                .ok()
        });
        let turns = turns.map(Into::into).collect();
        Self {
            moment_id: hit.moment_id.to_string(),
            video_id: hit.video_id.to_string(),
            chunk_id: hit.chunk_id.0,
            start: hit.span.start,
            end: hit.span.end,
            timecode: hit.timecode,
            score: Some(score(hit.score)),
            text_score: hit.text_score.map(shortest),
            p_present: Some(score(hit.p_present)),
            found_by: Some(hit.found_by).filter(|analyzers| !analyzers.is_empty()),
            video_url: hit.video_url,
            recorded_at: hit.recorded_at,
            description: display.description,
            people,
            objects,
            actions,
            tags,
            certainty: (!certainty.is_empty()).then_some(OrderedMap(certainty)),
            speakers,
            people_count,
            turns,
        }
    }
}

/// Why a search has no results.
#[derive(Object)]
#[oai(rename = "Diagnostics")]
pub(crate) struct DiagnosticsBody {
    /// For each filter, the number of hits that the search would have without that filter.
    hits_without_filter: OrderedMap<u32>,
    /// Ids of searched videos that have no output from the analyzer; at most 20.
    videos_without_analyzer: Vec<String>,
    /// Ids of searched videos that have output from the analyzer but no vectors in the field; at
    /// most 20.
    videos_without_field: Vec<String>,
    /// Requested video ids that do not exist; at most 20.
    unknown_videos: Vec<String>,
    /// Highest `p_present` from each other analyzer with a probable hit, by analyzer id; absent if
    /// there is none.
    #[oai(skip_serializing_if_is_none)]
    found_by_others: Option<OrderedMap<f64>>,
    /// Highest cosine similarity among the chunks that match the filters; null if no chunk matches.
    #[oai(nullable)]
    best_score: Option<f64>,
}

impl From<search::Diagnostics> for DiagnosticsBody {
    fn from(d: search::Diagnostics) -> Self {
        let strings = |ids: Vec<VideoId>| ids.into_iter().map(String::from).collect();
        Self {
            hits_without_filter: OrderedMap(d.without_filter),
            videos_without_analyzer: strings(d.videos_without_analyzer),
            videos_without_field: strings(d.videos_without_field),
            unknown_videos: d.unknown_videos,
            found_by_others: found_by_others(d.found_by_others),
            best_score: d.best_score.map(score),
        }
    }
}
