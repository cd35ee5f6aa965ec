//! The filter `bin` of searches, questions and exports.

use serde_json::{Value, json};

use super::{bin, span};
use crate::support::{TestApp, clip, mentions};

/// The chunks of the hits of a search, in order of video and chunk.
async fn chunks(app: &TestApp, request: Value) -> Vec<(String, u64)> {
    let page = app.post_json("/query", request).await.ok();
    distinct(page["results"].as_array().unwrap())
}

/// The chunks of hits or exported lines, in order of video and chunk.
fn distinct(hits: &[Value]) -> Vec<(String, u64)> {
    let chunk = |hit: &Value| {
        (hit["video_id"].as_str().unwrap().to_owned(), hit["chunk_id"].as_u64().unwrap())
    };
    let mut chunks: Vec<(String, u64)> = hits.iter().map(chunk).collect();
    chunks.sort();
    chunks.dedup();
    chunks
}

#[tokio::test]
async fn searches_questions_and_exports_are_limited_to_a_bin() {
    let app = TestApp::new().await;
    let (first, second) = (app.video().await, app.video_of(&clip(20.0)).await);
    let path = bin(&app, "selects").await;
    let id = path.strip_prefix("/bins/").unwrap();
    // The second select ends where the next chunk begins.
    let selects = json!({"selects": [span(&first, 12.0, 13.0), span(&second, 4.0, 10.0)]});
    app.post_json(&format!("{path}/selects"), selects).await.ok();
    let filters = json!({"bin": id});
    let mut expected = [(first.clone(), 1), (second.clone(), 0)].to_vec();
    expected.sort();
    let search = |filters: &Value| json!({"text": "a woman", "limit": 50, "filters": filters});
    assert_eq!(chunks(&app, search(&filters)).await, expected);
    let whole = json!({"order": "newest", "limit": 50, "filters": filters});
    assert_eq!(chunks(&app, whole).await, expected, "a listing without a text");

    let question = json!({"question": "What happens?", "filters": filters});
    let answer = app.post_json("/ask", question).await.ok();
    assert_eq!(distinct(answer["results"].as_array().unwrap()), expected, "{answer}");

    let request = json!({"format": "jsonl", "filters": filters});
    let text = app.post_json("/export", request).await.text();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((lines.len(), distinct(&lines)), (2, expected));

    // Both filters must match.
    let both = json!({"bin": id, "where": {"between": [0, 9]}});
    assert_eq!(chunks(&app, search(&both)).await, [(second.clone(), 0)]);
    // A missing video has no chunks.
    app.delete(&format!("/videos/{second}")).await.ok();
    assert_eq!(chunks(&app, search(&filters)).await, [(first, 1)]);
}

#[tokio::test]
async fn invalid_bins_in_filters_are_refused_with_a_reason() {
    let app = TestApp::new().await;
    app.video().await;
    for (filters, status, words) in [
        (json!({"bin": "0123456789ab"}), 400, ["unknown bin_id '0123456789ab'", "GET /bins"]),
        (json!({"bin": "../x"}), 400, ["unknown bin_id", "GET /bins"]),
        (json!({"bin": 7}), 422, ["'bin'", "the id of a bin"]),
    ] {
        for (path, request) in [
            ("/query", json!({"text": "a dog", "filters": filters})),
            ("/export", json!({"filters": filters})),
        ] {
            mentions(&app.post_json(path, request).await.error(status), &words);
        }
    }
    let path = bin(&app, "empty").await;
    let filters = json!({"bin": path.strip_prefix("/bins/").unwrap()});
    assert_eq!(chunks(&app, json!({"text": "a woman", "filters": filters})).await, []);
    let nested = json!({"expression": {"speech": true}, "filters": filters});
    mentions(&app.post_json("/intervals", nested).await.error(400), &["'bin'", "video_ids"]);
}
