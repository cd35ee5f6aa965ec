//! Reads what the service has stored about published videos, for users. One file per kind of result
//! adds its methods: videos, chunks, moments, transcripts, people and aggregates.

pub mod aggregates;
pub mod chunks;
pub mod collections;
pub mod entities;
pub mod extractors;
pub mod metadata_editor;
pub(crate) mod metadata_store;
pub mod moments;
pub(crate) mod rendered;
pub(crate) mod response_cache;
pub mod transcript;
pub mod videos;

use std::sync::Arc;

use ports::storage::ObjectStorage;

use crate::aggregation::Aggregators;
use crate::analysis::Analyzers;
use crate::kernel::cache::ByteCache;
use crate::library::metadata_store::MetadataStore;
use crate::library::rendered::RenderedPage;
use crate::listing::Listing;
use crate::records::Records;

/// The stored videos and their results.
pub struct Library {
    pub(crate) storage: Arc<dyn ObjectStorage>,
    pub(crate) records: Arc<Records>,
    pub(crate) listing: Arc<Listing>,
    pub(crate) metadata: Arc<MetadataStore>,
    pub(crate) analyzers: Analyzers,
    pub(crate) aggregators: Aggregators,
    /// Cache of rendered chunk pages.
    pub(crate) page_cache: ByteCache<RenderedPage>,
}
