//! Records of earlier versions can be read, searched and aggregated again.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use adapters::llm::Extractive;
use domain::maintenance::repair::Repair;
use ports::records::RecordStore;
use serde_json::{Value, json};

use crate::support::{TestApp, clip, video_id};

/// Every JSON document below a folder, with its key in the record store.
fn documents(folder: &Path) -> Vec<(String, Value)> {
    let mut documents = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(next).expect("a folder").flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let key = path.strip_prefix(folder).expect("below it").to_string_lossy().into_owned();
            let text = std::fs::read_to_string(&path).expect("text");
            documents.push((key, serde_json::from_str(&text).expect("JSON")));
        }
    }
    documents
}

/// An application over the records and outputs of two videos in the format of version 1, and the video
/// records.
async fn open_version_1() -> (TestApp, Vec<Value>) {
    let app = TestApp::with(|setup| setup.llm = Some(Arc::new(Extractive::default()))).await;
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/data_v1/records");
    let mut records = Vec::new();
    for (key, document) in documents(&folder) {
        app.records.put(&key, &document).await.expect("stored");
        if key.ends_with("/video.json") {
            records.push(document);
        }
    }
    assert_eq!(records.len(), 2);
    app.service
        .maintenance
        .reindexer
        .reindex(Repair::default())
        .await
        .expect("an index made from the records");
    (app, records)
}

#[tokio::test]
async fn a_video_stored_as_poster_jpg_is_renamed_when_ingested_again() {
    use ports::storage::ObjectStorage;
    let app = TestApp::new().await;
    let id = app.video().await;
    let poster = app.get(&format!("/storage/{id}/poster.jpg")).await.body;
    assert_ne!(poster, clip(30.0));
    for intact in [true, false] {
        // An earlier version stored the video and the poster as the same object.
        let shared = format!("{id}/poster.jpg");
        let content = Box::pin(futures::stream::once(async { Ok(clip(30.0).into()) }));
        app.storage.put(&shared, content, "video/mp4").await.unwrap();
        app.storage.delete(&format!("{id}/poster-video.jpg")).await.unwrap();
        app.edit_record(&id, |record| {
            record["filename"] = json!("poster.jpg");
            record["storage_path"] = json!(shared);
            record["poster_path"] = json!(shared);
        })
        .await;
        let interval = if intact { "10" } else { "15" };
        let fields = [("mode", "interval"), ("interval", interval)];
        let job = app.job_of(&fields, "poster.jpg", &clip(30.0)).await;
        assert_eq!(job["status"], "done", "{job}");
        let video = app.get(&format!("/videos/{id}")).await.ok();
        assert_eq!(video["filename"], "poster-video.jpg");
        let path = video["storage_path"].as_str().unwrap();
        assert_eq!(app.get(&format!("/storage/{path}")).await.body, clip(30.0));
        // The object of the earlier record stays until the new record is published.
        assert_eq!(video["poster_url"], Value::Null);
        let fields = [("mode", "interval"), ("interval", "20")];
        let job = app.job_of(&fields, "poster.jpg", &clip(30.0)).await;
        assert_eq!(job["status"], "done", "{job}");
        assert_eq!(app.get(&format!("/storage/{shared}")).await.body, poster);
        assert_eq!(app.service.maintenance.verification.run().await.unwrap().problems, [""; 0]);
    }
}

#[tokio::test]
async fn version_1_records_are_served_unchanged() {
    let (app, records) = open_version_1().await;
    for record in &records {
        let id = record["video_id"].as_str().expect("an id");
        let video = app.get(&format!("/videos/{id}")).await.ok();
        assert_eq!(video["chunks"], record["chunks"]);
        assert_eq!(
            video["aggregates"].as_array().map(Vec::len),
            record["aggregates"].as_object().map(|a| a.len())
        );
        let analyzers: Vec<&str> =
            video["analyzers"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        assert!(analyzers.contains(&"default_video") && analyzers.contains(&"ocr"));
        assert!(!analyzers.contains(&"people"), "people has no output on any chunk");

        let page = app.get(&format!("/videos/{id}/chunks?verbose=true")).await.ok();
        for analyzer in analyzers {
            let key = record["analyzers"][analyzer]["document"].as_str().expect("a key");
            let stored = app.records.get(key).await.expect("read").expect("a document");
            for (chunk, output) in page["chunks"]
                .as_array()
                .into_iter()
                .flatten()
                .zip(stored.as_array().into_iter().flatten())
            {
                assert_eq!(chunk.get(analyzer).unwrap_or(&Value::Null), output, "{analyzer}");
            }
        }
        for (aggregator, key) in record["aggregates"].as_object().into_iter().flatten() {
            let stored = app.records.get(key.as_str().expect("a key")).await.expect("read");
            let served =
                app.get(&format!("/videos/{id}/aggregates?aggregator={aggregator}")).await.ok();
            assert_eq!(Some(without_moments(&served["result"])), stored, "{aggregator}");
        }
        for format in ["csv", "json", "edl", "otio", "srt", "ffmetadata"] {
            let reply = app.get(&format!("/videos/{id}/export?format={format}")).await;
            assert_eq!(reply.status, 200, "{format}");
        }
    }
}

/// The stored form of a served aggregate: moment ids are added only when it is served.
fn without_moments(served: &Value) -> Value {
    match served {
        Value::Object(fields) => {
            let stored = fields.iter().filter(|(name, _)| *name != "moment_id");
            stored.map(|(name, value)| (name.clone(), without_moments(value))).collect()
        }
        Value::Array(items) => items.iter().map(without_moments).collect(),
        other => other.clone(),
    }
}

#[tokio::test]
async fn version_1_records_can_be_searched_and_asked() {
    let (app, _) = open_version_1().await;
    let query = json!({"text": "kitchen", "synthesize": false, "mode": "hybrid"});
    let hits = app.post_json("/query", query).await.ok();
    assert!(!hits["results"].as_array().expect("hits").is_empty());
    let answer = app.post_json("/ask", json!({"question": "What is shown?"})).await.ok();
    assert_eq!(answer["sources"].as_object().map(|s| s.len()), Some(2));
}

/// The chunk and category of every event except speech: events from speech are worded differently today,
/// and omitted where the speech was misrecognised.
fn event_categories(result: &Value) -> Vec<(u64, String)> {
    let events = result["events"].as_array().expect("events");
    let chunk_and_category = |event: &Value| {
        let (chunk, category) = (event["chunk_id"].as_u64(), event["category"].as_str());
        (chunk.expect("a chunk"), category.expect("a category").to_owned())
    };
    events.iter().map(chunk_and_category).filter(|(_, category)| category != "speech").collect()
}

#[tokio::test]
async fn version_1_records_can_be_aggregated_again() {
    let (app, records) = open_version_1().await;
    for record in records {
        let id = record["video_id"].as_str().expect("an id");
        let mut before = BTreeMap::new();
        for aggregator in ["ner", "events"] {
            let key = record["aggregates"][aggregator].as_str().expect("a key");
            before.insert(aggregator, app.records.get(key).await.expect("read"));
        }
        // Nothing is lost of what version 1 stored only as text, such as composed descriptions.
        let aggregators = ["stats", "ner", "events"];
        let ids = aggregators.map(str::to_owned).to_vec();
        let aggregated =
            app.service.jobs.submission.rerun_aggregates(video_id(id), Some(ids), true);
        let job = aggregated.await.expect("a job").job_id;
        let done = app.finished(&job).await;
        assert_eq!(done["result"]["ran"], json!(aggregators), "{done}");
        let key = format!("videos/{id}/video.json");
        let stored = app.records.get(&key).await.expect("read").expect("a record");
        assert_eq!(stored["version"], 3, "in the current format");
        for (aggregator, before) in before {
            let now = app.get(&format!("/videos/{id}/aggregates?aggregator={aggregator}")).await;
            let (now, before) = (now.ok()["result"].clone(), before.expect("stored"));
            if aggregator == "events" {
                // What the first moment shows is there from the start, and no event.
                let mut before = event_categories(&before);
                before.retain(|event| *event != (0, "appearance".to_owned()));
                assert_eq!(event_categories(&now), before, "{now}");
            } else {
                assert_eq!(now, before, "{aggregator}");
            }
        }
    }
}

/// Merges the pages of a video's outputs into one document and rewrites the record in the format of
/// version 2.
async fn downgrade_to_version_2(app: &TestApp, id: &str) {
    let key = format!("videos/{id}/video.json");
    let record = app.records.get(&key).await.expect("read").expect("a record");
    let entry = &record["analyzers"]["default_video"];
    let (prefix, per_page) = (entry["document"].as_str(), entry["page_chunks"].as_u64());
    let (prefix, per_page) = (prefix.expect("pages"), per_page.expect("their length"));
    let mut outputs = Vec::new();
    for page in 0..record["chunks"].as_u64().expect("chunks").div_ceil(per_page) {
        let page = format!("{prefix}-{page}.json");
        let stored = app.records.get(&page).await.expect("read").expect("a page");
        outputs.extend(stored.as_array().expect("outputs").iter().cloned());
        app.records.delete(&page).await.expect("deleted");
    }
    let whole = format!("{prefix}.json");
    app.records.put(&whole, &Value::from(outputs)).await.expect("stored");
    app.edit_record(id, |record| {
        record["version"] = json!(2);
        let entry = record["analyzers"]["default_video"].as_object_mut().expect("an entry");
        entry.shift_remove("page_chunks");
        entry.insert("document".into(), whole.into());
    })
    .await;
}

#[tokio::test]
async fn version_2_outputs_in_one_document_are_served_unchanged() {
    let app = TestApp::new().await;
    let seconds = [("mode", "interval"), ("interval", "1")];
    let job = app.job_of(&seconds, "clip.mp4", &clip(60.0)).await;
    let id = job["result"]["video_id"].as_str().expect("an id");
    let log = async || app.get(&format!("/videos/{id}/chunks?limit=500&verbose=true")).await.ok();
    let before = log().await;
    assert_eq!(before["total"], 60);
    downgrade_to_version_2(&app, id).await;
    assert_eq!(log().await, before);
    let last = app.get(&format!("/videos/{id}/chunks/59?verbose=true")).await.ok();
    assert_eq!(last, before["chunks"][59]);
    app.service
        .maintenance
        .reindexer
        .reindex(Repair { all: true, ..Repair::default() })
        .await
        .expect("repaired");
    assert_eq!(
        app.service.maintenance.verification.run().await.expect("verified").problems,
        [""; 0]
    );
    let key = format!("videos/{id}/video.json");
    let record = app.records.get(&key).await.expect("read").expect("a record");
    assert_eq!(record["version"], 3, "in the current format once it is published again");
    assert_eq!(log().await, before);
}
