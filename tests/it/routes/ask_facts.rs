use std::sync::Arc;

use adapters::llm::Extractive;
use poem::http::Method;
use serde_json::{Value, json};

use crate::support::{TestApp, clip, mentions};

/// An application without a generative model.
async fn extractive() -> TestApp {
    TestApp::with(|setup| setup.llm = Some(Arc::new(Extractive::default()))).await
}

/// Stores who speaks when.
async fn plant_speakers(app: &TestApp, id: &str, turns: &[(&str, f64, f64)]) {
    let timeline: Vec<Value> = turns
        .iter()
        .map(|(speaker, start, end)| json!({"speaker": speaker, "start": start, "end": end}))
        .collect();
    app.plant_aggregate(id, "speaker_stats", json!({"timeline": timeline})).await;
}

async fn ask(app: &TestApp, question: &str, ids: &[&str]) -> Value {
    app.post_json("/ask", json!({"question": question, "video_ids": ids})).await.ok()
}

const TURNS: &[(&str, f64, f64)] = &[("S1", 1.0, 4.0), ("S2", 5.5, 12.0), ("S3", 13.0, 16.0)];

#[tokio::test]
async fn a_fact_is_stated_with_the_moments_that_show_it() {
    let app = extractive().await;
    let id = app.video().await;
    plant_speakers(&app, &id, TURNS).await;
    let answer = ask(&app, "How many people take turns?", &[&id]).await;
    let cited = format!("[{id} 1-4] [{id} 5.5-12] [{id} 13-16]");
    assert_eq!(
        answer["answer"],
        format!("Three speakers are heard: S1, S2 and S3. {cited}"),
        "{answer}"
    );
    assert_eq!((&answer["answered"], &answer["sources"][&id]["facts"]), (&json!(true), &json!(1)));
    let sentence = &answer["audit"][0];
    assert_eq!(sentence["verdict"], "supported");
    assert_eq!(sentence["citations"].as_array().map(Vec::len), Some(3));
    assert_eq!(answer["audit"].as_array().map(Vec::len), Some(1), "nothing else: {answer}");
    assert!(!answer["results"].as_array().unwrap().is_empty(), "results as for other questions");

    let body = json!({"question": "How many people take turns?", "video_ids": [id]}).to_string();
    let request = app.request(Method::POST, "/ask").header("accept", "text/event-stream");
    let reply = app.raw(request.content_type("application/json").body(body)).await.text();
    let events: Vec<&str> = reply.lines().filter_map(|line| line.strip_prefix("event: ")).collect();
    assert_eq!(events, ["moments", "sentence", "answer"]);
}

#[tokio::test]
async fn a_fact_that_rules_out_an_answer_is_the_reason_of_the_refusal() {
    let app = extractive().await;
    let id = app.video().await;
    plant_speakers(&app, &id, &TURNS[..1]).await;
    let answer = ask(&app, "When does the second speaker leave?", &[&id]).await;
    assert_eq!(answer["answered"], false);
    assert_eq!(
        answer["answer"],
        format!("No moment answers this question: only one speaker is heard, S1. [{id} 1-4]")
    );
    let answer = ask(&app, "What is said at 12:00?", &[&id]).await;
    assert_eq!(answer["answered"], false);
    mentions(answer["answer"].as_str().unwrap(), &["No moment answers", "the video ends at"]);
}

#[tokio::test]
async fn facts_of_several_videos_name_their_videos() {
    let app = extractive().await;
    let (one, two) = (app.video_of(&clip(50.0)).await, app.video_of(&clip(30.0)).await);
    plant_speakers(&app, &one, TURNS).await;
    plant_speakers(&app, &two, &TURNS[..2]).await;
    let answer = ask(&app, "How many speakers are there?", &[&one, &two]).await;
    let sentences: Vec<&str> = answer["audit"]
        .as_array()
        .unwrap()
        .iter()
        .map(|sentence| sentence["sentence"].as_str().unwrap())
        .collect();
    assert_eq!(sentences.len(), 2, "{answer}");
    assert!(sentences.iter().all(|sentence| sentence.starts_with("In ")), "{sentences:?}");
    for count in ["Three speakers", "Two speakers"] {
        assert!(sentences.iter().any(|sentence| sentence.contains(count)), "{sentences:?}");
    }
    // Each video on its own may have a third speaker, so the question has no single answer.
    let answer = ask(&app, "When does the fourth speaker leave?", &[&one, &two]).await;
    assert_eq!(answer["sources"][&one]["facts"], Value::Null);
}

#[tokio::test]
async fn facts_are_not_used_for_chosen_moments_or_filtered_chunks() {
    let app = extractive().await;
    let id = app.video().await;
    plant_speakers(&app, &id, TURNS).await;
    let question = "How many people take turns?";
    for restriction in [
        json!({"question": question, "moment_ids": [format!("m_{id}_0_10000")]}),
        json!({"question": question, "filters": {"chunk_ids": [0, 1, 2]}}),
    ] {
        let answer = app.post_json("/ask", restriction).await.ok();
        assert_eq!(answer["sources"][&id]["facts"], Value::Null, "{answer}");
    }
}

#[tokio::test]
async fn a_language_model_can_cite_facts() {
    let app = TestApp::new().await;
    let id = app.video().await;
    plant_speakers(&app, &id, TURNS).await;
    *app.model.says.lock().unwrap() = vec![
        ("Three speakers are heard.", "Three speakers are heard"),
        ("Nine dogs bark.", "Three"),
    ];
    let answer = ask(&app, "How many people take turns?", &[&id]).await;
    mentions(
        answer["answer"].as_str().unwrap(),
        &["Three speakers are heard.", &format!("[{id} 1-4]")],
    );
    assert!(!answer["answer"].as_str().unwrap().contains("dogs"), "{answer}");
    assert_eq!(answer["sources"][&id]["facts"], 1);
}

#[tokio::test]
async fn speakers_are_those_of_the_output_and_not_of_an_older_aggregate() {
    let app = extractive().await;
    let id = app.video().await;
    plant_speakers(&app, &id, TURNS).await;
    let turn = json!({"speaker": "Ada", "start": 1.0, "end": 4.0, "text": "Good morning."});
    let outputs = json!([{"turns": [turn], "speakers": ["Ada"]}, null, null]);
    app.plant_output(&id, "diarization", outputs).await;
    let answer = ask(&app, "How many people take turns?", &[&id]).await;
    assert_eq!(answer["answer"], format!("One speaker is heard: Ada. [{id} 1-4]"), "{answer}");
}

#[tokio::test]
async fn a_corrupt_fact_leaves_the_question_to_the_search() {
    let app = extractive().await;
    let id = app.video().await;
    app.plant_aggregate(&id, "speaker_stats", json!({"timeline": "none"})).await;
    let answer = ask(&app, "How many people take turns?", &[&id]).await;
    assert_eq!(answer["sources"][&id]["facts"], Value::Null, "{answer}");
    assert!(answer["answer_error"].is_null(), "{answer}");
}
