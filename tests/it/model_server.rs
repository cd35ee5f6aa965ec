//! Aggregates with a language model over a real connection, on a server with scripted failures.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use adapters::llm::{OpenAiLanguageModel, OpenAiOptions};
use adapters::openai::{Connection, Retry};
use poem::http::StatusCode;
use poem::listener::TcpAcceptor;
use poem::{Body, Request, Response};
use serde_json::{Value, json};

use crate::support::{TestApp, mentions};

/// Maximum number of requests for one answer, retries included.
const ATTEMPTS: u32 = 2;

/// What the server does with a request.
enum Reply {
    Good,
    Text(&'static str),
    Refusal,
    CutOff,
    Status(u16, Option<&'static str>),
    Hang,
}

type Behaviour = Box<dyn Fn(&str, usize) -> Reply + Send + Sync>;

/// A server that speaks chat completions.
struct ModelServer {
    /// Requests by task, since the last behaviour was set.
    calls: Mutex<BTreeMap<String, usize>>,
    behaviour: Mutex<Behaviour>,
}

impl ModelServer {
    /// Sets what the server does with the n-th request (from 0) of a task, and resets the counts.
    fn script(&self, behaviour: impl Fn(&str, usize) -> Reply + Send + Sync + 'static) {
        *self.behaviour.lock().expect("unpoisoned") = Box::new(behaviour);
        self.calls.lock().expect("unpoisoned").clear();
    }

    fn calls(&self, task: &str) -> usize {
        self.calls.lock().expect("unpoisoned").get(task).copied().unwrap_or(0)
    }

    fn all_calls(&self) -> usize {
        self.calls.lock().expect("unpoisoned").values().sum()
    }

    async fn answer(&self, mut request: Request) -> poem::Result<Response> {
        let body: Value = request.take_body().into_json().await?;
        let format = &body["response_format"]["json_schema"];
        let task = format["name"].as_str().expect("a requested schema").to_owned();
        let nth = {
            let mut calls = self.calls.lock().expect("unpoisoned");
            let count = calls.entry(task.clone()).or_default();
            *count += 1;
            *count - 1
        };
        let reply = (self.behaviour.lock().expect("unpoisoned"))(&task, nth);
        let good = match task.as_str() {
            "summarize" => json!({"summary": "A boat drifts.", "key_points": [], "topics": []}),
            "title" => json!({"title": "A drifting boat"}),
            "events" => json!({"events": [
                {"event": "A boat appears.", "actor": "boat", "category": "object", "passage": "0"},
            ]}),
            other => panic!("unexpected task: {other}"),
        };
        let message = |content: Value, finish: &str| {
            json!({
                "choices": [{"message": content, "finish_reason": finish}],
                "usage": {"prompt_tokens": 100, "completion_tokens": 10},
            })
        };
        let good = good.to_string();
        let body = match reply {
            Reply::Good => message(json!({"content": good}), "stop"),
            Reply::Text(text) => message(json!({"content": text}), "stop"),
            Reply::Refusal => message(json!({"refusal": "I will not look at this."}), "stop"),
            Reply::CutOff => message(json!({"content": &good[..good.len() / 2]}), "length"),
            Reply::Status(status, retry_after) => {
                let mut response = Response::builder()
                    .status(StatusCode::from_u16(status).expect("a status"))
                    .content_type("application/json");
                if let Some(seconds) = retry_after {
                    response = response.header("retry-after", seconds);
                }
                return Ok(response.body(json!({"error": {"message": "too busy"}}).to_string()));
            }
            Reply::Hang => std::future::pending().await,
        };
        Ok(Response::builder()
            .content_type("application/json")
            .body(Body::from_string(body.to_string())))
    }
}

/// An application that uses such a server, with one video ingested while the server was healthy.
struct Bench {
    app: TestApp,
    server: Arc<ModelServer>,
    video_id: String,
    chapters: usize,
}

impl Bench {
    async fn new() -> Self {
        let server = Arc::new(ModelServer {
            calls: Mutex::default(),
            behaviour: Mutex::new(Box::new(|_, _| Reply::Good)),
        });
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let answering = server.clone();
        let endpoint = poem::endpoint::make(move |request| {
            let server = answering.clone();
            async move { server.answer(request).await }
        });
        let acceptor = TcpAcceptor::from_tokio(listener).expect("an acceptor");
        tokio::spawn(poem::Server::new_with_acceptor(acceptor).run(endpoint));
        let model = OpenAiLanguageModel::new(OpenAiOptions {
            connection: Connection {
                base_url: format!("http://{address}/v1"),
                timeout: Duration::from_millis(700),
                retry: Retry {
                    attempts: ATTEMPTS,
                    first_pause: Duration::from_millis(5),
                    longest_pause: Duration::from_millis(10),
                    total_pause: Duration::from_secs(2),
                },
                ..Connection::default()
            },
            model: "scripted".into(),
            sees: false,
            ..OpenAiOptions::default()
        })
        .expect("options");
        let model = Arc::new(model);
        let app = TestApp::with(|setup| setup.llm = Some(model)).await;
        let video_id = app.video().await;
        let one = format!("/videos/{video_id}/aggregates?aggregator=chapters");
        let chapters = app.get(&one).await.ok()["result"]["chapters"].as_array().unwrap().len();
        Self { app, server, video_id, chapters }
    }

    async fn rerun(&self, aggregators: &str, force: bool) -> Value {
        let path = format!("/videos/{}/aggregates?force={force}", self.video_id);
        let form = format!("aggregators={aggregators}");
        let kind = "application/x-www-form-urlencoded";
        let reply = self.app.post_text(&path, kind, form).await;
        assert_eq!(reply.status, 202, "{}", reply.text());
        let job = self.app.finished(reply.json()["job_id"].as_str().unwrap()).await;
        assert_eq!(job["status"], "done", "{job}");
        job["result"].clone()
    }

    async fn aggregate(&self, id: &str) -> Value {
        let path = format!("/videos/{}/aggregates?aggregator={id}", self.video_id);
        self.app.get(&path).await.ok()["result"].clone()
    }
}

#[track_caller]
fn assert_ran(result: &Value, aggregators: &[&str]) {
    for id in aggregators {
        assert!(result["ran"].as_array().unwrap().contains(&json!(id)), "{id}: {result}");
    }
}

#[tokio::test]
async fn a_healthy_server_gets_no_redundant_requests() {
    let bench = Bench::new().await;
    let n = bench.chapters;
    // The summary reuses the chapters' summaries as its sections; only the titles need more calls.
    let whole = usize::from(n > 1);
    let check = || {
        assert_eq!(bench.server.calls("title"), n);
        assert_eq!(bench.server.calls("summarize"), n + whole);
        assert_eq!(bench.server.calls("events"), 1);
        assert_eq!(bench.server.all_calls(), 2 * n + whole + 1);
    };
    check();
    for (aggregator, calls) in [("summary", n + whole), ("chapters", n), ("events", 1)] {
        let expected = json!({
            "model": "scripted", "calls": calls,
            "input_tokens": 100 * calls, "output_tokens": 10 * calls,
        });
        assert_eq!(bench.aggregate(aggregator).await["usage"], expected, "{aggregator}");
    }
    bench.server.script(|_, _| Reply::Good);
    let result = bench.rerun("", false).await;
    assert_eq!(bench.server.all_calls(), 0, "everything is reused");
    assert_eq!(result["llm_calls_saved"], json!(["summary", "chapters", "events"]));
    let result = bench.rerun("", true).await;
    assert_eq!((&result["failed"], &result["reused"]), (&json!({}), &json!([])));
    check();
}

#[tokio::test]
async fn a_transient_failure_is_retried_once() {
    let bench = Bench::new().await;
    for (case, failure) in [
        ("malformed JSON", (|| Reply::Text("{\"events\": [")) as fn() -> Reply),
        ("JSON of another shape", || Reply::Text("{\"answer\": 42}")),
        ("truncation", || Reply::CutOff),
        ("429 with Retry-After", || Reply::Status(429, Some("0"))),
        ("a server error", || Reply::Status(503, None)),
    ] {
        bench.server.script(move |task, nth| match (task, nth) {
            ("events", 0) => failure(),
            _ => Reply::Good,
        });
        let result = bench.rerun("events", true).await;
        assert_eq!(result["failed"], json!({}), "{case}");
        assert_ran(&result, &["events"]);
        assert_eq!(bench.server.all_calls(), 2, "{case}");
        assert_eq!(bench.aggregate("events").await["events"][0]["event"], "A boat appears.");
    }
}

#[tokio::test]
async fn a_permanent_failure_fails_only_its_aggregate() {
    let bench = Bench::new().await;
    for (case, failure, error, calls) in [
        ("malformed", (|| Reply::Text("not json")) as fn() -> Reply, "DataError: ", 2),
        ("refusal", || Reply::Refusal, "PermissionError: the model refused", 1),
        ("truncation", || Reply::CutOff, "DataError: the model's answer was cut off", 2),
        ("time-out", || Reply::Hang, "TimeoutError: ", 1),
    ] {
        bench.server.script(move |task, _| if task == "events" { failure() } else { Reply::Good });
        let result = bench.rerun("", true).await;
        let failed = result["failed"].as_object().unwrap();
        assert_eq!(failed.keys().collect::<Vec<_>>(), ["events"], "{case}");
        mentions(failed["events"].as_str().unwrap(), &[error]);
        assert_ran(&result, &["stats", "novelty", "ner", "chapters", "summary"]);
        assert_eq!(bench.server.calls("events"), calls, "{case}");
        let stored = result["aggregates"].as_array().unwrap();
        assert!(stored.contains(&json!("summary")), "{case}: {result}");
    }
    bench.server.script(|_, _| Reply::Good);
    let result = bench.rerun("events", true).await;
    assert_eq!((&result["ran"], bench.server.all_calls()), (&json!(["events"]), 1));
}

#[tokio::test]
async fn an_unreachable_server_is_tried_once_per_run() {
    let bench = Bench::new().await;
    for (case, failure, calls) in [
        ("down", (|| Reply::Status(503, None)) as fn() -> Reply, ATTEMPTS as usize),
        ("full for an hour", || Reply::Status(429, Some("3600")), 1),
    ] {
        bench.server.script(move |_, _| failure());
        let result = bench.rerun("", true).await;
        let failed = result["failed"].as_object().unwrap();
        assert_eq!(failed.keys().collect::<Vec<_>>(), ["chapters", "events", "summary"], "{case}");
        for error in failed.values() {
            mentions(error.as_str().unwrap(), &["ConnectionError: "]);
        }
        assert_ran(&result, &["stats", "novelty", "ner"]);
        assert_eq!(bench.server.all_calls(), calls, "{case}");
    }
}

#[tokio::test]
async fn a_dead_endpoint_fails_the_aggregates_but_not_the_ingest() {
    let closed = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = closed.local_addr().expect("an address");
    drop(closed);
    let model = OpenAiLanguageModel::new(OpenAiOptions {
        connection: Connection {
            base_url: format!("http://{address}/v1"),
            retry: Retry {
                attempts: ATTEMPTS,
                first_pause: Duration::from_millis(5),
                ..Retry::default()
            },
            ..Connection::default()
        },
        model: "nobody".into(),
        sees: false,
        ..OpenAiOptions::default()
    })
    .expect("options");
    let model = Arc::new(model);
    let app = TestApp::with(|setup| setup.llm = Some(model)).await;
    let id = app.video().await;
    let stored = app.get(&format!("/videos/{id}/aggregates")).await.ok();
    assert_eq!(stored["available"], json!(["stats", "novelty", "ner"]));
}

#[tokio::test]
async fn a_rerun_after_a_failure_reuses_the_answers_received_before() {
    let bench = Bench::new().await;
    bench.server.script(|task, _| if task == "title" { Reply::Refusal } else { Reply::Good });
    let result = bench.rerun("chapters", true).await;
    mentions(result["failed"]["chapters"].as_str().unwrap(), &["PermissionError"]);
    let summaries = bench.server.calls("summarize");
    assert!(summaries > 0);

    bench.server.script(|_, _| Reply::Good);
    let result = bench.rerun("chapters", true).await;
    assert_eq!(result["ran"], json!(["chapters"]));
    assert_eq!(bench.server.calls("title"), bench.chapters);
    assert_eq!(bench.server.calls("summarize"), bench.chapters - summaries.min(bench.chapters));

    bench.server.script(|_, _| Reply::Good);
    bench.rerun("chapters", true).await;
    assert_eq!(bench.server.all_calls(), 2 * bench.chapters, "nothing is reused after success");
}
