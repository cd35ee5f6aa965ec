//! Selects the rows of a segment that a search scans. Every function here blocks.

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

/// A filter split in two. tantivy looks up terms one by one, but a metadata filter may name
/// thousands of videos and an analyzer filter may match as many points: those are tested by the
/// ordinals of their ids.
pub(super) struct Narrowed {
    /// The part that tantivy evaluates.
    pub(super) rest: Filter,
    /// The accepted videos, sorted; `None` accepts any.
    videos: Option<Arc<[VideoId]>>,
    /// The accepted analyzers; `None` accepts any.
    analyzers: Option<Vec<String>>,
}

impl Narrowed {
    pub(super) fn of(filter: &Filter) -> Self {
        let mut narrowed = Self { rest: Filter::default(), videos: None, analyzers: None };
        for condition in &filter.0 {
            match (condition.field.as_str(), &condition.predicate) {
                ("video_id", Predicate::AnyVideo(any)) if any.len() > FEW_TERMS => {
                    narrowed.narrow_to(any.clone());
                }
                ("video_id", Predicate::AnyKeyword(any)) if any.len() > FEW_TERMS => {
                    // Text that is not an id matches no video.
                    let mut ids: Vec<VideoId> =
                        any.iter().filter_map(|id| id.parse().ok()).collect();
                    ids.sort_unstable();
                    narrowed.narrow_to(ids.into());
                }
                ("analyzer_id", Predicate::AnyKeyword(any)) => {
                    let mut ids = any.clone();
                    if let Some(before) = narrowed.analyzers.take() {
                        ids.retain(|id| before.contains(id));
                    }
                    narrowed.analyzers = Some(ids);
                }
                _ => narrowed.rest.0.push(condition.clone()),
            }
        }
        narrowed
    }

    fn narrow_to(&mut self, ids: Arc<[VideoId]>) {
        self.videos = Some(match &self.videos {
            Some(before) => {
                let both = ids.iter().filter(|id| before.binary_search(id).is_ok());
                both.copied().collect()
            }
            None => ids,
        });
    }

    /// The accepted ids as ordinals of a segment.
    pub(super) fn ids_of(&self, view: &SegmentView) -> Result<Ids> {
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

/// The rows of a field that a search may score: those of live documents with accepted ids.
pub(super) struct Selected<'s> {
    pub(super) segment: usize,
    pub(super) view: &'s SegmentView,
    pub(super) rows: &'s Rows,
    /// The rows that tantivy matched or that belong to the accepted videos, ascending; `None` if
    /// neither restricts the search.
    found: Option<Vec<usize>>,
    ids: Ids,
}

impl Selected<'_> {
    /// Number of candidate rows.
    pub(super) fn len(&self) -> usize {
        self.found.as_ref().map_or(self.rows.len(), Vec::len)
    }

    /// The selected rows within a range of candidates, grouped by analyzer.
    pub(super) fn wanted(&self, rows: Range<usize>) -> Vec<Vec<Wanted>> {
        let mut wanted: Vec<Vec<Wanted>> = Vec::new();
        for at in rows {
            let row = self.found.as_ref().map_or(at, |found| found[at]);
            let doc = self.rows.doc(row);
            let rank = self.view.data.rank(doc);
            if self.ids.has(rank) && self.view.is_alive(doc) {
                let analyzer = rank.analyzer() as usize;
                if wanted.len() <= analyzer {
                    wanted.resize_with(analyzer + 1, Vec::new);
                }
                wanted[analyzer].push(Wanted { doc, place: self.rows.place(row) as u32 });
            }
        }
        wanted
    }
}

/// A row that a search may score.
pub(super) struct Wanted {
    pub(super) doc: DocId,
    place: u32,
}

impl Wanted {
    /// Index of the row in the file.
    pub(super) fn place(&self) -> usize {
        self.place as usize
    }
}

/// The rows that a search of a field scans, by segment.
pub(super) fn selected<'s>(
    snapshot: &'s Snapshot,
    schema: &PointSchema,
    filter: &Filter,
    field: &str,
) -> Result<Vec<Selected<'s>>> {
    let mut narrowed = Narrowed::of(filter);
    let weight = weigh(snapshot, &*schema.filter(&narrowed.rest)?, &narrowed.rest)?;
    // Rows that tantivy matches are tested for their video; without a tantivy filter, the rows of
    // the videos are known.
    let videos = match weight {
        Some(_) => None,
        None => narrowed.videos.take(),
    };
    let mut selected = Vec::new();
    for (segment, view) in snapshot.segments.iter().enumerate() {
        let Some(rows) = view.data.fields.get(field) else { continue };
        let found = match (&weight, &videos) {
            (Some(weight), _) => {
                let docs = matching(&**weight, view)?;
                Some(docs.into_iter().filter_map(|doc| rows.row(doc)).collect())
            }
            (None, Some(videos)) => Some(rows.of_docs(view.data.docs_of(videos))),
            (None, None) => None,
        };
        selected.push(Selected { segment, view, rows, found, ids: narrowed.ids_of(view)? });
    }
    Ok(selected)
}

/// The filter as an executable weight; `None` if it accepts everything.
pub(super) fn weigh(
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

/// The live documents of a segment that match, ascending.
pub(super) fn matching(weight: &dyn Weight, view: &SegmentView) -> Result<Vec<DocId>> {
    let mut found = Vec::new();
    let mut keep = |docs: &[DocId]| match view.reader.alive_bitset() {
        None => found.extend_from_slice(docs),
        Some(alive) => found.extend(docs.iter().filter(|doc| alive.is_alive(**doc))),
    };
    weight.for_each_no_score(&view.reader, &mut keep).map_err(failed)?;
    Ok(found)
}
