use std::sync::atomic::Ordering;

use serde_json::{Value, json};

use crate::support::{TestApp, clip, mentions};

/// The distinct video ids of a listing or of hits.
fn ids(items: &Value) -> Vec<&str> {
    let mut ids: Vec<&str> =
        items.as_array().unwrap().iter().map(|item| item["video_id"].as_str().unwrap()).collect();
    ids.dedup();
    ids
}

async fn video_with(app: &TestApp, seconds: f64, fields: &[(&str, &str)]) -> String {
    let mut fields = fields.to_vec();
    fields.extend([("mode", "interval"), ("interval", "10")]);
    let job = app.job_of(&fields, "clip.mp4", &clip(seconds)).await;
    assert_eq!(job["status"], "done", "{job}");
    job["result"]["video_id"].as_str().unwrap().to_owned()
}

/// Two videos with different metadata.
async fn two_videos(app: &TestApp) -> (String, String) {
    let north = [
        ("metadata", r#"{"camera": "north", "take": 1, "tags": ["rain", "night"], "ok": true}"#),
        ("collection", "street"),
        ("recorded_at", "2026-01-31T12:00:00Z"),
    ];
    let south = [("metadata", r#"{"camera": "south", "take": 2.5}"#), ("collection", "garden")];
    (video_with(app, 30.0, &north).await, video_with(app, 20.0, &south).await)
}

async fn search_ids(app: &TestApp, filters: Value) -> Vec<String> {
    let search = json!({"text": "a door", "synthesize": false, "filters": filters, "limit": 50});
    let mut video_ids: Vec<String> = ids(&app.post_json("/query", search).await.ok()["results"])
        .into_iter()
        .map(str::to_owned)
        .collect();
    video_ids.sort();
    video_ids.dedup();
    video_ids
}

#[tokio::test]
async fn video_metadata_is_returned_and_searchable() {
    let app = TestApp::new().await;
    let (north, south) = two_videos(&app).await;
    let detail = app.get(&format!("/videos/{north}")).await.ok();
    let expected_metadata =
        json!({"camera": "north", "ok": true, "tags": ["rain", "night"], "take": 1});
    assert_eq!(detail["metadata"], expected_metadata);
    assert_eq!(
        (&detail["collection"], &detail["recorded_at"]),
        (&json!("street"), &json!("2026-01-31T12:00:00Z"))
    );
    let schema = app.get("/schema").await.ok();
    let types = json!({"camera": "string", "ok": "boolean", "tags": "list", "take": "number"});
    assert_eq!(schema["metadata_keys"], types);

    let (north, south) = (&north, &south);
    let mut both = vec![north.clone(), south.clone()];
    both.sort();
    for (filters, expected) in [
        (json!({"metadata": {"camera": "north"}}), vec![north.clone()]),
        (json!({"metadata": {"camera": ["north", "south"]}}), both.clone()),
        (json!({"metadata": {"camera": "east"}}), vec![]),
        (json!({"metadata": {"tags": "night"}}), vec![north.clone()]),
        (json!({"metadata": {"ok": true, "camera": "south"}}), vec![]),
        (json!({"metadata": {"take": {"gte": 2}}}), vec![south.clone()]),
        (json!({"metadata": {"take": 1}}), vec![north.clone()]),
        (json!({"collections": ["garden", "street"]}), both.clone()),
        (json!({"collections": ["garden"], "chunk_ids": [0]}), vec![south.clone()]),
        (json!({"recorded_after": "2026-01-31T12:00:00Z"}), vec![north.clone()]),
        (json!({"recorded_before": "2026-01-31T11:59:59Z"}), vec![]),
    ] {
        assert_eq!(search_ids(&app, filters.clone()).await, expected, "{filters}");
    }
    for (query, expected) in [
        ("collection=garden", vec![south]),
        ("recorded_after=2026-01-01T00:00:00Z", vec![north]),
        ("metadata=%7B%22take%22:%7B%22lte%22:2%7D%7D", vec![north]),
    ] {
        let list = app.get(&format!("/videos?{query}")).await.ok();
        assert_eq!(ids(&list["videos"]), expected, "{query}");
        assert_eq!(list["total"], 1);
    }
    let ask = json!({"question": "Who opens the door?", "filters": {"collections": ["garden"]}});
    let answer = app.post_json("/ask", ask).await.ok();
    assert_eq!(answer["sources"].as_object().unwrap().keys().collect::<Vec<_>>(), [south]);
    let evidence = json!({"question": "door", "filters": {"metadata": {"camera": "north"}}});
    let evidence = app.post_json("/evidence", evidence).await.ok();
    assert_eq!(ids(&evidence["moments"]), [north]);
}

#[tokio::test]
async fn patch_takes_effect_at_once_without_embedding() {
    let app = TestApp::new().await;
    let (north, south) = two_videos(&app).await;
    let embedded = app.embedder.embedded.load(Ordering::SeqCst);
    let path = format!("/videos/{south}");
    let change = json!({"metadata": {"camera": "north", "take": null}, "collection": null});
    let patched = app.patch_json(&path, change).await.ok();
    assert_eq!(patched["metadata"], json!({"camera": "north"}));
    assert!(patched.get("collection").is_none());
    assert_eq!(app.get(&path).await.ok(), patched);
    assert_eq!(app.embedder.embedded.load(Ordering::SeqCst), embedded, "nothing was embedded");
    let mut both = vec![north, south];
    both.sort();
    assert_eq!(search_ids(&app, json!({"metadata": {"camera": "north"}})).await, both);
    assert_eq!(app.service.maintenance.verification.run().await.unwrap().problems, [""; 0]);
}

#[tokio::test]
async fn ingest_keeps_existing_metadata() {
    let app = TestApp::new().await;
    let (north, _) = two_videos(&app).await;
    let fields =
        [("mode", "interval"), ("interval", "7"), ("metadata", r#"{"take": 9, "ok": null}"#)];
    let job = app.job_of(&fields, "clip.mp4", &clip(30.0)).await;
    assert_eq!(job["status"], "done", "{job}");
    let detail = app.get(&format!("/videos/{north}")).await.ok();
    let expected_metadata = json!({"camera": "north", "tags": ["rain", "night"], "take": 9});
    assert_eq!(detail["metadata"], expected_metadata);
    assert_eq!(detail["collection"], "street");
}

#[tokio::test]
async fn concurrent_changes_are_all_kept() {
    let app = TestApp::new().await;
    let id = app.video().await;
    let path = format!("/videos/{id}");
    let patches = (0..12).map(|n| app.patch_json(&path, json!({"metadata": {format!("k{n}"): n}})));
    // An ingest publishes the video concurrently.
    let fields = [("mode", "interval"), ("interval", "7")];
    let file = clip(30.0);
    let ingest = app.job_of(&fields, "clip.mp4", &file);
    let (replies, job) = tokio::join!(futures::future::join_all(patches), ingest);
    assert_eq!(job["status"], "done", "{job}");
    for reply in replies {
        reply.ok();
    }
    let detail = app.get(&path).await.ok();
    let expected_metadata: serde_json::Map<String, Value> =
        (0..12).map(|n| (format!("k{n}"), n.into())).collect();
    assert_eq!((&detail["metadata"], &detail["chunks"]), (&expected_metadata.into(), &json!(5)));
    assert_eq!(app.service.maintenance.verification.run().await.unwrap().problems, [""; 0]);
}

#[tokio::test]
async fn invalid_metadata_is_refused() {
    let app = TestApp::new().await;
    let (north, _) = two_videos(&app).await;
    let path = format!("/videos/{north}");
    for (change, status, words) in [
        (json!({"metadata": {"camera": 7}}), 400, "'camera' is a string in other videos"),
        (json!({"metadata": {"Camera": "x"}}), 400, "is no metadata key"),
        (json!({"metadata": {"lens": {"mm": 50}}}), 422, "it must be a string, a number"),
        (json!({"metadata": {"lens": "x".repeat(20_000)}}), 400, "ingest.max_metadata_bytes"),
        (json!({"recorded_at": "noon"}), 422, "must be a time in ISO 8601"),
        (json!({"collecton": "x"}), 422, "did you mean 'collection'?"),
    ] {
        let error = app.patch_json(&path, change).await.error(status);
        mentions(&error, &[words]);
    }
    app.patch_json("/videos/0123456789abcdef", json!({"collection": "x"})).await.error(404);
    let fields = [("metadata", r#"{"take": "three"}"#)];
    let refused = app.upload(&fields, "clip.mp4", &clip(10.0)).await.error(400);
    mentions(&refused, &["'take' is a number in other videos"]);
    let refused = app.upload(&[("metadata", "camera=north")], "clip.mp4", &clip(10.0)).await;
    mentions(&refused.error(422), &["it must be a JSON object"]);
    for (filters, status, words) in [
        (json!({"metadata": {"camra": "north"}}), 400, "did you mean 'camera'?"),
        (json!({"metadata": {"take": "two"}}), 422, "which is a number"),
        (json!({"collection": ["x"]}), 400, "did you mean 'collections'?"),
    ] {
        let search = json!({"text": "door", "filters": filters});
        mentions(&app.post_json("/query", search).await.error(status), &[words]);
    }
    app.get("/videos?metadata=7").await.error(422);
}

#[tokio::test]
async fn empty_search_counts_videos_excluded_by_metadata() {
    let app = TestApp::new().await;
    two_videos(&app).await;
    let filters = json!({"metadata": {"camera": "south"}, "collections": ["street"]});
    let search = json!({"text": "door", "synthesize": false, "limit": 50, "filters": filters});
    let empty = app.post_json("/query", search).await.ok();
    let without = &empty["diagnostics"]["hits_without_filter"];
    assert_eq!(without, &json!({"collections": 2, "metadata": 3}));
}
