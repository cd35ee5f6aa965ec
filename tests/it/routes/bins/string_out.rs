//! Bins as one video: what is requested of the decoder, and which requests are refused.

use poem::http::Method;
use serde_json::{Value, json};

use super::{bin, span};
use crate::support::{TestApp, clip, mentions};

/// A bin with selects of a video of 25 frames per second, and of two of 30.
async fn app_with_bin() -> (TestApp, String) {
    let app = TestApp::with(|setup| {
        (setup.settings.bins.max_clips, setup.settings.bins.max_string_out) = (3, 60);
    })
    .await;
    let (first, second) = (app.video().await, app.video_of(&clip(20.0)).await);
    for (video_id, rate) in [(&first, "25/1"), (&second, "30/1")] {
        app.edit_record(video_id, |record| record["exact_frame_rate"] = json!(rate)).await;
    }
    let path = bin(&app, "Best quotes: 1/2").await;
    let selects = [span(&first, 1.0, 3.0), span(&second, 0.5, 1.0), span(&second, 19.0, 20.0)];
    app.post_json(&format!("{path}/selects"), json!({"selects": selects})).await.ok();
    (app, path)
}

async fn rendered(app: &TestApp, path: &str, query: &str) -> Value {
    let reply = app.get(&format!("{path}/string-out?{query}")).await;
    assert_eq!(reply.status, 200, "{query}: {}", reply.text());
    assert!(reply.header("content-disposition").contains("\"Best_quotes__1_2.mp4\""));
    serde_json::from_slice(&reply.body).unwrap()
}

#[tokio::test]
async fn the_video_has_the_most_frequent_rate_and_the_size_of_the_largest_source() {
    let (app, path) = app_with_bin().await;
    let video = rendered(&app, &path, "").await;
    let parts = json!([
        {"start": 1.0, "frames": 60},
        {"start": 0.5, "frames": 15},
        {"start": 19.0, "frames": 30},
    ]);
    let expected = json!({"size": [64, 36], "rate": "30/1", "frames": 105, "parts": parts});
    assert_eq!(video, expected);
    let edl = app.get(&format!("{path}/export?format=edl")).await.text();
    mentions(&edl, &["00:00:00:00 00:00:02:00\n", "00:00:02:15 00:00:03:15\n"]);
}

#[tokio::test]
async fn handles_and_rates_can_be_chosen() {
    let (app, path) = app_with_bin().await;
    let video = rendered(&app, &path, "handles=1&frame_rate=24000/1001").await;
    let parts = json!([
        {"start": 0.0, "frames": 96},
        {"start": 0.0, "frames": 48},
        {"start": 18.0, "frames": 48},
    ]);
    assert_eq!((&video["rate"], &video["parts"]), (&json!("24000/1001"), &parts));
    let whole = rendered(&app, &path, "frame_rate=50").await;
    assert_eq!((&whole["rate"], &whole["frames"]), (&json!("50/1"), &json!(175)));
}

#[tokio::test]
async fn the_video_has_only_the_chosen_selects() {
    let (app, path) = app_with_bin().await;
    app.patch_json(&format!("{path}/selects/s2"), json!({"rating": 4})).await.ok();
    let video = rendered(&app, &path, "select_ids=s3,s1&frame_rate=30").await;
    let parts = json!([{"start": 1.0, "frames": 60}, {"start": 19.0, "frames": 30}]);
    assert_eq!(video["parts"], parts);
    let video = rendered(&app, &path, "min_rating=4").await;
    assert_eq!(video["parts"], json!([{"start": 0.5, "frames": 15}]));
}

#[tokio::test]
async fn videos_that_cannot_be_made_are_refused_with_a_reason() {
    let (app, path) = app_with_bin().await;
    for (query, status, words) in [
        ("handles=-1", 422, &["handles is -1", "from 0 to 60"][..]),
        ("handles=61", 422, &["from 0 to 60 seconds"]),
        ("handles=nan", 422, &["handles"]),
        ("max_side=63", 422, &["max_side is 63", "from 64 to 1920", "bins.max_string_out_side"]),
        ("max_side=4000", 422, &["from 64 to 1920"]),
        ("frame_rate=0/1", 422, &["0/1", "30000/1001"]),
        ("frame_rate=fast", 422, &["fast", "30000/1001"]),
        ("frame_rate=500", 422, &["500/1", "from 1 to 120"]),
        ("missing=perhaps", 422, &["missing"]),
    ] {
        let reply = app.get(&format!("{path}/string-out?{query}")).await;
        mentions(&reply.error(status), words);
    }
    let id = app.video_of(&clip(90.0)).await;
    let long = bin(&app, "long").await;
    mentions(&app.get(&format!("{long}/string-out")).await.error(400), &["has no selects"]);
    let selects = json!({"selects": [span(&id, 0.0, 40.0), span(&id, 0.0, 20.1)]});
    app.post_json(&format!("{long}/selects"), selects).await.ok();
    let detail = app.get(&format!("{long}/string-out")).await.error(400);
    mentions(&detail, &["60.1 seconds", "may last 60 (bins.max_string_out)", "trim"]);
    let selects = json!({"selects": [span(&id, 0.0, 1.0), span(&id, 0.0, 1.0)]});
    app.post_json(&format!("{long}/selects"), selects).await.ok();
    let detail = app.get(&format!("{long}/string-out")).await.error(400);
    mentions(&detail, &["4 clips", "at most 3 (bins.max_clips)"]);
    mentions(&app.get("/bins/0123456789ab/string-out").await.error(404), &["unknown bin"]);
}

#[tokio::test]
async fn a_head_request_makes_no_video() {
    let (app, path) = app_with_bin().await;
    let uri = format!("{path}/string-out");
    let head = app.raw(app.request(Method::HEAD, &uri).finish()).await;
    assert_eq!((head.status, head.header("content-length")), (200, ""));
    assert_eq!(head.header("content-type"), "video/mp4");
    rendered(&app, &path, "").await;
    let head = app.raw(app.request(Method::HEAD, &uri).finish()).await;
    assert_ne!(head.header("content-length"), "", "the video is cached");
    let second =
        app.get("/videos").await.ok()["videos"][0]["video_id"].as_str().unwrap().to_owned();
    app.delete(&format!("/videos/{second}")).await.ok();
    let head = app.raw(app.request(Method::HEAD, &format!("{uri}?missing=omit")).finish()).await;
    assert_eq!((head.status, head.header("content-length")), (200, ""));
}
