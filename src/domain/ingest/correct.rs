//! Applies user corrections to model outputs, and applies them again after every later run.

use std::collections::HashMap;
use std::time::Duration;

use ports::index::Point;

use crate::aggregation::aggregators::entities::{self, LinkedPeople};
use crate::aggregation::result::result_of;
use crate::analysis::analyzers::people::{self, ChunkPeople};
use crate::analysis::correction::{Correction, CorrectionKind, CorrectionSet, PhrasePattern};
use crate::analysis::output::output_of;
use crate::analysis::video::{Output, Outputs};
use crate::ingest::Ingest;
use crate::kernel::error::{Error, Result};
use crate::kernel::names::comma_separated;
use crate::kernel::time::{Span, now, rounded, timecode};
use crate::kernel::video::{VideoId, unknown_video};
use crate::media::tracking::Location;
use crate::records::record::{AnalyzerEntry, VideoRecord};
use crate::search::indexing::points;
use crate::search::stored_vectors::{CachingEmbedder, embedded_texts, stored_vectors};

/// How long a correction waits for a job that is changing the video.
const LOCK_TIMEOUT: Duration = Duration::from_secs(3);

/// `Retry-After` if the lock is not available, in seconds.
const RETRY_AFTER: u32 = 5;

/// A correction as requested by a user.
#[derive(Debug, Clone, PartialEq)]
pub struct CorrectionDraft {
    /// The kind of content to correct.
    pub of: CorrectionKind,
    /// The wrong text.
    pub from: String,
    /// The correct text. If empty, the wrong words are deleted.
    pub to: String,
    /// The span to which the correction is restricted, with times in seconds from the start of the
    /// video.
    pub span: Option<Span>,
}

impl Ingest {
    /// Adds corrections to a video, either all of them or none. Returns `Invalid` for the first
    /// correction that matches nothing in the video.
    pub(crate) async fn correct(
        &self,
        video_id: VideoId,
        drafts: &[CorrectionDraft],
    ) -> Result<Vec<Correction>> {
        for draft in drafts {
            self.check_draft(draft)?;
        }
        let known = self.catalog.records.video_corrections(video_id).await?.len();
        let max = self.settings.ingest.max_corrections;
        if known + drafts.len() > max {
            return Err(Error::Invalid(format!(
                "a video has at most {max} corrections (ingest.max_corrections); this one has {known}"
            )));
        }
        let mut corrections = self.change_corrections(video_id, Change::Add(drafts)).await?;
        Ok(corrections.split_off(corrections.len().saturating_sub(drafts.len())))
    }

    /// Removes one correction to a video, or all of them. Returns `NotFound` if there is no such
    /// correction.
    pub(crate) async fn undo_corrections(
        &self,
        video_id: VideoId,
        id: Option<&str>,
    ) -> Result<Vec<Correction>> {
        self.change_corrections(video_id, Change::Undo(id)).await
    }

    /// Computes a video's corrections after a change. Also returns how many there were before the
    /// change. Earlier corrections may match nothing in the current outputs.
    async fn apply_change(
        &self,
        record: &VideoRecord,
        change: Change<'_>,
    ) -> Result<(Vec<Correction>, usize)> {
        let mut corrections = self.catalog.records.corrections(record).await?;
        let known = corrections.len();
        match change {
            Change::Add(drafts) => {
                for draft in drafts {
                    let correction = self.correction(record, &corrections, draft).await?;
                    corrections.push(correction);
                }
            }
            Change::Undo(None) => corrections.clear(),
            Change::Undo(Some(id)) => {
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

    fn check_draft(&self, draft: &CorrectionDraft) -> Result<()> {
        let max_chars = self.settings.ingest.max_correction_chars;
        let CorrectionDraft { of, from, to, span } = draft;
        for (name, text) in [("from", from), ("to", to)] {
            if text.chars().count() > max_chars {
                return Err(Error::Unprocessable(format!(
                    "'{name}' has at most {max_chars} characters (ingest.max_correction_chars)"
                )));
            }
        }
        let renames = matches!(of, CorrectionKind::Speaker | CorrectionKind::Person);
        if renames && (from.trim().is_empty() || to.trim().is_empty()) {
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

    /// Resolves a draft against the video with the corrections `before` applied.
    async fn correction(
        &self,
        record: &VideoRecord,
        before: &[Correction],
        draft: &CorrectionDraft,
    ) -> Result<Correction> {
        let (spoken, seen) = match draft.of {
            CorrectionKind::Speaker => {
                (self.speaker_spans(record, before, draft).await?, Vec::new())
            }
            CorrectionKind::Person => {
                (Vec::new(), self.person_locations(record, before, &draft.from).await?)
            }
            CorrectionKind::Words | CorrectionKind::ScreenText => Default::default(),
        };
        let id = uuid::Uuid::new_v4().simple().to_string();
        Ok(Correction {
            id: id.chars().take(12).collect(),
            kind: draft.of,
            from: draft.from.trim().to_owned(),
            to: draft.to.trim().to_owned(),
            span: draft.span,
            created_at: now(),
            speaker_spans: spoken,
            person_locations: seen,
            places: 0,
            spans: Vec::new(),
        })
    }

    /// Finds the spans in which the speaker named in a draft speaks.
    async fn speaker_spans(
        &self,
        record: &VideoRecord,
        before: &[Correction],
        draft: &CorrectionDraft,
    ) -> Result<Vec<Span>> {
        let overlay = self.overlay(record, before.to_vec()).await?;
        let label = draft.from.trim();
        let mut spoken = overlay.speaker_spans(label);
        if spoken.is_empty() {
            return Err(Error::Invalid(format!(
                "no speaker '{label}' in this video; it has: {}",
                comma_separated(&overlay.speakers())
            )));
        }
        if let Some(span) = draft.span {
            for own in &mut spoken {
                (own.start, own.end) = (own.start.max(span.start), own.end.min(span.end));
            }
            spoken.retain(|own| own.end > own.start);
        }
        let milliseconds = |span: Span| Span { start: rounded(span.start), end: rounded(span.end) };
        Ok(spoken.into_iter().map(milliseconds).collect())
    }

    /// Finds the locations at which a linked person is visible. `person` is an id or a name.
    async fn person_locations(
        &self,
        record: &VideoRecord,
        before: &[Correction],
        person: &str,
    ) -> Result<Vec<Location>> {
        let person = person.trim();
        let named =
            before.iter().rev().find(|c| c.kind == CorrectionKind::Person && c.to == person);
        if let Some(named) = named {
            return Ok(named.person_locations.clone());
        }
        let stored = self.catalog.records.aggregate_result(record, entities::ID).await?;
        let linked = result_of::<LinkedPeople>(&*stored).map_or(&[][..], |people| &people.entities);
        let Some(linked) = linked.iter().find(|linked| linked.entity.entity_id == person) else {
            return Err(Error::NotFound(format!(
                "no person '{person}' in this video; GET /videos/{}/entities lists them",
                record.video_id
            )));
        };
        let outputs = self.catalog.records.original_outputs(record, people::ID).await?;
        let locations = |observation: &entities::PersonObservation| {
            let output = outputs.get(observation.chunk_id.index())?.as_deref()?;
            let crowd = output_of::<ChunkPeople>(output)?;
            let person = crowd.people.iter().find(|person| person.person == observation.person)?;
            Some(person.locations.clone())
        };
        let mut seen: Vec<Location> =
            linked.observations.iter().filter_map(locations).flatten().collect();
        seen.sort_by(|a, b| a.t.total_cmp(&b.t));
        if seen.is_empty() {
            return Err(Error::Invalid(format!(
                "where '{person}' is seen was not kept; ingest the video with 'people' again"
            )));
        }
        Ok(seen)
    }

    async fn overlay(
        &self,
        record: &VideoRecord,
        corrections: Vec<Correction>,
    ) -> Result<CorrectionSet> {
        let speech = match &record.speech_document {
            Some(document) => Some(self.catalog.records.speech(document).await?),
            None => None,
        };
        Ok(CorrectionSet::new(corrections, speech))
    }

    /// Changes a video's corrections, applies them and publishes the video.
    async fn change_corrections(
        &self,
        video_id: VideoId,
        change: Change<'_>,
    ) -> Result<Vec<Correction>> {
        self.catalog.readiness.check()?;
        let locking = tokio::time::timeout(LOCK_TIMEOUT, self.catalog.locks.lock(video_id));
        let Ok(lock) = locking.await else {
            return Err(Error::Busy {
                message: format!(
                    "a job is changing video '{video_id}'; try again when it has ended"
                ),
                retry_after: RETRY_AFTER,
            });
        };
        let lock = lock?;
        if self.catalog.records.state(video_id).await?.into_record()?.is_none() {
            return Err(unknown_video(video_id));
        }
        let claim = self.catalog.publisher.claim(video_id, &lock).await?;
        let outcome = async {
            let record = claim.base.clone().into_record()?;
            let mut record = record.ok_or_else(|| unknown_video(video_id))?;
            let (corrections, known) = self.apply_change(&record, change).await?;
            let mut points = Vec::new();
            let corrections = self.apply_corrections(&mut record, corrections, &mut points).await?;
            if let Some(unmatched) =
                corrections.iter().skip(known).find(|correction| correction.places == 0)
            {
                return Err(no_match_error(unmatched));
            }
            lock.check()?;
            self.publish_points(record, points, &claim).await?;
            Ok(corrections)
        };
        let outcome = outcome.await;
        if outcome.is_err() {
            self.catalog.publisher.discard(&claim).await;
        }
        outcome
    }

    /// Applies corrections to the outputs and points of an unpublished record. Unaffected texts
    /// keep their vectors.
    pub(super) async fn apply_corrections(
        &self,
        record: &mut VideoRecord,
        corrections: Vec<Correction>,
        fresh: &mut Vec<Point>,
    ) -> Result<Vec<Correction>> {
        let spans = self.catalog.records.spans(record).await?;
        let overlay = self.overlay(record, corrections).await?;
        let ids: Vec<String> = record.analyzers.keys().cloned().collect();
        for id in ids {
            let original = self.catalog.records.original_outputs(record, &id).await?;
            let current = self.catalog.records.outputs(record, &id).await?;
            let corrected: Outputs = original
                .iter()
                .zip(&spans)
                .map(|(output, span)| Some(apply_overlay(output.as_ref()?, &overlay, *span)))
                .collect();
            if same(&corrected, &current) {
                continue;
            }
            let update = OutputUpdate { id, spans: &spans, original, current, corrected };
            self.replace_outputs(record, update, fresh).await?;
        }
        let corrections = overlay.into_corrections();
        record.corrections_document = match corrections.is_empty() {
            true => None,
            false => Some(
                self.catalog.records.store(record.video_id, "corrections", &corrections).await?,
            ),
        };
        Ok(corrections)
    }

    /// Replaces an analyzer's outputs. Updates their pages in the record and their points in
    /// `fresh`.
    async fn replace_outputs(
        &self,
        record: &mut VideoRecord,
        update: OutputUpdate<'_>,
        fresh: &mut Vec<Point>,
    ) -> Result<()> {
        let Some(analyzer) = self.catalog.analyzers.get(&update.id) else { return Ok(()) };
        let mut entry = record.analyzers[&update.id].clone();
        let embedder = CachingEmbedder {
            vectors: self.reusable_vectors(record.video_id, &entry, &update, fresh).await?,
            embedder: self.models.embedder.as_ref(),
        };
        let original = entry.uncorrected.take().unwrap_or_else(|| entry.pages.clone());
        if same(&update.corrected, &update.original) {
            entry.pages = original;
        } else {
            let stored =
                self.catalog.records.store_outputs(record.video_id, &update.id, &update.corrected);
            entry.pages = stored.await?;
            entry.uncorrected = Some(original);
        }
        entry.revision = uuid::Uuid::new_v4().simple().to_string();
        let (id, config) = (record.video_id, record.chunking.config());
        let (revision, outputs) = (&entry.revision, &update.corrected);
        let points =
            points(&embedder, id, &config, revision, update.spans, &*analyzer, outputs).await?;
        entry.points = points.len() as u64;
        self.models.embedder.model().clone_into(&mut entry.embedder);
        fresh.retain(|point| point.id.analyzer_id != update.id);
        fresh.extend(points);
        record.analyzers.insert(update.id, entry);
        Ok(())
    }

    /// Reads the existing vectors for the current outputs, keyed by text.
    async fn reusable_vectors(
        &self,
        video_id: VideoId,
        entry: &AnalyzerEntry,
        update: &OutputUpdate<'_>,
        fresh: &[Point],
    ) -> Result<HashMap<String, Vec<f32>>> {
        if entry.embedder != self.models.embedder.model() {
            return Ok(HashMap::new());
        }
        let mut texts = embedded_texts(&update.current);
        let own_points: Vec<&Point> =
            fresh.iter().filter(|point| point.id.analyzer_id == update.id).collect();
        if own_points.is_empty() {
            let index = self.stores.index.as_ref();
            return stored_vectors(index, video_id, &entry.revision, texts).await;
        }
        let mut vectors = HashMap::new();
        for point in own_points {
            for (field, vector) in &point.vectors {
                if let Some(text) = texts.remove(&(point.id.chunk_id, field.clone())) {
                    vectors.insert(text, vector.clone());
                }
            }
        }
        Ok(vectors)
    }
}

/// A change to the corrections to a video.
#[derive(Clone, Copy)]
enum Change<'a> {
    Add(&'a [CorrectionDraft]),
    /// Removes the correction with this id, or all corrections.
    Undo(Option<&'a str>),
}

/// A change to one analyzer's outputs.
struct OutputUpdate<'a> {
    id: String,
    spans: &'a [Span],
    /// The outputs of the models, without corrections.
    original: Outputs,
    /// The outputs before the change.
    current: Outputs,
    /// The outputs after the change.
    corrected: Outputs,
}

fn apply_overlay(output: &Output, overlay: &CorrectionSet, span: Span) -> Output {
    output.with_corrections(overlay, span).unwrap_or_else(|| output.clone())
}

/// Whether outputs are equal, chunk by chunk.
fn same(a: &Outputs, b: &Outputs) -> bool {
    let json = |output: &Option<Output>| output.as_ref().map(|output| output.to_json());
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| json(a) == json(b))
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
    })
}
