//! The services over the stored data, built once on the stores. A use-case keeps those that it needs.

use std::sync::Arc;
use std::time::Duration;

use crate::Settings;
use crate::aggregation::Aggregators;
use crate::analysis::Analyzers;
use crate::bins::Bins;
use crate::comments::Comments;
use crate::intervals::IntervalFilter;
use crate::intervals::tables::IntervalTables;
use crate::kernel::cache::ByteCache;
use crate::kernel::ports::Stores;
use crate::library::Library;
use crate::library::metadata_store::MetadataStore;
use crate::library::response_cache::ResponseCache;
use crate::listing::Listing;
use crate::listing::ttl_cache::TtlCache;
use crate::people::People;
use crate::publishing::Publisher;
use crate::records::Records;
use crate::records::extractors::ExtractorStore;
use crate::records::install::Installation;
use crate::records::locks::VideoLocks;
use crate::records::model_cache::ModelCache;
use crate::records::readiness::StoreReadiness;
use crate::records::settings::RecordSettings;
use crate::shares::Shares;

/// The services over the stored data.
pub struct Catalog {
    /// Reads records, and reads and stores their documents.
    pub(crate) records: Arc<Records>,
    /// Claims, publishes and removes videos.
    pub(crate) publisher: Arc<Publisher>,
    /// The sorted list of all published videos.
    pub listing: Arc<Listing>,
    /// The intervals of each video.
    pub(crate) intervals: Arc<IntervalFilter>,
    /// Reads stored results for users.
    pub library: Arc<Library>,
    /// Reads and changes bins.
    pub bins: Arc<Bins>,
    /// Reads and changes comments.
    pub comments: Arc<Comments>,
    /// Creates, lists, opens and withdraws shares.
    pub shares: Arc<Shares>,
    /// The people to whom users gave a name.
    pub people: People,
    /// Reads the keys of user metadata, and changes user metadata.
    pub(crate) metadata: Arc<MetadataStore>,
    /// Caches encoded responses about videos.
    pub(crate) responses: ResponseCache,
    /// Caches the results of model calls.
    pub(crate) model_cache: Arc<ModelCache>,
    /// The definitions of extractors.
    pub(crate) extractors: Arc<ExtractorStore>,
    /// Checks that the stores belong together.
    pub installation: Arc<Installation>,
    /// The locks on videos.
    pub(crate) locks: Arc<VideoLocks>,
    /// Whether the stores answer and belong to this install.
    pub readiness: Arc<StoreReadiness>,
    /// The analyzers of this install.
    pub(crate) analyzers: Analyzers,
    /// The aggregators of this install.
    pub(crate) aggregators: Aggregators,
}

impl Catalog {
    /// Builds the services on these stores. If instances share the records, locks are leases. The
    /// caches for rendered pages, responses and listing summaries together hold at most
    /// `records.cache_bytes`. Summaries are cached only if the index is shared, and expire after
    /// `records.video_cache_ttl`.
    pub(crate) fn new(
        stores: &Stores,
        analyzers: Analyzers,
        aggregators: Aggregators,
        settings: &Settings,
    ) -> Self {
        let RecordSettings { cache_bytes, video_cache_ttl, .. } = settings.records;
        let (summary_cache, summary_bytes) = summary_cache(stores, &settings.records);
        let response_cache = ByteCache::new(cache_bytes / 2 - summary_bytes);

        let store = stores.records.clone();
        let locks = Arc::new(VideoLocks::new(store.clone(), settings.lease()));
        let records = Arc::new(Records::new(store.clone(), analyzers.clone(), aggregators.clone()));
        let listing =
            Arc::new(Listing::new(stores.listing.clone(), records.clone(), summary_cache));
        let table_ttl = stores.index.shared().then_some(video_cache_ttl);
        let table_bytes = settings.intervals.cache_bytes;
        let tables = IntervalTables::new(records.clone(), listing.clone(), table_bytes, table_ttl);
        let publisher = Publisher::new(stores, records.clone(), listing.clone(), locks.clone());
        let publisher = Arc::new(publisher);
        let metadata =
            MetadataStore::new(store.clone(), records.clone(), publisher.clone(), listing.clone());
        let metadata = Arc::new(metadata);
        let library = Library {
            storage: stores.storage.clone(),
            records: records.clone(),
            listing: listing.clone(),
            metadata: metadata.clone(),
            analyzers: analyzers.clone(),
            aggregators: aggregators.clone(),
            page_cache: ByteCache::new(cache_bytes / 2),
        };
        let (library, readiness) = (Arc::new(library), Arc::<StoreReadiness>::default());
        let bins = Bins::new(store.clone(), library.clone(), readiness.clone(), settings.bins);
        let comments = Comments::new(&records, &listing, &locks, &readiness, settings.comments);
        let shares = Shares::new(&records, &listing, &locks, &readiness, settings.shares);
        let people = People::new(records.clone(), listing.clone(), settings.people);
        Self {
            people,
            library,
            bins: Arc::new(bins),
            comments: Arc::new(comments),
            shares: Arc::new(shares),
            intervals: Arc::new(IntervalFilter { tables, settings: settings.intervals }),
            responses: ResponseCache::new(store.clone(), response_cache),
            model_cache: Arc::new(ModelCache::new(store.clone(), analyzers.clone())),
            extractors: Arc::new(ExtractorStore::new(store, analyzers.clone())),
            readiness,
            installation: Arc::new(Installation::new(stores)),
            records,
            publisher,
            listing,
            metadata,
            locks,
            analyzers,
            aggregators,
        }
    }
}

/// Creates the cache for listing summaries. Also returns its size, in bytes.
fn summary_cache(stores: &Stores, settings: &RecordSettings) -> (TtlCache, usize) {
    let ttl = if stores.index.shared() { settings.video_cache_ttl } else { Duration::ZERO };
    let bytes = if ttl.is_zero() { 0 } else { settings.cache_bytes / 4 };
    (TtlCache::new(ttl, bytes), bytes)
}
