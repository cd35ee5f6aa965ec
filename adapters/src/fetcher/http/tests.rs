//! Tests that need a controlled network, with names that resolve to private addresses, DNS answers
//! that change between lookups, and servers that break off responses.

use std::collections::VecDeque;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures::{FutureExt, TryStreamExt};
use parking_lot::Mutex;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::*;
use crate::fetcher::address::is_public;
use crate::fetcher::client::causes;

const PUBLIC_HERE: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 2);
const PRIVATE: Ipv4Addr = Ipv4Addr::LOCALHOST;

/// A server that counts its connections and sends one scripted response on each.
struct Server {
    address: SocketAddr,
    connections: Arc<AtomicUsize>,
    /// The heads of the requests received so far.
    requests: Arc<Mutex<Vec<String>>>,
}

async fn server(ip: Ipv4Addr, port: u16, responses: Vec<String>) -> Server {
    let listener = TcpListener::bind((ip, port)).await.expect("a free port");
    let address = listener.local_addr().expect("its address");
    let connections = Arc::new(AtomicUsize::new(0));
    let counted = connections.clone();
    let requests = Arc::<Mutex<Vec<String>>>::default();
    let log = requests.clone();
    tokio::spawn(async move {
        let mut responses = VecDeque::from(responses);
        while let Ok((connection, _)) = listener.accept().await {
            counted.fetch_add(1, Ordering::SeqCst);
            let Some(response) = responses.pop_front() else { continue };
            tokio::spawn(answer(connection, response, log.clone()));
        }
    });
    Server { address, connections, requests }
}

async fn answer(mut connection: TcpStream, response: String, log: Arc<Mutex<Vec<String>>>) {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        match connection.read_u8().await {
            Ok(byte) => head.push(byte),
            Err(_) => return,
        }
    }
    log.lock().push(String::from_utf8_lossy(&head).to_lowercase());
    let stalls = response.ends_with("STALL");
    let response = response.trim_end_matches("STALL");
    let _ = connection.write_all(response.as_bytes()).await;
    if stalls {
        // Waits until the client gives up.
        let _ = connection.read_u8().await;
    }
}

fn redirect_to(url: &str) -> String {
    format!(
        "HTTP/1.1 302 Found\r\nlocation: {url}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
    )
}

fn ok(body: &str) -> String {
    format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}", body.len())
}

/// Returns a network and its number of lookups. The network returns `answers` in turn and then
/// repeats the last answer.
fn network(answers: &[&[Ipv4Addr]]) -> (HostNetwork, Arc<AtomicUsize>) {
    let mut answers: VecDeque<Vec<SocketAddr>> = answers
        .iter()
        .map(|ips| ips.iter().map(|ip| SocketAddr::from((*ip, 0))).collect())
        .collect();
    let last = answers.back().cloned().unwrap_or_default();
    answers.pop_back();
    let answers = Mutex::new(answers);
    let lookups = Arc::new(AtomicUsize::new(0));
    let counted = lookups.clone();
    let lookup = move |_| {
        counted.fetch_add(1, Ordering::SeqCst);
        let next = answers.lock().pop_front().unwrap_or_else(|| last.clone());
        async move { Ok(next) }.boxed()
    };
    let is_public = |ip| ip == IpAddr::from(PUBLIC_HERE) || is_public(ip);
    (HostNetwork { lookup: Arc::new(lookup), is_public }, lookups)
}

fn options() -> HttpFetcherOptions {
    HttpFetcherOptions { max_redirects: 3, ..Default::default() }
}

async fn text(fetched: FetchResponse) -> Result<String> {
    let blocks: Vec<_> = fetched.body.try_collect().await?;
    Ok(String::from_utf8(blocks.concat()).expect("text"))
}

async fn refusal(fetcher: &HttpFetcher, url: &str) -> String {
    let error = fetcher.fetch(url).await.err().expect("is refused");
    assert_eq!(error.kind(), ErrorKind::Denied, "{error}");
    error.to_string()
}

#[tokio::test]
async fn name_of_a_private_address_is_rejected() {
    let inside = server(PRIVATE, 0, vec![ok("secret")]).await;
    let (network, lookups) = network(&[&[PRIVATE]]);
    let fetcher = HttpFetcher::on(network, options()).expect("a fetcher");
    let url = format!("http://user:secret@rebind.example:{}/x", inside.address.port());
    assert_eq!(
        refusal(&fetcher, &url).await,
        "refusing to fetch from rebind.example: not a public address (set fetch.allow_private = true \
         on a trusted network)"
    );
    assert_eq!(lookups.load(Ordering::SeqCst), 1);
    assert_eq!(inside.connections.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn only_public_addresses_are_connected() {
    let inside = server(PRIVATE, 0, vec![ok("secret")]).await;
    let port = inside.address.port();
    let outside = server(PUBLIC_HERE, port, vec![ok("public")]).await;
    let (network, _) = network(&[&[PRIVATE, PUBLIC_HERE]]);
    let fetcher = HttpFetcher::on(network, options()).expect("a fetcher");
    let url = format!("http://both.example:{port}/");
    assert_eq!(text(fetcher.fetch(&url).await.expect("answers")).await.expect("text"), "public");
    assert_eq!(outside.connections.load(Ordering::SeqCst), 1);
    assert_eq!(inside.connections.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn dns_rebinding_is_rejected() {
    let inside = server(PRIVATE, 0, vec![ok("secret")]).await;
    let port = inside.address.port();
    let url = format!("http://rebind.example:{port}/");
    let outside = server(PUBLIC_HERE, port, vec![redirect_to(&url)]).await;
    let (network, lookups) = network(&[&[PUBLIC_HERE], &[PRIVATE]]);
    let fetcher = HttpFetcher::on(network, options()).expect("a fetcher");
    let refusal = refusal(&fetcher, &url).await;
    assert!(refusal.contains("rebind.example") && !refusal.contains("127.0.0.1"), "{refusal}");
    // There is one lookup per connection, so the address cannot change between its check and its
    // use.
    assert_eq!(lookups.load(Ordering::SeqCst), 2);
    assert_eq!(outside.connections.load(Ordering::SeqCst), 1);
    assert_eq!(inside.connections.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn redirect_to_a_private_address_is_rejected() {
    let inside = server(PRIVATE, 0, vec![ok("secret")]).await;
    let port = inside.address.port();
    let targets = [
        format!("http://127.0.0.1:{port}/"),
        format!("http://2130706433:{port}/"),
        format!("http://0x7f.1:{port}/"),
        format!("http://[::ffff:127.0.0.1]:{port}/"),
        format!("http://localhost:{port}/"),
        "http://169.254.169.254/latest/meta-data/".into(),
        "//10.0.0.1/x".into(),
    ];
    let responses = targets.iter().map(|target| redirect_to(target)).collect();
    let outside = server(PUBLIC_HERE, 0, responses).await;
    let (network, _) = network(&[&[PUBLIC_HERE]]);
    let fetcher = HttpFetcher::on(network, options()).expect("a fetcher");
    let url = format!("http://public.example:{}/", outside.address.port());
    for target in &targets {
        let refusal = refusal(&fetcher, &url).await;
        assert!(refusal.contains("not a public address"), "{target}: {refusal}");
    }
    assert_eq!(outside.connections.load(Ordering::SeqCst), targets.len());
    assert_eq!(inside.connections.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn redirects_are_limited() {
    let (network, _) = network(&[&[PUBLIC_HERE]]);
    let fetcher = HttpFetcher::on(network, options()).expect("a fetcher");
    let around = server(PUBLIC_HERE, 0, vec![redirect_to("/again"); 10]).await;
    let url = format!("http://public.example:{}/", around.address.port());
    let error = fetcher.fetch(&url).await.err().expect("does not end");
    assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
    assert!(error.to_string().contains("more than 3 times"), "{error}");
    assert_eq!(around.connections.load(Ordering::SeqCst), 4);

    let away = server(PUBLIC_HERE, 0, vec![redirect_to("file:///etc/passwd")]).await;
    let url = format!("http://public.example:{}/", away.address.port());
    let error = fetcher.fetch(&url).await.err().expect("is no http");
    assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
}

#[tokio::test]
async fn silence_is_a_timeout() {
    let silent = [
        "STALL".to_owned(),
        "HTTP/1.1 200 OK\r\ncontent-le".to_owned() + "STALL",
        "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf a bodySTALL".to_owned(),
    ];
    let short = Duration::from_millis(200);
    let long = Duration::from_secs(600);
    for (read_timeout, total_timeout) in [(short, long), (long, short)] {
        let server = server(PUBLIC_HERE, 0, silent.to_vec()).await;
        let (network, _) = network(&[&[PUBLIC_HERE]]);
        let options = HttpFetcherOptions { read_timeout, total_timeout, ..options() };
        let fetcher = HttpFetcher::on(network, options).expect("a fetcher");
        let url = format!("http://public.example:{}/", server.address.port());
        for _ in 0..2 {
            let error = fetcher.fetch(&url).await.err().expect("never answers");
            assert_eq!(error.kind(), ErrorKind::Timeout, "{error}");
        }
        let mut body = fetcher.fetch(&url).await.expect("has a head").body;
        assert_eq!(body.try_next().await.expect("a block").as_deref(), Some(&b"half a body"[..]));
        let error = body.try_next().await.expect_err("never ends");
        assert_eq!(error.kind(), ErrorKind::Timeout, "{error}");
        assert!(body.try_next().await.expect("has ended").is_none());
    }
}

/// A response with the first bytes of "hello world", followed by `end`.
fn begun(etag: &str, end: &str) -> String {
    format!(
        "HTTP/1.1 200 OK\r\ncontent-length: 11\r\naccept-ranges: bytes\r\netag: {etag}\r\n\r\nhello{end}"
    )
}

fn rest(from: usize, body: &str) -> String {
    format!(
        "HTTP/1.1 206 Partial Content\r\ncontent-length: {}\r\ncontent-range: bytes {from}-10/11\r\n\
         connection: close\r\n\r\n{body}",
        11 - from
    )
}

#[tokio::test]
async fn interrupted_body_is_resumed() {
    let busy = "HTTP/1.1 503 Busy\r\ncontent-length: 0\r\nconnection: close\r\n\r\n".to_owned();
    for (answers, ranges) in [
        (vec![begun("\"v1\"", "STALL"), rest(5, " world")], vec!["bytes=5-"]),
        (vec![begun("\"v1\"", ""), rest(5, " wo"), rest(8, "rld")], vec!["bytes=5-", "bytes=8-"]),
        (vec![begun("\"v1\"", ""), busy, rest(5, " world")], vec!["bytes=5-", "bytes=5-"]),
    ] {
        let server = server(PUBLIC_HERE, 0, answers).await;
        let (network, _) = network(&[&[PUBLIC_HERE]]);
        let options = HttpFetcherOptions {
            read_timeout: Duration::from_millis(200),
            max_resumes: 2,
            ..options()
        };
        let fetcher = HttpFetcher::on(network, options).expect("a fetcher");
        let url = format!("http://public.example:{}/", server.address.port());
        let fetched = fetcher.fetch(&url).await.expect("has a head");
        assert_eq!(text(fetched).await.expect("arrives"), "hello world");
        let requests = server.requests.lock().clone();
        assert_eq!(requests.len(), 1 + ranges.len());
        for (request, range) in requests[1..].iter().zip(&ranges) {
            assert!(request.contains(&format!("range: {range}\r\n")), "{request}");
            assert!(request.contains("if-range: \"v1\"\r\n"), "{request}");
            assert!(request.contains("accept-encoding: identity\r\n"), "{request}");
        }
    }
}

#[tokio::test]
async fn body_is_not_resumed_with_another_file() {
    let changed = ok("other bytes");
    for (answers, connections) in [
        // The ETag is weak, or the server does not announce support for ranges.
        (vec![begun("W/\"v1\"", "")], 1),
        (vec!["HTTP/1.1 200 OK\r\ncontent-length: 11\r\netag: \"v1\"\r\n\r\nhello".into()], 1),
        // The file has changed, or the range is wrong.
        (vec![begun("\"v1\"", ""), changed], 2),
        (vec![begun("\"v1\"", ""), rest(4, "o world")], 2),
        // There are more interruptions than `max_resumes` allows.
        (vec![begun("\"v1\"", ""), rest(5, " "), rest(6, "w"), rest(7, "orld")], 3),
    ] {
        let server = server(PUBLIC_HERE, 0, answers).await;
        let (network, _) = network(&[&[PUBLIC_HERE]]);
        let fetcher = HttpFetcher::on(network, HttpFetcherOptions { max_resumes: 2, ..options() })
            .expect("a fetcher");
        let url = format!("http://public.example:{}/", server.address.port());
        let error = text(fetcher.fetch(&url).await.expect("has a head")).await.expect_err("ends");
        assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
        assert!(error.to_string().contains("of 11 bytes"), "{error}");
        assert_eq!(server.connections.load(Ordering::SeqCst), connections);
    }
}

#[tokio::test]
async fn unknown_host_is_unavailable_and_errors_hide_secrets() {
    let (mut network, _) = network(&[&[]]);
    network.lookup = Arc::new(|_| async { Err(io::Error::other("no such host")) }.boxed());
    let fetcher = HttpFetcher::on(network, options()).expect("a fetcher");
    let url = "http://user:secret@nowhere.example/x?signature=secret";
    let error = fetcher.fetch(url).await.err().expect("is not there");
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    let chain = causes(&error).map(|e| format!("{e} {e:?}")).collect::<String>();
    assert!(chain.contains("no such host") && !chain.contains("secret"), "{chain}");

    // A port without a listener.
    let listener = TcpListener::bind((PUBLIC_HERE, 0)).await.expect("a free port");
    let url =
        format!("http://user:secret@gone.example:{}/", listener.local_addr().expect("one").port());
    drop(listener);
    let (network, _) = self::network(&[&[PUBLIC_HERE]]);
    let fetcher = HttpFetcher::on(network, options()).expect("a fetcher");
    let error = fetcher.fetch(&url).await.err().expect("is closed");
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert!(!format!("{error} {error:?}").contains("secret"), "{error:?}");
}
