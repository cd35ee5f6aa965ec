//! The capabilities and health of this install, for `/health`, `/schema` and `/analyzers`.

mod probes;

use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::join_all;
use ports::index::{Filter, IndexStatistics};
use serde_json::Value;

use crate::Settings;
use crate::aggregation::{AggregatorSpec, Aggregators};
use crate::analysis::presentation::{OutputKind, Presentation};
use crate::analysis::{AnalyzerSpec, Analyzers};
use crate::catalog::Catalog;
use crate::chunking;
use crate::chunking::Preset;
use crate::jobs::{JobStatus, JobStore};
use crate::kernel::access::Access;
use crate::kernel::error::Result;
use crate::kernel::metrics;
use crate::kernel::ports::{Models, Stores};
use crate::listing::Listing;
use crate::records::Records;
use crate::records::unreadable::UnreadableVideo;
use crate::search::filters;
use crate::search::filters::FilterSpec;
use crate::{analysis, search};
use probes::PortProbe;
pub use probes::{ProbeOutcome, ProbeSettings};

/// What an install can recognise: the outputs of its analyzers, and pictures, which can be searched
/// for.
pub const SIGHTS: [&str; 5] = ["objects", "people", "text", "speech", "pictures"];

/// The health document.
#[derive(Debug, Clone, PartialEq)]
pub struct Health {
    /// Whether storage answers. If it does not, the service is `degraded`.
    pub ok: bool,
    /// Whether the web UI is served.
    pub ui: bool,
    /// Name of the bucket.
    pub bucket: String,
    /// The error that storage reported, if any.
    pub storage_error: Option<String>,
    /// Registered analyzers.
    pub analyzers: Vec<String>,
    /// Registered aggregators.
    pub aggregators: Vec<String>,
    /// What the install recognises, of [`SIGHTS`].
    pub sees: Vec<&'static str>,
    /// The ways to recognise more, each with a description; none if all models are there.
    pub see_more: Vec<(&'static str, &'static str)>,
    /// Analyzers that are not available, each with the reason and the remedy.
    pub unavailable: Vec<(String, String)>,
    /// Videos that cannot be read, at most 100.
    pub unreadable: Vec<UnreadableVideo>,
}

/// The discovery document.
#[derive(Debug, Clone, PartialEq)]
pub struct Schema {
    /// Registered analyzers.
    pub analyzers: Vec<String>,
    /// The JSON schema of each analyzer's output for a chunk.
    pub outputs: Vec<(String, Value)>,
    /// Groups of analyzers that cannot be selected together.
    pub exclusive_groups: Vec<Vec<String>>,
    /// Vector fields with their descriptions, in the order that the API guarantees.
    pub vector_fields: Vec<(String, String)>,
    /// Detail levels with their descriptions.
    pub detail_levels: Vec<(String, String)>,
    /// Search filters.
    pub filters: Vec<FilterSpec>,
    /// Search modes with their descriptions.
    pub modes: Vec<(String, String)>,
    /// Chunking modes with their descriptions.
    pub chunking_modes: Vec<(String, String)>,
    /// Boundary detectors with their descriptions.
    pub detectors: Vec<(String, String)>,
    /// All chunking presets.
    pub presets: &'static [Preset],
    /// Registered aggregators.
    pub aggregators: Vec<AggregatorInfo>,
    /// How a page shows the output of every analyzer, available or not, in the order of a page.
    pub analyzer_presentations: Vec<PresentationInfo>,
    /// How a page shows the result of every aggregator, in the order of a page.
    pub aggregator_presentations: Vec<PresentationInfo>,
    /// Whether callbacks can be sent. The webhooks of alerts require this.
    pub callbacks: bool,
}

/// One aggregator.
#[derive(Debug, Clone, PartialEq)]
pub struct AggregatorInfo {
    /// The aggregator's id.
    pub id: String,
    /// Analyzers and aggregators that the aggregator depends on.
    pub depends_on: Vec<String>,
    /// Whether the aggregator may make billed model calls.
    pub uses_llm: bool,
    /// The JSON schema of the aggregator's result.
    pub schema: Value,
}

/// How a page shows an analyzer's outputs or an aggregator's result.
#[derive(Debug, Clone, PartialEq)]
pub struct PresentationInfo {
    /// The id of the analyzer or aggregator.
    pub id: String,
    /// The name, in English.
    pub label: String,
    /// How a page shows it.
    pub presentation: Presentation,
}

impl PresentationInfo {
    fn new(id: &str, label: &str, presentation: Presentation) -> Self {
        Self { id: id.to_owned(), label: label.to_owned(), presentation }
    }
}

/// Reports the capabilities and health of this install.
pub struct Status {
    stores: Stores,
    models: Models,
    analyzers: Analyzers,
    aggregators: Aggregators,
    records: Arc<Records>,
    settings: ProbeSettings,
    storage: Arc<PortProbe>,
    /// One probe for each port that can be unreachable, including storage.
    probes: Vec<Arc<PortProbe>>,
    /// Updates the gauges. It is treated as a probe, so that it runs at most once per interval.
    gauges: Arc<PortProbe>,
    ui: bool,
    callbacks: bool,
}

impl Status {
    pub(crate) fn new(
        stores: Stores,
        models: Models,
        catalog: &Catalog,
        jobs: Arc<JobStore>,
        service: &Settings,
    ) -> Self {
        let settings = service.probes;
        let probes = probes(&stores, &models, settings);
        let storage = probes[0].clone();
        let (index, listing) = (stores.index.clone(), catalog.listing.clone());
        let gauges = PortProbe::new("measured", "the source of the gauges", settings, move || {
            update_gauges(index.clone(), jobs.clone(), listing.clone()).boxed()
        });
        Self {
            analyzers: catalog.analyzers.clone(),
            aggregators: catalog.aggregators.clone(),
            records: catalog.records.clone(),
            stores,
            models,
            settings,
            storage,
            probes,
            gauges,
            ui: service.ui,
            callbacks: service.callbacks.is_enabled(),
        }
    }

    /// Updates the gauges that count jobs, points and videos, at most once per
    /// `http.probe_interval`, and returns whether they are up to date. Does not wait for stores
    /// that do not answer.
    pub async fn refresh_gauges(&self) -> ProbeOutcome {
        self.gauges.outcome().await
    }

    /// Returns the last probe result of each port that can be unreachable. A port fails if it does
    /// not answer within `http.probe_timeout`. Probes make no billed calls.
    pub async fn probe(&self) -> Vec<(&'static str, ProbeOutcome)> {
        let outcome = async |probe: &Arc<PortProbe>| (probe.check, probe.outcome().await);
        join_all(self.probes.iter().map(outcome)).await
    }

    /// Returns the index's advice to the operator, if it has any.
    pub async fn advice(&self) -> Result<Option<String>> {
        Ok(self.stores.index.advice().await?)
    }

    /// Probes the ports periodically until dropped.
    pub async fn watch(&self) {
        loop {
            self.probe().await;
            tokio::time::sleep(self.settings.idle_probe_interval).await;
        }
    }

    /// Builds the health document from the last probe results.
    pub async fn health(&self) -> Health {
        let storage = self.storage.outcome().await;
        let unavailable = self.analyzers.unavailable(&self.models);
        Health {
            ok: storage.is_ok(),
            ui: self.ui,
            bucket: self.stores.storage.bucket().to_owned(),
            storage_error: storage.err(),
            analyzers: self.analyzers.ids(&self.models),
            aggregators: self.aggregators.ids(),
            sees: self.sees(),
            see_more: self.see_more(),
            unavailable,
            unreadable: self.records.unreadable().list(),
        }
    }

    /// Which of [`SIGHTS`] the available models recognise.
    fn sees(&self) -> Vec<&'static str> {
        let available = self.analyzers.registered(&self.models);
        let kinds: Vec<_> = available.iter().map(|a| a.spec().presentation.kind).collect();
        let [objects, people, text, speech, pictures] = SIGHTS;
        let by_kind = [
            (objects, kinds.contains(&OutputKind::Objects)),
            (people, kinds.contains(&OutputKind::People)),
            (text, kinds.contains(&OutputKind::ScreenText)),
            (speech, kinds.contains(&OutputKind::Speech)),
            (pictures, self.models.image_embedder.is_some()),
        ];
        by_kind.into_iter().filter(|(_, sees)| *sees).map(|(name, _)| name).collect()
    }

    /// The ways to recognise more than now.
    fn see_more(&self) -> Vec<(&'static str, &'static str)> {
        let vision = ("vision_model", "a vision model (`llm.*`) describes scenes and actions");
        let files = ("models", "`shotlog models --fetch` gets missing models or says how");
        let vision = (!self.models.llm.supports_images()).then_some(vision);
        let files = (self.sees().len() < SIGHTS.len()).then_some(files);
        vision.into_iter().chain(files).collect()
    }

    /// The vector fields that can be searched, with a description of each.
    fn vector_fields(&self) -> Vec<(&'static str, &'static str)> {
        let visual = (analysis::VISUAL, analysis::VISUAL_DESCRIPTION);
        let images = self.models.image_embedder.as_ref().map(|_| visual);
        analysis::VECTOR_FIELDS.iter().copied().chain(images).collect()
    }

    /// Builds the discovery document.
    pub fn schema(&self) -> Schema {
        let pairs = |pairs: &[(&str, &str)]| {
            pairs.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect()
        };
        let registered = self.analyzers.registered(&self.models);
        Schema {
            analyzers: self.analyzers.ids(&self.models),
            outputs: registered.iter().map(|a| (a.spec().id.to_owned(), a.schema())).collect(),
            exclusive_groups: self.analyzers.exclusive_groups(&self.models),
            vector_fields: pairs(&self.vector_fields()),
            detail_levels: pairs(search::DETAIL_LEVELS),
            filters: filters::FILTERS.iter().map(|filter| filter.describe(&registered)).collect(),
            modes: pairs(search::MODES),
            chunking_modes: pairs(chunking::MODES),
            detectors: pairs(chunking::DETECTORS),
            presets: chunking::PRESETS,
            callbacks: self.callbacks,
            analyzer_presentations: self.analyzer_presentations(),
            aggregator_presentations: self.aggregator_presentations(),
            aggregators: self
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

    fn analyzer_presentations(&self) -> Vec<PresentationInfo> {
        let analyzers = self.analyzers.all();
        let specs = analyzers.iter().map(|analyzer| analyzer.spec());
        let info = |s: AnalyzerSpec<'_>| PresentationInfo::new(s.id, s.label, s.presentation);
        let mut all: Vec<PresentationInfo> = specs.map(info).collect();
        all.sort_by_key(|info| info.presentation.rank);
        all
    }

    fn aggregator_presentations(&self) -> Vec<PresentationInfo> {
        let specs = self.aggregators.specs();
        let info = |s: &AggregatorSpec| PresentationInfo::new(s.id, s.label, s.presentation);
        let mut all: Vec<PresentationInfo> = specs.map(info).collect();
        all.sort_by_key(|info| info.presentation.rank);
        all
    }
}

async fn update_gauges(
    index: Arc<dyn IndexStatistics>,
    jobs: Arc<JobStore>,
    listing: Arc<Listing>,
) -> Result<()> {
    let jobs = jobs.list().await?;
    for status in JobStatus::ALL {
        let count = jobs.iter().filter(|job| job.status == status).count();
        metrics::jobs(status.name(), count);
    }
    let points = index.count(&Filter::default()).await?;
    metrics::stored(points, listing.count(&Access::default()).await? as usize);
    Ok(())
}

/// Creates a probe for each port that can be unreachable, storage first.
fn probes(stores: &Stores, models: &Models, settings: ProbeSettings) -> Vec<Arc<PortProbe>> {
    let storage_settings = match settings.storage_is_local {
        true => ProbeSettings { interval: Duration::ZERO, ..settings },
        false => settings,
    };
    macro_rules! probe {
        ($check:literal, $name:literal, $settings:expr, $port:expr) => {{
            let port = $port.clone();
            PortProbe::new($check, $name, $settings, move || {
                let port = port.clone();
                async move { Ok(port.probe().await?) }.boxed()
            })
        }};
    }
    vec![
        probe!("storage answers", "storage", storage_settings, stores.storage),
        probe!("records answer", "the record store", settings, stores.records),
        probe!("index answers", "the index", settings, stores.index),
        probe!("jobs answer", "the job queue", settings, stores.jobs),
        probe!("embedder answers", "the embedder", settings, models.embedder),
    ]
}
