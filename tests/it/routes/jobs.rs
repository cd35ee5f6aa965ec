use std::sync::Arc;
use std::sync::atomic::Ordering;

use adapters::jobs::MemoryJobs;
use poem::http::Method;
use serde_json::{Value, json};

use crate::support::{TestApp, clip, keys, mentions, multipart};

#[tokio::test]
async fn job_fields_match_the_contract() {
    let app = TestApp::new().await;
    let job = app.job_of(&[], "clip.mp4", &clip(30.0)).await;
    assert_eq!(
        keys(&job),
        [
            "created_at",
            "detail",
            "error",
            "job_id",
            "result",
            "source",
            "stage",
            "status",
            "updated_at"
        ]
    );
    assert_eq!(job["source"], json!("clip.mp4"));
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

#[tokio::test]
async fn queued_and_running_jobs_can_be_cancelled() {
    let app = TestApp::with(|setup| setup.settings.ingest.workers = 1).await;
    app.model.stalled.store(true, Ordering::SeqCst);
    let mut ids = Vec::new();
    for seconds in [10.0, 11.0] {
        let reply = app.upload(&[], "c.mp4", &clip(seconds)).await;
        ids.push(reply.json()["job_id"].as_str().unwrap().to_owned());
    }
    let [running, waiting] = ids.try_into().unwrap();
    while app.get(&format!("/jobs/{running}")).await.json()["stage"] != "analyzing" {
        tokio::time::sleep(std::time::Duration::from_millis(2)).await;
    }
    for id in [&waiting, &running] {
        let job = app.delete(&format!("/jobs/{id}")).await.ok();
        assert_eq!(job["job_id"], **id);
        let job = app.finished(id).await;
        assert_eq!(job["status"], "failed");
        mentions(job["error"].as_str().unwrap(), &["Cancelled", "the job was cancelled"]);
    }
    assert_eq!(app.get("/videos").await.ok()["total"], 0, "nothing is partially published");
    assert_eq!(app.spooled(), 0);

    app.model.stalled.store(false, Ordering::SeqCst);
    let done = app.job_of(&[], "c.mp4", &clip(10.0)).await;
    let path = format!("/jobs/{}", done["job_id"].as_str().unwrap());
    assert_eq!(app.delete(&path).await.ok(), done, "a finished job does not change");
    mentions(&app.delete("/jobs/none").await.error(404), &["unknown job 'none'"]);
}

#[tokio::test]
async fn event_stream_follows_a_job_to_its_end() {
    let app = TestApp::new().await;
    let reply = app.upload(&[], "c.mp4", &clip(30.0)).await;
    let id = reply.json()["job_id"].as_str().unwrap().to_owned();
    let events = app.get(&format!("/jobs/{id}/events")).await;
    assert_eq!(events.header("content-type"), "text/event-stream");
    let text = events.text();
    let jobs: Vec<Value> = text
        .lines()
        .filter_map(|line| line.strip_prefix("data:"))
        .map(|data| serde_json::from_str(data).unwrap())
        .collect();
    assert!(text.contains("event: job") || text.contains("event:job"), "{text}");
    assert!(jobs.iter().all(|job| job["job_id"] == *id));
    assert_eq!(jobs.last(), Some(&app.get(&format!("/jobs/{id}")).await.ok()));
    assert_eq!(jobs.iter().filter(|job| job["status"] == "done").count(), 1);
    let again = app.get(&format!("/jobs/{id}/events")).await.text();
    assert_eq!(again.matches("data:").count(), 1, "an ended job has one event: {again}");
    mentions(&app.get("/jobs/none/events").await.error(404), &["unknown job 'none'"]);
}

#[tokio::test]
async fn newest_finished_jobs_are_retained() {
    for jobs in [MemoryJobs::new(), MemoryJobs::shared()] {
        let app = TestApp::with(|setup| {
            setup.jobs = Arc::new(jobs);
            setup.settings.jobs.history = 2;
        })
        .await;
        let mut ids = Vec::new();
        for seconds in [10.0, 11.0, 12.0] {
            ids.push(app.job_of(&[], "c.mp4", &clip(seconds)).await["job_id"].clone());
        }
        let listing = loop {
            let listing = app.get("/jobs").await.ok();
            if listing["total"] == 2 {
                break listing;
            }
            tokio::time::sleep(std::time::Duration::from_millis(2)).await;
        };
        assert_eq!(
            [&listing["jobs"][0]["job_id"], &listing["jobs"][1]["job_id"]],
            [&ids[2], &ids[1]]
        );
        let oldest = format!("/jobs/{}", ids[0].as_str().unwrap());
        mentions(&app.get(&oldest).await.error(404), &["unknown job", "old ones are forgotten"]);
        // An unfinished job is retained regardless of how many end after it.
        app.model.stalled.store(true, Ordering::SeqCst);
        let running = app.upload(&[], "c.mp4", &clip(13.0)).await.json()["job_id"].clone();
        for _ in 0..3 {
            app.job_of(&[], "c.mp4", b"not a video").await;
        }
        let status =
            app.get(&format!("/jobs/{}", running.as_str().unwrap())).await.ok()["status"].clone();
        assert_ne!(status, "failed");
        app.model.stalled.store(false, Ordering::SeqCst);
    }
}

#[tokio::test]
async fn repeated_idempotency_key_creates_one_job() {
    let app = TestApp::new().await;
    let send = async |key: &str, fields: &[(&str, &str)]| {
        let (kind, body) = multipart(fields, Some(("c.mp4", &clip(10.0))));
        let request = app.request(Method::POST, "/videos").header("Idempotency-Key", key);
        app.raw(request.content_type(&kind).body(body)).await
    };
    let first = send("a", &[]).await.json();
    assert_eq!(send("a", &[]).await.json()["job_id"], first["job_id"]);
    assert_ne!(send("b", &[]).await.json()["job_id"], first["job_id"]);
    let other = send("a", &[("mode", "interval"), ("interval", "5")]).await;
    mentions(&other.error(422), &["Idempotency-Key", "another request"]);
    send(&"x".repeat(256), &[]).await.error(422);
    assert_eq!(app.get("/jobs").await.ok()["total"], 2);

    let url = async |key: &str, url: &str| {
        let request = app.request(Method::POST, "/videos/url").header("Idempotency-Key", key);
        let body = json!({ "url": url }).to_string();
        app.raw(request.content_type("application/json").body(body)).await
    };
    let first = url("c", "http://media.test/c.mp4").await.json();
    assert_eq!(url("c", "http://media.test/c.mp4").await.json()["job_id"], first["job_id"]);
    url("c", "http://media.test/d.mp4").await.error(422);
}
