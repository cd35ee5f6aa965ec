//! Section 7: one test per partial-failure row, named after it. The request succeeds, and the response names
//! the part that failed.

use std::sync::atomic::Ordering;

use domain::maintenance::repair::Repair;
use ports::llm::Task;
use serde_json::{Value, json};

use crate::support::{TestApp, clip, mentions};

#[tokio::test]
async fn an_ingest_reports_failed_aggregators() {
    let app = TestApp::new().await;
    app.model.fail(Task::Events, "events cannot be found");
    let job = app.job_of(&[], "c.mp4", &clip(30.0)).await;
    assert_eq!(job["status"], "done", "{job}");
    let aggregated = &job["result"]["aggregated"];
    let events = "ConnectionError: events cannot be found";
    assert_eq!(aggregated["failed"], json!({"events": events}), "{aggregated}");
}

#[tokio::test]
async fn one_aggregator_raises() {
    let app = TestApp::new().await;
    let id = app.video().await;
    app.model.fail(Task::Events, "events cannot be found");
    let kind = "application/x-www-form-urlencoded";
    let reply = app.post_text(&format!("/videos/{id}/aggregates"), kind, "").await;
    let job = app.finished(reply.json()["job_id"].as_str().unwrap()).await;
    let result = &job["result"];
    assert_eq!(job["status"], "done");
    assert_eq!(result["failed"], json!({"events": "ConnectionError: events cannot be found"}));
    for other in ["stats", "novelty", "summary", "chapters"] {
        assert!(result["ran"].as_array().unwrap().contains(&json!(other)), "{result}");
    }
}

#[tokio::test]
async fn the_model_fails_in_a_query_or_a_question() {
    let app = TestApp::new().await;
    let id = app.video().await;
    app.model.fail(Task::Answer, "the model provider does not answer");
    let error = "ConnectionError: the model provider does not answer";
    let page = app.post_json("/query", json!({"text": "door"})).await.ok();
    assert_eq!((&page["answer"], &page["answer_error"]), (&Value::Null, &json!(error)));
    assert_eq!(page["results"].as_array().map(Vec::len), Some(3), "the hits are returned");
    assert_eq!(page.get("audit"), None);
    let answer = app.post_json("/ask", json!({"question": "Who opens the door?"})).await.ok();
    assert_eq!((&answer["answer"], &answer["answer_error"]), (&Value::Null, &json!(error)));
    assert!(
        !answer["results"].as_array().unwrap().is_empty() && answer["sources"][&id].is_object()
    );
    assert_eq!(answer.get("error"), None, "error is only for the empty cases");
    app.model.failing.lock().unwrap().clear();
    let page = app.post_json("/query", json!({"text": "door"})).await.ok();
    assert!(page["answer"].is_string() && page.get("answer_error").is_none());
}

#[tokio::test]
async fn an_aggregators_analyzer_never_ran() {
    let app = TestApp::new().await;
    let id = app.video().await;
    let schema = app.get("/schema").await.ok();
    let analyzers = schema["analyzers"].as_array().unwrap();
    let unmet: Vec<&String> = schema["aggregators"]
        .as_object()
        .unwrap()
        .iter()
        .filter(|(_, info)| {
            let needs = info["depends_on"].as_array().unwrap();
            needs.iter().any(|need| !analyzers.contains(need))
        })
        .map(|(id, _)| id)
        .collect();
    let kind = "application/x-www-form-urlencoded";
    let reply = app.post_text(&format!("/videos/{id}/aggregates"), kind, "").await;
    let result = app.finished(reply.json()["job_id"].as_str().unwrap()).await["result"].clone();
    assert_eq!(result["failed"], json!({}));
    for aggregator in unmet {
        assert!(result["skipped"].as_array().unwrap().contains(&json!(aggregator)), "{result}");
    }
}

#[tokio::test]
async fn poster_extraction_fails() {
    let app = TestApp::new().await;
    let file = json!({"seconds": 30.0, "poster": false}).to_string();
    let id = app.video_of(file.as_bytes()).await;
    let video = app.get(&format!("/videos/{id}")).await.ok();
    assert_eq!(video["poster_url"], Value::Null);
    assert_eq!(video["chunks"], 3);
}

#[tokio::test]
async fn storage_delete_fails() {
    let app = TestApp::new().await;
    let id = app.video().await;
    app.storage.keeps.store(true, Ordering::SeqCst);
    let deleted = app.delete(&format!("/videos/{id}")).await.ok();
    assert_eq!(deleted["deleted"], true);
    assert_eq!(deleted["objects"], json!([]));
    assert_eq!(deleted["storage_error"], "PermissionError: the bucket refuses to delete");
    app.get(&format!("/videos/{id}")).await.error(404);
    let page = app.post_json("/query", json!({"text": "door"})).await.ok();
    assert_eq!(page["results"], json!([]));
}

#[tokio::test]
async fn delete_while_storage_is_away_is_finished_by_a_repair() {
    let app = TestApp::new().await;
    let id = app.video().await;
    let files = ["clip.mp4", "poster.jpg"].map(|name| format!("/storage/{id}/{name}"));
    for file in &files {
        assert_eq!(app.get(file).await.status, 200, "{file}");
    }
    app.storage.down.store(true, Ordering::SeqCst);
    let deleted = app.delete(&format!("/videos/{id}")).await.ok();
    assert_eq!((&deleted["deleted"], &deleted["objects"]), (&json!(true), &json!([])));
    let error = "ConnectionError: the bucket cannot be reached";
    assert_eq!(deleted["storage_error"], error);
    app.get(&format!("/videos/{id}")).await.error(404);
    app.storage.down.store(false, Ordering::SeqCst);
    assert_eq!(app.stored(), 1, "its objects are still there");
    app.service.maintenance.reindexer.reindex(Repair::default()).await.unwrap();
    assert_eq!(app.stored(), 0);
    for file in &files {
        app.get(file).await.error(404);
    }
    assert_eq!(app.service.maintenance.verification.run().await.unwrap().problems, [""; 0]);
}

#[tokio::test]
async fn analyzer_produces_nothing_for_a_chunk() {
    let app = TestApp::new().await;
    app.model.blind.lock().unwrap().push("0:10.00-0:20.00".into());
    let fields = [("mode", "interval"), ("interval", "10")];
    let job = app.job_of(&fields, "c.mp4", &clip(30.0)).await;
    assert_eq!(job["result"]["indexed"], json!({"default_video": 2}));
    assert_eq!(job["result"]["chunks"], 3);
    let id = job["result"]["video_id"].as_str().unwrap();
    let chunk = app.get(&format!("/videos/{id}/chunks/1")).await.ok();
    assert!(chunk["default_video"].is_null(), "{chunk}");
}

#[tokio::test]
async fn whole_aggregation_fails_during_ingest() {
    let app = TestApp::new().await;
    app.embedder.fail_after(1);
    let fields = [("mode", "interval"), ("interval", "10")];
    let job = app.job_of(&fields, "c.mp4", &clip(30.0)).await;
    assert_eq!(job["status"], "done", "{job}");
    assert_eq!(
        job["result"]["aggregated"],
        json!({"error": "ConnectionError: the embedder cannot be reached"})
    );
    app.embedder.recover();
    let page = app.post_json("/query", json!({"text": "door"})).await.ok();
    assert_eq!(page["results"].as_array().unwrap().len(), 3, "the video is searchable");
}

#[tokio::test]
async fn storage_unreachable() {
    let app = TestApp::new().await;
    let id = app.video().await;
    app.storage.down.store(true, Ordering::SeqCst);
    let health = app.get("/health").await.ok();
    assert_eq!((&health["status"], &health["storage"]["ok"]), (&json!("degraded"), &json!(false)));
    assert!(health["storage"]["error"].as_str().unwrap().contains("cannot be reached"));
    for route in ["", "/chunks", "/chunks/0", "/aggregates"] {
        assert_eq!(app.get(&format!("/videos/{id}{route}")).await.status, 200, "{route}");
    }
    assert_eq!(app.get("/videos").await.ok()["total"], 1);
    assert_eq!(app.post_json("/query", json!({"text": "door"})).await.status, 200);
    let job = app.job_of(&[], "c.mp4", &clip(40.0)).await;
    assert_eq!(job["status"], "failed");
    mentions(job["error"].as_str().unwrap(), &["ConnectionError: "]);
}
