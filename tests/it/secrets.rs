//! Passwords and signatures in the addresses that clients give: whoever downloads sees them, and
//! nobody else does.

use adapters::fetcher::Response;
use serde_json::{Value, json};

use crate::support::{TestApp, clip, keys};

const URL: &str =
    "http://user:s3cret-a@media.example.org/clip.mp4?v=2&X-Amz-Signature=s3cret-b&Expires=9";
const SHOWN: &str = "http://media.example.org/clip.mp4?v=2&X-Amz-Signature=REDACTED&Expires=9";

fn hidden(what: &Value) {
    assert!(!what.to_string().contains("s3cret"), "{what}");
}

async fn ingested(app: &TestApp) -> Value {
    let reply = app.post_json("/videos/url", json!({"url": URL})).await;
    assert_eq!((reply.status, reply.json()["source"].as_str()), (202, Some(SHOWN)));
    app.finished(reply.json()["job_id"].as_str().unwrap()).await
}

#[tokio::test]
async fn what_an_address_holds_in_confidence_is_kept_nowhere() {
    let app = TestApp::new().await;
    let kind = ("content-type".to_owned(), "video/mp4".to_owned());
    let body = vec![bytes::Bytes::from(clip(20.0))];
    app.fetcher.respond(URL, Response { status: 200, headers: vec![kind], body });
    let job = ingested(&app).await;
    assert_eq!(job["status"], "done", "{job}");
    let id = job["result"]["video_id"].as_str().unwrap();
    let video = app.get(&format!("/videos/{id}")).await.ok();
    assert_eq!(video["source_url"], SHOWN);
    hidden(&app.get("/jobs").await.ok());
    app.edit_record(id, |record| {
        assert!(keys(record).contains(&"source_url"));
        hidden(record);
    })
    .await;

    // A version that kept the address as it was given.
    app.edit_record(id, |record| record["source_url"] = URL.into()).await;
    assert_eq!(app.get(&format!("/videos/{id}")).await.ok()["source_url"], SHOWN);
    let plan =
        app.post_json("/videos/plan", json!({"url": URL.replace("s3cret-b", "other")})).await;
    assert_eq!(plan.ok()["video_id"], id, "signed anew it is the same source");
}

#[tokio::test]
async fn a_failure_tells_no_secret() {
    let app = TestApp::new().await;
    app.fetcher.respond(URL, Response { status: 500, headers: vec![], body: vec![] });
    let job = ingested(&app).await;
    assert_eq!(job["status"], "failed");
    hidden(&job);
    let refused = app.post_json("/videos/url", json!({"url": "ftp://u:s3cret@a.test/x"})).await;
    refused.error(400);
    hidden(&refused.json());
}
