//! Tests of the adapters of the `llm` port.

use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use ports::ErrorKind;
use ports::conformance::llm as suite;
use ports::llm::{
    Answer, LanguageModel, Passage, PassageKind, Request, Task, Title, TokenSink, Usage,
};
use serde_json::{Value, json};
use shotlog_adapters::llm::{
    Extractive, ExtractiveOptions, OpenAiLanguageModel, OpenAiOptions, ScriptedLanguageModel,
};
use shotlog_adapters::openai::{Connection, Retry};

use crate::server::{ReceivedRequest, Reply, Server};

const KEY: &str = "sk-very-secret";

#[tokio::test]
async fn extractive() {
    let model = Extractive::default();
    suite::check(&model).await;
    suite::check_unanswerable(&model).await;
}

#[tokio::test]
async fn extractive_refuses_more_than_its_context() {
    let model = Extractive::new(ExtractiveOptions { context_tokens: 100, max_sentences: 10 });
    let mut request = request(Task::Summarize);
    request.passages[0].text = "A man walks. ".repeat(100);
    assert_eq!(model.complete(&request).await.unwrap_err().kind(), ErrorKind::TooLarge);
}

#[tokio::test]
async fn scripted() {
    suite::check(&ScriptedLanguageModel::blank()).await;
    suite::check(&ScriptedLanguageModel::blank().seeing(true)).await;

    let model = ScriptedLanguageModel::blank()
        .named("test")
        .billing(true)
        .with_context(7)
        .then(&Title { title: "First".to_owned() })
        .then_fail(ErrorKind::Unavailable, "down");
    assert_eq!((model.model(), model.is_billed(), model.context_tokens()), ("test", true, 7));
    let ask = |task| {
        let model = &model;
        async move { model.complete(&request(task)).await.map(|completion| completion.answer) }
    };
    assert_eq!(ask(Task::Title).await.unwrap(), json!({ "title": "First" }));
    assert_eq!(ask(Task::Title).await.unwrap_err().kind(), ErrorKind::Unavailable);
    assert_eq!(ask(Task::Title).await.unwrap(), json!({ "title": "" }));
    model.push(Ok(json!({ "wrong": 1 })));
    assert_eq!(ask(Task::Narrate).await.unwrap_err().kind(), ErrorKind::Corrupt);
    assert_eq!((model.calls(), model.calls_for(Task::Title)), (4, 3));
    assert_eq!(model.requests()[0], request(Task::Title));
    assert_eq!(
        ScriptedLanguageModel::queue().complete(&request(Task::Title)).await.unwrap_err().kind(),
        ErrorKind::Unavailable
    );
}

fn request(task: Task) -> Request {
    Request {
        task,
        instructions: "Be brief.".to_owned(),
        passages: vec![
            Passage::new("v:0", PassageKind::Speech, "It rains."),
            Passage::new("v:1", PassageKind::Prose, "A street."),
        ],
        question: Some("Does it rain?".to_owned()),
        fields: Vec::new(),
        images: Vec::new(),
        max_tokens: 50,
        sink: TokenSink::default(),
    }
}

fn options(url: &str) -> OpenAiOptions {
    OpenAiOptions {
        connection: Connection {
            base_url: url.to_owned(),
            api_key: Some(KEY.to_owned()),
            connect_timeout: Duration::from_secs(5),
            timeout: Duration::from_secs(20),
            concurrency: 4,
            retry: Retry {
                attempts: 3,
                first_pause: Duration::from_millis(1),
                longest_pause: Duration::from_millis(5),
                total_pause: Duration::from_secs(5),
            },
        },
        model: "test-model".to_owned(),
        context_tokens: 50_000,
        max_output_tokens: 1000,
        ..OpenAiOptions::default()
    }
}

fn model(server: &Server) -> OpenAiLanguageModel {
    OpenAiLanguageModel::new(options(&server.url)).unwrap()
}

/// Returns a chat completion with this text.
fn says(text: &str) -> Reply {
    Reply::json(200, completion(text, "stop"))
}

fn completion(text: &str, finish: &str) -> Value {
    json!({
        "choices": [{ "message": { "role": "assistant", "content": text }, "finish_reason": finish }],
        "usage": { "prompt_tokens": 100, "completion_tokens": 10 },
    })
}

fn fails(status: u16, message: &str) -> Reply {
    Reply::json(status, json!({ "error": { "message": message } }))
}

const TITLE: &str = r#"{"title": "Rain"}"#;

/// Answers each task with a document that matches the requested schema.
fn fill_schema(request: &ReceivedRequest) -> Reply {
    let sent = &request.body["response_format"]["json_schema"];
    let answer = match sent["name"].as_str().unwrap() {
        "describe" => {
            json!({ "description": "Grey.", "setting": "", "people": [], "objects": [], "actions": [], "tags": [] })
        }
        "summarize" => {
            json!({ "summary": "It rains.", "key_points": ["It rains."], "topics": ["rain"] })
        }
        "title" => json!({ "title": "Rain" }),
        "events" => {
            json!({ "events": [{ "event": "Rain falls.", "actor": "", "category": "scene", "passage": "1" }] })
        }
        "answer" => json!({ "sentences": [
            { "text": "Yes.", "passages": ["1"] },
            { "text": "Made up.", "passages": ["nowhere"] },
        ] }),
        "narrate" => json!({ "narrative": "It rains." }),
        "persons" => json!({ "persons": [{ "clothing": "", "description": "", "action": "" }] }),
        other => panic!("no task {other}"),
    };
    says(&answer.to_string())
}

#[tokio::test]
async fn openai() {
    let server = Server::start(|request, _| fill_schema(request)).await;
    let model = model(&server);
    suite::check(&model).await;

    let sent = server.received();
    assert!(sent.iter().all(|request| request.path == "/v1/chat/completions"));
    assert!(
        sent.iter()
            .all(|request| request.authorization.as_deref() == Some("Bearer sk-very-secret"))
    );
    assert_eq!(sent[0].body["model"], "test-model");
    assert_eq!(sent[0].body["response_format"]["json_schema"]["strict"], true);
    assert_eq!(sent[0].body["max_tokens"], 800);

    let completion = model.complete(&request(Task::Answer)).await.unwrap();
    assert_eq!(completion.usage, Usage { calls: 1, input_tokens: 100, output_tokens: 10 });
    let answer: Answer = serde_json::from_value(completion.answer).unwrap();
    assert_eq!(answer.sentences.len(), 1, "a sentence without a valid citation is removed");
    assert_eq!(answer.sentences[0].passages, ["v:0"]);
}

/// Completes a request against scripted replies. Returns the usage or the error kind, and the
/// number of calls.
async fn outcome(replies: Vec<Reply>) -> (Result<Usage, ErrorKind>, usize) {
    let server = Server::in_turn(replies).await;
    let result = model(&server).complete(&request(Task::Title)).await;
    if let Err(e) = &result {
        let error_text = format!("{e} {e:?}");
        assert!(!error_text.contains(KEY), "the key is in {error_text}");
    }
    let result = result
        .map(|completion| {
            assert_eq!(completion.answer, json!({ "title": "Rain" }));
            completion.usage
        })
        .map_err(|e| e.kind());
    (result, server.calls())
}

fn usage(calls: u32, answered: u64) -> Result<Usage, ErrorKind> {
    Ok(Usage { calls, input_tokens: 100 * answered, output_tokens: 10 * answered })
}

#[tokio::test]
async fn openai_retries_transient_errors() {
    let busy =
        |header: &str| Reply::Send(429, header.to_owned(), r#"{"error": "slow down"}"#.to_owned());
    let soon = httpdate::fmt_http_date(SystemTime::now());
    let cases = [
        (vec![busy("retry-after: 0\r\n"), says(TITLE)], usage(2, 1), 2),
        (vec![busy(&format!("retry-after: {soon}\r\n")), says(TITLE)], usage(2, 1), 2),
        (vec![busy(""), busy(""), says(TITLE)], usage(3, 1), 3),
        (vec![busy("")], Err(ErrorKind::Unavailable), 3),
        // If the server asks for a delay that exceeds the maximum, the client does not wait.
        (vec![busy("retry-after: 3600\r\n")], Err(ErrorKind::Unavailable), 1),
        (vec![fails(500, "oops"), fails(503, "oops"), says(TITLE)], usage(3, 1), 3),
        (vec![fails(502, "oops")], Err(ErrorKind::Unavailable), 3),
        (vec![Reply::Drop, says(TITLE)], usage(1, 1), 2),
        (vec![Reply::CutOff, says(TITLE)], usage(2, 1), 2),
        (vec![Reply::Drop], Err(ErrorKind::Unavailable), 3),
    ];
    for (case, (replies, expected, calls)) in cases.into_iter().enumerate() {
        assert_eq!(outcome(replies).await, (expected, calls), "case {case}");
    }
}

#[tokio::test]
async fn openai_does_not_retry_permanent_errors() {
    let refused = json!({
        "choices": [{ "message": { "content": null, "refusal": "I cannot do that." }, "finish_reason": "stop" }],
    });
    let quota = json!({ "error": { "message": "pay first", "code": "insufficient_quota" } });
    let cases = [
        (fails(401, "Incorrect API key provided: sk-very-secret"), ErrorKind::Denied),
        (fails(403, "no"), ErrorKind::Denied),
        (fails(404, "no such model"), ErrorKind::NotFound),
        (fails(400, "This model's maximum context length is 8192 tokens"), ErrorKind::TooLarge),
        (fails(413, "too large"), ErrorKind::TooLarge),
        (fails(400, "bad request"), ErrorKind::Invalid),
        (fails(500, "image input is not supported"), ErrorKind::Invalid),
        (Reply::json(429, quota), ErrorKind::Denied),
        (Reply::json(200, refused), ErrorKind::Denied),
        (Reply::json(200, completion("", "content_filter")), ErrorKind::Denied),
        (Reply::Send(200, String::new(), "<html>".to_owned()), ErrorKind::Corrupt),
        (Reply::json(200, json!({ "choices": [] })), ErrorKind::Corrupt),
        (
            Reply::Send(307, "location: http://127.0.0.1:1/\r\n".to_owned(), String::new()),
            ErrorKind::Other,
        ),
    ];
    for (case, (reply, kind)) in cases.into_iter().enumerate() {
        assert_eq!(outcome(vec![reply]).await, (Err(kind), 1), "case {case}");
    }
}

#[tokio::test]
async fn openai_repairs_an_answer_once() {
    let cases = [
        (vec![says("```json\n{\"title\": \"Rain\"}\n```")], usage(1, 1), 1),
        (vec![says("Rain!"), says(TITLE)], usage(2, 2), 2),
        (vec![says(r#"{"heading": "Rain"}"#), says(TITLE)], usage(2, 2), 2),
        (vec![says("Rain!")], Err(ErrorKind::Corrupt), 2),
    ];
    for (case, (replies, expected, calls)) in cases.into_iter().enumerate() {
        assert_eq!(outcome(replies).await, (expected, calls), "case {case}");
    }

    let server = Server::in_turn(vec![says(r#"{"heading": "Rain"}"#), says(TITLE)]).await;
    model(&server).complete(&request(Task::Title)).await.unwrap();
    let messages = server.received()[1].body["messages"].clone();
    assert_eq!(messages[2]["content"], r#"{"heading": "Rain"}"#);
    let repair_request = messages[3]["content"].as_str().unwrap();
    assert!(
        repair_request.contains("unknown field `heading`"),
        "the mistake is quoted: {repair_request}"
    );
}

#[tokio::test]
async fn openai_retries_a_truncated_answer_with_more_tokens() {
    let cut = Reply::json(200, completion("{\"title\": \"Ra", "length"));
    let server = Server::in_turn(vec![cut.clone(), says(TITLE)]).await;
    let answered = model(&server).complete(&request(Task::Title)).await.unwrap();
    assert_eq!(answered.usage, usage(2, 2).unwrap());
    let limits: Vec<Value> =
        server.received().iter().map(|r| r.body["max_tokens"].clone()).collect();
    assert_eq!(limits, [50, 200]);
    assert_eq!(outcome(vec![cut]).await, (Err(ErrorKind::Corrupt), 2));
    // If the answer is cut off below the requested maximum, the server's context is full.
    let mut full = completion(r#"{"title": "Ra"#, "length");
    full["usage"]["completion_tokens"] = json!(190);
    let server = Server::in_turn(vec![Reply::json(200, full)]).await;
    let error = model(&server).complete(&request(Task::Title)).await.unwrap_err().to_string();
    assert!(error.contains("cut off after 190 of 200 tokens"), "{error}");
    assert!(error.contains("context is full"), "{error}");
    // An answer is accepted if it is complete despite the cut-off.
    let late = Reply::json(200, completion(TITLE, "length"));
    assert_eq!(outcome(vec![late]).await, (usage(1, 1), 1));
}

#[tokio::test]
async fn openai_remembers_what_the_server_accepts() {
    let server = Server::start(|request, _| {
        let body = &request.body;
        if body.get("max_tokens").is_some() {
            fails(400, "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.")
        } else if body.get("temperature").is_some() {
            fails(400, "Unsupported value: 'temperature' does not support 0.0 with this model.")
        } else {
            match body["response_format"]["type"].as_str() {
                Some("json_schema") => {
                    fails(400, "response_format of type json_schema is not supported")
                }
                Some(_) => fails(400, "unknown field response_format"),
                None => says(TITLE),
            }
        }
    })
    .await;
    let model = model(&server);
    let first = model.complete(&request(Task::Title)).await.unwrap();
    assert_eq!((first.usage.calls, server.calls()), (5, 5));
    let second = model.complete(&request(Task::Title)).await.unwrap();
    assert_eq!(
        (second.usage.calls, server.calls()),
        (1, 6),
        "refused parameters are not sent again"
    );
    let last = &server.received()[5].body;
    assert_eq!(last["max_completion_tokens"], 50);
    let system = last["messages"][0]["content"].as_str().unwrap();
    assert!(
        system.contains("\"title\""),
        "the prompt contains the schema if the server takes none"
    );
}

#[tokio::test]
async fn openai_detects_an_unsupported_format_by_any_status() {
    let server = Server::start(|request, _| match request.body.get("response_format") {
        Some(_) => fails(500, "response_format is not supported"),
        None => says(TITLE),
    })
    .await;
    let answered = model(&server).complete(&request(Task::Title)).await.unwrap();
    assert_eq!((answered.usage.calls, server.calls()), (3, 3));
}

#[tokio::test]
async fn openai_does_not_retry_a_timeout() {
    let server = Server::in_turn(vec![Reply::Hang]).await;
    let mut options = options(&server.url);
    options.connection.timeout = Duration::from_millis(300);
    let model = OpenAiLanguageModel::new(options).unwrap();
    let error = model.complete(&request(Task::Title)).await.unwrap_err();
    assert_eq!((error.kind(), server.calls()), (ErrorKind::Timeout, 1), "{error}");
}

#[tokio::test]
async fn openai_names_a_dead_endpoint() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    drop(listener);
    let model = OpenAiLanguageModel::new(options(&url)).unwrap();
    let error = model.complete(&request(Task::Title)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert!(error.to_string().contains("127.0.0.1"), "{error}");
}

#[tokio::test]
async fn openai_sends_images_to_vision_models() {
    let server = Server::start(|request, _| fill_schema(request)).await;
    let mut looking = request(Task::Describe);
    looking.passages.clear();
    looking.images =
        vec![bytes::Bytes::from_static(b"\xFF\xD8one"), bytes::Bytes::from_static(b"\xFF\xD8two")];
    model(&server).complete(&looking).await.unwrap();
    let content = server.received()[0].body["messages"][1]["content"].clone();
    assert_eq!(content.as_array().unwrap().len(), 3);
    assert!(
        content[2]["image_url"]["url"].as_str().unwrap().starts_with("data:image/jpeg;base64,")
    );

    let blind =
        OpenAiLanguageModel::new(OpenAiOptions { sees: false, ..options(&server.url) }).unwrap();
    assert_eq!(blind.complete(&looking).await.unwrap_err().kind(), ErrorKind::Invalid);
    assert_eq!(server.calls(), 1, "a blind model is not asked");
}

#[tokio::test]
async fn openai_limits_concurrency() {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    // Two requests may run at once, so two requests hang and the others are never sent.
    let in_flight = Arc::new(AtomicUsize::new(0));
    let count = in_flight.clone();
    let server = Server::start(move |_, _| {
        count.fetch_add(1, Ordering::SeqCst);
        Reply::Hang
    })
    .await;
    let mut options = options(&server.url);
    options.connection.concurrency = 2;
    let model = Arc::new(OpenAiLanguageModel::new(options).unwrap());
    let asking: Vec<_> = (0..6)
        .map(|_| {
            let model = model.clone();
            tokio::spawn(async move { model.complete(&request(Task::Title)).await })
        })
        .collect();
    while in_flight.load(Ordering::SeqCst) < 2 {
        tokio::task::yield_now().await;
    }
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert_eq!(in_flight.load(Ordering::SeqCst), 2);
    asking.iter().for_each(|task| task.abort());
}

#[tokio::test]
async fn openai_streams_an_answer() {
    let answer = json!({ "sentences": [
        { "text": "It rains.", "passages": ["v:0"] }, { "text": "Much.", "passages": ["v:0"] },
    ] })
    .to_string();
    let (first, second) = answer.split_at(30);
    let event = |delta: &str, finish: Value| {
        let choice = json!({ "delta": { "content": delta }, "finish_reason": finish });
        format!("data: {}\n\n", json!({ "choices": [choice] }))
    };
    let usage =
        json!({ "choices": [], "usage": { "prompt_tokens": 100, "completion_tokens": 10 } });
    let stream = [
        event(first, Value::Null),
        event(second, json!("stop")),
        format!("data: {usage}\n\ndata: [DONE]\n\n"),
    ]
    .concat();
    let headers = "content-type: text/event-stream\r\n".to_owned();
    let refused = "Unrecognized request argument supplied: stream_options";
    for (replies, pieces, streamed) in [
        (vec![Reply::Send(200, headers, stream)], 2, vec![true]),
        // The server ignores the request to stream.
        (vec![says(&answer)], 0, vec![true]),
        (vec![fails(400, refused), says(&answer)], 0, vec![true, false]),
    ] {
        let server = Server::in_turn(replies).await;
        let events = Arc::new(Mutex::new(Vec::new()));
        let sink_events = events.clone();
        let sink = TokenSink::new(move |piece, begins| {
            sink_events.lock().unwrap().push((piece.to_owned(), begins));
        });
        let request = Request { sink, ..request(Task::Answer) };
        let completion = model(&server).complete(&request).await.unwrap();
        assert_eq!(completion.answer.to_string(), answer);
        assert_eq!(completion.usage.output_tokens, 10);
        let events = events.lock().unwrap();
        assert_eq!(events.len(), pieces, "{events:?}");
        let text: String = events.iter().map(|(piece, _)| piece.as_str()).collect();
        assert!(
            pieces == 0 || (text == "It rains. Much." && events[0].1 && !events[1].1),
            "{events:?}"
        );
        let stream_flags: Vec<bool> =
            server.received().iter().map(|sent| sent.body["stream"] == json!(true)).collect();
        assert_eq!(stream_flags, streamed);
    }
    // Without a sink, no stream is requested.
    let server = Server::in_turn(vec![says(&answer)]).await;
    model(&server).complete(&request(Task::Answer)).await.unwrap();
    assert_eq!(server.received()[0].body["stream"], Value::Null);
}
