//! How well a running service finds what is in footage, and how well it says that something is not:
//! ingests the clips of `examples/retrieval.json` where they are missing, asks its questions and
//! prints hit@3 and mean reciprocal rank by mode, then what passes the recommended threshold.
//!
//! ```text
//! SHOTLOG_MEDIA=… cargo run --example eval_retrieval -- http://127.0.0.1:8080
//! ```

use std::collections::{BTreeSet, HashMap};
use std::error::Error;
use std::path::Path;
use std::time::Duration;

use reqwest::multipart::{Form, Part};
use serde::Deserialize;
use serde_json::{Value, json};

/// Present things that must pass the recommended threshold, and absent ones that may, of 30 each.
const BARS: (usize, usize) = (24, 2);

#[derive(Deserialize)]
struct Questions {
    present: Vec<Question>,
    absent: Vec<Question>,
}

/// What is asked of which analyzer; for what is there, where it is.
#[derive(Deserialize)]
struct Question {
    ask: String,
    analyzer: String,
    #[serde(default)]
    file: String,
    #[serde(default)]
    start: f64,
    #[serde(default)]
    end: f64,
}

struct Service {
    base: String,
    http: reqwest::Client,
}

type Result<T> = std::result::Result<T, Box<dyn Error>>;

impl Service {
    async fn get(&self, path: &str) -> Result<Value> {
        let reply = self.http.get(format!("{}{path}", self.base)).send().await?;
        Ok(reply.error_for_status()?.json().await?)
    }

    /// Hits, best first.
    async fn hits(&self, of: &Question, mode: &str, threshold: Option<f64>) -> Result<Vec<Value>> {
        let body = json!({
            "text": of.ask, "analyzer": of.analyzer, "mode": mode, "limit": 10,
            "score_threshold": threshold, "synthesize": false, "detail": "minimal",
        });
        let reply = self.http.post(format!("{}/query", self.base)).json(&body).send().await?;
        let found: Value = reply.error_for_status()?.json().await?;
        Ok(found["results"].as_array().cloned().unwrap_or_default())
    }

    /// File name to video id.
    async fn videos(&self) -> Result<HashMap<String, String>> {
        let listed = self.get("/videos").await?;
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let videos = listed["videos"].as_array().into_iter().flatten();
        Ok(videos.map(|v| (text(&v["filename"]), text(&v["video_id"]))).collect())
    }

    async fn ingest(&self, file: &Path, name: &str, analyzers: &str) -> Result<()> {
        let part = Part::bytes(tokio::fs::read(file).await?).file_name(name.to_owned());
        let form = Form::new().part("file", part).text("analyzers", analyzers.to_owned());
        let reply = self.http.post(format!("{}/videos", self.base)).multipart(form).send().await?;
        let job: Value = reply.error_for_status()?.json().await?;
        let path = format!("/jobs/{}", job["job_id"].as_str().unwrap_or_default());
        loop {
            let job = self.get(&path).await?;
            match job["status"].as_str() {
                Some("done") => return Ok(()),
                Some("failed") => return Err(format!("{name}: {}", job["error"]).into()),
                _ => tokio::time::sleep(Duration::from_millis(500)).await,
            }
        }
    }
}

#[tokio::main]
async fn main() -> Result<()> {
    let base = std::env::args().nth(1).ok_or("usage: eval_retrieval BASE_URL")?;
    let service =
        Service { base: base.trim_end_matches('/').to_owned(), http: reqwest::Client::new() };
    let questions: Questions = serde_json::from_str(include_str!("retrieval.json"))?;
    let all = || questions.present.iter().chain(&questions.absent);

    let known = service.videos().await?;
    let analyzers: BTreeSet<&str> = all().map(|q| q.analyzer.as_str()).collect();
    let analyzers = analyzers.into_iter().collect::<Vec<_>>().join(",");
    let files: BTreeSet<&str> = questions.present.iter().map(|q| q.file.as_str()).collect();
    for file in files.into_iter().filter(|file| !known.contains_key(*file)) {
        let media = std::env::var("SHOTLOG_MEDIA")
            .map_err(|_| format!("{file} is not ingested; set SHOTLOG_MEDIA to its folder"))?;
        service.ingest(&Path::new(&media).join(file), file, &analyzers).await?;
    }
    let videos = service.videos().await?;

    let count = questions.present.len();
    println!("search: {count} things that are there, by mode");
    for mode in ["vector", "text", "hybrid"] {
        let (mut in_three, mut reciprocal) = (0, 0.0);
        for question in &questions.present {
            let hits = service.hits(question, mode, None).await?;
            let right = |hit: &Value| {
                hit["video_id"].as_str() == videos.get(&question.file).map(String::as_str)
                    && hit["start"].as_f64().is_some_and(|start| start < question.end)
                    && hit["end"].as_f64().is_some_and(|end| end > question.start)
            };
            if let Some(rank) = hits.iter().position(right) {
                in_three += usize::from(rank < 3);
                reciprocal += 1.0 / (rank as f64 + 1.0);
            }
        }
        println!("       {mode:7} hit@3 {in_three}/{count}  MRR {:.3}", reciprocal / count as f64);
    }

    let schema = service.get("/schema").await?;
    let threshold = schema["recommended_thresholds"]["combined"].as_f64();
    let mut passed = [0, 0];
    for (passed, asked) in passed.iter_mut().zip([&questions.present, &questions.absent]) {
        for question in asked {
            *passed += usize::from(!service.hits(question, "vector", threshold).await?.is_empty());
        }
    }
    let [present, absent] = passed;
    println!("with the recommended threshold of {}", threshold.unwrap_or_default());
    let bar = |what: &str, value: String, holds: bool| {
        println!("  {} {what}: {value}", if holds { "ok  " } else { "MISS" });
        holds
    };
    let found = bar(
        &format!("things that are there (at least {})", BARS.0),
        format!("{present} of {count}"),
        present >= BARS.0,
    );
    let silent = bar(
        &format!("things that are not (at most {})", BARS.1),
        format!("{absent} of {}", questions.absent.len()),
        absent <= BARS.1,
    );
    if found && silent { Ok(()) } else { Err("a bar is missed".into()) }
}
