//! Listing points in the order of their ids, which the server does not know: it names all that match,
//! and gives the documents of the first.

use ports::Result;
use ports::index::ListedPoint;
use qdrant_client::qdrant::{Filter, ScrollPointsBuilder};

use super::{Documents, Found, IDS, QdrantIndex, best, id, name, payload};

/// Ids in one answer of the server.
const PAGE: u32 = 2048;

impl QdrantIndex {
    /// The first `limit` of the points that match.
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
                found.push(Found { id: id(&point.payload)?, score: 0.0, name });
            }
            request.offset = page.next_page_offset;
            if request.offset.is_none() {
                break;
            }
        }
        let hits = self.documented(best(found, limit), Documents::new()).await?;
        Ok(hits.into_iter().map(|hit| ListedPoint { id: hit.id, document: hit.document }).collect())
    }
}
