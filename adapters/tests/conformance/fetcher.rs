//! Tests of the adapters of the `fetcher` port.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use futures::TryStreamExt;
use ports::ErrorKind;
use ports::conformance::fetcher::{Origin, ScriptedResponse, check, check_private_refused};
use ports::fetcher::SourceFetcher;
use shotlog_adapters::fetcher::{HttpFetcher, HttpFetcherOptions, MemoryFetcher, Response};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// A local server with one raw response per path.
#[derive(Clone)]
struct Server {
    address: SocketAddr,
    answers: Arc<Mutex<HashMap<String, Vec<u8>>>>,
}

impl Server {
    async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let server = Self { address: listener.local_addr().unwrap(), answers: Arc::default() };
        let accepting = server.clone();
        tokio::spawn(async move {
            while let Ok((connection, _)) = listener.accept().await {
                tokio::spawn(accepting.clone().answer(connection));
            }
        });
        server
    }

    async fn answer(self, mut connection: TcpStream) {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            match connection.read_u8().await {
                Ok(byte) => head.push(byte),
                Err(_) => return,
            }
        }
        let head = String::from_utf8_lossy(&head).to_lowercase();
        assert!(head.contains("accept-encoding: identity"), "{head}");
        assert!(!head.contains("referer"), "{head}");
        let target = head.split(' ').nth(1).unwrap_or_default();
        let path = target.split('?').next().unwrap_or_default();
        let answer = self.answers.lock().unwrap().get(path).cloned();
        let missing = b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
        let _ = connection.write_all(&answer.unwrap_or_else(|| missing.to_vec())).await;
    }

    /// Sets the raw response for `path`, including the head. Returns the URL.
    fn raw(&self, path: &str, answer: Vec<u8>) -> String {
        self.answers.lock().unwrap().insert(path.into(), answer);
        format!("http://{}{path}", self.address)
    }
}

#[async_trait]
impl Origin for Server {
    async fn serve(&self, path: &str, answer: ScriptedResponse) -> String {
        let body = answer.body.concat();
        let mut head = format!("HTTP/1.1 {} Scripted\r\nconnection: close\r\n", answer.status);
        for (name, value) in &answer.headers {
            head += &format!("{name}: {value}\r\n");
        }
        if !answer.headers.iter().any(|(name, _)| name == "content-length") {
            head += &format!("content-length: {}\r\n", body.len());
        }
        self.raw(path, [head.as_bytes(), b"\r\n", &body].concat())
    }
}

struct Script(Arc<MemoryFetcher>);

#[async_trait]
impl Origin for Script {
    async fn serve(&self, path: &str, mut answer: ScriptedResponse) -> String {
        if !answer.headers.iter().any(|(name, _)| name == "content-length") {
            let length = answer.body.concat().len();
            answer.headers.push(("content-length".into(), length.to_string()));
        }
        let url = format!("http://origin.test{path}");
        let ScriptedResponse { status, headers, body } = answer;
        self.0.respond(&url, Response { status, headers, body });
        url
    }
}

fn http(allow_private: bool) -> Arc<dyn SourceFetcher> {
    let options = HttpFetcherOptions { allow_private, ..Default::default() };
    Arc::new(HttpFetcher::new(options).unwrap())
}

#[tokio::test]
async fn memory() {
    let fetcher = Arc::new(MemoryFetcher::new(false));
    check(fetcher.clone(), &Script(fetcher.clone())).await;
    check_private_refused(fetcher).await;
}

#[tokio::test]
async fn over_http() {
    check(http(true), &Server::start().await).await;
    check_private_refused(http(false)).await;
}

#[tokio::test]
async fn private_origin_is_rejected_by_default() {
    let server = Server::start().await;
    let url = server.raw("/", b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n".to_vec());
    assert!(!HttpFetcherOptions::default().allow_private);
    let error = http(false).fetch(&url).await.err().expect("is refused");
    assert_eq!(error.kind(), ErrorKind::Denied);
    assert_eq!(
        error.to_string(),
        "refusing to fetch from 127.0.0.1: not a public address (set fetch.allow_private = true \
         on a trusted network)"
    );
    http(true).fetch(&url).await.expect("is allowed on a trusted network");
}

#[tokio::test]
async fn truncated_chunked_body_is_an_error() {
    let server = Server::start().await;
    let head = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
    let whole = server.raw("/whole", format!("{head}3\r\nabc\r\n0\r\n\r\n").into_bytes());
    let fetched = http(true).fetch(&whole).await.unwrap();
    assert_eq!(fetched.length, None);
    let blocks: Vec<_> = fetched.body.try_collect().await.unwrap();
    assert_eq!(blocks.concat(), b"abc");

    let cut = server.raw("/cut", format!("{head}3\r\nabc\r\n5\r\nde").into_bytes());
    let fetched = http(true).fetch(&cut).await.unwrap();
    let error = fetched.body.try_collect::<Vec<_>>().await.expect_err("is cut off");
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
}

#[tokio::test]
async fn encoded_body_is_not_decoded() {
    let server = Server::start().await;
    let head = "HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 4\r\n\r\n";
    let url = server.raw("/gzip", [head.as_bytes(), b"\x1f\x8b\x08\x00"].concat());
    let fetched = http(true).fetch(&url).await.unwrap();
    assert_eq!(fetched.length, Some(4));
    assert_eq!(fetched.body.try_collect::<Vec<_>>().await.unwrap().concat(), b"\x1f\x8b\x08\x00");
}

#[tokio::test]
async fn non_http_server_is_unavailable() {
    let server = Server::start().await;
    for (path, answer) in [
        ("/ssh", b"SSH-2.0-OpenSSH_9.2\r\n".to_vec()),
        ("/nothing", Vec::new()),
        ("/endless", [b"HTTP/1.1 200 OK\r\n".to_vec(), b"x: y\r\n".repeat(200_000)].concat()),
    ] {
        let url = server.raw(path, answer);
        let error = http(true).fetch(&url).await.err().expect("is no http");
        assert_eq!(error.kind(), ErrorKind::Unavailable, "{path}: {error}");
    }
}
