//! Section 5: tokens, the browser session, and requests from other sites.

use domain::kernel::access::Access;
use poem::http::Method;
use serde_json::json;
use shotlog::http::AuthToken;

use crate::support::{BASE, Reply, TestApp, mentions};

const TOKEN: &str = "first-token";
const SECOND: &str = "second-token";

async fn app_with_tokens() -> TestApp {
    TestApp::with(|setup| setup.http.auth.tokens = vec![TOKEN.into(), SECOND.into()]).await
}

async fn send(app: &TestApp, method: Method, uri: &str, headers: &[(&str, &str)]) -> Reply {
    let mut request =
        poem::Request::builder().method(method).uri_str(uri).header("host", "shotlog.test");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    app.raw(request.finish()).await
}

async fn sign_in(app: &TestApp, token: &str, headers: &[(&str, &str)]) -> Reply {
    let mut request = poem::Request::builder()
        .method(Method::POST)
        .uri_str("/session")
        .header("host", "shotlog.test")
        .content_type("application/x-www-form-urlencoded");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    app.raw(request.body(format!("token={token}"))).await
}

/// The `name=value` pair of a new session's cookie.
async fn cookie(app: &TestApp) -> String {
    let reply = sign_in(app, TOKEN, &[("origin", BASE)]).await;
    assert_eq!(reply.status, 204, "{}", reply.text());
    reply.header("set-cookie").split(';').next().unwrap().to_owned()
}

#[tokio::test]
async fn every_api_route_except_health_needs_a_token() {
    let app = app_with_tokens().await;
    let document = app.contract().0.clone();
    let mut operations = 0;
    for (path, item) in document["paths"].as_object().unwrap() {
        let uri = path
            .replace("{video_id}", "0000000000000000")
            .replace("{job_id}", "x")
            .replace("{chunk_id}", "0");
        for method in item.as_object().unwrap().keys() {
            let method: Method = method.to_uppercase().parse().unwrap();
            let open = path == "/health";
            for headers in [vec![], vec![("x-core-token", "wrong")], vec![("x-core-token", "")]] {
                let reply = send(&app, method.clone(), &uri, &headers).await;
                assert_eq!(
                    reply.status == 401,
                    !open,
                    "{method} {uri} {headers:?}: {}",
                    reply.status
                );
                if !open {
                    mentions(&reply.error(401), &["X-Core-Token"]);
                }
            }
            for token in [TOKEN, SECOND] {
                let reply = send(&app, method.clone(), &uri, &[("x-core-token", token)]).await;
                assert_ne!(reply.status, 401, "{method} {uri}");
            }
            let declared = &item[method.as_str().to_lowercase()]["security"];
            assert_eq!(declared.is_array(), !open, "{method} {path} declares its security");
            operations += 1;
        }
    }
    assert!(operations >= 17, "{operations} operations");
    for path in ["/shared", "/shares", "/%73hared/x", "//shared/x"] {
        assert_eq!(send(&app, Method::GET, path, &[]).await.status, 401, "{path}");
    }
    for path in ["/storage", "/unknown", "/HEALTH", "/health/", "//health", "/%68ealth"] {
        assert_eq!(send(&app, Method::GET, path, &[]).await.status, 401, "{path}");
    }
    for path in ["/health", "/docs", "/redoc", "/openapi.json", "/", "/app.js", "/app.css"] {
        assert_eq!(send(&app, Method::GET, path, &[]).await.status, 200, "{path}");
    }
}

#[tokio::test]
async fn an_empty_token_is_never_accepted() {
    let app = TestApp::with(|setup| setup.http.auth.tokens = vec!["".into()]).await;
    assert_eq!(send(&app, Method::GET, "/videos", &[("x-core-token", "")]).await.status, 401);
    assert_eq!(send(&app, Method::GET, "/videos", &[]).await.status, 401);
}

#[tokio::test]
async fn without_tokens_the_api_is_open() {
    let app = TestApp::new().await;
    assert_eq!(send(&app, Method::GET, "/videos", &[]).await.status, 200);
    assert_eq!(send(&app, Method::GET, "/videos", &[("x-core-token", "any")]).await.status, 200);
    let state = send(&app, Method::GET, "/session", &[]).await.ok();
    assert_eq!(
        state,
        json!({"required": false, "authenticated": true, "read_only": false, "name": null})
    );
}

#[tokio::test]
async fn a_session_states_whether_it_only_reads() {
    let app = TestApp::with(|setup| {
        let only_reads = AuthToken { token: TOKEN.into(), access: Access::new(None, true) };
        setup.http.auth.tokens = vec![only_reads, SECOND.into()];
    })
    .await;
    for (token, read_only) in [(TOKEN, true), (SECOND, false)] {
        let reply = sign_in(&app, token, &[("origin", BASE)]).await;
        let cookie = reply.header("set-cookie").split(';').next().unwrap_or_default();
        let state = send(&app, Method::GET, "/session", &[("cookie", cookie)]).await.ok();
        assert_eq!(state["read_only"], read_only);
    }
}

#[tokio::test]
async fn a_session_cookie_replaces_the_token() {
    let app = app_with_tokens().await;
    let reply = sign_in(&app, TOKEN, &[("origin", BASE)]).await;
    let set_cookie = reply.header("set-cookie").to_owned();
    mentions(&set_cookie, &["HttpOnly", "SameSite=Strict", "Path=/", "Max-Age="]);
    assert!(!set_cookie.contains(TOKEN) && !set_cookie.contains("Secure"), "{set_cookie}");
    let cookie = cookie(&app).await;
    assert_ne!(set_cookie.split(';').next(), Some(&*cookie), "each session has its own id");

    let own = [("cookie", &*cookie), ("sec-fetch-site", "same-origin")];
    assert_eq!(send(&app, Method::GET, "/videos", &own).await.status, 200);
    for (headers, authenticated) in [(&own[..], true), (&[], false)] {
        let state = send(&app, Method::GET, "/session", headers).await.ok();
        let expected = json!({
            "required": true, "authenticated": authenticated, "read_only": false, "name": null,
        });
        assert_eq!(state, expected);
    }
    assert_eq!(send(&app, Method::GET, "/videos", &[("cookie", &cookie)]).await.status, 200);
    let foreign = [("cookie", &*cookie), ("sec-fetch-site", "cross-site")];
    assert_eq!(send(&app, Method::GET, "/videos", &foreign).await.status, 401);
    let sibling = [("cookie", &*cookie), ("sec-fetch-site", "same-site")];
    assert_eq!(send(&app, Method::GET, "/videos", &sibling).await.status, 401);
    assert_eq!(
        send(&app, Method::GET, "/videos", &[("cookie", "shotlog_session=x")]).await.status,
        401
    );

    let path = "/videos/0000000000000000";
    let write = |origin: &'static str| [("cookie", cookie.clone()), ("origin", origin.to_owned())];
    for (origin, status) in [
        (BASE, 404),
        ("http://evil.test", 403),
        ("null", 403),
        ("http://shotlog.test.evil.test", 403),
        ("http://shotlog.test:81", 403),
    ] {
        let headers = write(origin);
        let headers: Vec<_> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
        assert_eq!(send(&app, Method::DELETE, path, &headers).await.status, status, "{origin}");
    }
    assert_eq!(send(&app, Method::DELETE, path, &[("cookie", &cookie)]).await.status, 401);

    let end = [("cookie", &*cookie), ("origin", BASE)];
    let ended = send(&app, Method::DELETE, "/session", &end).await;
    assert_eq!(ended.status, 204);
    mentions(ended.header("set-cookie"), &["shotlog_session=;", "Max-Age=0"]);
}

#[tokio::test]
async fn every_route_accepts_a_bearer_token() {
    let app = app_with_tokens().await;
    let bearer = format!("Bearer {TOKEN}");
    for path in ["/videos", "/metrics", "/schema"] {
        let send =
            async |value: &str| send(&app, Method::GET, path, &[("authorization", value)]).await;
        assert_eq!(send(&bearer).await.status, 200, "{path}");
        mentions(&send("Bearer wrong").await.error(401), &["is wrong", "Bearer"]);
    }
}

#[tokio::test]
async fn a_wrong_token_opens_no_session() {
    let app = app_with_tokens().await;
    for token in ["wrong", "", "first-toke", "first-token2"] {
        let reply = sign_in(&app, token, &[]).await;
        mentions(&reply.error(401), &["token is wrong"]);
        assert_eq!(reply.header("set-cookie"), "");
    }
    let page = ("accept", "text/html,application/xhtml+xml");
    let refused = sign_in(&app, "wrong", &[page, ("origin", BASE)]).await;
    assert_eq!((refused.status, refused.header("location")), (303, "./?session=refused"));
    assert_eq!(refused.header("set-cookie"), "");
    let accepted = sign_in(&app, TOKEN, &[page, ("origin", BASE)]).await;
    assert_eq!((accepted.status, accepted.header("location")), (303, "."));
    assert_ne!(accepted.header("set-cookie"), "");
    assert_eq!(sign_in(&app, TOKEN, &[("origin", "http://evil.test")]).await.status, 403);
}

#[tokio::test]
async fn sessions_are_valid_on_every_instance_until_expiry_or_token_removal() {
    let with = async |tokens: &[&str], seconds: u64| {
        TestApp::with(|setup| {
            setup.http.auth.tokens = tokens.iter().map(|token| (*token).into()).collect();
            setup.http.auth.session_ttl = std::time::Duration::from_secs(seconds);
        })
        .await
    };
    let session = cookie(&with(&[TOKEN, SECOND], 60).await).await;
    for (tokens, seconds, status) in [
        (&[TOKEN, SECOND][..], 60, 200),
        (&[SECOND, TOKEN], 60, 200),
        (&[SECOND], 60, 401),
        (&[TOKEN], 0, 401),
    ] {
        let other = with(tokens, seconds).await;
        let reply = send(&other, Method::GET, "/videos", &[("cookie", &session)]).await;
        assert_eq!(reply.status, status, "{tokens:?}, {seconds} s");
    }
}

#[tokio::test]
async fn without_tokens_unknown_hosts_are_refused() {
    let app = TestApp::with(|setup| setup.http.server.hosts = vec!["camera-7".into()]).await;
    let id = app.video().await;
    let send_to = async |method: Method, path: &str, host: &str, origin: Option<&str>| {
        let mut request =
            poem::Request::builder().method(method).uri_str(path).header("host", host);
        if let Some(origin) = origin {
            request = request.header("origin", origin).header("sec-fetch-site", "same-origin");
        }
        app.raw(request.finish()).await
    };
    let path = format!("/videos/{id}");
    for host in ["evil.test", "evil.test:8080", "localhost.evil.test", "a@evil.test"] {
        let origin = format!("http://{host}");
        let refused = send_to(Method::DELETE, &path, host, Some(&origin)).await.error(403);
        mentions(&refused, &[host, "http.hosts", "http.base_url"]);
        for path in ["/", "/videos", "/health", "/openapi.json"] {
            send_to(Method::GET, path, host, None).await.error(403);
        }
    }
    for host in ["localhost:8080", "127.0.0.1:8080", "[::1]:8080", "shotlog.test", "camera-7:1"] {
        assert_eq!(send_to(Method::GET, &path, host, None).await.status, 200, "{host}");
    }
    let protected = app_with_tokens().await;
    let request = poem::Request::builder().uri_str("/videos").header("host", "any.test");
    let reply = protected.raw(request.header("x-core-token", TOKEN).finish()).await;
    assert_eq!(reply.status, 200, "a request with a token may name any host");
}

#[tokio::test]
async fn cookies_are_secure_behind_https() {
    let app = TestApp::with(|setup| {
        setup.http.auth.tokens = vec![TOKEN.into()];
        setup.http.base_url = "https://video.example.org/".into();
    })
    .await;
    let reply = sign_in(&app, TOKEN, &[("origin", "https://video.example.org")]).await;
    mentions(reply.header("set-cookie"), &["; Secure"]);
}

#[tokio::test]
async fn cross_site_requests_cannot_write_even_to_an_open_api() {
    let app = TestApp::new().await;
    let id = app.video().await;
    let path = format!("/videos/{id}");
    for headers in [
        vec![("origin", "http://evil.test")],
        vec![("origin", "null")],
        vec![("sec-fetch-site", "cross-site")],
    ] {
        send(&app, Method::DELETE, &path, &headers).await.error(403);
    }
    assert_eq!(app.get(&path).await.status, 200);
    let own = [("origin", BASE), ("sec-fetch-site", "same-origin")];
    assert_eq!(send(&app, Method::DELETE, &path, &own).await.status, 200);
}

#[tokio::test]
async fn the_token_is_checked_before_the_body_is_read() {
    let app = app_with_tokens().await;
    let body =
        poem::Body::from_bytes_stream(futures::stream::pending::<std::io::Result<bytes::Bytes>>());
    let request = poem::Request::builder()
        .method(Method::POST)
        .uri_str("/videos")
        .content_type("multipart/form-data; boundary=b")
        .body(body);
    app.raw(request).await.error(401);
    let denied = poem::Request::builder().method(Method::POST).uri_str("/query");
    let denied = denied.content_type("application/json").body(json!({}).to_string());
    app.raw(denied).await.error(401);
}
