//! What maintenance verifies and removes.

use ports::records::RecordStore;
use serde_json::json;

use super::{comment, document, path, problems, texts};
use crate::support::{TestApp, clip, mentions};

const ACTIVITY_LOG: &str = "activity/log.json";

#[tokio::test]
async fn comments_without_a_video_are_reported_and_swept() {
    let app = TestApp::new().await;
    let id = app.video().await;
    comment(&app, &id, 1.0, "stays").await;
    let stored = app.records.get(&document(&id)).await.unwrap().unwrap();
    let gone = "fedcba9876543210";
    app.records.put(&document(gone), &stored).await.unwrap();
    let problems = problems(&app).await;
    assert_eq!(problems, [format!("{gone}: comments without a record")]);
    assert_eq!(app.service.catalog.comments.sweep().await.unwrap(), 1);
    assert_eq!(app.records.list("comments/").await.unwrap(), [document(&id)]);
    assert_eq!(app.service.catalog.comments.sweep().await.unwrap(), 0);
    assert_eq!(self::problems(&app).await, [""; 0]);
}

#[tokio::test]
async fn damaged_comments_are_reported_and_go_with_their_video() {
    let app = TestApp::new().await;
    let (damaged, unreadable) = (app.video_of(&clip(30.0)).await, app.video_of(&clip(20.0)).await);
    let whole = app.video_of(&clip(10.0)).await;
    for id in [&damaged, &unreadable, &whole] {
        comment(&app, id, 1.0, "a").await;
    }
    app.records.put(&document(&damaged), &json!({"comments": 1})).await.unwrap();
    app.records.spoil(&document(&unreadable)).await;
    for id in [&damaged, &unreadable] {
        app.get(&path(id)).await.error(500);
        app.post_json(&path(id), json!({"start": 1, "text": "b"})).await.error(500);
        app.get(&format!("/videos/{id}")).await.ok();
    }
    assert_eq!(texts(&app.get("/activity").await.ok()), ["a"], "the others are listed");
    let reported = problems(&app).await;
    assert_eq!(reported.len(), 2, "{reported:?}");
    for id in [&damaged, &unreadable] {
        assert!(reported.iter().any(|line| line.starts_with(id.as_str())), "{reported:?}");
        app.delete(&format!("/videos/{id}")).await.ok();
    }
    assert_eq!(app.records.list("comments/").await.unwrap(), [document(&whole)]);
    assert_eq!(problems(&app).await, [""; 0]);

    for spoilt in [true, false] {
        match spoilt {
            true => app.records.spoil(ACTIVITY_LOG).await,
            false => app.records.put(ACTIVITY_LOG, &json!([])).await.unwrap(),
        }
        app.get("/activity").await.error(500);
        mentions(&problems(&app).await.join("\n"), &["activity", ACTIVITY_LOG]);
        comment(&app, &whole, 2.0, "b").await;
        assert_eq!(texts(&app.get("/activity").await.ok()), ["b"]);
        assert_eq!(problems(&app).await, [""; 0]);
    }
}
