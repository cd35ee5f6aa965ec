//! Search by meaning and by words, with an optional answer over the hits.

mod diagnostics;
mod mode;

use std::collections::HashMap;
use std::time::Duration;

use ports::index::VectorQuery;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::answer::{CitationForm, Evidence};
use super::audit::AuditedSentence;
use super::error::{Error, Result};
use super::library::listed;
use super::record::Span;
use super::{Shotlog, analyzers};
use diagnostics::Empty;

pub use diagnostics::Diagnostics;
pub use mode::{MODES, Mode};

/// How much of a hit comes back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// Ids, times, score and a snippet.
    Minimal,
    /// With the chunk's description, people, objects and speech.
    Standard,
    /// With the embedded text and nested records.
    Full,
}

/// A search.
#[derive(Debug, Clone, PartialEq)]
pub struct Query {
    /// What to look for.
    pub text: String,
    /// `vector`, `text` or `hybrid`.
    pub mode: String,
    /// `None` searches every video.
    pub video_ids: Option<Vec<String>>,
    /// Whose output is searched.
    pub analyzer: String,
    /// Vector field.
    pub field: String,
    /// 1..=50.
    pub limit: u32,
    /// Hits with a lower cosine are dropped, in every mode.
    pub score_threshold: Option<f32>,
    /// Whether to answer over the hits.
    pub synthesize: bool,
    /// `minimal`, `standard` or `full`.
    pub detail: String,
    /// As the client gave them.
    pub filters: Map<String, Value>,
}

/// A stretch of one speaker's speech.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Turn {
    /// Label within the video.
    pub speaker: String,
    /// Seconds.
    pub start: f64,
    /// Seconds.
    pub end: f64,
    /// What was said.
    pub text: String,
}

/// What is stored with a point and comes back with a hit.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct HitDocument {
    /// Seconds.
    pub start: f64,
    /// Seconds.
    pub end: f64,
    /// Prose.
    pub description: String,
    /// Descriptions of people.
    pub people: Vec<String>,
    /// Names of objects.
    pub objects: Vec<String>,
    /// What is done.
    pub actions: Vec<String>,
    /// Topics.
    pub tags: Vec<String>,
    /// Speaker labels.
    pub speakers: Vec<String>,
    /// From the people analyzer.
    pub people_count: Option<u32>,
    /// From diarization.
    pub turns: Vec<Turn>,
    /// The text that was embedded as `combined`.
    pub text: String,
    /// Records of the people analyzer.
    pub persons: Vec<Value>,
    /// Records of object detection.
    pub detections: Vec<Value>,
    /// Records of OCR.
    pub texts: Vec<Value>,
}

/// One hit.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchResult {
    /// Its video.
    pub video_id: String,
    /// Its chunk.
    pub chunk_id: u32,
    /// Human form of start and end.
    pub timecode: String,
    /// Cosine, 0..1.
    pub score: f32,
    /// BM25, when words were searched and found here.
    pub text_score: Option<f32>,
    /// Probability, measured against unrelated searches, that what was searched for is really here, 0..1.
    pub p_present: f32,
    /// First 180 characters of the text.
    pub snippet: String,
    /// Public storage URL of the video.
    pub video_url: String,
    /// Everything else.
    pub document: HitDocument,
}

/// The answer to a [`Query`].
#[derive(Debug, Clone, PartialEq)]
pub struct QueryResponse {
    /// The search text.
    pub query: String,
    /// Whose output was searched.
    pub analyzer: String,
    /// Vector field.
    pub field: String,
    /// How much of each hit the client asked for.
    pub detail: Detail,
    /// `None` when not asked for or nothing matched.
    pub answer: Option<String>,
    /// How far the cited moments bear out each sentence, those that were left out included.
    pub audit: Vec<AuditedSentence>,
    /// Best first.
    pub results: Vec<SearchResult>,
    /// Why there are no results; `None` when there are.
    pub diagnostics: Option<Diagnostics>,
}

/// The detail levels with what each returns.
pub const DETAIL_LEVELS: &[(&str, &str)] = &[
    ("minimal", "ids, times, score and a snippet of 180 characters"),
    (
        "standard",
        "minimal without the snippet, plus the video's URL, description, people, objects, \
      actions, tags, speakers, people_count and turns",
    ),
    ("full", "standard plus the embedded text and the persons, detections and texts records"),
];

/// How searches rank, and what their scores are measured against.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SearchSettings {
    /// The constant of reciprocal rank fusion, above 0.
    pub fusion_k: f64,
    /// Hits of each list that are merged, at least: what one ranks low the other may rank high.
    pub fusion_depth: usize,
    /// Weight of the list by meaning, above 0.
    pub vector_weight: f64,
    /// Weight of the list by words, above 0.
    pub text_weight: f64,
    /// Searches for unrelated things that scores are measured against.
    pub null_probes: usize,
    /// A null is measured again after this long: points may change without changing in number.
    pub null_age: Duration,
    /// Standard deviations above the median best score of absent things: the recommended threshold.
    /// On the questions of `examples/retrieval.json` anything from 1.9 to 4.4 lets through at least
    /// 27 of 30 things that are there and at most 2 of 30 that are not.
    pub threshold_deviations: f32,
}

impl Default for SearchSettings {
    fn default() -> Self {
        Self {
            fusion_k: 60.0,
            fusion_depth: 50,
            vector_weight: 1.0,
            text_weight: 1.0,
            null_probes: 64,
            null_age: Duration::from_secs(300),
            threshold_deviations: 3.0,
        }
    }
}

/// Characters of a snippet.
const SNIPPET: usize = 180;

impl Detail {
    fn parse(name: &str) -> Result<Self> {
        match name {
            "minimal" => Ok(Self::Minimal),
            "standard" => Ok(Self::Standard),
            "full" => Ok(Self::Full),
            other => {
                let names: Vec<_> = DETAIL_LEVELS.iter().map(|(name, _)| *name).collect();
                Err(Error::Invalid(format!(
                    "unknown detail level '{other}'; available: {}",
                    listed(&names)
                )))
            }
        }
    }
}

impl Shotlog {
    /// Searches. `Invalid` for an unknown analyzer, field, detail or filter key.
    pub async fn query(&self, query: Query) -> Result<QueryResponse> {
        let detail = Detail::parse(&query.detail)?;
        let analyzer = analyzers::find(&self.ports, &query.analyzer)?.spec().id;
        if !analyzers::VECTOR_FIELDS.iter().any(|(name, _)| *name == query.field) {
            let names: Vec<_> = analyzers::VECTOR_FIELDS.iter().map(|(name, _)| *name).collect();
            return Err(Error::Invalid(format!(
                "unknown field '{}'; available: {}",
                query.field,
                listed(&names)
            )));
        }
        let mode = Mode::parse(&query.mode)?;
        let filter = diagnostics::scope(analyzer, query.video_ids.as_deref(), &query.filters)?;
        let vector = self.embed(&query.text).await?;
        let search = VectorQuery {
            field: query.field.clone(),
            vector,
            filter,
            limit: query.limit as usize,
            threshold: query.score_threshold,
        };
        let results = self.search(mode, &query.text, search.clone()).await?;
        let diagnostics = if results.is_empty() {
            let empty = Empty {
                mode,
                text: &query.text,
                analyzer,
                video_ids: query.video_ids.as_deref(),
                filters: &query.filters,
                query: search,
            };
            Some(self.diagnose(empty).await?)
        } else {
            None
        };
        let answer = if query.synthesize && !results.is_empty() {
            let evidence: Vec<Evidence> =
                results.iter().flat_map(|hit| Evidence::of_hit(hit, &query.text)).collect();
            self.answer(&query.text, &self.context(&evidence), CitationForm::Seconds).await?
        } else {
            None
        };
        let (answer, audit) = answer.map_or((None, Vec::new()), |a| (Some(a.text), a.audit));
        Ok(QueryResponse {
            query: query.text,
            analyzer: query.analyzer,
            field: query.field,
            detail,
            answer,
            audit,
            results,
            diagnostics,
        })
    }

    /// The vector of a search text.
    pub(crate) async fn embed(&self, text: &str) -> Result<Vec<f32>> {
        let vectors = self.ports.embedder.embed(&[text.to_owned()]).await?;
        vectors.into_iter().next().ok_or_else(|| Error::corrupt("the embedder returned no vector"))
    }

    /// Hits of published videos, best first.
    pub(crate) async fn search(
        &self,
        mode: Mode,
        text: &str,
        query: VectorQuery,
    ) -> Result<Vec<SearchResult>> {
        let presence = self.presence(text, &query.field, &query.vector).await?;
        let hits = self.find(mode, text, query).await?;
        let mut urls: HashMap<String, Option<String>> = HashMap::new();
        let mut results = Vec::with_capacity(hits.len());
        for hit in hits {
            let video_id = hit.id.video_id;
            if !urls.contains_key(&video_id) {
                let record = self.library.find_readable(&video_id).await?;
                let url = match record {
                    Some(record) => Some(self.ports.storage.link(&record.storage_path).await?),
                    None => None,
                };
                urls.insert(video_id.clone(), url);
            }
            // A video that is being deleted may still have vectors for a moment.
            let Some(Some(video_url)) = urls.get(&video_id).cloned() else { continue };
            let document: HitDocument = serde_json::from_value(hit.document)
                .map_err(|e| Error::corrupt(format!("a hit of '{video_id}': {e}")))?;
            let span = Span { start: document.start, end: document.end };
            results.push(SearchResult {
                chunk_id: hit.id.chunk_id,
                timecode: span.timecode(),
                score: hit.score.clamp(0.0, 1.0),
                text_score: hit.text_score,
                p_present: presence.probability(hit.score, &document),
                snippet: document.text.chars().take(SNIPPET).collect(),
                video_id,
                video_url,
                document,
            });
        }
        Ok(results)
    }
}
