//! Evidence for a question, for use with the caller's own model: the most probable moments, with
//! every analyzer's statements about them and about the neighbouring moments.

use std::collections::HashSet;

use futures::{StreamExt, TryStreamExt, stream};
use serde_json::{Map, Value};

use super::citations::CitationForm;
use crate::answering::Answering;
use crate::kernel::access::Access;
use crate::kernel::error::{Error, Result};
use crate::kernel::moment::MomentId;
use crate::library::moments::Moment;
use crate::search::{Diagnostics, SearchRequest, SearchResult};

/// The parameters of an evidence request.
#[derive(Debug, Clone, PartialEq)]
pub struct EvidenceQuery {
    /// The question or search text.
    pub question: String,
    /// The videos to search; `None` means every video.
    pub video_ids: Option<Vec<String>>,
    /// Maximum number of moments, 1..=50.
    pub limit: u32,
    /// Minimum `p_present` of a moment, 0..1; less probable moments are dropped.
    pub min_p_present: Option<f32>,
    /// The filters of the request, unparsed.
    pub filters: Map<String, Value>,
}

/// A moment that probably answers the question.
#[derive(Debug, Clone, PartialEq)]
pub struct EvidenceMoment {
    /// The stored content of the moment.
    pub moment: Moment,
    /// The moment's citation for use in an answer.
    pub citation: String,
    /// Probability that the moment shows or contains what the question asks for, 0..1.
    pub p_present: f32,
    /// The analyzers whose output matched, most probable first.
    pub found_by: Vec<String>,
}

/// The evidence for a question.
#[derive(Debug, Clone, PartialEq)]
pub struct EvidenceResult {
    /// The moments, most probable first.
    pub moments: Vec<EvidenceMoment>,
    /// Why there are no moments; `None` if there are any.
    pub diagnostics: Option<Diagnostics>,
}

impl Answering {
    /// Finds the best moments for a question in the videos that the caller can see. Returns
    /// `Invalid` for an unknown filter.
    pub async fn evidence(&self, access: &Access, query: EvidenceQuery) -> Result<EvidenceResult> {
        self.search.embedder.check_length("question", &query.question)?;
        let request = SearchRequest {
            video_ids: query.video_ids,
            filters: query.filters,
            min_p_present: query.min_p_present,
            rerank: true,
            ..SearchRequest::text(query.question, query.limit)
        };
        let found = self.search.run(access, &request).await?;
        let moments = stream::iter(found.results)
            .map(|hit| self.evidence_moment(access, hit))
            .buffered(self.concurrency.max(1))
            .try_filter_map(|moment| async move { Ok(moment) });
        let mut moments: Vec<EvidenceMoment> = moments.try_collect().await?;
        omit_repeated_neighbours(&mut moments);
        Ok(EvidenceResult { moments, diagnostics: found.diagnostics })
    }

    /// Reads the moment of a hit. Returns `None` if its video has been deleted in the meantime.
    async fn evidence_moment(
        &self,
        access: &Access,
        hit: SearchResult,
    ) -> Result<Option<EvidenceMoment>> {
        let SearchResult { moment_id, video_id, p_present, found_by, span, .. } = hit;
        let moment = match self.library.moment(access, &moment_id).await {
            Err(Error::NotFound(_)) => return Ok(None),
            read => read?,
        };
        let citation = CitationForm::Plain.format(video_id, span);
        Ok(Some(EvidenceMoment { moment, citation, p_present, found_by }))
    }
}

/// Clears the text of neighbours that are among the moments themselves.
fn omit_repeated_neighbours(moments: &mut [EvidenceMoment]) {
    let found: HashSet<MomentId> =
        moments.iter().map(|found| found.moment.moment_id.clone()).collect();
    for EvidenceMoment { moment, .. } in moments {
        for neighbour in [&mut moment.before, &mut moment.after].into_iter().flatten() {
            if found.contains(&neighbour.moment_id) {
                neighbour.statements.clear();
            }
        }
    }
}
