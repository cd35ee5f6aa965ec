//! `POST /intervals`: the spans of videos in which an expression holds.

use poem_openapi::{Object, OpenApi};
use serde_json::Value;

use crate::http::edge::auth::{CallerToken, Service};
use crate::http::wire::body::Json;
use crate::http::wire::errors::{ApiError, Search};
use crate::http::wire::values::{AnyObject, OrderedMap};
use domain::interval_search::page::{self, DEFAULT_SPANS, IntervalQuery};
use domain::intervals::{IntervalProof, ProofMoment};
use domain::kernel::moment::MomentId;
use domain::kernel::time::Span;
use domain::kernel::video::VideoId;

/// The routes of this section.
pub(super) struct IntervalsApi(pub(super) Service);

#[OpenApi]
impl IntervalsApi {
    /// Find intervals.
    ///
    /// Finds the spans of videos in which an expression holds, each with the moments that prove it.
    /// The expression combines what is said, read, seen and heard, such as
    /// `{"all": [{"speech": true}, {"not": {"sees": "car"}}]}`.
    #[oai(path = "/intervals", method = "post", operation_id = "intervals")]
    async fn intervals(
        &self,
        token: CallerToken,
        Json(request): Json<IntervalRequest>,
    ) -> Result<Json<IntervalsBody>, ApiError<Search>> {
        Ok(Json(self.0.scoped(&token).intervals(request.into()).await?.into()))
    }
}

#[derive(Object)]
pub(crate) struct IntervalRequest {
    /// The expression: an object with one operator or term. Operators: `all` and `any` of a list,
    /// `not`, `then` (a list, each at most `within` seconds after the one before), `during` and
    /// `overlaps` (a list of two), `at_least` (`seconds` or `count`) `of` an expression. Terms: `says`,
    /// `reads`, `sees`, `speaker`, `speech`, `silence`, `people`, `tag`, `text`, and `between` two
    /// times.
    expression: AnyObject,
    /// Ids of the videos to search. Null: all videos.
    #[oai(nullable)]
    video_ids: Option<Vec<String>>,
    /// Hard filters on videos that must all match, as in `/query`: `collections`, `recorded_after`,
    /// `recorded_before`, `metadata` and `video_ids`.
    #[oai(default)]
    filters: AnyObject,
    /// Maximum number of spans, at most `intervals.max_spans`. Default: 50.
    #[oai(default = "limit", validator(minimum(value = "1")))]
    limit: u32,
    /// `next` from the previous response. A cursor from a different request is rejected with 400.
    #[oai(nullable)]
    cursor: Option<String>,
}

fn limit() -> u32 {
    DEFAULT_SPANS
}

impl From<IntervalRequest> for IntervalQuery {
    fn from(r: IntervalRequest) -> Self {
        Self {
            expression: Value::Object(r.expression.0),
            video_ids: r.video_ids,
            filters: r.filters.0,
            limit: r.limit,
            cursor: r.cursor,
        }
    }
}

#[derive(Object)]
#[oai(rename = "Intervals")]
pub(crate) struct IntervalsBody {
    /// The expression in its canonical form.
    expression: AnyObject,
    /// The videos with spans in which the expression holds, newest first.
    pub(crate) videos: Vec<VideoIntervalsBody>,
    /// What is not known about the videos that were searched for this page, by the analyzer that a
    /// term needs. The expression neither holds nor fails there.
    pub(crate) not_analyzed: OrderedMap<NotAnalyzedBody>,
    /// Requested video ids that do not exist; at most 20.
    unknown_videos: Vec<String>,
    /// Values of `text` for which a search found `intervals.max_text_hits` moments, so that there may
    /// be more.
    truncated_texts: Vec<String>,
    /// Cursor for the next page; absent on the last page. A page with fewer spans than `limit`, even
    /// one without spans, may be followed by another.
    #[oai(skip_serializing_if_is_none)]
    pub(crate) next: Option<String>,
}

/// The spans of one video.
#[derive(Object)]
#[oai(rename = "VideoIntervals")]
pub(crate) struct VideoIntervalsBody {
    /// Id of the video.
    pub(crate) video_id: String,
    /// File name of the video.
    pub(crate) filename: String,
    /// URL of the video in storage.
    video_url: String,
    /// Length of the video, in seconds.
    duration: f64,
    /// The spans, in chronological order.
    pub(crate) spans: Vec<IntervalSpanBody>,
}

/// A span in which the expression holds.
#[derive(Object)]
#[oai(rename = "IntervalSpan")]
pub(crate) struct IntervalSpanBody {
    /// Stable id of the span, for `GET /moments/{moment_id}`.
    pub(crate) moment_id: String,
    /// Start time, in seconds from the start of the video.
    pub(crate) start: f64,
    /// End time, in seconds from the start of the video.
    pub(crate) end: f64,
    /// Start and end as a timecode.
    timecode: String,
    /// The moments that prove the terms, for each term that has any in the span.
    pub(crate) proofs: Vec<ProofBody>,
}

/// The moments that prove a term.
#[derive(Object)]
#[oai(rename = "IntervalProof")]
pub(crate) struct ProofBody {
    /// The term or, for a relation that is negated, the relation.
    pub(crate) term: AnyObject,
    /// Whether the term is negated. The moments are then the parts of the span in which it is known
    /// not to hold.
    pub(crate) absent: bool,
    /// The first moments, in chronological order.
    pub(crate) moments: Vec<ProofMomentBody>,
    /// Number of further moments; absent if there are none.
    #[oai(skip_serializing_if_is_none)]
    more: Option<u32>,
}

/// A moment that proves a term.
#[derive(Object)]
#[oai(rename = "ProofMoment")]
pub(crate) struct ProofMomentBody {
    /// Stable id of the moment, for `GET /moments/{moment_id}`.
    moment_id: String,
    /// Start time, in seconds from the start of the video.
    start: f64,
    /// End time, in seconds from the start of the video.
    end: f64,
    /// The words that are spoken or read.
    #[oai(skip_serializing_if_is_none)]
    pub(crate) text: Option<String>,
    /// Label of the thing or tag.
    #[oai(skip_serializing_if_is_none)]
    pub(crate) label: Option<String>,
    /// Label or name of the speaker.
    #[oai(skip_serializing_if_is_none)]
    pub(crate) speaker: Option<String>,
    /// Number of people or things.
    #[oai(skip_serializing_if_is_none)]
    pub(crate) count: Option<u32>,
    /// Confidence of the words, or probability of the label or hit, from 0 to 1.
    #[oai(skip_serializing_if_is_none, validator(minimum(value = "0"), maximum(value = "1")))]
    pub(crate) probability: Option<f64>,
}

/// What an analyzer has not analyzed.
#[derive(Object)]
#[oai(rename = "NotAnalyzed")]
pub(crate) struct NotAnalyzedBody {
    /// Number of searched videos without its results.
    pub(crate) videos: u64,
    /// Ids of these videos; at most 100.
    video_ids: Vec<String>,
    /// Parts of further videos without its results; at most 100.
    parts: Vec<UnanalyzedPart>,
}

/// A part of a video.
#[derive(Object)]
struct UnanalyzedPart {
    /// Id of the video.
    video_id: String,
    /// Start time, in seconds from the start of the video.
    start: f64,
    /// End time, in seconds from the start of the video.
    end: f64,
}

impl From<page::IntervalPage> for IntervalsBody {
    fn from(page: page::IntervalPage) -> Self {
        let not_analyzed = page.not_analyzed.into_iter();
        Self {
            expression: AnyObject::from_value(page.expression),
            videos: page.videos.into_iter().map(Into::into).collect(),
            not_analyzed: OrderedMap(
                not_analyzed.map(|entry| (entry.analyzer.clone(), entry.into())).collect(),
            ),
            unknown_videos: page.unknown_videos,
            truncated_texts: page.truncated_texts,
            next: page.next,
        }
    }
}

impl From<page::VideoIntervals> for VideoIntervalsBody {
    fn from(video: page::VideoIntervals) -> Self {
        let span = |matched| IntervalSpanBody::new(video.video_id, matched);
        Self {
            video_id: video.video_id.to_string(),
            filename: video.filename,
            video_url: video.video_url,
            duration: video.duration,
            spans: video.spans.into_iter().map(span).collect(),
        }
    }
}

impl IntervalSpanBody {
    fn new(video_id: VideoId, matched: page::MatchedSpan) -> Self {
        let Span { start, end } = matched.span;
        let proof = |proof| ProofBody::new(video_id, proof);
        Self {
            moment_id: matched.moment_id.to_string(),
            start,
            end,
            timecode: matched.span.timecode(),
            proofs: matched.proofs.into_iter().map(proof).collect(),
        }
    }
}

impl ProofBody {
    fn new(video_id: VideoId, proof: IntervalProof) -> Self {
        let moment = |moment| ProofMomentBody::new(video_id, moment);
        Self {
            term: AnyObject::from_value(proof.term),
            absent: proof.is_absence,
            moments: proof.moments.into_iter().map(moment).collect(),
            more: u32::try_from(proof.more).ok().filter(|more| *more > 0),
        }
    }
}

impl ProofMomentBody {
    fn new(video_id: VideoId, moment: ProofMoment) -> Self {
        let ProofMoment { start, end, text, label, speaker, count, probability } = moment;
        let moment_id = MomentId::new(video_id, Span { start, end }).to_string();
        Self { moment_id, start, end, text, label, speaker, count, probability }
    }
}

impl From<page::NotAnalyzed> for NotAnalyzedBody {
    fn from(entry: page::NotAnalyzed) -> Self {
        let part = |(video_id, Span { start, end }): (VideoId, Span)| UnanalyzedPart {
            video_id: video_id.to_string(),
            start,
            end,
        };
        Self {
            videos: entry.videos,
            video_ids: entry.video_ids.into_iter().map(String::from).collect(),
            parts: entry.parts.into_iter().map(part).collect(),
        }
    }
}
