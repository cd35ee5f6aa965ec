//! Publication is atomic: whichever step around it fails, a video is in its old or its new state.

use std::sync::atomic::Ordering;

use domain::maintenance::repair::Repair;
use ports::records::RecordStore;
use serde_json::{Value, json};

use crate::support::{Publication, TestApp, clip, mentions};

/// Chunks of five seconds; [`TestApp::video`] makes chunks of ten.
const FIVES: &[(&str, &str)] = &[("mode", "interval"), ("interval", "5")];

/// The number of chunks of a video; asserts that each has its analyzer output.
async fn chunks(app: &TestApp, id: &str) -> usize {
    let log = app.get(&format!("/videos/{id}/chunks")).await.ok();
    let chunks = log["chunks"].as_array().unwrap();
    assert!(chunks.iter().all(|chunk| chunk["default_video"].is_object()), "{log}");
    app.get(&format!("/videos/{id}/aggregates")).await.ok();
    chunks.len()
}

async fn documents(app: &TestApp, id: &str) -> Vec<String> {
    app.records.list(&format!("videos/{id}/")).await.unwrap()
}

async fn record(app: &TestApp, id: &str) -> Value {
    app.records.get(&format!("videos/{id}/video.json")).await.unwrap().expect("a record")
}

#[tokio::test]
async fn lost_acknowledgement_does_not_undo_a_publication() {
    let app = TestApp::new().await;
    app.records.at_publication(Publication::Unanswered);
    let id = app.video().await;
    assert_eq!(chunks(&app, &id).await, 3);
    app.records.at_publication(Publication::Unanswered);
    let job = app.job_of(FIVES, "clip.mp4", &clip(30.0)).await;
    assert_eq!(job["status"], "done", "{job}");
    assert_eq!(chunks(&app, &id).await, 6);
    app.records.at_publication(Publication::Unanswered);
    let rerun = format!("/videos/{id}/aggregates");
    let form = "application/x-www-form-urlencoded";
    let job = app.post_text(&rerun, form, "aggregators=stats").await.json();
    let job = app.finished(job["job_id"].as_str().unwrap()).await;
    assert_eq!(job["status"], "done", "{job}");
    assert_eq!(chunks(&app, &id).await, 6);
    let reply = app.get(&format!("/storage/{id}/clip.mp4")).await;
    assert_eq!(reply.body, clip(30.0));
}

#[tokio::test]
async fn failed_listing_update_does_not_undo_a_publication() {
    let app = TestApp::new().await;
    app.records.unlisted.store(true, Ordering::SeqCst);
    let id = app.video().await;
    assert_eq!(chunks(&app, &id).await, 3);
    let job = app.job_of(FIVES, "clip.mp4", &clip(30.0)).await;
    assert_eq!(job["status"], "done", "{job}");
    assert_eq!(chunks(&app, &id).await, 6);
    let superseded = app.records.unlisted.swap(false, Ordering::SeqCst);
    assert!(superseded);
    let before = documents(&app, &id).await.len();
    app.service.maintenance.reindexer.reindex(Repair::default()).await.unwrap();
    assert!(documents(&app, &id).await.len() < before, "a repair removes superseded documents");
    assert_eq!(chunks(&app, &id).await, 6);
}

#[tokio::test]
async fn failed_publication_leaves_the_video_unchanged() {
    let app = TestApp::new().await;
    app.records.at_publication(Publication::Refused);
    let job = app.job_of(FIVES, "clip.mp4", &clip(30.0)).await;
    mentions(job["error"].as_str().unwrap(), &["ConnectionError", "records"]);
    assert_eq!(app.stored(), 0, "its objects are deleted");
    let id = app.video().await;
    let (before, record_before) = (documents(&app, &id).await, record(&app, &id).await);
    app.records.at_publication(Publication::Refused);
    let job = app.job_of(FIVES, "clip.mp4", &clip(30.0)).await;
    assert_eq!(job["status"], "failed", "{job}");
    assert_eq!(documents(&app, &id).await, before);
    assert_eq!(record(&app, &id).await["chunks"], record_before["chunks"]);
    assert_eq!(chunks(&app, &id).await, 3);
    let page = app.post_json("/query", json!({"text": "boat", "limit": 50})).await.ok();
    assert_eq!(page["results"].as_array().unwrap().len(), 3, "its vectors are restored: {page}");
}

#[tokio::test(start_paused = true)]
async fn nothing_is_discarded_while_the_outcome_is_unknown() {
    let app = TestApp::new().await;
    let id = app.video().await;
    app.records.at_publication(Publication::Last);
    let job = app.job_of(FIVES, "clip.mp4", &clip(30.0)).await;
    assert_eq!(job["status"], "failed", "{job}");
    app.records.recover();
    assert_eq!(chunks(&app, &id).await, 6, "it was published");
}

#[tokio::test]
async fn overtaken_publication_fails_and_keeps_the_winners_documents() {
    let app = TestApp::new().await;
    let id = app.video().await;
    // The record of the other instance names its own documents.
    let mut other = record(&app, &id).await;
    let spans = app.records.get(other["chunks_document"].as_str().unwrap()).await.unwrap();
    let own = format!("videos/{id}/chunks-of-the-other.json");
    app.records.put(&own, &spans.expect("the chunks")).await.unwrap();
    other["chunks_document"] = json!(own);
    let before = documents(&app, &id).await;
    app.records.at_publication(Publication::Overtaken(other.clone()));
    let job = app.job_of(FIVES, "clip.mp4", &clip(30.0)).await;
    assert_eq!(job["status"], "failed", "{job}");
    mentions(job["error"].as_str().unwrap(), &["another instance", "ingest it again"]);
    assert_eq!(record(&app, &id).await, other);
    let after = documents(&app, &id).await;
    assert!(before.iter().all(|key| after.contains(key)), "{before:?} {after:?}");
    assert_eq!(chunks(&app, &id).await, 3);
}

#[tokio::test]
async fn ingest_restores_missing_documents_of_a_record() {
    let app = TestApp::new().await;
    let id = app.video().await;
    let described = app.model.described.load(Ordering::SeqCst);
    for part in ["chunks-", "signals-", "speech-", "default_video-", "stats-", "summary-"] {
        let documents = documents(&app, &id).await;
        let lost = documents.iter().find(|key| key.contains(&format!("/{part}")));
        app.records.delete(lost.expect("a document")).await.unwrap();
        assert_eq!(app.video().await, id);
        assert_eq!(chunks(&app, &id).await, 3, "without {part}");
        let page = app.post_json("/query", json!({"text": "boat", "limit": 50})).await.ok();
        assert_eq!(page["results"].as_array().unwrap().len(), 3, "without {part}: {page}");
    }
    assert_eq!(app.model.described.load(Ordering::SeqCst), described, "no model call is repeated");
    assert_eq!(app.get("/health").await.ok()["unreadable"], json!([]));
}

#[tokio::test(start_paused = true)]
async fn late_removal_does_not_delete_a_republished_object() {
    let app = TestApp::new().await;
    let id = app.video().await;
    app.storage.slow.store(true, Ordering::SeqCst);
    let deleted = app.delete(&format!("/videos/{id}")).await.ok();
    mentions(deleted["storage_error"].as_str().unwrap(), &["TimeoutError", "records.deadline"]);
    app.storage.slow.store(false, Ordering::SeqCst);
    assert_eq!(app.video().await, id);
    assert_eq!(app.storage.land().await, 1);
    let path = app.get(&format!("/videos/{id}")).await.ok()["storage_path"].clone();
    let object = app.get(&format!("/storage/{}", path.as_str().unwrap())).await;
    assert_eq!((object.status, object.body), (200, clip(30.0)));
    assert_eq!(app.service.maintenance.verification.run().await.unwrap().problems, [""; 0]);
}
