//! The suite for adapters of the `fetcher` port.

use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use futures::TryStreamExt;

use super::storage::refused;
use crate::ErrorKind;
use crate::fetcher::{FetchResponse, SourceFetcher};

/// A scripted HTTP response.
#[derive(Debug, Clone)]
pub struct ScriptedResponse {
    /// HTTP status.
    pub status: u16,
    /// Headers to send unchanged. If `content-length` is missing, the origin adds the correct
    /// value.
    pub headers: Vec<(String, String)>,
    /// The blocks of the body. If they add up to less than `content-length`, the connection breaks
    /// off.
    pub body: Vec<Bytes>,
}

/// The source of scripted responses: a local server or the script of an in-memory adapter.
#[async_trait]
pub trait Origin: Send + Sync {
    /// Starts to serve `answer` at `path` (such as `/clip.mp4`) and returns the URL.
    async fn serve(&self, path: &str, answer: ScriptedResponse) -> String;
}

/// Checks a fetcher that may reach the origin, including private addresses.
pub async fn check(fetcher: Arc<dyn SourceFetcher>, origin: &dyn Origin) {
    let fetcher = &*fetcher;
    non_http_urls_are_invalid(fetcher).await;
    reads_bodies(fetcher, origin).await;
    reads_heads(fetcher, origin).await;
    statuses_map_to_error_kinds(fetcher, origin).await;
    truncated_body_is_an_error(fetcher, origin).await;
    follows_redirects(fetcher, origin).await;
}

/// Checks that a fetcher refuses private addresses without connecting to them.
pub async fn check_private_refused(fetcher: Arc<dyn SourceFetcher>) {
    non_http_urls_are_invalid(&*fetcher).await;
    for host in [
        "127.0.0.1",
        "127.1",
        "2130706433",
        "0x7f000001",
        "0177.0.0.1",
        "0.0.0.0",
        "10.0.0.1",
        "172.16.0.1",
        "192.168.1.1",
        "169.254.169.254",
        "100.64.0.1",
        "198.18.0.1",
        "224.0.0.1",
        "255.255.255.255",
        "[::1]",
        "[::]",
        "[::ffff:127.0.0.1]",
        "[::ffff:a00:1]",
        "[fe80::1]",
        "[fd00::1]",
        "[64:ff9b::10.0.0.1]",
        "[2002:7f00:1::]",
        "localhost",
        "x.localhost.",
    ] {
        let url = format!("http://user:secret@{host}:9/clip.mp4");
        let error = fetcher.fetch(&url).await.err().expect("a private address is refused");
        assert_eq!(error.kind(), ErrorKind::Denied, "{url}: {error}");
        let message = error.to_string();
        assert!(message.starts_with("refusing to fetch from "), "{url}: {message}");
        assert!(message.contains("fetch.allow_private"), "{url}: {message} says what to do");
        assert!(!format!("{error:?}").contains("secret"), "{url}: {error:?} shows a password");
    }
}

async fn non_http_urls_are_invalid(fetcher: &dyn SourceFetcher) {
    for url in [
        "",
        "clip.mp4",
        "/etc/passwd",
        "file:///etc/passwd",
        "ftp://example.com/clip.mp4",
        "data:video/mp4,x",
        "http://",
        "https://[bad",
        "javascript:alert(1)",
        "gopher://example.com/",
        "http://user:secret@exa mple.com/",
    ] {
        let fetched = fetcher.fetch(url).await;
        if let Err(e) = &fetched {
            assert!(!format!("{e} {e:?}").contains("secret"), "{e:?} shows a password");
        }
        refused(fetched, ErrorKind::Invalid, &format!("fetch {url:?}"));
    }
}

async fn reads_bodies(fetcher: &dyn SourceFetcher, origin: &dyn Origin) {
    let large: Vec<Bytes> = (0..50u8).map(|n| Bytes::from(vec![n; 70_001])).collect();
    let bodies =
        [vec![], vec![Bytes::from("x")], vec!["a".into(), Bytes::new(), "b".into()], large];
    for (n, body) in bodies.into_iter().enumerate() {
        let url = origin.serve(&format!("/body-{n}"), ok(&[], body.clone())).await;
        let fetched = fetcher.fetch(&url).await.expect("answers");
        let expected = body.concat();
        assert_eq!(fetched.length, Some(expected.len() as u64));
        assert!(read(fetched).await == expected, "body {n} must arrive as it was sent");
    }
}

async fn reads_heads(fetcher: &dyn SourceFetcher, origin: &dyn Origin) {
    let cases = [
        (vec![], None, None),
        (vec![("content-type", "video/mp4")], Some("video/mp4"), None),
        (vec![("Content-Type", "Text/HTML; charset=UTF-8")], Some("text/html"), None),
        (
            vec![("content-disposition", "attachment; filename=\"a clip.mp4\"")],
            None,
            Some("a clip.mp4"),
        ),
        (
            vec![("content-disposition", "inline; filename=x.mp4; filename*=UTF-8''%E2%82%AC.mp4")],
            None,
            Some("€.mp4"),
        ),
        (
            vec![("content-disposition", "attachment; filename=\"../../etc/passwd\"")],
            None,
            Some("../../etc/passwd"),
        ),
        (vec![("content-disposition", "attachment")], None, None),
    ];
    for (n, (headers, content_type, filename)) in cases.into_iter().enumerate() {
        let url = origin.serve(&format!("/head-{n}"), ok(&headers, vec!["<html>".into()])).await;
        let fetched = fetcher.fetch(&url).await.expect("answers");
        assert_eq!(fetched.content_type.as_deref(), content_type, "{headers:?}");
        assert_eq!(fetched.filename.as_deref(), filename, "{headers:?}");
        assert_eq!(read(fetched).await, b"<html>");
    }
}

async fn statuses_map_to_error_kinds(fetcher: &dyn SourceFetcher, origin: &dyn Origin) {
    use ErrorKind::{Denied, Invalid, NotFound, Unavailable};
    for (status, kind) in [
        (404, NotFound),
        (410, NotFound),
        (401, Denied),
        (403, Denied),
        (429, Unavailable),
        (500, Unavailable),
        (502, Unavailable),
        (503, Unavailable),
        (400, Invalid),
        (405, Invalid),
        (418, Invalid),
        (304, Invalid),
        (302, Invalid),
    ] {
        let answer = ScriptedResponse { status, ..ok(&[], vec![]) };
        let url = origin.serve(&format!("/status-{status}"), answer).await;
        let url = url.replace("://", "://user:secret@") + "?signature=secret";
        let error = fetcher.fetch(&url).await.err().expect("is an error");
        assert_eq!(error.kind(), kind, "{status}: {error}");
        let message = error.to_string();
        assert!(message.contains(&status.to_string()), "{message:?} names the status {status}");
        assert!(!format!("{error} {error:?}").contains("secret"), "{error:?} shows a password");
    }
    for status in [200, 206] {
        let answer = ScriptedResponse { status, ..ok(&[], vec!["x".into()]) };
        let url = origin.serve(&format!("/status-{status}"), answer).await;
        assert_eq!(read(fetcher.fetch(&url).await.expect("is success")).await, b"x");
    }
}

async fn truncated_body_is_an_error(fetcher: &dyn SourceFetcher, origin: &dyn Origin) {
    for sent in [vec![], vec![Bytes::from(vec![1; 99_999])]] {
        let answer = ok(&[("content-length", "100000")], sent.clone());
        let url = origin.serve(&format!("/cut-{}", sent.len()), answer).await;
        let fetched = fetcher.fetch(&url).await.expect("has a head");
        assert_eq!(fetched.length, Some(100_000));
        let (mut body, mut received) = (fetched.body, 0);
        let error = loop {
            match body.try_next().await {
                Ok(Some(block)) => received += block.len(),
                Ok(None) => panic!("a body that is cut off must end with an error"),
                Err(e) => break e,
            }
        };
        assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
        assert!(error.to_string().contains("of 100000 bytes"), "{error} says how much");
        assert!(received <= sent.concat().len());
        assert!(body.try_next().await.unwrap().is_none(), "an error ends the body");
    }
}

async fn follows_redirects(fetcher: &dyn SourceFetcher, origin: &dyn Origin) {
    let end = origin.serve("/redirect/end.mp4", ok(&[], vec!["end".into()])).await;
    let to = |location: &str, status| ScriptedResponse {
        status,
        ..ok(&[("location", location)], vec![])
    };
    for (status, location) in [
        (301, "end.mp4"),
        (302, "/redirect/end.mp4"),
        (303, &*end),
        (307, "./end.mp4#x"),
        (308, "../redirect/end.mp4"),
    ] {
        let url = origin.serve(&format!("/redirect/{status}"), to(location, status)).await;
        let fetched = fetcher.fetch(&url).await.expect("is followed");
        assert!(fetched.url.ends_with("/redirect/end.mp4"), "{}", fetched.url);
        assert_eq!(read(fetched).await, b"end");
    }
    let around = origin.serve("/redirect/around", to("/redirect/around", 302)).await;
    refused(fetcher.fetch(&around).await, ErrorKind::Invalid, "a redirect loop");
    let away = origin.serve("/redirect/away", to("file:///etc/passwd", 302)).await;
    refused(fetcher.fetch(&away).await, ErrorKind::Invalid, "a redirect to a file");
    let gone = origin.serve("/redirect/gone", to("/nothing-is-here", 302)).await;
    refused(fetcher.fetch(&gone).await, ErrorKind::NotFound, "a redirect to nothing");
}

fn ok(headers: &[(&str, &str)], body: Vec<Bytes>) -> ScriptedResponse {
    let headers = headers.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
    ScriptedResponse { status: 200, headers, body }
}

async fn read(fetched: FetchResponse) -> Vec<u8> {
    let blocks: Vec<Bytes> = fetched.body.try_collect().await.expect("the body arrives");
    blocks.concat()
}
