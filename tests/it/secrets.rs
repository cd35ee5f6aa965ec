//! Passwords and signatures in source URLs are used for the download only; they are neither stored
//! nor returned.

use adapters::fetcher::Response;
use serde_json::{Value, json};

use crate::support::{TestApp, clip, keys};

const URL: &str =
    "http://user:s3cret-a@media.example.org/clip.mp4?v=2&X-Amz-Signature=s3cret-b&Expires=9";
const REDACTED_URL: &str =
    "http://media.example.org/clip.mp4?v=2&X-Amz-Signature=REDACTED&Expires=9";

fn assert_no_secret(what: &Value) {
    assert!(!what.to_string().contains("s3cret"), "{what}");
}

async fn ingest(app: &TestApp) -> Value {
    let reply = app.post_json("/videos/url", json!({"url": URL})).await;
    assert_eq!((reply.status, reply.json()["source"].as_str()), (202, Some(REDACTED_URL)));
    app.finished(reply.json()["job_id"].as_str().unwrap()).await
}

#[tokio::test]
async fn secrets_in_a_url_are_not_stored() {
    let app = TestApp::new().await;
    let kind = ("content-type".to_owned(), "video/mp4".to_owned());
    let body = vec![bytes::Bytes::from(clip(20.0))];
    app.fetcher.respond(URL, Response { status: 200, headers: vec![kind], body });
    let job = ingest(&app).await;
    assert_eq!(job["status"], "done", "{job}");
    let id = job["result"]["video_id"].as_str().unwrap();
    let video = app.get(&format!("/videos/{id}")).await.ok();
    assert_eq!(video["source_url"], REDACTED_URL);
    assert_no_secret(&app.get("/jobs").await.ok());
    app.edit_record(id, |record| {
        assert!(keys(record).contains(&"source_url"));
        assert_no_secret(record);
    })
    .await;

    // A record of an older version that stored the URL unredacted.
    app.edit_record(id, |record| record["source_url"] = URL.into()).await;
    assert_eq!(app.get(&format!("/videos/{id}")).await.ok()["source_url"], REDACTED_URL);
    let plan =
        app.post_json("/videos/plan", json!({"url": URL.replace("s3cret-b", "other")})).await;
    assert_eq!(plan.ok()["video_id"], id, "a new signature does not change the source");
}

#[tokio::test]
async fn download_errors_contain_no_secret() {
    let app = TestApp::new().await;
    app.fetcher.respond(URL, Response { status: 500, headers: vec![], body: vec![] });
    let job = ingest(&app).await;
    assert_eq!(job["status"], "failed");
    assert_no_secret(&job);
    let refused = app.post_json("/videos/url", json!({"url": "ftp://u:s3cret@a.test/x"})).await;
    refused.error(400);
    assert_no_secret(&refused.json());
}
