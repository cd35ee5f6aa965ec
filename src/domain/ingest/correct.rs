//! Corrections: what people say is right, laid over what the models of a video have found, and found
//! again after every later run.

use std::collections::HashMap;
use std::time::Duration;

use async_trait::async_trait;
use ports::embedder::Embedder;
use ports::index::{Filter, Point, Predicate};

use crate::domain::aggregation::aggregators::entities::{self, People};
use crate::domain::aggregation::result::result_of;
use crate::domain::analysis::VECTOR_FIELDS;
use crate::domain::analysis::analyzers::people::{self, Crowd};
use crate::domain::analysis::correction::{Corrected, Correction, Overlay, Phrase};
use crate::domain::analysis::finding::output_of;
use crate::domain::analysis::video::{Output, Outputs};
use crate::domain::catalog::record::{AnalyzerEntry, VideoRecord};
use crate::domain::ingest::Ingest;
use crate::domain::kernel::error::{Error, Result};
use crate::domain::kernel::names::listed;
use crate::domain::kernel::time::{Span, now, rounded, timecode};
use crate::domain::kernel::video::{ChunkId, VideoId, unknown};
use crate::domain::media::tracking::Location;
use crate::domain::search::indexing::points;

/// A correction waits so long for a job that changes the video.
const PATIENCE: Duration = Duration::from_secs(3);

/// Seconds after which one that has waited in vain may try again.
const RETRY: u32 = 5;

/// What somebody says is wrong, and what is right.
#[derive(Debug, Clone, PartialEq)]
pub struct CorrectionDraft {
    /// What it is about.
    pub of: Corrected,
    /// What is shown.
    pub from: String,
    /// What is right; nothing where words were never there.
    pub to: String,
    /// When alone it is wrong, seconds of the video.
    pub span: Option<Span>,
}

impl Ingest {
    /// Corrects a video: every correction, or none. `Invalid` names what the first one is about that
    /// is nowhere in the video.
    pub(crate) async fn correct(
        &self,
        video_id: VideoId,
        drafts: &[CorrectionDraft],
    ) -> Result<Vec<Correction>> {
        for draft in drafts {
            self.check_draft(draft)?;
        }
        let known = self.catalog.corrections_of(video_id).await?.len();
        let most = self.settings.ingest.max_corrections;
        if known + drafts.len() > most {
            return Err(Error::Invalid(format!(
                "a video has at most {most} corrections (ingest.max_corrections); this one has {known}"
            )));
        }
        let mut corrections = self.change_corrections(video_id, Change::Make(drafts)).await?;
        Ok(corrections.split_off(corrections.len().saturating_sub(drafts.len())))
    }

    /// Undoes one correction of a video, or all of them. `NotFound` where there is no such one.
    pub(crate) async fn undo_corrections(
        &self,
        video_id: VideoId,
        id: Option<&str>,
    ) -> Result<Vec<Correction>> {
        self.change_corrections(video_id, Change::Undo(id)).await
    }

    /// The corrections of a video after a change, and how many of the first may apply to nothing: they
    /// were made of what a former run had found.
    async fn changed(
        &self,
        record: &VideoRecord,
        change: Change<'_>,
    ) -> Result<(Vec<Correction>, usize)> {
        let mut corrections = self.catalog.corrections(record).await?;
        let known = corrections.len();
        match change {
            Change::Make(drafts) => {
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
        let most = self.settings.ingest.max_correction_chars;
        let CorrectionDraft { of, from, to, span } = draft;
        for (name, text) in [("from", from), ("to", to)] {
            if text.chars().count() > most {
                return Err(Error::Unprocessable(format!(
                    "'{name}' has at most {most} characters (ingest.max_correction_chars)"
                )));
            }
        }
        let named = matches!(of, Corrected::Speaker | Corrected::Person);
        if named && (from.trim().is_empty() || to.trim().is_empty()) {
            return Err(Error::Unprocessable(format!(
                "a correction of a {} needs 'from' and 'to'",
                of.name()
            )));
        }
        if !named && Phrase::new(from).is_empty() {
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

    /// A correction of the video as it is with those that were made before.
    async fn correction(
        &self,
        record: &VideoRecord,
        before: &[Correction],
        draft: &CorrectionDraft,
    ) -> Result<Correction> {
        let (spoken, seen) = match draft.of {
            Corrected::Speaker => (self.spoken_by(record, before, draft).await?, Vec::new()),
            Corrected::Person => (Vec::new(), self.seen_of(record, before, &draft.from).await?),
            Corrected::Words | Corrected::ScreenText => Default::default(),
        };
        let id = uuid::Uuid::new_v4().simple().to_string();
        Ok(Correction {
            id: id.chars().take(12).collect(),
            of: draft.of,
            from: draft.from.trim().to_owned(),
            to: draft.to.trim().to_owned(),
            span: draft.span,
            created_at: now(),
            spoken,
            seen,
            places: 0,
            spans: Vec::new(),
        })
    }

    /// When the speaker speaks whom a draft is about.
    async fn spoken_by(
        &self,
        record: &VideoRecord,
        before: &[Correction],
        draft: &CorrectionDraft,
    ) -> Result<Vec<Span>> {
        let overlay = self.overlay(record, before.to_vec()).await?;
        let label = draft.from.trim();
        let mut spoken = overlay.spoken_by(label);
        if spoken.is_empty() {
            return Err(Error::Invalid(format!(
                "no speaker '{label}' in this video; it has: {}",
                listed(&overlay.speakers())
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

    /// Where a linked person is seen, given by id or by name.
    async fn seen_of(
        &self,
        record: &VideoRecord,
        before: &[Correction],
        person: &str,
    ) -> Result<Vec<Location>> {
        let person = person.trim();
        let named = before.iter().rev().find(|c| c.of == Corrected::Person && c.to == person);
        if let Some(named) = named {
            return Ok(named.seen.clone());
        }
        let stored = self.catalog.aggregate_result(record, entities::ID).await?;
        let linked = result_of::<People>(&*stored).map_or(&[][..], |people| &people.entities);
        let Some(linked) = linked.iter().find(|linked| linked.entity.entity_id == person) else {
            return Err(Error::NotFound(format!(
                "no person '{person}' in this video; GET /videos/{}/entities lists them",
                record.video_id
            )));
        };
        let outputs = self.catalog.uncorrected(record, people::ID).await?;
        let sighting = |of: &entities::Observation| {
            let output = outputs.get(of.chunk_id.index())?.as_deref()?;
            let seen = output_of::<Crowd>(output)?;
            let person = seen.people.iter().find(|seen| seen.person == of.person)?;
            Some(person.locations.clone())
        };
        let mut seen: Vec<Location> =
            linked.observations.iter().filter_map(sighting).flatten().collect();
        seen.sort_by(|a, b| a.t.total_cmp(&b.t));
        if seen.is_empty() {
            return Err(Error::Invalid(format!(
                "where '{person}' is seen was not kept; ingest the video with 'people' again"
            )));
        }
        Ok(seen)
    }

    async fn overlay(&self, record: &VideoRecord, corrections: Vec<Correction>) -> Result<Overlay> {
        let speech = match &record.speech_document {
            Some(document) => Some(self.catalog.speech(document).await?),
            None => None,
        };
        Ok(Overlay::new(corrections, speech))
    }

    /// Lays other corrections over a video and publishes it.
    async fn change_corrections(
        &self,
        video_id: VideoId,
        change: Change<'_>,
    ) -> Result<Vec<Correction>> {
        self.catalog.opening.check()?;
        let locking = tokio::time::timeout(PATIENCE, self.catalog.locks.lock(video_id));
        let Ok(lock) = locking.await else {
            return Err(Error::Busy {
                message: format!(
                    "a job is changing video '{video_id}'; try again when it has ended"
                ),
                retry_after: RETRY,
            });
        };
        let lock = lock?;
        if self.catalog.stored(video_id).await?.into_record()?.is_none() {
            return Err(unknown(video_id));
        }
        let claim = self.catalog.claim(video_id, &lock).await?;
        let outcome = async {
            let record = claim.found.clone().into_record()?;
            let mut record = record.ok_or_else(|| unknown(video_id))?;
            let (corrections, known) = self.changed(&record, change).await?;
            let mut points = Vec::new();
            let corrections = self.lay_over(&mut record, corrections, &mut points).await?;
            if let Some(nowhere) = corrections.iter().skip(known).find(|made| made.places == 0) {
                return Err(applies_nowhere(nowhere));
            }
            lock.check()?;
            self.publish_points(record, points, &claim).await?;
            Ok(corrections)
        };
        let outcome = outcome.await;
        if outcome.is_err() {
            self.catalog.discard(&claim).await;
        }
        outcome
    }

    /// Lays corrections over the outputs of a record that is not published yet, and over the points
    /// that will be. What is not touched keeps its vectors.
    pub(super) async fn lay_over(
        &self,
        record: &mut VideoRecord,
        corrections: Vec<Correction>,
        fresh: &mut Vec<Point>,
    ) -> Result<Vec<Correction>> {
        let spans = self.catalog.spans(record).await?;
        let overlay = self.overlay(record, corrections).await?;
        let ids: Vec<String> = record.analyzers.keys().cloned().collect();
        for id in ids {
            let made = self.catalog.uncorrected(record, &id).await?;
            let shown = self.catalog.outputs(record, &id).await?;
            let corrected: Outputs = made
                .iter()
                .zip(&spans)
                .map(|(output, span)| Some(laid_over(output.as_ref()?, &overlay, *span)))
                .collect();
            if same(&corrected, &shown) {
                continue;
            }
            let of = Touched { id, spans: &spans, made, shown, corrected };
            self.replace_outputs(record, of, fresh).await?;
        }
        let corrections = overlay.into_corrections();
        record.corrections_document = match corrections.is_empty() {
            true => None,
            false => Some(self.catalog.store(record.video_id, "corrections", &corrections).await?),
        };
        Ok(corrections)
    }

    /// Enters outputs that differ from those that were shown: their pages into the record, their points
    /// in the place of those that are there.
    async fn replace_outputs(
        &self,
        record: &mut VideoRecord,
        of: Touched<'_>,
        fresh: &mut Vec<Point>,
    ) -> Result<()> {
        let Some(analyzer) = self.catalog.analyzers.known(&of.id) else { return Ok(()) };
        let mut entry = record.analyzers[&of.id].clone();
        let embedder = Remembering {
            vectors: self.vectors_of(record.video_id, &entry, &of, fresh).await?,
            embedder: self.models.embedder.as_ref(),
        };
        let made = entry.uncorrected.take().unwrap_or_else(|| entry.pages.clone());
        if same(&of.corrected, &of.made) {
            entry.pages = made;
        } else {
            let stored = self.catalog.store_outputs(record.video_id, &of.id, &of.corrected);
            entry.pages = stored.await?;
            entry.uncorrected = Some(made);
        }
        entry.revision = uuid::Uuid::new_v4().simple().to_string();
        let (id, config) = (record.video_id, record.chunking.config());
        let (revision, outputs) = (&entry.revision, &of.corrected);
        let points =
            points(&embedder, id, &config, revision, of.spans, &*analyzer, outputs).await?;
        entry.points = points.len() as u64;
        self.models.embedder.model().clone_into(&mut entry.embedder);
        fresh.retain(|point| point.id.analyzer_id != of.id);
        fresh.extend(points);
        record.analyzers.insert(of.id, entry);
        Ok(())
    }

    /// The vectors of the texts of outputs that are shown, by text.
    async fn vectors_of(
        &self,
        video_id: VideoId,
        entry: &AnalyzerEntry,
        of: &Touched<'_>,
        fresh: &[Point],
    ) -> Result<HashMap<String, Vec<f32>>> {
        if entry.embedder != self.models.embedder.model() {
            return Ok(HashMap::new());
        }
        let mut texts: HashMap<(ChunkId, &str), String> = HashMap::new();
        for (chunk_id, output) in (0..).map(ChunkId).zip(&of.shown) {
            let Some(output) = output else { continue };
            let fields = output.finding().index().fields.into_iter();
            texts.extend(fields.map(|(field, text)| ((chunk_id, field), text)));
        }
        let mut vectors = HashMap::new();
        let made_now: Vec<&Point> =
            fresh.iter().filter(|point| point.id.analyzer_id == of.id).collect();
        if !made_now.is_empty() {
            for point in made_now {
                for (field, vector) in &point.vectors {
                    if let Some(text) = texts.remove(&(point.id.chunk_id, field.as_str())) {
                        vectors.insert(text, vector.clone());
                    }
                }
            }
            return Ok(vectors);
        }
        let revision = Predicate::AnyKeyword(vec![entry.revision.clone()]);
        let filter = Filter::video(video_id).and("revision", revision);
        for (field, _) in VECTOR_FIELDS {
            if texts.keys().all(|(_, of)| of != field) {
                continue;
            }
            for (point, vector) in self.stores.index.vectors(&filter, field).await? {
                if let Some(text) = texts.remove(&(point.chunk_id, *field)) {
                    vectors.insert(text, vector);
                }
            }
        }
        Ok(vectors)
    }
}

/// What becomes of the corrections of a video.
#[derive(Clone, Copy)]
enum Change<'a> {
    Make(&'a [CorrectionDraft]),
    /// The one of that id, or all.
    Undo(Option<&'a str>),
}

/// An analyzer whose outputs are not what they were.
struct Touched<'a> {
    id: String,
    spans: &'a [Span],
    /// As the models have made them.
    made: Outputs,
    /// As they were shown until now.
    shown: Outputs,
    /// As they will be.
    corrected: Outputs,
}

/// An embedder that knows some texts already.
struct Remembering<'a> {
    vectors: HashMap<String, Vec<f32>>,
    embedder: &'a dyn Embedder,
}

#[async_trait]
impl Embedder for Remembering<'_> {
    fn model(&self) -> &str {
        self.embedder.model()
    }

    fn dimension(&self) -> usize {
        self.embedder.dimension()
    }

    async fn embed(&self, texts: &[String]) -> ports::Result<Vec<Vec<f32>>> {
        let is_new = |text: &&String| !self.vectors.contains_key(*text);
        let new: Vec<String> = texts.iter().filter(is_new).cloned().collect();
        let mut embedded = self.embedder.embed(&new).await?.into_iter();
        let vector = |text: &String| match self.vectors.get(text) {
            Some(known) => Some(known.clone()),
            None => embedded.next(),
        };
        Ok(texts.iter().filter_map(vector).collect())
    }
}

fn laid_over(output: &Output, overlay: &Overlay, span: Span) -> Output {
    output.corrected(overlay, span).unwrap_or_else(|| output.clone())
}

/// Whether outputs are the same, chunk for chunk.
fn same(a: &Outputs, b: &Outputs) -> bool {
    let json = |output: &Option<Output>| output.as_ref().map(|output| output.to_json());
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| json(a) == json(b))
}

fn applies_nowhere(correction: &Correction) -> Error {
    let Correction { of, from, span, .. } = correction;
    let within = span.map_or_else(
        || "in this video".to_owned(),
        |span| format!("between {} and {}", timecode(span.start), timecode(span.end)),
    );
    Error::Invalid(match of {
        Corrected::Speaker => format!("'{from}' does not speak {within}; nothing was corrected"),
        Corrected::Words => format!("nobody says '{from}' {within}; nothing was corrected"),
        Corrected::ScreenText => format!("'{from}' is not read {within}; nothing was corrected"),
        Corrected::Person => format!("'{from}' is not seen {within}; nothing was corrected"),
    })
}
