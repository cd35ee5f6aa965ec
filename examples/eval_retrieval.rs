//! How well a running service finds what is in footage, and how well it says that something is not:
//! ingests the clips of a file of questions where they are missing, searches everything for them (the hits
//! read together with the question), asks them, and prints hit@3, mean reciprocal rank, how well
//! `p_present` separates what is there from what is not, and how many answers are right.
//!
//! ```text
//! cargo run --example eval_retrieval -- http://127.0.0.1:8080 examples/retrieval/test.json FOLDER…
//! ```
//!
//! With `SHOTLOG_EVAL_FAILURES` set, what was asked and came out wrong is printed too: of the clips of
//! `development.json`, since whoever reads that of `test.json` cannot measure on it any more.
//!
//! On the clips of `development.json` constants were chosen; those of `test.json` are only measured on.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::error::Error;
use std::path::Path;
use std::time::Duration;

use reqwest::multipart::{Form, Part};
use serde::Deserialize;
use serde_json::{Value, json};

/// What runs over the clips.
const ANALYZERS: &str = "default_video,diarization,object_detection,ocr,people";

/// What is at least as probably there as not.
const LIKELY: f64 = 0.5;

/// So near to the moment a hit is right too, seconds.
const NEAR: f64 = 3.0;

#[derive(Deserialize)]
struct Questions {
    present: Vec<Present>,
    absent: Vec<Absent>,
}

/// Prints what came out wrong, where that is wanted.
fn failed(what: &str, question: &str, found: &str) {
    if std::env::var_os("SHOTLOG_EVAL_FAILURES").is_some() {
        println!("       {what}: {question}\n           {}", found.replace('\n', " "));
    }
}

/// Something that is in the footage.
#[derive(Deserialize)]
struct Present {
    ask: String,
    /// How it can be known: `speech`, `text`, `object` or `action`.
    kind: String,
    #[serde(flatten)]
    place: Place,
    /// Other clips that have it.
    #[serde(default)]
    also: Vec<Place>,
    /// What a right answer contains; alternatives with `|` between them.
    answer: Option<String>,
}

/// Where it is.
#[derive(Deserialize)]
struct Place {
    file: String,
    #[serde(default)]
    start: f64,
    #[serde(default)]
    end: f64,
    /// Instead of `start` and `end`, where there are several.
    #[serde(default)]
    spans: Vec<(f64, f64)>,
}

/// Something that is not.
#[derive(Deserialize)]
struct Absent {
    ask: String,
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

    async fn post(&self, path: &str, body: &Value) -> Result<Value> {
        let reply = self.http.post(format!("{}{path}", self.base)).json(body).send().await?;
        Ok(reply.error_for_status()?.json().await?)
    }

    /// Hits, best first.
    async fn hits(&self, text: &str) -> Result<Vec<Value>> {
        let body = json!({
            "text": text, "analyzer": "*", "limit": 10, "rerank": true, "synthesize": false,
            "detail": "minimal",
        });
        let found = self.post("/query", &body).await?;
        Ok(found["results"].as_array().cloned().unwrap_or_default())
    }

    /// The answer, and whether it says to be one.
    async fn answer(&self, question: &str) -> Result<(String, bool)> {
        let answer = self.post("/ask", &json!({"question": question})).await?;
        let text = answer["answer"].as_str().unwrap_or_default().to_owned();
        Ok((text, answer["answered"] == true))
    }

    /// Video id to file name.
    async fn videos(&self) -> Result<HashMap<String, String>> {
        let listed = self.get("/videos").await?;
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let videos = listed["videos"].as_array().into_iter().flatten();
        Ok(videos.map(|v| (text(&v["video_id"]), text(&v["filename"]))).collect())
    }

    async fn ingest(&self, file: &Path, name: &str) -> Result<()> {
        let part = Part::bytes(tokio::fs::read(file).await?).file_name(name.to_owned());
        let form = Form::new().part("file", part).text("analyzers", ANALYZERS);
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

impl Present {
    fn places(&self) -> impl Iterator<Item = &Place> {
        std::iter::once(&self.place).chain(&self.also)
    }

    fn is_at(&self, hit: &Value, videos: &HashMap<String, String>) -> bool {
        let file = hit["video_id"].as_str().and_then(|id| videos.get(id));
        let (Some(start), Some(end)) = (hit["start"].as_f64(), hit["end"].as_f64()) else {
            return false;
        };
        self.places().filter(|place| Some(&place.file) == file).any(|place| {
            let one = [(place.start, place.end)];
            let spans = if place.spans.is_empty() { &one[..] } else { &place.spans };
            spans.iter().any(|(from, to)| start < to + NEAR && end > from - NEAR)
        })
    }
}

fn probability(hits: &[Value]) -> f64 {
    hits.first().and_then(|hit| hit["p_present"].as_f64()).unwrap_or_default()
}

/// The first hit, in words.
fn best(hits: &[Value]) -> String {
    let Some(hit) = hits.first() else { return "nothing was found".into() };
    format!("{} {} {}", hit["p_present"], hit["found_by"], hit["snippet"])
}

/// What the questions about things that are there came to.
#[derive(Default)]
struct Findings {
    /// By kind: found among the first three, and asked.
    in_three: BTreeMap<String, (usize, usize)>,
    reciprocal: f64,
    likely: usize,
    answered: (usize, usize),
}

#[tokio::main]
async fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [base, questions, folders @ ..] = &arguments[..] else {
        return Err("usage: eval_retrieval BASE_URL QUESTIONS FOLDER…".into());
    };
    let service =
        Service { base: base.trim_end_matches('/').to_owned(), http: reqwest::Client::new() };
    let questions: Questions = serde_json::from_str(&tokio::fs::read_to_string(questions).await?)?;

    let known: BTreeSet<String> = service.videos().await?.into_values().collect();
    let places = || questions.present.iter().flat_map(Present::places);
    let files: BTreeSet<&str> = places().map(|place| place.file.as_str()).collect();
    let mut missing: Vec<&str> = Vec::new();
    for file in files.into_iter().filter(|file| !known.contains(*file)) {
        let mut paths = folders.iter().map(|folder| Path::new(folder).join(file));
        match paths.find(|path| path.exists()) {
            Some(path) => service.ingest(&path, file).await?,
            None => missing.push(file),
        }
    }
    if !missing.is_empty() {
        println!("       questions about missing clips are left out: {}", missing.join(", "));
    }
    let videos = service.videos().await?;
    let there: BTreeSet<&String> = videos.values().collect();

    let mut found = Findings::default();
    for question in &questions.present {
        if question.places().any(|place| there.contains(&place.file)) {
            ask(&service, question, &videos, &mut found).await?;
        }
    }
    let (mut unlikely, mut denied) = (0, 0);
    for Absent { ask } in &questions.absent {
        let hits = service.hits(ask).await?;
        match probability(&hits) < LIKELY {
            true => unlikely += 1,
            false => failed("taken for present", ask, &best(&hits)),
        }
        match service.answer(ask).await? {
            (_, false) => denied += 1,
            (text, true) => failed("not denied", ask, &text),
        }
    }
    report(&found, questions.absent.len(), unlikely, denied)
}

async fn ask(
    service: &Service,
    question: &Present,
    videos: &HashMap<String, String>,
    found: &mut Findings,
) -> Result<()> {
    let hits = service.hits(&question.ask).await?;
    let (three, all) = found.in_three.entry(question.kind.clone()).or_default();
    *all += 1;
    let rank = hits.iter().position(|hit| question.is_at(hit, videos));
    found.reciprocal += rank.map_or(0.0, |rank| 1.0 / (rank as f64 + 1.0));
    match rank.is_some_and(|rank| rank < 3) {
        true => *three += 1,
        false => failed("not among the first three", &question.ask, &best(&hits)),
    }
    match probability(&hits) >= LIKELY {
        true => found.likely += 1,
        false => failed("taken for absent", &question.ask, &best(&hits)),
    }
    if let Some(right) = &question.answer {
        let (text, answered) = service.answer(&question.ask).await?;
        let text = text.to_lowercase();
        let is_right = right.split('|').any(|part| text.contains(&part.to_lowercase()));
        found.answered.1 += 1;
        match answered && is_right {
            true => found.answered.0 += 1,
            false => failed("not answered rightly", &question.ask, &text),
        }
    }
    Ok(())
}

/// Prints the figures; an error where a bar is missed.
fn report(found: &Findings, absent: usize, unlikely: usize, denied: usize) -> Result<()> {
    let three: usize = found.in_three.values().map(|(three, _)| three).sum();
    let present: usize = found.in_three.values().map(|(_, all)| all).sum();
    let by_kind: Vec<String> =
        found.in_three.iter().map(|(kind, (three, all))| format!("{kind} {three}/{all}")).collect();
    let mut missed = false;
    let mut bar = |what: &str, good: usize, of: usize, least: f64| {
        let share = good as f64 / of.max(1) as f64;
        missed |= share < least;
        let verdict = if share < least { "MISS" } else { "ok  " };
        println!("  {verdict} {what} (at least {least}): {good} of {of}, {share:.3}");
    };
    bar("hit@3, everything searched", three, present, 0.9);
    println!("       {}, MRR {:.3}", by_kind.join(", "), found.reciprocal / present.max(1) as f64);
    bar("present told from absent", found.likely + unlikely, present + absent, 0.93);
    println!("       present {}/{present}, absent {unlikely}/{absent}", found.likely);
    bar("/ask answers rightly", found.answered.0, found.answered.1, 0.8);
    bar("/ask denies what is absent", denied, absent, 0.9);
    if missed { Err("a bar is missed".into()) } else { Ok(()) }
}
