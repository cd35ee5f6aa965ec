use std::sync::Arc;

use adapters::fetcher::Response;
use ports::conformance::faults::{Fault, Faults};
use serde_json::{Value, json};

use crate::support::{BASE, TestApp, clip, keys, mentions, multipart};

#[tokio::test]
async fn upload_is_accepted_and_ingested() {
    let app = TestApp::new().await;
    let reply = app.upload(&[], "clip.mp4", &clip(30.0)).await;
    assert_eq!(reply.status, 202);
    let accepted = reply.json();
    assert_eq!(keys(&accepted), ["job_id", "source", "status"]);
    assert_eq!(accepted["source"], "clip.mp4");
    assert_eq!(accepted["status"], "queued");

    let job = app.finished(accepted["job_id"].as_str().unwrap()).await;
    let result = &job["result"];
    assert_eq!(
        keys(result),
        [
            "aggregated",
            "analyzers",
            "chunk_config",
            "chunks",
            "duration",
            "filename",
            "indexed",
            "poster_url",
            "profile",
            "size_bytes",
            "storage_path",
            "usage",
            "video_id",
            "video_url"
        ]
    );
    let calls = app.model.calls.load(std::sync::atomic::Ordering::SeqCst) as u64;
    assert_eq!(result["usage"]["calls"].as_u64(), Some(calls));
    let id = result["video_id"].as_str().unwrap();
    assert_eq!(id.len(), 16);
    assert_eq!(result["chunk_config"], "audio_video:5-20");
    assert_eq!(result["analyzers"], json!(["default_video"]));
    assert_eq!(result["storage_path"], format!("{id}/clip.mp4"));
    assert_eq!(result["video_url"], format!("{BASE}/storage/{id}/clip.mp4"));
    assert_eq!(result["poster_url"], format!("{BASE}/storage/{id}/poster.jpg"));
    assert_eq!(keys(&result["aggregated"]), ["aggregates", "ran", "reused", "skipped"]);
    assert_eq!(result["profile"]["scan"]["calls"], 1);
    assert_eq!(keys(&result["profile"]["scan"]), ["calls", "seconds"]);
    assert_eq!(app.spooled(), 0, "the upload is removed from the work folder");
}

#[tokio::test]
async fn fields_may_come_in_any_order() {
    let app = TestApp::new().await;
    let boundary = "b";
    let body = format!(
        "--{boundary}\r\nContent-Disposition: form-data; name=\"mode\"\r\n\r\ninterval\r\n\
         --{boundary}\r\nContent-Disposition: form-data; name=\"file\"; filename=\"c.mp4\"\r\n\r\n{}\r\n\
         --{boundary}\r\nContent-Disposition: form-data; name=\"interval\"\r\n\r\n7.5\r\n\
         --{boundary}\r\nContent-Disposition: form-data; name=\"speaker\"\r\n\r\n\r\n--{boundary}--\r\n",
        String::from_utf8(clip(30.0)).unwrap()
    );
    let reply = app.post_text("/videos", "multipart/form-data; boundary=b", body).await;
    assert_eq!(reply.status, 202, "{}", reply.text());
    let job = app.finished(reply.json()["job_id"].as_str().unwrap()).await;
    assert_eq!(job["result"]["chunk_config"], "interval:7.5");
    assert_eq!(job["result"]["chunks"], 4);
}

#[tokio::test]
async fn every_chunking_mode_is_reachable() {
    let app = TestApp::new().await;
    for (fields, config) in [
        (vec![("preset", "video"), ("min_duration", "2.50")], "video:2.5-20"),
        (vec![("mode", "interval"), ("interval", "10")], "interval:10"),
        (
            vec![("mode", "weights"), ("cut", "1.0"), ("silence", "0.5")],
            "weights(silence=0.5,cut=1):5-20",
        ),
    ] {
        let job = app.job_of(&fields, "clip.mp4", &clip(30.0)).await;
        assert_eq!(job["result"]["chunk_config"], config, "{job}");
    }
}

#[tokio::test]
async fn path_traversal_in_a_filename_is_neutralised() {
    let app = TestApp::new().await;
    let names = [
        ("../../etc/passwd.mp4", "passwd.mp4"),
        ("..", "video.mp4"),
        ("a b;c.mp4", "a_b_c.mp4"),
        ("C:\\\\clips\\\\x.mp4", "x.mp4"),
        // The poster is stored next to the video.
        ("poster.jpg", "poster-video.jpg"),
    ];
    for (seconds, (filename, stored_name)) in (10_u8..).zip(names) {
        // Each clip is a different video: a repeated one would keep its first name.
        let job = app.job_of(&[], filename, &clip(seconds.into())).await;
        let id = job["result"]["video_id"].as_str().unwrap();
        assert_eq!(job["result"]["storage_path"], format!("{id}/{stored_name}"));
        let stored = app.get(&format!("/storage/{id}/{stored_name}")).await;
        assert_eq!(stored.body, clip(seconds.into()), "{filename}");
    }
}

#[tokio::test]
async fn filename_in_any_script_is_kept() {
    let app = TestApp::new().await;
    let names = [
        ("夏休み.mp4", "夏休み.mp4", "%E5%A4%8F%E4%BC%91%E3%81%BF.mp4"),
        ("Größe des Hauses.mp4", "Größe_des_Hauses.mp4", "Gr%C3%B6%C3%9Fe_des_Hauses.mp4"),
    ];
    for (seconds, (filename, stored_name, encoded)) in (20_u8..).zip(names) {
        let job = app.job_of(&[], filename, &clip(seconds.into())).await;
        let id = job["result"]["video_id"].as_str().unwrap();
        assert_eq!(job["result"]["filename"], stored_name);
        assert_eq!(job["result"]["video_url"], format!("{BASE}/storage/{id}/{encoded}"));
        let stored = app.get(&format!("/storage/{id}/{encoded}")).await;
        assert_eq!(
            (stored.header("content-type"), &stored.body),
            ("video/mp4", &clip(seconds.into()))
        );
        let media = app.get(&format!("/media/{id}")).await;
        assert_eq!(media.header("location"), format!("{BASE}/storage/{id}/{encoded}"));
        let cut = app.get(&format!("/videos/{id}/clip?start=0&end=1")).await;
        assert!(cut.header("content-disposition").is_ascii(), "{filename}");
        let stem = &encoded[..encoded.len() - 4];
        mentions(
            cut.header("content-disposition"),
            &[&format!("filename*=UTF-8''{stem}-0s-1s.mp4")],
        );
        let export = app.get(&format!("/videos/{id}/export?format=csv")).await;
        mentions(export.header("content-disposition"), &["filename*=UTF-8''"]);
    }
}

#[tokio::test]
async fn file_is_required() {
    let app = TestApp::new().await;
    let (kind, body) = multipart(&[("mode", "preset")], None);
    mentions(&app.post_text("/videos", &kind, body).await.error(422), &["file is missing"]);
    let (kind, body) = multipart(&[], Some(("", b"")));
    mentions(&app.post_text("/videos", &kind, body).await.error(422), &["file is missing"]);
    mentions(
        &app.post_text("/videos", "application/json", "{}").await.error(422),
        &["multipart/form-data", "application/json"],
    );
}

#[tokio::test]
async fn truncated_body_leaves_nothing() {
    let app = TestApp::new().await;
    let (kind, body) = multipart(&[("mode", "preset")], Some(("clip.mp4", &clip(30.0))));
    for cut in [20, body.len() / 2, body.len() - 30] {
        let reply = app.post_text("/videos", &kind, body[..cut].to_vec()).await;
        mentions(&reply.error(422), &["cut off"]);
        assert_eq!(app.spooled(), 0);
    }
    let broken = poem::Body::from_bytes_stream(futures::stream::iter([
        Ok(bytes::Bytes::from(body[..body.len() / 2].to_vec())),
        Err(std::io::Error::other("connection reset")),
    ]));
    mentions(&app.post_text("/videos", &kind, broken).await.error(422), &["cut off"]);
    assert_eq!(app.spooled(), 0);
    assert_eq!(app.get("/jobs").await.ok()["total"], 0);
}

#[tokio::test]
async fn repeated_form_field_is_refused() {
    let app = TestApp::new().await;
    let reply = app.upload(&[("mode", "preset"), ("mode", "interval")], "c.mp4", &clip(5.0)).await;
    mentions(&reply.error(422), &["mode", "more than once"]);
    assert_eq!(app.spooled(), 0);
}

#[tokio::test]
async fn url_is_accepted_and_ingested() {
    let app = TestApp::new().await;
    let url = "http://media.example.org/films/walk.mp4";
    let headers = vec![("content-type".into(), "video/mp4".into())];
    app.fetcher.respond(url, Response { status: 200, headers, body: vec![clip(30.0).into()] });
    let reply = app.post_json("/videos/url", json!({"url": url, "interval": null})).await;
    assert_eq!(reply.status, 202, "{}", reply.text());
    assert_eq!(reply.json()["source"], url);
    let job = app.finished(reply.json()["job_id"].as_str().unwrap()).await;
    assert_eq!(job["result"]["filename"], "walk.mp4", "{job}");
    let id = job["result"]["video_id"].as_str().unwrap();
    assert_eq!(app.get(&format!("/videos/{id}")).await.ok()["source_url"], url);
}

#[tokio::test]
async fn reingest_by_url_adds_the_source_url() {
    let app = TestApp::new().await;
    let id = app.video().await;
    assert_eq!(app.get(&format!("/videos/{id}")).await.ok().get("source_url"), None);
    let first = "http://media.example.org/films/walk.mp4";
    for url in [first, "http://mirror.example.org/walk.mp4"] {
        let headers = vec![("content-type".into(), "video/mp4".into())];
        app.fetcher.respond(url, Response { status: 200, headers, body: vec![clip(30.0).into()] });
        let body = json!({"url": url, "mode": "interval", "interval": 10});
        let reply = app.post_json("/videos/url", body).await;
        let job = app.finished(reply.json()["job_id"].as_str().unwrap()).await;
        assert_eq!(job["result"]["video_id"], id.as_str(), "{job}");
        let video = app.get(&format!("/videos/{id}")).await.ok();
        assert_eq!(video["source_url"], first, "the first source URL is kept");
    }
}

#[tokio::test]
async fn url_of_the_services_own_bucket_is_accepted() {
    let app = TestApp::new().await;
    let id = app.video().await;
    let url = format!("{BASE}/storage/{id}/clip.mp4");
    let reply =
        app.post_json("/videos/url", json!({"url": url, "mode": "interval", "interval": 10})).await;
    let job = app.finished(reply.json()["job_id"].as_str().unwrap()).await;
    assert_eq!(job["result"]["video_id"], id.as_str(), "{job}");
}

#[tokio::test]
async fn listing_is_newest_first_and_paged() {
    let app = TestApp::new().await;
    assert_eq!(app.get("/videos").await.ok(), json!({"videos": [], "total": 0}));
    for seconds in [10.0, 20.0, 30.0] {
        app.video_of(&clip(seconds)).await;
    }
    let all = app.get("/videos").await.ok();
    assert_eq!(all["total"], 3);
    assert_eq!(all["videos"].as_array().unwrap().len(), 3);
    assert_eq!(
        keys(&all["videos"][0]),
        [
            "analyzers",
            "chunk_config",
            "chunks",
            "duration",
            "exact_frame_rate",
            "filename",
            "has_sound",
            "poster_url",
            "reel_name",
            "synopsis",
            "video_id",
            "video_url"
        ]
    );
    let page = app.get("/videos?limit=1&offset=1").await.ok();
    assert_eq!(page["total"], 3);
    assert_eq!(page["videos"], json!([all["videos"][1]]));
    assert_eq!(app.get("/videos?offset=99").await.ok()["videos"], json!([]));
}

#[tokio::test]
async fn detail_adds_to_the_listing_fields() {
    let app = TestApp::new().await;
    let id = app.video().await;
    let detail = app.get(&format!("/videos/{id}")).await.ok();
    assert_eq!(
        keys(&detail),
        [
            "aggregates",
            "analyzers",
            "chunk_config",
            "chunks",
            "duration",
            "exact_frame_rate",
            "filename",
            "frame_rate",
            "has_sound",
            "params",
            "poster_url",
            "preset",
            "reel_name",
            "size_bytes",
            "storage_path",
            "synopsis",
            "video_id",
            "video_url"
        ]
    );
    assert_eq!(detail["preset"], "interval");
    assert_eq!(detail["params"]["interval"], 10.0);
    assert_eq!(detail["duration"], 30.0);
    assert_eq!(detail["size_bytes"], clip(30.0).len());
}

#[tokio::test]
async fn delete_removes_everything() {
    let app = TestApp::new().await;
    let id = app.video().await;
    let deleted = app.delete(&format!("/videos/{id}")).await.ok();
    assert_eq!(
        deleted,
        json!({
            "video_id": id,
            "deleted": true,
            "objects": [format!("{id}/clip.mp4"), format!("{id}/poster.jpg")],
        })
    );
    for path in ["", "/chunks", "/chunks/0", "/aggregates", "/entities"] {
        app.get(&format!("/videos/{id}{path}")).await.error(404);
    }
    app.get(&format!("/storage/{id}/clip.mp4")).await.error(404);
    assert_eq!(app.post_json("/query", json!({"text": "door"})).await.ok()["results"], json!([]));
    app.delete(&format!("/videos/{id}")).await.error(404);
}

#[tokio::test]
async fn pages_follow_each_other_by_cursor_and_are_filtered() {
    let app = TestApp::new().await;
    for seconds in [21.0, 22.0, 23.0] {
        app.video_of(&clip(seconds)).await;
    }
    let whole = app.get("/videos").await.ok();
    assert!(whole["next"].is_null(), "{whole}");
    let ids = |page: &Value| -> Vec<Value> {
        page["videos"].as_array().unwrap().iter().map(|v| v["video_id"].clone()).collect()
    };
    let first = app.get("/videos?limit=2").await.ok();
    let next = first["next"].as_str().unwrap();
    let second = app.get(&format!("/videos?limit=2&cursor={next}")).await.ok();
    assert!(second["next"].is_null(), "{second}");
    assert_eq!([ids(&first), ids(&second)].concat(), ids(&whole));
    assert_eq!((&first["total"], &second["total"]), (&json!(3), &json!(3)));

    for (filter, total) in [
        ("filename=CLIP", 3),
        ("filename=other", 0),
        ("analyzer=default_video", 3),
        ("analyzer=ocr", 0),
        ("created_after=2020-01-01", 3),
        ("created_before=2020-01-01T00:00:00Z", 0),
    ] {
        let page = app.get(&format!("/videos?limit=2&{filter}")).await.ok();
        assert_eq!(page["total"], total, "{filter}");
    }
    for (filter, says) in [
        ("cursor=yesterday", "expected the `next` of a page of videos"),
        ("analyzer=ocrr", "unknown analyzer 'ocrr'; available: "),
        ("created_after=soon", "must be a time in ISO 8601"),
    ] {
        let error = app.get(&format!("/videos?{filter}")).await.error(400);
        assert!(error.contains(says), "{error}");
    }
}

#[tokio::test]
async fn store_calls_per_page_do_not_grow_with_the_library() {
    let faults = Arc::new(Faults::default());
    let app = TestApp::with(|setup| setup.faults = Some(faults.clone())).await;
    let mut calls = Vec::new();
    for seconds in [21.0, 22.0, 23.0, 24.0, 25.0] {
        app.video_of(&clip(seconds)).await;
        faults.plan(usize::MAX, Fault::Fails);
        app.get("/videos?limit=1").await.ok();
        let page = faults.calls();
        app.post_json("/query", json!({"text": "a woman opens a door", "limit": 1})).await.ok();
        calls.push((page, faults.calls() - page));
    }
    // A page: one listing call and two for URLs. A search: one index, one listing and one URL call.
    assert_eq!(calls, [(3, 3); 5], "calls for a page and for a search");
}

#[tokio::test]
async fn listed_video_includes_its_synopsis() {
    let app = TestApp::new().await;
    let id = app.video().await;
    let summary = app.get(&format!("/videos/{id}/aggregates?aggregator=summary")).await.ok();
    let summary = summary["result"]["summary"].as_str().expect("a summary").to_owned();
    let list = app.get("/videos").await.ok();
    let synopsis = list["videos"][0]["synopsis"].as_str().expect("a sentence").to_owned();
    assert!(!synopsis.is_empty() && summary.starts_with(&synopsis), "{synopsis}: {summary}");
    let detail = app.get(&format!("/videos/{id}")).await.ok();
    assert_eq!(detail["synopsis"], synopsis.as_str());
}
