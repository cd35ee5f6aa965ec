//! Generates a library of many videos from the records of a few, for benchmarks. Each generated
//! video is given a random selection of the original chunk outputs, with different times, names and
//! vectors. Its speech is that of an original, after a word that no other video has: `take<number>`.
//! The library is written to the stores that a configuration names. The adapters are the same as
//! those of a service that is later started with that configuration. Nothing is decoded, and no
//! video has a file.
//!
//! ```text
//! cargo run --release --example library -- config.toml FROM_DATA_DIR 10000 [CHUNKS] [ANALYZER,…]
//! ```
//!
//! `FROM_DATA_DIR` is the `data_dir` of a stopped service that has ingested videos.

use std::collections::HashMap;
use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use adapters::index::{DamagePolicy, IndexSpec};
use adapters::records::FolderRecords;
use async_trait::async_trait;
use domain::analysis::video::Outputs;
use domain::analysis::{Analyzers, VECTOR_FIELDS};
use domain::chunking::Signals;
use domain::indexing::{VectorModels, points};
use domain::kernel::time::Span;
use domain::kernel::video::VideoId;
use domain::media::speech::Speech;
use domain::records::output_pages::{OutputPages, PAGE_CHUNKS};
use domain::records::record::{AnalyzerEntry, VideoRecord};
use fastrand::Rng;
use futures::{StreamExt, TryStreamExt, stream};
use parking_lot::Mutex;
use ports::embedder::Embedder;
use ports::index::Point;
use ports::records::RecordStore;
use ports::transcriber::Word;
use serde_json::{Value, json};
use sha1::{Digest, Sha1};
use shotlog::config::{Config, ConfigSources};

/// Number of videos whose points are written in one batch.
const BATCH: usize = 500;

/// Number of concurrent document writes.
const WRITES: usize = 64;

/// How far a vector is moved from its text's vector. Copies of a text become neighbours, but no two
/// copies are equal.
const JITTER: f32 = 0.35;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

#[tokio::main]
async fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let usage = "usage: library CONFIG FROM_DATA_DIR VIDEOS [CHUNKS] [ANALYZER,…]";
    let [config, from, videos, rest @ ..] = arguments.as_slice() else { return Err(usage.into()) };
    let videos: usize = videos.parse()?;
    let chunks: usize = rest.first().map_or(Ok(5), |chunks| chunks.parse())?;
    let analyzers = rest.get(1).map_or("default_video,transcript", String::as_str);

    let originals = Originals::read(Path::new(from), analyzers).await?;
    let variables = std::env::vars().collect();
    let config =
        Config::load(&ConfigSources { file: Some(config.into()), variables, flags: vec![] })?;
    let data_dir = &config.domain.data_dir;
    let records = adapters::records::open(&config.records, &config.storage, data_dir)?;
    let inner = adapters::embedder::open(&config.embedder, &config.models, &config.llm)?;
    let embedder =
        JitteredEmbedder { inner, cache: Mutex::default(), rng: Mutex::new(Rng::with_seed(1)) };
    let fields = VECTOR_FIELDS.iter().map(|(field, _)| (*field).to_owned()).collect();
    let contents = IndexSpec { data_dir, embedder: &embedder, fields, pictures: None };
    let opened = adapters::index::open(&config.index, contents, DamagePolicy::Refuse).await?;
    for start in (0..videos).step_by(BATCH) {
        let batch = start..videos.min(start + BATCH);
        let (mut documents, mut all) = (Vec::new(), Vec::new());
        for i in batch.clone() {
            let (video, points) = originals.build_video(&embedder, i, chunks).await?;
            documents.extend(video);
            all.extend(points);
        }
        opened.index.replace(None, all).await?;
        let writes = documents.iter().map(|(key, document)| records.put(key, document));
        stream::iter(writes).buffer_unordered(WRITES).try_collect::<()>().await?;
        eprintln!("{} videos", batch.end);
    }
    let keys = json!({"camera": "string", "take": "number"});
    records.put("metadata/keys.json", &keys).await?;
    Ok(())
}

/// The records and outputs that videos are generated from.
struct Originals {
    records: Vec<VideoRecord>,
    /// Id and JSON of each aggregate, by record.
    aggregates: Vec<Vec<(String, Value)>>,
    /// The speech of each record, if it has any.
    speeches: Vec<Option<Speech>>,
    /// Outputs of single chunks, by analyzer.
    outputs: Vec<(String, Vec<Value>)>,
    analyzers: Analyzers,
}

impl Originals {
    async fn read(data_dir: &Path, analyzers: &str) -> Result<Self> {
        let store = FolderRecords::open(&data_dir.join("records"))?;
        let document = async |key: &str| {
            store.get(key).await?.ok_or_else(|| Box::<dyn Error>::from(format!("no {key}")))
        };
        let selected: Vec<&str> = analyzers.split(',').collect();
        let mut outputs: Vec<(String, Vec<Value>)> =
            selected.iter().map(|id| ((*id).to_owned(), Vec::new())).collect();
        let (mut records, mut aggregates, mut speeches) = (Vec::new(), Vec::new(), Vec::new());
        for id in store.children("videos/").await? {
            let record = document(&format!("videos/{id}/video.json")).await?;
            let Ok(record) = serde_json::from_value::<VideoRecord>(record) else { continue };
            for (analyzer, collected) in &mut outputs {
                let Some(entry) = record.analyzers.get(analyzer) else { continue };
                for page in entry.pages.keys(record.chunks) {
                    let Value::Array(chunk_outputs) = document(&page).await? else { continue };
                    collected.extend(chunk_outputs.into_iter().filter(|output| !output.is_null()));
                }
            }
            let mut results = Vec::new();
            for (id, key) in &record.aggregates {
                results.push((id.clone(), document(key).await?));
            }
            speeches.push(match &record.speech_document {
                Some(key) => Some(serde_json::from_value(document(key).await?)?),
                None => None,
            });
            records.push(record);
            aggregates.push(results);
        }
        outputs.retain(|(_, collected)| !collected.is_empty());
        if records.is_empty() || outputs.is_empty() {
            let folder = data_dir.display();
            return Err(format!("{folder} has no video with output of {analyzers}").into());
        }
        Ok(Self { records, aggregates, speeches, outputs, analyzers: Analyzers::default() })
    }

    /// Builds the documents and points of the `i`-th video.
    async fn build_video(
        &self,
        embedder: &dyn Embedder,
        i: usize,
        chunks: usize,
    ) -> Result<(Vec<(String, Value)>, Vec<Point>)> {
        let original = i % self.records.len();
        let mut record = self.records[original].clone();
        let digest = Sha1::digest(format!("{i} {}", record.video_id).as_bytes());
        let id = VideoId::from_digest(digest.into());
        let mut rng = Rng::with_seed(i as u64);
        let key = |name: &str| format!("videos/{id}/{name}-{i}.json");
        let mut documents = Vec::new();

        let length = record.duration / chunks as f64;
        let span = |n: usize| Span { start: length * n as f64, end: length * (n + 1) as f64 };
        let spans: Vec<Span> = (0..chunks).map(span).collect();
        record.chunks = chunks as u32;
        record.chunks_document = key("chunks");
        documents.push((record.chunks_document.clone(), serde_json::to_value(&spans)?));
        record.signals_document = key("signals");
        let signals = Signals { end: record.duration, ..Signals::default() };
        documents.push((record.signals_document.clone(), serde_json::to_value(&signals)?));
        record.speech_document = self.speeches[original].as_ref().map(|_| key("speech"));
        if let Some(speech) = &self.speeches[original] {
            documents.push((key("speech"), serde_json::to_value(numbered(speech, i))?));
        }

        let config = record.chunking.config();
        let (entries, mut all) = (std::mem::take(&mut record.analyzers), Vec::new());
        for (analyzer_id, originals) in &self.outputs {
            let Some(analyzer) = self.analyzers.get(analyzer_id) else { continue };
            let stored: Vec<Value> =
                spans.iter().map(|_| originals[rng.usize(..originals.len())].clone()).collect();
            let outputs: Outputs = stored
                .iter()
                .map(|output| self.analyzers.read(analyzer_id, output.clone()).map(Some))
                .collect::<std::result::Result<_, _>>()?;
            let revision = format!("{analyzer_id}-{i}");
            let models = VectorModels { embedder, image_model: None };
            let analyzer_points =
                points(models, id, &config, &revision, &spans, &*analyzer, &outputs).await?;
            let original_fingerprint =
                entries.get(analyzer_id).map(|entry| entry.fingerprint.clone());
            let entry = AnalyzerEntry {
                pages: OutputPages::new(id, analyzer_id),
                uncorrected: None,
                fingerprint: original_fingerprint.unwrap_or_default(),
                found: chunks as u32,
                points: analyzer_points.len() as u64,
                revision,
                embedder: embedder.model().to_owned(),
                cost: Default::default(),
            };
            let pages = stored.chunks(PAGE_CHUNKS as usize);
            let keys = entry.pages.keys(record.chunks);
            documents.extend(keys.zip(pages.map(|page| Value::Array(page.to_vec()))));
            record.analyzers.insert(analyzer_id.clone(), entry);
            all.extend(analyzer_points);
        }
        record.aggregates.clear();
        for (id, result) in &self.aggregates[original] {
            documents.push((key(id), result.clone()));
            record.aggregates.insert(id.clone(), key(id));
        }
        record.filename = format!("take-{i}-{}", record.filename);
        record.storage_path = format!("{id}/{}", record.filename);
        record.poster_path = None;
        record.created_at = created_at(i);
        let metadata = json!({"metadata": {"camera": format!("c{}", i % CAMERAS), "take": i}});
        record.metadata = serde_json::from_value(metadata)?;
        record.video_id = id;
        documents.push((format!("videos/{id}/video.json"), serde_json::to_value(&record)?));
        Ok((documents, all))
    }
}

/// The same speech after the word `take<number>`.
fn numbered(speech: &Speech, number: usize) -> Speech {
    let mut speech = speech.clone();
    if let Some(words) = &mut speech.words {
        let text = format!("take{number}");
        words.words.insert(0, Word { text, start: 0.0, end: 0.1, confidence: 1.0 });
    }
    speech
}

/// Number of cameras; the videos are spread over them evenly.
const CAMERAS: usize = 10;

/// Creation time of the `i`-th video. Each video is a minute older than the previous one.
fn created_at(i: usize) -> String {
    let newest: jiff::Timestamp = jiff::Timestamp::constant(1_790_000_000, 0);
    let then = newest - jiff::SignedDuration::from_mins(i as i64);
    then.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// Caches the vectors of another embedder and jitters them on each call.
struct JitteredEmbedder {
    inner: Arc<dyn Embedder>,
    cache: Mutex<HashMap<String, Vec<f32>>>,
    rng: Mutex<Rng>,
}

#[async_trait]
impl Embedder for JitteredEmbedder {
    fn model(&self) -> &str {
        self.inner.model()
    }

    fn dimension(&self) -> usize {
        self.inner.dimension()
    }

    async fn embed(&self, texts: &[String]) -> ports::Result<Vec<Vec<f32>>> {
        let cache = || self.cache.lock();
        let uncached: Vec<String> =
            texts.iter().filter(|text| !cache().contains_key(*text)).cloned().collect();
        if !uncached.is_empty() {
            let vectors = self.inner.embed(&uncached).await?;
            cache().extend(uncached.into_iter().zip(vectors));
        }
        let mut rng = self.rng.lock();
        let mut jittered: HashMap<&String, Vec<f32>> = HashMap::new();
        for text in texts {
            if !jittered.contains_key(text) {
                let vector = cache().get(text).cloned().unwrap_or_default();
                jittered.insert(text, jitter(vector, &mut rng));
            }
        }
        Ok(texts.iter().filter_map(|text| jittered.get(text).cloned()).collect())
    }

    async fn count_tokens(&self, texts: &[String]) -> ports::Result<Vec<usize>> {
        self.inner.count_tokens(texts).await
    }

    async fn probe(&self) -> ports::Result<()> {
        self.inner.probe().await
    }
}

/// Moves a vector by a random step and normalises it.
fn jitter(mut vector: Vec<f32>, rng: &mut Rng) -> Vec<f32> {
    let step = JITTER * (12.0 / vector.len().max(1) as f32).sqrt();
    for x in &mut vector {
        *x += step * (rng.f32() - 0.5);
    }
    let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt().max(f32::MIN_POSITIVE);
    vector.iter_mut().for_each(|x| *x /= length);
    vector
}
