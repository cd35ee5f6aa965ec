//! Corrections by users to model outputs: adds and removes them, and publishes the corrected video.
//! The ingest pipeline applies them again to new outputs.

mod overlay;
mod resolve;

use std::sync::Arc;
use std::time::Duration;

use ports::index::{Point, VectorIndex};

use crate::analysis::Analyzers;
use crate::analysis::correction::{Correction, CorrectionKind, PhrasePattern};
use crate::catalog::Catalog;
use crate::kernel::error::{Error, Result};
use crate::kernel::ports::{Models, Stores};
use crate::kernel::time::{Span, timecode};
use crate::kernel::video::{VideoId, unknown_video};
use crate::publishing::Publisher;
use crate::publishing::publication::Cause;
use crate::records::Records;
use crate::records::locks::VideoLocks;
use crate::records::readiness::StoreReadiness;
use crate::records::record::VideoRecord;

/// How long a correction waits for a job that is changing the video.
const LOCK_TIMEOUT: Duration = Duration::from_secs(3);

/// `Retry-After` if the lock is not available, in seconds.
const RETRY_AFTER: u32 = 5;

/// Limits on corrections.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CorrectionLimits {
    /// Maximum number of corrections to a video.
    pub(crate) max: usize,
    /// Maximum length of a correction's text, in characters.
    pub(crate) max_chars: usize,
}

/// A correction as requested by a user.
#[derive(Debug, Clone, PartialEq)]
pub struct CorrectionDraft {
    /// The kind of content to correct.
    pub of: CorrectionKind,
    /// The wrong text; empty to add a chapter.
    pub from: String,
    /// The correct text. If empty, the wrong words are deleted.
    pub to: String,
    /// The span to which the correction is restricted, with times in seconds from the start of the
    /// video.
    pub span: Option<Span>,
}

impl CorrectionDraft {
    /// Checks the draft independently of any video.
    fn check(&self, max_chars: usize) -> Result<()> {
        let Self { of, from, to, span } = self;
        for (name, text) in [("from", from), ("to", to)] {
            if text.chars().count() > max_chars {
                return Err(Error::Unprocessable(format!(
                    "'{name}' has at most {max_chars} characters (ingest.max_correction_chars)"
                )));
            }
        }
        let renames = matches!(
            of,
            CorrectionKind::Speaker | CorrectionKind::Person | CorrectionKind::Chapter
        );
        let adds_chapter = *of == CorrectionKind::Chapter && from.trim().is_empty();
        if adds_chapter && (to.trim().is_empty() || span.is_none()) {
            return Err(Error::Unprocessable(
                "a new chapter needs its title in 'to', and 'start' and 'end'; to change the title of \
                 a chapter, give that title in 'from'"
                    .into(),
            ));
        }
        if renames && !adds_chapter && (from.trim().is_empty() || to.trim().is_empty()) {
            return Err(Error::Unprocessable(format!(
                "a correction of a {} needs 'from' and 'to'",
                of.name()
            )));
        }
        if !renames && PhrasePattern::new(from).is_empty() {
            return Err(Error::Unprocessable(
                "'from' needs a letter or a digit: the words that are wrong".into(),
            ));
        }
        if span.is_some_and(|span| !(span.start >= 0.0 && span.end > span.start)) {
            return Err(Error::Unprocessable(
                "'start' and 'end' are seconds of the video, 'end' after 'start'".into(),
            ));
        }
        Ok(())
    }
}

/// Corrects the model outputs of published videos.
pub(crate) struct Corrections {
    records: Arc<Records>,
    publisher: Arc<Publisher>,
    locks: Arc<VideoLocks>,
    readiness: Arc<StoreReadiness>,
    index: Arc<dyn VectorIndex>,
    models: Models,
    analyzers: Analyzers,
    limits: CorrectionLimits,
}

impl Corrections {
    pub(crate) fn new(
        stores: &Stores,
        models: &Models,
        catalog: &Catalog,
        limits: CorrectionLimits,
    ) -> Self {
        Self {
            records: catalog.records.clone(),
            publisher: catalog.publisher.clone(),
            locks: catalog.locks.clone(),
            readiness: catalog.readiness.clone(),
            index: stores.index.clone(),
            models: models.clone(),
            analyzers: catalog.analyzers.clone(),
            limits,
        }
    }

    /// Adds corrections to a video, either all of them or none. Returns `Invalid` for the first
    /// correction that matches nothing in the video.
    pub(crate) async fn add(
        &self,
        video_id: VideoId,
        drafts: &[CorrectionDraft],
    ) -> Result<Vec<Correction>> {
        for draft in drafts {
            draft.check(self.limits.max_chars)?;
        }
        let known = self.records.video_corrections(video_id).await?.len();
        let max = self.limits.max;
        if known + drafts.len() > max {
            return Err(Error::Invalid(format!(
                "a video has at most {max} corrections (ingest.max_corrections); this one has {known}"
            )));
        }
        let mut corrections = self.change(video_id, Change::Add(drafts)).await?;
        Ok(corrections.split_off(corrections.len().saturating_sub(drafts.len())))
    }

    /// Removes one correction to a video, or all of them. Returns `NotFound` if there is no such
    /// correction.
    pub(crate) async fn remove(
        &self,
        video_id: VideoId,
        id: Option<&str>,
    ) -> Result<Vec<Correction>> {
        self.change(video_id, Change::Remove(id)).await
    }

    /// Applies a video's corrections to the outputs and points of its unpublished record.
    pub(crate) async fn reapply(
        &self,
        record: &mut VideoRecord,
        points: &mut Vec<Point>,
    ) -> Result<()> {
        let corrections = self.records.corrections(record).await?;
        if !corrections.is_empty() {
            self.apply(record, corrections, points).await?;
        }
        Ok(())
    }

    /// Changes a video's corrections, applies them and publishes the video.
    async fn change(&self, video_id: VideoId, change: Change<'_>) -> Result<Vec<Correction>> {
        self.readiness.check()?;
        let locking = tokio::time::timeout(LOCK_TIMEOUT, self.locks.lock(video_id));
        let Ok(lock) = locking.await else {
            return Err(Error::Busy {
                message: format!(
                    "a job is changing video '{video_id}'; try again when it has ended"
                ),
                retry_after: RETRY_AFTER,
            });
        };
        let lock = lock?;
        if self.records.state(video_id).await?.into_record()?.is_none() {
            return Err(unknown_video(video_id));
        }
        let claim = self.publisher.claim(video_id, &lock).await?;
        let outcome = async {
            let record = claim.base.clone().into_record()?;
            let mut record = record.ok_or_else(|| unknown_video(video_id))?;
            let (corrections, known) = self.apply_change(&record, change).await?;
            let mut points = Vec::new();
            let corrections = self.apply(&mut record, corrections, &mut points).await?;
            if let Some(unmatched) =
                corrections.iter().skip(known).find(|correction| correction.places == 0)
            {
                return Err(no_match_error(unmatched));
            }
            lock.check()?;
            self.publisher.publish_with_points(&claim, record, points, Cause::Correction).await?;
            Ok(corrections)
        };
        let outcome = outcome.await;
        if outcome.is_err() {
            self.publisher.discard(&claim).await;
        }
        outcome
    }

    /// Computes a video's corrections after a change. Also returns how many there were before the
    /// change. Earlier corrections may match nothing in the current outputs.
    async fn apply_change(
        &self,
        record: &VideoRecord,
        change: Change<'_>,
    ) -> Result<(Vec<Correction>, usize)> {
        let mut corrections = self.records.corrections(record).await?;
        let known = corrections.len();
        match change {
            Change::Add(drafts) => {
                for draft in drafts {
                    let correction = self.resolve(record, &corrections, draft).await?;
                    corrections.push(correction);
                }
            }
            Change::Remove(None) => corrections.clear(),
            Change::Remove(Some(id)) => {
                corrections.retain(|correction| correction.id != id);
                if corrections.len() == known {
                    let video_id = record.video_id;
                    let missing = format!("video '{video_id}' has no correction '{id}'");
                    return Err(Error::NotFound(missing));
                }
            }
        }
        Ok((corrections, known))
    }
}

/// A change to the corrections to a video.
#[derive(Clone, Copy)]
enum Change<'a> {
    Add(&'a [CorrectionDraft]),
    /// Removes the correction with this id, or all corrections.
    Remove(Option<&'a str>),
}

fn no_match_error(correction: &Correction) -> Error {
    let Correction { kind, from, span, .. } = correction;
    let within = span.map_or_else(
        || "in this video".to_owned(),
        |span| format!("between {} and {}", timecode(span.start), timecode(span.end)),
    );
    Error::Invalid(match kind {
        CorrectionKind::Speaker => {
            format!("'{from}' does not speak {within}; nothing was corrected")
        }
        CorrectionKind::Words => format!("nobody says '{from}' {within}; nothing was corrected"),
        CorrectionKind::ScreenText => {
            format!("'{from}' is not read {within}; nothing was corrected")
        }
        CorrectionKind::Person => format!("'{from}' is not seen {within}; nothing was corrected"),
        CorrectionKind::Chapter => {
            format!("no chapter has the title '{from}' {within}; nothing was corrected")
        }
    })
}
