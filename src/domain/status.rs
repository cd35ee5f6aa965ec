//! What this install can do: `/health`, `/schema` and `/analyzers`.

mod probes;

use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::join_all;
use ports::index::{Filter, VectorIndex};
use serde_json::Value;

use crate::domain::catalog::Catalog;
use crate::domain::catalog::unreadable::UnreadableVideo;
use crate::domain::chunking;
use crate::domain::chunking::Preset;
use crate::domain::jobs::{JobStatus, Jobs};
use crate::domain::kernel::access::Access;
use crate::domain::kernel::error::Result;
use crate::domain::kernel::metrics;
use crate::domain::kernel::ports::{Models, Stores};
use crate::domain::search::filters;
use crate::domain::search::filters::FilterSpec;
use crate::domain::{analysis, search};
use probes::Probe;
pub use probes::{Outcome, ProbeSettings};

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
    /// Whether callbacks are sent, without which there are no alerts either.
    pub callbacks: bool,
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
    settings: ProbeSettings,
    storage: Arc<Probe>,
    /// Every port that can be unreachable, storage among them.
    probes: Vec<Arc<Probe>>,
    /// Looks at what is measured so.
    measuring: Arc<Probe>,
    ui: bool,
    callbacks: bool,
}

impl Status {
    pub(crate) fn new(
        stores: Stores,
        models: Models,
        catalog: Arc<Catalog>,
        jobs: Arc<Jobs>,
        settings: ProbeSettings,
        ui: bool,
        callbacks: bool,
    ) -> Self {
        let probes = probes(&stores, &models, settings);
        let storage = probes[0].clone();
        let (index, of) = (stores.index.clone(), (jobs, catalog.clone()));
        let measuring = Probe::new("measured", "what is measured", settings, move || {
            measure(index.clone(), of.0.clone(), of.1.clone()).boxed()
        });
        Self { stores, models, catalog, settings, storage, probes, measuring, ui, callbacks }
    }

    /// Records what is measured by looking, jobs, points and videos, at most once per
    /// `http.probe_interval`, and says whether that is up to date. Stores that do not answer make
    /// nobody wait.
    pub async fn measured(&self) -> Outcome {
        self.measuring.outcome().await
    }

    /// Whether each port that can be unreachable answers, as it was last seen; one that has not
    /// answered within `http.probe_timeout` has failed. None is billed for it.
    pub async fn probe(&self) -> Vec<(&'static str, Outcome)> {
        let outcome = async |probe: &Arc<Probe>| (probe.check, probe.outcome().await);
        join_all(self.probes.iter().map(outcome)).await
    }

    /// What whoever runs the service should know of the index, if anything.
    pub async fn advice(&self) -> Result<Option<String>> {
        Ok(self.stores.index.advice().await?)
    }

    /// Keeps what is known of the ports up to date until it is dropped.
    pub async fn watch(&self) {
        loop {
            self.probe().await;
            tokio::time::sleep(self.settings.idle_probe_interval).await;
        }
    }

    /// Whether the service can work, as it was last seen.
    pub async fn health(&self) -> Health {
        let storage = self.storage.outcome().await;
        let unavailable = self.catalog.analyzers.unavailable(&self.models);
        Health {
            ok: storage.is_ok(),
            ui: self.ui,
            bucket: self.stores.storage.bucket().to_owned(),
            storage_error: storage.err(),
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
            callbacks: self.callbacks,
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

async fn measure(
    index: Arc<dyn VectorIndex>,
    jobs: Arc<Jobs>,
    catalog: Arc<Catalog>,
) -> Result<()> {
    let jobs = jobs.list().await?;
    for status in JobStatus::ALL {
        let count = jobs.iter().filter(|job| job.status == status).count();
        metrics::jobs(status.name(), count);
    }
    let points = index.count(&Filter::default()).await?;
    metrics::stored(points, catalog.count(&Access::default()).await? as usize);
    Ok(())
}

/// A probe of each port that can be unreachable, storage first.
fn probes(stores: &Stores, models: &Models, settings: ProbeSettings) -> Vec<Arc<Probe>> {
    let of_storage = match settings.storage_is_local {
        true => ProbeSettings { interval: Duration::ZERO, ..settings },
        false => settings,
    };
    macro_rules! probe {
        ($check:literal, $name:literal, $settings:expr, $port:expr) => {{
            let port = $port.clone();
            Probe::new($check, $name, $settings, move || {
                let port = port.clone();
                async move { Ok(port.probe().await?) }.boxed()
            })
        }};
    }
    vec![
        probe!("storage answers", "storage", of_storage, stores.storage),
        probe!("records answer", "the record store", settings, stores.records),
        probe!("index answers", "the index", settings, stores.index),
        probe!("jobs answer", "the job queue", settings, stores.jobs),
        probe!("embedder answers", "the embedder", settings, models.embedder),
    ]
}
