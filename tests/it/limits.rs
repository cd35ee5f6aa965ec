//! Section 8: one test per row, named after it.

use std::time::Duration;

use adapters::fetcher::Response;
use serde_json::{Value, json};

use crate::support::{TestApp, clip, mentions};

async fn assert_refused(app: &TestApp, route: &str, body: Value, words: &[&str]) {
    mentions(&app.post_json(route, body).await.error(422), words);
}

#[tokio::test]
async fn query_limit_default_5_range_1_to_50() {
    let app = TestApp::new().await;
    app.video_of(&clip(600.0)).await;
    let hits = async |body: Value| {
        app.post_json("/query", body).await.ok()["results"].as_array().unwrap().len()
    };
    assert_eq!(hits(json!({"text": "boat"})).await, 5);
    for limit in [1, 50] {
        assert_eq!(hits(json!({"text": "boat", "limit": limit})).await, limit);
    }
    for limit in [json!(0), json!(51), json!(-1), json!("5"), json!(2.5), json!(null), json!(1e30)]
    {
        let words = ["limit", "an integer from 1 to 50"];
        assert_refused(&app, "/query", json!({"text": "boat", "limit": limit}), &words).await;
    }
}

#[tokio::test]
async fn ask_limit_default_6_range_1_to_20_per_video() {
    let app = TestApp::new().await;
    app.video_of(&clip(300.0)).await;
    let hits = async |body: Value| {
        app.post_json("/ask", body).await.ok()["results"].as_array().unwrap().len()
    };
    assert_eq!(hits(json!({"question": "boat"})).await, 6);
    for limit in [1, 20] {
        assert_eq!(hits(json!({"question": "boat", "limit": limit})).await, limit);
    }
    for limit in [json!(0), json!(21), json!("6"), json!(true), json!(null)] {
        let words = ["limit", "an integer from 1 to 20"];
        assert_refused(&app, "/ask", json!({"question": "boat", "limit": limit}), &words).await;
    }
}

#[tokio::test]
async fn chunk_limit_default_50_range_1_to_500() {
    let app = TestApp::new().await;
    let id = app.video_of(&clip(5010.0)).await;
    let count = async |query: &str| {
        let page = app.get(&format!("/videos/{id}/chunks?{query}")).await.ok();
        assert_eq!(page["total"], 501);
        page["chunks"].as_array().unwrap().len()
    };
    assert_eq!(count("").await, 50);
    assert_eq!(count("limit=1").await, 1);
    assert_eq!(count("limit=500").await, 500);
    for limit in ["0", "501", "-1", "5.0", "x", "", "99999999999999999999"] {
        let reply = app.get(&format!("/videos/{id}/chunks?limit={limit}")).await;
        mentions(&reply.error(422), &["limit", &format!("'{limit}'"), "an integer from 1 to 500"]);
    }
}

#[tokio::test]
async fn chunk_offset_default_0() {
    let app = TestApp::new().await;
    let id = app.video().await;
    let page = app.get(&format!("/videos/{id}/chunks")).await.ok();
    assert_eq!((&page["offset"], &page["chunks"][0]["chunk_id"]), (&json!(0), &json!(0)));
    let page = app.get(&format!("/videos/{id}/chunks?offset=2")).await.ok();
    assert_eq!((&page["offset"], &page["chunks"][0]["chunk_id"]), (&json!(2), &json!(2)));
    let past = app.get(&format!("/videos/{id}/chunks?offset=99999999999999999999")).await.ok();
    assert_eq!(past["chunks"], json!([]));
    let reply = app.get(&format!("/videos/{id}/chunks?offset=-1")).await;
    mentions(&reply.error(422), &["offset", "'-1'", "an integer of at least 0"]);
}

#[tokio::test]
async fn min_duration_default_5_ignored_in_interval_mode() {
    let app = TestApp::new().await;
    let job = app.job_of(&[("max_duration", "30")], "c.mp4", &clip(60.0)).await;
    assert_eq!(job["result"]["chunk_config"], "audio_video:5-30");
    let fields = [("mode", "interval"), ("interval", "2"), ("min_duration", "50")];
    let job = app.job_of(&fields, "c.mp4", &clip(60.0)).await;
    assert_eq!(job["result"]["chunk_config"], "interval:2");
    for bad in ["0", "-1", "abc", "nan", "inf", "-inf", "1e999"] {
        let reply = app.upload(&[("min_duration", bad)], "c.mp4", &clip(5.0)).await;
        mentions(&reply.error(422), &["min_duration", "number"]);
    }
    for bad in [json!(0), json!(-1), json!("5"), json!(null), json!([])] {
        let body = json!({"url": "http://a.example/c.mp4", "min_duration": bad});
        assert_refused(&app, "/videos/url", body, &["min_duration", "number"]).await;
    }
}

#[tokio::test]
async fn max_duration_default_20_ignored_in_interval_mode() {
    let app = TestApp::new().await;
    let job = app.job_of(&[("min_duration", "1")], "c.mp4", &clip(60.0)).await;
    assert_eq!(job["result"]["chunk_config"], "audio_video:1-20");
    let id = job["result"]["video_id"].as_str().unwrap();
    let page = app.get(&format!("/videos/{id}/chunks")).await.ok();
    for chunk in page["chunks"].as_array().unwrap() {
        let length = chunk["end"].as_f64().unwrap() - chunk["start"].as_f64().unwrap();
        assert!(length <= 20.0 + 1e-9, "{chunk}");
    }
    let fields = [("mode", "interval"), ("interval", "25"), ("max_duration", "1")];
    let job = app.job_of(&fields, "c.mp4", &clip(60.0)).await;
    assert_eq!(job["result"]["chunk_config"], "interval:25");
    let reply =
        app.upload(&[("min_duration", "9"), ("max_duration", "3")], "c.mp4", &clip(5.0)).await;
    mentions(&reply.error(400), &["min_duration", "max_duration", "9", "3"]);
}

#[tokio::test]
async fn snippet_length_180_characters() {
    let app = TestApp::new().await;
    app.video().await;
    let body = json!({"text": "fog on a lake", "detail": "minimal"});
    let page = app.post_json("/query", body).await.ok();
    let snippet = page["results"][0]["snippet"].as_str().unwrap();
    assert_eq!(snippet.chars().count(), 180);
}

#[tokio::test]
async fn min_appearances_default_1() {
    let app = TestApp::new().await;
    let id = app.video().await;
    let person = |n: u32| {
        json!({
            "entity_id": format!("ab-p{n}"), "appearances": n, "chunk_ids": [0], "first_seen": 0.0,
            "last_seen": 1.0, "description": "red coat", "narrative": "arrives",
        })
    };
    app.plant_aggregate(&id, "entities", json!({"entities": [person(0), person(1), person(2)]}))
        .await;
    let total = async |query: &str| {
        app.get(&format!("/videos/{id}/entities{query}")).await.ok()["total"].as_u64().unwrap()
    };
    assert_eq!(total("").await, 2);
    assert_eq!(total("?min_appearances=0").await, 3);
    assert_eq!(total("?min_appearances=-5").await, 3);
    assert_eq!(total("?min_appearances=2").await, 1);
    let reply = app.get(&format!("/videos/{id}/entities?min_appearances=x")).await;
    mentions(&reply.error(422), &["min_appearances", "'x'", "integer"]);
}

#[tokio::test]
async fn download_size_cap_fails_the_job() {
    let app = TestApp::with(|setup| setup.settings.fetch.max_bytes = 64).await;
    let url = "http://media.example.org/big.mp4";
    let body: Vec<bytes::Bytes> = vec![bytes::Bytes::from(vec![0_u8; 40]); 4];
    let kind = ("content-type".to_owned(), "video/mp4".to_owned());
    let length = ("content-length".to_owned(), "160".to_owned());
    for headers in [vec![kind.clone()], vec![kind, length]] {
        app.fetcher.respond(url, Response { status: 200, headers, body: body.clone() });
        let reply = app.post_json("/videos/url", json!({"url": url})).await;
        assert_eq!(reply.status, 202);
        let job = app.finished(reply.json()["job_id"].as_str().unwrap()).await;
        assert_eq!((&job["status"], &job["stage"]), (&json!("failed"), &json!("fetching")));
        mentions(job["error"].as_str().unwrap(), &["ValueError: ", "64", "SERVICE_MAX_BYTES"]);
        assert_eq!(app.spooled(), 0);
    }
}

#[tokio::test]
async fn job_time_stamps_have_second_precision_in_utc() {
    let app = TestApp::new().await;
    let job = app.job_of(&[], "c.mp4", &clip(10.0)).await;
    for field in ["created_at", "updated_at"] {
        let stamp = job[field].as_str().unwrap();
        let shape: String =
            stamp.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
        assert_eq!(shape, "0000-00-00T00:00:00Z");
        stamp.parse::<jiff::Timestamp>().expect("a time");
    }
}

#[tokio::test]
async fn uploads_have_a_limit() {
    let app = TestApp::with(|setup| setup.settings.ingest.max_upload_bytes = 1000).await;
    let reply = app.upload(&[], "c.mp4", &vec![b'x'; 1001]).await;
    mentions(&reply.error(413), &["1000"]);
    assert_eq!(app.spooled(), 0);
    assert_eq!(app.upload(&[], "c.mp4", &vec![b'x'; 1000]).await.status, 202);
}

#[tokio::test]
async fn form_data_around_an_uploaded_file_has_a_limit() {
    let app = TestApp::new().await;
    let junk = "x".repeat(6 << 20);
    let reply = app.upload(&[("unknown", &junk)], "c.mp4", &clip(5.0)).await;
    mentions(&reply.error(413), &["outside the field 'file'"]);
    let reply = app.upload(&[("mode", &junk[..100_000])], "c.mp4", &clip(5.0)).await;
    mentions(&reply.error(413), &["mode is longer"]);
    let twice = [("mode", "preset"), ("mode", "preset")];
    mentions(&app.upload(&twice, "c.mp4", &clip(5.0)).await.error(422), &["more than once"]);
    let endless = poem::Body::from_bytes_stream(futures::stream::repeat_with(|| {
        Ok::<_, std::io::Error>(bytes::Bytes::from(vec![b'x'; 64 * 1024]))
    }));
    let reply = app.post_text("/videos", "multipart/form-data; boundary=b", endless).await;
    mentions(&reply.error(413), &["outside the field 'file'"]);
    assert_eq!(app.spooled(), 0);
}

#[tokio::test]
async fn other_bodies_have_a_limit() {
    let app = TestApp::with(|setup| {
        setup.http.server.max_json_bytes = 1000;
        setup.http.server.max_form_bytes = 1000;
    })
    .await;
    let id = app.video().await;
    let text = "x".repeat(2000);
    mentions(&app.post_json("/query", json!({"text": text})).await.error(413), &["1000"]);
    mentions(&app.post_json("/ask", json!({"question": text})).await.error(413), &["1000"]);
    mentions(&app.post_json("/videos/url", json!({"url": text})).await.error(413), &["1000"]);
    let path = format!("/videos/{id}/aggregates");
    let form = format!("aggregators={text}");
    let reply = app.post_text(&path, "application/x-www-form-urlencoded", form).await;
    mentions(&reply.error(413), &["1000"]);
}

#[tokio::test]
async fn an_oversized_content_length_is_refused_before_the_body_is_read() {
    let app = TestApp::with(|setup| {
        setup.http.server.max_json_bytes = 1000;
        setup.http.server.max_form_bytes = 1000;
    })
    .await;
    let id = app.video().await;
    let rerun = format!("/videos/{id}/aggregates");
    for (path, kind) in [
        ("/query", "application/json"),
        ("/ask", "application/json"),
        ("/videos/url", "application/json"),
        ("/mcp", "application/json"),
        (&*rerun, "application/x-www-form-urlencoded"),
        ("/session", "application/x-www-form-urlencoded"),
        ("/videos", "multipart/form-data; boundary=b"),
    ] {
        let polled = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
        let flag = polled.clone();
        // A server asks for it ("100 Continue") once the body is read.
        let body = poem::Body::from_bytes_stream(futures::stream::poll_fn(move |_| {
            flag.store(true, std::sync::atomic::Ordering::SeqCst);
            std::task::Poll::Ready(None::<Result<bytes::Bytes, std::io::Error>>)
        }));
        let request = app.request(poem::http::Method::POST, path).content_type(kind);
        let request =
            request.header("expect", "100-continue").header("content-length", "999999999");
        app.raw(request.body(body)).await.error(413);
        assert!(!polled.load(std::sync::atomic::Ordering::SeqCst), "{path}");
    }
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    use std::io::Write;
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[tokio::test]
async fn gzip_bodies_are_accepted_within_their_limit() {
    let app = TestApp::with(|setup| setup.http.server.max_json_bytes = 1000).await;
    app.video().await;
    let send = async |path: &str, kind: &str, coding: &str, body: Vec<u8>| {
        let request = app.request(poem::http::Method::POST, path).content_type(kind);
        let request = request.header("accept", "application/json, text/event-stream");
        app.raw(request.header("content-encoding", coding).body(body)).await
    };
    let json = "application/json";
    let query = json!({"text": "boat", "synthesize": false}).to_string();
    for coding in ["gzip", "GZIP", "x-gzip"] {
        let page = send("/query", json, coding, gzip(query.as_bytes())).await.ok();
        assert_eq!(page["query"], "boat");
    }
    send("/query", json, "identity", query.clone().into_bytes()).await.ok();
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}).to_string();
    assert_eq!(send("/mcp", json, "gzip", gzip(ping.as_bytes())).await.ok()["id"], 1);

    let bomb = gzip(&vec![b' '; 50 << 20]);
    assert!(bomb.len() > 1000, "{}", bomb.len());
    for bytes in [1 << 20, 100_000, 1001] {
        let padded = gzip(format!("{query}{}", " ".repeat(bytes)).as_bytes());
        mentions(&send("/query", json, "gzip", padded).await.error(413), &["1000 bytes"]);
    }
    mentions(&send("/query", json, "gzip", bomb).await.error(413), &["1000 bytes"]);
    let broken = send("/query", json, "gzip", query.clone().into_bytes()).await.error(422);
    mentions(&broken, &["not valid gzip"]);

    for coding in ["br", "zstd", "deflate", "gzip, gzip", "compress"] {
        let reply = send("/query", json, coding, query.clone().into_bytes()).await;
        mentions(&reply.error(415), &[coding, "accepted: gzip, identity"]);
        assert_eq!(reply.header("accept-encoding"), "gzip, identity");
    }
    let form = "multipart/form-data; boundary=b";
    mentions(&send("/videos", form, "gzip", gzip(b"--b--")).await.error(415), &["identity"]);
}

#[tokio::test]
async fn a_stalled_body_times_out() {
    let app = TestApp::with(|setup| {
        setup.http.server.body_timeout = std::time::Duration::from_millis(20);
        setup.http.server.upload_idle_timeout = std::time::Duration::from_millis(20);
    })
    .await;
    let stalled = |start: &'static str| {
        use futures::StreamExt;
        let start = futures::stream::iter([Ok::<_, std::io::Error>(bytes::Bytes::from(start))]);
        poem::Body::from_bytes_stream(start.chain(futures::stream::pending()))
    };
    app.post_text("/query", "application/json", stalled("{\"text\"")).await.error(408);
    let part = "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"c\"\r\n\r\nabc";
    app.post_text("/videos", "multipart/form-data; boundary=b", stalled(part)).await.error(408);
    assert_eq!(app.spooled(), 0);
}

#[tokio::test]
async fn a_full_queue_answers_503_with_retry_after() {
    let app = TestApp::with(|setup| setup.settings.ingest.queue = 0).await;
    let reply = app.upload(&[], "c.mp4", &clip(10.0)).await;
    reply.error(503);
    assert!(reply.header("retry-after").parse::<u32>().unwrap() > 0);
    let none = TestApp::with(|setup| setup.http.server.max_uploads = 0).await;
    let reply = none.upload(&[], "c.mp4", &clip(10.0)).await;
    mentions(&reply.error(503), &["uploads"]);
    assert!(reply.header("retry-after").parse::<u32>().unwrap() > 0);
}

#[tokio::test]
async fn analyzers_run_one_at_a_time_and_jobs_wait_their_turn() {
    let app = TestApp::with(|setup| setup.settings.ingest.workers = 1).await;
    let mut ids = Vec::new();
    for seconds in [10.0, 11.0, 12.0] {
        let reply = app.upload(&[], "c.mp4", &clip(seconds)).await;
        ids.push(reply.json()["job_id"].as_str().unwrap().to_owned());
    }
    for id in ids {
        assert_eq!(app.finished(&id).await["status"], "done");
    }
}

#[tokio::test]
async fn max_duration_applies_to_the_decoded_duration() {
    let limit = Duration::from_secs(60);
    let app = TestApp::with(|setup| setup.settings.ingest.max_duration = limit).await;
    let claims = json!({"seconds": 30.0, "claims": 90.0}).to_string();
    let job = app.job_of(&[], "c.mp4", claims.as_bytes()).await;
    assert_eq!(job["result"]["duration"], 30.0, "{job}");
    for long in [json!({"seconds": 90.0}), json!({"seconds": 90.0, "claims": 30.0})] {
        let job = app.job_of(&[], "c.mp4", long.to_string().as_bytes()).await;
        mentions(job["error"].as_str().unwrap(), &["90 s", "60 s", "ingest.max_duration"]);
    }
}
