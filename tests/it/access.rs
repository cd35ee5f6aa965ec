//! Tokens bound to some collections, and read-only tokens, on every route of the OpenAPI document.

use domain::kernel::access::Access;
use poem::http::Method;
use serde_json::{Value, json};
use shotlog::http::AuthToken;

use crate::support::{Reply, TestApp, clip, mentions, multipart};

const ALL: &str = "token-of-all";
const BOUND: &str = "token-of-mine";
const READER: &str = "token-of-reader";

/// Strings from the foreign video, which the bound token must never receive.
const SECRETS: [&str; 4] = ["theirs", "secret-clip", "secret_key", "hidden value"];

/// The request body of an operation that takes one, for this video.
fn body(operation: &str, video_id: &str) -> Value {
    let ids = json!([video_id]);
    match operation {
        "query" => json!({"text": "a door", "video_ids": ids, "synthesize": false}),
        "ask" => json!({"question": "Where is a door?", "video_ids": ids}),
        "evidence" => json!({"question": "a door", "video_ids": ids}),
        "intervals" => {
            let of = json!([{"not": {"says": "x"}}, {"between": [0, 1]}, {"text": "a door"}]);
            json!({"expression": {"any": of}, "video_ids": ids})
        }
        "read_moments" => json!({"moment_ids": [format!("m_{video_id}_0_10000")]}),
        "plan_ingest" => json!({"video_id": video_id}),
        "ingest_url" => json!({"url": "http://127.0.0.1:9/none.mp4"}),
        "annotate_video" => json!({"metadata": {}}),
        "preview_chunking" => json!({"mode": "interval", "interval": 5}),
        "rename_collection" => json!({"name": "mine"}),
        "put_evaluation" => json!({"questions": [{"id": "a", "text": "a door", "absent": true}]}),
        "run_evaluation" => json!({}),
        "put_extractor" => {
            json!({"schema": {"type": "object", "properties": {"a": {"type": "string"}}}})
        }
        "export_library" => json!({"format": "jsonl", "video_ids": ids}),
        "correct" => json!({"corrections": [{"of": "words", "from": "door", "to": "gate"}]}),
        "create_bin" | "update_bin" => json!({"name": "doors"}),
        "add_comment" => json!({"start": 1, "text": "a door"}),
        "edit_comment" => json!({"text": "a gate"}),
        "share" => json!({"start": 0, "end": 1}),
        "share_bin" => json!({"title": "doors"}),
        "add_selects" => json!({"selects": [{"video_id": video_id, "start": 0, "end": 1}]}),
        "update_select" => json!({"rating": 1}),
        "split_select" => json!({"at": 1}),
        "rename_tag" => json!({"from": "door", "to": "gate"}),
        "move_selects" | "remove_selects" => json!({"select_ids": ["s1"]}),
        "mark_inbox_read" | "mark_alert_matches_read" => json!({"until": "2026-01-01"}),
        "put_alert" => json!({"text": "a door", "webhook": "http://example.org/hook"}),
        "update_alert" => json!({"paused": true}),
        "judge_alert_match" => json!({"verdict": null}),
        "ingest_file" | "rerun_aggregates" => Value::Null,
        other => panic!("{other} takes a body: add one here so that its reply is checked"),
    }
}

/// Operations that change nothing although their method is not GET.
const READ_OPERATIONS: [&str; 9] = [
    "query",
    "ask",
    "evidence",
    "intervals",
    "read_moments",
    "plan_ingest",
    "preview_chunking",
    "export_library",
    "test_alert",
];

/// Operations on the whole install, refused to a token that sees only part of it.
const INSTALL_OPERATIONS: [&str; 17] = [
    "alert",
    "put_alert",
    "update_alert",
    "delete_alert",
    "test_alert",
    "retry_alert",
    "alert_matches",
    "mark_alert_matches_read",
    "judge_alert_match",
    "put_extractor",
    "delete_extractor",
    "evaluation",
    "put_evaluation",
    "delete_evaluation",
    "run_evaluation",
    "evaluation_runs",
    "evaluation_run",
];

/// Values for the placeholders in a path.
struct Names {
    video_id: String,
    job_id: String,
    collection: String,
    bin_id: String,
    share_id: String,
}

impl Names {
    fn fill(&self, method: &str, path: &str) -> String {
        let query = match (method, path) {
            (_, "/videos/{video_id}/frames") => "?t=1",
            (_, "/videos/{video_id}/clip") => "?start=0&end=1",
            (_, "/videos/{video_id}/export") => "?format=json",
            (_, "/bins/{bin_id}/export") => "?format=otio",
            (_, "/values") => "?field=collections",
            ("delete", "/collections/{name}") => "?videos=delete",
            _ => "",
        };
        let path = path
            .replace("{video_id}", &self.video_id)
            .replace("{moment_id}", &format!("m_{}_0_10000", self.video_id))
            .replace("{chunk_id}", "0")
            .replace("{entity_id}", "01234567-p1")
            .replace("{job_id}", &self.job_id)
            .replace("{run_id}", &self.job_id)
            .replace("{correction_id}", "0123456789ab")
            .replace("{comment_id}", "0123456789ab")
            .replace("{match_id}", "0123456789abcdef0123456789abcdef")
            .replace("{bin_id}", &self.bin_id)
            .replace("{share_id}", &self.share_id)
            .replace("{select_id}", "s1")
            .replace("{name}", &self.collection);
        assert!(!path.contains('{'), "{path}: a placeholder has no value");
        path + query
    }

    /// The status and text of a reply, with these values replaced by fixed letters.
    fn normalize(&self, reply: &Reply) -> (u16, String) {
        let text = reply.text().replace(&self.video_id, "V").replace(&self.job_id, "J");
        let text = text.replace(&self.collection, "C").replace(&self.bin_id, "B");
        (reply.status, text.replace(&self.share_id, "S"))
    }
}

struct Library {
    app: TestApp,
    /// A video that the bound token cannot see.
    foreign: Names,
    /// A video that the bound token sees.
    own: Names,
    /// Values that exist nowhere.
    absent: Names,
}

impl Library {
    async fn new() -> Self {
        let app = TestApp::with(|setup| {
            let bound = Access::new(Some(["mine".to_owned()].into()), false);
            setup.http.auth.tokens = vec![
                ALL.into(),
                AuthToken { token: BOUND.into(), access: bound },
                AuthToken { token: READER.into(), access: Access::new(None, true) },
            ];
        })
        .await;
        let ingest = async |name: &str, seconds: f64, collection: &str, metadata: &str| {
            let fields = [
                ("mode", "interval"),
                ("interval", "10"),
                ("collection", collection),
                ("metadata", metadata),
            ];
            let job = app.job_of(&fields, name, &clip(seconds)).await;
            assert_eq!(job["status"], "done", "{job}");
            let video_id = job["result"]["video_id"].as_str().unwrap();
            let bin = json!({"name": format!("bin of {name}"), "collection": collection});
            let bin = app.post_json("/bins", bin).await.ok();
            let bin_id = bin["bin_id"].as_str().unwrap().to_owned();
            let select = json!({"video_id": video_id, "start": 0, "end": 10, "note": metadata});
            let path = format!("/bins/{bin_id}/selects");
            app.post_json(&path, json!({"selects": [select]})).await.ok();
            let path = format!("/videos/{video_id}/comments");
            app.post_json(&path, json!({"start": 0, "text": metadata})).await.ok();
            let share = json!({"start": 0, "end": 1, "title": metadata});
            let share = app.post_json(&format!("/videos/{video_id}/shares"), share).await;
            Names {
                share_id: share.json()["share_id"].as_str().unwrap().to_owned(),
                bin_id,
                video_id: video_id.to_owned(),
                job_id: job["job_id"].as_str().unwrap().to_owned(),
                collection: collection.to_owned(),
            }
        };
        let hidden = r#"{"secret_key": "hidden value"}"#;
        let foreign = ingest("secret-clip.mp4", 30.0, "theirs", hidden).await;
        let own = ingest("clip.mp4", 20.0, "mine", r#"{"camera": "north"}"#).await;
        let absent = Names {
            video_id: "fedcba9876543210".into(),
            job_id: "0123456789abcdef0123456789abcdef".into(),
            collection: "nowhere".into(),
            bin_id: "0123456789ab".into(),
            share_id: "0".repeat(52),
        };
        Self { app, foreign, own, absent }
    }

    async fn send(&self, token: &str, method: &str, uri: &str, body: &Value) -> Reply {
        let method: Method = method.to_uppercase().parse().unwrap();
        let request = poem::Request::builder()
            .method(method)
            .uri_str(uri)
            .header("host", "shotlog.test")
            .header("accept", "application/json, text/event-stream")
            .header("x-core-token", token);
        let request = match body {
            Value::Null => request.finish(),
            body => request.content_type("application/json").body(body.to_string()),
        };
        self.app.raw(request).await
    }

    async fn get(&self, token: &str, uri: &str) -> Reply {
        self.send(token, "get", uri, &Value::Null).await
    }

    /// Uploads a clip with this token and waits for its job.
    async fn upload(
        &self,
        token: &str,
        fields: &[(&str, &str)],
        seconds: f64,
    ) -> Result<Value, String> {
        let (kind, bytes) = multipart(fields, Some(("clip.mp4", &clip(seconds))));
        let request = poem::Request::builder()
            .method(Method::POST)
            .uri_str("/videos")
            .header("host", "shotlog.test")
            .header("x-core-token", token)
            .content_type(&kind);
        let reply = self.app.raw(request.body(bytes)).await;
        match reply.status {
            202 => Ok(self.app.finished(reply.json()["job_id"].as_str().unwrap()).await),
            _ => Err(format!("{} {}", reply.status, reply.text())),
        }
    }

    /// Method, path, operation id and whether it takes a body, of every operation.
    fn operations(&self) -> Vec<(String, String, String, bool)> {
        let mut operations = Vec::new();
        for (path, item) in self.app.contract().0["paths"].as_object().unwrap() {
            for (method, operation) in item.as_object().unwrap() {
                let id = operation["operationId"].as_str().unwrap().to_owned();
                let takes_body = operation.get("requestBody").is_some();
                operations.push((method.clone(), path.clone(), id, takes_body));
            }
        }
        assert!(operations.len() >= 30, "{}", operations.len());
        operations
    }

    #[track_caller]
    fn assert_reveals_nothing(&self, source: &str, reply: &Reply) {
        let text = reply.text();
        let Names { video_id, job_id, bin_id, share_id, .. } = &self.foreign;
        let secrets = [video_id.as_str(), job_id, bin_id, share_id];
        for secret in secrets.into_iter().chain(SECRETS) {
            assert!(!text.contains(secret), "{source} reveals '{secret}': {text}");
        }
    }
}

#[tokio::test]
async fn foreign_videos_look_absent_on_every_route() {
    let library = Library::new().await;
    let Library { foreign, absent, own, .. } = &library;
    for (method, path, operation, takes_body) in library.operations() {
        let body = |names: &Names| match takes_body {
            true => body(&operation, &names.video_id),
            false => Value::Null,
        };
        let request = async |names: &Names| {
            library.send(BOUND, &method, &names.fill(&method, &path), &body(names)).await
        };
        let (foreign_reply, absent_reply) = (request(foreign).await, request(absent).await);
        if path.contains('{') {
            let expected = if INSTALL_OPERATIONS.contains(&&*operation) { 403 } else { 404 };
            assert_eq!(foreign_reply.status, expected, "{method} {path}: {}", foreign_reply.text());
        }
        let normalized = |names: &Names, reply: &Reply| {
            let (status, text) = names.normalize(reply);
            // Each job and each bin has its own id.
            let text =
                if status == 202 || operation == "create_bin" { String::new() } else { text };
            (status, text)
        };
        assert_eq!(
            normalized(foreign, &foreign_reply),
            normalized(absent, &absent_reply),
            "{method} {path} distinguishes a foreign video from an absent one"
        );
        if !path.contains('{') {
            // Sent without foreign ids, because a reply may repeat the ids of its request.
            let own_reply = library.send(BOUND, &method, &path, &body(own)).await;
            library.assert_reveals_nothing(&format!("{method} {path}"), &own_reply);
        }
    }
    for (body, path) in [
        (json!({"text": "a door", "limit": 50, "detail": "full"}), "/query"),
        (json!({"text": "a door", "analyzer": "*", "limit": 50}), "/query"),
        (json!({"text": "a door", "filters": {"chunk_ids": [99]}}), "/query"),
        (json!({"order": "newest", "limit": 50, "pages": true}), "/query"),
        (json!({"like": format!("m_{}_0_10000", own.video_id), "limit": 50}), "/query"),
        (json!({"question": "Where is a door?"}), "/ask"),
        (
            json!({"question": "A door?", "moment_ids": [format!("m_{}_0_10000", own.video_id)]}),
            "/ask",
        ),
        (json!({"question": "a door", "limit": 50}), "/evidence"),
        (json!({"expression": {"between": [0, null]}, "limit": 50}), "/intervals"),
        (json!({"expression": {"not": {"reads": "x"}}, "limit": 50}), "/intervals"),
        (json!({"url": "http://example.org/a.mp4"}), "/videos/plan"),
        (json!({}), "/export"),
        (json!({"format": "jsonl", "filters": {"chunk_ids": [0, 1, 2]}}), "/export"),
    ] {
        let reply = library.send(BOUND, "post", path, &body).await;
        assert_eq!(reply.status, 200, "{path}: {}", reply.text());
        library.assert_reveals_nothing(path, &reply);
    }
    // The foreign video is unchanged.
    library.get(ALL, &foreign.fill("get", "/videos/{video_id}")).await.ok();
}

#[tokio::test]
async fn filters_cannot_reach_foreign_videos() {
    let library = Library::new().await;
    let search = |filters: Value| json!({"text": "a door", "limit": 50, "filters": filters});
    let theirs = search(json!({"collections": ["theirs"]}));
    let page = library.send(BOUND, "post", "/query", &theirs).await.ok();
    assert_eq!(page["results"], json!([]));
    assert!(!page.to_string().contains(&library.foreign.video_id), "{page}");
    let unfiltered = library.send(BOUND, "post", "/query", &search(json!({}))).await.ok();
    let count = page["diagnostics"]["hits_without_filter"]["collections"].as_u64().unwrap();
    assert_eq!(count, unfiltered["results"].as_array().unwrap().len() as u64, "{page}");
    let by_key = search(json!({"metadata": {"secret_key": "hidden value"}}));
    let detail = library.send(BOUND, "post", "/query", &by_key).await.error(400);
    mentions(&detail, &["no video has the metadata key 'secret_key'", "available: camera"]);
    let videos = library.get(BOUND, "/videos?collection=theirs").await.ok();
    assert_eq!((&videos["total"], &videos["videos"]), (&json!(0), &json!([])));
    let keys = library.get(BOUND, "/schema").await.ok()["metadata_keys"].clone();
    assert_eq!(keys, json!({"camera": "string"}));
    assert_eq!(library.get(BOUND, "/collections").await.ok()["collections"][0]["name"], "mine");
    assert_eq!(library.get(BOUND, "/videos").await.ok()["total"], 1);
    assert_eq!(library.get(BOUND, "/jobs").await.ok()["total"], 1);
    mentions(&library.get(BOUND, "/metrics").await.error(403), &["the whole install"]);
    library.get(ALL, "/metrics").await;
}

#[tokio::test]
async fn storage_serves_only_objects_that_the_token_may_see() {
    let library = Library::new().await;
    let path = async |names: &Names| {
        let detail = library.get(ALL, &names.fill("get", "/videos/{video_id}")).await.ok();
        format!("/storage/{}", detail["storage_path"].as_str().unwrap())
    };
    let (foreign, own) = (path(&library.foreign).await, path(&library.own).await);
    assert_eq!(library.get(BOUND, &foreign).await.status, 404);
    assert_eq!(library.get(BOUND, &own).await.status, 200);
    assert_eq!(library.get(ALL, &foreign).await.status, 200);
}

#[tokio::test]
async fn mcp_tools_reveal_nothing_of_foreign_videos() {
    let library = Library::new().await;
    let (foreign, absent) = (&library.foreign, &library.absent);
    let request = async |method: &str, params: Value| {
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        library.send(BOUND, "post", "/mcp", &message).await
    };
    let tools = request("tools/list", json!({})).await.ok();
    for tool in tools["result"]["tools"].as_array().unwrap() {
        let name = tool["name"].as_str().unwrap();
        let arguments = |names: &Names| match name {
            "describe_library" => json!({}),
            "search_moments" => json!({"text": "a door", "video_ids": [names.video_id]}),
            "find_intervals" => {
                json!({"expression": {"between": [0, 5]}, "video_ids": [names.video_id]})
            }
            "find_person" => json!({"name": null}),
            "read_moments" => json!({"moment_ids": [format!("m_{}_0_10000", names.video_id)]}),
            "ask" => json!({"question": "Where is a door?", "video_ids": [names.video_id]}),
            "get_transcript" => json!({"video_id": names.video_id}),
            "get_frames" => json!({"video_id": names.video_id, "times": [1]}),
            "get_aggregate" => json!({"video_id": names.video_id, "aggregator": "stats"}),
            "add_to_bin" => {
                json!({"selects": [{"video_id": names.video_id, "start": 0, "end": 1}]})
            }
            "plan_ingest" => json!({"video_id": names.video_id}),
            "ingest_url" => json!({"url": "http://127.0.0.1:9/none.mp4"}),
            "get_job" => json!({"job_id": names.job_id}),
            other => panic!("{other}: add its arguments here so that its reply is checked"),
        };
        let call = async |names: &Names| {
            let reply =
                request("tools/call", json!({"name": name, "arguments": arguments(names)})).await;
            names.normalize(&reply)
        };
        if name != "ingest_url" {
            assert_eq!(call(foreign).await, call(absent).await, "{name}");
        }
        for secret in SECRETS {
            let (_, text) = call(foreign).await;
            assert!(!text.contains(secret), "{name} reveals '{secret}': {text}");
        }
    }
    library.assert_reveals_nothing("the resources", &request("resources/list", json!({})).await);
    let read = |uri: &str| request("resources/read", json!({"uri": uri}));
    library.assert_reveals_nothing("the videos", &read("shotlog://videos").await);
    library.assert_reveals_nothing("the schema", &read("shotlog://schema").await);
    let video = read(&format!("shotlog://videos/{}", foreign.video_id)).await.ok();
    mentions(&video["error"]["message"].to_string(), &["nknown video_id"]);
}

#[tokio::test]
async fn uploads_with_a_bound_token_stay_in_its_collections() {
    let library = Library::new().await;
    let job =
        library.upload(BOUND, &[("mode", "interval"), ("interval", "10")], 10.0).await.unwrap();
    let id = job["result"]["video_id"].as_str().unwrap();
    let detail = library.get(BOUND, &format!("/videos/{id}")).await.ok();
    assert_eq!(detail["collection"], "mine");
    let elsewhere = library.upload(BOUND, &[("collection", "theirs")], 15.0).await.unwrap_err();
    mentions(&elsewhere, &["403", "bound to collections ('mine')", "'theirs' is none of them"]);
    // The bytes of a foreign video.
    let duplicate =
        library.upload(BOUND, &[("mode", "interval"), ("interval", "5")], 30.0).await.unwrap();
    mentions(duplicate["error"].as_str().unwrap(), &["PermissionError", "outside the collections"]);
    let own_job =
        library.get(BOUND, &format!("/jobs/{}", duplicate["job_id"].as_str().unwrap())).await;
    assert_eq!(own_job.ok()["status"], "failed", "the uploader can read its job");
    let theirs = library.get(ALL, &library.foreign.fill("get", "/videos/{video_id}")).await.ok();
    assert_eq!((&theirs["collection"], &theirs["chunks"]), (&json!("theirs"), &json!(3)));
    // A bound token cannot move a video out of its collections.
    for collection in [json!("theirs"), Value::Null] {
        let patch = json!({"collection": collection});
        let reply = library.send(BOUND, "patch", &format!("/videos/{id}"), &patch).await;
        mentions(&reply.error(403), &["bound to collections ('mine')"]);
    }
    let patch = json!({"metadata": {"camera": "south"}, "collection": "mine"});
    library.send(BOUND, "patch", &format!("/videos/{id}"), &patch).await.ok();
    let rename = json!({"name": "theirs"});
    let renamed = library.send(BOUND, "patch", "/collections/mine", &rename).await;
    mentions(&renamed.error(403), &["'theirs' is none of them"]);
    let dissolved =
        library.send(BOUND, "delete", "/collections/mine?videos=keep", &Value::Null).await;
    mentions(&dissolved.error(403), &["cannot be taken out"]);
}

#[tokio::test]
async fn bins_stay_in_the_collections_of_a_bound_token() {
    let library = Library::new().await;
    let (foreign, own) = (&library.foreign, &library.own);
    let bins = library.get(BOUND, "/bins").await.ok();
    assert_eq!((&bins["total"], &bins["bins"][0]["bin_id"]), (&json!(1), &json!(own.bin_id)));
    assert_eq!(library.get(ALL, "/bins").await.ok()["total"], 2);
    let theirs = library.get(BOUND, "/bins?collection=theirs").await.ok();
    assert_eq!(theirs, json!({"bins": [], "total": 0}));
    let create = async |token: &str, body: Value| library.send(token, "post", "/bins", &body).await;
    let created = create(BOUND, json!({"name": "a"})).await.ok();
    assert_eq!(created["collection"], "mine");
    let elsewhere = create(BOUND, json!({"name": "a", "collection": "theirs"})).await;
    mentions(&elsewhere.error(403), &["bound to collections ('mine')"]);
    let everywhere = create(ALL, json!({"name": "all"})).await.ok();
    assert_eq!(everywhere.get("collection"), None);
    let everywhere = format!("/bins/{}", everywhere["bin_id"].as_str().unwrap());
    library.get(BOUND, &everywhere).await.error(404);
    let theirs = foreign.bin_id.as_str();
    library.get(BOUND, &format!("/bins/{theirs}/export?format=edl")).await.error(404);
    let search = json!({"text": "a dog", "filters": {"bin": theirs}});
    let hidden = library.send(BOUND, "post", "/query", &search).await;
    mentions(&hidden.error(400), &["unknown bin_id", theirs]);

    // A foreign video cannot be added, and looks like one that does not exist.
    let path = own.fill("get", "/bins/{bin_id}/selects");
    let add = async |token: &str, path: &str, video_id: &str| {
        let selects = json!({"selects": [{"video_id": video_id, "start": 0, "end": 1}]});
        library.send(token, "post", path, &selects).await
    };
    let refused = add(BOUND, &path, &foreign.video_id).await.error(400);
    let absent = add(BOUND, &path, &library.absent.video_id).await.error(400);
    assert_eq!(
        refused.replace(&foreign.video_id, "V"),
        absent.replace(&library.absent.video_id, "V")
    );
    let other = add(ALL, &path, &foreign.video_id).await.error(400);
    mentions(&other, &["is not in the collection 'mine' of the bin"]);
    for video_id in [&foreign.video_id, &own.video_id] {
        add(ALL, &format!("{everywhere}/selects"), video_id).await.ok();
    }

    // A video that leaves the collection looks like a deleted one in its bins.
    let own_video = own.fill("get", "/videos/{video_id}");
    let moved = json!({"collection": "theirs"});
    library.send(ALL, "patch", &own_video, &moved).await.ok();
    let select = library.get(BOUND, &format!("{path}/s1")).await.ok();
    assert_eq!((&select["missing"], &select["video_url"]), (&json!(true), &Value::Null));
    assert_eq!(select["filename"], "clip.mp4");
    let visible = library.get(ALL, &format!("{path}/s1")).await.ok();
    assert_eq!((&visible["missing"], visible["video_url"].is_string()), (&json!(false), true));
    let edited = library.send(BOUND, "patch", &format!("{path}/s1"), &json!({"rating": 3})).await;
    assert_eq!(edited.ok()["selects"][0]["missing"], true);
    // Read-only tokens read bins.
    assert_eq!(library.get(READER, &path).await.ok()["total"], 1);
    let renamed = library.send(READER, "patch", &everywhere, &json!({"name": "b"})).await;
    mentions(&renamed.error(403), &["the token reads only"]);
}

#[tokio::test]
async fn read_only_tokens_change_nothing() {
    let library = Library::new().await;
    for (method, path, operation, takes_body) in library.operations() {
        if method == "get" {
            continue;
        }
        if operation == "ingest_file" {
            mentions(&library.upload(READER, &[], 10.0).await.unwrap_err(), &["403", "read_only"]);
            continue;
        }
        let body = match takes_body {
            true => body(&operation, &library.own.video_id),
            false => Value::Null,
        };
        let reply = library.send(READER, &method, &library.own.fill(&method, &path), &body).await;
        if READ_OPERATIONS.contains(&operation.as_str()) {
            let expected = if operation == "test_alert" { 404 } else { 200 };
            assert_eq!(reply.status, expected, "{method} {path}: {}", reply.text());
        } else {
            mentions(&reply.error(403), &["the token reads only", "read_only (auth.tokens)"]);
        }
    }
    assert_eq!(library.get(READER, "/videos").await.ok()["total"], 2);
}
