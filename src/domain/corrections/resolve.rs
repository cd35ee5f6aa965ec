//! Resolves a correction of a name or a title to the places of the video that it applies to.

use crate::aggregation::aggregators::chapters::{self, Chapter, Outline};
use crate::aggregation::result::result_of;
use crate::analysis::correction::{Correction, CorrectionKind};
use crate::corrections::{CorrectionDraft, Corrections};
use crate::kernel::error::{Error, Result};
use crate::kernel::names::comma_separated;
use crate::kernel::time::{Span, now, rounded};
use crate::library::entities::entity_locations;
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
            CorrectionKind::Words | CorrectionKind::ScreenText | CorrectionKind::Chapter => {
                Default::default()
            }
        };
        let (span, spans) = match draft.of {
            CorrectionKind::Chapter if draft.from.trim().is_empty() => {
                let added = added_chapter(record, draft.span)?;
                (Some(added), vec![added])
            }
            CorrectionKind::Chapter => {
                let chapter = self.chapter(record, draft).await?;
                (Some(chapter), vec![chapter])
            }
            _ => (draft.span, Vec::new()),
        };
        let id = uuid::Uuid::new_v4().simple().to_string();
        Ok(Correction {
            id: id.chars().take(12).collect(),
            kind: draft.of,
            from: draft.from.trim().to_owned(),
            to: draft.to.trim().to_owned(),
            span,
            created_at: now(),
            speaker_spans: spoken,
            person_locations: seen,
            places: spans.len() as u32,
            spans,
        })
    }

    /// Finds the span of the chapter with the title in a draft.
    async fn chapter(&self, record: &VideoRecord, draft: &CorrectionDraft) -> Result<Span> {
        let outline = self.records.aggregate_result(record, chapters::ID).await?;
        let outline: Option<&Outline> = result_of(outline.as_ref());
        let all = outline.map_or(&[][..], |outline| &outline.chapters);
        let title = draft.from.trim();
        let is_meant = |chapter: &&Chapter| {
            chapter.title == title
                && draft.span.is_none_or(|span| span.overlap(&chapter.span()) > 0.0)
        };
        let mut meant = all.iter().filter(is_meant);
        match (meant.next(), meant.next()) {
            (Some(chapter), None) => Ok(chapter.span()),
            (Some(_), Some(_)) => Err(Error::Invalid(format!(
                "several chapters have the title '{title}'; give 'start' and 'end' of one"
            ))),
            (None, _) => {
                let titles: Vec<&str> = all.iter().map(|chapter| chapter.title.as_str()).collect();
                Err(Error::Invalid(format!(
                    "no chapter has the title '{title}' there; the titles are: {}",
                    comma_separated(&titles)
                )))
            }
        }
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
        let seen = entity_locations(&self.records, record, person).await?;
        if seen.is_empty() {
            return Err(Error::Invalid(format!(
                "where '{person}' is seen was not kept; ingest the video with 'people' again"
            )));
        }
        Ok(seen)
    }
}

/// Returns the span of a chapter to add, which ends with the video at the latest.
fn added_chapter(record: &VideoRecord, span: Option<Span>) -> Result<Span> {
    let duration = record.duration;
    let within = span.map(|span| Span { start: span.start, end: span.end.min(duration) });
    let rounded = |span: Span| Span { start: rounded(span.start), end: rounded(span.end) };
    let within = within.map(rounded).filter(|span| span.end > span.start);
    within.ok_or_else(|| {
        Error::Invalid(format!("the video ends at {duration:.3} seconds, before the new chapter"))
    })
}
