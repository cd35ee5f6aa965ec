use serde_json::{Value, json};

use crate::support::{BASE, TestApp, clip, keys, mentions};

const MINIMAL: [&str; 9] = [
    "chunk_id",
    "end",
    "moment_id",
    "p_present",
    "score",
    "snippet",
    "start",
    "timecode",
    "video_id",
];
const STANDARD: [&str; 17] = [
    "actions",
    "chunk_id",
    "description",
    "end",
    "moment_id",
    "objects",
    "p_present",
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
async fn defaults_match_the_contract() {
    let app = TestApp::new().await;
    let id = app.video_of(&clip(120.0)).await;
    let page = app.post_json("/query", json!({"text": "a woman opens a door"})).await.ok();
    assert_eq!(
        keys(&page),
        ["analyzer", "answer", "answered", "audit", "detail", "field", "query", "results"]
    );
    assert_eq!(page["analyzer"], "default_video");
    assert_eq!(page["field"], "combined");
    assert_eq!(page["detail"], "standard");
    assert_eq!(page["results"].as_array().unwrap().len(), 5);
    let best = &page["results"][0];
    assert_eq!(best["chunk_id"], 0);
    assert_eq!(best["video_url"], format!("{BASE}/storage/{id}/clip.mp4"));
    let answer = page["answer"].as_str().unwrap();
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
        let page = app.post_json("/query", body).await.ok();
        assert_eq!(page["detail"], detail);
        assert_eq!(page["answer"], Value::Null);
        for hit in page["results"].as_array().unwrap() {
            assert_eq!(keys(hit), expected);
        }
    }
}

#[tokio::test]
async fn empty_result_has_no_answer() {
    let app = TestApp::new().await;
    let empty = json!({"text": "lake"});
    assert_eq!(app.post_json("/query", empty.clone()).await.ok()["answer"], Value::Null);
    app.video().await;
    let body = json!({"text": "zebra", "score_threshold": 0.99});
    let page = app.post_json("/query", body).await.ok();
    assert_eq!((&page["answer"], &page["results"]), (&Value::Null, &json!([])));
    let body = json!({"text": "lake", "video_ids": ["0000000000000000"]});
    assert_eq!(app.post_json("/query", body).await.ok()["results"], json!([]));
}

#[tokio::test]
async fn chunk_without_a_field_is_excluded_from_searches_on_it() {
    let app = TestApp::new().await;
    app.video().await;
    let body = json!({"text": "woman", "field": "people", "synthesize": false});
    let page = app.post_json("/query", body).await.ok();
    let hits: Vec<_> = page["results"].as_array().unwrap().iter().map(|h| &h["chunk_id"]).collect();
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
        (json!({"overlaps_after": 15, "overlaps_before": 25}), vec![1, 2]),
        (json!({"overlaps_after": 10.001, "overlaps_before": 19.999}), vec![1]),
        (json!({"chunk_config": "interval:10", "video_ids": [id]}), vec![0, 1, 2, 3, 4]),
        (json!({"chunk_config": "interval:9"}), vec![]),
        (json!({"people": ["nobody"]}), vec![]),
        (json!({}), vec![0, 1, 2, 3, 4]),
    ] {
        let body = json!({"text": "a", "limit": 50, "synthesize": false, "filters": filters, "detail": "minimal"});
        let page = app.post_json("/query", body).await.ok();
        let mut hits: Vec<_> = page["results"]
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
async fn unknown_names_are_refused_with_the_available_ones() {
    let app = TestApp::new().await;
    for (field, value, expected) in [
        ("analyzer", json!("nope"), vec!["nope", "default_video"]),
        ("field", json!("nope"), vec!["nope", "combined, description, people, actions, objects"]),
        ("mode", json!("nope"), vec!["nope", "vector, text, hybrid"]),
        ("detail", json!("nope"), vec!["nope", "minimal, standard, full"]),
        ("filters", json!({"object": ["x"]}), vec!["object", "objects"]),
    ] {
        let mut body = json!({"text": "x"});
        body[field] = value;
        mentions(&app.post_json("/query", body).await.error(400), &expected);
    }
}

#[tokio::test]
async fn text_and_hybrid_modes_rank_by_words_and_keep_the_cosine_score() {
    let app = TestApp::new().await;
    app.video_of(&clip(50.0)).await;
    let ask = async |mode: &str, text: &str, more: Value| {
        let mut body = json!({"text": text, "mode": mode, "synthesize": false, "limit": 50});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        app.post_json("/query", body).await.ok()["results"].as_array().unwrap().clone()
    };
    let chunks = |hits: &[Value]| {
        let mut ids: Vec<_> = hits.iter().map(|h| h["chunk_id"].as_u64().unwrap()).collect();
        ids.sort_unstable();
        ids
    };
    let by_words = ask("text", "door", json!({})).await;
    assert_eq!(chunks(&by_words), [0], "only the first chunk has the word");
    assert!(by_words[0]["text_score"].as_f64().unwrap() > 0.0);
    let by_meaning = ask("vector", "door", json!({})).await;
    assert_eq!(by_meaning[0]["score"], by_words[0]["score"], "the score is the cosine");
    assert_eq!(by_meaning[0]["text_score"], Value::Null);
    let both = ask("hybrid", "door", json!({})).await;
    assert_eq!((both.len(), &both[0]["chunk_id"]), (5, &json!(0)));
    assert!(both[0]["text_score"].is_number() && both[4]["text_score"].is_null());
    let p = |hit: &Value| hit["p_present"].as_f64().unwrap();
    assert!(p(&both[0]) > p(&both[4]));
    assert!(ask("text", "\"door woman\"", json!({})).await.is_empty(), "the phrase does not occur");
    assert!(ask("text", "door", json!({"filters": {"chunk_ids": [1]}})).await.is_empty());
    assert!(ask("text", "door", json!({"score_threshold": 0.999})).await.is_empty());
    assert_eq!(ask("hybrid", "door", json!({"limit": 2})).await.len(), 2);
}

#[tokio::test]
async fn empty_result_includes_diagnostics() {
    let app = TestApp::new().await;
    let id = app.video_of(&clip(50.0)).await;
    let ask = async |body: Value| app.post_json("/query", body).await.ok()["diagnostics"].clone();
    let why = ask(json!({"text": "door", "filters": {"objects": ["door"], "after": 40}})).await;
    assert_eq!(why["hits_without_filter"], json!({"objects": 1, "after": 1}));
    assert_eq!((&why["best_score"], &why["videos_without_field"]), (&Value::Null, &json!([])));
    let why = ask(json!({"text": "door", "video_ids": ["0000000000000000"]})).await;
    assert_eq!(why["hits_without_filter"], json!({"video_ids": 5}));
    assert_eq!(why["unknown_videos"], json!(["0000000000000000"]));
    let why = ask(json!({"text": "door", "score_threshold": 0.9999})).await;
    assert!(why["best_score"].as_f64().unwrap() < 0.9999);
    assert_eq!(ask(json!({"text": "door"})).await, Value::Null, "only for an empty result");
    app.edit_record(&id, |record| {
        record["analyzers"].as_object_mut().unwrap().clear();
    })
    .await;
    let why = ask(json!({"text": "door", "score_threshold": 0.9999})).await;
    assert_eq!(why["videos_without_analyzer"], json!([id]));
    let why = ask(json!({"text": "door"})).await;
    assert_eq!(
        why["videos_without_analyzer"],
        json!([id]),
        "its points belong to no record: {why}"
    );
}
