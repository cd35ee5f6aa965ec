//! The videos of bins: which bins use a video, and the length of bins without missing videos.

use ports::records::RecordStore;
use serde_json::{Value, json};

use super::{bin, filled, span};
use crate::support::{TestApp, clip, mentions};

#[tokio::test]
async fn bins_that_use_a_video_are_listed() {
    let app = TestApp::new().await;
    let (id, other) = (app.video().await, app.video_of(&clip(20.0)).await);
    let (two, none, one) =
        (bin(&app, "two").await, bin(&app, "none").await, bin(&app, "one").await);
    for (path, selects) in [
        (&two, json!([span(&id, 0.0, 1.0), span(&other, 0.0, 1.0), span(&id, 2.0, 3.0)])),
        (&none, json!([span(&other, 0.0, 1.0)])),
        (&one, json!([span(&id, 4.0, 5.0)])),
    ] {
        app.post_json(&format!("{path}/selects"), json!({"selects": selects})).await.ok();
    }
    let page = app.get(&format!("/bins?video_id={id}&limit=1")).await.ok();
    assert_eq!((&page["total"], &page["video_selects"]), (&json!(2), &json!(3)));
    assert_eq!(page["bins"][0]["name"], "one");
    app.post_json(&format!("{two}/selects/remove"), json!({"select_ids": ["s1", "s3"]})).await.ok();
    app.delete(&format!("/videos/{id}")).await.ok();
    let list = app.get(&format!("/bins?video_id={id}")).await.ok();
    assert_eq!((&list["total"], &list["video_selects"]), (&json!(1), &json!(1)));
    let unused = app.get("/bins?video_id=fedcba9876543210").await.ok();
    assert_eq!(unused, json!({"bins": [], "total": 0, "video_selects": 0}));
    assert_eq!(app.get("/bins").await.ok().get("video_selects"), None);
    mentions(&app.get("/bins?video_id=x").await.error(400), &["unknown video_id 'x'"]);
}

#[tokio::test]
async fn sums_of_bins_without_a_list_of_videos_are_read_from_the_selects() {
    let app = TestApp::new().await;
    let (id, other) = (app.video().await, app.video_of(&clip(20.0)).await);
    let path = filled(&app, &id, 3).await;
    let more = json!({"selects": [span(&other, 0.0, 4.5)]});
    app.post_json(&format!("{path}/selects"), more).await.ok();
    // As stored by a version that had no such list.
    let key = format!("{}/bin.json", path.trim_start_matches('/'));
    let forget = async || {
        let mut head = app.records.get(&key).await.unwrap().unwrap();
        assert!(head.as_object_mut().unwrap().remove("videos").is_some(), "{head}");
        app.records.put(&key, &head).await.unwrap();
    };
    forget().await;
    app.delete(&format!("/videos/{id}")).await.ok();
    assert_eq!(app.get("/bins").await.ok()["bins"][0]["duration"], 4.5);
    assert_eq!(app.get(&format!("/bins?video_id={id}")).await.ok()["video_selects"], 3);
    // Every change stores the list again, also an undo.
    let undone = app.post_json(&format!("{path}/undo"), Value::Null).await.ok();
    assert_eq!((&undone["selects"], &undone["duration"]), (&json!(3), &json!(0.0)));
    forget().await;
    app.delete(&format!("{path}/selects/s1")).await.ok();
    forget().await;
}
