//! Links to the selects of a bin.

use serde_json::{Value, json};

use super::super::bins::{bin, span};
use super::{ADA, ALL, READER, app_with_tokens, page, problems, share, text, video_in, withdraw};
use crate::support::{Reply, TestApp, clip, mentions};

async fn share_bin(app: &TestApp, bin: &str, body: Value) -> Reply {
    app.post_json(&format!("{bin}/shares"), body).await
}

/// Two videos, and a bin with two selects of the first around one of the second.
async fn app_with_bin() -> (TestApp, [String; 2], String) {
    let app = TestApp::with(|setup| setup.settings.shares.max_parts = 3).await;
    let videos = [app.video_of(&clip(10.0)).await, app.video_of(&clip(12.0)).await];
    let path = bin(&app, "Rough cut").await;
    let selects =
        [span(&videos[0], 4.0, 6.0), span(&videos[1], 1.0, 2.0), span(&videos[0], 0.0, 1.0)];
    app.post_json(&format!("{path}/selects"), json!({"selects": selects})).await.ok();
    (app, videos, path)
}

fn part(video_id: &str, start: f64, end: f64) -> Value {
    json!({"video_id": video_id, "start": start, "end": end})
}

#[tokio::test]
async fn selects_are_shared_as_they_were() {
    let (app, [one, two], bin) = app_with_bin().await;
    let made = share_bin(&app, &bin, json!({"expires_in": 3600})).await;
    assert_eq!(made.status, 201, "{}", made.text());
    let made = made.json();
    let parts = json!([part(&one, 4.0, 6.0), part(&two, 1.0, 2.0), part(&one, 0.0, 1.0)]);
    assert_eq!((text(&made, "title"), &made["parts"]), ("Rough cut", &parts));
    assert_eq!((text(&made, "video_id"), &made["start"]), (one.as_str(), &json!(4.0)));
    assert_eq!(format!("/bins/{}", text(&made, "bin_id")), bin);
    for filter in [format!("video_id={two}"), format!("bin_id={}", text(&made, "bin_id"))] {
        assert_eq!(app.get(&format!("/shares?{filter}")).await.ok(), json!({"shares": [made]}));
    }
    assert_eq!(app.get("/shares?bin_id=0123456789ab").await.ok(), json!({"shares": []}));

    let html = app.get(&page(&made)).await.text();
    mentions(&html, &["Rough cut", "clip.mp4", "clip-2.mp4", "clip-3.mp4", "3 clips"]);
    assert!(!html.contains(&one) && !html.contains("Notes"), "{html}");
    for (file, status) in [("clip-2.mp4", 200), ("poster-3.jpg", 200), ("clip-4.mp4", 404)] {
        assert_eq!(app.get(&format!("{}/{file}", page(&made))).await.status, status, "{file}");
    }

    // Neither a change of the bin nor its end changes what is shared.
    app.delete(&bin).await.ok();
    assert_eq!(app.get("/shares").await.ok()["shares"][0]["parts"], parts);
    app.delete(&format!("/videos/{two}")).await.ok();
    let html = app.get(&page(&made)).await.text();
    mentions(&html, &["2 clips"]);
    assert_eq!(problems(&app).await, [""; 0]);
    withdraw(&app, &made).await.ok();
    assert_eq!(app.get(&page(&made)).await.status, 404);
    assert_eq!(app.get("/shares").await.ok(), json!({"shares": []}));
}

#[tokio::test]
async fn a_link_ends_with_its_last_video() {
    let (app, videos, bin) = app_with_bin().await;
    let made = share_bin(&app, &bin, json!({"title": "For Ada"})).await.json();
    share(&app, &videos[0], json!({"end": 1})).await;
    for video in &videos {
        app.delete(&format!("/videos/{video}")).await.ok();
    }
    assert_eq!(app.get(&page(&made)).await.status, 404);
    assert_eq!(app.get("/shares").await.ok(), json!({"shares": []}));
    assert_eq!(problems(&app).await, [""; 0]);
}

#[tokio::test]
async fn some_selects_are_shared_and_too_many_are_refused() {
    let (app, [one, two], bin) = app_with_bin().await;
    let selects = app.get(&format!("{bin}/selects")).await.ok();
    let ids: Vec<&str> =
        selects["selects"].as_array().unwrap().iter().map(|s| text(s, "select_id")).collect();
    let some = json!({"select_ids": [ids[2], ids[1]]});
    let made = share_bin(&app, &bin, some).await.json();
    assert_eq!(made["parts"], json!([part(&two, 1.0, 2.0), part(&one, 0.0, 1.0)]));

    let more = json!({"selects": [span(&one, 7.0, 8.0)]});
    app.post_json(&format!("{bin}/selects"), more).await.ok();
    let full = share_bin(&app, &bin, json!({})).await.error(400);
    mentions(&full, &["4 selects", "shares.max_parts"]);
    let unknown = share_bin(&app, &bin, json!({"select_ids": ["s999"]})).await.error(404);
    mentions(&unknown, &["s999"]);
    mentions(
        &share_bin(&app, "/bins/0123456789ab", json!({})).await.error(404),
        &["unknown bin_id"],
    );
    let empty = super::super::bins::bin(&app, "empty").await;
    mentions(&share_bin(&app, &empty, json!({})).await.error(400), &["no selects"]);
    app.delete(&format!("/videos/{one}")).await.ok();
    app.delete(&format!("/videos/{two}")).await.ok();
    mentions(&share_bin(&app, &bin, json!({})).await.error(400), &["missing"]);
}

#[tokio::test]
async fn a_token_sees_its_parts_of_a_share() {
    let mut app = app_with_tokens().await;
    let (news, sport) = (video_in(&app, "news", 8.0).await, video_in(&app, "sport", 9.0).await);
    let path = bin(&app, "Both").await;
    let selects = json!({"selects": [span(&news, 0.0, 1.0), span(&sport, 2.0, 3.0)]});
    app.post_json(&format!("{path}/selects"), selects).await.ok();
    let made = share_bin(&app, &path, json!({})).await.json();
    assert_eq!(made["parts"].as_array().unwrap().len(), 2);
    app.speak_as(ADA);
    let seen = app.get("/shares").await.ok();
    assert_eq!(seen["shares"][0]["parts"], json!([part(&news, 0.0, 1.0)]));
    assert!(!seen.to_string().contains(&sport), "{seen}");
    app.speak_as(READER);
    mentions(&share_bin(&app, &path, json!({})).await.error(403), &["the token reads only"]);
    app.speak_as(ADA);
    withdraw(&app, &made).await.ok();
    app.speak_as(ALL);
    assert_eq!(app.get("/shares").await.ok(), json!({"shares": []}));
}
