//! Ingest: from a file or URL to a published, searchable video.

mod aggregate;
mod analyze;
mod draft;
pub(crate) mod objects;
mod pipeline;
pub mod plan;
mod poster;
pub mod preview;
mod request;
mod result;
mod settings;
mod signals;
pub(crate) mod source;
mod sources;
pub mod spool;
pub mod uploads;

use std::sync::Arc;

use ports::storage::ObjectStorage;

use crate::analysis::evidence::TrackingOptions;
use crate::catalog::Catalog;
use crate::corrections::Corrections;
use crate::intervals::IntervalFilter;
use crate::kernel::error::Result;
use crate::kernel::ports::{Models, Stores};
use crate::publishing::Publisher;
use crate::records::Records;
use crate::records::extractors::ExtractorStore;
use crate::records::locks::VideoLocks;
pub(crate) use aggregate::VideoAggregation;
use analyze::ChunkAnalysis;
pub use plan::Planner;
pub use request::IngestFields;
pub(crate) use request::IngestRequest;
pub use result::{AggregationStatus, IngestResult};
pub(crate) use settings::IngestConfig;
pub use settings::{DownloadSettings, IngestSettings, ScanSettings};
use signals::SignalExtraction;
pub(crate) use source::IngestSource;
pub use sources::Sources;
pub use spool::{Limit, Spool, SpooledFile};
pub use uploads::Uploads;

/// Ingests a source and publishes it as a video.
pub struct Ingest {
    sources: Arc<Sources>,
    signals: SignalExtraction,
    analysis: ChunkAnalysis,
    corrections: Arc<Corrections>,
    aggregation: Arc<VideoAggregation>,
    records: Arc<Records>,
    publisher: Arc<Publisher>,
    intervals: Arc<IntervalFilter>,
    locks: Arc<VideoLocks>,
    extractors: Arc<ExtractorStore>,
    storage: Arc<dyn ObjectStorage>,
    models: Models,
    settings: IngestSettings,
    tracking: TrackingOptions,
}

impl Ingest {
    pub(crate) fn new(
        stores: &Stores,
        models: &Models,
        catalog: &Catalog,
        sources: Arc<Sources>,
        corrections: Arc<Corrections>,
        aggregation: Arc<VideoAggregation>,
        config: IngestConfig,
    ) -> Self {
        Self {
            sources,
            signals: SignalExtraction::new(models, catalog, &config),
            analysis: ChunkAnalysis::new(models, catalog, config.ingest.concurrency),
            corrections,
            aggregation,
            records: catalog.records.clone(),
            publisher: catalog.publisher.clone(),
            intervals: catalog.intervals.clone(),
            locks: catalog.locks.clone(),
            extractors: catalog.extractors.clone(),
            storage: stores.storage.clone(),
            models: models.clone(),
            settings: config.ingest,
            tracking: config.detector,
        }
    }

    /// Parses and validates the client's parameters.
    pub(crate) async fn request(&self, fields: &IngestFields) -> Result<IngestRequest> {
        IngestRequest::parse(fields, &self.extractors, &self.models).await
    }
}
