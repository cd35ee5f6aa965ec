//! Bins of selects. `concurrency.rs` has two clients and two instances, `storage.rs` what is
//! stored, `tags.rs` tags that are renamed, `usage.rs` which videos are used.

mod concurrency;
mod export;
mod filter;
mod storage;
mod string_out;
mod tags;
mod usage;

use poem::http::Method;
use serde_json::{Value, json};

use crate::support::{Reply, TestApp, clip, mentions};

/// Sends a change that is based on a version of the bin.
pub(super) async fn send(
    app: &TestApp,
    method: Method,
    uri: &str,
    version: Option<u64>,
    body: Value,
) -> Reply {
    let mut request = app.request(method, uri);
    if let Some(version) = version {
        request = request.header("If-Match", format!("\"{version}\""));
    }
    match body {
        Value::Null => app.raw(request.finish()).await,
        body => app.raw(request.content_type("application/json").body(body.to_string())).await,
    }
}

/// Creates a bin and returns its path.
pub(super) async fn bin(app: &TestApp, name: &str) -> String {
    let bin = app.post_json("/bins", json!({"name": name})).await.ok();
    format!("/bins/{}", bin["bin_id"].as_str().unwrap())
}

/// A select of a span of a video, as a request.
pub(super) fn span(video_id: &str, start: f64, end: f64) -> Value {
    json!({"video_id": video_id, "start": start, "end": end})
}

/// Adds a select of each second from 0 to `count`, and returns the bin's path.
async fn filled(app: &TestApp, video_id: &str, count: u32) -> String {
    let path = bin(app, "seconds").await;
    let second = |at: u32| span(video_id, f64::from(at), f64::from(at + 1));
    let selects: Vec<Value> = (0..count).map(second).collect();
    app.post_json(&format!("{path}/selects"), json!({"selects": selects})).await.ok();
    path
}

async fn selects(app: &TestApp, path: &str) -> Vec<Value> {
    let list = app.get(&format!("{path}/selects?limit=500")).await.ok();
    list["selects"].as_array().unwrap().clone()
}

/// The ids of a bin's selects, in order.
pub(super) async fn order(app: &TestApp, path: &str) -> Vec<String> {
    let id = |select: &Value| select["select_id"].as_str().unwrap().to_owned();
    selects(app, path).await.iter().map(id).collect()
}

#[tokio::test]
async fn bins_are_created_renamed_and_deleted() {
    let app = TestApp::new().await;
    let reply =
        app.post_json("/bins", json!({"name": " Harbour ", "description": "at dawn"})).await;
    let bin = reply.ok();
    assert_eq!(reply.header("etag"), "\"1\"");
    assert_eq!((&bin["name"], &bin["description"]), (&json!("Harbour"), &json!("at dawn")));
    assert_eq!((&bin["selects"], &bin["duration"]), (&json!(0), &json!(0.0)));
    assert_eq!((&bin["undo_steps"], &bin["last_change"]), (&json!(0), &Value::Null));
    assert_eq!(bin.get("collection"), None);
    let path = format!("/bins/{}", bin["bin_id"].as_str().unwrap());
    assert_eq!(app.get(&path).await.ok(), bin);

    let reply = app.patch_json(&path, json!({"name": "Port"})).await;
    let renamed = reply.ok();
    assert_eq!((reply.header("etag"), &renamed["version"]), ("\"2\"", &json!(2)));
    assert_eq!((&renamed["name"], &renamed["description"]), (&json!("Port"), &json!("at dawn")));
    assert_eq!(renamed["last_change"], "describe");
    let same = app.patch_json(&path, json!({"name": "Port"})).await.ok();
    assert_eq!(same, renamed, "no change, no version");

    let deleted = app.delete(&path).await.ok();
    assert_eq!(deleted, json!({"bin_id": bin["bin_id"], "deleted": true}));
    for reply in [
        app.get(&path).await,
        app.delete(&path).await,
        app.patch_json(&path, json!({"name": "a"})).await,
        app.get(&format!("{path}/selects")).await,
        app.post_json(&format!("{path}/undo"), Value::Null).await,
    ] {
        mentions(&reply.error(404), &["unknown bin_id", "GET /bins"]);
    }
    assert_eq!(app.get("/bins").await.ok(), json!({"bins": [], "total": 0}));
}

#[tokio::test]
async fn bins_are_listed_by_name_and_by_last_change() {
    let app = TestApp::new().await;
    let mut paths = Vec::new();
    for name in ["beta", "Alpha", "gamma", "alpha"] {
        paths.push(bin(&app, name).await);
        // Orders by last change have millisecond precision.
        tokio::time::sleep(std::time::Duration::from_millis(2)).await;
    }
    app.patch_json(&paths[0], json!({"description": "changed"})).await.ok();
    let pages = async |order: &str| {
        let (mut names, mut cursor) = (Vec::new(), String::new());
        loop {
            let page = app.get(&format!("/bins?order={order}&limit=1{cursor}")).await.ok();
            assert_eq!(page["total"], 4);
            names.push(page["bins"][0]["name"].as_str().unwrap().to_owned());
            let Some(next) = page["next"].as_str() else { return names };
            cursor = format!("&cursor={next}");
        }
    };
    let by_name = pages("name").await;
    assert_eq!(
        by_name.iter().map(|name| name.to_lowercase()).collect::<Vec<_>>(),
        ["alpha", "alpha", "beta", "gamma"]
    );
    assert_eq!(pages("changed").await, ["beta", "alpha", "gamma", "Alpha"]);
    let all = app.get("/bins").await.ok();
    assert_eq!(all["bins"].as_array().unwrap().len(), 4);
    assert_eq!(all.get("next"), None);
    mentions(&app.get("/bins?cursor=x").await.error(400), &["cursor is 'x'", "`next`"]);
    mentions(&app.get("/bins?order=size").await.error(422), &["order"]);
    mentions(&app.get("/bins?limit=501").await.error(422), &["limit", "1 to 500"]);
    mentions(&app.get("/bins?sort=name").await.error(422), &["unknown parameter 'sort'"]);
}

#[tokio::test]
async fn selects_are_added_from_moments_and_spans() {
    let app = TestApp::new().await;
    let id = app.video().await;
    let path = bin(&app, "doors").await;
    let body = json!({"selects": [
        {"moment_id": format!("m_{id}_10000_20000"), "note": " a door ", "tags": ["b", "a", "b "],
         "rating": 4},
        {"video_id": id, "start": 1.0004, "end": 5, "in": 2.5, "out": 8},
    ]});
    let reply = app.post_json(&format!("{path}/selects"), body).await;
    let added = reply.ok();
    assert_eq!(reply.header("etag"), "\"2\"");
    assert_eq!((&added["bin"]["selects"], &added["bin"]["duration"]), (&json!(2), &json!(15.5)));
    assert_eq!(added["bin"]["last_change"], "add");
    let first = &added["selects"][0];
    assert_eq!((&first["select_id"], &first["note"]), (&json!("s1"), &json!("a door")));
    assert_eq!((&first["tags"], &first["rating"]), (&json!(["b", "a"]), &json!(4)));
    assert_eq!((&first["filename"], &first["missing"]), (&json!("clip.mp4"), &json!(false)));
    assert!(first["video_url"].as_str().unwrap().contains(&id), "{first}");
    assert_eq!((&first["in"], &first["out"]), (&Value::Null, &Value::Null));
    let second = &added["selects"][1];
    assert_eq!(second["moment_id"], json!(format!("m_{id}_1000_5000")));
    assert_eq!((&second["start"], &second["end"]), (&json!(1.0), &json!(5.0)));
    assert_eq!((&second["in"], &second["out"]), (&json!(2.5), &json!(8.0)));
    assert_eq!(
        (&second["duration"], &second["timecode"]),
        (&json!(5.5), &json!("0:02.50-0:08.00"))
    );
    assert_eq!(
        (&second["note"], &second["tags"], &second["rating"]),
        (&json!(""), &json!([]), &json!(0))
    );

    let list = app.get(&format!("{path}/selects")).await.ok();
    assert_eq!(
        (&list["total"], &list["offset"], &list["limit"]),
        (&json!(2), &json!(0), &json!(100))
    );
    assert_eq!(list["selects"], added["selects"]);
    let page = app.get(&format!("{path}/selects?limit=1&offset=1")).await.ok();
    assert_eq!((&page["selects"][0], &page["version"]), (second, &json!(2)));
    assert_eq!(app.get(&format!("{path}/selects?offset=9")).await.ok()["selects"], json!([]));
    let reply = app.get(&format!("{path}/selects/s2")).await;
    assert_eq!((&reply.ok(), reply.header("etag")), (second, "\"2\""));
    app.get(&format!("/moments/{}", second["moment_id"].as_str().unwrap())).await.ok();
    mentions(&app.get(&format!("{path}/selects/s3")).await.error(404), &["no select 's3'"]);

    for (place, expected) in [
        (json!({"position": 0}), ["s3", "s1", "s2"].as_slice()),
        (json!({"before": "s2"}), &["s3", "s1", "s4", "s2"]),
        (json!({"position": 99}), &["s3", "s1", "s4", "s2", "s5"]),
    ] {
        let mut body = json!({"selects": [span(&id, 0.0, 1.0)]});
        body.as_object_mut().unwrap().extend(place.as_object().unwrap().clone());
        app.post_json(&format!("{path}/selects"), body).await.ok();
        assert_eq!(order(&app, &path).await, expected);
    }
}

#[tokio::test]
async fn selects_are_edited_trimmed_and_split() {
    let app = TestApp::new().await;
    let id = app.video().await;
    let path = bin(&app, "edit").await;
    let moment = format!("m_{id}_10000_20000");
    let body = json!({"selects": [{"moment_id": moment, "note": "n", "tags": ["t"]}]});
    app.post_json(&format!("{path}/selects"), body).await.ok();
    let select = format!("{path}/selects/s1");
    let edit = async |patch: Value| app.patch_json(&select, patch).await;

    let edited = edit(json!({"rating": 5, "tags": ["x", "y"], "in": 12.5})).await.ok();
    let now = &edited["selects"][0];
    assert_eq!((&now["rating"], &now["tags"]), (&json!(5), &json!(["x", "y"])));
    assert_eq!((&now["note"], &now["in"], &now["out"]), (&json!("n"), &json!(12.5), &Value::Null));
    assert_eq!((&now["start"], &now["moment_id"]), (&json!(10.0), &json!(moment)));
    assert_eq!(edited["bin"]["duration"], 7.5);
    // A trim may extend the moment within the video.
    let extended = edit(json!({"in": null, "out": 30, "note": ""})).await.ok();
    assert_eq!(
        (&extended["bin"]["duration"], &extended["selects"][0]["note"]),
        (&json!(20.0), &json!(""))
    );
    let version = extended["bin"]["version"].clone();
    let same = edit(json!({"out": 30})).await.ok();
    assert_eq!(same["bin"]["version"], version, "no change, no version");
    for (patch, status, words) in [
        (json!({"out": 30.5}), 400, &["30.500 s", "30.000 s"][..]),
        (json!({"in": 30}), 422, &["begin at 30 s", "end at 30 s"]),
        (json!({"in": -1}), 422, &["'in' is -1"]),
        (json!({"rating": 6}), 422, &["rating is 6", "0 to 5"]),
        (json!({"rating": null}), 422, &["rating is null"]),
        (json!({"tags": [""]}), 422, &["a tag must have"]),
        (json!({"start": 1}), 422, &["unknown field 'start'"]),
    ] {
        mentions(&edit(patch).await.error(status), words);
    }
    assert_eq!(app.get(&path).await.ok()["version"], version);

    let split = app.post_json(&format!("{select}/split"), json!({"at": 25})).await.ok();
    assert_eq!(split["bin"]["duration"], 20.0, "nothing is lost: {split}");
    let spans: Vec<_> =
        split["selects"].as_array().unwrap().iter().map(|s| (&s["start"], &s["end"])).collect();
    assert_eq!(spans, [(&json!(10.0), &json!(25.0)), (&json!(25.0), &json!(30.0))]);
    assert_eq!(split["selects"][1]["tags"], json!(["x", "y"]));
    assert_eq!(order(&app, &path).await, ["s1", "s2"]);
    let outside = app.post_json(&format!("{select}/split"), json!({"at": 25})).await;
    mentions(&outside.error(400), &["'at' is 25 s", "between 10 s and 25 s"]);
    let missing = app.post_json(&format!("{path}/selects/s9/split"), json!({"at": 25})).await;
    mentions(&missing.error(404), &["'s9'"]);

    let left = app.delete(&select).await.ok();
    assert_eq!((&left["selects"], &left["duration"]), (&json!(1), &json!(5.0)));
    mentions(&app.delete(&select).await.error(404), &["no select 's1'"]);
}

#[tokio::test]
async fn selects_are_moved_and_removed() {
    let app = TestApp::new().await;
    let id = app.video().await;
    let path = filled(&app, &id, 5).await;
    let move_to = async |body: Value| app.post_json(&format!("{path}/selects/move"), body).await;
    for (body, expected) in [
        (json!({"select_ids": ["s5", "s2"], "position": 0}), "s5 s2 s1 s3 s4"),
        (json!({"select_ids": ["s5"], "before": "s4"}), "s2 s1 s3 s5 s4"),
        (json!({"select_ids": ["s2", "s3"]}), "s1 s5 s4 s2 s3"),
        (json!({"select_ids": ["s1"], "position": 2}), "s5 s4 s1 s2 s3"),
    ] {
        let bin = move_to(body.clone()).await.ok();
        assert_eq!(order(&app, &path).await.join(" "), expected, "{body}");
        assert_eq!((&bin["last_change"], &bin["selects"]), (&json!("move"), &json!(5)));
    }
    for (body, status, words) in [
        (json!({"select_ids": ["s1", "s1"]}), 400, "listed twice"),
        (json!({"select_ids": ["s1"], "before": "s1"}), 400, "before itself"),
        (json!({"select_ids": ["s1"], "before": "s2", "position": 1}), 422, "exclude each other"),
        (json!({"select_ids": ["s9"]}), 404, "'s9'"),
        (json!({"select_ids": ["s1"], "before": "s9"}), 404, "'s9'"),
        (json!({"select_ids": ["../s1"]}), 404, "'../s1'"),
        (json!({"select_ids": []}), 422, "select_ids"),
        (json!({"select_ids": ["s1"], "position": -1}), 422, "position is -1"),
        (json!({"select_ids": ["s1"], "position": 1.5}), 422, "position is 1.5"),
    ] {
        mentions(&move_to(body).await.error(status), &[words]);
    }
    let remove = async |ids: Value| {
        app.post_json(&format!("{path}/selects/remove"), json!({"select_ids": ids})).await
    };
    mentions(&remove(json!(["s1", "s9"])).await.error(404), &["'s9'"]);
    assert_eq!(app.get(&path).await.ok()["selects"], 5, "all or none");
    assert_eq!(remove(json!(["s1", "s3", "s4"])).await.ok()["duration"], 2.0);
    assert_eq!(order(&app, &path).await, ["s5", "s2"]);
    let added = json!({"selects": [span(&id, 0.0, 1.0)]});
    let added = app.post_json(&format!("{path}/selects"), added).await.ok();
    assert_eq!(added["selects"][0]["select_id"], "s6", "ids are not used again");
}

#[tokio::test]
async fn changes_are_undone_newest_first() {
    let app = TestApp::with(|setup| setup.settings.bins.max_undo = 6).await;
    let id = app.video().await;
    let path = filled(&app, &id, 3).await;
    let state = async || {
        let mut bin = app.get(&path).await.ok();
        for volatile in ["version", "updated_at", "undo_steps", "last_change"] {
            bin.as_object_mut().unwrap().remove(volatile);
        }
        (bin, selects(&app, &path).await)
    };
    let post =
        async |action: &str, body: Value| app.post_json(&format!("{path}{action}"), body).await;
    let mut states = vec![state().await];
    let changes = [
        (
            "edit",
            app.patch_json(&format!("{path}/selects/s2"), json!({"note": "x", "in": 1.5})).await,
        ),
        ("move", post("/selects/move", json!({"select_ids": ["s3"], "position": 0})).await),
    ];
    for (kind, reply) in changes {
        let reply = reply.ok();
        let bin = reply.get("bin").unwrap_or(&reply);
        assert!(bin["undo_steps"].as_u64().unwrap() > 1, "{kind}: {bin}");
    }
    states.push(state().await);
    for (kind, method, uri, body) in [
        ("split", Method::POST, "/selects/s1/split", json!({"at": 0.25})),
        ("remove", Method::POST, "/selects/remove", json!({"select_ids": ["s3", "s4"]})),
        ("describe", Method::PATCH, "", json!({"name": "other", "description": "d"})),
        ("remove", Method::DELETE, "/selects/s2", Value::Null),
    ] {
        let reply = send(&app, method, &format!("{path}{uri}"), None, body).await.ok();
        let bin = reply.get("bin").unwrap_or(&reply);
        assert_eq!(bin["last_change"], kind);
        states.push(state().await);
    }
    assert_eq!(app.get(&path).await.ok()["undo_steps"], 6, "the oldest step is dropped");
    let mut version = app.get(&path).await.ok()["version"].as_u64().unwrap();
    states.pop();
    while states.len() > 1 {
        let bin = post("/undo", Value::Null).await.ok();
        version += 1;
        assert_eq!(bin["version"], version, "an undo is a new version");
        assert_eq!(Some(state().await), states.pop());
    }
    // The two changes before them, of which only the state before both is known.
    post("/undo", Value::Null).await.ok();
    assert_eq!(post("/undo", Value::Null).await.ok()["undo_steps"], 0);
    assert_eq!(Some(state().await), states.pop());
    mentions(&post("/undo", Value::Null).await.error(409), &["no change that can be undone"]);
    // Ids of undone selects are not used again.
    let added = post("/selects", json!({"selects": [span(&id, 0.0, 1.0)]})).await.ok();
    assert_eq!(added["selects"][0]["select_id"], "s5");
}

#[tokio::test]
async fn selects_survive_other_chunks_and_the_deletion_of_their_video() {
    let app = TestApp::new().await;
    let (id, other) = (app.video().await, app.video_of(&clip(20.0)).await);
    let path = bin(&app, "kept").await;
    let body = json!({"selects": [
        {"moment_id": format!("m_{id}_10000_20000"), "note": "a door"}, span(&other, 1.0, 2.0),
    ]});
    app.post_json(&format!("{path}/selects"), body).await.ok();
    let before = selects(&app, &path).await;

    let fields = [("mode", "interval"), ("interval", "7")];
    let job = app.job_of(&fields, "clip.mp4", &clip(30.0)).await;
    assert_eq!(job["status"], "done", "{job}");
    assert_eq!(selects(&app, &path).await, before);
    let moment =
        app.get(&format!("/moments/{}", before[0]["moment_id"].as_str().unwrap())).await.ok();
    assert_eq!(moment["chunks"].as_array().unwrap().len(), 2, "chunks of seven seconds");

    let duration = async || {
        let listed = app.get("/bins").await.ok()["bins"][0]["duration"].clone();
        assert_eq!(app.get(&path).await.ok()["duration"], listed);
        listed
    };
    assert_eq!(duration().await, 11.0);
    app.delete(&format!("/videos/{id}")).await.ok();
    assert_eq!(duration().await, 1.0, "without the missing video");
    let after = selects(&app, &path).await;
    assert_eq!(after[1], before[1]);
    let mut expected = before[0].clone();
    (expected["missing"], expected["video_url"]) = (json!(true), Value::Null);
    assert_eq!(after[0], expected, "the note and the file name stay");
    let select = format!("{path}/selects/s1");
    let edited = app.patch_json(&select, json!({"rating": 1, "in": 12, "out": 19})).await.ok();
    assert_eq!(edited["bin"]["duration"], 1.0);
    let outside = app.patch_json(&select, json!({"out": 21})).await;
    mentions(&outside.error(400), &["video of select 's1' is missing", "10 s and 20 s"]);
    app.post_json(&format!("{select}/split"), json!({"at": 15})).await.ok();
    app.post_json(&format!("{path}/selects/move"), json!({"select_ids": ["s2"], "position": 0}))
        .await
        .ok();
    let added = json!({"selects": [{"moment_id": format!("m_{id}_0_1000")}]});
    let gone = app.post_json(&format!("{path}/selects"), added).await;
    mentions(&gone.error(400), &["is gone", &id]);

    // The video is back.
    app.video().await;
    assert_eq!(duration().await, 8.0);
    let again = selects(&app, &path).await;
    assert_eq!((&again[1]["missing"], &again[1]["rating"]), (&json!(false), &json!(1)));
    app.patch_json(&format!("{path}/selects/s1"), json!({"out": 21})).await.ok();
}

#[tokio::test]
async fn limits_are_those_of_the_configuration() {
    let app = TestApp::with(|setup| {
        let bins = &mut setup.settings.bins;
        (bins.max, bins.max_selects, bins.max_tags, bins.max_tag_chars) = (2, 3, 2, 4);
        (bins.max_name_chars, bins.max_note_chars) = (8, 10);
    })
    .await;
    let id = app.video().await;
    let path = bin(&app, "12345678").await;
    let create = async |body: Value| app.post_json("/bins", body).await;
    for (body, word) in [
        (json!({"name": "123456789"}), "bins.max_name_chars"),
        (json!({"name": "a", "description": "12345678901"}), "bins.max_note_chars"),
        (json!({"name": "  "}), "name is empty"),
        (json!({}), "name is missing"),
        (json!({"name": 7}), "name is 7"),
        (json!({"name": "a", "collection": "c".repeat(129)}), "at most 128"),
        (json!({"name": "a", "selects": []}), "unknown field 'selects'"),
    ] {
        mentions(&create(body).await.error(422), &[word]);
    }
    mentions(&app.patch_json(&path, json!({"name": " "})).await.error(422), &["1 to 8 characters"]);
    bin(&app, "second").await;
    mentions(&create(json!({"name": "third"})).await.error(400), &["2 bins", "bins.max"]);
    app.delete(&path).await.ok();
    let path = bin(&app, "third").await;

    let add = async |selects: Value| {
        app.post_json(&format!("{path}/selects"), json!({"selects": selects})).await
    };
    let second = |extra: Value| {
        let mut select = span(&id, 0.0, 1.0);
        select.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        json!([select])
    };
    for (extra, word) in [
        (json!({"note": "12345678901"}), "bins.max_note_chars"),
        (json!({"tags": ["a", "b", "c"]}), "bins.max_tags"),
        (json!({"tags": ["12345"]}), "bins.max_tag_chars"),
        (json!({"rating": 6}), "rating is 6"),
        (json!({"in": 1, "out": 0.5}), "must end after it begins"),
    ] {
        mentions(&add(second(extra)).await.error(422), &[word]);
    }
    let three: Vec<Value> = (0..3).map(|_| span(&id, 0.0, 1.0)).collect();
    add(json!(three)).await.ok();
    let full = add(second(json!({}))).await.error(400);
    mentions(&full, &["at most 3 selects", "bins.max_selects", "has 3"]);
    let split = app.post_json(&format!("{path}/selects/s1/split"), json!({"at": 0.5})).await;
    mentions(&split.error(400), &["bins.max_selects"]);
    assert_eq!(order(&app, &path).await, ["s1", "s2", "s3"]);
}

#[tokio::test]
async fn hostile_requests_change_nothing() {
    let app = TestApp::new().await;
    let id = app.video().await;
    let path = filled(&app, &id, 2).await;
    let before = selects(&app, &path).await;
    let unknown = "fedcba9876543210";
    for (select, status, word) in [
        (json!({}), 422, "needs either 'moment_id'"),
        (json!({"video_id": id, "start": 1}), 422, "needs either 'moment_id'"),
        (json!({"moment_id": "m_x", "video_id": id, "start": 1, "end": 2}), 422, "either"),
        (json!({"moment_id": "m_x"}), 400, "'m_x' names no moment"),
        (json!({"moment_id": format!("m_{unknown}_0_1000")}), 400, "is gone"),
        (json!({"moment_id": format!("m_{id}_0_18446744073709551615")}), 400, "its video"),
        (json!({"moment_id": format!("m_{id}_1000_1000")}), 422, "must end after it begins"),
        (span(unknown, 0.0, 1.0), 400, "is gone"),
        (span("../../etc", 0.0, 1.0), 400, "unknown video_id '../../etc'"),
        (span(&id, 2.0, 1.0), 422, "'end' after 'start'"),
        (span(&id, -1.0, 1.0), 422, "'end' after 'start'"),
        (span(&id, 29.0, 31.0), 400, "31.000 s"),
        (span(&id, 0.0, 1e300), 400, "its video"),
        (json!({"moment_id": format!("m_{id}_0_1000"), "out": 1e300}), 400, "its video"),
        (json!({"moment_id": format!("m_{id}_0_1000"), "tags": "a"}), 422, "tags"),
        (json!({"moment_id": format!("m_{id}_0_1000"), "id": "s1"}), 422, "unknown field 'id'"),
        (json!("s1"), 422, "selects"),
    ] {
        // A valid select before it is not added either.
        let body = json!({"selects": [span(&id, 0.0, 1.0), select.clone()]});
        let reply = app.post_json(&format!("{path}/selects"), body).await;
        mentions(&reply.error(status), &[word]);
    }
    for body in [json!({"selects": []}), json!({}), json!([]), json!({"selects": null})] {
        app.post_json(&format!("{path}/selects"), body).await.error(422);
    }
    for id in
        ["nope", "0123456789AB", "..%2f..%2fx", "%ff", "0123456789ab%00", "bin.json", "%2e%2e"]
    {
        app.get(&format!("/bins/{id}")).await.error(404);
        app.get(&format!("/bins/{id}/selects")).await.error(404);
        app.delete(&format!("/bins/{id}")).await.error(404);
    }
    for select in ["1", "s0001", "s-1", "S1", "s99999999999999999999", "%2e%2e"] {
        app.get(&format!("{path}/selects/{select}")).await.error(404);
        app.delete(&format!("{path}/selects/{select}")).await.error(404);
    }
    assert_eq!(selects(&app, &path).await, before);
    assert_eq!(app.get(&path).await.ok()["version"], 2);
    // Text is stored as it is.
    let text = "<script>alert(1)</script> \u{202e} ' OR 1=1 -- \u{0}";
    let edited = app.patch_json(&format!("{path}/selects/s1"), json!({"note": text})).await.ok();
    assert_eq!(edited["selects"][0]["note"], text);
}

#[tokio::test]
async fn bins_follow_the_renaming_of_their_collection() {
    let app = TestApp::new().await;
    let fields = [("mode", "interval"), ("interval", "10"), ("collection", "street")];
    let job = app.job_of(&fields, "clip.mp4", &clip(10.0)).await;
    let id = job["result"]["video_id"].as_str().unwrap().to_owned();
    let elsewhere = app.video().await;
    let created = app.post_json("/bins", json!({"name": "a", "collection": " street "})).await.ok();
    assert_eq!(created["collection"], "street");
    let path = format!("/bins/{}", created["bin_id"].as_str().unwrap());
    let add = async |id: &str| {
        let body = json!({"selects": [span(id, 0.0, 1.0)]});
        app.post_json(&format!("{path}/selects"), body).await
    };
    add(&id).await.ok();
    mentions(&add(&elsewhere).await.error(400), &[&elsewhere, "collection 'street' of the bin"]);
    assert_eq!(app.get("/bins?collection=street").await.ok()["total"], 1);

    let rename = async |from: &str, to: &str| {
        let reply = app.patch_json(&format!("/collections/{from}"), json!({"name": to})).await;
        app.finished(reply.json()["job_id"].as_str().unwrap()).await
    };
    assert_eq!(rename("street", "road").await["status"], "done");
    let bin = app.get(&path).await.ok();
    assert_eq!((&bin["collection"], &bin["version"]), (&json!("road"), &json!(3)));
    assert_eq!(app.get("/bins?collection=street").await.ok()["total"], 0);
    assert_eq!(
        app.post_json(&format!("{path}/undo"), Value::Null).await.ok()["collection"],
        "road"
    );
    add(&id).await.ok();

    let reply = app.delete("/collections/road?videos=keep").await;
    app.finished(reply.json()["job_id"].as_str().unwrap()).await;
    assert_eq!(app.get(&path).await.ok().get("collection"), None);
    add(&elsewhere).await.ok();
}
