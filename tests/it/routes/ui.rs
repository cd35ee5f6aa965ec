use poem::http::Method;

use crate::support::{TestApp, mentions};

#[tokio::test]
async fn page_loads_only_its_own_files() {
    let app = TestApp::new().await;
    let page = app.get("/").await;
    assert_eq!(page.status, 200);
    assert!(page.header("content-type").starts_with("text/html"));
    let policy = page.header("content-security-policy");
    mentions(
        policy,
        &[
            "default-src 'none'",
            "script-src 'self'",
            "style-src 'self'",
            "connect-src 'self'",
            "form-action 'self'",
            "frame-ancestors 'none'",
            "base-uri 'none'",
        ],
    );
    assert!(!policy.contains("unsafe"), "{policy}");
    if page.text().contains("is not built") {
        println!("skipped: the page is not built (see scripts/setup.sh)");
        return;
    }
    for (file, kind) in [("/app.css", "text/css"), ("/app.js", "text/javascript")] {
        let reply = app.get(file).await;
        assert_eq!(reply.status, 200, "{file}");
        assert!(reply.header("content-type").starts_with(kind), "{file}");
        let conditional =
            app.request(Method::GET, file).header("if-none-match", reply.header("etag"));
        assert_eq!(app.raw(conditional.finish()).await.status, 304);
    }
}

#[tokio::test]
async fn external_storage_is_allowed_by_the_content_security_policy() {
    let origin = "https://bucket.example.org";
    let app = TestApp::with(|setup| setup.http.storage_origin = Some(origin.into())).await;
    let page = app.get("/").await;
    let policy = page.header("content-security-policy").to_owned();
    mentions(
        &policy,
        &[&format!("media-src 'self' {origin}"), &format!("img-src 'self' data: {origin}")],
    );
}

#[tokio::test]
async fn page_is_absent_in_api_only_mode() {
    let app = TestApp::with(|setup| setup.http.server.api_only = true).await;
    for path in ["/", "/app.css", "/app.js", "/index.html"] {
        app.get(path).await.error(404);
    }
    for path in ["/docs", "/redoc", "/openapi.json", "/health"] {
        assert_eq!(app.get(path).await.status, 200, "{path}");
    }
}

#[tokio::test]
async fn sample_clip_is_served_only_if_the_service_has_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let clip = folder.path().join("sample.mp4");
    let sample = clip.display().to_string();
    let app = TestApp::with(|setup| setup.http.server.sample = sample).await;
    assert_eq!(app.get("/sample").await.status, 204);

    std::fs::write(&clip, "a film").expect("the clip is written");
    let reply = app.get("/sample").await;
    assert_eq!((reply.status, reply.text().as_str()), (200, "a film"));
    assert_eq!(reply.header("content-type"), "video/mp4");
    let head = app.raw(app.request(Method::HEAD, "/sample").finish()).await;
    assert_eq!((head.status, head.header("content-length"), head.text().as_str()), (200, "6", ""));
    app.post_text("/sample", "text/plain", "a film").await.error(405);

    let none = TestApp::with(|setup| setup.http.server.sample = String::new()).await;
    assert_eq!(none.get("/sample").await.status, 204);
}

#[tokio::test]
async fn documentation_page_loads_nothing_from_other_hosts() {
    let app = TestApp::new().await;
    let document = app.get("/openapi.json").await;
    let title = document.json()["info"]["title"].clone();
    for path in ["/docs", "/redoc"] {
        let page = app.get(path).await;
        assert_eq!(page.status, 200);
        assert!(page.header("content-type").starts_with("text/html"));
        let html = page.text();
        assert!(html.contains(&format!("\"title\": {title}")), "{path} shows the served document");
        let head = &html[..html.len().min(4000)];
        for remote in ["<link href=\"http", "<script src=", "fonts.googleapis.com/css"] {
            assert!(!head.contains(remote), "{path} loads {remote}");
            assert!(!html.contains(&format!("{remote}?family=Montserrat")), "{path}");
        }
    }
}
