use ports::records::RecordStore;
use serde_json::{Value, json};

use crate::support::{TestApp, clip, keys, mentions};

fn ids(page: &Value) -> Vec<u64> {
    page["chunks"].as_array().unwrap().iter().map(|c| c["chunk_id"].as_u64().unwrap()).collect()
}

#[tokio::test]
async fn chunks_contain_analyzer_output() {
    let app = TestApp::new().await;
    let id = app.video().await;
    let page = app.get(&format!("/videos/{id}/chunks")).await.ok();
    assert_eq!(keys(&page), ["analyzers", "chunks", "limit", "offset", "total", "video_id"]);
    assert_eq!(
        (&page["total"], &page["limit"], &page["offset"]),
        (&json!(3), &json!(50), &json!(0))
    );
    let chunk = &page["chunks"][0];
    assert_eq!(keys(chunk), ["chunk_id", "default_video", "end", "start", "timecode"]);
    assert_eq!(chunk["timecode"], "0:00.00-0:10.00");
    assert_eq!(
        keys(&chunk["default_video"]),
        ["actions", "description", "objects", "people", "setting", "tags"]
    );
    assert_eq!(app.get(&format!("/videos/{id}/chunks/0")).await.ok(), *chunk);
}

#[tokio::test]
async fn filters_and_pages_combine() {
    let app = TestApp::new().await;
    let id = app.video_of(&clip(60.0)).await;
    for (query, total, expected) in [
        ("", 6, vec![0, 1, 2, 3, 4, 5]),
        ("after=25", 4, vec![2, 3, 4, 5]),
        ("after=30", 3, vec![3, 4, 5]),
        ("before=20", 2, vec![0, 1]),
        ("after=15&before=35", 3, vec![1, 2, 3]),
        ("chunk_ids=2,4,7", 2, vec![2, 4]),
        ("chunk_ids=2,4&before=25", 1, vec![2]),
        ("limit=2&offset=1", 6, vec![1, 2]),
        ("limit=2&offset=99", 6, vec![]),
        ("analyzer=default_video&limit=1", 6, vec![0]),
    ] {
        let page = app.get(&format!("/videos/{id}/chunks?{query}")).await.ok();
        assert_eq!((page["total"].as_u64(), ids(&page)), (Some(total), expected), "{query}");
    }
}

#[tokio::test]
async fn internal_keys_need_verbose() {
    let app = TestApp::new().await;
    let id = app.video().await;
    for path in [format!("/videos/{id}/chunks/0"), format!("/videos/{id}/chunks?chunk_ids=0")] {
        let with = |flag: &str| {
            format!("{path}{}verbose={flag}", if path.contains('?') { '&' } else { '?' })
        };
        assert!(!app.get(&path).await.text().contains("_frames"));
        assert!(!app.get(&with("false")).await.text().contains("_frames"));
        assert!(app.get(&with("true")).await.text().contains("_frames"));
        assert!(app.get(&with("1")).await.text().contains("_frames"));
        mentions(&app.get(&with("2")).await.error(422), &["verbose", "'2'", "true or false"]);
    }
}

#[tokio::test]
async fn analyzer_without_output_on_the_video_is_refused() {
    let app = TestApp::new().await;
    let id = app.video().await;
    let reply = app.get(&format!("/videos/{id}/chunks?analyzer=ocr")).await;
    mentions(&reply.error(400), &["ocr", "default_video"]);
}

#[tokio::test]
async fn analyzer_without_results_on_any_chunk_has_no_output() {
    let app = TestApp::new().await;
    let id = app.video().await;
    let chunks = app.get(&format!("/videos/{id}/chunks")).await.ok()["total"].clone();
    let nothing = vec![Value::Null; chunks.as_u64().expect("a count") as usize];
    app.plant_output(&id, "people", nothing.into()).await;
    assert_eq!(app.get(&format!("/videos/{id}")).await.ok()["analyzers"], json!(["default_video"]));
    assert_eq!(app.get(&format!("/videos/{id}/chunks")).await.ok()["total"], chunks);
    app.get(&format!("/videos/{id}/chunks/0")).await.ok();
    let refused = app.get(&format!("/videos/{id}/chunks?analyzer=people")).await.error(400);
    assert!(refused.contains("it has: default_video"), "{refused}");
    let answer =
        app.post_json("/ask", json!({"question": "Who is there?", "video_ids": [id]})).await.ok();
    assert!(
        !answer["results"].as_array().expect("segments").is_empty(),
        "chunks of other analyzers are evidence"
    );
}

#[tokio::test]
async fn page_reads_only_the_requested_documents() {
    let app = TestApp::new().await;
    let seconds = [("mode", "interval"), ("interval", "1")];
    let job = app.job_of(&seconds, "clip.mp4", &clip(120.0)).await;
    let id = job["result"]["video_id"].as_str().unwrap();
    let documents = app.records.list(&format!("videos/{id}/")).await.unwrap();
    let last =
        documents.iter().find(|key| key.contains("/default_video-") && key.ends_with("-2.json"));
    app.records.spoil(last.expect("a third page")).await;
    let path = format!("/videos/{id}/chunks");
    for (query, expected) in [("", 0..50), ("offset=50&limit=50", 50..100), ("limit=1", 0..1)] {
        let page = app.get(&format!("{path}?{query}")).await.ok();
        assert_eq!((&page["total"], ids(&page)), (&json!(120), expected.collect()), "{query}");
    }
    assert_eq!(app.get(&format!("{path}/99")).await.ok()["chunk_id"], 99);
    for page_query in ["?offset=51", "?chunk_ids=3,119", "?after=119.5", "/100"] {
        assert_eq!(app.get(&format!("{path}{page_query}")).await.status, 500, "{page_query}");
    }
    let unreadable = app.get("/health").await.ok()["unreadable"].clone();
    mentions(unreadable[0]["error"].as_str().unwrap(), &[last.unwrap()]);
    let repaired = app.job_of(&seconds, "clip.mp4", &clip(120.0)).await;
    assert_eq!(repaired["result"]["video_id"], id, "an ingest restores the document");
    assert_eq!(app.get(&format!("{path}?limit=500")).await.ok()["chunks"][119]["chunk_id"], 119);
    assert_eq!(app.service.maintenance.verification.run().await.unwrap().problems, [""; 0]);
}

#[tokio::test]
async fn page_is_cached_until_its_video_changes() {
    let app = TestApp::new().await;
    let id = app.video().await;
    let path = format!("/videos/{id}/chunks");
    let page = app.get(&path).await.ok();
    let documents = app.records.list(&format!("videos/{id}/")).await.unwrap();
    let spans = documents.iter().find(|key| key.contains("/chunks-")).expect("the spans").clone();
    app.records.spoil(&spans).await;
    assert_eq!(app.get(&path).await.ok(), page, "served from the cache");
    assert_eq!(
        app.get(&format!("{path}?limit=49")).await.status,
        500,
        "another page is not cached"
    );
    app.edit_record(&id, |record| record["filename"] = json!("renamed.mp4")).await;
    assert_eq!(app.get(&path).await.status, 500, "a changed record invalidates the cache");

    let shorter = [("mode", "interval"), ("interval", "5")];
    let job = app.job_of(&shorter, "clip.mp4", &clip(30.0)).await;
    assert_eq!(job["result"]["video_id"], id);
    let rechunked = app.get(&path).await.ok();
    assert_eq!((&page["total"], &rechunked["total"]), (&json!(3), &json!(6)));
    app.delete(&format!("/videos/{id}")).await.ok();
    app.get(&path).await.error(404);
    assert_eq!(app.video().await, id);
    assert_eq!(app.get(&path).await.ok(), page);
}
