use std::sync::Arc;
use std::sync::atomic::Ordering;

use adapters::ocr::ScriptedTextRecognizer;
use poem::Request;
use serde_json::json;

use crate::support::{TestApp, keys, mentions};

#[tokio::test]
async fn health_reports_components() {
    let app = TestApp::new().await;
    let health = app.get("/health").await.ok();
    assert_eq!(
        keys(&health),
        [
            "aggregators",
            "analyzers",
            "see_more",
            "sees",
            "status",
            "storage",
            "ui",
            "unavailable",
            "unreadable"
        ]
    );
    assert_eq!(health["status"], "ok");
    assert_eq!(health["ui"], true);
    assert_eq!(health["storage"], json!({"ok": true, "bucket": "storage", "error": null}));
    assert!(health["analyzers"].as_array().unwrap().contains(&json!("default_video")));
    assert!(health["aggregators"].as_array().unwrap().contains(&json!("stats")));
}

#[tokio::test]
async fn health_says_what_is_recognised_and_how_to_recognise_more() {
    let app = TestApp::with(|setup| {
        setup.models.ocr = Some(Arc::new(ScriptedTextRecognizer::with_lines(Vec::new())));
    })
    .await;
    let health = app.get("/health").await.ok();
    assert_eq!(health["sees"], json!(["text"]));
    // The fake language model describes pictures.
    assert_eq!(keys(&health["see_more"]), ["models"]);
    mentions(&health["see_more"].to_string(), &["shotlog models --fetch"]);
}

#[tokio::test]
async fn storage_is_probed_on_each_call() {
    let app = TestApp::new().await;
    for (down, status) in [(false, "ok"), (true, "degraded"), (false, "ok")] {
        app.storage.down.store(down, Ordering::SeqCst);
        let health = app.get("/health").await.ok();
        assert_eq!(health["status"], status);
        assert_eq!(health["storage"]["ok"], !down);
    }
}

#[tokio::test]
async fn health_reports_api_only_mode() {
    let app = TestApp::with(|setup| setup.http.server.api_only = true).await;
    assert_eq!(app.get("/health").await.ok()["ui"], false);
}

#[tokio::test]
async fn schema_describes_everything_searchable() {
    let app = TestApp::new().await;
    let schema = app.get("/schema").await.ok();
    assert_eq!(
        keys(&schema),
        [
            "aggregators",
            "analyzers",
            "callbacks",
            "chunking",
            "detail_levels",
            "exclusive_groups",
            "filter_analyzers",
            "filters",
            "metadata_keys",
            "modes",
            "outputs",
            "presentation",
            "recommended_thresholds",
            "recommended_thresholds_by_analyzer",
            "results",
            "vector_fields"
        ]
    );
    assert_eq!(keys(&schema["detail_levels"]), ["full", "minimal", "standard"]);
    assert_eq!(
        schema["filters"]["min_people"],
        json!({"type": "int", "matches": "gte", "payload_field": "people_count"})
    );
    assert_eq!(
        schema["filters"]["video_ids"],
        json!({"type": "list[str]", "matches": "any", "payload_field": "video_id"})
    );
    assert_eq!(json!(keys(&schema["outputs"])), schema["analyzers"]);
    assert_eq!(schema["outputs"]["default_video"]["properties"]["description"]["type"], "string");
    assert_eq!(keys(&schema["results"]), keys(&schema["aggregators"]));
    assert_eq!(schema["results"]["summary"]["type"], "object");
    assert_eq!(schema["filter_analyzers"]["tags"], json!(["default_video"]));
    assert!(
        schema["filter_analyzers"].get("after").is_none(),
        "it applies to the chunks of every analyzer"
    );
    assert_eq!(schema["aggregators"]["stats"], json!({"depends_on": [], "uses_llm": false}));
    assert_eq!(schema["aggregators"]["summary"], json!({"depends_on": [], "uses_llm": true}));
}

#[tokio::test]
async fn analyzers_lists_fields_in_order() {
    let app = TestApp::new().await;
    let analyzers = app.get("/analyzers").await.ok();
    assert_eq!(keys(&analyzers), ["analyzers", "exclusive_groups", "fields"]);
    assert_eq!(
        analyzers["fields"],
        json!(["combined", "description", "people", "actions", "objects"])
    );
}

#[tokio::test]
async fn thresholds_depend_only_on_the_embedder() {
    let app = TestApp::new().await;
    let of = async || app.get("/schema").await.ok();
    let unknown = of().await;
    assert_eq!(unknown["recommended_thresholds"], json!({}), "unknown thresholds do not block");
    app.post_json("/query", json!({"text": "lake"})).await.ok();
    let schema = of().await;
    let fields = ["actions", "combined", "description", "objects", "people"];
    assert_eq!(keys(&schema["recommended_thresholds"]), fields);
    let by_analyzer = &schema["recommended_thresholds_by_analyzer"];
    assert_eq!(json!(keys(by_analyzer)), schema["analyzers"]);
    assert_eq!(by_analyzer["default_video"], schema["recommended_thresholds"]);
    let threshold = schema["recommended_thresholds"]["combined"].as_f64().unwrap();
    assert!((0.0..=1.0).contains(&threshold));
    app.video().await;
    app.post_json("/query", json!({"text": "lake"})).await.ok();
    assert_eq!(of().await["recommended_thresholds_by_analyzer"], *by_analyzer);
    assert!(schema["modes"]["hybrid"].is_string());
    assert_eq!(keys(&schema["chunking"]["modes"]), ["interval", "preset", "weights"]);
    assert_eq!(schema["chunking"]["presets"]["audio_video"]["weights"]["speaker"], 0.7);
    assert_eq!(keys(&schema["chunking"]["detectors"]), ["cut", "semantic", "silence", "speaker"]);
}

#[tokio::test]
async fn metrics_cover_requests_jobs_stages_and_models() {
    let app = TestApp::new().await;
    app.video().await;
    app.get("/videos/nothing").await.error(404);
    app.get("/no/such/path").await.error(404);
    let reply = app.get("/metrics").await;
    assert_eq!(reply.status, 200);
    assert!(reply.header("content-type").starts_with("text/plain; version=0.0.4"));
    let text = reply.text();
    let lines: Vec<&str> = text.lines().collect();
    for expected in [
        "shotlog_http_requests_total{method=\"GET\",route=\"/videos/{video_id}\",status=\"404\"}",
        "shotlog_http_requests_total{method=\"GET\",route=\"other\",status=\"404\"}",
        "shotlog_http_request_duration_seconds_bucket{route=\"/videos\",le=\"0.1\"}",
        "shotlog_jobs{status=\"done\"} 1",
        "shotlog_jobs{status=\"queued\"} 0",
        "shotlog_jobs_ended_total{status=\"done\"}",
        "shotlog_stage_duration_seconds_count{stage=\"analyzing\"}",
        "shotlog_steps_total{step=\"scan\"}",
        "shotlog_step_seconds{step=\"scan\"}",
        "shotlog_model_calls_total{role=\"language_model\",model=\"fake\",task=\"describe\",outcome=\"ok\"}",
        "shotlog_model_tokens_total{model=\"fake\",direction=\"input\"}",
        "shotlog_chunk_analyses_total{analyzer=\"default_video\",source=\"model\"}",
        "shotlog_index_points ",
        "shotlog_videos ",
        "# HELP shotlog_decoded_seconds_total ",
    ] {
        assert!(lines.iter().any(|line| line.starts_with(expected)), "no {expected} in\n{text}");
    }
    assert!(!text.contains("/no/such/path"), "unknown paths are not used as labels");
}

#[tokio::test]
async fn ready_reflects_its_dependencies() {
    let app =
        TestApp::with(|setup| setup.http.auth.tokens = vec!["secret-token-of-tests".into()]).await;
    let ready = app.raw(Request::builder().uri_str("/ready").finish()).await;
    assert_eq!(ready.status, 200, "{}", ready.text());
    assert_eq!(ready.json()["ready"], true);
    app.storage.down.store(true, Ordering::SeqCst);
    let reply = app.get("/ready").await;
    assert_eq!(reply.status, 503);
    assert_eq!(reply.json()["ready"], false);
    assert_eq!(reply.json()["checks"]["storage answers"], "failed");
    app.raw(Request::builder().uri_str("/metrics").finish()).await.error(401);
}
