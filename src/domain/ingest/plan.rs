//! What an ingest would take, before it is started: chunks, model calls, tokens and time, as this
//! install has needed them so far. Decodes nothing and asks no model.

use std::collections::{BTreeMap, BTreeSet};

use crate::domain::aggregation::result::ModelUsage;
use crate::domain::analysis::{Analyzer, kept_as};
use crate::domain::catalog::CacheKey;
use crate::domain::catalog::record::{Cost, VideoRecord};
use crate::domain::ingest::Ingest;
use crate::domain::ingest::{IngestFields, IngestRequest};
use crate::domain::kernel::access::Access;
use crate::domain::kernel::error::{Error, Result};
use crate::domain::kernel::time::Span;
use crate::domain::kernel::urls::{check_url, without_secrets};
use crate::domain::kernel::video::VideoId;

/// How many of the newest videos estimates are drawn from.
const HISTORY: usize = 50;

/// What the ingest would be of.
#[derive(Debug, Clone, PartialEq)]
pub enum Subject {
    /// A video that is there.
    Video(VideoId),
    /// An address, whose video is there if it was ingested from it.
    Url(String),
    /// A file that is to be sent.
    File,
}

/// What an ingest would take. `None` is what this install cannot know yet.
#[derive(Debug, Clone, PartialEq)]
pub struct IngestPlan {
    /// The video, if it is there.
    pub video_id: Option<VideoId>,
    /// How it would be split.
    pub chunk_config: String,
    /// Number of chunks.
    pub chunks: Option<u32>,
    /// Analyzers whose output would be gone: they ran on the chunks of now, and are not asked for.
    pub drops: Vec<String>,
    /// By analyzer id.
    pub analyzers: BTreeMap<String, Expected>,
    /// By aggregator id, those that have what they depend on.
    pub aggregators: BTreeMap<String, Expected>,
    /// All of them, and time for decoding beside.
    pub total: Expected,
    /// Videos that the estimates are drawn from.
    pub history: u32,
}

/// What a step would take.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Expected {
    /// Chunks, or for an aggregator videos, whose stored result is used.
    pub reused: u32,
    /// Calls of the language model, if they are billed.
    pub model_calls: Option<u32>,
    /// Tokens these read.
    pub input_tokens: Option<u64>,
    /// Tokens these write.
    pub output_tokens: Option<u64>,
    /// How long it took, seconds.
    pub seconds: Option<f64>,
}

/// Means over earlier videos.
#[derive(Default)]
struct History {
    videos: u32,
    /// Seconds of decoding and listening per second of video.
    scan_per_second: Option<f64>,
    /// Seconds of aggregating per chunk.
    aggregate_per_chunk: Option<f64>,
    /// What an analyzer took, by its fingerprint.
    analyzers: BTreeMap<(String, String), Cost>,
    /// What the language model took over so many chunks, by aggregator.
    aggregators: BTreeMap<String, Cost>,
}

impl History {
    /// What decoding takes: nothing for a video that is there.
    fn expect_scan(&self, is_there: bool, duration: Option<f64>) -> Expected {
        let seconds = match is_there {
            true => Some(0.0),
            false => self.scan_per_second.zip(duration).map(|(rate, duration)| rate * duration),
        };
        Expected { seconds, ..Expected::nothing() }
    }
}

impl Expected {
    fn nothing() -> Self {
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

    /// What so many chunks take, going by `cost`; without it a call for each is all that is known.
    fn of(chunks: u32, asks: bool, cost: Option<&Cost>) -> Self {
        if chunks == 0 {
            return Self::nothing();
        }
        let share = cost.filter(|cost| cost.chunks > 0);
        let scaled =
            |part: f64| share.map(|cost| part * f64::from(chunks) / f64::from(cost.chunks));
        let seconds = share.and_then(|cost| scaled(cost.seconds));
        if !asks {
            return Self { seconds, ..Self::nothing() };
        }
        let calls = share.and_then(|cost| scaled(f64::from(cost.model_calls)));
        Self {
            reused: 0,
            model_calls: Some(calls.map_or(chunks, |calls| calls.ceil() as u32)),
            input_tokens: share
                .and_then(|c| scaled(c.input_tokens as f64))
                .map(|n| n.ceil() as u64),
            output_tokens: share
                .and_then(|c| scaled(c.output_tokens as f64))
                .map(|n| n.ceil() as u64),
            seconds,
        }
    }
}

impl Ingest {
    /// What an ingest with these fields would take, as far as the videos that a caller sees tell.
    /// `duration` is the video's, in seconds, where the client knows it.
    pub async fn plan(
        &self,
        access: &Access,
        subject: &Subject,
        duration: Option<f64>,
        fields: &IngestFields,
    ) -> Result<IngestPlan> {
        let plan = self.request(fields).await?;
        if duration.is_some_and(|d| !(d.is_finite() && d > 0.0)) {
            return Err(Error::Unprocessable(
                "duration must be a number of seconds, more than 0".into(),
            ));
        }
        let newest = self.catalog.newest(access, HISTORY).await?;
        let newest: Vec<VideoId> = newest.into_iter().map(|video| video.video_id).collect();
        let records = self.catalog.records(&newest).await?;
        let record = self.record_of(access, subject).await?;
        let history = self.history(&records).await?;
        let spans = match &record {
            Some(record) => {
                let signals = self.catalog.signals(record).await?;
                let most = self.settings.ingest.max_chunks;
                Some(plan.chunking.split(signals.end.min(record.duration), &signals, most)?)
            }
            None => None,
        };
        let known = record.as_ref().zip(spans.as_deref());
        let drops = match known {
            Some((record, spans)) => self.drops(record, &plan, spans).await?,
            None => Vec::new(),
        };
        let duration = record.as_ref().map(|record| record.duration).or(duration);
        let chunks = match (&spans, duration) {
            (Some(spans), _) => Some(spans.len() as u32),
            (None, Some(duration)) => expected_chunks(&records, &plan, duration),
            (None, None) => None,
        };
        let mut total = history.expect_scan(record.is_some(), duration);
        let mut analyzers = BTreeMap::new();
        let mut changed = known.is_none();
        for analyzer in &plan.analyzers {
            let expected =
                self.expect_analyzer(&**analyzer, &plan, known, chunks, &history).await?;
            changed |= chunks.is_none_or(|chunks| expected.reused < chunks);
            total = total.plus(&expected);
            analyzers.insert(analyzer.spec().id.to_owned(), expected);
        }
        let kept = record.as_ref().filter(|_| !changed);
        let available = available(&plan, record.as_ref());
        let aggregators = self.expect_aggregators(available, kept, chunks, &history);
        total = aggregators.values().fold(total, |total, expected| total.plus(expected));
        if changed {
            let seconds = history.aggregate_per_chunk.zip(chunks).map(|(s, n)| s * f64::from(n));
            total = total.plus(&Expected { seconds, ..Expected::nothing() });
        }
        Ok(IngestPlan {
            video_id: record.map(|record| record.video_id),
            chunk_config: plan.chunking.config(),
            chunks,
            drops,
            analyzers,
            aggregators,
            total,
            history: history.videos,
        })
    }

    /// The record of what would be ingested, if it is there.
    async fn record_of(&self, access: &Access, subject: &Subject) -> Result<Option<VideoRecord>> {
        match subject {
            Subject::Video(id) => {
                self.catalog.check_seen(access, *id).await?;
                Ok(Some(self.catalog.record(*id).await?))
            }
            Subject::File => Ok(None),
            Subject::Url(url) => {
                check_url(url)?;
                match self.catalog.ingested_from(access, &without_secrets(url)).await? {
                    Some(id) => self.catalog.find_readable(id).await,
                    None => Ok(None),
                }
            }
        }
    }

    /// What the aggregators take that have what they depend on; those that `kept` has are reused.
    fn expect_aggregators(
        &self,
        mut available: BTreeSet<String>,
        kept: Option<&VideoRecord>,
        chunks: Option<u32>,
        history: &History,
    ) -> BTreeMap<String, Expected> {
        let mut aggregators = BTreeMap::new();
        for spec in self.catalog.aggregators.specs() {
            if !spec.depends_on.iter().all(|id| available.contains(*id)) {
                continue;
            }
            available.insert(spec.id.to_owned());
            let asks = spec.uses_llm && self.models.llm.is_billed();
            let stored = kept.is_some_and(|record| record.aggregates.contains_key(spec.id));
            let cost = chunks.zip(history.aggregators.get(spec.id));
            let expected = match (stored, asks, cost) {
                (true, ..) => Expected { reused: 1, ..Expected::nothing() },
                (false, false, _) => Expected::nothing(),
                (false, true, Some((chunks, cost))) => {
                    Expected { seconds: Some(0.0), ..Expected::of(chunks, true, Some(cost)) }
                }
                (false, true, None) => Expected { seconds: Some(0.0), ..Expected::default() },
            };
            aggregators.insert(spec.id.to_owned(), expected);
        }
        aggregators
    }

    /// The analyzers of a video whose output an ingest would not keep.
    async fn drops(
        &self,
        record: &VideoRecord,
        plan: &IngestRequest,
        spans: &[Span],
    ) -> Result<Vec<String>> {
        if record.chunking == plan.chunking && self.catalog.spans(record).await? == spans {
            return Ok(Vec::new());
        }
        let asked: BTreeSet<&str> = plan.analyzers.iter().map(|a| a.spec().id).collect();
        Ok(record.analyzer_ids().into_iter().filter(|id| !asked.contains(id.as_str())).collect())
    }

    async fn expect_analyzer(
        &self,
        analyzer: &dyn Analyzer,
        plan: &IngestRequest,
        known: Option<(&VideoRecord, &[Span])>,
        chunks: Option<u32>,
        history: &History,
    ) -> Result<Expected> {
        let id = analyzer.spec().id;
        let fingerprint = analyzer.fingerprint(&self.models);
        let asks = analyzer.bills_model(&self.models);
        let Some(chunks) = chunks else {
            let calls = if asks { None } else { Some(0) };
            let tokens = calls.map(u64::from);
            return Ok(Expected {
                reused: 0,
                model_calls: calls,
                input_tokens: tokens,
                output_tokens: tokens,
                seconds: None,
            });
        };
        let mut reused = 0;
        if let Some((record, spans)) = known {
            let stored = record.analyzers.get(id).is_some_and(|e| e.fingerprint == fingerprint);
            if stored
                && record.chunking == plan.chunking
                && self.catalog.spans(record).await? == spans
            {
                reused = chunks;
            } else if analyzer.cacheable(&self.models) {
                let words = self.expected_words(plan, record).await?;
                let kept = kept_as(analyzer, &self.models, words.as_deref());
                let keys: BTreeSet<CacheKey> = spans
                    .iter()
                    .map(|span| CacheKey::new(record.video_id, id, *span, &kept))
                    .collect();
                reused = self.catalog.count_cached(record.video_id, &keys).await?;
            }
        }
        let cost = history.analyzers.get(&(id.to_owned(), fingerprint));
        Ok(Expected { reused, ..Expected::of(chunks - reused, asks, cost) })
    }

    /// The recogniser of the words that analyzers would find known.
    async fn expected_words(
        &self,
        plan: &IngestRequest,
        record: &VideoRecord,
    ) -> Result<Option<String>> {
        let listens = plan.chunking.listens() || plan.analyzers.iter().any(|a| a.needs_speech());
        if let Some(transcriber) = self.models.transcriber.as_ref().filter(|_| listens) {
            return Ok(Some(transcriber.model().to_owned()));
        }
        let Some(document) = &record.speech_document else { return Ok(None) };
        let speech = self.catalog.speech(document).await?;
        Ok(speech.words.map(|words| words.recogniser))
    }

    async fn history(&self, records: &[VideoRecord]) -> Result<History> {
        let mut history = History::default();
        let (mut scanned, mut watched) = (0.0, 0.0);
        let (mut aggregated, mut chunks) = (0.0, 0.0);
        for record in records {
            history.videos += 1;
            if record.took.scan_seconds > 0.0 {
                scanned += record.took.scan_seconds;
                watched += record.duration;
            }
            if record.took.aggregate_seconds > 0.0 {
                aggregated += record.took.aggregate_seconds;
                chunks += f64::from(record.chunks);
            }
            for (id, entry) in &record.analyzers {
                let key = (id.clone(), entry.fingerprint.clone());
                add(history.analyzers.entry(key).or_default(), &entry.cost);
            }
            if !self.models.llm.is_billed() {
                continue;
            }
            for spec in self.catalog.aggregators.specs().filter(|spec| spec.uses_llm) {
                if !record.aggregates.contains_key(spec.id) {
                    continue;
                }
                let result = match self.catalog.aggregate_result(record, spec.id).await {
                    Err(error) if error.is_corrupt() => continue,
                    result => result?,
                };
                let by_present = |usage: &&ModelUsage| usage.model == self.models.llm.model();
                if let Some(usage) = result.usage().filter(by_present) {
                    let cost = Cost {
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
        history.scan_per_second = (watched > 0.0).then(|| scanned / watched);
        history.aggregate_per_chunk = (chunks > 0.0).then(|| aggregated / chunks);
        Ok(history)
    }
}

/// The analyzers whose output there would be: those that are asked for, and those that stay.
fn available(plan: &IngestRequest, record: Option<&VideoRecord>) -> BTreeSet<String> {
    let asked = plan.analyzers.iter().map(|analyzer| analyzer.spec().id.to_owned());
    let stays = record.filter(|record| record.chunking == plan.chunking);
    asked.chain(stays.into_iter().flat_map(|record| record.analyzers.keys().cloned())).collect()
}

/// How many chunks a video of that length would have, going by those that were split alike.
fn expected_chunks(records: &[VideoRecord], plan: &IngestRequest, duration: f64) -> Option<u32> {
    let alike = || records.iter().filter(|record| record.chunking == plan.chunking);
    let seconds: f64 = alike().map(|record| record.duration).sum();
    let chunks: f64 = alike().map(|record| f64::from(record.chunks)).sum();
    (seconds > 0.0).then(|| (chunks * duration / seconds).round().max(1.0) as u32)
}

fn add(sum: &mut Cost, cost: &Cost) {
    sum.chunks += cost.chunks;
    sum.seconds += cost.seconds;
    sum.model_calls += cost.model_calls;
    sum.input_tokens += cost.input_tokens;
    sum.output_tokens += cost.output_tokens;
}
