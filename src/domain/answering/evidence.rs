//! Evidence for a question, for a model of the caller's own: the moments that most probably have it,
//! with what every analyzer tells of them and what comes right before and after.

use std::collections::HashSet;

use futures::{StreamExt, TryStreamExt, stream};
use serde_json::{Map, Value};

use super::answer::CitationForm;
use crate::domain::answering::Answering;
use crate::domain::catalog::moments::Moment;
use crate::domain::kernel::access::Access;
use crate::domain::kernel::error::{Error, Result};
use crate::domain::kernel::moment::MomentId;
use crate::domain::kernel::time::Span;
use crate::domain::search::{Detail, Diagnostics, EVERY_ANALYZER, Query, SearchResult};

/// What evidence is wanted for.
#[derive(Debug, Clone, PartialEq)]
pub struct EvidenceQuery {
    /// The question, or what to look for.
    pub question: String,
    /// `None` searches every video.
    pub video_ids: Option<Vec<String>>,
    /// Moments, 1..=50.
    pub limit: u32,
    /// Moments that less probably have it are left out, 0..1.
    pub min_p_present: Option<f32>,
    /// As the client gave them.
    pub filters: Map<String, Value>,
}

/// A moment that probably has what was asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct EvidenceMoment {
    /// What is stored of it.
    pub moment: Moment,
    /// As an answer cites it.
    pub citation: String,
    /// Probability that what was asked for is really here, 0..1.
    pub p_present: f32,
    /// The analyzers that found it, the surest first.
    pub found_by: Vec<String>,
}

/// What was found for a question.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundEvidence {
    /// The most probable first.
    pub moments: Vec<EvidenceMoment>,
    /// Why there are none; `None` when there are.
    pub diagnostics: Option<Diagnostics>,
}

impl Answering {
    /// The best moments for a question, of those that a caller sees. `Invalid` for an unknown filter.
    pub async fn evidence(&self, access: &Access, query: EvidenceQuery) -> Result<FoundEvidence> {
        self.search.check_length("question", &query.question)?;
        let search = Query {
            text: query.question,
            mode: None,
            video_ids: query.video_ids,
            analyzer: EVERY_ANALYZER.into(),
            field: "combined".into(),
            limit: query.limit,
            score_threshold: None,
            min_p_present: query.min_p_present,
            rerank: true,
            synthesize: false,
            detail: Detail::Standard.name().into(),
            filters: query.filters,
            ..Query::default()
        };
        let found = self.search.query(access, &search).await?;
        let moments = stream::iter(found.results)
            .map(|hit| self.evidence_of(access, hit))
            .buffered(self.concurrency.max(1))
            .try_filter_map(|moment| async move { Ok(moment) });
        let mut moments: Vec<EvidenceMoment> = moments.try_collect().await?;
        tell_once(&mut moments);
        Ok(FoundEvidence { moments, diagnostics: found.diagnostics })
    }

    /// A hit as evidence; nothing where its video has gone meanwhile.
    async fn evidence_of(
        &self,
        access: &Access,
        hit: SearchResult,
    ) -> Result<Option<EvidenceMoment>> {
        let SearchResult { moment_id, video_id, p_present, found_by, document, .. } = hit;
        let moment = match self.catalog.moment(access, &moment_id).await {
            Err(Error::NotFound(_)) => return Ok(None),
            read => read?,
        };
        let span = Span { start: document.start, end: document.end };
        let citation = CitationForm::Plain.of(video_id, span);
        Ok(Some(EvidenceMoment { moment, citation, p_present, found_by }))
    }
}

/// Leaves out what neighbours tell that are among the moments themselves.
fn tell_once(moments: &mut [EvidenceMoment]) {
    let found: HashSet<MomentId> =
        moments.iter().map(|found| found.moment.moment_id.clone()).collect();
    for EvidenceMoment { moment, .. } in moments {
        for neighbour in [&mut moment.before, &mut moment.after].into_iter().flatten() {
            if found.contains(&neighbour.moment_id) {
                neighbour.says.clear();
            }
        }
    }
}
