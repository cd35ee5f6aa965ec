//! `/health`, `/schema` and `/analyzers`: capabilities and health of the install.

use std::collections::BTreeMap;

use poem_openapi::{Enum, Object, OpenApi};

use crate::http::edge::auth::{CallerToken, Service};
use crate::http::wire::body::Json;
use crate::http::wire::errors::{ApiError, Open, Plain};
use crate::http::wire::hits::analyzer;
use crate::http::wire::presentation::PresentationBody;
use crate::http::wire::values::{AnyObject, OrderedMap, shortest};
use domain::Scoped;
use domain::analysis::VECTOR_FIELDS;
use domain::chunking::Preset;
use domain::records::metadata::MetadataKeys;
use domain::records::unreadable;
use domain::search::Thresholds;
use domain::search::filters::FilterSpec;
use domain::status;
use domain::status::PresentationInfo;

/// The routes of this section.
pub(super) struct MetaApi(pub(super) Service);

#[OpenApi]
impl MetaApi {
    /// Get health.
    ///
    /// Reports liveness and the loaded analyzers and aggregators. No token is needed. The storage
    /// state is at most `http.probe_interval` seconds old. If storage does not answer immediately,
    /// the response contains the last known state.
    #[oai(path = "/health", method = "get", operation_id = "health")]
    async fn health(&self) -> Result<Json<HealthBody>, ApiError<Open>> {
        Ok(Json(self.0.status().health().await.into()))
    }

    /// Get the schema.
    ///
    /// Lists everything that this install can search, filter and compute.
    #[oai(path = "/schema", method = "get", operation_id = "schema")]
    async fn schema(&self, token: CallerToken) -> Result<Json<SchemaBody>, ApiError<Plain>> {
        Ok(Json(SchemaBody::for_service(&self.0.scoped(&token)).await))
    }

    /// List analyzers, vector fields and exclusive groups.
    #[oai(path = "/analyzers", method = "get", operation_id = "analyzers")]
    async fn analyzers(&self, token: CallerToken) -> Result<Json<AnalyzersBody>, ApiError<Plain>> {
        Ok(Json(self.0.scoped(&token).schema().await.into()))
    }
}

#[derive(Enum)]
#[oai(rename_all = "lowercase")]
enum HealthStatus {
    Ok,
    Degraded,
}

#[derive(Object)]
#[oai(rename = "Health")]
struct HealthBody {
    status: HealthStatus,
    /// Whether the web UI is served; false in API-only mode.
    ui: bool,
    storage: StorageHealth,
    /// Ids of the available analyzers.
    analyzers: Vec<String>,
    /// Ids of the available aggregators.
    aggregators: Vec<String>,
    /// What the install recognises, of `objects`, `people`, `text` (on screen), `speech` and
    /// `pictures` (which can be searched for).
    sees: Vec<String>,
    /// How to recognise more, by way: `vision_model` and `models`. Empty if all models are there.
    see_more: OrderedMap<String>,
    /// For each unavailable analyzer, why it is unavailable and how to make it available.
    unavailable: BTreeMap<String, String>,
    /// Videos whose record or documents could not be read; at most 100. They are missing from
    /// listings. Delete them or ingest them again.
    unreadable: Vec<UnreadableVideoBody>,
}

#[derive(Object)]
#[oai(rename = "UnreadableVideo")]
struct UnreadableVideoBody {
    /// Id of the video.
    video_id: String,
    /// What could not be read.
    error: String,
}

#[derive(Object)]
struct StorageHealth {
    /// Whether storage works.
    ok: bool,
    /// Name of the storage bucket.
    bucket: String,
    /// Why storage does not work; null if it does.
    #[oai(nullable)]
    error: Option<String>,
}

#[derive(Object)]
#[oai(rename = "Schema")]
pub(crate) struct SchemaBody {
    /// Ids of the analyzers.
    pub(crate) analyzers: Vec<String>,
    /// Groups of mutually exclusive analyzers: an ingest may select only one from each group.
    pub(crate) exclusive_groups: Vec<Vec<String>>,
    /// Description of each vector field, by name.
    pub(crate) vector_fields: OrderedMap<String>,
    /// Description of each detail level, by name.
    detail_levels: OrderedMap<String>,
    /// The search filters, by name.
    pub(crate) filters: OrderedMap<FilterBody>,
    /// The aggregators, by id.
    pub(crate) aggregators: OrderedMap<AggregatorBody>,
    /// Description of each search mode, by name.
    modes: OrderedMap<String>,
    /// For each vector field, the `score_threshold` below which hits from the default analyzer are
    /// likely to be random. The thresholds depend only on the embedder. They are absent until the
    /// service has measured them, shortly after it starts.
    recommended_thresholds: OrderedMap<f64>,
    /// The recommended thresholds, by analyzer and vector field.
    recommended_thresholds_by_analyzer: OrderedMap<OrderedMap<f64>>,
    /// The modes, presets and detectors of chunking.
    chunking: ChunkingSchema,
    /// JSON schema of each analyzer's output for a chunk, by analyzer id.
    outputs: OrderedMap<AnyObject>,
    /// JSON schema of each aggregator's result, by aggregator id.
    results: OrderedMap<AnyObject>,
    /// Ids of the analyzers whose output each filter applies to, by filter name. An empty list
    /// means that no installed analyzer provides the filtered field, so the filter matches nothing.
    /// Filters that apply to every chunk are absent.
    pub(crate) filter_analyzers: OrderedMap<Vec<String>>,
    /// Type of each metadata key in the videos that the token may read: `string`, `number`,
    /// `boolean`, `time` or `list`.
    pub(crate) metadata_keys: OrderedMap<String>,
    /// How a page shows outputs and results.
    presentation: PresentationsBody,
    /// Whether this install sends callbacks. If not, `callback_url` and the webhooks of alerts are
    /// rejected.
    callbacks: bool,
}

/// How a page shows outputs and results, each list in the order of a page.
#[derive(Object)]
#[oai(rename = "Presentations")]
struct PresentationsBody {
    /// The analyzers, also those that cannot run here, because stored videos may have their outputs.
    analyzers: Vec<PresentationBody>,
    /// The aggregators.
    aggregators: Vec<PresentationBody>,
}

#[derive(Object)]
struct ChunkingSchema {
    /// Description of each chunking mode, by name.
    modes: OrderedMap<String>,
    /// The presets, by name.
    presets: OrderedMap<PresetSchema>,
    /// What each boundary detector finds, by detector name. The weight of a detector has the same
    /// name.
    detectors: OrderedMap<String>,
}

#[derive(Object)]
struct PresetSchema {
    /// What the preset is for.
    description: String,
    /// Weight of each detector, by name.
    weights: OrderedMap<f64>,
}

#[derive(Object)]
#[oai(rename = "Filter")]
pub(crate) struct FilterBody {
    /// Type of the value: `list[str]`, `list[int]`, `str`, `int`, `float`, `time`, `dict` or
    /// `expression` (an interval expression, as of `POST /intervals`).
    #[oai(rename = "type")]
    kind: String,
    /// How values are matched: `any`, `exact`, `gte` or `lte`.
    matches: String,
    /// Field of the index payload that the filter compares.
    payload_field: String,
}

#[derive(Object)]
#[oai(rename = "Aggregator")]
pub(crate) struct AggregatorBody {
    /// Ids of the analyzers and aggregators whose output the aggregator needs.
    depends_on: Vec<String>,
    /// Whether the aggregator calls the language model.
    uses_llm: bool,
}

#[derive(Object)]
#[oai(rename = "Analyzers")]
struct AnalyzersBody {
    /// Ids of the analyzers.
    analyzers: Vec<String>,
    /// Names of the vector fields.
    fields: Vec<String>,
    /// Groups of mutually exclusive analyzers: an ingest may select only one from each group.
    exclusive_groups: Vec<Vec<String>>,
}

impl From<status::Health> for HealthBody {
    fn from(health: status::Health) -> Self {
        Self {
            status: if health.ok { HealthStatus::Ok } else { HealthStatus::Degraded },
            ui: health.ui,
            storage: StorageHealth {
                ok: health.storage_error.is_none(),
                bucket: health.bucket,
                error: health.storage_error,
            },
            analyzers: health.analyzers,
            aggregators: health.aggregators,
            sees: health.sees.into_iter().map(str::to_owned).collect(),
            see_more: OrderedMap(
                health.see_more.into_iter().map(|(way, text)| (way.into(), text.into())).collect(),
            ),
            unavailable: health.unavailable.into_iter().collect(),
            unreadable: health.unreadable.into_iter().map(UnreadableVideoBody::from).collect(),
        }
    }
}

impl From<unreadable::UnreadableVideo> for UnreadableVideoBody {
    fn from(video: unreadable::UnreadableVideo) -> Self {
        Self { video_id: video.video_id.to_string(), error: video.error }
    }
}

impl SchemaBody {
    /// Returns the schema of a service, without metadata keys if the records are unavailable.
    pub(crate) async fn for_service(service: &Scoped) -> Self {
        let keys = service.metadata_keys().await.unwrap_or_default();
        Self::new(service.schema().await, service.recommended_thresholds(), keys)
    }

    fn new(schema: status::Schema, thresholds: Thresholds, keys: MetadataKeys) -> Self {
        let shape = |(id, schema)| (id, AnyObject::from_value(schema));
        let outputs = OrderedMap(schema.outputs.into_iter().map(shape).collect());
        let results = schema.aggregators.iter().map(|a| shape((a.id.clone(), a.schema.clone())));
        let results = OrderedMap(results.collect());
        let by_filter = schema.filters.iter().map(|f| (f.name.clone(), f.analyzers.clone()));
        let by_filter = by_filter.filter_map(|(name, analyzers)| Some((name, analyzers?)));
        let filter_analyzers = OrderedMap(by_filter.collect());
        let filter = |f: FilterSpec| {
            (
                f.name,
                FilterBody { kind: f.kind, matches: f.matches, payload_field: f.payload_field },
            )
        };
        let aggregator = |a: status::AggregatorInfo| {
            (a.id, AggregatorBody { depends_on: a.depends_on, uses_llm: a.uses_llm })
        };
        let keys = keys.into_iter().map(|(key, kind)| (key, kind.name().to_owned()));
        let preset = |p: &Preset| {
            let weights = p.weights.named().map(|(name, weight)| (name.to_owned(), weight));
            let described = PresetSchema {
                description: p.description.to_owned(),
                weights: OrderedMap(weights.to_vec()),
            };
            (p.name.to_owned(), described)
        };
        let fields = |thresholds: &[(String, f32)]| {
            OrderedMap(thresholds.iter().map(|(field, t)| (field.clone(), shortest(*t))).collect())
        };
        let default = thresholds.iter().find(|(id, _)| *id == analyzer());
        let default = default.map(|(_, thresholds)| fields(thresholds));
        let by_analyzer =
            thresholds.iter().map(|(id, thresholds)| (id.clone(), fields(thresholds)));
        Self {
            analyzers: schema.analyzers,
            callbacks: schema.callbacks,
            metadata_keys: OrderedMap(keys.collect()),
            exclusive_groups: schema.exclusive_groups,
            vector_fields: OrderedMap(schema.vector_fields),
            detail_levels: OrderedMap(schema.detail_levels),
            filters: OrderedMap(schema.filters.into_iter().map(filter).collect()),
            aggregators: OrderedMap(schema.aggregators.into_iter().map(aggregator).collect()),
            modes: OrderedMap(schema.modes),
            recommended_thresholds: default.unwrap_or_default(),
            recommended_thresholds_by_analyzer: OrderedMap(by_analyzer.collect()),
            chunking: ChunkingSchema {
                modes: OrderedMap(schema.chunking_modes),
                presets: OrderedMap(schema.presets.iter().map(preset).collect()),
                detectors: OrderedMap(schema.detectors),
            },
            presentation: PresentationsBody {
                analyzers: presentations(schema.analyzer_presentations),
                aggregators: presentations(schema.aggregator_presentations),
            },
            outputs,
            results,
            filter_analyzers,
        }
    }
}

fn presentations(all: Vec<PresentationInfo>) -> Vec<PresentationBody> {
    all.into_iter().map(PresentationBody::from).collect()
}

impl From<status::Schema> for AnalyzersBody {
    fn from(schema: status::Schema) -> Self {
        Self {
            analyzers: schema.analyzers,
            fields: VECTOR_FIELDS.iter().map(|(field, _)| (*field).to_owned()).collect(),
            exclusive_groups: schema.exclusive_groups,
        }
    }
}
