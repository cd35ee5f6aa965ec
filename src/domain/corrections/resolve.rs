//! Resolves a correction of a name to the places of the video that it applies to.

use crate::aggregation::aggregators::entities::{self, LinkedPeople};
use crate::aggregation::result::result_of;
use crate::analysis::analyzers::people::{self, ChunkPeople};
use crate::analysis::correction::{Correction, CorrectionKind};
use crate::analysis::output::output_of;
use crate::corrections::{CorrectionDraft, Corrections};
use crate::kernel::error::{Error, Result};
use crate::kernel::names::comma_separated;
use crate::kernel::time::{Span, now, rounded};
use crate::media::tracking::Location;
use crate::records::record::VideoRecord;

impl Corrections {
    /// Resolves a draft against the video with the corrections `before` applied.
    pub(super) async fn resolve(
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
        let stored = self.records.aggregate_result(record, entities::ID).await?;
        let linked = result_of::<LinkedPeople>(&*stored).map_or(&[][..], |people| &people.entities);
        let Some(linked) = linked.iter().find(|linked| linked.entity.entity_id == person) else {
            return Err(Error::NotFound(format!(
                "no person '{person}' in this video; GET /videos/{}/entities lists them",
                record.video_id
            )));
        };
        let outputs = self.records.original_outputs(record, people::ID).await?;
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
}
