use serde_json::{Value, json};

use crate::support::{BASE, TestApp, clip, keys, mentions};

const MINIMAL: [&str; 7] = ["chunk_id", "end", "score", "snippet", "start", "timecode", "video_id"];
const STANDARD: [&str; 15] = [
    "actions",
    "chunk_id",
    "description",
    "end",
    "objects",
    "people",
    "people_count",
    "score",
    "speakers",
    "start",
    "tags",
    "timecode",
    "turns",
    "video_id",
    "video_url",
];

#[tokio::test]
async fn defaults_are_the_contracts() {
    let app = TestApp::new().await;
    let id = app.video_of(&clip(120.0)).await;
    let found = app.post_json("/query", json!({"text": "a woman opens a door"})).await.ok();
    assert_eq!(keys(&found), ["analyzer", "answer", "detail", "field", "query", "results"]);
    assert_eq!(found["analyzer"], "default_video");
    assert_eq!(found["field"], "combined");
    assert_eq!(found["detail"], "standard");
    assert_eq!(found["results"].as_array().unwrap().len(), 5);
    let best = &found["results"][0];
    assert_eq!(best["chunk_id"], 0);
    assert_eq!(best["video_url"], format!("{BASE}/storage/{id}/clip.mp4"));
    let answer = found["answer"].as_str().unwrap();
    mentions(answer, &[&format!("[{id} 0-10s]")]);
}

#[tokio::test]
async fn each_level_has_exactly_its_fields() {
    let app = TestApp::new().await;
    app.video().await;
    let mut full = STANDARD.to_vec();
    full.extend(["text", "persons", "detections", "texts"]);
    full.sort_unstable();
    for (detail, expected) in
        [("minimal", MINIMAL.to_vec()), ("standard", STANDARD.to_vec()), ("full", full)]
    {
        let body = json!({"text": "lake", "detail": detail, "synthesize": false});
        let found = app.post_json("/query", body).await.ok();
        assert_eq!(found["detail"], detail);
        assert_eq!(found["answer"], Value::Null);
        for hit in found["results"].as_array().unwrap() {
            assert_eq!(keys(hit), expected);
        }
    }
}

#[tokio::test]
async fn nothing_found_is_never_answered() {
    let app = TestApp::new().await;
    let empty = json!({"text": "lake"});
    assert_eq!(app.post_json("/query", empty.clone()).await.ok()["answer"], Value::Null);
    app.video().await;
    let body = json!({"text": "zebra", "score_threshold": 0.99});
    let found = app.post_json("/query", body).await.ok();
    assert_eq!((&found["answer"], &found["results"]), (&Value::Null, &json!([])));
    let body = json!({"text": "lake", "video_ids": ["0000000000000000"]});
    assert_eq!(app.post_json("/query", body).await.ok()["results"], json!([]));
}

#[tokio::test]
async fn a_chunk_without_a_field_is_not_in_searches_on_it() {
    let app = TestApp::new().await;
    app.video().await;
    let body = json!({"text": "woman", "field": "people", "synthesize": false});
    let found = app.post_json("/query", body).await.ok();
    let hits: Vec<_> =
        found["results"].as_array().unwrap().iter().map(|h| &h["chunk_id"]).collect();
    assert_eq!(hits, [0], "only the first chunk shows people");
}

#[tokio::test]
async fn filters_are_hard_conditions() {
    let app = TestApp::new().await;
    let id = app.video_of(&clip(50.0)).await;
    for (filters, expected) in [
        (json!({"objects": ["door"]}), vec![0]),
        (json!({"objects": ["door", "boat"]}), vec![0, 1, 2, 3, 4]),
        (json!({"tags": ["nature"], "chunk_ids": [0, 2]}), vec![2]),
        (json!({"after": 20, "before": 40}), vec![2, 3]),
        (json!({"chunk_config": "interval:10", "video_ids": [id]}), vec![0, 1, 2, 3, 4]),
        (json!({"chunk_config": "interval:9"}), vec![]),
        (json!({"people": ["nobody"]}), vec![]),
        (json!({}), vec![0, 1, 2, 3, 4]),
    ] {
        let body = json!({"text": "a", "limit": 50, "synthesize": false, "filters": filters, "detail": "minimal"});
        let found = app.post_json("/query", body).await.ok();
        let mut hits: Vec<_> = found["results"]
            .as_array()
            .unwrap()
            .iter()
            .map(|h| h["chunk_id"].as_u64().unwrap())
            .collect();
        hits.sort_unstable();
        assert_eq!(hits, expected, "{filters}");
    }
}

#[tokio::test]
async fn unknown_names_are_answered_with_what_there_is() {
    let app = TestApp::new().await;
    for (field, value, expected) in [
        ("analyzer", json!("nope"), vec!["nope", "default_video"]),
        ("field", json!("nope"), vec!["nope", "combined, description, people, actions, objects"]),
        ("detail", json!("nope"), vec!["nope", "minimal, standard, full"]),
        ("filters", json!({"object": ["x"]}), vec!["object", "objects"]),
    ] {
        let mut body = json!({"text": "x"});
        body[field] = value;
        mentions(&app.post_json("/query", body).await.error(400), &expected);
    }
}
