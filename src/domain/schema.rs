//! What this install can do: `/health`, `/schema` and `/analyzers`.

use super::chunking::{self, Preset};
use super::error::{Error, Result};
use super::unreadable::UnreadableVideo;
use super::{Shotlog, aggregators, analyzers, filters, search};

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

/// One filter of `/query`.
#[derive(Debug, Clone, PartialEq)]
pub struct FilterSpec {
    /// Name in the `filters` object.
    pub name: String,
    /// `list[str]`, `list[int]`, `str`, `int` or `float`.
    pub kind: String,
    /// `any`, `exact`, `gte` or `lte`.
    pub matches: String,
    /// Payload field it is compared with.
    pub payload_field: String,
}

/// One aggregator.
#[derive(Debug, Clone, PartialEq)]
pub struct AggregatorInfo {
    /// Its id.
    pub id: String,
    /// Analyzers or aggregators it needs.
    pub depends_on: Vec<String>,
    /// Whether it may bill model calls.
    pub uses_llm: bool,
}

impl Shotlog {
    /// Whether each port that can be unreachable answers.
    pub async fn probe(&self) -> Vec<(&'static str, Result<()>)> {
        let ports = &self.ports;
        vec![
            ("storage answers", ports.storage.probe().await.map_err(Error::from)),
            ("records answer", ports.records.probe().await.map_err(Error::from)),
            ("index answers", ports.index.probe().await.map_err(Error::from)),
            ("jobs answer", ports.jobs.probe().await.map_err(Error::from)),
            ("embedder answers", self.embed("probe").await.map(|_| ())),
        ]
    }

    /// Whether the service can work. Probes storage on each call.
    pub async fn health(&self) -> Health {
        let probe = self.ports.storage.probe().await;
        if let Err(error) = &probe {
            tracing::warn!(%error, "storage is unreachable");
        }
        let unavailable = analyzers::ANALYZERS
            .iter()
            .filter_map(|a| Some((a.spec().id.to_owned(), a.missing(&self.ports)?)))
            .collect();
        Health {
            ok: probe.is_ok(),
            ui: self.settings.ui,
            bucket: self.ports.storage.bucket().to_owned(),
            storage_error: probe.err().map(|e| Error::Port(e).labelled()),
            analyzers: analyzers::ids(&self.ports),
            aggregators: aggregators::ids(),
            unavailable,
            unreadable: self.library.unreadable().list(),
        }
    }

    /// Everything searchable and filterable.
    pub fn schema(&self) -> Schema {
        let pairs = |pairs: &[(&str, &str)]| {
            pairs.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect()
        };
        Schema {
            analyzers: analyzers::ids(&self.ports),
            exclusive_groups: analyzers::exclusive_groups(&self.ports),
            vector_fields: pairs(analyzers::VECTOR_FIELDS),
            detail_levels: pairs(search::DETAIL_LEVELS),
            filters: filters::FILTERS.iter().map(filters::Spec::describe).collect(),
            modes: pairs(search::MODES),
            chunking_modes: pairs(chunking::MODES),
            detectors: pairs(chunking::DETECTORS),
            presets: chunking::PRESETS,
            aggregators: aggregators::AGGREGATORS
                .iter()
                .map(|a| a.spec())
                .map(|spec| AggregatorInfo {
                    id: spec.id.to_owned(),
                    depends_on: spec.depends_on.iter().map(|&id| id.to_owned()).collect(),
                    uses_llm: spec.uses_llm,
                })
                .collect(),
        }
    }
}
