//! `/health`, `/schema`, `/analyzers`: what this install can do and whether it works.

use std::collections::BTreeMap;

use poem_openapi::{Enum, Object, OpenApi};

use super::auth::{Service, Token};
use super::body::Json;
use super::errors::{ApiError, Open, Plain};
use super::values::{AnyObject, Ordered, shortest};
use crate::domain::Scoped;
use crate::domain::catalog::about::MetadataKeys;
use crate::domain::catalog::unreadable;
use crate::domain::chunking::Preset;
use crate::domain::search::Thresholds;
use crate::domain::search::filters::FilterSpec;
use crate::domain::status;

/// The routes of this section.
pub(super) struct MetaApi(pub(super) Service);

#[OpenApi]
impl MetaApi {
    /// Liveness, and loaded analyzers and aggregators.
    ///
    /// Needs no token. Tells of storage what was seen within `http.probe_interval`, or last where it does not
    /// answer at once.
    #[oai(path = "/health", method = "get", operation_id = "health")]
    async fn health(&self) -> Result<Json<Health>, ApiError<Open>> {
        Ok(Json(self.0.status().health().await.into()))
    }

    /// Everything searchable and filterable.
    #[oai(path = "/schema", method = "get", operation_id = "schema")]
    async fn schema(&self, token: Token) -> Result<Json<Schema>, ApiError<Plain>> {
        Ok(Json(Schema::of(&self.0.of(&token)).await))
    }

    /// Analyzers, vector fields and exclusive groups.
    #[oai(path = "/analyzers", method = "get", operation_id = "analyzers")]
    async fn analyzers(&self, token: Token) -> Result<Json<Analyzers>, ApiError<Plain>> {
        Ok(Json(self.0.of(&token).schema().await.into()))
    }
}

#[derive(Enum)]
#[oai(rename_all = "lowercase")]
enum HealthStatus {
    Ok,
    Degraded,
}

#[derive(Object)]
struct Health {
    status: HealthStatus,
    /// False in API-only mode.
    ui: bool,
    storage: StorageHealth,
    analyzers: Vec<String>,
    aggregators: Vec<String>,
    /// Analyzers that are not registered, each with why and what to do.
    unavailable: BTreeMap<String, String>,
    /// Videos whose record or documents did not read back when they were last read, at most 100.
    /// They are not listed; delete them or ingest them again.
    unreadable: Vec<UnreadableVideo>,
}

#[derive(Object)]
struct UnreadableVideo {
    video_id: String,
    /// What is wrong.
    error: String,
}

#[derive(Object)]
struct StorageHealth {
    ok: bool,
    bucket: String,
    #[oai(nullable)]
    error: Option<String>,
}

#[derive(Object)]
pub(crate) struct Schema {
    pub(crate) analyzers: Vec<String>,
    /// Analyzers that may not be selected together.
    pub(crate) exclusive_groups: Vec<Vec<String>>,
    /// Field to description.
    pub(crate) vector_fields: Ordered<String>,
    /// Level to description.
    detail_levels: Ordered<String>,
    pub(crate) filters: Ordered<Filter>,
    pub(crate) aggregators: Ordered<Aggregator>,
    /// Search mode to description.
    modes: Ordered<String>,
    /// Vector field to the `score_threshold` below which a hit of the default analyzer is rather chance
    /// than content. It belongs to the embedder alone; empty until it is measured, shortly after the
    /// start.
    recommended_thresholds: Ordered<f64>,
    /// The same by analyzer.
    recommended_thresholds_by_analyzer: Ordered<Ordered<f64>>,
    /// How videos can be split.
    chunking: ChunkingSchema,
    /// Analyzer to the JSON schema of its output on a chunk.
    outputs: Ordered<AnyObject>,
    /// Aggregator to the JSON schema of its result.
    results: Ordered<AnyObject>,
    /// Filter to the analyzers whose output it is about, none where this install has none of them: then
    /// it lets nothing through. Filters about every chunk are absent.
    pub(crate) filter_analyzers: Ordered<Vec<String>>,
    /// Metadata key of the videos that the token sees to its type: `string`, `number`, `boolean`, `time` or `list`.
    pub(crate) metadata_keys: Ordered<String>,
    /// Whether this install sends callbacks: where it does not, `callback_url` and alerts are refused.
    callbacks: bool,
}

#[derive(Object)]
struct ChunkingSchema {
    /// Mode to description.
    modes: Ordered<String>,
    presets: Ordered<PresetSchema>,
    /// Boundary detector, which has a weight of its name, to what it finds.
    detectors: Ordered<String>,
}

#[derive(Object)]
struct PresetSchema {
    description: String,
    /// Weight by detector.
    weights: Ordered<f64>,
}

#[derive(Object)]
pub(crate) struct Filter {
    #[oai(rename = "type")]
    kind: String,
    /// `any`, `exact`, `gte` or `lte`.
    matches: String,
    payload_field: String,
}

#[derive(Object)]
pub(crate) struct Aggregator {
    depends_on: Vec<String>,
    uses_llm: bool,
}

#[derive(Object)]
struct Analyzers {
    analyzers: Vec<String>,
    fields: Vec<String>,
    exclusive_groups: Vec<Vec<String>>,
}

impl From<status::Health> for Health {
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
            unavailable: health.unavailable.into_iter().collect(),
            unreadable: health.unreadable.into_iter().map(UnreadableVideo::from).collect(),
        }
    }
}

impl From<unreadable::UnreadableVideo> for UnreadableVideo {
    fn from(video: unreadable::UnreadableVideo) -> Self {
        Self { video_id: video.video_id.to_string(), error: video.error }
    }
}

impl Schema {
    /// That of a service; without metadata keys where the records do not answer.
    pub(crate) async fn of(service: &Scoped) -> Self {
        let keys = service.metadata_keys().await.unwrap_or_default();
        Self::new(service.schema().await, service.recommended_thresholds(), keys)
    }

    fn new(schema: status::Schema, thresholds: Thresholds, keys: MetadataKeys) -> Self {
        let shape = |(id, schema)| (id, AnyObject::from_value(schema));
        let outputs = Ordered(schema.outputs.into_iter().map(shape).collect());
        let results = schema.aggregators.iter().map(|a| shape((a.id.clone(), a.schema.clone())));
        let results = Ordered(results.collect());
        let about = schema.filters.iter().map(|f| (f.name.clone(), f.analyzers.clone()));
        let about = about.filter_map(|(name, analyzers)| Some((name, analyzers?)));
        let filter_analyzers = Ordered(about.collect());
        let filter = |f: FilterSpec| {
            (f.name, Filter { kind: f.kind, matches: f.matches, payload_field: f.payload_field })
        };
        let aggregator = |a: status::AggregatorInfo| {
            (a.id, Aggregator { depends_on: a.depends_on, uses_llm: a.uses_llm })
        };
        let keys = keys.into_iter().map(|(key, kind)| (key, kind.name().to_owned()));
        let preset = |p: &Preset| {
            let weights = p.weights.named().map(|(name, weight)| (name.to_owned(), weight));
            let described = PresetSchema {
                description: p.description.to_owned(),
                weights: Ordered(weights.to_vec()),
            };
            (p.name.to_owned(), described)
        };
        let fields = |of: &[(String, f32)]| {
            Ordered(of.iter().map(|(field, t)| (field.clone(), shortest(*t))).collect())
        };
        let usual = thresholds.iter().find(|(id, _)| *id == super::query::analyzer());
        let usual = usual.map(|(_, of)| fields(of));
        let by_analyzer = thresholds.iter().map(|(id, of)| (id.clone(), fields(of)));
        Self {
            analyzers: schema.analyzers,
            callbacks: schema.callbacks,
            metadata_keys: Ordered(keys.collect()),
            exclusive_groups: schema.exclusive_groups,
            vector_fields: Ordered(schema.vector_fields),
            detail_levels: Ordered(schema.detail_levels),
            filters: Ordered(schema.filters.into_iter().map(filter).collect()),
            aggregators: Ordered(schema.aggregators.into_iter().map(aggregator).collect()),
            modes: Ordered(schema.modes),
            recommended_thresholds: usual.unwrap_or_default(),
            recommended_thresholds_by_analyzer: Ordered(by_analyzer.collect()),
            chunking: ChunkingSchema {
                modes: Ordered(schema.chunking_modes),
                presets: Ordered(schema.presets.iter().map(preset).collect()),
                detectors: Ordered(schema.detectors),
            },
            outputs,
            results,
            filter_analyzers,
        }
    }
}

impl From<status::Schema> for Analyzers {
    fn from(schema: status::Schema) -> Self {
        Self {
            analyzers: schema.analyzers,
            fields: schema.vector_fields.into_iter().map(|(field, _)| field).collect(),
            exclusive_groups: schema.exclusive_groups,
        }
    }
}
