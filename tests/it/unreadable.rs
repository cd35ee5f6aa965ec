//! A video whose stored documents cannot be parsed is skipped and reported; it can be deleted or
//! ingested again.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use domain::maintenance::repair::Repair;
use ports::conformance::faults::{Fault, Faults};
use ports::index::{Filter, IndexStatistics, Point, PointId, VectorIndex};
use ports::records::RecordStore;
use ports::{ChunkId, Document};
use serde_json::json;
use tokio::time::Instant;

use crate::support::{TestApp, clip, mentions, video_id};

fn key(id: &str) -> String {
    format!("videos/{id}/video.json")
}

/// Asserts that the bad video is skipped and reported, and that the good one is served.
async fn assert_skipped(app: &TestApp, bad: &str, good: &str) {
    let repaired = app.service.maintenance.reindexer.reindex(Repair::default()).await.unwrap();
    assert_eq!((repaired.videos, repaired.unreadable, repaired.orphans), (1, 1, 0));
    let listing = app.get("/videos").await.ok();
    assert_eq!(listing["total"], 1, "{listing}");
    assert_eq!(listing["videos"][0]["video_id"], good);
    let health = app.get("/health").await.ok();
    assert_eq!(health["unreadable"].as_array().unwrap().len(), 1, "{health}");
    assert_eq!(health["unreadable"][0]["video_id"], bad);
    mentions(health["unreadable"][0]["error"].as_str().unwrap(), &["the record", bad]);
    let verified = app.service.maintenance.verification.run().await.unwrap();
    assert_eq!(verified.problems.len(), 1, "{:?}", verified.problems);
    mentions(&verified.problems[0], &[bad, "delete the video or ingest it again"]);
    for body in [json!({"text": "boat"}), json!({"text": "boat", "video_ids": [bad, good]})] {
        let page = app.post_json("/query", body).await.ok();
        let hits = page["results"].as_array().unwrap();
        assert!(!hits.is_empty() && hits.iter().all(|hit| hit["video_id"] == good), "{page}");
    }
    let answer = app.post_json("/ask", json!({"question": "Who opens the door?"})).await.ok();
    assert!(answer["answer"].is_string(), "{answer}");
}

#[tokio::test]
async fn unreadable_record_can_be_deleted() {
    let tombstone = json!({"tombstone": "deleted"});
    for spoil in [None, Some(json!({"video_id": 7})), Some(json!([])), Some(tombstone)] {
        let app = TestApp::new().await;
        let (bad, good) = (app.video_of(&clip(20.0)).await, app.video().await);
        match &spoil {
            None => app.records.spoil(&key(&bad)).await,
            Some(json) => app.records.put(&key(&bad), json).await.unwrap(),
        }
        assert_skipped(&app, &bad, &good).await;
        let deleted = app.delete(&format!("/videos/{bad}")).await.ok();
        assert_eq!(deleted["objects"].as_array().unwrap().len(), 2, "{deleted}");
        assert_eq!(app.records.list(&format!("videos/{bad}/")).await.unwrap(), [""; 0]);
        assert_eq!(app.index.count(&Filter::video(video_id(&bad))).await.unwrap(), 0);
        assert_eq!(app.get("/health").await.ok()["unreadable"], json!([]));
        app.delete(&format!("/videos/{bad}")).await.error(404);
    }
}

#[tokio::test]
async fn ingest_of_the_same_bytes_replaces_an_unreadable_record() {
    for spoil in [None, Some(json!({"video_id": 7}))] {
        let app = TestApp::new().await;
        let (bad, good) = (app.video_of(&clip(20.0)).await, app.video().await);
        match &spoil {
            None => app.records.spoil(&key(&bad)).await,
            Some(json) => app.records.put(&key(&bad), json).await.unwrap(),
        }
        assert_skipped(&app, &bad, &good).await;
        assert_eq!(app.video_of(&clip(20.0)).await, bad);
        assert_eq!(app.get("/videos").await.ok()["total"], 2);
        assert_eq!(app.get(&format!("/videos/{bad}/chunks")).await.ok()["total"], 2);
        assert_eq!(app.get("/health").await.ok()["unreadable"], json!([]));
        assert_eq!(app.service.maintenance.verification.run().await.unwrap().problems, [""; 0]);
    }
}

#[tokio::test]
async fn failed_ingest_over_an_unreadable_record_discards_nothing() {
    let app = TestApp::new().await;
    let id = app.video().await;
    app.records.spoil(&key(&id)).await;
    let before = app.records.list(&format!("videos/{id}/")).await.unwrap();
    app.embedder.down.store(true, std::sync::atomic::Ordering::SeqCst);
    let job = app.job_of(&[("mode", "interval"), ("interval", "5")], "c.mp4", &clip(30.0)).await;
    assert_eq!(job["status"], "failed", "{job}");
    let after = app.records.list(&format!("videos/{id}/")).await.unwrap();
    assert!(before.iter().all(|key| after.contains(key)), "{before:?} {after:?}");
    let object = app.get(&format!("/storage/{id}/clip.mp4")).await;
    assert_eq!(object.body, clip(30.0));
}

#[tokio::test]
async fn unreadable_documents_do_not_stop_a_repair() {
    let app = TestApp::new().await;
    let (bad, good) = (app.video_of(&clip(20.0)).await, app.video().await);
    let documents = app.records.list(&format!("videos/{bad}/")).await.unwrap();
    let outputs = documents.iter().find(|key| key.contains("/default_video-")).unwrap();
    app.records.spoil(outputs).await;
    // A repair that needs no document of the video succeeds.
    let repaired = app.service.maintenance.reindexer.reindex(Repair::default()).await.unwrap();
    assert_eq!((repaired.videos, repaired.unreadable), (2, 0));
    // Lost vectors can be rebuilt for the good video only.
    app.index.replace(Some(&Filter::default()), Vec::new()).await.unwrap();
    let repaired = app.service.maintenance.reindexer.reindex(Repair::default()).await.unwrap();
    assert_eq!((repaired.videos, repaired.rebuilt, repaired.unreadable), (1, 1, 1));
    let unreadable = app.get("/health").await.ok()["unreadable"].clone();
    assert_eq!(unreadable[0]["video_id"], bad.as_str(), "{unreadable}");
    mentions(unreadable[0]["error"].as_str().unwrap(), &[outputs]);
    assert_eq!(app.get("/videos").await.ok()["total"], 2, "its record is readable");
    let page = app.post_json("/query", json!({"text": "boat"})).await.ok();
    assert_eq!(page["results"][0]["video_id"], good.as_str());
    assert_eq!(app.video_of(&clip(20.0)).await, bad);
    assert_eq!(app.get("/health").await.ok()["unreadable"], json!([]));
    assert_eq!(app.service.maintenance.verification.run().await.unwrap().problems, [""; 0]);
}

#[tokio::test]
async fn video_with_a_damaged_document_is_reported_and_can_be_deleted() {
    let app = TestApp::new().await;
    let good = app.video().await;
    for part in ["chunks-", "signals-", "speech-", "default_video-", "stats-", "summary-"] {
        let bad = app.video_of(&clip(20.0)).await;
        let documents = app.records.list(&format!("videos/{bad}/")).await.unwrap();
        let document = documents.iter().find(|key| key.contains(&format!("/{part}"))).unwrap();
        app.records.spoil(document).await;
        let verified = app.service.maintenance.verification.run().await.unwrap();
        assert_eq!(verified.problems.len(), 1, "{:?}", verified.problems);
        mentions(&verified.problems[0], &[&bad, document]);
        let unreadable = app.get("/health").await.ok()["unreadable"].clone();
        mentions(unreadable[0]["error"].as_str().unwrap(), &[document]);
        assert_eq!(app.get("/videos").await.ok()["total"], 2, "{part}");
        assert_eq!(app.get(&format!("/videos/{good}/chunks")).await.ok()["total"], 3, "{part}");
        let page = app.post_json("/query", json!({"text": "boat", "limit": 50})).await.ok();
        let hits = page["results"].as_array().unwrap();
        assert!(hits.iter().any(|hit| hit["video_id"] == good.as_str()), "{part}: {page}");
        app.delete(&format!("/videos/{bad}")).await.ok();
        assert_eq!(app.records.list(&format!("videos/{bad}/")).await.unwrap(), [""; 0]);
        assert_eq!(app.get("/health").await.ok()["unreadable"], json!([]));
        assert_eq!(app.service.maintenance.verification.run().await.unwrap().problems, [""; 0]);
    }
}

#[tokio::test]
async fn repair_ignores_keys_that_are_not_videos() {
    let app = TestApp::new().await;
    app.records.put("videos/notes-of-mine/a.json", &json!(1)).await.unwrap();
    app.service.maintenance.reindexer.reindex(Repair::default()).await.unwrap();
    assert!(app.records.get("videos/notes-of-mine/a.json").await.unwrap().is_some());
}

#[tokio::test]
async fn unreadable_lease_does_not_lock_the_video() {
    let records = std::sync::Arc::new(crate::support::FlakyRecords::default());
    let length = Some(std::time::Duration::from_secs(3600));
    let claims = domain::records::locks::VideoLocks::new(records.clone(), length);
    records.spoil("claims/0123456789abcdef.json").await;
    assert!(claims.try_lock(video_id("0123456789abcdef")).await.unwrap().is_some());
}

#[tokio::test]
async fn search_on_a_damaged_index_returns_retry_after() {
    let faults = Arc::new(Faults::default());
    let app = TestApp::with(|setup| setup.faults = Some(faults.clone())).await;
    app.video().await;
    for (mode, calls) in
        [("hybrid", ["search", "text_search"]), ("text", ["text_search", "cosines"])]
    {
        faults.plan(usize::MAX, Fault::Damaged);
        let query = json!({"text": "boat", "mode": mode, "synthesize": false});
        app.post_json("/query", query.clone()).await.ok();
        let mut failed_calls = 0;
        for nth in 1..=faults.calls() {
            faults.plan(nth, Fault::Damaged);
            let reply = app.post_json("/query", query.clone()).await;
            let call = faults.clear().expect("as many calls as before");
            if calls.contains(&call.as_str()) {
                failed_calls += 1;
                mentions(&reply.error(503), &["index is damaged", "try again"]);
                assert!(reply.headers.contains_key("retry-after"));
                let index_check = tokio::time::timeout(
                    Duration::from_secs(60),
                    app.service.maintenance.index_check.wait_until_due(None),
                );
                index_check.await.expect("an index check is requested");
            }
        }
        assert_eq!(failed_calls, calls.len(), "{mode}");
    }
}

#[tokio::test]
async fn truncated_hit_counts_as_index_damage() {
    let app = TestApp::new().await;
    let video_id = video_id(&app.video().await);
    let id = PointId { video_id, chunk_id: ChunkId(0), analyzer_id: "default_video".into() };
    let truncated = Point {
        id,
        vectors: Default::default(),
        payload: Default::default(),
        text: "zeppelin".into(),
        document: Document::from_json("{\"start\": 1"),
    };
    app.index.replace(None, vec![truncated]).await.unwrap();
    let query = json!({"text": "zeppelin", "mode": "text", "synthesize": false});
    let reply = app.post_json("/query", query).await;
    mentions(&reply.error(503), &["index is damaged", "try again"]);
    let index_check = tokio::time::timeout(
        Duration::from_secs(60),
        app.service.maintenance.index_check.wait_until_due(None),
    );
    index_check.await.expect("an index check is requested");
}

#[tokio::test]
async fn damaged_index_is_rebuilt_from_the_records_while_the_service_runs() {
    let faults = Arc::new(Faults::default());
    let app = TestApp::with(|setup| setup.faults = Some(faults.clone())).await;
    let id = app.video().await;
    let index_check = &app.service.maintenance.index_check;
    let query = json!({"text": "boat", "synthesize": false, "limit": 50});
    assert!(index_check.repair_index().await.unwrap().is_none(), "nothing is damaged");
    app.get("/ready").await.ok();

    // The check finds damage, and the first attempt to rebuild fails.
    app.embedder.down.store(true, Ordering::SeqCst);
    faults.plan(1, Fault::Damaged);
    index_check.repair_index().await.expect_err("the embedder is down");
    assert_eq!(faults.clear().as_deref(), Some("check"));
    app.embedder.down.store(false, Ordering::SeqCst);
    // This index has nothing that a reset empties.
    app.index.replace(Some(&Filter::default()), Vec::new()).await.unwrap();
    let reply = app.post_json("/query", query.clone()).await;
    mentions(&reply.error(503), &["index is damaged", "try again"]);
    let ready = app.get("/ready").await;
    assert_eq!(ready.status, 503, "{}", ready.text());
    let checks = ready.json()["checks"].clone();
    assert_eq!(checks["index written again"], "failed");
    let others = checks.as_object().unwrap().iter().filter(|(_, state)| *state != "ok");
    assert_eq!(others.count(), 1, "{checks}");

    // A pending rebuild is due at once.
    let due = tokio::time::timeout(Duration::from_secs(60), index_check.wait_until_due(None));
    due.await.expect("a rebuild is pending");
    let rebuilt = index_check.repair_index().await.unwrap().expect("a rebuild");
    assert_eq!((rebuilt.videos, rebuilt.unreadable), (1, 0));
    let page = app.post_json("/query", query).await.ok();
    let hits = page["results"].as_array().unwrap();
    assert!(hits.len() == 3 && hits.iter().all(|hit| hit["video_id"] == id.as_str()), "{page}");
    app.get("/ready").await.ok();
    assert!(index_check.repair_index().await.unwrap().is_none(), "nothing is left to rebuild");
}

#[tokio::test(start_paused = true)]
async fn index_check_is_due_after_its_interval() {
    let app = TestApp::new().await;
    let hour = Duration::from_secs(3600);
    let wait = |due| {
        let check = app.service.maintenance.index_check.wait_until_due(due);
        tokio::time::timeout(2 * hour, check)
    };
    wait(None).await.expect_err("without an interval, no check is due");
    let due = Instant::now() + hour;
    wait(Some(due)).await.expect("the check is due");
    assert!(Instant::now() >= due, "not earlier");
}
