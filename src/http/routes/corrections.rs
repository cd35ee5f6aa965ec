//! `/videos/{video_id}/corrections`: user corrections to model output.

use poem_openapi::param::{Path, Query};
use poem_openapi::{Enum, Object, OpenApi};

use crate::http::edge::auth::{CallerToken, Service};
use crate::http::wire::body::Json;
use crate::http::wire::errors::{ApiError, ById, Rerun};
use crate::http::wire::failure::HttpFailure;
use crate::http::wire::params::Flag;
use domain::analysis::correction::{self, CorrectionKind};
use domain::corrections::CorrectionDraft;
use domain::jobs::Job;
use domain::kernel::time::Span;
use domain::kernel::video::parse_video_id;

/// The routes of this section.
pub(super) struct CorrectionsApi(pub(super) Service);

#[OpenApi]
impl CorrectionsApi {
    /// List corrections.
    ///
    /// Corrections are listed in the order in which they were made.
    #[oai(path = "/videos/:video_id/corrections", method = "get", operation_id = "corrections")]
    async fn corrections(
        &self,
        token: CallerToken,
        /// Id of the video.
        video_id: Path<String>,
    ) -> Result<Json<Corrections>, ApiError<ById>> {
        let service = self.0.scoped(&token);
        let corrections = service.video(parse_video_id(&video_id)?).await?.corrections().await?;
        Ok(Json(Corrections::new(corrections, None)))
    }

    /// Correct speakers, words, on-screen text, people or titles of chapters.
    ///
    /// Applies all corrections or none. Corrections override model output in reads, exports,
    /// searches and answers. They also apply after the video is chunked or analyzed again, wherever
    /// the models again produce the text that was corrected. A job recomputes the aggregates.
    /// Titles of chapters are corrected without recomputing anything. Returns 400 if a correction
    /// matches nothing.
    #[oai(path = "/videos/:video_id/corrections", method = "post", operation_id = "correct")]
    async fn correct(
        &self,
        token: CallerToken,
        /// Id of the video.
        video_id: Path<String>,
        /// Whether to recompute the video's aggregates. Default: they are recomputed only if that
        /// requires no model calls.
        aggregate: Query<Option<Flag>>,
        Json(request): Json<CorrectionRequest>,
    ) -> Result<Json<Corrections>, ApiError<Rerun>> {
        let drafts = request.corrections.into_iter().map(CorrectionDraft::try_from);
        let drafts = drafts.collect::<Result<Vec<_>, _>>()?;
        let video_id = parse_video_id(&video_id)?;
        let aggregate = aggregate.0.map(|flag| flag.0);
        let service = self.0.scoped(&token);
        let video = service.for_write()?.video(video_id).await?;
        let (made, job) = video.correct(drafts, aggregate).await?;
        Ok(Json(Corrections::new(made, job)))
    }

    /// Undo all corrections to a video.
    #[oai(
        path = "/videos/:video_id/corrections",
        method = "delete",
        operation_id = "undo_corrections"
    )]
    async fn undo_corrections(
        &self,
        token: CallerToken,
        /// Id of the video.
        video_id: Path<String>,
        /// Whether to recompute the video's aggregates. Default: they are recomputed only if that
        /// requires no model calls.
        aggregate: Query<Option<Flag>>,
    ) -> Result<Json<Corrections>, ApiError<Rerun>> {
        self.undo(&token, &video_id, None, aggregate.0).await
    }

    /// Undo a correction.
    ///
    /// Restores the models' output.
    #[oai(
        path = "/videos/:video_id/corrections/:correction_id",
        method = "delete",
        operation_id = "undo_correction"
    )]
    async fn undo_correction(
        &self,
        token: CallerToken,
        /// Id of the video.
        video_id: Path<String>,
        /// Id of the correction.
        correction_id: Path<String>,
        /// Whether to recompute the video's aggregates. Default: they are recomputed only if that
        /// requires no model calls.
        aggregate: Query<Option<Flag>>,
    ) -> Result<Json<Corrections>, ApiError<Rerun>> {
        self.undo(&token, &video_id, Some(correction_id.0), aggregate.0).await
    }
}

impl CorrectionsApi {
    async fn undo(
        &self,
        token: &CallerToken,
        video_id: &str,
        id: Option<String>,
        aggregate: Option<Flag>,
    ) -> Result<Json<Corrections>, ApiError<Rerun>> {
        let (video_id, aggregate) = (parse_video_id(video_id)?, aggregate.map(|flag| flag.0));
        let service = self.0.scoped(token);
        let video = service.for_write()?.video(video_id).await?;
        let (left, job) = video.undo_corrections(id, aggregate).await?;
        Ok(Json(Corrections::new(left, job)))
    }
}

/// Maximum number of places of a correction in a response.
const MAX_SPANS: usize = 1000;

#[derive(Object)]
struct CorrectionRequest {
    /// The corrections, applied in order; each one applies to the result of the previous ones.
    #[oai(validator(min_items = 1))]
    corrections: Vec<NewCorrection>,
}

/// A correction to make: the text to replace, and its replacement.
#[derive(Object)]
struct NewCorrection {
    of: CorrectionOf,
    /// The current text to replace: the label or name of a speaker, words (case and punctuation are
    /// ignored), the `entity_id` or name of a linked person, or the title of a chapter. Empty to add a
    /// chapter, which needs `start` and `end`; the chapters around it keep the rest.
    from: String,
    /// The replacement: a name, words or a title. If empty, the words are deleted; use this for words
    /// that were recognized but never spoken or shown. If it equals `from`, the words are marked as
    /// checked: they get the probability 1.
    to: String,
    /// Start of the range to correct, in seconds from the start of the video; requires `end`. Null:
    /// the whole video. Not allowed for people; of chapters with the same title, it names one.
    #[oai(nullable)]
    start: Option<f64>,
    /// End of the range to correct, in seconds from the start of the video; requires `start`.
    #[oai(nullable)]
    end: Option<f64>,
}

/// What a correction applies to: a speaker, spoken words, on-screen text, a person, or the title of a
/// chapter.
#[derive(Debug, Clone, Copy, Enum)]
#[oai(rename_all = "snake_case")]
enum CorrectionOf {
    Speaker,
    Words,
    ScreenText,
    Person,
    Chapter,
}

#[derive(Object)]
struct Corrections {
    /// In response to POST, the corrections that the request made; otherwise, all current
    /// corrections to the video.
    corrections: Vec<CorrectionBody>,
    /// Id of the job that recomputes the aggregates; null if none was started.
    #[oai(nullable)]
    job_id: Option<String>,
}

#[derive(Object)]
#[oai(rename = "Correction")]
struct CorrectionBody {
    /// Id of the correction, for `DELETE /videos/{video_id}/corrections/{correction_id}`.
    id: String,
    of: CorrectionOf,
    /// The replaced text.
    from: String,
    /// The replacement.
    to: String,
    /// Start of the corrected range, in seconds from the start of the video; null for the whole
    /// video.
    #[oai(nullable)]
    start: Option<f64>,
    /// End of the corrected range, in seconds from the start of the video; null for the whole
    /// video.
    #[oai(nullable)]
    end: Option<f64>,
    /// Creation time (ISO 8601, UTC, to the second).
    created_at: String,
    /// Number of places that the correction currently applies to; 0 if a later run of the models
    /// produced different text.
    places: u32,
    /// Places that the correction applies to, each as `[start, end]` in seconds from the start of
    /// the video; at most 1000.
    spans: Vec<Vec<f64>>,
}

impl Corrections {
    fn new(corrections: Vec<correction::Correction>, job: Option<Job>) -> Self {
        let corrections = corrections.into_iter().map(Into::into).collect();
        Self { corrections, job_id: job.map(|job| job.job_id) }
    }
}

impl From<correction::Correction> for CorrectionBody {
    fn from(correction: correction::Correction) -> Self {
        Self {
            id: correction.id,
            of: correction.kind.into(),
            from: correction.from,
            to: correction.to,
            start: correction.span.map(|span| span.start),
            end: correction.span.map(|span| span.end),
            created_at: correction.created_at,
            places: correction.places,
            spans: correction
                .spans
                .into_iter()
                .take(MAX_SPANS)
                .map(|span| vec![span.start, span.end])
                .collect(),
        }
    }
}

impl TryFrom<NewCorrection> for CorrectionDraft {
    type Error = HttpFailure;

    fn try_from(new: NewCorrection) -> Result<Self, HttpFailure> {
        let NewCorrection { of, from, to, start, end } = new;
        let span = match (start, end) {
            (Some(start), Some(end)) => Some(Span { start, end }),
            (None, None) => None,
            _ => return Err(HttpFailure::unprocessable("'start' and 'end' go together")),
        };
        if span.is_some() && matches!(of, CorrectionOf::Person) {
            return Err(HttpFailure::unprocessable(
                "a person is corrected wherever they are seen; leave out 'start' and 'end'",
            ));
        }
        Ok(Self { of: of.into(), from, to, span })
    }
}

impl From<CorrectionOf> for CorrectionKind {
    fn from(kind: CorrectionOf) -> Self {
        match kind {
            CorrectionOf::Speaker => Self::Speaker,
            CorrectionOf::Words => Self::Words,
            CorrectionOf::ScreenText => Self::ScreenText,
            CorrectionOf::Person => Self::Person,
            CorrectionOf::Chapter => Self::Chapter,
        }
    }
}

impl From<CorrectionKind> for CorrectionOf {
    fn from(kind: CorrectionKind) -> Self {
        match kind {
            CorrectionKind::Speaker => Self::Speaker,
            CorrectionKind::Words => Self::Words,
            CorrectionKind::ScreenText => Self::ScreenText,
            CorrectionKind::Person => Self::Person,
            CorrectionKind::Chapter => Self::Chapter,
        }
    }
}
