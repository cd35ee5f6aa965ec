//! What this install can do: `/health`, `/schema` and `/analyzers`.

use std::sync::Arc;
use std::time::Duration;

use ports::index::Filter;
use ports::{ErrorKind, PortError};
use serde_json::Value;

use crate::domain::catalog::Catalog;
use crate::domain::catalog::unreadable::UnreadableVideo;
use crate::domain::chunking;
use crate::domain::chunking::Preset;
use crate::domain::jobs::{JobStatus, Jobs};
use crate::domain::kernel::error::Result;
use crate::domain::kernel::metrics;
use crate::domain::kernel::ports::{Models, Stores};
use crate::domain::search::filters;
use crate::domain::search::filters::FilterSpec;
use crate::domain::{analysis, search};

/// The health document.
#[derive(Debug, Clone, PartialEq)]
pub struct Health {
    /// Whether storage answers; `degraded` otherwise.
    pub ok: bool,
    /// Whether the web UI is served.
    pub ui: bool,
    /// Name of the bucket.
    pub bucket: String,
    /// Why storage is not ok.
    pub storage_error: Option<String>,
    /// Registered analyzers.
    pub analyzers: Vec<String>,
    /// Registered aggregators.
    pub aggregators: Vec<String>,
    /// Analyzers that are not registered, with why and what to do.
    pub unavailable: Vec<(String, String)>,
    /// Videos that were found not to read back, at most 100.
    pub unreadable: Vec<UnreadableVideo>,
}

/// The discovery document.
#[derive(Debug, Clone, PartialEq)]
pub struct Schema {
    /// Registered analyzers.
    pub analyzers: Vec<String>,
    /// The JSON schema of each one's output on a chunk.
    pub outputs: Vec<(String, Value)>,
    /// Analyzers that may not be selected together.
    pub exclusive_groups: Vec<Vec<String>>,
    /// Field to what is embedded, in contract order.
    pub vector_fields: Vec<(String, String)>,
    /// Level to description.
    pub detail_levels: Vec<(String, String)>,
    /// Filters by name.
    pub filters: Vec<FilterSpec>,
    /// Search mode to description.
    pub modes: Vec<(String, String)>,
    /// Chunking mode to description.
    pub chunking_modes: Vec<(String, String)>,
    /// Boundary detector to what it finds.
    pub detectors: Vec<(String, String)>,
    /// Every chunking preset.
    pub presets: &'static [Preset],
    /// Aggregators by id.
    pub aggregators: Vec<AggregatorInfo>,
}

/// One aggregator.
#[derive(Debug, Clone, PartialEq)]
pub struct AggregatorInfo {
    /// What requests and stored records call it.
    pub id: String,
    /// Analyzers or aggregators it needs.
    pub depends_on: Vec<String>,
    /// Whether it may bill model calls.
    pub uses_llm: bool,
    /// The JSON schema of its result.
    pub schema: Value,
}

/// What this install can do and whether it works.
pub struct Status {
    stores: Stores,
    models: Models,
    catalog: Arc<Catalog>,
    jobs: Arc<Jobs>,
    probe_timeout: Duration,
    ui: bool,
}

impl Status {
    pub(crate) fn new(
        stores: Stores,
        models: Models,
        catalog: Arc<Catalog>,
        jobs: Arc<Jobs>,
        probe_timeout: Duration,
        ui: bool,
    ) -> Self {
        Self { stores, models, catalog, jobs, probe_timeout, ui }
    }

    /// Records what is measured by looking: jobs, points, videos.
    pub async fn measure(&self) -> Result<()> {
        let jobs = self.jobs.list().await?;
        for status in JobStatus::ALL {
            let count = jobs.iter().filter(|job| job.status == status).count();
            metrics::jobs(status.name(), count);
        }
        let points = self.stores.index.count(&Filter::default()).await?;
        metrics::stored(points, self.catalog.ids().await?.len());
        Ok(())
    }

    /// Whether each port that can be unreachable answers. They are asked side by side, and one that
    /// has not answered within `http.probe_timeout` has failed.
    pub async fn probe(&self) -> Vec<(&'static str, Result<()>)> {
        let stores = &self.stores;
        let (storage, records, index, jobs, embedder) = tokio::join!(
            self.in_time("storage", stores.storage.probe()),
            self.in_time("the record store", stores.records.probe()),
            self.in_time("the index", stores.index.probe()),
            self.in_time("the job queue", stores.jobs.probe()),
            self.in_time("the embedder", self.models.embedder.probe()),
        );
        vec![
            ("storage answers", storage),
            ("records answer", records),
            ("index answers", index),
            ("jobs answer", jobs),
            ("embedder answers", embedder),
        ]
    }

    /// The outcome of a probe, or `Timeout` when it takes too long.
    async fn in_time(
        &self,
        port: &str,
        probe: impl Future<Output = ports::Result<()>>,
    ) -> Result<()> {
        let limit = self.probe_timeout;
        let late = |_| {
            let message = format!(
                "{port} did not answer within {} s (http.probe_timeout)",
                limit.as_secs_f64()
            );
            PortError::new(ErrorKind::Timeout, message)
        };
        Ok(tokio::time::timeout(limit, probe).await.map_err(late)??)
    }

    /// Whether the service can work. Probes storage on each call.
    pub async fn health(&self) -> Health {
        let probe = self.in_time("storage", self.stores.storage.probe()).await;
        if let Err(error) = &probe {
            tracing::warn!(error = %error.labelled(), "storage is unreachable");
        }
        let unavailable = self.catalog.analyzers.unavailable(&self.models);
        Health {
            ok: probe.is_ok(),
            ui: self.ui,
            bucket: self.stores.storage.bucket().to_owned(),
            storage_error: probe.err().map(|e| e.labelled()),
            analyzers: self.catalog.analyzers.ids(&self.models),
            aggregators: self.catalog.aggregators.ids(),
            unavailable,
            unreadable: self.catalog.unreadable().list(),
        }
    }

    /// Everything searchable and filterable.
    pub fn schema(&self) -> Schema {
        let pairs = |pairs: &[(&str, &str)]| {
            pairs.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect()
        };
        let registered = self.catalog.analyzers.registered(&self.models);
        Schema {
            analyzers: self.catalog.analyzers.ids(&self.models),
            outputs: registered.iter().map(|a| (a.spec().id.to_owned(), a.schema())).collect(),
            exclusive_groups: self.catalog.analyzers.exclusive_groups(&self.models),
            vector_fields: pairs(analysis::VECTOR_FIELDS),
            detail_levels: pairs(search::DETAIL_LEVELS),
            filters: filters::FILTERS.iter().map(|filter| filter.describe(&registered)).collect(),
            modes: pairs(search::MODES),
            chunking_modes: pairs(chunking::MODES),
            detectors: pairs(chunking::DETECTORS),
            presets: chunking::PRESETS,
            aggregators: self
                .catalog
                .aggregators
                .all()
                .iter()
                .map(|aggregator| (aggregator.spec(), aggregator.schema()))
                .map(|(spec, schema)| AggregatorInfo {
                    id: spec.id.to_owned(),
                    depends_on: spec.depends_on.iter().map(|&id| id.to_owned()).collect(),
                    uses_llm: spec.uses_llm,
                    schema,
                })
                .collect(),
        }
    }
}
