//! Compares the latency of searches through a running service with the latency of the same searches
//! sent directly to its Qdrant server over gRPC. The vector, filter, limit and documents are the
//! same.
//!
//! ```text
//! cargo run --release --example compare_qdrant -- config.toml http://127.0.0.1:8080 [--delete]
//! ```
//!
//! `--delete` removes the service's collections from the server afterwards.
//!
//! The configuration must be the one that the service uses. The service and the server are queried
//! alternately, and their median latencies are compared. The first comparison uses new texts. The
//! service also embeds these, and the time for that is measured separately. The second comparison
//! uses the same texts again, whose vectors the service has cached.

use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ports::embedder::Embedder;
use qdrant_client::Qdrant;
use qdrant_client::qdrant::{
    Condition, Filter, PayloadIncludeSelector, QueryPoints, QueryPointsBuilder, SearchParamsBuilder,
};
use serde_json::{Value, json};
use shotlog::config::{Config, ConfigSources};

/// The limit of each search.
const LIMIT: usize = 5;

/// Number of videos in a search that is restricted to some videos.
const VIDEOS: usize = 20;

/// Number of measured searches of each kind, each for a different text.
const SEARCHES: usize = 100;

/// Number of warm-up searches, which are not measured.
const COLD: usize = 5;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

#[tokio::main]
async fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [config, base, rest @ ..] = arguments.as_slice() else {
        return Err("usage: compare_qdrant CONFIG BASE [--delete]".into());
    };
    let variables = std::env::vars().collect();
    let config =
        Config::load(&ConfigSources { file: Some(config.into()), variables, flags: vec![] })?;
    let comparison = Comparison {
        base: base.trim_end_matches('/').to_owned(),
        http: reqwest::Client::new(),
        qdrant: Qdrant::from_url(&config.index.url).skip_compatibility_check().build()?,
        collection: config.index.collection.clone(),
        embedder: adapters::embedder::open(&config.embedder, &config.models, &config.llm)?,
    };
    let videos = comparison.videos().await?;
    let one_analyzer = || json!({"analyzer": "default_video", "mode": "vector"});
    let kinds = [
        ("one analyzer", one_analyzer(), true),
        ("one analyzer, some videos", with(one_analyzer(), "video_ids", json!(videos)), true),
        ("all analyzers, by meaning", json!({"analyzer": "*", "mode": "vector"}), true),
        ("all analyzers, hybrid", json!({"analyzer": "*"}), false),
        ("one analyzer, by words", with(one_analyzer(), "mode", json!("text")), false),
    ];
    for (kind, (name, query, bar)) in kinds.into_iter().enumerate() {
        let (searches, embedding) = comparison.embed_texts(kind).await?;
        let [service, server] = comparison.measure(&query, &searches).await?;
        let [cached_service, cached_server] = comparison.measure(&query, &searches).await?;
        println!(
            "{name:26} {service:6.2} ms, of which embedding {embedding:5.2};  the server {server:6.2} ms:  \
             {:.2} ×, {:.2} × without embedding",
            service / server,
            (service - embedding) / server,
        );
        println!(
            "{:26} {cached_service:6.2} ms for a cached text;          the server {cached_server:6.2} ms:  {:.2} ×{}",
            "",
            cached_service / cached_server,
            if bar { " (bar: 1.3)" } else { "" },
        );
    }
    if rest.first().is_some_and(|option| option == "--delete") {
        comparison.delete().await?;
    }
    Ok(())
}

struct Answer {
    took: Duration,
    /// The score of the best hit.
    best: f64,
}

struct Comparison {
    base: String,
    http: reqwest::Client,
    qdrant: Qdrant,
    collection: String,
    embedder: Arc<dyn Embedder>,
}

impl Comparison {
    /// Returns the ids of some videos in the library.
    async fn videos(&self) -> Result<Vec<String>> {
        let page = self.http.get(format!("{}/videos?limit={VIDEOS}", self.base)).send().await?;
        let page: Value = serde_json::from_slice(&page.error_for_status()?.bytes().await?)?;
        let ids = page["videos"].as_array().into_iter().flatten();
        Ok(ids.filter_map(|video| Some(video["video_id"].as_str()?.to_owned())).collect())
    }

    /// Deletes the collections that hold points and listing entries.
    async fn delete(&self) -> Result<()> {
        let own = format!("{}-", self.collection);
        for collection in self.qdrant.list_collections().await?.collections {
            if collection.name.starts_with(&own) {
                self.qdrant.delete_collection(collection.name).await?;
            }
        }
        Ok(())
    }

    /// Embeds the texts for one kind of search before the searches run, since inference would evict
    /// both sides' data from the processor's caches. Returns the texts, their vectors and the
    /// median time per text, in milliseconds.
    async fn embed_texts(&self, kind: usize) -> Result<(Vec<(String, Vec<f32>)>, f64)> {
        let (mut searches, mut times) = (Vec::new(), Vec::new());
        for search in 0..SEARCHES + COLD {
            let text = text(kind, search);
            let started = Instant::now();
            let vectors = self.embedder.embed(std::slice::from_ref(&text)).await?;
            times.push(started.elapsed().as_secs_f64() * 1e3);
            searches.extend(vectors.into_iter().map(|vector| (text.clone(), vector)));
        }
        Ok((searches, median(times)))
    }

    /// Measures the median response times of the service and of the server, in milliseconds.
    async fn measure(&self, query: &Value, searches: &[(String, Vec<f32>)]) -> Result<[f64; 2]> {
        let mut times = [const { Vec::new() }; 2];
        for (search, (text, vector)) in searches.iter().enumerate() {
            let parameters =
                [("text", json!(text)), ("synthesize", json!(false)), ("limit", json!(LIMIT))];
            let body = parameters
                .into_iter()
                .fold(query.clone(), |body, (key, value)| with(body, key, value));
            let direct = self.direct_query(query, vector.clone());
            // The order alternates because the second query finds the first one's data in the
            // processor's caches.
            let (from_service, from_server) = match search % 2 {
                0 => {
                    let from_service = self.service(&body).await?;
                    (from_service, self.server(direct).await?)
                }
                _ => {
                    let from_server = self.server(direct).await?;
                    (self.service(&body).await?, from_server)
                }
            };
            // The first searches run with cold caches.
            if search >= COLD {
                times[0].push(from_service.took.as_secs_f64() * 1e3);
                times[1].push(from_server.took.as_secs_f64() * 1e3);
            }
            let (from_service, from_server) = (from_service.best, from_server.best);
            let is_comparable = query["mode"] == "vector" && query["analyzer"] != "*";
            // Scores are compared, not ids: the order of equal scores is undefined.
            if is_comparable && (from_service - from_server).abs() > 1e-4 {
                return Err(format!(
                    "for {text:?} the service's best score is {from_service}, the server's {from_server}"
                )
                .into());
            }
        }
        Ok(times.map(median))
    }

    async fn service(&self, body: &Value) -> Result<Answer> {
        let request = self.http.post(format!("{}/query", self.base)).body(body.to_string());
        let request = request.header("content-type", "application/json");
        let started = Instant::now();
        let answer = request.send().await?.error_for_status()?.bytes().await?;
        let took = started.elapsed();
        let answer: Value = serde_json::from_slice(&answer)?;
        let best = answer["results"][0]["score"].as_f64().unwrap_or_default();
        Ok(Answer { took, best })
    }

    async fn server(&self, search: QueryPoints) -> Result<Answer> {
        let started = Instant::now();
        let points = self.qdrant.query(search).await?.result;
        let took = started.elapsed();
        Ok(Answer { took, best: points.first().map_or(0.0, |hit| f64::from(hit.score)) })
    }

    /// Builds the same search as a Qdrant query for the nearest vectors.
    fn direct_query(&self, query: &Value, vector: Vec<f32>) -> QueryPoints {
        let mut filter = Filter::default();
        if let Some(analyzer) = query["analyzer"].as_str().filter(|id| *id != "*") {
            filter.must.push(Condition::matches("analyzer_id", analyzer.to_owned()));
        }
        if let Some(ids) = query["video_ids"].as_array() {
            let ids: Vec<String> =
                ids.iter().filter_map(|id| Some(id.as_str()?.to_owned())).collect();
            filter.must.push(Condition::matches("video_id", ids));
        }
        let fields = ["document", "video_id", "chunk_id", "analyzer_id"].map(str::to_owned);
        QueryPointsBuilder::new(&self.collection)
            .using("combined")
            .query(vector)
            .filter(filter)
            .limit(LIMIT as u64)
            .params(SearchParamsBuilder::default().exact(true))
            .with_payload(PayloadIncludeSelector { fields: fields.into() })
            .into()
    }
}

/// Returns a text that no other search uses.
fn text(kind: usize, search: usize) -> String {
    let subjects =
        ["a harbour", "a kitchen", "a train", "an old car", "two people", "a market", "soup"];
    let places =
        ["at sunrise", "in the rain", "beside the sea", "on a table", "that somebody paints"];
    let (subject, place) =
        (subjects[search % subjects.len()], places[search / subjects.len() % places.len()]);
    format!("{subject} {place} {kind} {search}")
}

fn with(mut body: Value, key: &str, value: Value) -> Value {
    body[key] = value;
    body
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
