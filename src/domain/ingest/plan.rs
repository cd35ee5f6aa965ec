//! Estimates the cost of an ingest before it starts (chunks, model calls, tokens and time), based
//! on the history of this install. Decodes nothing and calls no model.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::aggregation::Aggregators;
use crate::aggregation::result::ModelUsage;
use crate::analysis::{Analyzer, cache_key};
use crate::catalog::Catalog;
use crate::ingest::request::{IngestFields, IngestRequest};
use crate::kernel::access::Access;
use crate::kernel::error::{Error, Result};
use crate::kernel::ports::Models;
use crate::kernel::time::Span;
use crate::kernel::urls::{check_url, redact_secrets};
use crate::kernel::video::VideoId;
use crate::listing::Listing;
use crate::records::Records;
use crate::records::extractors::ExtractorStore;
use crate::records::model_cache::{CacheKey, ModelCache};
use crate::records::record::{ProcessingCost, VideoRecord};

/// Number of recent videos to base estimates on.
const HISTORY: usize = 50;

/// The source of a planned ingest.
#[derive(Debug, Clone, PartialEq)]
pub enum PlanSource {
    /// An existing video.
    Video(VideoId),
    /// A URL. If a video was ingested from it, the plan is for that video.
    Url(String),
    /// A file to be uploaded.
    File,
}

/// The estimated cost of an ingest. `None` marks values that this install cannot estimate yet.
#[derive(Debug, Clone, PartialEq)]
pub struct IngestPlan {
    /// The id of the video, if it exists.
    pub video_id: Option<VideoId>,
    /// The chunking configuration.
    pub chunk_config: String,
    /// Number of chunks.
    pub chunks: Option<u32>,
    /// Analyzers whose output would be dropped, because the chunks would change and the request
    /// does not include these analyzers.
    pub drops: Vec<String>,
    /// Estimates by analyzer id.
    pub analyzers: BTreeMap<String, CostEstimate>,
    /// Estimates by aggregator id, for the aggregators whose dependencies are all available.
    pub aggregators: BTreeMap<String, CostEstimate>,
    /// The sum of the estimates for analyzers and aggregators, plus the time for decoding.
    pub total: CostEstimate,
    /// Number of videos that the estimates are based on.
    pub history: u32,
}

/// The estimated cost of a step.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CostEstimate {
    /// Number of chunks with a reusable result. For an aggregator, 1 if its result is reusable.
    pub reused: u32,
    /// Number of billed calls to the language model.
    pub model_calls: Option<u32>,
    /// Number of input tokens in billed calls.
    pub input_tokens: Option<u64>,
    /// Number of output tokens in billed calls.
    pub output_tokens: Option<u64>,
    /// Duration, in seconds.
    pub seconds: Option<f64>,
}

/// Mean costs of earlier videos.
#[derive(Default)]
struct History {
    videos: u32,
    /// Seconds of scanning per second of video.
    scan_per_second: Option<f64>,
    /// Seconds of aggregation per chunk.
    aggregate_per_chunk: Option<f64>,
    /// Cost by analyzer id and fingerprint.
    analyzers: BTreeMap<(String, String), ProcessingCost>,
    /// Language model cost by aggregator.
    aggregators: BTreeMap<String, ProcessingCost>,
}

impl History {
    /// Estimates the cost of the scan, which is zero if the video exists.
    fn estimate_scan(&self, exists: bool, duration: Option<f64>) -> CostEstimate {
        let seconds = match exists {
            true => Some(0.0),
            false => self.scan_per_second.zip(duration).map(|(rate, duration)| rate * duration),
        };
        CostEstimate { seconds, ..CostEstimate::zero() }
    }
}

impl CostEstimate {
    fn zero() -> Self {
        Self {
            reused: 0,
            model_calls: Some(0),
            input_tokens: Some(0),
            output_tokens: Some(0),
            seconds: Some(0.0),
        }
    }

    fn plus(&self, other: &Self) -> Self {
        fn sum<T: std::ops::Add<Output = T>>(a: Option<T>, b: Option<T>) -> Option<T> {
            Some(a? + b?)
        }
        Self {
            reused: self.reused + other.reused,
            model_calls: sum(self.model_calls, other.model_calls),
            input_tokens: sum(self.input_tokens, other.input_tokens),
            output_tokens: sum(self.output_tokens, other.output_tokens),
            seconds: sum(self.seconds, other.seconds),
        }
    }

    /// Scales `cost` to a number of chunks. Without `cost`, assumes one model call per chunk.
    fn scaled(chunks: u32, uses_model: bool, cost: Option<&ProcessingCost>) -> Self {
        if chunks == 0 {
            return Self::zero();
        }
        let reference = cost.filter(|cost| cost.chunks > 0);
        let scale =
            |part: f64| reference.map(|cost| part * f64::from(chunks) / f64::from(cost.chunks));
        let seconds = reference.and_then(|cost| scale(cost.seconds));
        if !uses_model {
            return Self { seconds, ..Self::zero() };
        }
        let calls = reference.and_then(|cost| scale(f64::from(cost.model_calls)));
        Self {
            reused: 0,
            model_calls: Some(calls.map_or(chunks, |calls| calls.ceil() as u32)),
            input_tokens: reference
                .and_then(|c| scale(c.input_tokens as f64))
                .map(|n| n.ceil() as u64),
            output_tokens: reference
                .and_then(|c| scale(c.output_tokens as f64))
                .map(|n| n.ceil() as u64),
            seconds,
        }
    }
}

/// Plans ingests without decoding anything or calling a model.
pub struct Planner {
    pub(super) records: Arc<Records>,
    listing: Arc<Listing>,
    extractors: Arc<ExtractorStore>,
    model_cache: Arc<ModelCache>,
    aggregators: Aggregators,
    models: Models,
    /// Maximum number of chunks in a video.
    pub(super) max_chunks: usize,
}

impl Planner {
    pub(crate) fn new(models: &Models, catalog: &Catalog, max_chunks: usize) -> Self {
        Self {
            records: catalog.records.clone(),
            listing: catalog.listing.clone(),
            extractors: catalog.extractors.clone(),
            model_cache: catalog.model_cache.clone(),
            aggregators: catalog.aggregators.clone(),
            models: models.clone(),
            max_chunks,
        }
    }

    /// Estimates the cost of an ingest with these fields, based on the videos that the caller may
    /// see. `duration` is the video's length in seconds, if the client knows it.
    pub async fn plan(
        &self,
        access: &Access,
        source: &PlanSource,
        duration: Option<f64>,
        fields: &IngestFields,
    ) -> Result<IngestPlan> {
        let plan = IngestRequest::parse(fields, &self.extractors, &self.models).await?;
        if duration.is_some_and(|d| !(d.is_finite() && d > 0.0)) {
            return Err(Error::Unprocessable(
                "duration must be a number of seconds, more than 0".into(),
            ));
        }
        let newest = self.listing.newest(access, HISTORY).await?;
        let newest: Vec<VideoId> = newest.into_iter().map(|video| video.video_id).collect();
        let records = self.records.find_all(&newest).await?;
        let record = self.find_record(access, source).await?;
        let history = self.history(&records).await?;
        let spans = self.expected_spans(record.as_ref(), &plan).await?;
        let existing = record.as_ref().zip(spans.as_deref());
        let drops = match existing {
            Some((record, spans)) => self.drops(record, &plan, spans).await?,
            None => Vec::new(),
        };
        let duration = record.as_ref().map(|record| record.duration).or(duration);
        let chunks = match (&spans, duration) {
            (Some(spans), _) => Some(spans.len() as u32),
            (None, Some(duration)) => estimate_chunks(&records, &plan, duration),
            (None, None) => None,
        };
        let mut analyzers = Vec::with_capacity(plan.analyzers.len());
        for analyzer in &plan.analyzers {
            let expected =
                self.estimate_analyzer(&**analyzer, &plan, existing, chunks, &history).await?;
            analyzers.push((analyzer.spec().id.to_owned(), expected));
        }
        let reuses_all = |expected: &CostEstimate| chunks.is_some_and(|n| expected.reused >= n);
        let changed = existing.is_none() || !analyzers.iter().all(|(_, e)| reuses_all(e));
        let unchanged = record.as_ref().filter(|_| !changed);
        let available = available(&plan, record.as_ref());
        let aggregators = self.estimate_aggregators(available, unchanged, chunks, &history);
        let costs = analyzers.iter().map(|(_, expected)| expected).chain(aggregators.values());
        let scan = history.estimate_scan(record.is_some(), duration);
        let mut total = costs.fold(scan, |total, expected| total.plus(expected));
        if changed {
            let seconds = history.aggregate_per_chunk.zip(chunks).map(|(s, n)| s * f64::from(n));
            total = total.plus(&CostEstimate { seconds, ..CostEstimate::zero() });
        }
        Ok(IngestPlan {
            video_id: record.map(|record| record.video_id),
            chunk_config: plan.chunking.config(),
            chunks,
            drops,
            analyzers: analyzers.into_iter().collect(),
            aggregators,
            total,
            history: history.videos,
        })
    }

    /// Computes the chunks that an existing video would have.
    async fn expected_spans(
        &self,
        record: Option<&VideoRecord>,
        plan: &IngestRequest,
    ) -> Result<Option<Vec<Span>>> {
        let Some(record) = record else { return Ok(None) };
        let signals = self.records.signals(record).await?;
        let end = signals.end.min(record.duration);
        plan.chunking.split(end, &signals, self.max_chunks).map(Some)
    }

    /// Finds the record of the video that `source` refers to, if it exists.
    async fn find_record(
        &self,
        access: &Access,
        source: &PlanSource,
    ) -> Result<Option<VideoRecord>> {
        match source {
            PlanSource::Video(id) => {
                self.records.check_visible(access, *id).await?;
                Ok(Some(self.records.get(*id).await?))
            }
            PlanSource::File => Ok(None),
            PlanSource::Url(url) => {
                check_url(url)?;
                match self.listing.find_by_source_url(access, &redact_secrets(url)).await? {
                    Some(id) => self.records.find_readable(id).await,
                    None => Ok(None),
                }
            }
        }
    }

    /// Estimates the cost of the aggregators whose dependencies are all available. Results stored
    /// in `unchanged` are reused.
    fn estimate_aggregators(
        &self,
        mut available: BTreeSet<String>,
        unchanged: Option<&VideoRecord>,
        chunks: Option<u32>,
        history: &History,
    ) -> BTreeMap<String, CostEstimate> {
        let mut aggregators = BTreeMap::new();
        for spec in self.aggregators.specs() {
            if !spec.depends_on.iter().all(|id| available.contains(*id)) {
                continue;
            }
            available.insert(spec.id.to_owned());
            let uses_model = spec.uses_llm && self.models.llm.is_billed();
            let stored = unchanged.is_some_and(|record| record.aggregates.contains_key(spec.id));
            let cost = chunks.zip(history.aggregators.get(spec.id));
            let expected = match (stored, uses_model, cost) {
                (true, ..) => CostEstimate { reused: 1, ..CostEstimate::zero() },
                (false, false, _) => CostEstimate::zero(),
                (false, true, Some((chunks, cost))) => CostEstimate {
                    seconds: Some(0.0),
                    ..CostEstimate::scaled(chunks, true, Some(cost))
                },
                (false, true, None) => {
                    CostEstimate { seconds: Some(0.0), ..CostEstimate::default() }
                }
            };
            aggregators.insert(spec.id.to_owned(), expected);
        }
        aggregators
    }

    /// Finds the analyzers whose output an ingest would drop from a video.
    async fn drops(
        &self,
        record: &VideoRecord,
        plan: &IngestRequest,
        spans: &[Span],
    ) -> Result<Vec<String>> {
        if record.chunking == plan.chunking && self.records.spans(record).await? == spans {
            return Ok(Vec::new());
        }
        let requested: BTreeSet<&str> = plan.analyzers.iter().map(|a| a.spec().id).collect();
        Ok(record
            .analyzer_ids()
            .into_iter()
            .filter(|id| !requested.contains(id.as_str()))
            .collect())
    }

    async fn estimate_analyzer(
        &self,
        analyzer: &dyn Analyzer,
        plan: &IngestRequest,
        existing: Option<(&VideoRecord, &[Span])>,
        chunks: Option<u32>,
        history: &History,
    ) -> Result<CostEstimate> {
        let id = analyzer.spec().id;
        let fingerprint = analyzer.fingerprint(&self.models);
        let uses_model = analyzer.bills_model(&self.models);
        let Some(chunks) = chunks else {
            let calls = if uses_model { None } else { Some(0) };
            let tokens = calls.map(u64::from);
            return Ok(CostEstimate {
                reused: 0,
                model_calls: calls,
                input_tokens: tokens,
                output_tokens: tokens,
                seconds: None,
            });
        };
        let mut reused = 0;
        if let Some((record, spans)) = existing {
            let stored = record.analyzers.get(id).is_some_and(|e| e.fingerprint == fingerprint);
            if stored
                && record.chunking == plan.chunking
                && self.records.spans(record).await? == spans
            {
                reused = chunks;
            } else if analyzer.cacheable(&self.models) {
                let words = self.expected_words(plan, record).await?;
                let kept = cache_key(analyzer, &self.models, words.as_deref());
                let keys: BTreeSet<CacheKey> = spans
                    .iter()
                    .map(|span| CacheKey::new(record.video_id, id, *span, &kept))
                    .collect();
                reused = self.model_cache.count(record.video_id, &keys).await?;
            }
        }
        let cost = history.analyzers.get(&(id.to_owned(), fingerprint));
        Ok(CostEstimate { reused, ..CostEstimate::scaled(chunks - reused, uses_model, cost) })
    }

    /// Finds the speech recogniser whose words the analyzers would use.
    async fn expected_words(
        &self,
        plan: &IngestRequest,
        record: &VideoRecord,
    ) -> Result<Option<String>> {
        let needs_speech =
            plan.chunking.uses_speech() || plan.analyzers.iter().any(|a| a.needs_speech());
        if let Some(transcriber) = self.models.transcriber.as_ref().filter(|_| needs_speech) {
            return Ok(Some(transcriber.model().to_owned()));
        }
        let Some(document) = &record.speech_document else { return Ok(None) };
        let speech = self.records.speech(document).await?;
        Ok(speech.words.map(|words| words.recogniser))
    }

    async fn history(&self, records: &[VideoRecord]) -> Result<History> {
        let mut history = History::default();
        let (mut scan_seconds, mut video_seconds) = (0.0, 0.0);
        let (mut aggregate_seconds, mut chunks) = (0.0, 0.0);
        for record in records {
            history.videos += 1;
            if record.took.scan_seconds > 0.0 {
                scan_seconds += record.took.scan_seconds;
                video_seconds += record.duration;
            }
            if record.took.aggregate_seconds > 0.0 {
                aggregate_seconds += record.took.aggregate_seconds;
                chunks += f64::from(record.chunks);
            }
            for (id, entry) in &record.analyzers {
                let key = (id.clone(), entry.fingerprint.clone());
                add(history.analyzers.entry(key).or_default(), &entry.cost);
            }
            if !self.models.llm.is_billed() {
                continue;
            }
            for spec in self.aggregators.specs().filter(|spec| spec.uses_llm) {
                if !record.aggregates.contains_key(spec.id) {
                    continue;
                }
                let result = match self.records.aggregate_result(record, spec.id).await {
                    Err(error) if error.is_corrupt() => continue,
                    result => result?,
                };
                let by_current_model = |usage: &&ModelUsage| usage.model == self.models.llm.model();
                if let Some(usage) = result.usage().filter(by_current_model) {
                    let cost = ProcessingCost {
                        chunks: record.chunks,
                        seconds: 0.0,
                        model_calls: usage.calls,
                        input_tokens: usage.input_tokens,
                        output_tokens: usage.output_tokens,
                    };
                    add(history.aggregators.entry(spec.id.to_owned()).or_default(), &cost);
                }
            }
        }
        history.scan_per_second = (video_seconds > 0.0).then(|| scan_seconds / video_seconds);
        history.aggregate_per_chunk = (chunks > 0.0).then(|| aggregate_seconds / chunks);
        Ok(history)
    }
}

/// Returns the analyzers that will have output after the ingest: the requested ones, and the ones
/// whose output is kept.
fn available(plan: &IngestRequest, record: Option<&VideoRecord>) -> BTreeSet<String> {
    let requested = plan.analyzers.iter().map(|analyzer| analyzer.spec().id.to_owned());
    let retained = record.filter(|record| record.chunking == plan.chunking);
    requested
        .chain(retained.into_iter().flat_map(|record| record.analyzers.keys().cloned()))
        .collect()
}

/// Estimates the number of chunks in a video, based on earlier videos with the same chunking.
fn estimate_chunks(records: &[VideoRecord], plan: &IngestRequest, duration: f64) -> Option<u32> {
    let same_chunking = || records.iter().filter(|record| record.chunking == plan.chunking);
    let seconds: f64 = same_chunking().map(|record| record.duration).sum();
    let chunks: f64 = same_chunking().map(|record| f64::from(record.chunks)).sum();
    (seconds > 0.0).then(|| (chunks * duration / seconds).round().max(1.0) as u32)
}

fn add(sum: &mut ProcessingCost, cost: &ProcessingCost) {
    sum.chunks += cost.chunks;
    sum.seconds += cost.seconds;
    sum.model_calls += cost.model_calls;
    sum.input_tokens += cost.input_tokens;
    sum.output_tokens += cost.output_tokens;
}
