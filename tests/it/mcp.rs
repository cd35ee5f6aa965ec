//! The MCP endpoint for agents at `/mcp`.

use std::time::Duration;

use adapters::fetcher::Response;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use poem::http::Method;
use serde_json::{Value, json};
use shotlog::mcp::McpSettings;

use crate::support::{BASE, Contract, Reply, TestApp, clip, mentions};
use crate::visual::{chunk_ids, ingest_landscapes, picture};

const TOKEN: &str = "a-token";
const TOOLS: [&str; 13] = [
    "describe_library",
    "search_moments",
    "find_intervals",
    "find_person",
    "read_moments",
    "ask",
    "get_transcript",
    "get_frames",
    "get_aggregate",
    "add_to_bin",
    "plan_ingest",
    "ingest_url",
    "get_job",
];

async fn post(app: &TestApp, message: &Value, headers: &[(&str, &str)]) -> Reply {
    let mut request = poem::Request::builder()
        .method(Method::POST)
        .uri_str("/mcp")
        .header("host", "shotlog.test")
        .header("accept", "application/json, text/event-stream")
        .content_type("application/json");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    app.raw(request.body(message.to_string())).await
}

fn message(method: &str, params: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
}

/// The result of a JSON-RPC request, or its error.
async fn rpc(app: &TestApp, method: &str, params: Value) -> Result<Value, Value> {
    let answer = post(app, &message(method, &params), &[]).await.ok();
    match answer.get("error") {
        Some(error) => Err(error.clone()),
        None => Ok(answer["result"].clone()),
    }
}

async fn call_tool(app: &TestApp, tool: &str, arguments: Value) -> Value {
    rpc(app, "tools/call", json!({"name": tool, "arguments": arguments})).await.expect("a result")
}

/// Every tool, from all pages of the list.
async fn tools(app: &TestApp) -> Vec<Value> {
    let (mut tools, mut cursor) = (Vec::new(), Value::Null);
    loop {
        let page = rpc(app, "tools/list", json!({"cursor": cursor})).await.expect("a page");
        let items = page["tools"].as_array().unwrap();
        assert!(!items.is_empty(), "a page has a tool");
        tools.extend(items.iter().cloned());
        cursor = page["nextCursor"].clone();
        if cursor.is_null() {
            return tools;
        }
    }
}

/// The structured content of a successful call, checked against the tool's schema.
pub(crate) async fn call_ok(app: &TestApp, tool: &str, arguments: Value) -> Value {
    let result = call_tool(app, tool, arguments).await;
    assert_ne!(result["isError"], true, "{tool}: {result}");
    let tools = tools(app).await;
    let entry = tools.iter().find(|entry| entry["name"] == tool);
    let schema = entry.unwrap()["outputSchema"].clone();
    let problems = Contract(schema.clone()).problems(&schema, &result["structuredContent"], tool);
    assert!(problems.is_empty(), "{problems:?} in {result}");
    let text = result["content"][0]["text"].as_str().expect("prose");
    assert!(!text.trim().is_empty(), "{tool} returns no text");
    result["structuredContent"].clone()
}

/// The error text of a call that a tool refuses.
async fn call_error(app: &TestApp, tool: &str, arguments: Value) -> String {
    let result = call_tool(app, tool, arguments).await;
    assert_eq!(result["isError"], true, "{tool}: {result}");
    result["content"][0]["text"].as_str().expect("a sentence").to_owned()
}

/// A video whose transcript has `sentences` sentences, with as many chapters.
async fn long_video(app: &TestApp, sentences: usize) -> String {
    let id = app.video().await;
    let turn = |n: usize| {
        json!({"speaker": format!("S{}", n % 3), "start": n as f64 / 100.0,
               "end": n as f64 / 100.0 + 0.01, "text": format!("This is sentence {n} of many.")})
    };
    let turns: Vec<Value> = (0..sentences).map(turn).collect();
    let outputs = json!([{"turns": turns, "speakers": ["S0", "S1", "S2"]}, null, null]);
    app.plant_output(&id, "diarization", outputs).await;
    let scenes: Vec<Value> = (0..sentences)
        .map(|n| json!({"title": format!("Scene {n}"), "start": n, "tags": ["a", "b"]}))
        .collect();
    app.plant_aggregate(&id, "chapters", json!({"count": sentences, "chapters": scenes})).await;
    id
}

#[tokio::test]
async fn mcp_accepts_the_same_tokens_as_the_api() {
    let app = TestApp::with(|setup| setup.http.auth.tokens = vec![TOKEN.into()]).await;
    let ping = message("ping", &json!({}));
    for headers in [
        vec![],
        vec![("authorization", "Bearer wrong")],
        vec![("authorization", "Basic a-token")],
        vec![("authorization", "Bearer ")],
        vec![("x-core-token", "wrong"), ("authorization", "Bearer a-token")],
    ] {
        mentions(&post(&app, &ping, &headers).await.error(401), &["X-Core-Token", "Bearer"]);
    }
    for header in [
        ("authorization", "Bearer a-token"),
        ("authorization", "bearer a-token"),
        ("x-core-token", TOKEN),
    ] {
        post(&app, &ping, &[header]).await.ok();
    }
    let api_request = poem::Request::builder().uri_str("/videos").header("host", "shotlog.test");
    app.raw(api_request.header("authorization", "Bearer a-token").finish()).await.ok();
}

#[tokio::test]
async fn mcp_requests_have_the_checks_and_limits_of_the_api() {
    let app = TestApp::with(|setup| setup.http.server.max_json_bytes = 1000).await;
    let ping = message("ping", &json!({}));
    post(&app, &ping, &[("origin", "http://evil.test")]).await.error(403);
    post(&app, &ping, &[("origin", BASE)]).await.ok();
    let foreign = app.request(Method::POST, "/mcp").header("host", "evil.test");
    app.raw(foreign.body(ping.to_string())).await.error(403);
    post(&app, &message("ping", &json!({"x": "x".repeat(1000)})), &[]).await.error(413);
    mentions(&app.get("/mcp").await.error(405), &["POST"]);
    for (body, code, words) in [
        ("{\"jsonrpc\"".to_owned(), -32700, "not valid JSON"),
        // rmcp itself reports JSON that nests too deeply as a wrong media type.
        (format!("{}{}", "[".repeat(200), "]".repeat(200)), -32700, "recursion limit"),
        (
            message("ping", &json!({}))
                .to_string()
                .replace("{}", &format!("{}0{}", "{\"a\":".repeat(140), "}".repeat(140))),
            -32700,
            "recursion limit",
        ),
        ("{\"a\": 1}".into(), -32600, "not a message of the protocol"),
        ("7".into(), -32600, "not a message of the protocol"),
        ("[]".into(), -32600, "empty"),
    ] {
        let request = app.request(Method::POST, "/mcp").content_type("application/json");
        let request = request.header("accept", "application/json, text/event-stream");
        let reply = app.raw(request.body(body.clone())).await;
        assert_eq!(reply.status, 400, "{body}: {}", reply.text());
        let answer = reply.json();
        assert_eq!((&answer["jsonrpc"], &answer["id"]), (&json!("2.0"), &Value::Null), "{body}");
        assert_eq!(answer["error"]["code"], code, "{body}: {answer}");
        mentions(answer["error"]["message"].as_str().unwrap(), &[words]);
    }
    let unacceptable = app.request(Method::POST, "/mcp").content_type("application/json");
    let reply = app.raw(unacceptable.body(ping.to_string())).await;
    mentions(&reply.error(406), &["text/event-stream"]);
}

#[tokio::test]
async fn batches_of_revision_2025_03_26_are_answered_message_by_message() {
    let app = TestApp::with(|setup| setup.mcp.max_batch = 4).await;
    let numbered = |id: Value, method: &str| json!({"jsonrpc": "2.0", "id": id, "method": method});
    let cancelled = json!({"jsonrpc": "2.0", "method": "notifications/cancelled",
                           "params": {"requestId": 1}});
    let batch =
        json!([numbered(json!(1), "ping"), cancelled, numbered(json!("b"), "tools/list"), 5]);
    for headers in [vec![], vec![("mcp-protocol-version", "2025-03-26")]] {
        let answers = post(&app, &batch, &headers).await.ok();
        let answers = answers.as_array().unwrap();
        assert_eq!(answers.len(), 3, "a notification gets no answer: {answers:?}");
        assert_eq!((&answers[0]["id"], &answers[0]["result"]), (&json!(1), &json!({})));
        assert_eq!(answers[1]["id"], "b");
        assert!(!answers[1]["result"]["tools"].as_array().unwrap().is_empty());
        assert_eq!(
            (&answers[2]["id"], &answers[2]["error"]["code"]),
            (&Value::Null, &json!(-32600))
        );
    }
    let no_reply = post(&app, &json!([cancelled]), &[]).await;
    assert_eq!((no_reply.status, no_reply.body.len()), (202, 0));
    let hello = json!({"protocolVersion": "2025-03-26", "capabilities": {},
                       "clientInfo": {"name": "test", "version": "1"}});
    assert_eq!(
        rpc(&app, "initialize", hello.clone()).await.unwrap()["protocolVersion"],
        "2025-03-26"
    );
    let greeting = post(&app, &json!([message("initialize", &hello)]), &[]).await.ok();
    mentions(greeting[0]["error"]["message"].as_str().unwrap(), &["initialize", "alone"]);

    let newer = [("mcp-protocol-version", "2025-06-18")];
    let pings = json!([numbered(json!(1), "ping")]);
    let oversized = Value::from(vec![numbered(json!(1), "ping"); 5]);
    for (batch, headers, words) in
        [(&pings, &newer[..], "2025-06-18"), (&oversized, &newer[..0], "mcp.max_batch")]
    {
        let reply = post(&app, batch, headers).await;
        assert_eq!(reply.status, 400);
        mentions(reply.json()["error"]["message"].as_str().unwrap(), &[words]);
    }
    let batch =
        json!([message("tools/call", &json!({"name": "describe_library", "arguments": {}}))]);
    let app = TestApp::with(|setup| setup.http.auth.tokens = vec![TOKEN.into()]).await;
    post(&app, &batch, &[]).await.error(401);
    let answers = post(&app, &batch, &[("x-core-token", TOKEN)]).await.ok();
    assert!(answers[0]["result"]["structuredContent"].is_object(), "{answers}");
}

/// The first revision without a handshake: each request describes its client.
const STATELESS: &str = "2026-07-28";

/// The result of a request of a client that speaks this revision.
async fn rpc_in(app: &TestApp, revision: &str, method: &str, mut params: Value) -> Value {
    let mut headers = vec![("mcp-protocol-version", revision)];
    let name = params["name"].as_str().or(params["uri"].as_str()).unwrap_or_default().to_owned();
    if revision == STATELESS {
        params["_meta"] = json!({"io.modelcontextprotocol/protocolVersion": revision,
                                 "io.modelcontextprotocol/clientCapabilities": {}});
        headers.push(("mcp-method", method));
        if !name.is_empty() {
            headers.push(("mcp-name", &name));
        }
    }
    let answer = post(app, &message(method, &params), &headers).await.ok();
    assert!(answer["result"].is_object(), "{revision}: {method}: {answer}");
    answer["result"].clone()
}

#[tokio::test]
async fn every_offered_revision_can_be_used() {
    let app = TestApp::new().await;
    let discovered = rpc_in(&app, STATELESS, "server/discover", json!({})).await;
    let handshakes = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
    let offered = [&handshakes[..], &[STATELESS]].concat();
    assert_eq!(discovered["supportedVersions"], json!(offered));
    let hello = |revision: &str| {
        json!({"protocolVersion": revision, "capabilities": {},
               "clientInfo": {"name": "test", "version": "1"}})
    };
    for revision in handshakes {
        let agreed = rpc_in(&app, revision, "initialize", hello(revision)).await;
        assert_eq!(agreed["protocolVersion"], revision);
        let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        let reply = post(&app, &ready, &[("mcp-protocol-version", revision)]).await;
        assert_eq!(reply.status, 202, "{revision}");
        rpc_in(&app, revision, "ping", json!({})).await;
    }
    for revision in offered {
        let page = rpc_in(&app, revision, "tools/list", json!({})).await;
        assert_eq!(page["tools"][0]["name"], TOOLS[0], "{revision}");
        let call = json!({"name": "describe_library", "arguments": {}});
        let library = rpc_in(&app, revision, "tools/call", call).await;
        assert_eq!(library["structuredContent"]["total"], 0, "{revision}: {library}");
        let read = rpc_in(&app, revision, "resources/read", json!({"uri": "shotlog://schema"}));
        assert_eq!(read.await["contents"][0]["uri"], "shotlog://schema", "{revision}");
        let listed = rpc_in(&app, revision, "resources/list", json!({})).await;
        assert!(listed["resources"].is_array(), "{revision}");
    }
    let newest = rpc(&app, "initialize", hello("1999-01-01")).await.unwrap();
    assert_eq!(newest["protocolVersion"], "2025-11-25", "a revision that nobody knows");
    let unknown = [("mcp-protocol-version", "1999-01-01")];
    post(&app, &message("ping", &json!({})), &unknown).await.error(400);
}

#[tokio::test]
async fn mcp_can_be_disabled() {
    let app = TestApp::with(|setup| setup.mcp.enabled = false).await;
    post(&app, &message("ping", &json!({})), &[]).await.error(404);
}

#[tokio::test]
async fn no_session_is_needed_and_every_tool_is_described() {
    let app = TestApp::new().await;
    let hello = json!({"protocolVersion": "2025-06-18", "capabilities": {},
                       "clientInfo": {"name": "test", "version": "1"}});
    let reply = post(&app, &message("initialize", &hello), &[]).await;
    assert_eq!(reply.header("mcp-session-id"), "");
    let server = &reply.ok()["result"];
    assert_eq!(server["serverInfo"]["name"], "shotlog");
    mentions(server["instructions"].as_str().unwrap(), &["describe_library"]);
    let tools = tools(&app).await;
    let names: Vec<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, TOOLS);
    for tool in &tools {
        assert!(tool["description"].as_str().unwrap().len() > 100, "{tool}");
        assert_eq!(tool["inputSchema"]["additionalProperties"], false, "{tool}");
        assert_eq!(tool["outputSchema"]["type"], "object", "{tool}");
        let changes = tool["name"] == "ingest_url" || tool["name"] == "add_to_bin";
        assert_eq!(tool["annotations"]["readOnlyHint"], !changes);
    }
}

#[tokio::test]
async fn tool_outputs_match_their_schemas() {
    let app = TestApp::new().await;
    let id = long_video(&app, 5).await;
    let library = call_ok(&app, "describe_library", json!({})).await;
    assert_eq!(library["newest"][0]["video_id"], json!(id));
    let page = call_ok(&app, "search_moments", json!({"text": "boat", "limit": 2})).await;
    assert_eq!(page["results"].as_array().unwrap().len(), 2);
    let names = json!({"moment_ids": [page["results"][0]["moment_id"], "m_0123456789abcdef_0_9"]});
    let read = call_ok(&app, "read_moments", names).await;
    assert_eq!(read["moments"][0]["video_id"], json!(id));
    mentions(&read["missing"].to_string(), &["is gone"]);
    let empty =
        call_ok(&app, "search_moments", json!({"text": "boat", "filters": {"after": 9000}})).await;
    assert_eq!(
        empty["diagnostics"]["hits_without_filter"]["after"].as_u64().map(|n| n > 0),
        Some(true)
    );
    let expression = json!({"between": [1, null]});
    let found = call_ok(&app, "find_intervals", json!({"expression": expression})).await;
    assert_eq!(
        (&found["spans"][0]["start"], &found["spans"][0]["video_id"]),
        (&json!(1.0), &json!(id))
    );
    let nobody = call_ok(&app, "find_person", json!({})).await;
    assert_eq!(nobody, json!({"people": [], "appearances": []}));
    let answer = call_ok(&app, "ask", json!({"question": "What is there?"})).await;
    assert!(answer["audit"].is_array() && answer["sources"][&id].is_object(), "{answer}");
    let transcript = call_ok(&app, "get_transcript", json!({"video_id": id, "after": 0.02})).await;
    assert_eq!(
        (&transcript["total"], &transcript["utterances"][0]["speaker"]),
        (&json!(3), &json!("S2"))
    );
    let chapters =
        call_ok(&app, "get_aggregate", json!({"video_id": id, "aggregator": "chapters"})).await;
    assert_eq!(chapters["result"]["chapters"].as_array().unwrap().len(), 5);
    let plan = call_ok(&app, "plan_ingest", json!({"video_id": id})).await;
    assert_eq!(plan["video_id"], json!(id));
}

#[tokio::test]
async fn frames_are_images_in_time_order() {
    let app = TestApp::with(|setup| setup.mcp.max_frames = 3).await;
    let id = app.video().await;
    let frames = json!({"video_id": id, "times": [1, 2.5, 12, 13], "width": 64});
    let result = call_tool(&app, "get_frames", frames.clone()).await;
    let images = &result["content"].as_array().unwrap()[1..];
    assert_eq!(images.len(), 3);
    assert!(images.iter().all(|i| i["mimeType"] == "image/jpeg" && i["type"] == "image"));
    let content = call_ok(&app, "get_frames", frames).await;
    assert_eq!(content["frames"][1]["t"], 2.5);
    mentions(content["rest"].as_str().unwrap(), &["last 1 of 4", "mcp.max_frames"]);
    let chunks = call_ok(&app, "get_frames", json!({"video_id": id, "chunk_ids": [1]})).await;
    assert_eq!(
        (&chunks["frames"][0]["t"], &chunks["frames"][0]["chunk_id"]),
        (&json!(15.0), &json!(1))
    );
    for wrong in [json!({}), json!({"times": []}), json!({"times": [1], "chunk_ids": [1]})] {
        let mut arguments = wrong;
        arguments["video_id"] = json!(id);
        mentions(&call_error(&app, "get_frames", arguments).await, &["either times or chunk_ids"]);
    }
    let beyond = call_error(&app, "get_frames", json!({"video_id": id, "times": [9000]})).await;
    mentions(&beyond, &["length of the video"]);
}

#[tokio::test]
async fn ingest_url_waits_for_its_job_on_request() {
    let app = TestApp::new().await;
    let url = "http://example.com/v.mp4";
    let kind = ("content-type".into(), "video/mp4".into());
    app.fetcher
        .respond(url, Response { status: 200, headers: vec![kind], body: vec![clip(30.0).into()] });
    let job = call_ok(&app, "ingest_url", json!({"url": url, "wait": 0})).await;
    app.finished(job["job_id"].as_str().unwrap()).await;
    let job = call_ok(&app, "get_job", json!({"job_id": job["job_id"]})).await;
    assert_eq!(job["status"], "done");
    let waited = call_ok(&app, "ingest_url", json!({"url": url, "wait": 60})).await;
    assert_eq!(waited["result"]["video_id"], job["result"]["video_id"]);

    let call =
        json!({"name": "ingest_url", "arguments": {"url": url}, "_meta": {"progressToken": 7}});
    let stream = post(&app, &message("tools/call", &call), &[]).await.text();
    mentions(&stream, &["notifications/progress", "\"progressToken\":7", "\"status\":\"done\""]);
    mentions(&call_error(&app, "ingest_url", json!({"url": "ftp://a/b"})).await, &["http"]);
}

#[tokio::test]
async fn moments_are_found_by_picture() {
    let app = ingest_landscapes().await;
    for (region, chunk) in [(json!([0, 0, 0.5, 1]), 1), (json!([0.5, 0, 0.5, 1]), 2)] {
        let search = json!({"image": picture(), "region": region});
        let result = call_tool(&app, "search_moments", search.clone()).await;
        mentions(result["content"][0]["text"].as_str().unwrap(), &["score "]);
        let found = call_ok(&app, "search_moments", search).await;
        assert_eq!(chunk_ids(&found)[0], chunk, "{found}");
        let best = &found["results"][0];
        assert!(best["score"].is_f64() && best.get("p_present").is_none(), "{best}");
    }
    let all = call_ok(&app, "search_moments", json!({"text": "volcano", "field": "visual"})).await;
    assert_eq!(chunk_ids(&all)[0], 2, "{all}");
    assert!(all["results"][0]["p_present"].is_f64(), "{all}");
    let moment = all["results"][0]["moment_id"].clone();
    for field in ["visual", "combined"] {
        let like = json!({"like": moment, "field": field});
        let found = call_ok(&app, "search_moments", like).await;
        assert!(!chunk_ids(&found).contains(&2) && chunk_ids(&found).len() == 2, "{found}");
    }
}

#[tokio::test]
async fn errors_about_pictures_state_what_is_accepted() {
    let app = ingest_landscapes().await;
    let data = |bytes: &[u8]| format!("data:image/png;base64,{}", STANDARD.encode(bytes));
    for (arguments, words) in [
        (json!({"image": "https://example.org/a.jpg"}), &["data:image/jpeg;base64,"][..]),
        (json!({"image": data(b"no picture")}), &["not a readable picture", "JPEG, PNG and WebP"]),
        (json!({"image": data(ANIMATED_GIF)}), &["not a readable picture", "JPEG, PNG and WebP"]),
        (json!({"image": data(&huge_png())}), &["10000 × 10000", "search.max_image_pixels"]),
        (json!({"image": picture(), "region": [0.5, 0, 0.6, 1]}), &["x + width", "at most 1"]),
        (json!({"text": "a volcano", "region": [0, 0, 1, 1]}), &["give image"]),
        (json!({"text": "a volcano", "image": picture()}), &["exclude each other"]),
        (json!({"image": picture(), "field": "objects"}), &["'visual'"]),
        (json!({"image": picture(), "min_p_present": 0.5}), &["omit mode and min_p_present"]),
        (json!({"text": "a volcano", "field": "picture"}), &["picture", "combined"]),
        (json!({}), &["text is missing", "image"]),
    ] {
        mentions(&call_error(&app, "search_moments", arguments).await, words);
    }
    let app = TestApp::new().await;
    let search = json!({"image": picture()});
    mentions(&call_error(&app, "search_moments", search).await, &["image embedder"]);
    let large = json!({"image": data(&vec![0; 1 << 20])});
    let call = message("tools/call", &json!({"name": "search_moments", "arguments": large}));
    mentions(&post(&app, &call, &[]).await.error(413), &["1048576 bytes"]);
}

/// A GIF of 1 × 1 pixels with two frames.
const ANIMATED_GIF: &[u8] = b"GIF89a\x01\0\x01\0\x80\0\0\xff\xff\xff\0\0\0\
    ,\0\0\0\0\x01\0\x01\0\0\x02\x02D\x01\0,\0\0\0\0\x01\0\x01\0\0\x02\x02D\x01\0;";

/// A valid PNG of 100 megapixels, all white, that is small as a file.
fn huge_png() -> Vec<u8> {
    let mut bytes = std::io::Cursor::new(Vec::new());
    let picture = image::GrayImage::from_pixel(10_000, 10_000, image::Luma([255]));
    picture.write_to(&mut bytes, image::ImageFormat::Png).expect("a PNG");
    bytes.into_inner()
}

#[tokio::test]
async fn errors_state_what_is_accepted() {
    let app = TestApp::new().await;
    let id = app.video().await;
    let missing = "0000000000000000";
    for (tool, mut arguments) in [
        ("get_transcript", json!({})),
        ("get_frames", json!({"times": [1]})),
        ("get_aggregate", json!({"aggregator": "stats"})),
        ("plan_ingest", json!({})),
    ] {
        arguments["video_id"] = json!(missing);
        let error = call_error(&app, tool, arguments).await;
        assert_eq!(error, app.get(&format!("/videos/{missing}")).await.error(404), "{tool}");
    }
    for (tool, arguments, words) in [
        ("search_moments", json!({"txt": "a"}), &["did you mean 'text'?"][..]),
        ("search_moments", json!({"text": "a", "limit": 1e12}), &["from 1 to 50"]),
        ("search_moments", json!({"text": "a", "filters": {"tag": ["b"]}}), &["tags"]),
        ("search_moments", json!({"text": "a", "analyzer": "nobody"}), &["nobody"]),
        ("find_intervals", json!({"expression": {"hears": "a"}}), &["unknown operator", "says"]),
        ("find_person", json!({"name": "Ada"}), &["no correction names a person 'Ada'"]),
        ("ask", json!({"question": " "}), &["question", "not empty"]),
        (
            "get_transcript",
            json!({"video_id": id}),
            &["has no transcript", "diarization and transcript"],
        ),
        ("get_transcript", json!({"video_id": id, "cursor": "x"}), &["cursor is 'x'", "`next`"]),
        ("get_aggregate", json!({"video_id": id, "aggregator": "nothing"}), &["stats"]),
        ("get_job", json!({"job_id": "nothing"}), &["nothing"]),
        ("plan_ingest", json!({}), &["either url or video_id"]),
        ("add_to_bin", json!({"selects": []}), &["selects"]),
        ("add_to_bin", json!({"selects": [{"start": 1}]}), &["moment_id", "'video_id', 'start'"]),
        (
            "add_to_bin",
            json!({"selects": [{"moment_id": "m_0123456789abcdef_0_1"}], "name": "a", "bin_id": "b"}),
            &["'bin_id' and 'name' exclude each other"],
        ),
    ] {
        mentions(&call_error(&app, tool, arguments).await, words);
    }
    let unknown = rpc(&app, "tools/call", json!({"name": "get_jobs"})).await.expect_err("an error");
    mentions(unknown["message"].as_str().unwrap(), &["did you mean 'get_job'?"]);
}

#[tokio::test]
async fn moments_are_collected_in_a_bin() {
    let app = TestApp::new().await;
    let id = app.video().await;
    let quote = json!({"moment_id": format!("m_{id}_0_10000"), "in": 2, "note": "a door"});
    let added = call_ok(&app, "add_to_bin", json!({"name": "Doors", "selects": [quote]})).await;
    let bin_id = added["bin"]["bin_id"].as_str().unwrap();
    assert_eq!((&added["bin"]["name"], &added["select_ids"]), (&json!("Doors"), &json!(["s1"])));
    let more = json!({"bin_id": bin_id, "selects": [{"video_id": id, "start": 12, "end": 13}]});
    let added = call_ok(&app, "add_to_bin", more).await;
    assert_eq!(added["bin"]["duration"], 9.0);
    let found = json!({"text": "a woman", "filters": {"bin": bin_id}});
    let found = call_ok(&app, "search_moments", found).await;
    assert!(!found["results"].as_array().unwrap().is_empty(), "{found}");
    // A bin whose moments are refused is not left empty.
    let gone = json!({"selects": [{"moment_id": "m_0123456789abcdef_0_1000"}]});
    mentions(&call_error(&app, "add_to_bin", gone).await, &["is gone"]);
    assert_eq!(app.get("/bins").await.ok()["total"], 1);
}

#[tokio::test]
async fn responses_stay_within_the_token_budget() {
    for budget in [5000, McpSettings::default().max_tokens] {
        let app = TestApp::with(|setup| setup.mcp.max_tokens = budget).await;
        let id = long_video(&app, 2000).await;
        app.video_of(&clip(600.0)).await;
        for (tool, arguments) in [
            ("describe_library", json!({"newest": 50})),
            ("search_moments", json!({"text": "boat", "limit": 50})),
            ("find_intervals", json!({"expression": {"speech": true}, "limit": 200})),
            ("read_moments", json!({"moment_ids": [format!("m_{id}_0_100")]})),
            ("ask", json!({"question": "What is there?", "limit": 20})),
            ("get_transcript", json!({"video_id": id})),
            ("get_aggregate", json!({"video_id": id, "aggregator": "chapters"})),
        ] {
            let result = call_tool(&app, tool, arguments).await;
            assert_ne!(result["isError"], true, "{tool}: {result}");
            let tokens = result.to_string().len() / 3;
            assert!(tokens <= budget, "{tool} has {tokens} tokens");
            let content = &result["structuredContent"];
            if tool.starts_with("get") {
                assert!(content["next"].is_string(), "{tool}: {content}");
                assert!(tokens > budget / 2, "{tool} uses its budget: {tokens} of {budget}");
            }
            let cut = tool == "search_moments" && budget == 5000;
            assert!(!cut || content["rest"].is_string(), "{tool}: {content}");
        }
        for uri in ["shotlog://videos", "shotlog://schema", &format!("shotlog://videos/{id}")] {
            let read = rpc(&app, "resources/read", json!({"uri": uri})).await.expect(uri);
            assert!(read.to_string().len() / 3 <= budget, "{uri}");
        }
        let long = "x".repeat(500_000);
        for (tool, arguments) in [
            ("get_aggregate", json!({"video_id": id, "aggregator": long})),
            ("get_transcript", json!({"video_id": long})),
            ("search_moments", json!({"text": "a", "analyzer": long})),
            ("ask", json!({"question": long})),
            ("get_job", json!({"job_id": long})),
        ] {
            let tokens = call_tool(&app, tool, arguments).await.to_string().len() / 3;
            assert!(tokens <= budget, "{tool} has {tokens} tokens");
        }
        for uri in [format!("shotlog://videos?x={long}"), format!("shotlog://videos/{long}")] {
            let error = rpc(&app, "resources/read", json!({"uri": uri})).await.expect_err("long");
            assert!(error.to_string().len() / 3 <= budget);
        }
        let page = rpc(&app, "tools/list", json!({})).await.expect("a page");
        assert!(page.to_string().len() / 3 <= budget, "a page of {budget}");
        assert_eq!(tools(&app).await.len(), TOOLS.len());
    }
}

#[tokio::test]
async fn a_call_ends_when_its_connection_closes() {
    // No worker runs the job.
    let app = TestApp::with(|setup| setup.settings.ingest.workers = 0).await;
    let holders = std::sync::Arc::strong_count(&app.service);
    let arguments = json!({"url": "http://example.com/v.mp4", "wait": 600});
    let call = message("tools/call", &json!({"name": "ingest_url", "arguments": arguments}));
    let timeout = Duration::from_millis(100);
    assert!(tokio::time::timeout(timeout, post(&app, &call, &[])).await.is_err(), "it waits");
    // A handler that still runs holds a reference to the service.
    while std::sync::Arc::strong_count(&app.service) > holders {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn pages_add_up_to_the_whole_document() {
    let small = |setup: &mut crate::support::Setup| setup.mcp.max_tokens = 5000;
    let app = TestApp::with(small).await;
    let id = long_video(&app, 500).await;
    let mut starts: Vec<f64> = Vec::new();
    let mut arguments = json!({"video_id": id});
    loop {
        let page = call_ok(&app, "get_transcript", arguments.clone()).await;
        assert_eq!(page["total"], 500);
        starts.extend(
            page["utterances"].as_array().unwrap().iter().filter_map(|u| u["start"].as_f64()),
        );
        if page["next"].is_null() {
            break;
        }
        arguments["cursor"] = page["next"].clone();
    }
    assert_eq!(starts.len(), 500);
    assert!(starts.is_sorted());
    let mut titles = Vec::new();
    let mut arguments = json!({"video_id": id, "aggregator": "chapters"});
    loop {
        let page = call_ok(&app, "get_aggregate", arguments.clone()).await;
        let chapters = page["result"]["chapters"].as_array().unwrap();
        titles.extend(chapters.iter().map(|chapter| chapter["title"].as_str().unwrap().to_owned()));
        if page["next"].is_null() {
            break;
        }
        arguments["cursor"] = page["next"].clone();
    }
    assert_eq!(titles, (0..500).map(|n| format!("Scene {n}")).collect::<Vec<_>>());
}

#[tokio::test]
async fn resources_can_be_listed_in_pages_and_read() {
    let app = TestApp::with(|setup| setup.mcp.page_videos = 2).await;
    for seconds in [10.0, 20.0, 30.0] {
        app.video_of(&clip(seconds)).await;
    }
    let first = rpc(&app, "resources/list", json!({})).await.expect("a page");
    let cursor = first["nextCursor"].clone();
    let second = rpc(&app, "resources/list", json!({"cursor": cursor})).await.expect("a page");
    let uris: Vec<String> = [&first, &second]
        .into_iter()
        .flat_map(|page| page["resources"].as_array().unwrap())
        .map(|resource| resource["uri"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(uris.len(), 5, "{uris:?}");
    for uri in &uris {
        let read = rpc(&app, "resources/read", json!({"uri": uri})).await.expect(uri);
        let contents = &read["contents"][0];
        assert_eq!(
            (&contents["uri"], &contents["mimeType"]),
            (&json!(uri), &json!("application/json"))
        );
        let document: Value = serde_json::from_str(contents["text"].as_str().unwrap()).unwrap();
        assert!(document.as_object().is_some_and(|document| !document.is_empty()), "{uri}");
    }
    let templates = rpc(&app, "resources/templates/list", json!({})).await.expect("templates");
    assert_eq!(templates["resourceTemplates"].as_array().unwrap().len(), 3);
    for (uri, words) in [
        ("shotlog://videos/0000000000000000", "0000000000000000"),
        ("shotlog://nothing", "shotlog://schema"),
        ("file:///etc/passwd", "shotlog://videos"),
        ("shotlog://videos?cursor=x", "cursor"),
        ("shotlog://schema?cursor=x", "cursor"),
    ] {
        let error = rpc(&app, "resources/read", json!({"uri": uri})).await.expect_err(uri);
        mentions(error["message"].as_str().unwrap(), &[words]);
        assert_eq!(error["data"]["uri"], uri);
    }
    rpc(&app, "resources/list", json!({"cursor": "x"})).await.expect_err("no cursor");
}
