//! Scrubs check every video once per interval, also across restarts.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::time::Duration;

use domain::maintenance::repair::RepairReport;
use ports::index::{FieldValue, Filter, Point, PointId, VectorIndex};
use ports::listing::VideoListing;
use ports::records::RecordStore;
use serde_json::{Map, Value, json};

use crate::support::{TestApp, clip};
use crate::vision::ingest_street;

const DAY: Duration = Duration::from_secs(86_400);

/// Ingests three videos and returns their ids in order.
async fn videos(app: &TestApp) -> Vec<String> {
    let mut ids = Vec::new();
    for seconds in [30.0, 31.0, 32.0] {
        ids.push(app.video_of(&clip(seconds)).await);
    }
    ids.sort();
    ids
}

/// Removes the points of a video from the index.
async fn lose_points(app: &TestApp, id: &str) {
    let points = Filter::video(id.parse().unwrap());
    app.index.replace(Some(&points), Vec::new()).await.unwrap();
}

/// Runs a scrub to its end if one is due.
async fn scrub(app: &TestApp, every: Duration) -> Option<RepairReport> {
    let mut cursor = app.service.maintenance.scrubber.due_scrub(every).await.unwrap()?;
    loop {
        match app.service.maintenance.scrubber.continue_scrub(cursor, DAY).await.unwrap() {
            ControlFlow::Break(report) => return Some(report),
            ControlFlow::Continue(next) => cursor = next,
        }
    }
}

#[tokio::test]
async fn scrub_skips_videos_checked_recently() {
    let app = TestApp::new().await;
    let ids = videos(&app).await;
    lose_points(&app, &ids[1]).await;
    let report = scrub(&app, DAY).await.expect("no scrub has run");
    assert_eq!((report.videos, report.rebuilt), (3, 1));
    lose_points(&app, &ids[1]).await;
    assert_eq!(scrub(&app, DAY).await, None);
    assert_eq!(scrub(&app, Duration::ZERO).await.expect("always due").rebuilt, 1);
}

#[tokio::test]
async fn an_interrupted_scrub_resumes_where_it_stopped() {
    let app = TestApp::new().await;
    let ids = videos(&app).await;
    let cursor =
        app.service.maintenance.scrubber.due_scrub(DAY).await.unwrap().expect("no scrub has run");
    let step =
        app.service.maintenance.scrubber.continue_scrub(cursor, Duration::ZERO).await.unwrap();
    assert!(step.is_continue(), "one of three videos is checked");
    drop(step);
    lose_points(&app, &ids[0]).await;
    lose_points(&app, &ids[2]).await;
    let report = scrub(&app, DAY).await.expect("the scrub is unfinished");
    assert_eq!((report.videos, report.rebuilt), (2, 1));
    assert_eq!(scrub(&app, DAY).await, None);
    assert_eq!(scrub(&app, Duration::ZERO).await.expect("always due").rebuilt, 1);
}

#[tokio::test]
async fn interrupted_scrubs_remove_documents_of_videos_without_a_record() {
    let app = TestApp::new().await;
    let ids = videos(&app).await;
    lose_points(&app, &ids[0]).await;
    app.records.delete(&format!("videos/{}/video.json", ids[0])).await.unwrap();
    let documents = async || app.records.list(&format!("videos/{}/", ids[0])).await.unwrap().len();
    let scrubber = &app.service.maintenance.scrubber;
    let step = async || {
        let cursor = scrubber.due_scrub(DAY).await.unwrap().expect("the scrub is unfinished");
        scrubber.continue_scrub(cursor, Duration::ZERO).await.unwrap()
    };
    // Stops after the first video, which has no record.
    assert!(step().await.is_continue() && documents().await > 0);
    let mut flow = step().await;
    while let ControlFlow::Continue(next) = flow {
        flow = scrubber.continue_scrub(next, Duration::ZERO).await.unwrap();
    }
    assert_eq!(documents().await, 0);
    assert_eq!(scrubber.due_scrub(DAY).await.unwrap().map(|_| ()), None);
}

#[tokio::test]
async fn a_rebuilt_listing_makes_a_scrub_due() {
    let app = TestApp::new().await;
    videos(&app).await;
    scrub(&app, DAY).await.expect("no scrub has run");
    app.listing.set_mark("another format").await.unwrap();
    app.service.catalog.listing.rebuild().await.unwrap();
    assert!(scrub(&app, DAY).await.is_some());
}

/// Rewrites a video's points and the state of the scrub as versions that did not store statements
/// had them.
async fn downgrade(app: &TestApp, id: &str) {
    let of_video = Filter::video(id.parse().unwrap());
    let vectors = app.index.vectors(&of_video, "combined").await.unwrap();
    let mut vectors: BTreeMap<PointId, Vec<f32>> = vectors.into_iter().collect();
    let mut earlier = Vec::new();
    for point in app.index.list(&of_video, 1000).await.unwrap() {
        let mut document: Map<String, Value> = point.document.read().unwrap();
        document.remove("_format").expect("a current format");
        document.remove("_fields");
        let records = document.remove("_records").unwrap_or_else(|| json!({}));
        for name in ["turns", "persons", "detections", "texts"] {
            let records = records.get(name).cloned().unwrap_or_else(|| json!([]));
            document.insert(name.into(), records);
        }
        let statements = document.remove("_statements").expect("statements");
        document.insert("_parts".into(), statements);
        let revision = document["_revision"].as_str().expect("a revision").to_owned();
        earlier.push(Point {
            vectors: vectors
                .remove(&point.id)
                .map(|v| ("combined".into(), v))
                .into_iter()
                .collect(),
            payload: BTreeMap::from([("revision".into(), FieldValue::Keywords(vec![revision]))]),
            text: document["text"].as_str().expect("a text").into(),
            document: Value::Object(document).into(),
            id: point.id,
        });
    }
    app.index.replace(Some(&of_video), earlier).await.unwrap();
    let mark = app.listing.mark().await.unwrap().expect("a scrub has run");
    let mut state: Value = serde_json::from_str(&mark).unwrap();
    let points = state["looked"]["embedder"].as_str().expect("an embedder and a format");
    let (embedder, _) = points.split_once("/format ").expect("a format");
    state["looked"]["embedder"] = json!(embedder);
    app.listing.set_mark(&state.to_string()).await.unwrap();
}

#[tokio::test]
async fn points_of_an_earlier_format_are_searched_and_then_rewritten() {
    let (app, result) = ingest_street("default_video,people,object_detection,ocr").await;
    let id = result["video_id"].as_str().expect("a video").to_owned();
    let query = json!({"text": "dog", "analyzer": "*", "detail": "full", "synthesize": false});
    let question = json!({"question": "Is there a dog?", "video_ids": [id]});
    let current = app.post_json("/query", query.clone()).await.ok();
    assert_ne!(current["results"], json!([]));
    let answer = app.post_json("/ask", question.clone()).await.ok();
    scrub(&app, DAY).await.expect("no scrub has run");

    downgrade(&app, &id).await;
    assert_eq!(app.post_json("/query", query.clone()).await.ok(), current);
    assert_eq!(app.post_json("/ask", question.clone()).await.ok()["answer"], answer["answer"]);

    let report = scrub(&app, DAY).await.expect("due because of the format");
    assert!(report.rebuilt > 0);
    for point in app.index.list(&Filter::video(id.parse().unwrap()), 1000).await.unwrap() {
        let document: Value = point.document.read().unwrap();
        assert_eq!((document.get("_format").is_some(), document.get("_parts")), (true, None));
    }
    assert_eq!(app.post_json("/query", query).await.ok(), current);
}
