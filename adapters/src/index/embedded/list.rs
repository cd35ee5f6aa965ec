//! Lists the points that match a filter, in order of their ids. Every function in this file blocks.

use ports::index::{Filter, ListedPoint, PointId};
use ports::{ChunkId, Result, VideoId};
use tantivy::DocAddress;
use tantivy::query::EnableScoring;

use super::failed;
use super::schema::PointSchema;
use super::search::document;
use super::selection::matching_docs;
use super::snapshot::Snapshot;

/// Returns the first matching points with their documents.
pub(super) fn points(
    snapshot: &Snapshot,
    schema: &PointSchema,
    filter: &Filter,
    limit: usize,
) -> Result<Vec<ListedPoint>> {
    let query = schema.filter(filter)?;
    let scoring = EnableScoring::disabled_from_searcher(&snapshot.searcher);
    let weight = query.weight(scoring).map_err(failed)?;
    let mut found: Vec<((VideoId, ChunkId), DocAddress)> = Vec::new();
    for (segment, view) in snapshot.segments.iter().enumerate() {
        for doc in matching_docs(&*weight, view)? {
            found.push((view.data.chunk(doc), DocAddress::new(segment as u32, doc)));
        }
    }
    found.sort_unstable();
    // Reads analyzer ids only for points that can be among the first `limit`.
    if let Some(last) = limit.checked_sub(1).and_then(|last| found.get(last)).map(|last| last.0) {
        found.retain(|(chunk, _)| *chunk <= last);
    }
    let mut first: Vec<(PointId, DocAddress)> = Vec::with_capacity(found.len());
    for (_, at) in found {
        let data = &snapshot.segments[at.segment_ord as usize].data;
        first.push((data.id(at.doc_id).map_err(failed)?, at));
    }
    first.sort();
    first.truncate(limit);
    let listed = |(id, at): (PointId, DocAddress)| {
        Ok(ListedPoint { document: document(snapshot, schema, &id, at)?, id })
    };
    first.into_iter().map(listed).collect()
}
