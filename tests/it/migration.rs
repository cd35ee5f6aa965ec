//! A data folder that an earlier build wrote is opened, read, searched and aggregated again.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use adapters::llm::Extractive;
use ports::records::RecordStore;
use serde_json::{Value, json};
use shotlog::domain::search::reindex::Repair;

use crate::support::{TestApp, clip, video_id};

/// Every JSON document below a folder, with its key in the record store.
fn documents(folder: &Path) -> Vec<(String, Value)> {
    let mut found = Vec::new();
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
            found.push((key, serde_json::from_str(&text).expect("JSON")));
        }
    }
    found
}

/// An application over the records that the first version wrote of two videos, with their outputs
/// as that version stored them.
async fn opened() -> (TestApp, Vec<Value>) {
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
    app.service.search.reindex(Repair::default()).await.expect("an index made from the records");
    (app, records)
}

#[tokio::test]
async fn records_of_the_first_version_read_as_they_did() {
    let (app, records) = opened().await;
    for record in &records {
        let id = record["video_id"].as_str().expect("an id");
        let listed = app.get(&format!("/videos/{id}")).await.ok();
        assert_eq!(listed["chunks"], record["chunks"]);
        assert_eq!(
            listed["aggregates"].as_array().map(Vec::len),
            record["aggregates"].as_object().map(|a| a.len())
        );
        let found: Vec<&str> = listed["analyzers"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        assert!(found.contains(&"default_video") && found.contains(&"ocr"));
        assert!(!found.contains(&"people"), "it found nobody on any chunk");

        let page = app.get(&format!("/videos/{id}/chunks?verbose=true")).await.ok();
        for analyzer in found {
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
            let read =
                app.get(&format!("/videos/{id}/aggregates?aggregator={aggregator}")).await.ok();
            assert_eq!(Some(without_moments(&read["result"])), stored, "{aggregator}");
        }
        for format in ["csv", "json", "edl", "otio", "srt", "ffmetadata"] {
            let reply = app.get(&format!("/videos/{id}/export?format={format}")).await;
            assert_eq!(reply.status, 200, "{format}");
        }
    }
}

/// As it is stored: the names of moments are added where it is shown.
fn without_moments(shown: &Value) -> Value {
    match shown {
        Value::Object(fields) => {
            let stored = fields.iter().filter(|(name, _)| *name != "moment_id");
            stored.map(|(name, value)| (name.clone(), without_moments(value))).collect()
        }
        Value::Array(items) => items.iter().map(without_moments).collect(),
        other => other.clone(),
    }
}

#[tokio::test]
async fn records_of_the_first_version_are_searched_and_answer() {
    let (app, _) = opened().await;
    let query = json!({"text": "kitchen", "synthesize": false, "mode": "hybrid"});
    let hits = app.post_json("/query", query).await.ok();
    assert!(!hits["results"].as_array().expect("hits").is_empty());
    let answer = app.post_json("/ask", json!({"question": "What is shown?"})).await.ok();
    assert_eq!(answer["sources"].as_object().map(|s| s.len()), Some(2));
}

/// What is seen and read to happen in which chunk. What was said is told in other words today, and not
/// at all where it was misheard.
fn kinds_of_events(result: &Value) -> Vec<(u64, String)> {
    let events = result["events"].as_array().expect("events");
    let kind = |event: &Value| {
        let (chunk, category) = (event["chunk_id"].as_u64(), event["category"].as_str());
        (chunk.expect("a chunk"), category.expect("a category").to_owned())
    };
    events.iter().map(kind).filter(|(_, category)| category != "speech").collect()
}

#[tokio::test]
async fn records_of_the_first_version_are_aggregated_again() {
    let (app, records) = opened().await;
    for record in records {
        let id = record["video_id"].as_str().expect("an id");
        let mut before = BTreeMap::new();
        for aggregator in ["ner", "events"] {
            let key = record["aggregates"][aggregator].as_str().expect("a key");
            before.insert(aggregator, app.records.get(key).await.expect("read"));
        }
        // Of what the first version stored as text alone, as composed descriptions, nothing is lost.
        let again = ["stats", "ner", "events"];
        let ids = again.map(str::to_owned).to_vec();
        let aggregated = app.service.jobs.rerun_aggregates(video_id(id), Some(ids), true);
        let job = aggregated.await.expect("a job").job_id;
        let done = app.finished(&job).await;
        assert_eq!(done["result"]["ran"], json!(again), "{done}");
        let key = format!("videos/{id}/video.json");
        let stored = app.records.get(&key).await.expect("read").expect("a record");
        assert_eq!(stored["version"], 3, "in today's form");
        for (aggregator, before) in before {
            let now = app.get(&format!("/videos/{id}/aggregates?aggregator={aggregator}")).await;
            let (now, before) = (now.ok()["result"].clone(), before.expect("stored"));
            if aggregator == "events" {
                assert_eq!(kinds_of_events(&now), kinds_of_events(&before), "{now}");
            } else {
                assert_eq!(now, before, "{aggregator}");
            }
        }
    }
}

/// Puts the pages of a video's outputs into one document, and the record into the form that version 2
/// wrote.
async fn in_version_2(app: &TestApp, id: &str) {
    let key = format!("videos/{id}/video.json");
    let record = app.records.get(&key).await.expect("read").expect("a record");
    let entry = &record["analyzers"]["default_video"];
    let (begins, per_page) = (entry["document"].as_str(), entry["page_chunks"].as_u64());
    let (begins, per_page) = (begins.expect("pages"), per_page.expect("their length"));
    let mut outputs = Vec::new();
    for page in 0..record["chunks"].as_u64().expect("chunks").div_ceil(per_page) {
        let page = format!("{begins}-{page}.json");
        let stored = app.records.get(&page).await.expect("read").expect("a page");
        outputs.extend(stored.as_array().expect("outputs").iter().cloned());
        app.records.delete(&page).await.expect("deleted");
    }
    let whole = format!("{begins}.json");
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
async fn outputs_that_the_second_version_kept_in_one_document_read_as_they_did() {
    let app = TestApp::new().await;
    let seconds = [("mode", "interval"), ("interval", "1")];
    let job = app.job_of(&seconds, "clip.mp4", &clip(60.0)).await;
    let id = job["result"]["video_id"].as_str().expect("an id");
    let log = async || app.get(&format!("/videos/{id}/chunks?limit=500&verbose=true")).await.ok();
    let before = log().await;
    assert_eq!(before["total"], 60);
    in_version_2(&app, id).await;
    assert_eq!(log().await, before);
    let last = app.get(&format!("/videos/{id}/chunks/59?verbose=true")).await.ok();
    assert_eq!(last, before["chunks"][59]);
    app.service.search.reindex(Repair { all: true, ..Repair::default() }).await.expect("repaired");
    assert_eq!(app.service.catalog.verify().await.expect("verified").problems, [""; 0]);
    let key = format!("videos/{id}/video.json");
    let record = app.records.get(&key).await.expect("read").expect("a record");
    assert_eq!(record["version"], 3, "in today's form once it is published again");
    assert_eq!(log().await, before);
}
