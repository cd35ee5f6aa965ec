//! The configuration has four layers: defaults, `config.toml`, `SERVICE_*` variables and flags. A
//! later layer overrides the earlier ones. Each section is a struct with defaults next to the code
//! that reads it: in the adapter's folder, or next to the use-cases of the domain. If an adapter
//! and the domain read keys of the same section, each defines a separate struct. An unknown key is
//! an error that suggests the most similar known key.

use std::time::Duration;

use figment::Figment;
use figment::providers::Serialized;
use serde::{Deserialize, Serialize};
use toml::Table;

use crate::http::{AuthSettings, HttpSettings};
use crate::mcp::McpSettings;
use domain;

mod load;
mod process;

pub use adapters::ner::Kind as NerKind;
pub use adapters::sentiment::Kind as SentimentKind;
pub use load::{ConfigError, ConfigSources};
pub use process::{Log, LogFormat, Shutdown, Traces};

/// All keys; each field is the section of the same name. An empty string means "not set".
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[expect(missing_docs, reason = "each field is the section of its name")]
pub struct Config {
    pub http: HttpSettings,
    pub auth: AuthSettings,
    pub mcp: McpSettings,
    pub storage: adapters::storage::Settings,
    pub records: adapters::records::Settings,
    pub index: adapters::index::Settings,
    pub models: adapters::models::Settings,
    pub embedder: adapters::embedder::Settings,
    pub reranker: adapters::reranker::Settings,
    pub llm: adapters::llm::Settings,
    pub ocr: adapters::ocr::Settings,
    pub detector: adapters::detector::Settings,
    pub classifier: adapters::classifier::Settings,
    pub image_embedder: adapters::image_embedder::Settings,
    pub vad: adapters::vad::Settings,
    pub speaker: adapters::speaker::Settings,
    pub transcriber: adapters::transcriber::Settings,
    pub sentiment: adapters::sentiment::Settings,
    pub ner: adapters::ner::Settings,
    pub fetch: adapters::fetcher::Settings,
    pub decoder: adapters::decoder::Settings,
    pub jobs: adapters::jobs::Settings,
    pub shutdown: Shutdown,
    pub log: Log,
    pub traces: Traces,
    /// The keys that the domain reads: its own sections, and some keys of the sections above.
    #[serde(skip)]
    pub domain: domain::Settings,
}

impl Config {
    /// Loads and validates the configuration.
    pub fn load(sources: &ConfigSources) -> Result<Self, ConfigError> {
        let mut figment = Self::defaults();
        let known: Table = figment.extract().map_err(|e| load::explain(&e))?;
        for layer in load::layers(sources, &known)? {
            figment = figment.merge(Serialized::defaults(layer));
        }
        let mut config: Self = figment.extract().map_err(|e| load::explain(&e))?;
        config.domain = figment.extract().map_err(|e| load::explain(&e))?;
        config.check()?;
        Ok(config)
    }

    /// All keys with their defaults, in the structure of the file.
    fn defaults() -> Figment {
        Figment::from(Serialized::defaults(Self::default()))
            .merge(Serialized::defaults(domain::Settings::default()))
    }

    fn check(&self) -> Result<(), ConfigError> {
        self.check_work()?;
        self.check_searches()?;
        self.check_models()?;
        self.check_tokens()?;
        self.check_limits()?;
        self.check_probes()
    }

    /// Validates the limits for jobs, frames and evaluations.
    fn check_work(&self) -> Result<(), ConfigError> {
        let domain::Settings { ingest, frames, decoder, evaluation, .. } = &self.domain;
        if ingest.concurrency == 0 || ingest.max_chunks == 0 {
            return invalid("ingest.concurrency and ingest.max_chunks must be at least 1".into());
        }
        if !(0.0..=1.0).contains(&ingest.min_speech_confidence)
            || !(0.0..=1.0).contains(&ingest.quiet_peak)
        {
            return invalid(
                "ingest.min_speech_confidence and ingest.quiet_peak must be from 0 to 1".into(),
            );
        }
        if ingest.upload_part_bytes == 0 || ingest.max_upload_parts == 0 {
            return invalid(
                "ingest.upload_part_bytes and ingest.max_upload_parts must be at least 1".into(),
            );
        }
        if ingest.workers == 0 && self.jobs.kind == adapters::jobs::Kind::Memory {
            return invalid(
                "ingest.workers is 0, so that no job would ever run; it must be at least 1, unless \
                 other instances work on the jobs (jobs.kind = \"nats\")"
                    .into(),
            );
        }
        if frames.concurrency == 0
            || frames.queue == 0
            || frames.max_width < 16
            || frames.max_buckets == 0
        {
            return invalid(
                "frames.concurrency, frames.queue and frames.max_buckets must be at least 1, \
                 frames.max_width 16"
                    .into(),
            );
        }
        if frames.clips == 0
            || frames.max_clip_duration == 0
            || frames.max_clip_bytes > frames.cache_bytes
        {
            return invalid(
                "frames.clips and frames.max_clip_duration must be at least 1, frames.max_clip_bytes at most \
                 frames.cache_bytes"
                    .into(),
            );
        }
        if evaluation.max_runs == 0 || evaluation.max_configurations == 0 {
            return invalid(
                "evaluation.max_runs and evaluation.max_configurations must be at least 1".into(),
            );
        }
        if decoder.scan_width < 16 || decoder.scan_height < 16 {
            return invalid(
                "decoder.scan_width and decoder.scan_height must be at least 16".into(),
            );
        }
        Ok(())
    }

    fn check_searches(&self) -> Result<(), ConfigError> {
        let domain::Settings { search, intervals, .. } = &self.domain;
        let weights = [search.fusion_k, search.vector_weight, search.text_weight];
        if !weights.iter().all(|weight| weight.is_finite() && *weight > 0.0) {
            return invalid(
                "search.fusion_k, search.vector_weight and search.text_weight must be above 0"
                    .into(),
            );
        }
        if !search.threshold_deviations.is_finite() || search.page_window == 0 {
            return invalid(
                "search.threshold_deviations must be a number, search.page_window at least 1"
                    .into(),
            );
        }
        if intervals.max_terms == 0
            || intervals.max_depth == 0
            || intervals.max_spans == 0
            || intervals.max_videos_read == 0
            || intervals.max_text_hits == 0
        {
            return invalid(
                "intervals.max_terms, intervals.max_depth, intervals.max_spans, \
                 intervals.max_videos_read and intervals.max_text_hits must be at least 1"
                    .into(),
            );
        }
        Ok(())
    }

    fn check_models(&self) -> Result<(), ConfigError> {
        if self.ner.labels.iter().any(|label| label.trim().is_empty()) {
            return invalid("ner.labels holds an empty label; remove it or name one".into());
        }
        for (key, kind, url) in [
            ("llm.url", self.llm.kind == adapters::llm::Kind::Openai, &self.llm.url),
            (
                "embedder.url",
                self.embedder.kind == adapters::embedder::Kind::Openai,
                &self.embedder.url,
            ),
            (
                "transcriber.url",
                self.transcriber.kind == adapters::transcriber::Kind::Openai,
                &self.transcriber.url,
            ),
        ] {
            if kind && url.is_empty() {
                return invalid(format!(
                    "{key} is empty; the kind openai needs the server's address"
                ));
            }
        }
        Ok(())
    }

    /// Validates the tokens.
    fn check_tokens(&self) -> Result<(), ConfigError> {
        if self.auth.tokens.iter().any(|token| token.token.is_empty()) {
            return invalid(
                "auth.tokens holds an empty token; remove it or give it a value".into(),
            );
        }
        let unusable = |token: &str| token.trim() != token || token.chars().any(char::is_control);
        if self.auth.tokens.iter().any(|token| unusable(&token.token)) {
            return invalid(
                "auth.tokens holds a token with a line break, a control character or a space at an \
                 end, which no header can carry; remove these characters"
                    .into(),
            );
        }
        let mut tokens: Vec<&str> = self.auth.tokens.iter().map(|token| &*token.token).collect();
        tokens.sort_unstable();
        if tokens.windows(2).any(|pair| pair[0] == pair[1]) {
            return invalid("auth.tokens holds a token twice; remove one of the two".into());
        }
        let unusable = |name: &str| {
            let length = name.chars().count();
            name.trim() != name
                || !(1..=domain::kernel::access::MAX_AUTHOR_CHARS).contains(&length)
                || name.chars().any(char::is_control)
        };
        let mut names = self.auth.tokens.iter().filter_map(|token| token.access.name());
        if let Some(name) = names.find(|name| unusable(name)) {
            return invalid(format!(
                "auth.tokens holds the name '{}'; a name has 1 to {} characters, without control \
                 characters and without a space at an end",
                name.escape_debug(),
                domain::kernel::access::MAX_AUTHOR_CHARS
            ));
        }
        Ok(())
    }

    /// Validates the limits for clients.
    fn check_limits(&self) -> Result<(), ConfigError> {
        if !(0.0..=1.0).contains(&self.traces.share) {
            return invalid(format!(
                "traces.share is {}; it must be from 0 to 1",
                self.traces.share
            ));
        }
        if self.http.max_header_bytes < 8192 || self.http.max_connections == 0 {
            return invalid(
                "http.max_header_bytes must be at least 8192, http.max_connections at least 1"
                    .into(),
            );
        }
        let max_matches = self.domain.alerts.max_matches;
        if !(1..=10_000).contains(&max_matches) {
            return invalid(format!(
                "alerts.max_matches is {max_matches}; it must be from 1 to 10000"
            ));
        }
        let comments = &self.domain.comments;
        for (key, value, max) in [
            ("max_chars", comments.max_chars, 20_000),
            ("max_per_video", comments.max_per_video, 10_000),
            ("activity", comments.activity, 10_000),
        ] {
            if !(1..=max).contains(&value) {
                return invalid(format!("comments.{key} is {value}; it must be from 1 to {max}"));
            }
        }
        self.check_shares()?;
        let max_videos = self.domain.people.max_videos;
        if !(1..=100_000).contains(&max_videos) {
            return invalid(format!(
                "people.max_videos is {max_videos}; it must be from 1 to 100000"
            ));
        }
        let mcp = &self.mcp;
        if mcp.max_tokens < 5000 || mcp.max_frame_width < 16 {
            return invalid("mcp.max_tokens must be at least 5000, mcp.max_frame_width 16".into());
        }
        if mcp.page_videos == 0 || mcp.max_frames == 0 || mcp.max_batch == 0 {
            let keys = "mcp.page_videos, mcp.max_frames and mcp.max_batch";
            return invalid(format!("{keys} must be at least 1"));
        }
        Ok(())
    }

    fn check_shares(&self) -> Result<(), ConfigError> {
        let shares = &self.domain.shares;
        if !(1..=1000).contains(&shares.max_parts) {
            return invalid(format!(
                "shares.max_parts is {}; it must be from 1 to 1000",
                shares.max_parts
            ));
        }
        if !(1..=10_000).contains(&shares.max_per_video) {
            return invalid(format!(
                "shares.max_per_video is {}; it must be from 1 to 10000",
                shares.max_per_video
            ));
        }
        let (default, max) = (shares.default_expiry, shares.max_expiry);
        if max > MAX_EXPIRY {
            return invalid(format!(
                "shares.max_expiry is {} seconds; it must be at most {}",
                max.as_secs_f64(),
                MAX_EXPIRY.as_secs()
            ));
        }
        if default < Duration::from_secs(1) || default > max {
            return invalid(format!(
                "shares.default_expiry is {} seconds; it must be from 1 to {} (shares.max_expiry)",
                default.as_secs_f64(),
                max.as_secs_f64()
            ));
        }
        Ok(())
    }

    /// Validates the probe settings and the public address.
    fn check_probes(&self) -> Result<(), ConfigError> {
        if !(0.1..=3600.0).contains(&self.http.probe_interval) {
            return invalid(format!(
                "http.probe_interval is {}; it must be seconds from 0.1 to 3600",
                self.http.probe_interval
            ));
        }
        if !(0.1..=3600.0).contains(&self.http.idle_probe_interval) {
            return invalid(format!(
                "http.idle_probe_interval is {}; it must be seconds from 0.1 to 3600",
                self.http.idle_probe_interval
            ));
        }
        if !(0.001..=60.0).contains(&self.http.probe_timeout) {
            return invalid(format!(
                "http.probe_timeout is {}; it must be seconds from 0.001 to 60",
                self.http.probe_timeout
            ));
        }
        if !self.http.base_url.is_empty() && !self.http.base_url.starts_with("http") {
            return invalid(format!(
                "http.base_url is '{}'; it must be an http or https URL",
                self.http.base_url
            ));
        }
        Ok(())
    }
}

/// The largest value of `shares.max_expiry`: a hundred years.
const MAX_EXPIRY: Duration = Duration::from_secs(100 * 365 * 24 * 3600);

fn invalid(text: String) -> Result<(), ConfigError> {
    Err(ConfigError::new(text))
}
