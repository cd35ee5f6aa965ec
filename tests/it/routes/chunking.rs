use std::sync::atomic::Ordering;

use serde_json::json;

use crate::support::{TestApp, keys, mentions};

#[tokio::test]
async fn preview_returns_boundaries_with_reasons() {
    let app = TestApp::new().await;
    let id = app.video().await;
    let calls = app.model.calls.load(Ordering::SeqCst);
    let path = format!("/videos/{id}/chunking/preview");
    let preview = app.post_json(&path, json!({"preset": "video", "min_duration": 2})).await.json();
    assert_eq!(keys(&preview), ["boundaries", "chunk_config", "chunks", "video_id"]);
    assert_eq!(preview["chunk_config"], "video:2-20");
    let boundaries = preview["boundaries"].as_array().unwrap();
    assert_eq!(preview["chunks"], boundaries.len() + 1);
    // The clip changes its colour every ten seconds.
    assert_eq!(boundaries[0]["time"], 10.0);
    assert_eq!(boundaries[0]["votes"][0]["detector"], "cut");
    assert_eq!(boundaries[0]["votes"][0]["time"], 10.0);
    assert!(boundaries[0]["votes"][0]["score"].as_f64().unwrap() > 0.5);

    let even = app.post_json(&path, json!({"mode": "interval", "interval": 12})).await.json();
    assert_eq!(even["chunks"], 3);
    assert_eq!(
        even["boundaries"],
        json!([{"time": 12.0, "votes": []}, {"time": 24.0, "votes": []}])
    );
    assert_eq!(app.model.calls.load(Ordering::SeqCst), calls, "no model was called");

    let stored = app.get(&format!("/videos/{id}")).await.json();
    assert_eq!(stored["chunk_config"], "interval:10", "nothing has changed");
}

#[tokio::test]
async fn preview_validates_fields_like_an_ingest() {
    let app = TestApp::new().await;
    let id = app.video().await;
    let path = format!("/videos/{id}/chunking/preview");
    for (body, status, word) in [
        (json!({"mode": "weights"}), 400, "weight"),
        (json!({"mode": "weights", "cut": -1}), 422, "cut"),
        (json!({"mode": "interval"}), 400, "interval"),
        (json!({"preset": "sound"}), 400, "audio_video"),
        (json!({"min_duration": "x"}), 422, "min_duration"),
    ] {
        let reply = app.post_json(&path, body.clone()).await;
        assert_eq!(reply.status, status, "{body}");
        mentions(&reply.text(), &[word]);
    }
    let reply = app.post_json("/videos/0123456789abcdef/chunking/preview", json!({})).await;
    assert_eq!(reply.status, 404);
}

#[tokio::test]
async fn ingest_with_previewed_settings_produces_the_previewed_chunks() {
    let app = TestApp::new().await;
    let id = app.video().await;
    let fields = json!({"mode": "weights", "cut": 1, "semantic": 0.5, "min_duration": 3});
    let path = format!("/videos/{id}/chunking/preview");
    let preview = app.post_json(&path, fields).await.json();
    let fields = [("mode", "weights"), ("cut", "1"), ("semantic", "0.5"), ("min_duration", "3")];
    let job = app.job_of(&fields, "clip.mp4", &crate::support::clip(30.0)).await;
    assert_eq!(job["result"]["chunk_config"], preview["chunk_config"]);
    assert_eq!(job["result"]["chunks"], preview["chunks"]);
}
