//! Measures searches through a running service whose index is a Qdrant server, beside the same searches
//! put to that server: the same vector, filter, limit and documents, over gRPC.
//!
//! ```text
//! cargo run --release --example beside_qdrant -- config.toml http://127.0.0.1:8080 [--delete]
//! ```
//!
//! `--delete` removes the service's collections from the server afterwards.
//!
//! The configuration is that of the service. Both sides are asked in turn, and medians are compared: first
//! for texts that nobody has searched for, which the service also embeds (that is measured by itself), then
//! for the same texts again, whose vectors it knows.

use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ports::embedder::Embedder;
use qdrant_client::Qdrant;
use qdrant_client::qdrant::{
    Condition, Filter, PayloadIncludeSelector, QueryPoints, QueryPointsBuilder, SearchParamsBuilder,
};
use serde_json::{Value, json};
use shotlog::config::{Config, Sources};

/// Hits that are asked for.
const LIMIT: usize = 5;

/// Videos of a search that names some.
const VIDEOS: usize = 20;

/// Searches of each kind, each for another text.
const SEARCHES: usize = 100;

/// Searches before those that are measured.
const COLD: usize = 5;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

#[tokio::main]
async fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [config, base, rest @ ..] = arguments.as_slice() else {
        return Err("usage: beside_qdrant CONFIG BASE [--delete]".into());
    };
    let variables = std::env::vars().collect();
    let config = Config::load(&Sources { file: Some(config.into()), variables, flags: vec![] })?;
    let sides = Sides {
        base: base.trim_end_matches('/').to_owned(),
        http: reqwest::Client::new(),
        qdrant: Qdrant::from_url(&config.index.url).skip_compatibility_check().build()?,
        collection: config.index.collection.clone(),
        embedder: adapters::embedder::open(&config.embedder, &config.models, &config.llm)?,
    };
    let videos = sides.videos().await?;
    let one = || json!({"analyzer": "default_video", "mode": "vector"});
    let kinds = [
        ("one analyzer", one(), true),
        ("one analyzer, some videos", with(one(), "video_ids", json!(videos)), true),
        ("all analyzers, by meaning", json!({"analyzer": "*", "mode": "vector"}), true),
        ("all analyzers, hybrid", json!({"analyzer": "*"}), false),
        ("one analyzer, by words", with(one(), "mode", json!("text")), false),
    ];
    for (kind, (name, query, bar)) in kinds.into_iter().enumerate() {
        let (searches, embedding) = sides.embedded(kind).await?;
        let [service, server] = sides.measured(&query, &searches).await?;
        let [again, directly] = sides.measured(&query, &searches).await?;
        println!(
            "{name:26} {service:6.2} ms, of which embedding {embedding:5.2};  the server {server:6.2} ms:  \
             {:.2} ×, {:.2} × without embedding",
            service / server,
            (service - embedding) / server,
        );
        println!(
            "{:26} {again:6.2} ms for a text that is known;   the server {directly:6.2} ms:  {:.2} ×{}",
            "",
            again / directly,
            if bar { " (bar: 1.3)" } else { "" },
        );
    }
    if rest.first().is_some_and(|option| option == "--delete") {
        sides.delete().await?;
    }
    Ok(())
}

struct Answer {
    took: Duration,
    /// The score of the best hit.
    best: f64,
}

struct Sides {
    base: String,
    http: reqwest::Client,
    qdrant: Qdrant,
    collection: String,
    embedder: Arc<dyn Embedder>,
}

impl Sides {
    /// Some videos of the library.
    async fn videos(&self) -> Result<Vec<String>> {
        let page = self.http.get(format!("{}/videos?limit={VIDEOS}", self.base)).send().await?;
        let page: Value = serde_json::from_slice(&page.error_for_status()?.bytes().await?)?;
        let ids = page["videos"].as_array().into_iter().flatten();
        Ok(ids.filter_map(|video| Some(video["video_id"].as_str()?.to_owned())).collect())
    }

    /// Removes the points, and what is listed beside them.
    async fn delete(&self) -> Result<()> {
        let own = format!("{}-", self.collection);
        for collection in self.qdrant.list_collections().await?.collections {
            if collection.name.starts_with(&own) {
                self.qdrant.delete_collection(collection.name).await?;
            }
        }
        Ok(())
    }

    /// Texts of one kind of search, embedded before anything is searched (a network takes the processor's
    /// caches from both sides), and the median of what one took, milliseconds.
    async fn embedded(&self, kind: usize) -> Result<(Vec<(String, Vec<f32>)>, f64)> {
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

    /// Medians of the service's answer and of the server's, milliseconds.
    async fn measured(&self, query: &Value, searches: &[(String, Vec<f32>)]) -> Result<[f64; 2]> {
        let mut times = [const { Vec::new() }; 2];
        for (search, (text, vector)) in searches.iter().enumerate() {
            let asked =
                [("text", json!(text)), ("synthesize", json!(false)), ("limit", json!(LIMIT))];
            let body =
                asked.into_iter().fold(query.clone(), |body, (key, value)| with(body, key, value));
            let direct = self.direct(query, vector.clone());
            // Whoever comes second finds in the processor's caches what the first has read.
            let (of_service, of_server) = match search % 2 {
                0 => {
                    let of_service = self.service(&body).await?;
                    (of_service, self.server(direct).await?)
                }
                _ => {
                    let of_server = self.server(direct).await?;
                    (self.service(&body).await?, of_server)
                }
            };
            // The first ones find everything cold.
            if search >= COLD {
                times[0].push(of_service.took.as_secs_f64() * 1e3);
                times[1].push(of_server.took.as_secs_f64() * 1e3);
            }
            let (of_service, of_server) = (of_service.best, of_server.best);
            let one = query["mode"] == "vector" && query["analyzer"] != "*";
            // Which of several equal ones comes first, each decides by itself.
            if one && (of_service - of_server).abs() > 1e-4 {
                return Err(format!(
                    "for {text:?} the service's best score is {of_service}, the server's {of_server}"
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
        let found = self.qdrant.query(search).await?.result;
        let took = started.elapsed();
        Ok(Answer { took, best: found.first().map_or(0.0, |hit| f64::from(hit.score)) })
    }

    /// The same search for the server: the nearest vectors, which is all it does by one request.
    fn direct(&self, query: &Value, vector: Vec<f32>) -> QueryPoints {
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

/// A text that no other search looks for.
fn text(kind: usize, search: usize) -> String {
    let seen =
        ["a harbour", "a kitchen", "a train", "an old car", "two people", "a market", "soup"];
    let there =
        ["at sunrise", "in the rain", "beside the sea", "on a table", "that somebody paints"];
    let (seen, there) = (seen[search % seen.len()], there[search / seen.len() % there.len()]);
    format!("{seen} {there} {kind} {search}")
}

fn with(mut body: Value, key: &str, value: Value) -> Value {
    body[key] = value;
    body
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
