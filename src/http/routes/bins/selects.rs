//! Wire types of selects.

use poem_openapi::Object;
use poem_openapi::types::MaybeUndefined;

use crate::http::wire::failure::HttpFailure;
use crate::http::wire::params::excerpt;
use domain::bins::change::{BinChange, Place};
use domain::bins::select::{SelectDraft, SelectId, SelectPatch};
use domain::bins::{SelectList, SelectView};
use domain::kernel::error::Error;
use domain::kernel::moment::MomentId;
use domain::kernel::time::{Span, rounded};
use domain::kernel::video::VideoId;

#[derive(Object)]
pub(super) struct AddSelectsRequest {
    /// The selects to add, in order.
    #[oai(validator(min_items = 1))]
    selects: Vec<SelectRequest>,
    /// Position of the first one, counted from 0; a position beyond the end means the end. Excludes
    /// `before`. Null: the end of the bin.
    #[oai(nullable, validator(minimum(value = "0")))]
    position: Option<u32>,
    /// Id of the select before which they are inserted. Excludes `position`.
    #[oai(nullable)]
    before: Option<String>,
}

/// A select to add: a moment, named by `moment_id`, or by `video_id`, `start` and `end`.
#[derive(Object)]
pub(crate) struct SelectRequest {
    /// Id of the moment.
    #[oai(nullable)]
    moment_id: Option<String>,
    /// Id of the video.
    #[oai(nullable)]
    video_id: Option<String>,
    /// Start of the moment, in seconds from the start of the video.
    #[oai(nullable)]
    start: Option<f64>,
    /// End of the moment, in seconds from the start of the video.
    #[oai(nullable)]
    end: Option<f64>,
    /// Where the select begins, in seconds from the start of the video, if it is trimmed or
    /// extended. Null: at the start of the moment.
    #[oai(rename = "in", nullable)]
    trim_in: Option<f64>,
    /// Where the select ends, in seconds from the start of the video, if it is trimmed or extended.
    /// Null: at the end of the moment.
    #[oai(rename = "out", nullable)]
    trim_out: Option<f64>,
    /// A note.
    #[oai(default)]
    note: String,
    /// Tags.
    #[oai(default)]
    tags: Vec<String>,
    /// Rating, from 0 to 5; 0 for none.
    #[oai(default, validator(minimum(value = "0"), maximum(value = "5")))]
    rating: u32,
}

/// Changes to a select. Absent fields are not changed.
#[derive(Object)]
pub(super) struct SelectUpdateRequest {
    /// The new note; empty to remove it.
    note: Option<String>,
    /// The new tags, which replace all current ones.
    tags: Option<Vec<String>>,
    /// The new rating, from 0 to 5; 0 to remove it.
    #[oai(validator(minimum(value = "0"), maximum(value = "5")))]
    rating: Option<u32>,
    /// Where the select begins, in seconds from the start of the video; null for the start of the
    /// moment. It may lie outside the moment, but not outside the video.
    #[oai(rename = "in", nullable)]
    trim_in: MaybeUndefined<f64>,
    /// Where the select ends, in seconds from the start of the video; null for the end of the
    /// moment. It may lie outside the moment, but not outside the video.
    #[oai(rename = "out", nullable)]
    trim_out: MaybeUndefined<f64>,
}

#[derive(Object)]
pub(super) struct SplitRequest {
    /// Where to split, in seconds from the start of the video.
    pub(super) at: f64,
}

#[derive(Object)]
pub(super) struct MoveSelectsRequest {
    /// Ids of the selects to move, in their new order.
    #[oai(validator(min_items = 1))]
    select_ids: Vec<String>,
    /// Position of the first one among the other selects, counted from 0; a position beyond the end
    /// means the end. Excludes `before`. Null: the end of the bin.
    #[oai(nullable, validator(minimum(value = "0")))]
    position: Option<u32>,
    /// Id of the select before which they are placed. Excludes `position`.
    #[oai(nullable)]
    before: Option<String>,
}

#[derive(Object)]
pub(super) struct RemoveSelectsRequest {
    /// Ids of the selects to remove.
    #[oai(validator(min_items = 1))]
    select_ids: Vec<String>,
}

#[derive(Object)]
#[oai(rename = "SelectList")]
pub(super) struct SelectListBody {
    /// Id of the bin.
    bin_id: String,
    /// Version of the bin.
    version: u64,
    /// Number of selects in the bin.
    total: u32,
    /// Number of selects skipped.
    offset: u32,
    /// Page size.
    limit: u32,
    /// The selects of this page, in the order of the bin.
    selects: Vec<SelectBody>,
}

/// A span of a video in a bin. It stays the same when the video is split into other chunks or
/// analyzed again.
#[derive(Object)]
#[oai(rename = "Select")]
pub(super) struct SelectBody {
    /// Id of the select within its bin. It does not change when the select is moved.
    select_id: String,
    /// Id of the video.
    video_id: String,
    /// File name of the video. If the video is missing, the name that it had when the select was
    /// added.
    filename: String,
    /// URL of the video in storage; null if the video is missing.
    #[oai(nullable)]
    video_url: Option<String>,
    /// Whether the video no longer exists, or is not visible to the token.
    missing: bool,
    /// Id of the moment, for `GET /moments/{moment_id}`.
    moment_id: String,
    /// Start of the moment, in seconds from the start of the video.
    start: f64,
    /// End of the moment, in seconds from the start of the video.
    end: f64,
    /// Where the select begins, in seconds from the start of the video; null at the start of the
    /// moment.
    #[oai(rename = "in", nullable)]
    trim_in: Option<f64>,
    /// Where the select ends, in seconds from the start of the video; null at the end of the moment.
    #[oai(rename = "out", nullable)]
    trim_out: Option<f64>,
    /// Duration of the select as trimmed, in seconds.
    duration: f64,
    /// Span of the select as trimmed, as `M:SS.ss-M:SS.ss`.
    timecode: String,
    /// The note; empty if there is none.
    note: String,
    /// The tags.
    tags: Vec<String>,
    /// The rating, from 1 to 5; 0 if there is none.
    rating: u32,
}

impl TryFrom<AddSelectsRequest> for BinChange {
    type Error = HttpFailure;

    fn try_from(request: AddSelectsRequest) -> Result<Self, HttpFailure> {
        let place = place(request.position, request.before.as_deref())?;
        let drafts = request.selects.into_iter().map(SelectDraft::try_from);
        Ok(Self::Add(drafts.collect::<Result<_, _>>()?, place))
    }
}

impl TryFrom<MoveSelectsRequest> for BinChange {
    type Error = HttpFailure;

    fn try_from(request: MoveSelectsRequest) -> Result<Self, HttpFailure> {
        let place = place(request.position, request.before.as_deref())?;
        Ok(Self::Move(select_ids(&request.select_ids)?, place))
    }
}

impl TryFrom<RemoveSelectsRequest> for BinChange {
    type Error = HttpFailure;

    fn try_from(request: RemoveSelectsRequest) -> Result<Self, HttpFailure> {
        Ok(Self::Remove(select_ids(&request.select_ids)?))
    }
}

fn select_ids(ids: &[String]) -> Result<Vec<SelectId>, Error> {
    ids.iter().map(|id| SelectId::parse(id)).collect()
}

fn place(position: Option<u32>, before: Option<&str>) -> Result<Place, HttpFailure> {
    match (position, before) {
        (None, None) => Ok(Place::End),
        (Some(position), None) => Ok(Place::Position(position as usize)),
        (None, Some(id)) => Ok(Place::Before(SelectId::parse(id)?)),
        (Some(_), Some(_)) => {
            Err(HttpFailure::unprocessable("'position' and 'before' exclude each other"))
        }
    }
}

impl TryFrom<SelectRequest> for SelectDraft {
    type Error = HttpFailure;

    fn try_from(request: SelectRequest) -> Result<Self, HttpFailure> {
        let SelectRequest { moment_id, video_id, start, end, .. } = &request;
        let moment = match (moment_id, video_id, start, end) {
            (Some(id), None, None, None) => id.parse()?,
            (None, Some(id), Some(start), Some(end)) => moment(id, *start, *end)?,
            _ => {
                return Err(HttpFailure::unprocessable(
                    "a select needs either 'moment_id', or 'video_id', 'start' and 'end'",
                ));
            }
        };
        let SelectRequest { trim_in, trim_out, note, tags, rating, .. } = request;
        Ok(Self { moment, trim_in, trim_out, note, tags, rating: rating as u8 })
    }
}

/// Returns the moment for a span of a video.
fn moment(video_id: &str, start: f64, end: f64) -> Result<MomentId, HttpFailure> {
    if !(start >= 0.0 && end > start) {
        return Err(HttpFailure::unprocessable(
            "'start' and 'end' are seconds of the video, 'end' after 'start'",
        ));
    }
    Ok(MomentId::new(requested_video(video_id)?, Span { start, end }))
}

/// Parses the id of a video. Returns `Invalid` for a malformed id.
pub(super) fn requested_video(id: &str) -> Result<VideoId, Error> {
    id.parse().map_err(|_| Error::Invalid(format!("unknown video_id '{}'", excerpt(id))))
}

impl From<SelectUpdateRequest> for SelectPatch {
    fn from(request: SelectUpdateRequest) -> Self {
        let time = |time: MaybeUndefined<f64>| match time {
            MaybeUndefined::Undefined => None,
            MaybeUndefined::Null => Some(None),
            MaybeUndefined::Value(time) => Some(Some(time)),
        };
        Self {
            note: request.note,
            tags: request.tags,
            rating: request.rating.map(|rating| rating as u8),
            trim_in: time(request.trim_in),
            trim_out: time(request.trim_out),
        }
    }
}

impl SelectListBody {
    pub(super) fn new(list: SelectList, limit: u32) -> Self {
        Self {
            bin_id: list.bin.bin_id.to_string(),
            version: list.bin.version,
            total: list.bin.selects as u32,
            offset: list.offset as u32,
            limit,
            selects: list.selects.into_iter().map(Into::into).collect(),
        }
    }
}

impl From<SelectView> for SelectBody {
    fn from(view: SelectView) -> Self {
        let SelectView { select, filename, video_url } = view;
        let (moment, trimmed) = (select.span(), select.trimmed_span());
        let (trim_in, trim_out) = select.trim();
        Self {
            select_id: select.id.to_string(),
            video_id: select.video_id.to_string(),
            filename,
            missing: video_url.is_none(),
            video_url,
            moment_id: select.moment_id().to_string(),
            start: moment.start,
            end: moment.end,
            trim_in,
            trim_out,
            duration: rounded(trimmed.seconds()),
            timecode: trimmed.timecode(),
            note: select.note,
            tags: select.tags,
            rating: u32::from(select.rating),
        }
    }
}
