use std::sync::Arc;

use adapters::llm::Extractive;
use adapters::ocr::ScriptedTextRecognizer;
use ports::ocr::TextLine;
use serde_json::{Value, json};

use crate::support::{Models, TestApp, clip, mentions};

/// The text on the sign in every frame.
const LINES: [&str; 3] = ["Dish: Fish soup", "It costs 12 euros", "Open 11:15"];

fn kitchen() -> Models {
    let line = |(n, text): (usize, &&str)| TextLine {
        text: (*text).into(),
        confidence: 0.95,
        bounds: [0.1, 0.1 + 0.2 * n as f32, 0.3, 0.1],
    };
    let lines = LINES.iter().enumerate().map(line).collect();
    Models { ocr: Some(Arc::new(ScriptedTextRecognizer::with_lines(lines))), ..Models::default() }
}

fn menu() -> Value {
    json!({
        "description": "what is on the menu",
        "schema": {"type": "object", "properties": {
            "dish": {"type": "string", "description": "What is cooked"},
            "price": {"type": "integer", "minimum": 0, "description": "What it costs, in euros"},
            "course": {"type": "string", "enum": ["soup", "dessert"]},
            "opens": {"type": "string", "format": "time"},
            "good": {"type": "boolean", "description": "Whether it is good"}
        }},
    })
}

/// An application with the extractor and one video ingested with it.
async fn app_with_menu() -> (TestApp, String) {
    let app = TestApp::with(|setup| {
        setup.models = kitchen();
        setup.llm = Some(Arc::new(Extractive::default()));
    })
    .await;
    app.put_json("/extractors/menu", menu()).await.ok();
    let fields = [("analyzers", "menu,ocr"), ("mode", "interval"), ("interval", "10")];
    let job = app.job_of(&fields, "c.mp4", &clip(20.0)).await;
    assert_eq!(job["status"], "done", "{job}");
    assert_eq!(job["result"]["indexed"], json!({"menu": 2, "ocr": 2}));
    (app, job["result"]["video_id"].as_str().unwrap().to_owned())
}

#[tokio::test]
async fn extractor_is_available_as_an_analyzer() {
    let (app, id) = app_with_menu().await;
    let schema = app.get("/schema").await.ok();
    assert!(schema["analyzers"].as_array().unwrap().contains(&json!("menu")), "{schema}");
    let values = &schema["outputs"]["menu"]["properties"]["values"];
    assert_eq!(values["properties"]["price"]["type"], "integer");
    let health = app.get("/health").await.ok();
    assert!(health["analyzers"].as_array().unwrap().contains(&json!("menu")), "{health}");

    let output = app.get(&format!("/videos/{id}/chunks/1")).await.ok()["menu"].clone();
    let values_expected = json!({
        "dish": "Fish soup", "price": 12, "course": "soup", "opens": "11:15", "good": null
    });
    assert_eq!(output["values"], values_expected);
    let evidence = output["evidence"].as_array().unwrap();
    let dish = evidence.iter().find(|entry| entry["path"] == "/dish").unwrap();
    assert_eq!((&dish["quote"], &dish["verdict"]), (&json!(LINES[0]), &json!("supported")));
    let moment = app.get(&format!("/moments/{}", dish["moment_id"].as_str().unwrap())).await.ok();
    assert_eq!(moment["chunks"][0]["chunk_id"], 1);
    assert_eq!(output["missing"][0]["path"], "/good");
    mentions(output["missing"][0]["reason"].as_str().unwrap(), &["language model", "llm.kind"]);

    let search =
        json!({"text": "fish soup", "analyzer": "menu", "detail": "full", "synthesize": false});
    let hits = app.post_json("/query", search).await.ok()["results"].clone();
    assert_eq!(hits[0]["video_id"], json!(id));
    mentions(hits[0]["text"].as_str().unwrap(), &["Dish: Fish soup. Price: 12."]);
    let question = json!({"question": "What dish is there?", "analyzer": "menu"});
    let answer = app.post_json("/ask", question).await.ok();
    mentions(answer["answer"].as_str().unwrap(), &["Fish soup", &id]);
    let table = app.get(&format!("/videos/{id}/export?format=csv")).await.text();
    mentions(
        &table,
        &["menu.dish,menu.price,menu.course,menu.opens,menu.good", "Fish soup,12,soup"],
    );
}

#[tokio::test]
async fn redefined_extractor_runs_again_alone() {
    let (app, id) = app_with_menu().await;
    let plan = async |app: &TestApp| {
        let request =
            json!({"video_id": id, "analyzers": "menu", "mode": "interval", "interval": 10});
        app.post_json("/videos/plan", request).await.ok()["analyzers"]["menu"]["reused"].clone()
    };
    assert_eq!(plan(&app).await, 2);
    let same = app.put_json("/extractors/menu", menu()).await.ok();
    assert_eq!(same["created_at"], same["updated_at"]);
    assert_eq!(plan(&app).await, 2, "an unchanged definition");
    let mut redefined = menu();
    redefined["schema"]["properties"]["opens"] = json!({"type": "string", "format": "date"});
    app.put_json("/extractors/menu", redefined).await.ok();
    assert_eq!(plan(&app).await, 0);
    let fields = [("analyzers", "menu"), ("mode", "interval"), ("interval", "10")];
    let job = app.job_of(&fields, "c.mp4", &clip(20.0)).await;
    assert_eq!(job["status"], "done", "{job}");
    let chunk = app.get(&format!("/videos/{id}/chunks/0")).await.ok();
    assert_eq!(chunk["menu"]["values"]["opens"], Value::Null);
}

#[tokio::test]
async fn deleted_extractor_is_no_analyzer_but_its_output_stays() {
    let (app, id) = app_with_menu().await;
    let list = app.get("/extractors").await.ok();
    assert_eq!(list["extractors"][0], app.get("/extractors/menu").await.ok());
    assert_eq!(app.delete("/extractors/menu").await.ok()["deleted"], true);
    assert_eq!(app.get("/extractors").await.ok(), json!({"extractors": []}));
    let chunk = app.get(&format!("/videos/{id}/chunks/0")).await.ok();
    assert_eq!(chunk["menu"]["values"]["price"], 12);
    let search = json!({"text": "soup", "analyzer": "menu", "synthesize": false});
    mentions(&app.post_json("/query", search).await.error(400), &["unknown analyzer 'menu'"]);
    for gone in [app.get("/extractors/menu").await, app.delete("/extractors/menu").await] {
        mentions(&gone.error(404), &["unknown extractor 'menu'"]);
    }
}

#[tokio::test]
async fn extractor_is_visible_to_other_instances() {
    let first = TestApp::new().await;
    let records = first.records.clone();
    let second = TestApp::with(|setup| {
        setup.models = kitchen();
        setup.llm = Some(Arc::new(Extractive::default()));
        setup.records = records;
    })
    .await;
    first.put_json("/extractors/menu", menu()).await.ok();
    let fields = [("analyzers", "menu"), ("mode", "interval"), ("interval", "10")];
    let job = second.job_of(&fields, "c.mp4", &clip(20.0)).await;
    assert_eq!(job["result"]["indexed"]["menu"], 2, "{job}");
}

#[tokio::test]
async fn invalid_extractors_are_refused_with_a_hint() {
    let app = TestApp::with(|setup| setup.settings.extractors.max = 1).await;
    let extractor = |schema: Value| json!({"schema": schema});
    let property =
        |property: Value| extractor(json!({"type": "object", "properties": {"a": property}}));
    for (name, body, hint) in [
        ("ocr", menu(), "choose another name"),
        ("Menu", menu(), "lower-case"),
        ("menu", extractor(json!({"type": "string"})), "must be of type object"),
        ("menu", property(json!({"$ref": "#"})), "cannot refer to itself"),
        ("menu", property(json!({"type": "array"})), "an array needs items"),
    ] {
        let refused = app.put_json(&format!("/extractors/{name}"), body).await;
        mentions(&refused.error(400), &[hint]);
    }
    app.put_json("/extractors/menu", json!({"scheme": {}})).await.error(422);
    app.put_json("/extractors/menu", menu()).await.ok();
    mentions(&app.put_json("/extractors/other", menu()).await.error(400), &["extractors.max"]);
}
