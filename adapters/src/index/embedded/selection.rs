//! Which rows of a segment a search looks through. Every function here blocks.

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

/// A filter in two parts. Tantivy looks terms up one by one, and of a filter by metadata there may be
/// thousands of videos, of an analyzer as many points: whose those are is told by the places of their ids.
pub(super) struct Narrowed {
    /// What tantivy tests.
    pub(super) rest: Filter,
    /// The videos that points are to be of, in order; any where there are none.
    videos: Option<Arc<[VideoId]>>,
    /// The analyzers that points are to be of; any where there are none.
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
                    // What is no id is that of no video.
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

    /// Which ids of a segment points are to have.
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

/// Ids of points, by the ordinals that one segment gives them.
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

/// The rows of a field that a search may have to score: those of living documents with these ids.
pub(super) struct Selected<'s> {
    pub(super) segment: usize,
    pub(super) view: &'s SegmentView,
    pub(super) rows: &'s Rows,
    /// Those that tantivy has found, or that are of the wanted videos, ascending; `None` where neither
    /// is asked for.
    found: Option<Vec<usize>>,
    ids: Ids,
}

impl Selected<'_> {
    /// Rows among which the wanted ones are.
    pub(super) fn len(&self) -> usize {
        self.found.as_ref().map_or(self.rows.len(), Vec::len)
    }

    /// The wanted ones among some of them, those of each analyzer together.
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

/// A row that a search may have to score.
pub(super) struct Wanted {
    pub(super) doc: DocId,
    place: u32,
}

impl Wanted {
    /// Where the row is among those of the file.
    pub(super) fn place(&self) -> usize {
        self.place as usize
    }
}

/// What a search of a field looks through, segment by segment.
pub(super) fn selected<'s>(
    snapshot: &'s Snapshot,
    schema: &PointSchema,
    filter: &Filter,
    field: &str,
) -> Result<Vec<Selected<'s>>> {
    let mut narrowed = Narrowed::of(filter);
    let weight = weigh(snapshot, &*schema.filter(&narrowed.rest)?, &narrowed.rest)?;
    // What tantivy finds is tested for its video; where it is asked for nothing, the points of the
    // videos are known.
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

/// The filter, ready to run; none when it lets everything through.
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

/// The living documents of a segment that match, ascending.
pub(super) fn matching(weight: &dyn Weight, view: &SegmentView) -> Result<Vec<DocId>> {
    let mut found = Vec::new();
    let mut keep = |docs: &[DocId]| match view.reader.alive_bitset() {
        None => found.extend_from_slice(docs),
        Some(alive) => found.extend(docs.iter().filter(|doc| alive.is_alive(**doc))),
    };
    weight.for_each_no_score(&view.reader, &mut keep).map_err(failed)?;
    Ok(found)
}
