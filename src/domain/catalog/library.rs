//! Reads what the service has stored about published videos, for users. One file per kind of result
//! adds its methods: videos, chunks, moments, transcripts, people and aggregates.

use std::sync::Arc;

use ports::storage::ObjectStorage;

use crate::aggregation::Aggregators;
use crate::analysis::Analyzers;
use crate::catalog::listing::Listing;
use crate::catalog::metadata_store::MetadataStore;
use crate::catalog::records::Records;
use crate::catalog::rendered::RenderedPage;
use crate::kernel::lru::LruCache;

/// The stored videos and their results.
pub struct Library {
    pub(super) storage: Arc<dyn ObjectStorage>,
    pub(super) records: Arc<Records>,
    pub(super) listing: Arc<Listing>,
    pub(super) metadata: Arc<MetadataStore>,
    pub(super) analyzers: Analyzers,
    pub(super) aggregators: Aggregators,
    /// Cache of rendered chunk pages.
    pub(super) page_cache: LruCache<RenderedPage>,
}
