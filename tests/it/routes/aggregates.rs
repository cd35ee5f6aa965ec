use serde_json::{Value, json};

use crate::support::{TestApp, keys, mentions};

async fn rerun(app: &TestApp, path: &str, form: &str) -> Value {
    let reply = app.post_text(path, "application/x-www-form-urlencoded", form.to_owned()).await;
    assert_eq!(reply.status, 202, "{}", reply.text());
    assert_eq!(keys(&reply.json()), ["job_id", "status", "video_id"]);
    app.finished(reply.json()["job_id"].as_str().unwrap()).await["result"].clone()
}

#[tokio::test]
async fn aggregates_are_returned_all_or_one() {
    let app = TestApp::new().await;
    let id = app.video().await;
    let all = app.get(&format!("/videos/{id}/aggregates")).await.ok();
    assert_eq!(keys(&all), ["aggregates", "available", "video_id"]);
    for aggregator in ["stats", "novelty", "summary", "chapters", "events"] {
        assert!(all["available"].as_array().unwrap().contains(&json!(aggregator)), "{aggregator}");
        let one = app.get(&format!("/videos/{id}/aggregates?aggregator={aggregator}")).await.ok();
        assert_eq!(keys(&one), ["aggregator", "result", "video_id"]);
        assert_eq!(one["result"], all["aggregates"][aggregator]);
    }
}

#[tokio::test]
async fn aggregates_are_listed_in_contract_order() {
    const ORDER: [&str; 12] = [
        "stats",
        "novelty",
        "speaker_stats",
        "sentiment",
        "ner",
        "summary",
        "chapters",
        "events",
        "entities",
        "entity_timelines",
        "cooccurrence",
        "object_entities",
    ];
    let app = TestApp::new().await;
    let id = app.video().await;
    assert_eq!(app.get("/health").await.ok()["aggregators"], json!(ORDER));
    let ids = |object: &Value| object.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(ids(&app.get("/schema").await.ok()["aggregators"]), ORDER);
    let all = app.get(&format!("/videos/{id}/aggregates")).await.ok();
    let stored: Vec<&str> =
        ORDER.into_iter().filter(|id| all["aggregates"].get(id).is_some()).collect();
    assert!(stored.len() >= 5, "{stored:?}");
    assert_eq!(ids(&all["aggregates"]), stored);
    assert_eq!(all["available"], json!(stored));
    assert_eq!(app.get(&format!("/videos/{id}")).await.ok()["aggregates"], json!(stored));
    let result = rerun(&app, &format!("/videos/{id}/aggregates"), "").await;
    assert_eq!((&result["ran"], &result["aggregates"]), (&json!(stored), &json!(stored)));
}

#[tokio::test]
async fn rerun_of_one_aggregator_computes_only_that_one() {
    let app = TestApp::new().await;
    let id = app.video().await;
    let result = rerun(&app, &format!("/videos/{id}/aggregates"), "aggregators=stats").await;
    assert_eq!(
        keys(&result),
        [
            "aggregates",
            "failed",
            "llm_calls_saved",
            "ran",
            "recomputed_because_analyzers_changed",
            "reused",
            "skipped",
            "video_id"
        ]
    );
    assert_eq!(result["ran"], json!(["stats"]));
    assert_eq!(result["failed"], json!({}));
}

#[tokio::test]
async fn without_force_stored_results_are_reused() {
    let app = TestApp::new().await;
    let id = app.video().await;
    let calls = app.model.calls.load(std::sync::atomic::Ordering::SeqCst);
    let path = format!("/videos/{id}/aggregates?force=false");
    let result = rerun(&app, &path, "aggregators=stats,summary").await;
    assert_eq!(result["ran"], json!([]));
    assert_eq!(result["reused"], json!(["stats", "summary"]));
    assert_eq!(result["llm_calls_saved"], json!(["summary"]));
    assert_eq!(app.model.calls.load(std::sync::atomic::Ordering::SeqCst), calls);
}

#[tokio::test]
async fn rerun_without_a_form_is_accepted() {
    let app = TestApp::new().await;
    let id = app.video().await;
    let path = format!("/videos/{id}/aggregates");
    let reply = app.raw(app.request(poem::http::Method::POST, &path).finish()).await;
    assert_eq!(reply.status, 202, "{}", reply.text());
    let job = app.finished(reply.json()["job_id"].as_str().unwrap()).await;
    assert!(job["result"]["ran"].as_array().unwrap().len() >= 5, "{job}");
    let everything = rerun(&app, &path, "aggregators=").await;
    assert_eq!(everything["ran"], job["result"]["ran"]);
    let reply = app.post_text(&path, "application/json", "{\"aggregators\": \"stats\"}").await;
    mentions(&reply.error(422), &["application/x-www-form-urlencoded"]);
    let reply = app.get(&format!("{path}?aggregator=")).await;
    reply.error(400);
}
