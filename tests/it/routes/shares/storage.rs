//! What maintenance verifies and removes, and several instances.

use ports::records::RecordStore;
use serde_json::{Value, json};

use super::{page, problems, share, text, titles, withdraw};
use crate::support::{TestApp, clip};

fn document(video_id: &str) -> String {
    format!("shares/{video_id}.json")
}

fn link(share: &Value) -> String {
    format!("share-links/{}.json", text(share, "share_id"))
}

async fn stored(app: &TestApp, key: &str) -> Value {
    app.records.get(key).await.unwrap().unwrap()
}

#[tokio::test]
async fn shares_without_a_video_are_reported_and_swept() {
    let app = TestApp::new().await;
    let id = app.video().await;
    let part = share(&app, &id, json!({"end": 1})).await;
    let gone = "fedcba9876543210";
    app.records.put(&document(gone), &stored(&app, &document(&id)).await).await.unwrap();
    assert_eq!(problems(&app).await, [format!("{gone}: shares without a record")]);
    let shares = &app.service.catalog.shares;
    assert_eq!(shares.sweep().await.unwrap(), 1);
    assert_eq!(app.records.list("shares/").await.unwrap(), [document(&id)]);

    // A link without a share is removed once it is old: its share may be about to be stored.
    let links = stored(&app, &link(&part)).await;
    let unused = |time: i64| format!("share-links/{time:012x}{}.json", "0".repeat(40));
    let now = jiff::Timestamp::now().as_millisecond();
    for time in [now, now - 2 * 3600 * 1000] {
        app.records.put(&unused(time), &links).await.unwrap();
    }
    assert_eq!(problems(&app).await, [""; 0], "it opens nothing");
    assert_eq!(titles(&app.get("/shares").await.ok()).len(), 1);
    assert_eq!(shares.sweep().await.unwrap(), 1);
    let mut expected = [unused(now), link(&part)];
    expected.sort();
    let mut links = app.records.list("share-links/").await.unwrap();
    links.sort();
    assert_eq!(links, expected);
    assert_eq!(shares.sweep().await.unwrap(), 0);
}

#[tokio::test]
async fn shares_without_a_link_get_it_again() {
    let app = TestApp::new().await;
    let id = app.video().await;
    let part = share(&app, &id, json!({"end": 1})).await;
    app.records.delete(&link(&part)).await.unwrap();
    assert_eq!(app.get(&page(&part)).await.status, 404);
    assert_eq!(
        titles(&app.get("/shares").await.ok()),
        [""; 0],
        "only what can be opened is listed"
    );
    let report = problems(&app).await;
    assert_eq!(report, [format!("{id}: 1 shares have no link; a scrub stores it again")]);
    assert_eq!(app.service.catalog.shares.sweep().await.unwrap(), 0);
    assert_eq!(app.get(&page(&part)).await.status, 200);
    assert_eq!(problems(&app).await, [""; 0]);
}

#[tokio::test]
async fn shares_that_expired_long_ago_are_swept() {
    let app = TestApp::new().await;
    let id = app.video().await;
    let old = share(&app, &id, json!({"end": 1, "title": "old"})).await;
    let recent = share(&app, &id, json!({"end": 1, "title": "recent"})).await;
    share(&app, &id, json!({"end": 1, "title": "valid"})).await;
    let mut edited = stored(&app, &document(&id)).await;
    let now = jiff::Timestamp::now().as_millisecond();
    for stored in edited["shares"].as_array_mut().unwrap() {
        let days = match text(stored, "title") {
            "old" => 8,
            "recent" => 6,
            _ => continue,
        };
        stored["expires_at"] = json!(now - days * 24 * 3600 * 1000);
    }
    app.records.put(&document(&id), &edited).await.unwrap();
    for expired in [&old, &recent] {
        assert_eq!(app.get(&page(expired)).await.status, 404);
    }
    assert_eq!(titles(&app.get("/shares").await.ok()).len(), 3);
    assert_eq!(app.service.catalog.shares.sweep().await.unwrap(), 1);
    let mut left = titles(&app.get("/shares").await.ok()).join(",");
    if left.starts_with("recent") {
        left = "valid,recent".into();
    }
    assert_eq!(left, "valid,recent");
    withdraw(&app, &recent).await.ok();
    assert_eq!(problems(&app).await, [""; 0]);
}

#[tokio::test]
async fn damaged_shares_are_reported_and_go_with_their_video() {
    let app = TestApp::new().await;
    let (damaged, unreadable) = (app.video_of(&clip(30.0)).await, app.video_of(&clip(20.0)).await);
    let whole = app.video_of(&clip(10.0)).await;
    let mut shares = Vec::new();
    for id in [&damaged, &unreadable, &whole] {
        shares.push(share(&app, id, json!({"end": 1})).await);
    }
    app.records.put(&document(&damaged), &json!({"shares": 1})).await.unwrap();
    app.records.spoil(&document(&unreadable)).await;
    for (id, share) in [&damaged, &unreadable].into_iter().zip(&shares) {
        app.get(&format!("/shares?video_id={id}")).await.error(500);
        assert_eq!(app.get(&page(share)).await.status, 500);
        app.get(&format!("/videos/{id}")).await.ok();
    }
    assert_eq!(
        app.get("/shares").await.ok()["shares"],
        json!([shares[2]]),
        "the others are listed"
    );
    assert_eq!(app.service.catalog.shares.sweep().await.unwrap(), 0, "they may be restored");
    let reported = problems(&app).await;
    assert_eq!(reported.len(), 2, "{reported:?}");
    for id in [&damaged, &unreadable] {
        assert!(reported.iter().any(|line| line.starts_with(id.as_str())), "{reported:?}");
        app.delete(&format!("/videos/{id}")).await.ok();
    }
    assert_eq!(app.records.list("shares/").await.unwrap(), [document(&whole)]);
    assert_eq!(problems(&app).await, [""; 0]);
    for share in &shares[..2] {
        assert_eq!(app.get(&page(share)).await.status, 404);
    }
}

#[tokio::test]
async fn a_withdrawn_link_is_invalid_at_once_on_every_instance() {
    let app = TestApp::new().await;
    let id = app.video().await;
    let other = TestApp::with(|setup| {
        (setup.records, setup.index) = (app.records.clone(), app.index.clone());
        (setup.listing, setup.storage) = (app.listing.clone(), Some(app.storage.clone()));
    })
    .await;
    let (part, kept) =
        (share(&app, &id, json!({"end": 1})).await, share(&other, &id, json!({"end": 2})).await);
    for file in ["", "/clip.mp4", "/poster.jpg"] {
        assert_eq!(other.get(&format!("{}{file}", page(&part))).await.status, 200, "{file}");
    }
    withdraw(&app, &part).await.ok();
    for file in ["", "/clip.mp4", "/poster.jpg"] {
        assert_eq!(other.get(&format!("{}{file}", page(&part))).await.status, 404, "{file}");
    }
    assert_eq!(app.get(&page(&kept)).await.status, 200);
    assert_eq!(app.get("/shares").await.ok(), other.get("/shares").await.ok());
    app.delete(&format!("/videos/{id}")).await.ok();
    assert_eq!(other.get(&page(&kept)).await.status, 404);
}
