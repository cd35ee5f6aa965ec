//! An analyzer and an aggregator from outside the crate (the examples): one line in the composition
//! registers each, and every route supports them.

#[path = "../../examples/own_analyzer/brightness.rs"]
pub(crate) mod brightness;
#[path = "../../examples/own_aggregator/darkest.rs"]
mod darkest;

use domain::aggregation::Aggregators;
use domain::analysis::Analyzers;
use serde_json::{Value, json};

use crate::support::{TestApp, clip, mentions};
use brightness::Brightness;
use darkest::Darkest;

/// Index of the only dark scene in the test clips.
const DARK: u64 = 4;

/// An application with both, the id of one ingested video and its job's result.
async fn app_with_video() -> (TestApp, String, Value) {
    let app = TestApp::with(|setup| {
        setup.analyzers = Analyzers::default().with(&Brightness);
        setup.aggregators = Aggregators::default().with(&Darkest);
    })
    .await;
    let analyzers = format!("default_video,{}", brightness::ID);
    let fields = [("analyzers", analyzers.as_str()), ("mode", "interval"), ("interval", "10")];
    let job = app.job_of(&fields, "clip.mp4", &clip(60.0)).await;
    assert_eq!(job["status"], "done", "{job}");
    let id = job["result"]["video_id"].as_str().unwrap().to_owned();
    (app, id, job["result"].clone())
}

#[track_caller]
fn assert_lists(list: &Value, id: &str) {
    assert!(list.as_array().unwrap().contains(&json!(id)), "{list} does not contain {id}");
}

/// Checks that a page shows it as rows after the built-in ones.
#[track_caller]
fn assert_presents(all: &Value, id: &str, label: &str) {
    let last = all.as_array().unwrap().last().unwrap();
    assert_eq!((&last["id"], &last["label"]), (&json!(id), &json!(label)), "{all}");
    assert_eq!(last["kind"], "rows");
}

#[tokio::test]
async fn schema_health_and_openapi_list_both() {
    let (app, _, _) = app_with_video().await;
    let (schema, health) = (app.get("/schema").await.ok(), app.get("/health").await.ok());
    assert_lists(&schema["analyzers"], brightness::ID);
    let darkest = json!({"depends_on": [brightness::ID], "uses_llm": false});
    assert_eq!(schema["aggregators"][darkest::ID], darkest);
    assert_eq!(schema["outputs"][brightness::ID]["properties"]["percent"]["type"], "integer");
    let presentation = &schema["presentation"];
    assert_presents(&presentation["analyzers"], brightness::ID, "Brightness");
    assert_presents(&presentation["aggregators"], darkest::ID, "Darkest moment");
    assert!(schema["results"][darkest::ID]["properties"].is_object(), "{}", schema["results"]);
    assert_lists(&app.get("/analyzers").await.ok()["analyzers"], brightness::ID);
    assert_lists(&health["analyzers"], brightness::ID);
    assert_lists(&health["aggregators"], darkest::ID);
    let document = app.get("/openapi.json").await.text();
    mentions(&document, &[brightness::ID, darkest::ID]);
}

#[tokio::test]
async fn an_ingest_runs_both_and_stores_their_outputs() {
    let (app, id, result) = app_with_video().await;
    assert_lists(&result["analyzers"], brightness::ID);
    assert_eq!(result["indexed"][brightness::ID], 6);
    assert_lists(&result["aggregated"]["aggregates"], darkest::ID);
    let chunk = app.get(&format!("/videos/{id}/chunks/{DARK}")).await.ok();
    assert_eq!(chunk[brightness::ID], json!({"percent": 7, "level": "dark"}));
    let page = app.get(&format!("/videos/{id}/chunks?analyzer={}", brightness::ID)).await.ok();
    let dark = |c: &&Value| c[brightness::ID]["level"] == "dark";
    assert_eq!(page["chunks"].as_array().unwrap().iter().filter(dark).count(), 1, "{page}");
    let all = app.get(&format!("/videos/{id}/aggregates")).await.ok();
    assert_lists(&all["available"], darkest::ID);
    let moment_id = format!("m_{id}_40000_50000");
    let moment =
        json!({"chunk_id": DARK, "start": 40.0, "end": 50.0, "percent": 7, "moment_id": moment_id});
    assert_eq!(all["aggregates"][darkest::ID], json!({"moment": moment}));
    let one = app.get(&format!("/videos/{id}/aggregates?aggregator={}", darkest::ID)).await.ok();
    assert_eq!(one["result"], all["aggregates"][darkest::ID]);
}

#[tokio::test]
async fn an_aggregator_is_skipped_without_the_analyzer_it_depends_on() {
    let (app, _, _) = app_with_video().await;
    let fields = [("mode", "interval"), ("interval", "10")];
    let job = app.job_of(&fields, "other.mp4", &clip(30.0)).await;
    let aggregates = &job["result"]["aggregated"]["aggregates"];
    assert!(!aggregates.as_array().unwrap().contains(&json!(darkest::ID)), "{aggregates}");
}

#[tokio::test]
async fn search_and_ask_return_and_cite_the_analyzers_output() {
    let (app, id, _) = app_with_video().await;
    let query = json!({"text": "dark picture", "analyzer": brightness::ID, "limit": 1});
    let page = app.post_json("/query", query).await.ok();
    assert_eq!(page["analyzer"], brightness::ID);
    let hit = &page["results"][0];
    assert_eq!(hit["chunk_id"], DARK, "{page}");
    mentions(hit["description"].as_str().unwrap(), &["The picture is dark"]);
    let query = json!({"text": "dark picture", "analyzer": "*", "limit": 1});
    let everywhere = app.post_json("/query", query).await.ok();
    assert_eq!(everywhere["results"][0]["chunk_id"], DARK, "{everywhere}");
    assert_lists(&everywhere["results"][0]["found_by"], brightness::ID);

    *app.model.says.lock().unwrap() = vec![("The picture is dark.", "picture is dark")];
    let question = json!({
        "question": "Which moment is the darkest?", "analyzer": brightness::ID, "limit": 6,
    });
    let answer = app.post_json("/ask", question).await.ok();
    mentions(answer["answer"].as_str().unwrap(), &[&format!("[{id} 40-50]")]);
    assert_eq!(answer["audit"][0]["verdict"], "supported", "{answer}");
    let sources = &answer["sources"][&id];
    assert_lists(&sources["routed_to"], darkest::ID);
    assert_eq!(sources[darkest::ID], 1);
}

#[tokio::test]
async fn csv_exports_have_the_analyzers_column() {
    let (app, id, _) = app_with_video().await;
    let table = app.get(&format!("/videos/{id}/export?format=csv")).await.text();
    let mut rows = table.lines();
    assert_eq!(rows.next().unwrap().rsplit(',').next(), Some(brightness::ID));
    assert_eq!(rows.nth(DARK as usize).unwrap().rsplit(',').next(), Some("7"));
}
