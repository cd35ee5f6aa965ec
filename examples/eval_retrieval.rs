//! Measures how well a running service finds what footage shows and denies what it does not show. A
//! file of questions refers to clips, which are ingested if they are missing. Each question is sent
//! to `/query` (all analyzers, re-ranked) and to `/ask`. The program prints hit@3, mean reciprocal
//! rank, how well `p_present` separates present from absent, and the share of correct answers.
//!
//! ```text
//! cargo run --example eval_retrieval -- http://127.0.0.1:8080 examples/retrieval/test.json FOLDER…
//! ```
//!
//! With `SHOTLOG_EVAL_FAILURES` set, failed questions are printed too. Use it with
//! `development.json` only: reading the failures of `test.json` would spoil it as a test set.
//!
//! Constants were tuned on the clips of `development.json`. The clips of `test.json` are used only
//! for measurement.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::error::Error;
use std::path::Path;
use std::time::Duration;

use reqwest::multipart::{Form, Part};
use serde::Deserialize;
use serde_json::{Value, json};

/// The analyzers that run on the clips.
const ANALYZERS: &str = "default_video,diarization,object_detection,ocr,people";

/// Minimum `p_present` at which something counts as present.
const LIKELY: f64 = 0.5;

/// A hit is correct if it is within this many seconds of the true moment.
const NEAR: f64 = 3.0;

#[derive(Deserialize)]
struct Questions {
    present: Vec<Present>,
    absent: Vec<Absent>,
}

/// Prints a failed question if `SHOTLOG_EVAL_FAILURES` is set.
fn print_failure(what: &str, question: &str, outcome: &str) {
    if std::env::var_os("SHOTLOG_EVAL_FAILURES").is_some() {
        println!("       {what}: {question}\n           {}", outcome.replace('\n', " "));
    }
}

/// A question about something in the footage.
#[derive(Deserialize)]
struct Present {
    ask: String,
    /// The kind of evidence: `speech`, `text`, `object` or `action`.
    kind: String,
    #[serde(flatten)]
    place: Place,
    /// Other places that show the same thing.
    #[serde(default)]
    also: Vec<Place>,
    /// Text that a correct answer contains. Alternatives are separated by `|`.
    answer: Option<String>,
}

/// A place in a clip, with times in seconds.
#[derive(Deserialize)]
struct Place {
    file: String,
    #[serde(default)]
    start: f64,
    #[serde(default)]
    end: f64,
    /// Used instead of `start` and `end` if there are several spans.
    #[serde(default)]
    spans: Vec<(f64, f64)>,
}

/// A question about something that no clip shows.
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

    /// Returns the hits, best first.
    async fn hits(&self, text: &str) -> Result<Vec<Value>> {
        let body = json!({
            "text": text, "analyzer": "*", "limit": 10, "rerank": true, "synthesize": false,
            "detail": "minimal",
        });
        let page = self.post("/query", &body).await?;
        Ok(page["results"].as_array().cloned().unwrap_or_default())
    }

    /// Returns the text of the answer and its `answered` flag.
    async fn answer(&self, question: &str) -> Result<(String, bool)> {
        let answer = self.post("/ask", &json!({"question": question})).await?;
        let text = answer["answer"].as_str().unwrap_or_default().to_owned();
        Ok((text, answer["answered"] == true))
    }

    /// Returns the file names by video id.
    async fn videos(&self) -> Result<HashMap<String, String>> {
        let page = self.get("/videos").await?;
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let videos = page["videos"].as_array().into_iter().flatten();
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
            let single = [(place.start, place.end)];
            let spans = if place.spans.is_empty() { &single[..] } else { &place.spans };
            spans.iter().any(|(from, to)| start < to + NEAR && end > from - NEAR)
        })
    }
}

fn probability(hits: &[Value]) -> f64 {
    hits.first().and_then(|hit| hit["p_present"].as_f64()).unwrap_or_default()
}

/// Describes the first hit.
fn best(hits: &[Value]) -> String {
    let Some(hit) = hits.first() else { return "no hits".into() };
    format!("{} {} {}", hit["p_present"], hit["found_by"], hit["snippet"])
}

/// Results for the questions about things that are present.
#[derive(Default)]
struct Tally {
    /// By kind of evidence: the number of questions with a correct hit among the first three, and
    /// the number of all questions.
    by_kind: BTreeMap<String, (usize, usize)>,
    reciprocal_ranks: f64,
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

    let ingested: BTreeSet<String> = service.videos().await?.into_values().collect();
    let places = || questions.present.iter().flat_map(Present::places);
    let files: BTreeSet<&str> = places().map(|place| place.file.as_str()).collect();
    let mut missing: Vec<&str> = Vec::new();
    for file in files.into_iter().filter(|file| !ingested.contains(*file)) {
        let mut paths = folders.iter().map(|folder| Path::new(folder).join(file));
        match paths.find(|path| path.exists()) {
            Some(path) => service.ingest(&path, file).await?,
            None => missing.push(file),
        }
    }
    if !missing.is_empty() {
        println!("       questions about missing clips are skipped: {}", missing.join(", "));
    }
    let videos = service.videos().await?;
    let available: BTreeSet<&String> = videos.values().collect();

    let mut tally = Tally::default();
    for question in &questions.present {
        if question.places().any(|place| available.contains(&place.file)) {
            ask(&service, question, &videos, &mut tally).await?;
        }
    }
    let (mut unlikely, mut denied) = (0, 0);
    for Absent { ask } in &questions.absent {
        let hits = service.hits(ask).await?;
        match probability(&hits) < LIKELY {
            true => unlikely += 1,
            false => print_failure("taken for present", ask, &best(&hits)),
        }
        match service.answer(ask).await? {
            (_, false) => denied += 1,
            (text, true) => print_failure("not denied", ask, &text),
        }
    }
    report(&tally, questions.absent.len(), unlikely, denied)
}

async fn ask(
    service: &Service,
    question: &Present,
    videos: &HashMap<String, String>,
    tally: &mut Tally,
) -> Result<()> {
    let hits = service.hits(&question.ask).await?;
    let (top_three, all) = tally.by_kind.entry(question.kind.clone()).or_default();
    *all += 1;
    let rank = hits.iter().position(|hit| question.is_at(hit, videos));
    tally.reciprocal_ranks += rank.map_or(0.0, |rank| 1.0 / (rank as f64 + 1.0));
    match rank.is_some_and(|rank| rank < 3) {
        true => *top_three += 1,
        false => print_failure("not among the first three", &question.ask, &best(&hits)),
    }
    match probability(&hits) >= LIKELY {
        true => tally.likely += 1,
        false => print_failure("taken for absent", &question.ask, &best(&hits)),
    }
    if let Some(right) = &question.answer {
        let (text, answered) = service.answer(&question.ask).await?;
        let text = text.to_lowercase();
        let is_right = right.split('|').any(|part| text.contains(&part.to_lowercase()));
        tally.answered.1 += 1;
        match answered && is_right {
            true => tally.answered.0 += 1,
            false => print_failure("not answered rightly", &question.ask, &text),
        }
    }
    Ok(())
}

/// Prints the figures. Fails if one of them is below its required minimum.
fn report(tally: &Tally, absent: usize, unlikely: usize, denied: usize) -> Result<()> {
    let top_three: usize = tally.by_kind.values().map(|(top_three, _)| top_three).sum();
    let present: usize = tally.by_kind.values().map(|(_, all)| all).sum();
    let kinds: Vec<String> = tally
        .by_kind
        .iter()
        .map(|(kind, (top_three, all))| format!("{kind} {top_three}/{all}"))
        .collect();
    let mut below_bar = false;
    let mut bar = |what: &str, good: usize, total: usize, min_share: f64| {
        let share = good as f64 / total.max(1) as f64;
        below_bar |= share < min_share;
        let verdict = if share < min_share { "MISS" } else { "ok  " };
        println!("  {verdict} {what} (at least {min_share}): {good} of {total}, {share:.3}");
    };
    bar("hit@3, everything searched", top_three, present, 0.9);
    println!(
        "       {}, MRR {:.3}",
        kinds.join(", "),
        tally.reciprocal_ranks / present.max(1) as f64
    );
    bar("present separated from absent", tally.likely + unlikely, present + absent, 0.93);
    println!("       present {}/{present}, absent {unlikely}/{absent}", tally.likely);
    bar("/ask answers rightly", tally.answered.0, tally.answered.1, 0.8);
    bar("/ask denies what is absent", denied, absent, 0.9);
    if below_bar { Err("a bar is missed".into()) } else { Ok(()) }
}
