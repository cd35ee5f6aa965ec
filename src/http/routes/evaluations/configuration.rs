//! Search configurations that evaluation runs compare.

use poem_openapi::Object;

use crate::http::wire::hits;
use crate::http::wire::values::shortest;
use domain::evaluation::run;

/// A search configuration. Fields with the same name as in `/query` have the same meaning.
#[derive(Object)]
#[oai(rename = "SearchConfiguration")]
pub(super) struct ConfigurationBody {
    /// Name of the configuration, used in the results; 1 to 64 characters. Default: `default`.
    #[oai(default = "default_name", validator(min_length = 1, max_length = 64))]
    name: String,
    /// Search mode: `vector`, `text` or `hybrid`. Null: `vector` for one analyzer, `hybrid` for
    /// `*`.
    #[oai(nullable)]
    mode: Option<String>,
    /// Id of the analyzer whose output is searched, or `*` for all analyzers. Default:
    /// `default_video`.
    #[oai(default = "hits::analyzer")]
    analyzer: String,
    /// Vector field to search, one of the `vector_fields` in `GET /schema`. Default: `combined`.
    #[oai(default = "hits::field")]
    field: String,
    /// Maximum number of hits per search, which is the k of the metrics. Default: 5.
    #[oai(default = "hits::limit", validator(minimum(value = "1"), maximum(value = "50")))]
    limit: u32,
    /// Minimum `score` of a hit, from 0 to 1. Null: no minimum.
    #[oai(nullable, validator(minimum(value = "0"), maximum(value = "1")))]
    score_threshold: Option<f64>,
    /// Minimum `p_present` of a hit, from 0 to 1, also for `/ask`. A match is reported as present
    /// if a hit reaches this value. Null: no minimum for hits; 0.5 for reporting a match as
    /// present.
    #[oai(nullable, validator(minimum(value = "0"), maximum(value = "1")))]
    min_p_present: Option<f64>,
    /// Whether to re-rank hits, like `rerank` in `/query`. Default: false.
    #[oai(default)]
    rerank: bool,
    /// Whether to also send each question to `/ask`, which retrieves its own evidence. Default:
    /// false.
    #[oai(default)]
    ask: bool,
}

fn default_name() -> String {
    "default".into()
}

/// Returns the configurations for a run that names none.
pub(super) fn configurations() -> Vec<ConfigurationBody> {
    vec![ConfigurationBody {
        name: default_name(),
        mode: None,
        analyzer: hits::analyzer(),
        field: hits::field(),
        limit: hits::limit(),
        score_threshold: None,
        min_p_present: None,
        rerank: false,
        ask: false,
    }]
}

impl From<ConfigurationBody> for run::Configuration {
    fn from(c: ConfigurationBody) -> Self {
        Self {
            name: c.name,
            mode: c.mode,
            analyzer: c.analyzer,
            field: c.field,
            limit: c.limit,
            score_threshold: c.score_threshold.map(|threshold| threshold as f32),
            min_p_present: c.min_p_present.map(|min| min as f32),
            rerank: c.rerank,
            ask: c.ask,
        }
    }
}

impl From<run::Configuration> for ConfigurationBody {
    fn from(c: run::Configuration) -> Self {
        Self {
            name: c.name,
            mode: c.mode,
            analyzer: c.analyzer,
            field: c.field,
            limit: c.limit,
            score_threshold: c.score_threshold.map(shortest),
            min_p_present: c.min_p_present.map(shortest),
            rerank: c.rerank,
            ask: c.ask,
        }
    }
}
