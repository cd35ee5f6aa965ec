use serde_json::json;

use crate::support::{TestApp, clip, keys};

#[tokio::test]
async fn a_job_has_the_contracts_fields() {
    let app = TestApp::new().await;
    let job = app.job_of(&[], "clip.mp4", &clip(30.0)).await;
    assert_eq!(
        keys(&job),
        ["created_at", "detail", "error", "job_id", "result", "stage", "status", "updated_at"]
    );
    assert_eq!((&job["status"], &job["stage"]), (&json!("done"), &json!("complete")));
    assert_eq!(job["error"], json!(null));
}

#[tokio::test]
async fn every_job_is_listed_newest_first() {
    let app = TestApp::new().await;
    assert_eq!(app.get("/jobs").await.ok(), json!({"jobs": [], "total": 0}));
    let first = app.job_of(&[], "clip.mp4", &clip(10.0)).await;
    let second = app.job_of(&[], "clip.mp4", b"not a video").await;
    assert_eq!(app.get("/jobs").await.ok(), json!({"jobs": [second, first], "total": 2}));
    assert_eq!(app.get("/jobs?limit=1&offset=1").await.ok(), json!({"jobs": [first], "total": 2}));
}
