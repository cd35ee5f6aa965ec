//! The OpenAPI document as a whole: its snapshot and its invariants.

use std::path::Path;

use serde_json::{Value, json};

use crate::support::TestApp;

const SNAPSHOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/openapi.json");

#[tokio::test]
async fn document_matches_its_snapshot() {
    let app = TestApp::new().await;
    let served = app.get("/openapi.json").await.json();
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        let text = serde_json::to_string_pretty(&served).expect("JSON") + "\n";
        std::fs::write(SNAPSHOT, text).expect("the snapshot is writable");
    }
    let recorded = std::fs::read_to_string(Path::new(SNAPSHOT)).expect("a snapshot");
    let recorded: Value = serde_json::from_str(&recorded).expect("JSON");
    assert!(
        served == recorded,
        "the document changed; check the difference after UPDATE_SNAPSHOTS=1 cargo test openapi"
    );
}

#[tokio::test]
async fn document_lists_every_operation_of_the_contract() {
    let app = TestApp::new().await;
    let document = app.get("/openapi.json").await.json();
    assert_eq!(document["info"]["title"], "shotlog");
    assert_eq!(document["info"]["version"], env!("CARGO_PKG_VERSION"));
    for (method, path) in [
        ("get", "/health"),
        ("get", "/schema"),
        ("get", "/analyzers"),
        ("post", "/videos"),
        ("post", "/videos/url"),
        ("get", "/jobs"),
        ("get", "/jobs/{job_id}"),
        ("get", "/videos"),
        ("get", "/videos/{video_id}"),
        ("delete", "/videos/{video_id}"),
        ("get", "/videos/{video_id}/chunks"),
        ("get", "/videos/{video_id}/chunks/{chunk_id}"),
        ("get", "/videos/{video_id}/aggregates"),
        ("post", "/videos/{video_id}/aggregates"),
        ("get", "/videos/{video_id}/entities"),
        ("post", "/query"),
        ("post", "/ask"),
        ("get", "/media/{video_id}"),
    ] {
        let operation = &document["paths"][path][method];
        assert!(operation["operationId"].is_string(), "{method} {path}");
        let mut undeclared: Vec<&str> = operation["parameters"]
            .as_array()
            .into_iter()
            .flatten()
            .filter(|parameter| parameter["in"] == "path")
            .filter_map(|parameter| parameter["name"].as_str())
            .collect();
        undeclared.retain(|name| !path.contains(&format!("{{{name}}}")));
        assert!(
            undeclared.is_empty(),
            "{method} {path} has parameters that its path lacks: {undeclared:?}"
        );
    }
}

#[tokio::test]
async fn document_states_defaults_and_ranges() {
    let app = TestApp::new().await;
    let document = app.get("/openapi.json").await.json();
    let query = &document["components"]["schemas"]["QueryRequest"]["properties"];
    assert_eq!(query["limit"]["default"], 5);
    assert_eq!(
        (query["limit"]["minimum"].as_f64(), query["limit"]["maximum"].as_f64()),
        (Some(1.0), Some(50.0))
    );
    assert_eq!(query["detail"]["default"], "standard");
    assert_eq!(query["synthesize"]["default"], true);
    assert_eq!(query["video_ids"]["nullable"], true);
    let ask = &document["components"]["schemas"]["AskRequest"]["properties"];
    assert_eq!(
        (ask["limit"]["default"].as_u64(), ask["limit"]["maximum"].as_f64()),
        (Some(6), Some(20.0))
    );
    assert_eq!(document["components"]["schemas"]["QueryRequest"]["required"], json!(["text"]));
    for level in ["MinimalResult", "StandardResult"] {
        let required = &document["components"]["schemas"][level]["required"];
        assert!(
            required.as_array().expect("a list").contains(&"score".into()),
            "{level}: {required}"
        );
    }
    let upload = &document["paths"]["/videos"]["post"]["requestBody"]["content"]["multipart/form-data"]
        ["schema"];
    assert_eq!(upload["required"], Value::Null);
    assert_eq!(upload["properties"]["file"]["format"], "binary");
    assert_eq!(upload["properties"]["upload_id"]["type"], "string");
    assert_eq!(upload["properties"]["max_duration"]["default"], 20.0);
    assert_eq!(upload["properties"]["analyzers"]["default"], "default_video");
    let url = &document["components"]["schemas"]["UrlIngestRequest"]["properties"];
    for fields in [url, &upload["properties"]] {
        assert_eq!(fields["mode"]["enum"], json!(["preset", "weights", "interval"]));
        assert_eq!(fields["min_duration"]["exclusiveMinimum"], true);
    }
    let job = &document["components"]["schemas"]["Job"]["required"];
    assert!(
        job.as_array().expect("a list").contains(&"result".into()),
        "result is always present, null until done: {job}"
    );
}

#[tokio::test]
async fn document_states_which_combinations_are_accepted() {
    let app = TestApp::new().await;
    let document = app.get("/openapi.json").await.json();
    let query = &document["components"]["schemas"]["QueryRequest"];
    let upload = &document["paths"]["/videos"]["post"]["requestBody"]["content"]["multipart/form-data"]
        ["schema"];
    for (schema, accepted, rejected) in [
        (
            query,
            vec![
                json!({"text": "boat"}),
                json!({"text": null, "like": "m"}),
                json!({"text": null, "image": "data:image/png;base64,"}),
                json!({"text": null, "order": "newest"}),
            ],
            vec![json!({"text": null}), json!({"text": null, "limit": 3})],
        ),
        (
            upload,
            vec![json!({"file": "a"}), json!({"upload_id": "a"})],
            vec![json!({}), json!({"mode": "interval"})],
        ),
    ] {
        for request in accepted {
            assert_eq!(app.contract().problems(schema, &request, "$"), [""; 0], "{request}");
        }
        for request in rejected {
            assert!(!app.contract().problems(schema, &request, "$").is_empty(), "{request}");
        }
    }
    // The service accepts what the document accepts.
    for (request, status) in
        [(json!({"text": null, "order": "newest"}), 200), (json!({"text": null}), 422)]
    {
        assert_eq!(app.post_json("/query", request.clone()).await.status, status, "{request}");
    }
}

/// Collects the paths of schemas that client generators cannot type: `allOf` of a reference and a part
/// without a type, and `nullable` without `type`, which has no effect (OpenAPI 3.0.3).
fn collect_untyped_schemas(node: &Value, at: &str, untyped: &mut Vec<String>) {
    let children: Vec<(String, &Value)> = match node {
        Value::Object(object) => object.iter().map(|(name, value)| (name.clone(), value)).collect(),
        Value::Array(items) => {
            items.iter().enumerate().map(|(n, item)| (n.to_string(), item)).collect()
        }
        _ => return,
    };
    let parts = node["allOf"].as_array().into_iter().flatten();
    let has_untyped_part =
        parts.clone().any(|part| part["$ref"].is_null() && part["type"].is_null());
    let is_untyped_null =
        node["nullable"] == true && node["type"].is_null() && node["enum"] != json!([null]);
    if has_untyped_part || is_untyped_null {
        untyped.push(at.to_owned());
    }
    for (name, child) in children {
        collect_untyped_schemas(child, &format!("{at}/{name}"), untyped);
    }
}

#[tokio::test]
async fn client_generators_can_type_every_schema() {
    let app = TestApp::new().await;
    let document = app.get("/openapi.json").await.json();
    let mut untyped = Vec::new();
    collect_untyped_schemas(&document, "", &mut untyped);
    assert!(untyped.is_empty(), "{untyped:#?}");
    let result = &document["components"]["schemas"]["Job"]["properties"]["result"];
    let alternatives = [result["oneOf"][0]["$ref"].as_str(), result["oneOf"][1]["type"].as_str()];
    assert_eq!(alternatives, [Some("#/components/schemas/JobResult"), None]);
    assert_eq!(result["oneOf"][1]["enum"], json!([null]));
    assert_eq!(result["description"], "Result of the job; null until it is done.");
}

#[tokio::test]
async fn document_lists_installed_analyzers_and_is_safe_in_html() {
    let app = TestApp::new().await;
    let reply = app.get("/openapi.json").await;
    let document = reply.json();
    let schema = app.get("/schema").await.ok();
    let query = &document["components"]["schemas"]["QueryRequest"]["properties"];
    assert_eq!(query["analyzer"]["enum"], schema["analyzers"]);
    let filters = query["filters"]["properties"].as_object().expect("filters");
    assert_eq!(filters.len(), schema["filters"].as_object().expect("filters").len());
    assert!(!reply.text().contains("</"), "no text that could close a script element");
    for (name, schema) in document["components"]["schemas"].as_object().expect("schemas") {
        let required = schema.get("required").is_none_or(Value::is_array);
        assert!(required && schema.get("properties").is_none_or(Value::is_object), "{name}");
    }
}
