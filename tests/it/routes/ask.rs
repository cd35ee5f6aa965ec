use std::sync::Arc;

use adapters::llm::Extractive;
use async_trait::async_trait;
use poem::http::Method;
use ports::llm::{Completion, LanguageModel, Request};
use serde_json::{Value, json};

use crate::support::{FakeModel, TestApp, clip, keys, mentions};

#[tokio::test]
async fn answer_cites_and_lists_its_sources() {
    let app = TestApp::new().await;
    let id = app.video().await;
    let answer = app.post_json("/ask", json!({"question": "Who opens the door?"})).await.ok();
    assert_eq!(
        keys(&answer),
        ["answer", "answered", "audit", "question", "results", "sources"],
        "no error key"
    );
    mentions(answer["answer"].as_str().unwrap(), &[&format!("[{id} 0-10]")]);
    let sources = answer["sources"][&id].as_object().unwrap();
    assert!(sources["routed_to"].is_array());
    assert!(sources.iter().all(|(name, value)| name == "routed_to" || value.is_u64()));
    assert_eq!(answer["results"].as_array().unwrap().len(), 3);
    assert!(answer["results"][0]["video_url"].is_string());
    assert!(answer["results"][0]["snippet"].is_null());
}

#[tokio::test]
async fn unsupported_sentences_are_removed_from_the_answer() {
    let app = TestApp::new().await;
    let id = app.video().await;
    let says = [
        ("A woman in a red coat opens the door.", "red coat"),
        ("A woman opens 12 doors.", "red coat"),
        ("Maria Lopez opens the wooden door.", "red coat"),
        ("The woman opens that wooden door.", "Fog"),
        ("She leaves in a hurry.", ""),
    ];
    *app.model.says.lock().unwrap() = says.to_vec();
    let answer = app.post_json("/ask", json!({"question": "Who opens the door?"})).await.ok();
    let audit: Vec<_> = answer["audit"]
        .as_array()
        .unwrap()
        .iter()
        .map(|s| (s["sentence"].as_str().unwrap(), s["verdict"].as_str().unwrap()))
        .collect();
    let verdicts = ["supported", "unsupported", "unsupported", "unsupported", "unsupported"];
    let expected: Vec<_> = says.iter().map(|(text, _)| *text).zip(verdicts).collect();
    assert_eq!(audit, expected);
    assert_eq!(answer["audit"][0]["citations"], json!([format!("[{id} 0-10]")]));
    assert_eq!(answer["audit"][4]["citations"], json!([]));
    let expected = format!("A woman in a red coat opens the door. [{id} 0-10]");
    assert_eq!(answer["answer"], expected);
}

#[tokio::test]
async fn answer_without_supported_sentences_is_marked_unanswered() {
    let app = TestApp::new().await;
    let id = app.video().await;
    *app.model.says.lock().unwrap() = vec![("Two giraffes eat leaves.", "red coat")];
    for (path, field, form) in [("/ask", "question", "0-10]"), ("/query", "text", "0-10s]")] {
        let answer = app.post_json(path, json!({field: "woman red coat door"})).await.ok();
        let text = answer["answer"].as_str().unwrap();
        mentions(text, &["No moment answers this question", &format!("[{id} {form}")]);
        assert_eq!(answer["answered"], false);
        assert!(!text.contains("giraffe"), "{text}");
        assert_eq!(answer["audit"][0]["verdict"], "unsupported");
        assert_eq!(
            answer["audit"][1]["verdict"], "supported",
            "the sentence in the answer is supported"
        );
    }
}

#[tokio::test]
async fn a_refusal_names_the_aggregates_that_know_the_topic() {
    let app = TestApp::new().await;
    let id = app.video().await;
    *app.model.says.lock().unwrap() = vec![("Two giraffes eat leaves.", "red coat")];
    let question = "how many people or objects there are, counts and totals";
    let answer = app.post_json("/ask", json!({"question": question})).await.ok();
    assert_eq!(answer["answered"], false);
    let routed = answer["sources"][&id]["routed_to"].as_array().unwrap();
    assert!(routed.contains(&json!("stats")), "{answer}");
    let text = answer["answer"].as_str().unwrap();
    mentions(text, &["No moment answers this question", "stats", "These results may say more: "]);
    assert!(!text.contains("does not show"), "{text}");
}

#[tokio::test]
async fn a_question_about_a_name_that_no_video_has_is_refused() {
    let app = TestApp::with(|setup| setup.llm = Some(Arc::new(Extractive::default()))).await;
    app.video().await;
    let question = "Which wooden door does Barbarossa open in a red coat?";
    let reason = "No moment answers this question: nothing is said or shown about Barbarossa";
    for (path, field) in [("/ask", "question"), ("/query", "text")] {
        let answer = app.post_json(path, json!({field: question})).await.ok();
        mentions(answer["answer"].as_str().unwrap(), &[reason]);
        assert_eq!(answer["answered"], false, "{path}");
    }
    // A file name is evidence, too, and then only its video is.
    let job = app.job_of(&[], "Barbarossa_1.mp4", &clip(20.0)).await;
    let id = job["result"]["video_id"].as_str().unwrap();
    let answer = app.post_json("/ask", json!({"question": question})).await.ok();
    let text = answer["answer"].as_str().unwrap();
    assert!(!text.contains("nothing is said"), "{text}");
    let citations = answer["audit"].as_array().unwrap().iter();
    let citations = citations.flat_map(|sentence| sentence["citations"].as_array().unwrap());
    assert!(citations.clone().all(|cited| cited.as_str().unwrap().contains(id)), "{answer}");
}

#[tokio::test]
async fn sources_count_the_evidence_read() {
    let few = TestApp::with(|setup| setup.settings.ask.context_tokens = 50).await;
    let all = TestApp::new().await;
    for (app, chunks) in [(few, 1), (all, 3)] {
        let id = app.video().await;
        let answer = app.post_json("/ask", json!({"question": "Who opens the door?"})).await.ok();
        assert_eq!(answer["sources"][&id]["chunks"], chunks);
    }
}

#[tokio::test]
async fn no_videos_ingested() {
    let app = TestApp::new().await;
    for body in [json!({"question": "Who?"}), json!({"question": "Who?", "video_ids": null})] {
        assert_eq!(
            app.post_json("/ask", body).await.ok(),
            json!({
                "question": "Who?", "answer": null, "sources": {}, "results": [],
                "error": "No videos ingested.",
            })
        );
    }
}

#[tokio::test]
async fn nothing_indexed_for_the_requested_videos() {
    let app = TestApp::new().await;
    app.video().await;
    for ids in [json!(["0000000000000000"]), json!(["../../x"]), json!([])] {
        let answer =
            app.post_json("/ask", json!({"question": "Who?", "video_ids": ids})).await.ok();
        assert_eq!(answer["error"], "Nothing indexed for the requested videos.");
        assert_eq!((&answer["answer"], &answer["sources"]), (&Value::Null, &json!({})));
    }
    let question = json!({"question": "Who opens the door?", "analyzer": "auto"});
    let answer = app.post_json("/ask", question).await.ok();
    assert_eq!(answer["answered"], true, "{answer}");
}

#[tokio::test]
async fn segments_are_limited_per_video() {
    let app = TestApp::new().await;
    let (first, second) = (app.video_of(&clip(100.0)).await, app.video_of(&clip(110.0)).await);
    let body = json!({"question": "boat", "limit": 2, "video_ids": [first, second]});
    let answer = app.post_json("/ask", body).await.ok();
    for id in [&first, &second] {
        let segments =
            answer["results"].as_array().unwrap().iter().filter(|hit| hit["video_id"] == **id);
        assert_eq!(segments.count(), 2);
    }
}

#[tokio::test]
async fn question_over_the_library_uses_every_video() {
    let app = TestApp::new().await;
    for length in 0..24 {
        app.video_of(&clip(100.0 + f64::from(length))).await;
    }
    let answer = app.post_json("/ask", json!({"question": "boat", "limit": 2})).await.ok();
    assert_eq!(answer["sources"].as_object().unwrap().len(), 24, "{answer}");
    assert_eq!(answer["results"].as_array().unwrap().len(), 48);
    // The limit on all segments keeps the most probable videos.
    let answer = app.post_json("/ask", json!({"question": "boat", "limit": 6})).await.ok();
    assert!(answer["sources"].as_object().unwrap().len() <= 10, "{answer}");
    assert!(answer["results"].as_array().unwrap().len() <= 60);
}

#[tokio::test]
async fn unknown_analyzer_is_refused() {
    let app = TestApp::new().await;
    let reply = app.post_json("/ask", json!({"question": "Who?", "analyzer": "nope"})).await;
    mentions(&reply.error(400), &["nope", "default_video"]);
}

/// Names and data of the events of a stream.
fn stream_events(stream: &str) -> Vec<(String, Value)> {
    let events = stream.split("\n\n").filter_map(|event| {
        let name = event.lines().find_map(|line| line.strip_prefix("event: "))?;
        let data = event.lines().find_map(|line| line.strip_prefix("data: "))?;
        Some((name.to_owned(), serde_json::from_str(data).unwrap()))
    });
    events.collect()
}

#[tokio::test]
async fn answer_is_streamed_sentence_by_sentence() {
    let app = TestApp::new().await;
    let id = app.video().await;
    let question = json!({"question": "Who opens the door?"});
    let whole = app.post_json("/ask", question.clone()).await.ok();
    let stream = async |body: Value| {
        let request = app.request(Method::POST, "/ask").header("accept", "text/event-stream");
        app.raw(request.content_type("application/json").body(body.to_string())).await
    };
    let reply = stream(question).await;
    assert_eq!((reply.status, reply.header("content-type")), (200, "text/event-stream"));
    let events = stream_events(&reply.text());
    let names: Vec<&str> = events.iter().map(|(name, _)| name.as_str()).collect();
    let supported =
        whole["audit"].as_array().unwrap().iter().filter(|s| s["verdict"] != "unsupported");
    let supported: Vec<&Value> = supported.collect();
    assert_eq!(names, [&["moments"], &vec!["sentence"; supported.len()][..], &["answer"]].concat());
    assert_eq!(events[0].1["results"], whole["results"]);
    let sentences: Vec<&Value> = events[1..=supported.len()].iter().map(|(_, data)| data).collect();
    assert_eq!(sentences, supported);
    assert_eq!(events.last().unwrap().1, whole);
    mentions(whole["answer"].as_str().unwrap(), &[&id]);

    let unknown = stream(json!({"question": "Who?", "analyzer": "nobody"})).await;
    mentions(&unknown.error(400), &["nobody"]);
}

#[tokio::test]
async fn question_about_chosen_moments_uses_only_those_moments() {
    let app = TestApp::new().await;
    let (one, two) = (app.video_of(&clip(50.0)).await, app.video_of(&clip(30.0)).await);
    let ask = async |moments: Value| {
        let body = json!({"question": "Who opens the door?", "moment_ids": moments, "limit": 1});
        app.post_json("/ask", body).await
    };
    let chunks_used = |answer: &Value| {
        let results = answer["results"].as_array().unwrap().iter();
        let mut chunks: Vec<String> = results
            .map(|hit| format!("{} {}", hit["video_id"].as_str().unwrap(), hit["chunk_id"]))
            .collect();
        chunks.sort();
        chunks
    };
    let moment = |id: &str, start: u32, end: u32| format!("m_{id}_{start}000_{end}000");
    let mut expected =
        [format!("{one} 1"), format!("{one} 2"), format!("{one} 4"), format!("{two} 0")];
    expected.sort();
    let chosen = json!([
        moment(&one, 10, 20),
        moment(&one, 25, 30),
        moment(&one, 40, 50),
        moment(&two, 0, 10)
    ]);
    let answer = ask(chosen).await.ok();
    assert_eq!(
        chunks_used(&answer),
        expected,
        "exactly the chosen moments, regardless of the limit"
    );
    mentions(answer["answer"].as_str().unwrap(), &[&format!("[{two} 0-10]")]);
    assert_eq!(answer["sources"][&two]["routed_to"], json!([]));
    assert_eq!(answer["sources"][&two]["summary"], 0, "no summary of the whole video");
    for (wrong, words) in [
        (json!(["nonsense"]), "names no moment"),
        (json!([moment("0000000000000000", 0, 1)]), "is gone"),
    ] {
        mentions(&ask(wrong).await.error(400), &[words]);
    }
    ask(json!([])).await.error(422);
}

/// A model that streams two drafts before its answer.
struct StreamingModel(Arc<dyn LanguageModel>);

#[async_trait]
impl LanguageModel for StreamingModel {
    fn model(&self) -> &str {
        self.0.model()
    }

    fn supports_images(&self) -> bool {
        self.0.supports_images()
    }

    fn is_billed(&self) -> bool {
        self.0.is_billed()
    }

    fn is_extractive(&self) -> bool {
        false
    }

    fn context_tokens(&self) -> usize {
        self.0.context_tokens()
    }

    async fn complete(&self, request: &Request) -> ports::Result<Completion> {
        for (piece, begins) in [("A dog", true), ("A woman", true), (" opens it.", false)] {
            request.sink.send(piece, begins);
        }
        self.0.complete(request).await
    }
}

#[tokio::test]
async fn model_text_is_streamed_before_it_is_checked() {
    let app = TestApp::with(|setup| {
        setup.llm = Some(Arc::new(StreamingModel(Arc::new(FakeModel::default()))));
    })
    .await;
    app.video().await;
    let question = json!({"question": "Who opens the door?"});
    let request = app.request(Method::POST, "/ask").header("accept", "text/event-stream");
    let reply = app.raw(request.content_type("application/json").body(question.to_string())).await;
    let events = stream_events(&reply.text());
    let names: Vec<&str> = events.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names[..4], ["moments", "piece", "piece", "piece"]);
    assert!(names[4..].starts_with(&["sentence"]) && names.ends_with(&["answer"]), "{names:?}");
    assert_eq!(events[2].1, json!({"text": "A woman", "begins": true}));
    assert_eq!(events[3].1, json!({"text": " opens it.", "begins": false}));
}
