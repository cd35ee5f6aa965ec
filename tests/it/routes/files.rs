//! HEAD, ranges and conditions (RFC 9110, sections 9.3.2, 13 and 14) over the routes that serve files.

use poem::http::Method;
use serde_json::json;

use crate::support::{Reply, TestApp};

/// A route, whether its files have an entity tag, and whether it serves ranges.
const ROUTES: [(&str, bool, bool); 9] = [
    ("/storage/ID/clip.mp4", true, true),
    ("/videos/ID/clip?start=0&end=1", true, true),
    ("/videos/ID/frames?t=1", false, false),
    ("/videos/ID/storyboard.jpg", false, false),
    ("/videos/ID/export?format=csv", false, false),
    ("/shared/SHARE", false, false),
    ("/shared/SHARE/clip.mp4", true, true),
    ("/shared/SHARE/poster.jpg", false, false),
    ("/shared/SHARE/captions.vtt", false, false),
];

async fn send(app: &TestApp, method: Method, path: &str, headers: &[(&str, &str)]) -> Reply {
    let request = app.request(method, path);
    let add =
        |request: poem::RequestBuilder, (name, value): &(&str, &str)| request.header(*name, *value);
    app.raw(headers.iter().fold(request, add).finish()).await
}

#[tokio::test]
async fn file_routes_handle_head_ranges_and_conditions_alike() {
    let app = TestApp::new().await;
    let id = app.video().await;
    let share = app.post_json(&format!("/videos/{id}/shares"), json!({"end": 1})).await.json();
    for (path, tagged, ranges) in ROUTES {
        let path = path.replace("ID", &id);
        let path = path.replace("SHARE", share["share_id"].as_str().expect("an id"));
        let whole = send(&app, Method::GET, &path, &[]).await;
        assert_eq!(whole.status, 200, "{path}: {}", whole.text());
        let etag = whole.header("etag").to_owned();
        assert_eq!(!etag.is_empty(), tagged, "{path}");
        assert_eq!(whole.header("accept-ranges") == "bytes", ranges, "{path}");

        let head = send(&app, Method::HEAD, &path, &[]).await;
        assert_eq!((head.status, head.body.len()), (200, 0), "{path}");
        for name in
            ["content-type", "content-disposition", "content-length", "etag", "accept-ranges"]
        {
            assert_eq!(head.header(name), whole.header(name), "{path} {name}");
        }

        let (other, weak) = ("\"other\"", format!("W/{etag}"));
        let part = ("range", "bytes=1-2");
        let beyond = ("range", "bytes=99999999-");
        let later = "Fri, 01 Jan 2100 00:00:00 GMT";
        // Expected statuses for routes with an entity tag and ranges; otherwise 200.
        for (headers, get, head) in [
            (vec![part], 206, 200),
            (vec![beyond], 416, 200),
            (vec![("range", "bytes=2-1")], 200, 200),
            (vec![("range", "bytes=0-1,4-5")], 200, 200),
            (vec![("range", "lines=0-1")], 200, 200),
            (vec![("if-none-match", &*etag)], 304, 304),
            (vec![("if-none-match", &*weak)], 304, 304),
            (vec![("if-none-match", "*")], 304, 304),
            (vec![("if-none-match", other)], 200, 200),
            (vec![("if-match", &*etag)], 200, 200),
            (vec![("if-match", "*")], 200, 200),
            (vec![("if-match", other)], 412, 412),
            (vec![("if-match", &*weak)], 412, 412),
            (vec![("if-match", other), part], 412, 412),
            (vec![("if-none-match", &*etag), part], 304, 304),
            (vec![("if-range", &*etag), part], 206, 200),
            (vec![("if-range", other), part], 200, 200),
            (vec![("if-range", &*weak), part], 200, 200),
            (vec![("if-range", later), part], 200, 200),
            // Modification times are unknown, so conditions on them are ignored.
            (vec![("if-modified-since", later)], 200, 200),
            (vec![("if-unmodified-since", "Sat, 01 Jan 2000 00:00:00 GMT")], 200, 200),
        ] {
            for (method, expected) in [(Method::GET, get), (Method::HEAD, head)] {
                let expected = match expected {
                    206 | 416 if !ranges => 200,
                    304 | 412 if !tagged => 200,
                    expected => expected,
                };
                let reply = send(&app, method.clone(), &path, &headers).await;
                assert_eq!(reply.status, expected, "{method} {path} {headers:?}");
                let body: &[u8] = match (expected, &method) {
                    (200, &Method::GET) => &whole.body,
                    (206, _) => &whole.body[1..3],
                    // The error text, which HEAD omits.
                    (416 | 412, _) => &reply.body,
                    _ => b"",
                };
                assert!(reply.body == body, "{method} {path} {headers:?}");
                if expected == 304 {
                    assert_eq!(reply.header("etag"), etag, "{method} {path}");
                }
                let total = whole.body.len();
                let range = match expected {
                    206 => format!("bytes 1-2/{total}"),
                    416 => format!("bytes */{total}"),
                    _ => String::new(),
                };
                assert_eq!(reply.header("content-range"), range, "{method} {path} {headers:?}");
            }
        }
    }
}
