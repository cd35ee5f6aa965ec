//! Lists points in order of their ids. The server cannot sort by id, so this code first fetches all
//! matching ids, then the documents of the first points.

use ports::Result;
use ports::index::ListedPoint;
use qdrant_client::qdrant::{Filter, ScrollPointsBuilder};

use super::{Documents, IDS, NamedScore, QdrantIndex, id, name, payload};

/// Number of ids per response.
const PAGE: u32 = 2048;

impl QdrantIndex {
    /// Lists the first `limit` matching points.
    pub(super) async fn first(&self, filter: Filter, limit: usize) -> Result<Vec<ListedPoint>> {
        let mut request = ScrollPointsBuilder::new(&self.target)
            .filter(filter)
            .limit(PAGE)
            .with_payload(payload(&IDS))
            .build();
        let mut found = Vec::new();
        loop {
            let page = self.server.retrying(|| self.server.client.scroll(request.clone())).await?;
            for point in page.result {
                let name = name(point.id.as_ref())?;
                found.push((id(&point.payload)?, name));
            }
            request.offset = page.next_page_offset;
            if request.offset.is_none() {
                break;
            }
        }
        // Point names sort in the same order, unless an earlier version assigned them.
        found.sort();
        found.truncate(limit);
        let found = found.into_iter().map(|(_, name)| NamedScore { name, score: 0.0 }).collect();
        let hits = self.with_documents(found, Documents::new()).await?;
        Ok(hits.into_iter().map(|hit| ListedPoint { id: hit.id, document: hit.document }).collect())
    }
}
