//! The catalog of videos: reads, publishes and cleans up stored records.
//!
//! The folder `videos/<video_id>/` holds `video.json` and the immutable documents that it
//! references. A document that no published `video.json` references is garbage left by an
//! interrupted or superseded ingest.

pub mod aggregates;
mod cache;
pub mod chunks;
mod claim;
pub mod collections;
mod corrections;
mod documents;
pub mod entities;
pub mod extractors;
mod faults;
pub mod install;
pub mod library;
pub mod listing;
pub mod locks;
pub mod metadata;
mod metadata_store;
pub mod moments;
pub mod outputs;
mod publication;
mod publisher;
pub mod readiness;
pub mod record;
mod record_state;
mod records;
mod removal;
mod rendered;
mod response_cache;
pub(crate) mod scrub;
pub mod transcript;
mod ttl_cache;
pub mod unreadable;
pub mod verify;
pub mod videos;

use std::sync::Arc;
use std::time::Duration;

use crate::aggregation::Aggregators;
use crate::analysis::Analyzers;
use crate::catalog::cache::ModelCache;
use crate::catalog::extractors::ExtractorStore;
use crate::catalog::install::Installation;
use crate::catalog::library::Library;
use crate::catalog::listing::Listing;
use crate::catalog::locks::VideoLocks;
use crate::catalog::metadata_store::MetadataStore;
use crate::catalog::publisher::Publisher;
use crate::catalog::readiness::StoreReadiness;
use crate::catalog::records::Records;
use crate::catalog::response_cache::ResponseCache;
use crate::catalog::ttl_cache::TtlCache;
use crate::catalog::verify::Verification;
use crate::kernel::lru::LruCache;
use crate::kernel::ports::Stores;
pub(crate) use cache::{CacheKey, SpeechCache};
pub(crate) use claim::VideoClaim;
pub(crate) use faults::{DocumentContent, DocumentFault};
pub(crate) use listing::{EntrySummary, listing_order};
pub(crate) use publication::ALERTS;
pub(crate) use record_state::RecordState;
pub(crate) use rendered::strip_internal;

/// Maximum number of documents read or written concurrently for one request.
const MAX_CONCURRENT_READS: usize = 16;

/// The services over the stored records. A use-case calls those that it needs.
pub struct Catalog {
    /// Reads records, and reads and stores their documents.
    pub(crate) records: Arc<Records>,
    /// Claims, publishes and removes videos.
    pub(crate) publisher: Arc<Publisher>,
    /// The sorted list of all published videos.
    pub listing: Arc<Listing>,
    /// Reads stored results for users.
    pub library: Library,
    /// Reads the keys of user metadata, and changes user metadata.
    pub(crate) metadata: Arc<MetadataStore>,
    /// Caches encoded responses about videos.
    pub(crate) responses: ResponseCache,
    /// Caches the results of model calls.
    pub(crate) model_cache: ModelCache,
    /// The definitions of extractors.
    pub(crate) extractors: ExtractorStore,
    /// Checks that the stores belong together.
    pub installation: Arc<Installation>,
    /// Checks that the stores are consistent.
    pub verification: Verification,
    /// The locks on videos.
    pub(crate) locks: Arc<VideoLocks>,
    /// Whether the stores answer and belong to this install.
    pub readiness: StoreReadiness,
    /// The analyzers of this install.
    pub(crate) analyzers: Analyzers,
    /// The aggregators of this install.
    pub(crate) aggregators: Aggregators,
}

impl Catalog {
    /// Creates a catalog on these stores. If `lease` is given, instances share the records, and
    /// locks are leases of this length. The caches for rendered pages, responses and listing
    /// summaries together hold at most `cache_bytes`. Summaries are cached only if the index is
    /// shared, and expire after `listing_ttl`.
    pub(crate) fn new(
        stores: &Stores,
        analyzers: Analyzers,
        aggregators: Aggregators,
        lease: Option<Duration>,
        cache_bytes: usize,
        listing_ttl: Duration,
    ) -> Self {
        let listing_ttl = if stores.index.shared() { listing_ttl } else { Duration::ZERO };
        let summary_bytes = if listing_ttl.is_zero() { 0 } else { cache_bytes / 4 };
        let summary_cache = TtlCache::new(listing_ttl, summary_bytes);
        let response_cache = LruCache::new(cache_bytes / 2 - summary_bytes);

        let store = stores.records.clone();
        let locks = Arc::new(VideoLocks::new(store.clone(), lease));
        let records = Arc::new(Records::new(store.clone(), analyzers.clone(), aggregators.clone()));
        let listing =
            Arc::new(Listing::new(stores.listing.clone(), records.clone(), summary_cache));
        let publisher = Publisher::new(stores, records.clone(), listing.clone(), locks.clone());
        let publisher = Arc::new(publisher);
        let metadata =
            MetadataStore::new(store.clone(), records.clone(), publisher.clone(), listing.clone());
        let metadata = Arc::new(metadata);
        let installation = Arc::new(Installation::new(stores));
        Self {
            library: Library {
                storage: stores.storage.clone(),
                records: records.clone(),
                listing: listing.clone(),
                metadata: metadata.clone(),
                analyzers: analyzers.clone(),
                aggregators: aggregators.clone(),
                page_cache: LruCache::new(cache_bytes / 2),
            },
            responses: ResponseCache::new(store.clone(), response_cache),
            model_cache: ModelCache::new(store.clone(), analyzers.clone()),
            extractors: ExtractorStore::new(store, analyzers.clone()),
            verification: Verification::new(
                stores,
                records.clone(),
                listing.clone(),
                installation.clone(),
                locks.clone(),
            ),
            readiness: StoreReadiness::default(),
            records,
            publisher,
            listing,
            metadata,
            installation,
            locks,
            analyzers,
            aggregators,
        }
    }
}
