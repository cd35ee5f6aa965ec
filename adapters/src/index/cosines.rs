//! Cosines of points in an index whose vectors are cheap to read.

use std::collections::BTreeSet;

use ports::Result;
use ports::index::{Filter, PointId, VectorIndex};
use ports::vector::dot;

/// Computes [`VectorIndex::cosines`] from [`VectorIndex::vectors`].
pub(super) async fn from_vectors(
    index: &dyn VectorIndex,
    field: &str,
    vector: &[f32],
    ids: &BTreeSet<PointId>,
) -> Result<Vec<(PointId, f32)>> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let filter = Filter::default().in_chunks(ids.iter().map(|id| (id.video_id, id.chunk_id)));
    let vectors = index.vectors(&filter, field).await?.into_iter();
    let requested = vectors.filter(|(id, _)| ids.contains(id));
    Ok(requested.map(|(id, stored)| (id, dot(&stored, vector))).collect())
}
