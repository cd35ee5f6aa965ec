//! `/videos/{video_id}/corrections`: what people say is right.

use poem_openapi::param::{Path, Query};
use poem_openapi::{Enum, Object, OpenApi};

use super::auth::{Service, Token};
use super::body::Json;
use super::errors::{ApiError, Failure, OfOne, Rerun};
use super::params::Flag;
use crate::domain::analysis::correction::{Corrected, Correction as Kept};
use crate::domain::ingest::correct::CorrectionDraft;
use crate::domain::jobs::Job;
use crate::domain::kernel::time::Span;
use crate::domain::kernel::video::video_named;

/// The routes of this section.
pub(super) struct CorrectionsApi(pub(super) Service);

#[OpenApi]
impl CorrectionsApi {
    /// What people have corrected in a video, in the order in which they did.
    #[oai(path = "/videos/:video_id/corrections", method = "get", operation_id = "corrections")]
    async fn corrections(
        &self,
        token: Token,
        video_id: Path<String>,
    ) -> Result<Json<Corrections>, ApiError<OfOne>> {
        let kept = self.0.of(&token).corrections(video_named(&video_id)?).await?;
        Ok(Json(Corrections::of(kept, None)))
    }

    /// Correct who speaks or is seen, what is said or read.
    ///
    /// All of them, or none. They lie over what the models have found: what is shown, exported,
    /// searched and answered is as corrected from then on, and stays so when the video is split
    /// otherwise or analyzed again, wherever the models find the same there. Aggregates are computed
    /// again by a job. 400 where one applies to nothing.
    #[oai(path = "/videos/:video_id/corrections", method = "post", operation_id = "correct")]
    async fn correct(
        &self,
        token: Token,
        video_id: Path<String>,
        /// Compute the aggregates of the video again; when left out, if that bills no model call.
        aggregate: Query<Option<Flag>>,
        Json(request): Json<CorrectionRequest>,
    ) -> Result<Json<Corrections>, ApiError<Rerun>> {
        let drafts = request.corrections.into_iter().map(CorrectionDraft::try_from);
        let drafts = drafts.collect::<Result<Vec<_>, _>>()?;
        let video_id = video_named(&video_id)?;
        let aggregate = aggregate.0.map(|flag| flag.0);
        let (made, job) = self.0.of(&token).correct(video_id, drafts, aggregate).await?;
        Ok(Json(Corrections::of(made, job)))
    }

    /// Undo every correction of a video.
    #[oai(
        path = "/videos/:video_id/corrections",
        method = "delete",
        operation_id = "undo_corrections"
    )]
    async fn undo_corrections(
        &self,
        token: Token,
        video_id: Path<String>,
        /// Compute the aggregates of the video again; when left out, if that bills no model call.
        aggregate: Query<Option<Flag>>,
    ) -> Result<Json<Corrections>, ApiError<Rerun>> {
        self.undo(&token, &video_id, None, aggregate.0).await
    }

    /// Undo one correction: what the models say is shown again.
    #[oai(
        path = "/videos/:video_id/corrections/:correction_id",
        method = "delete",
        operation_id = "undo_correction"
    )]
    async fn undo_correction(
        &self,
        token: Token,
        video_id: Path<String>,
        correction_id: Path<String>,
        /// Compute the aggregates of the video again; when left out, if that bills no model call.
        aggregate: Query<Option<Flag>>,
    ) -> Result<Json<Corrections>, ApiError<Rerun>> {
        self.undo(&token, &video_id, Some(correction_id.0), aggregate.0).await
    }
}

impl CorrectionsApi {
    async fn undo(
        &self,
        token: &Token,
        video_id: &str,
        id: Option<String>,
        aggregate: Option<Flag>,
    ) -> Result<Json<Corrections>, ApiError<Rerun>> {
        let (video_id, aggregate) = (video_named(video_id)?, aggregate.map(|flag| flag.0));
        let (left, job) = self.0.of(token).undo_corrections(video_id, id, aggregate).await?;
        Ok(Json(Corrections::of(left, job)))
    }
}

#[derive(Object)]
struct CorrectionRequest {
    /// One after the other: each is of what is shown with those before it.
    #[oai(validator(min_items = 1))]
    corrections: Vec<NewCorrection>,
}

/// What is wrong, and what is right.
#[derive(Object)]
struct NewCorrection {
    of: CorrectionOf,
    /// What is shown: the label or name of a speaker; words, whatever their case and punctuation; the
    /// `entity_id` or name of a linked person.
    #[oai(validator(min_length = 1))]
    from: String,
    /// What is right: a name, or the words. Empty takes words away that were never there.
    to: String,
    /// Only from this second of the video on, with `end`; everywhere when left out. Not of a person.
    #[oai(nullable)]
    start: Option<f64>,
    /// Only until this second.
    #[oai(nullable)]
    end: Option<f64>,
}

/// What a correction is about: who speaks, what is said, what is read in the picture, who is seen.
#[derive(Debug, Clone, Copy, Enum)]
#[oai(rename_all = "snake_case")]
enum CorrectionOf {
    Speaker,
    Words,
    ScreenText,
    Person,
}

#[derive(Object)]
struct Corrections {
    /// Those that were made, by a request that makes some; else all that there are.
    corrections: Vec<Correction>,
    /// The job that computes the aggregates again, where one does.
    #[oai(nullable)]
    job_id: Option<String>,
}

#[derive(Object)]
struct Correction {
    /// What undoing it calls it.
    id: String,
    of: CorrectionOf,
    /// What was shown.
    from: String,
    /// What is shown instead.
    to: String,
    /// When alone it applies, seconds of the video; null where it does everywhere.
    #[oai(nullable)]
    start: Option<f64>,
    #[oai(nullable)]
    end: Option<f64>,
    /// ISO 8601, second precision, UTC.
    created_at: String,
    /// How often it applies to what the models find now; 0 where a later run finds something else.
    places: u32,
    /// When: `[start, end]` in seconds of the video, the first thousand.
    spans: Vec<Vec<f64>>,
}

impl Corrections {
    fn of(kept: Vec<Kept>, job: Option<Job>) -> Self {
        let corrections = kept.into_iter().map(Into::into).collect();
        Self { corrections, job_id: job.map(|job| job.job_id) }
    }
}

impl From<Kept> for Correction {
    fn from(kept: Kept) -> Self {
        Self {
            id: kept.id,
            of: kept.of.into(),
            from: kept.from,
            to: kept.to,
            start: kept.span.map(|span| span.start),
            end: kept.span.map(|span| span.end),
            created_at: kept.created_at,
            places: kept.places,
            spans: kept.spans.into_iter().map(|span| vec![span.start, span.end]).collect(),
        }
    }
}

impl TryFrom<NewCorrection> for CorrectionDraft {
    type Error = Failure;

    fn try_from(new: NewCorrection) -> Result<Self, Failure> {
        let NewCorrection { of, from, to, start, end } = new;
        let span = match (start, end) {
            (Some(start), Some(end)) => Some(Span { start, end }),
            (None, None) => None,
            _ => return Err(Failure::unprocessable("'start' and 'end' go together")),
        };
        if span.is_some() && matches!(of, CorrectionOf::Person) {
            return Err(Failure::unprocessable(
                "a person is corrected wherever they are seen; leave out 'start' and 'end'",
            ));
        }
        Ok(Self { of: of.into(), from, to, span })
    }
}

impl From<CorrectionOf> for Corrected {
    fn from(of: CorrectionOf) -> Self {
        match of {
            CorrectionOf::Speaker => Self::Speaker,
            CorrectionOf::Words => Self::Words,
            CorrectionOf::ScreenText => Self::ScreenText,
            CorrectionOf::Person => Self::Person,
        }
    }
}

impl From<Corrected> for CorrectionOf {
    fn from(of: Corrected) -> Self {
        match of {
            Corrected::Speaker => Self::Speaker,
            Corrected::Words => Self::Words,
            Corrected::ScreenText => Self::ScreenText,
            Corrected::Person => Self::Person,
        }
    }
}
