//! Tags that are renamed in all selects of a bin.

use poem::http::Method;
use serde_json::{Value, json};

use super::{bin, selects, send, span};
use crate::support::{TestApp, mentions};

fn tags(selects: &[Value]) -> Vec<Value> {
    selects.iter().map(|select| select["tags"].clone()).collect()
}

#[tokio::test]
async fn tags_are_renamed_merged_and_removed() {
    let app = TestApp::with(|setup| setup.settings.bins.max_tag_chars = 10).await;
    let video_id = app.video().await;
    let path = bin(&app, "Doors").await;
    let tagged = |start: f64, tags: Value| {
        let mut select = span(&video_id, start, start + 1.0);
        select["tags"] = tags;
        select
    };
    let added = json!({"selects": [
        tagged(0.0, json!(["door", "red"])), tagged(1.0, json!(["gate", "door"])),
        tagged(2.0, json!(["red"])),
    ]});
    app.post_json(&format!("{path}/selects"), added).await.ok();
    let before = selects(&app, &path).await;
    let rename = async |from: &str, to: Value| {
        app.post_json(&format!("{path}/tags/rename"), json!({"from": from, "to": to})).await
    };

    let bin = rename("door", json!(" gate ")).await.ok();
    assert_eq!(bin["last_change"], "tag");
    let merged = selects(&app, &path).await;
    assert_eq!(tags(&merged), [json!(["gate", "red"]), json!(["gate"]), json!(["red"])]);
    assert_eq!(merged[2], before[2], "a select without the tag is not changed");
    app.post_json(&format!("{path}/undo"), Value::Null).await.ok();
    assert_eq!(tags(&selects(&app, &path).await), tags(&before), "one change, one undo");

    rename("red", Value::Null).await.ok();
    let removed = selects(&app, &path).await;
    assert_eq!(tags(&removed), [json!(["door"]), json!(["gate", "door"]), json!([])]);

    mentions(&rename("red", json!("blue")).await.error(404), &["no select", "the tag 'red'"]);
    mentions(&rename("door", json!("")).await.error(422), &["1 to 10 characters"]);
    mentions(&rename("door", json!("12345678901")).await.error(422), &["bins.max_tag_chars"]);
    let missing = app.post_json(&format!("{path}/tags/rename"), json!({"from": "door"})).await;
    mentions(&missing.error(422), &["to is missing", "null to remove it"]);
    assert_eq!(selects(&app, &path).await, removed, "refused changes change nothing");

    // A condition fails only if a select with the tag has changed.
    let version = app.get(&path).await.ok()["version"].as_u64().unwrap();
    app.patch_json(&format!("{path}/selects/s3"), json!({"rating": 1})).await.ok();
    let target = format!("{path}/tags/rename");
    let body = json!({"from": "gate", "to": "port"});
    send(&app, Method::POST, &target, Some(version), body.clone()).await.ok();
    app.patch_json(&format!("{path}/selects/s1"), json!({"rating": 1})).await.ok();
    let outdated = json!({"from": "door", "to": "port"});
    send(&app, Method::POST, &target, Some(version), outdated).await.error(412);
}
