//! Section 7: one test per error row, named after it. `partial_failure.rs` tests the rest of the section.

use std::sync::atomic::Ordering;

use adapters::fetcher::Response;
use poem::http::Method;
use ports::llm::Task;
use serde_json::{Value, json};

use crate::support::{TestApp, clip, mentions};

mod bad_request_400 {
    use super::*;

    async fn upload(fields: &[(&str, &str)], words: &[&str]) {
        let app = TestApp::new().await;
        mentions(&app.upload(fields, "c.mp4", &clip(5.0)).await.error(400), words);
        assert_eq!(app.spooled(), 0, "a refused upload leaves nothing");
        assert_eq!(app.get("/jobs").await.ok()["total"], 0, "no job is created");
        let mut body = json!({"url": "http://a.example/c.mp4"});
        for (name, value) in fields {
            body[*name] =
                value.parse::<f64>().map_or_else(|_| json!(value), |number| json!(number));
        }
        mentions(&app.post_json("/videos/url", body).await.error(400), words);
    }

    #[tokio::test]
    async fn unknown_analyzer() {
        upload(&[("analyzers", "default_video,nope")], &["nope", "default_video"]).await;
        let app = TestApp::new().await;
        let body = json!({"text": "x", "analyzer": "nope"});
        mentions(&app.post_json("/query", body).await.error(400), &["nope", "default_video"]);
        let body = json!({"question": "x", "analyzer": "nope"});
        mentions(&app.post_json("/ask", body).await.error(400), &["nope", "default_video"]);
    }

    #[tokio::test]
    async fn unknown_field() {
        let app = TestApp::new().await;
        let body = json!({"text": "x", "field": "colour"});
        mentions(&app.post_json("/query", body).await.error(400), &["colour", "combined"]);
    }

    #[tokio::test]
    async fn unknown_detail_level() {
        let app = TestApp::new().await;
        let body = json!({"text": "x", "detail": "huge"});
        mentions(&app.post_json("/query", body).await.error(400), &["huge", "minimal", "full"]);
    }

    #[tokio::test]
    async fn unknown_filter_key() {
        let app = TestApp::new().await;
        for (key, suggestion) in
            [("speaker", "speakers"), ("min_poeple", "min_people"), ("xyz", "did you mean")]
        {
            let body = json!({"text": "x", "filters": {key: ["a"]}});
            mentions(&app.post_json("/query", body).await.error(400), &[key, suggestion]);
        }
    }

    #[tokio::test]
    async fn unknown_aggregator() {
        let app = TestApp::new().await;
        let id = app.video().await;
        let path = format!("/videos/{id}/aggregates");
        let kind = "application/x-www-form-urlencoded";
        let comma = app.post_text(&path, kind, "aggregators=%2C").await;
        mentions(&comma.error(400), &["','", "stats"]);
        let reply = app.post_text(&path, kind, "aggregators=stats%2Cnope").await;
        mentions(&reply.error(400), &["nope", "stats", "summary"]);
    }

    #[tokio::test]
    async fn mutually_exclusive_analyzers() {
        upload(&[("analyzers", "transcript,diarization")], &["transcript"]).await;
    }

    #[tokio::test]
    async fn unknown_mode() {
        upload(&[("mode", "magic")], &["magic", "preset, weights, interval"]).await;
    }

    #[tokio::test]
    async fn unknown_preset() {
        upload(&[("preset", "loud")], &["loud", "audio, video, audio_video"]).await;
    }

    #[tokio::test]
    async fn weights_without_a_weight() {
        upload(&[("mode", "weights")], &["speaker", "silence", "cut", "semantic"]).await;
        upload(&[("mode", "weights"), ("cut", "0")], &["above 0"]).await;
    }

    #[tokio::test]
    async fn interval_without_an_interval() {
        upload(&[("mode", "interval")], &["interval"]).await;
    }

    #[tokio::test]
    async fn min_duration_above_max_duration() {
        upload(&[("min_duration", "9"), ("max_duration", "3")], &["min_duration", "9", "3"]).await;
    }

    #[tokio::test]
    async fn non_http_url() {
        let app = TestApp::new().await;
        for url in ["ftp://a.example/c.mp4", "file:///etc/passwd", "c.mp4", "", "javascript:1"] {
            let reply = app.post_json("/videos/url", json!({"url": url})).await;
            mentions(&reply.error(400), &["http", "https"]);
        }
    }

    #[tokio::test]
    async fn chunk_ids_not_comma_separated_integers() {
        let app = TestApp::new().await;
        let id = app.video().await;
        for ids in ["a", "1;2", "1,,2", "1.5", "%20", "-"] {
            let reply = app.get(&format!("/videos/{id}/chunks?chunk_ids={ids}")).await;
            mentions(&reply.error(400), &["chunk_ids", "comma-separated integers"]);
        }
    }

    #[tokio::test]
    async fn no_output_from_the_requested_analyzer() {
        let app = TestApp::new().await;
        let id = app.video().await;
        let reply = app.get(&format!("/videos/{id}/chunks?analyzer=people")).await;
        mentions(&reply.error(400), &["people", "default_video"]);
    }

    #[tokio::test]
    async fn aggregate_not_stored_for_the_video() {
        let app = TestApp::new().await;
        let id = app.video().await;
        let reply = app.get(&format!("/videos/{id}/aggregates?aggregator=entities")).await;
        mentions(&reply.error(400), &["entities", "stats", "summary"]);
    }

    #[tokio::test]
    async fn entities_without_the_entities_aggregate() {
        let app = TestApp::new().await;
        let id = app.video().await;
        let reply = app.get(&format!("/videos/{id}/entities")).await;
        mentions(&reply.error(400), &["entities", "stats"]);
    }
}

#[tokio::test]
async fn success_200_also_for_the_empty_cases_of_ask() {
    let app = TestApp::new().await;
    let answer = app.post_json("/ask", json!({"question": "Who?"})).await.ok();
    assert_eq!(answer["error"], "No videos ingested.");
}

#[tokio::test]
async fn accepted_202_for_both_ingest_routes_and_the_rerun() {
    let app = TestApp::new().await;
    assert_eq!(app.upload(&[], "c.mp4", &clip(5.0)).await.status, 202);
    let body = json!({"url": "http://a.example/c.mp4"});
    assert_eq!(app.post_json("/videos/url", body).await.status, 202);
    let id = app.video().await;
    let kind = "application/x-www-form-urlencoded";
    let reply = app.post_text(&format!("/videos/{id}/aggregates"), kind, "").await;
    assert_eq!(reply.status, 202);
}

#[tokio::test]
async fn redirect_307_for_media() {
    let app = TestApp::new().await;
    let id = app.video().await;
    assert_eq!(app.get(&format!("/media/{id}")).await.status, 307);
}

#[tokio::test]
async fn unauthorised_401_missing_or_wrong_token() {
    let app = TestApp::with(|setup| setup.http.auth.tokens = vec!["right".into()]).await;
    let request = || poem::Request::builder().uri_str("/videos");
    mentions(&app.raw(request().finish()).await.error(401), &["X-Core-Token"]);
    let wrong = request().header("X-Core-Token", "wrong").finish();
    mentions(&app.raw(wrong).await.error(401), &["X-Core-Token", "wrong"]);
    assert_eq!(app.get("/videos").await.status, 200);
}

#[tokio::test]
async fn not_found_404_unknown_video_id() {
    let app = TestApp::new().await;
    let routes = ["", "/chunks", "/chunks/0", "/aggregates", "/entities"];
    for id in ["0000000000000000", "nope", "..%2f..%2fx", "%ff", "0000000000000000%00"] {
        for route in routes {
            app.get(&format!("/videos/{id}{route}")).await.error(404);
        }
        app.get(&format!("/media/{id}")).await.error(404);
        app.delete(&format!("/videos/{id}")).await.error(404);
        let kind = "application/x-www-form-urlencoded";
        app.post_text(&format!("/videos/{id}/aggregates"), kind, "").await.error(404);
    }
    mentions(&app.get("/videos/abc").await.error(404), &["abc"]);
}

#[tokio::test]
async fn not_found_404_unknown_chunk_id() {
    let app = TestApp::new().await;
    let id = app.video().await;
    for chunk in ["3", "-1", "4294967295", "99999999999999999999"] {
        app.get(&format!("/videos/{id}/chunks/{chunk}")).await.error(404);
    }
    for chunk in ["x", "-", "1.0"] {
        let reply = app.get(&format!("/videos/{id}/chunks/{chunk}")).await;
        mentions(&reply.error(422), &["chunk_id", "integer"]);
    }
}

#[tokio::test]
async fn not_found_404_unknown_job_id() {
    let app = TestApp::new().await;
    mentions(&app.get("/jobs/nope").await.error(404), &["nope"]);
}

#[tokio::test]
async fn not_found_404_unknown_path() {
    let app = TestApp::new().await;
    for path in ["/nope", "/videos/", "/videos/a/b/c", "/v1/videos", "/index.html"] {
        mentions(&app.get(path).await.error(404), &[path]);
    }
}

#[tokio::test]
async fn method_not_allowed_405_lists_the_allowed_methods() {
    let app = TestApp::new().await;
    for (method, path, allow) in [
        (Method::PUT, "/videos", "POST, GET, HEAD"),
        (Method::GET, "/query", "POST"),
        (Method::POST, "/health", "GET, HEAD"),
        (Method::PUT, "/videos/abc", "GET, DELETE, HEAD, PATCH"),
        (Method::TRACE, "/videos/abc/chunks/1", "GET, HEAD"),
        (Method::POST, "/", "GET, HEAD"),
        (Method::POST, "/docs", "GET, HEAD"),
        (Method::PUT, "/session", "GET, HEAD, POST, DELETE"),
    ] {
        let reply = app.raw(app.request(method.clone(), path).finish()).await;
        let sorted = |list: &str| {
            let mut list: Vec<String> = list.split(", ").map(str::to_owned).collect();
            list.sort();
            list
        };
        assert_eq!(sorted(reply.header("allow")), sorted(allow), "{method} {path}");
        reply.error(405);
    }
}

#[tokio::test]
async fn unprocessable_422_wrong_type_or_range() {
    let app = TestApp::new().await;
    let url = "http://a.example/c.mp4";
    let long = "words ".repeat(4000);
    for (route, body, words) in [
        ("/query", json!({}), ["text is missing", "string"]),
        ("/query", json!({"text": ""}), ["text is empty", "not empty"]),
        ("/query", json!({"text": 5}), ["text is 5", "string"]),
        ("/query", json!({"text": true}), ["text is true", "string"]),
        ("/query", json!({"text": null}), ["text is missing", "string"]),
        (
            "/query",
            json!({"text": "x", "video_ids": "a"}),
            ["video_ids", "list of strings or null"],
        ),
        ("/query", json!({"text": "x", "video_ids": [1]}), ["video_ids[0] is 1", "string"]),
        ("/query", json!({"text": "x", "synthesize": "yes"}), ["synthesize", "true or false"]),
        (
            "/query",
            json!({"text": "x", "score_threshold": "high"}),
            ["score_threshold", "number or null"],
        ),
        ("/query", json!({"text": "x", "filters": []}), ["filters is a list", "object"]),
        ("/query", json!({"text": "x", "filters": {"after": "x"}}), ["after", "float"]),
        ("/query", json!({"text": "x", "filters": {"objects": "x"}}), ["objects", "list[str]"]),
        ("/query", json!([]), ["the body is a list", "object"]),
        ("/query", json!("text"), ["the body", "object"]),
        ("/query", json!({"text": long}), ["text has 24000 bytes", "search.max_text_bytes"]),
        ("/ask", json!({"question": long}), ["question has 24000 bytes", "at most 16384"]),
        ("/evidence", json!({"question": long}), ["question has 24000 bytes", "at most 16384"]),
        ("/ask", json!({}), ["question is missing", "string"]),
        ("/ask", json!({"question": "  "}), ["question is empty", "not empty"]),
        ("/ask", json!({"question": "x", "analyzer": 5}), ["analyzer is 5", "string or null"]),
        ("/videos/url", json!({}), ["url is missing", "string"]),
        ("/videos/url", json!({"url": url, "interval": "5"}), ["interval", "number or null"]),
        ("/videos/url", json!({"url": url, "cut": [1]}), ["cut is a list", "number or null"]),
        ("/videos/url", json!({"url": url, "mode": 5}), ["mode is 5", "string"]),
        (
            "/videos/url",
            json!({"url": url, "mode": "interval", "interval": 0}),
            ["interval is 0", "greater than 0"],
        ),
        (
            "/videos/url",
            json!({"url": url, "mode": "weights", "cut": -1}),
            ["'cut' is -1", "at least 0"],
        ),
    ] {
        let reply = app.post_json(route, body.clone()).await;
        mentions(&reply.error(422), &words);
    }
    assert_eq!(app.get("/jobs").await.ok()["total"], 0);
}

#[tokio::test]
async fn unprocessable_422_mistyped_fields_suggest_the_nearest() {
    let app = TestApp::new().await;
    let id = app.video().await;
    let url = "http://a.example/c.mp4";
    let preview = format!("/videos/{id}/chunking/preview");
    for (route, body, words) in [
        ("/query", json!({"text": "x", "video_id": [id]}), ["'video_id'", "'video_ids'?"]),
        ("/query", json!({"text": "x", "Limit": 3}), ["'Limit'", "'limit'?"]),
        ("/ask", json!({"question": "x", "video_id": [id]}), ["'video_id'", "'video_ids'?"]),
        ("/ask", json!({"question": "x", "text": "x"}), ["'text'", "accepted: question, "]),
        ("/videos/url", json!({"url": url, "analyzer": "ocr"}), ["'analyzer'", "'analyzers'?"]),
        ("/videos/plan", json!({"url": url, "intervall": 5}), ["'intervall'", "'interval'?"]),
        (preview.as_str(), json!({"min": 5}), ["'min'", "'min_duration'?"]),
    ] {
        let detail = app.post_json(route, body.clone()).await.error(422);
        mentions(&detail, &words);
        mentions(&detail, &["unknown field", "accepted: "]);
    }
    let reply = app.upload(&[("analyser", "ocr")], "c.mp4", &clip(5.0)).await;
    mentions(
        &reply.error(422),
        &["'analyser'", "'analyzers'?", "accepted: file, upload_id, analyzers, "],
    );
    let rerun = format!("/videos/{id}/aggregates");
    let kind = "application/x-www-form-urlencoded";
    let reply = app.post_text(&rerun, kind, "aggregator=stats").await;
    mentions(&reply.error(422), &["'aggregator'", "'aggregators'?"]);
    assert_eq!(app.get("/jobs").await.ok()["total"], 1, "no job was started");
    assert_eq!(app.spooled(), 0);
}

#[tokio::test]
async fn unprocessable_422_mistyped_parameters_on_every_route() {
    let app = TestApp::new().await;
    let id = app.video().await;
    for (route, words) in [
        (format!("/videos/{id}/chunks?analyser=ocr"), ["'analyser'", "'analyzer'?"]),
        (format!("/videos/{id}/aggregates?aggregators=stats"), ["'aggregators'", "'aggregator'?"]),
        ("/videos?limits=5".to_owned(), ["'limits'", "'limit'?"]),
    ] {
        mentions(&app.get(&route).await.error(422), &words);
    }
    let document = app.contract().0.clone();
    for (path, item) in document["paths"].as_object().unwrap() {
        let uri =
            path.replace("{video_id}", &id).replace("{job_id}", "x").replace("{chunk_id}", "0");
        for method in item.as_object().unwrap().keys() {
            let method: Method = method.to_uppercase().parse().unwrap();
            let request = app.request(method.clone(), &format!("{uri}?limit=5&zzz=1"));
            let detail = app.raw(request.finish()).await.error(422);
            mentions(&detail, &["unknown parameter", "accepted: "]);
        }
    }
    let head = app.raw(app.request(Method::HEAD, "/videos?zzz=1").finish()).await;
    assert_eq!(head.status, 422);
    for path in ["/?session=refused", "/docs?x=1", "/live?x=1", "/ready?x=1"] {
        assert_eq!(app.get(path).await.status, 200, "{path} is not an operation of the document");
    }
}

#[tokio::test]
async fn a_score_threshold_is_any_number() {
    let app = TestApp::new().await;
    for threshold in [json!(7), json!(-0.1), json!(1e300), json!(0.5), json!(null)] {
        let body = json!({"text": "x", "score_threshold": threshold});
        assert_eq!(app.post_json("/query", body).await.status, 200, "{threshold}");
    }
}

#[tokio::test]
async fn unprocessable_422_broken_json() {
    let app = TestApp::new().await;
    for route in ["/query", "/ask", "/videos/url"] {
        for body in ["", "{", "{\"text\": nan}", "text=x", "\u{feff}{}", "{\"a\": 1} x"] {
            let reply = app.post_text(route, "application/json", body).await;
            mentions(&reply.error(422), &["JSON"]);
        }
        let reply = app.post_text(route, "application/json", vec![0xff, 0xfe]).await;
        mentions(&reply.error(422), &["JSON"]);
        let deep = format!("{}{}", "[".repeat(5000), "]".repeat(5000));
        app.post_text(route, "application/json", deep).await.error(422);
        let reply = app.post_text(route, "text/plain", "{\"text\": \"x\"}").await;
        mentions(&reply.error(422), &["text/plain", "application/json"]);
    }
}

#[tokio::test]
async fn unprocessable_422_numbers_in_a_form() {
    let app = TestApp::new().await;
    for name in
        ["interval", "speaker", "silence", "cut", "semantic", "min_duration", "max_duration"]
    {
        for bad in ["abc", "nan", "inf", "-infinity", "1,5", "0x10"] {
            let reply = app.upload(&[("mode", "weights"), (name, bad)], "c.mp4", &clip(5.0)).await;
            mentions(&reply.error(422), &[name, bad, "number"]);
        }
    }
    assert_eq!(app.spooled(), 0);
}

#[tokio::test]
async fn unprocessable_422_parameters() {
    let app = TestApp::new().await;
    let id = app.video().await;
    for (query, words) in [
        (format!("/videos/{id}/chunks?after=nan"), ["after", "number"]),
        (format!("/videos/{id}/chunks?before=inf"), ["before", "number"]),
        (format!("/videos/{id}/chunks?after="), ["after", "number"]),
        (format!("/videos/{id}/chunks?verbose=yes"), ["verbose", "true or false"]),
        ("/videos?limit=0".into(), ["limit", "at least 1"]),
        ("/videos?offset=x".into(), ["offset", "integer"]),
        ("/jobs?limit=-5".into(), ["limit", "at least 1"]),
    ] {
        mentions(&app.get(&query).await.error(422), &words);
    }
    let kind = "application/x-www-form-urlencoded";
    let reply = app.post_text(&format!("/videos/{id}/aggregates?force=2"), kind, "").await;
    mentions(&reply.error(422), &["force", "'2'", "true or false"]);
    for query in ["chunks?verbose=True", "chunks?verbose=1", "chunks/0?verbose=FALSE"] {
        app.get(&format!("/videos/{id}/{query}")).await.ok();
    }
    mentions(&app.get(&format!("/videos/{id}/chunks/-1")).await.error(404), &["no chunk -1"]);
    mentions(
        &app.get(&format!("/videos/{id}/chunks/x")).await.error(422),
        &["chunk_id", "integer"],
    );
}

#[tokio::test]
async fn server_error_500_keeps_the_details_in_the_log() {
    let app = TestApp::new().await;
    app.video().await;
    app.embedder.down.store(true, Ordering::SeqCst);
    let reply = app.post_json("/query", json!({"text": "x"})).await;
    let detail = reply.error(500);
    assert!(!detail.contains("embedder"), "{detail}");
    assert!(!reply.header("x-request-id").is_empty());
}

#[tokio::test]
async fn every_response_has_a_request_id() {
    let app = TestApp::new().await;
    for path in ["/health", "/nope", "/videos/x"] {
        let (first, second) = (app.get(path).await, app.get(path).await);
        let id = first.header("x-request-id");
        assert!(id.len() >= 16 && id != second.header("x-request-id"));
    }
    let named = |id: &str| app.request(Method::GET, "/health").header("X-Request-Id", id).finish();
    let reply = app.raw(named("trace-42")).await;
    assert_eq!(reply.header("x-request-id"), "trace-42");
    let replaced = app.raw(named("no spaces allowed")).await;
    assert_ne!(replaced.header("x-request-id"), "no spaces allowed");
}

mod job_time {
    use super::*;

    async fn failed_url(response: Option<Response>, words: &[&str]) {
        let app = TestApp::new().await;
        let url = "http://media.example.org/c.mp4";
        if let Some(response) = response {
            app.fetcher.respond(url, response);
        }
        let reply = app.post_json("/videos/url", json!({"url": url})).await;
        assert_eq!(reply.status, 202);
        let job = app.finished(reply.json()["job_id"].as_str().unwrap()).await;
        assert_failed(&job, "fetching", words);
        assert_eq!(app.spooled(), 0);
        assert_eq!(app.get("/videos").await.ok()["total"], 0);
    }

    fn assert_failed(job: &Value, stage: &str, words: &[&str]) {
        assert_eq!((&job["status"], &job["stage"]), (&json!("failed"), &json!(stage)), "{job}");
        assert_eq!(job["result"], Value::Null);
        let error = job["error"].as_str().unwrap();
        let (kind, message) = error.split_once(": ").expect("TypeName: message");
        assert!(kind.chars().all(char::is_alphanumeric) && !message.is_empty(), "{error}");
        mentions(error, words);
        let trace = job["detail"]["traceback"].as_str().unwrap();
        assert!(trace.contains(message) && trace.chars().count() <= 2000, "{trace}");
    }

    fn answer(status: u16, kind: &str, body: &'static str) -> Option<Response> {
        let headers = vec![("content-type".into(), kind.into())];
        Some(Response { status, headers, body: vec![body.into()] })
    }

    #[tokio::test]
    async fn a_url_that_returns_404() {
        failed_url(None, &["NotFoundError: ", "404"]).await;
    }

    #[tokio::test]
    async fn a_url_that_serves_html() {
        failed_url(answer(200, "text/html", "<html>"), &["ValueError: ", "text/html"]).await;
    }

    #[tokio::test]
    async fn a_redirect_to_a_private_address() {
        let headers = vec![("location".into(), "http://127.0.0.1:9000/c.mp4".into())];
        let response = Response { status: 302, headers, body: vec![] };
        failed_url(Some(response), &["PermissionError: "]).await;
    }

    #[tokio::test]
    async fn an_unreachable_source() {
        failed_url(answer(503, "video/mp4", ""), &["ConnectionError: "]).await;
    }

    #[tokio::test]
    async fn an_undecodable_file() {
        let app = TestApp::new().await;
        let job = app.job_of(&[], "c.mp4", b"this is no video").await;
        assert_failed(&job, "fetching", &["ValueError: ", "not a video"]);
        assert_eq!(app.spooled(), 0);
        assert_eq!(app.get("/videos").await.ok()["total"], 0);
    }

    #[tokio::test]
    async fn an_empty_file() {
        let app = TestApp::new().await;
        let job = app.job_of(&[], "c.mp4", b"").await;
        assert_failed(&job, "fetching", &["ValueError: ", "empty"]);
    }

    #[tokio::test]
    async fn a_model_provider_outage() {
        let app = TestApp::new().await;
        app.model.fail(Task::Describe, "the model provider does not answer");
        let job = app.job_of(&[], "c.mp4", &clip(30.0)).await;
        assert_failed(&job, "analyzing", &["ConnectionError: the model provider does not answer"]);
        assert_eq!(job["detail"]["analyzer"], "default_video");
        let progress = (&job["detail"]["analyzers_done"], &job["detail"]["analyzers"]);
        assert_eq!(progress, (&json!(0), &json!(1)), "{job}");
        assert_eq!(app.get("/videos").await.ok()["total"], 0, "nothing is stored partially");
        let page = app.post_json("/query", json!({"text": "x"})).await.ok();
        assert_eq!(page["results"], json!([]));
    }
}
