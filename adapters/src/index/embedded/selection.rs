//! Selects the rows of a segment that a search scans. Every function in this file blocks.

use std::ops::Range;
use std::sync::Arc;

use ports::index::{Filter, Predicate};
use ports::{Result, VideoId};
use tantivy::DocId;
use tantivy::query::{EnableScoring, Query, Weight};

use super::failed;
use super::schema::{FEW_TERMS, PointSchema};
use super::snapshot::{Rank, SegmentView, Snapshot};
use super::vectors::Rows;

/// A filter split into two parts. tantivy looks up terms one by one, but a filter on metadata may
/// name thousands of videos, and a filter on analyzers may match thousands of points. Conditions on
/// videos and analyzers are therefore tested by the ordinals of the ids.
pub(super) struct SplitFilter {
    /// The part that tantivy evaluates.
    pub(super) rest: Filter,
    /// The accepted videos, sorted; `None` accepts any video.
    videos: Option<Arc<[VideoId]>>,
    /// The accepted analyzers; `None` accepts any analyzer.
    analyzers: Option<Vec<String>>,
}

impl SplitFilter {
    pub(super) fn new(filter: &Filter) -> Self {
        let mut split = Self { rest: Filter::default(), videos: None, analyzers: None };
        for condition in &filter.0 {
            match (condition.field.as_str(), &condition.predicate) {
                ("video_id", Predicate::AnyVideo(any)) if any.len() > FEW_TERMS => {
                    split.restrict_videos(any.clone());
                }
                ("video_id", Predicate::AnyKeyword(any)) if any.len() > FEW_TERMS => {
                    // Text that is not a video id matches no video.
                    let mut ids: Vec<VideoId> =
                        any.iter().filter_map(|id| id.parse().ok()).collect();
                    ids.sort_unstable();
                    split.restrict_videos(ids.into());
                }
                ("analyzer_id", Predicate::AnyKeyword(any)) => {
                    let mut ids = any.clone();
                    if let Some(before) = split.analyzers.take() {
                        ids.retain(|id| before.contains(id));
                    }
                    split.analyzers = Some(ids);
                }
                _ => split.rest.0.push(condition.clone()),
            }
        }
        split
    }

    fn restrict_videos(&mut self, ids: Arc<[VideoId]>) {
        self.videos = Some(match &self.videos {
            Some(before) => {
                let both = ids.iter().filter(|id| before.binary_search(id).is_ok());
                both.copied().collect()
            }
            None => ids,
        });
    }

    /// Returns the accepted ids as ordinals of a segment.
    pub(super) fn accepted_ids(&self, view: &SegmentView) -> Result<Ids> {
        let analyzers = self.analyzers.as_deref();
        Ok(Ids {
            videos: self.videos.as_deref().map(|videos| view.data.videos_among(videos)),
            analyzers: analyzers
                .map(|analyzers| view.data.analyzers_among(analyzers))
                .transpose()
                .map_err(failed)?,
        })
    }
}

/// Accepted ids as ordinals of one segment.
pub(super) struct Ids {
    videos: Option<Vec<bool>>,
    analyzers: Option<Vec<bool>>,
}

impl Ids {
    pub(super) fn has(&self, rank: Rank) -> bool {
        let has = |ids: &Option<Vec<bool>>, ordinal: u32| {
            ids.as_ref().is_none_or(|ids| ids[ordinal as usize])
        };
        has(&self.analyzers, rank.analyzer()) && has(&self.videos, rank.video())
    }
}

/// The rows of a field that a search may score. They belong to live documents whose ids are
/// accepted.
pub(super) struct SegmentRows<'s> {
    pub(super) segment: usize,
    pub(super) view: &'s SegmentView,
    pub(super) rows: &'s Rows,
    /// The rows that tantivy matched or that belong to the accepted videos, in ascending order.
    /// `None` if neither tantivy nor a list of videos restricts the search.
    found: Option<Vec<usize>>,
    ids: Ids,
}

impl SegmentRows<'_> {
    /// Returns the number of candidate rows.
    pub(super) fn len(&self) -> usize {
        self.found.as_ref().map_or(self.rows.len(), Vec::len)
    }

    /// Returns the selected rows within a range of candidates, grouped by analyzer.
    pub(super) fn candidates(&self, rows: Range<usize>) -> Vec<Vec<CandidateRow>> {
        let mut candidates: Vec<Vec<CandidateRow>> = Vec::new();
        for at in rows {
            let row = self.found.as_ref().map_or(at, |found| found[at]);
            let doc = self.rows.doc(row);
            let rank = self.view.data.rank(doc);
            if self.ids.has(rank) && self.view.is_alive(doc) {
                let analyzer = rank.analyzer() as usize;
                if candidates.len() <= analyzer {
                    candidates.resize_with(analyzer + 1, Vec::new);
                }
                candidates[analyzer].push(CandidateRow { doc, index: self.rows.index(row) as u32 });
            }
        }
        candidates
    }
}

/// A row that a search may score.
pub(super) struct CandidateRow {
    pub(super) doc: DocId,
    index: u32,
}

impl CandidateRow {
    /// Returns the index of the row in the file.
    pub(super) fn index(&self) -> usize {
        self.index as usize
    }
}

/// Returns the rows that a search of `field` scans, by segment.
pub(super) fn select_rows<'s>(
    snapshot: &'s Snapshot,
    schema: &PointSchema,
    filter: &Filter,
    field: &str,
) -> Result<Vec<SegmentRows<'s>>> {
    let mut split = SplitFilter::new(filter);
    let weight = filter_weight(snapshot, &*schema.filter(&split.rest)?, &split.rest)?;
    // If tantivy evaluates a filter, the video of each matching row is tested. Otherwise the rows
    // are looked up by video.
    let videos = match weight {
        Some(_) => None,
        None => split.videos.take(),
    };
    let mut selected = Vec::new();
    for (segment, view) in snapshot.segments.iter().enumerate() {
        let Some(rows) = view.data.fields.get(field) else { continue };
        let found = match (&weight, &videos) {
            (Some(weight), _) => {
                let docs = matching_docs(&**weight, view)?;
                Some(docs.into_iter().filter_map(|doc| rows.row(doc)).collect())
            }
            (None, Some(videos)) => Some(rows.doc_rows(view.data.video_docs(videos))),
            (None, None) => None,
        };
        selected.push(SegmentRows { segment, view, rows, found, ids: split.accepted_ids(view)? });
    }
    Ok(selected)
}

/// Returns the filter as an executable weight, or `None` if it accepts everything.
pub(super) fn filter_weight(
    snapshot: &Snapshot,
    query: &dyn Query,
    filter: &Filter,
) -> Result<Option<Box<dyn Weight>>> {
    if filter.0.is_empty() {
        return Ok(None);
    }
    let scoring = EnableScoring::disabled_from_searcher(&snapshot.searcher);
    Ok(Some(query.weight(scoring).map_err(failed)?))
}

/// Returns the live documents of a segment that match, in ascending order.
pub(super) fn matching_docs(weight: &dyn Weight, view: &SegmentView) -> Result<Vec<DocId>> {
    let mut found = Vec::new();
    let mut keep = |docs: &[DocId]| match view.reader.alive_bitset() {
        None => found.extend_from_slice(docs),
        Some(alive) => found.extend(docs.iter().filter(|doc| alive.is_alive(**doc))),
    };
    weight.for_each_no_score(&view.reader, &mut keep).map_err(failed)?;
    Ok(found)
}
