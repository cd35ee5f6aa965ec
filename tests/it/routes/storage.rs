use futures::{StreamExt, stream};
use poem::Request;
use poem::http::Method;
use ports::storage::ObjectStorage;

use crate::support::{Reply, TestApp, clip, mentions};

async fn fetch(app: &TestApp, method: Method, key: &str, headers: &[(&str, &str)]) -> Reply {
    let mut request = app.request(method, &format!("/storage/{key}"));
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    app.raw(request.finish()).await
}

#[tokio::test]
async fn objects_are_served_whole() {
    let app = TestApp::new().await;
    let key = format!("{}/clip.mp4", app.video().await);
    let reply = fetch(&app, Method::GET, &key, &[]).await;
    assert_eq!((reply.status, &reply.body), (200, &clip(30.0)));
    assert_eq!(reply.header("content-type"), "video/mp4");
    assert_eq!(reply.header("accept-ranges"), "bytes");
    assert_eq!(reply.header("content-length"), clip(30.0).len().to_string());
    assert_eq!(reply.header("x-content-type-options"), "nosniff");

    let head = fetch(&app, Method::HEAD, &key, &[]).await;
    assert_eq!((head.status, head.body.len()), (200, 0));
    assert_eq!(head.header("content-length"), reply.header("content-length"));
    assert_eq!(head.header("etag"), reply.header("etag"));
}

#[tokio::test]
async fn ranges_are_served() {
    let app = TestApp::new().await;
    let content = clip(30.0);
    let total = content.len();
    let key = format!("{}/clip.mp4", app.video().await);
    for (range, expected) in [
        ("bytes=0-3", 0..4),
        ("bytes=5-", 5..total),
        ("bytes=-4", total - 4..total),
        ("bytes=-9999", 0..total),
    ] {
        let reply = fetch(&app, Method::GET, &key, &[("range", range)]).await;
        assert_eq!((reply.status, &reply.body[..]), (206, &content[expected.clone()]), "{range}");
        let content_range = format!("bytes {}-{}/{total}", expected.start, expected.end - 1);
        assert_eq!(reply.header("content-range"), content_range);
        assert_eq!(reply.header("content-length"), expected.len().to_string());
        let head = fetch(&app, Method::HEAD, &key, &[("range", range)]).await;
        // Ranges apply to GET only.
        assert_eq!((head.status, head.body.len(), head.header("content-range")), (200, 0, ""));
        assert_eq!(head.header("content-length"), total.to_string());
    }
    let beyond = fetch(&app, Method::GET, &key, &[("range", "bytes=9999-")]).await;
    beyond.error(416);
    assert_eq!(beyond.header("content-range"), format!("bytes */{total}"));
    let several = fetch(&app, Method::GET, &key, &[("range", "bytes=0-1,3-4")]).await;
    assert_eq!((several.status, several.body.len()), (200, total));
}

#[tokio::test]
async fn conditional_requests_avoid_and_protect_transfers() {
    let app = TestApp::new().await;
    let key = format!("{}/clip.mp4", app.video().await);
    let etag = fetch(&app, Method::GET, &key, &[]).await.header("etag").to_owned();
    assert!(etag.starts_with('"') && etag.ends_with('"') && etag.len() > 2, "etag {etag}");
    for validator in [etag.clone(), format!("\"x\", {etag}"), format!("W/{etag}"), "*".into()] {
        let reply = fetch(&app, Method::GET, &key, &[("if-none-match", &validator)]).await;
        assert_eq!((reply.status, reply.body.len()), (304, 0), "{validator}");
        assert_eq!(reply.header("etag"), etag);
    }
    assert_eq!(fetch(&app, Method::GET, &key, &[("if-none-match", "\"x\"")]).await.status, 200);
    for method in [Method::GET, Method::HEAD] {
        for (validator, status) in [
            (etag.clone(), 200),
            (format!("\"x\", {etag}"), 200),
            ("*".into(), 200),
            ("\"x\"".into(), 412),
            // A weak validator never matches in a strong comparison.
            (format!("W/{etag}"), 412),
        ] {
            let reply = fetch(&app, method.clone(), &key, &[("if-match", &validator)]).await;
            assert_eq!(reply.status, status, "{method} {validator}");
        }
    }
    let range = ("range", "bytes=0-1");
    assert_eq!(fetch(&app, Method::GET, &key, &[range, ("if-range", &etag)]).await.status, 206);
    assert_eq!(fetch(&app, Method::GET, &key, &[range, ("if-range", "\"x\"")]).await.status, 200);
}

#[tokio::test]
async fn nothing_outside_the_bucket_is_served() {
    let app = TestApp::new().await;
    let id = app.video().await;
    for key in [
        "../secret",
        "%2e%2e/secret",
        "%2e%2e%2fsecret",
        "/etc/passwd",
        "x/../../y",
        "x%00y",
        "nothing",
        "",
        &format!("{id}/"),
        &format!("{id}/clip.mp4/"),
        &id,
    ] {
        let reply = fetch(&app, Method::GET, key, &[]).await;
        assert_eq!(reply.status, 404, "{key}: {}", reply.text());
        reply.error(404);
    }
    let off = TestApp::with(|setup| setup.http.serves_storage = false).await;
    let id = off.video().await;
    off.get(&format!("/storage/{id}/clip.mp4")).await.error(404);
}

#[tokio::test]
async fn public_bucket_needs_no_token_and_allows_any_origin() {
    let app =
        TestApp::with(|setup| setup.http.auth.tokens = vec!["secret-token-of-tests".into()]).await;
    let path = format!("/storage/{}/clip.mp4", app.video().await);
    let ask = async |method: Method| {
        let request = Request::builder().method(method).uri_str(&path);
        let request = request.header("origin", "https://player.example.org");
        app.raw(request.header("sec-fetch-site", "cross-site").finish()).await
    };
    for (method, status) in [(Method::GET, 200), (Method::HEAD, 200), (Method::OPTIONS, 204)] {
        let reply = ask(method.clone()).await;
        assert_eq!(reply.status, status, "{method}: {}", reply.text());
        assert_eq!(reply.header("access-control-allow-origin"), "*", "{method}");
        assert_eq!(reply.header("cross-origin-resource-policy"), "cross-origin", "{method}");
        mentions(reply.header("access-control-expose-headers"), &["Content-Range", "ETag"]);
        assert_eq!(reply.header("access-control-allow-credentials"), "", "{method}");
    }
    let preflight = ask(Method::OPTIONS).await;
    assert_eq!(preflight.header("access-control-allow-methods"), "GET, HEAD");
    assert_eq!(preflight.header("access-control-allow-headers"), "*", "Range is allowed");
    assert_eq!(ask(Method::POST).await.status, 403, "cross-origin writes are refused");
    let absent = app.raw(Request::builder().uri_str("/storage/0000000000000000/x").finish()).await;
    absent.error(404);
    assert_eq!(
        absent.header("access-control-allow-origin"),
        "*",
        "a page of another origin may read the error"
    );
}

#[tokio::test]
async fn objects_outside_videos_are_not_public() {
    let app =
        TestApp::with(|setup| setup.http.auth.tokens = vec!["secret-token-of-tests".into()]).await;
    for key in ["incoming/0123456789abcdef/source", "private/notes.txt", "notes.txt"] {
        let content = stream::iter([Ok(bytes::Bytes::from_static(b"secret"))]).boxed();
        app.storage.put(key, content, "text/plain").await.unwrap();
        fetch(&app, Method::GET, key, &[]).await.error(404);
        fetch(&app, Method::GET, &format!("0123456789abcdef/../{key}"), &[]).await.error(404);
    }
    fetch(&app, Method::GET, ".partial", &[]).await.error(404);
}
