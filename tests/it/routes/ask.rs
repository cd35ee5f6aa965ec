use serde_json::{Value, json};

use crate::support::{TestApp, clip, keys, mentions};

#[tokio::test]
async fn an_answer_cites_and_names_its_sources() {
    let app = TestApp::new().await;
    let id = app.video().await;
    let answer = app.post_json("/ask", json!({"question": "Who opens the door?"})).await.ok();
    assert_eq!(keys(&answer), ["answer", "question", "results", "sources"], "no error key");
    mentions(answer["answer"].as_str().unwrap(), &[&format!("[{id} 0-10]")]);
    let sources = answer["sources"][&id].as_object().unwrap();
    assert!(sources["routed_to"].is_array());
    assert!(sources.iter().all(|(name, value)| name == "routed_to" || value.is_u64()));
    assert_eq!(answer["results"].as_array().unwrap().len(), 3);
    assert!(answer["results"][0]["video_url"].is_string());
    assert!(answer["results"][0]["snippet"].is_null());
}

#[tokio::test]
async fn no_videos_ingested() {
    let app = TestApp::new().await;
    for body in [json!({"question": "Who?"}), json!({"question": "Who?", "video_ids": null})] {
        assert_eq!(
            app.post_json("/ask", body).await.ok(),
            json!({
                "question": "Who?", "answer": null, "sources": {}, "results": [],
                "error": "No videos ingested.",
            })
        );
    }
}

#[tokio::test]
async fn nothing_indexed_for_the_requested_videos() {
    let app = TestApp::new().await;
    app.video().await;
    for ids in [json!(["0000000000000000"]), json!(["../../x"]), json!([])] {
        let answer =
            app.post_json("/ask", json!({"question": "Who?", "video_ids": ids})).await.ok();
        assert_eq!(answer["error"], "Nothing indexed for the requested videos.");
        assert_eq!((&answer["answer"], &answer["sources"]), (&Value::Null, &json!({})));
    }
}

#[tokio::test]
async fn segments_are_limited_per_video() {
    let app = TestApp::new().await;
    let (first, second) = (app.video_of(&clip(100.0)).await, app.video_of(&clip(110.0)).await);
    let body = json!({"question": "boat", "limit": 2, "video_ids": [first, second]});
    let answer = app.post_json("/ask", body).await.ok();
    for id in [&first, &second] {
        let of_video =
            answer["results"].as_array().unwrap().iter().filter(|hit| hit["video_id"] == **id);
        assert_eq!(of_video.count(), 2);
    }
}

#[tokio::test]
async fn an_unknown_analyzer_is_refused() {
    let app = TestApp::new().await;
    let reply = app.post_json("/ask", json!({"question": "Who?", "analyzer": "nope"})).await;
    mentions(&reply.error(400), &["nope", "default_video"]);
}
