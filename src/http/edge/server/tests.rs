use std::sync::Arc;
use std::time::Duration;

use poem::{Body, EndpointExt, Request, Response};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::Semaphore;

use super::*;

const SHORT: Duration = Duration::from_millis(30);
const GET: &[u8] = b"GET /a HTTP/1.1\r\nHost: a\r\n\r\n";

/// Blocks requests to `/wait` until permits are added.
type Gate = Arc<Semaphore>;

fn long_timeouts() -> HttpSettings {
    let long = Duration::from_secs(600);
    HttpSettings {
        header_timeout: long,
        idle_timeout: long,
        send_timeout: long,
        max_connections: 8,
        ..HttpSettings::default()
    }
}

/// Serves an app that echoes request bodies at `/echo` and the path at unknown paths.
async fn serve_echo(settings: HttpSettings) -> (SocketAddr, Gate) {
    let gate = Gate::new(Semaphore::new(0));
    let waits = gate.clone();
    let app = poem::endpoint::make(move |request: Request| {
        let gate = waits.clone();
        async move {
            let path = request.uri().path().to_owned();
            match path.as_str() {
                "/wait" => drop(gate.acquire().await),
                "/echo" => {
                    let body = request.into_body().into_vec().await.unwrap_or_default();
                    return Response::builder().body(body);
                }
                "/json" => return json("application/json", 100),
                "/json/small" => return json("application/json", 1),
                "/json/part" => {
                    let mut part = json("application/json", 100);
                    part.headers_mut()
                        .insert("content-range", "bytes 0-9/1000".parse().expect("one"));
                    return part;
                }
                "/events" => return json("text/event-stream", 100),
                "/media" => return json("video/mp4", 100),
                "/endless" => {
                    let block = || Ok::<_, io::Error>(bytes::Bytes::from(vec![0; 64 << 10]));
                    let blocks = futures::stream::repeat_with(block);
                    return Response::builder().body(Body::from_bytes_stream(blocks));
                }
                _ => {}
            }
            Response::builder().body(path)
        }
    });
    let listener = listen("127.0.0.1:0").await.expect("a listener");
    let address = listener.local_addr().expect("an address");
    let app = app.map_to_response().boxed();
    tokio::spawn(async move { serve(listener, app, &settings, std::future::pending()).await });
    (address, gate)
}

/// Returns a response with content type `kind`. Its body is a JSON list of numbers with a size of
/// about `hundreds` × 100 bytes.
fn json(kind: &str, hundreds: usize) -> Response {
    let text = format!("[{}1]", "1234567890,".repeat(9 * hundreds));
    Response::builder().content_type(kind).body(text)
}

async fn connect(address: SocketAddr) -> TcpStream {
    TcpStream::connect(address).await.expect("a connection")
}

/// Reads until the connection ends.
async fn read_to_end(socket: &mut TcpStream) -> String {
    let mut text = Vec::new();
    // A connection reset also counts as the end.
    let _ = socket.read_to_end(&mut text).await;
    String::from_utf8_lossy(&text).into_owned()
}

/// Reads a response up to `end`, with which its body ends.
async fn read_response(socket: &mut TcpStream, end: &str) -> String {
    let mut text = String::new();
    while !text.ends_with(end) {
        let mut block = [0; 1024];
        let count = socket.read(&mut block).await.expect("an answer");
        assert!(count > 0, "the connection ended after {text:?}");
        text.push_str(&String::from_utf8_lossy(&block[..count]));
    }
    text
}

/// Requests `path` on a new connection.
async fn get(address: SocketAddr, path: &str) -> String {
    let mut socket = connect(address).await;
    let head = format!("GET {path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    socket.write_all(head.as_bytes()).await.expect("sent");
    read_to_end(&mut socket).await
}

#[tokio::test]
async fn silent_connections_are_closed() {
    let (address, _) = serve_echo(HttpSettings { header_timeout: SHORT, ..long_timeouts() }).await;
    assert_eq!(read_to_end(&mut connect(address).await).await, "");
}

#[tokio::test]
async fn slow_request_heads_get_408() {
    let (address, _) = serve_echo(HttpSettings { header_timeout: SHORT, ..long_timeouts() }).await;
    let (mut from, mut to) = connect(address).await.into_split();
    let dripping = tokio::spawn(async move {
        to.write_all(b"GET /a HTTP/1.1\r\n").await?;
        loop {
            to.write_all(b"x").await?;
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        #[expect(unreachable_code, reason = "fixes the error type of the block")]
        Ok::<_, io::Error>(())
    });
    let mut text = Vec::new();
    let _ = from.read_to_end(&mut text).await;
    let text = String::from_utf8_lossy(&text);
    assert!(text.starts_with("HTTP/1.1 408") && text.contains("http.header_timeout"), "{text}");
    dripping.abort();
}

#[tokio::test]
async fn connections_are_kept_alive_until_the_idle_timeout() {
    let (address, _) = serve_echo(HttpSettings { idle_timeout: SHORT, ..long_timeouts() }).await;
    let mut socket = connect(address).await;
    for _ in 0..3 {
        socket.write_all(GET).await.expect("sent");
        assert!(read_response(&mut socket, "/a").await.starts_with("HTTP/1.1 200"));
    }
    assert_eq!(read_to_end(&mut socket).await, "");
}

#[tokio::test]
async fn running_requests_and_uploads_are_not_cut_off() {
    let limits = HttpSettings { header_timeout: SHORT, idle_timeout: SHORT, ..long_timeouts() };
    let (address, gate) = serve_echo(HttpSettings { send_timeout: SHORT, ..limits }).await;
    let waiting = tokio::spawn(get(address, "/wait"));
    let mut socket = connect(address).await;
    socket
        .write_all(b"POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 8\r\n\r\n")
        .await
        .expect("sent");
    for _ in 0..8 {
        tokio::time::sleep(SHORT).await;
        socket.write_all(b"x").await.expect("sent");
    }
    assert!(read_response(&mut socket, "xxxxxxxx").await.starts_with("HTTP/1.1 200"));
    gate.add_permits(1);
    assert!(waiting.await.expect("an answer").ends_with("/wait"));
}

#[tokio::test]
async fn clients_that_stop_reading_are_cut_off() {
    let (address, _) = serve_echo(HttpSettings { send_timeout: SHORT, ..long_timeouts() }).await;
    let mut socket = connect(address).await;
    socket.write_all(b"GET /endless HTTP/1.1\r\nHost: a\r\n\r\n").await.expect("sent");
    tokio::time::sleep(10 * SHORT).await;
    let mut taken = vec![0; 1 << 20];
    // Buffered bytes still arrive before the connection ends.
    while socket.read(&mut taken).await.is_ok_and(|count| count > 0) {}
}

#[tokio::test]
async fn the_longest_idle_connection_is_evicted() {
    let (address, _) = serve_echo(long_timeouts()).await;
    let mut kept = connect(address).await;
    kept.write_all(GET).await.expect("sent");
    read_response(&mut kept, "/a").await;
    let mut silent = Vec::new();
    for _ in 0..100 {
        silent.push(connect(address).await);
        assert!(get(address, "/health").await.ends_with("/health"));
    }
    for socket in &mut silent[..80] {
        assert_eq!(read_to_end(socket).await, "");
    }
    kept.write_all(GET)
        .await
        .expect("a connection that served a request outlives one that never did");
    read_response(&mut kept, "/a").await;
}

#[tokio::test]
async fn a_full_server_refuses_requests_but_answers_probes() {
    let (address, gate) = serve_echo(long_timeouts()).await;
    let busy: Vec<_> = (0..8).map(|_| tokio::spawn(get(address, "/wait"))).collect();
    let refusal = loop {
        let reply = get(address, "/a").await;
        if reply.starts_with("HTTP/1.1 503") {
            break reply;
        }
    };
    assert!(
        refusal.contains("http.max_connections") && refusal.contains("retry-after: 1"),
        "{refusal}"
    );
    assert!(get(address, "/health").await.ends_with("/health"));
    gate.add_permits(8);
    for reply in busy {
        assert!(reply.await.expect("an answer").ends_with("/wait"));
    }
    assert!(get(address, "/a").await.ends_with("/a"));
}

#[tokio::test]
async fn request_heads_have_a_size_limit() {
    let (address, _) = serve_echo(HttpSettings { max_header_bytes: 8192, ..long_timeouts() }).await;
    let mut socket = connect(address).await;
    let head = format!("GET /a HTTP/1.1\r\nHost: a\r\nX: {}\r\n\r\n", "x".repeat(20_000));
    let _ = socket.write_all(head.as_bytes()).await;
    let reply = read_to_end(&mut socket).await;
    assert!(reply.is_empty() || reply.starts_with("HTTP/1.1 431"), "{reply}");
}

/// Sends a raw request head and returns the response in lower case.
async fn send_head(address: SocketAddr, head: &str) -> String {
    let mut socket = connect(address).await;
    let head = head.replace('\n', "\r\n");
    socket.write_all(head.as_bytes()).await.expect("sent");
    read_to_end(&mut socket).await.to_lowercase()
}

#[tokio::test]
async fn a_request_needs_one_host() {
    let (address, _) = serve_echo(long_timeouts()).await;
    for (head, status, words) in [
        ("GET /a HTTP/1.1\n\n", 400, "no host header"),
        ("GET http://a/a HTTP/1.1\n\n", 400, "no host header"),
        ("GET /a HTTP/1.1\nHost: a\nHost: a\n\n", 400, "more than one host"),
        ("GET /a HTTP/1.0\nHost: a\nHost: b\n\n", 400, "more than one host"),
        ("GET /a HTTP/1.1\nHost: a b\n\n", 400, "not a name"),
        ("GET /a HTTP/1.0\n\n", 200, "/a"),
        ("GET /a HTTP/1.1\nHost: a:80\nConnection: close\n\n", 200, "/a"),
        ("GET /a HTTP/1.1\nHost:\nConnection: close\n\n", 200, "/a"),
    ] {
        let reply = send_head(address, head).await;
        assert_eq!(reply.get(9..12), Some(&*status.to_string()), "{head:?}: {reply}");
        assert!(reply.contains(words), "{head:?}: {reply}");
    }
}

#[tokio::test]
async fn large_json_is_compressed_for_clients_that_accept_it() {
    let (address, _) = serve_echo(long_timeouts()).await;
    for (path, accepted, compressed) in [
        ("/json", "gzip, deflate, br", true),
        ("/json", "GZIP;q=0.5", true),
        ("/json", "gzip;q=0", false),
        ("/json", "identity", false),
        ("/json", "br, zstd", false),
        ("/json/small", "gzip", false),
        ("/json/part", "gzip", false),
        ("/events", "gzip", false),
        ("/media", "gzip", false),
    ] {
        let head = format!(
            "GET {path} HTTP/1.1\nHost: a\nConnection: close\nAccept-Encoding: {accepted}\n\n"
        );
        let reply = send_head(address, &head).await;
        let (head, body) = reply.split_once("\r\n\r\n").expect("a head and a body");
        assert_eq!(
            head.contains("content-encoding: gzip"),
            compressed,
            "{path} {accepted}: {head}"
        );
        assert_eq!(body.starts_with('['), !compressed, "{path} {accepted}");
        assert_eq!(head.contains("vary: accept-encoding"), path == "/json", "{path}: {head}");
    }
}

#[tokio::test]
async fn running_requests_finish_on_shutdown() {
    let listener = listen("127.0.0.1:0").await.expect("a listener");
    let address = listener.local_addr().expect("an address");
    let (begun, gate) = (Arc::new(Semaphore::new(0)), Gate::new(Semaphore::new(0)));
    let (starts, waits) = (begun.clone(), gate.clone());
    let app = poem::endpoint::make(move |_: Request| {
        let (begun, gate) = (starts.clone(), waits.clone());
        async move {
            begun.add_permits(1);
            drop(gate.acquire().await);
            "done"
        }
    });
    let stop = CancellationToken::new();
    let stopped = stop.clone().cancelled_owned();
    let stopped = async move {
        stopped.await;
        Duration::from_secs(5)
    };
    let app = app.map_to_response().boxed();
    let serving =
        tokio::spawn(async move { serve(listener, app, &long_timeouts(), stopped).await });
    let asking = tokio::spawn(get(address, "/"));
    drop(begun.acquire().await);
    stop.cancel();
    gate.add_permits(1);
    assert!(asking.await.expect("an answer").ends_with("done"));
    serving.await.expect("it has stopped");
    assert!(TcpStream::connect(address).await.is_err(), "nothing listens");
}

#[tokio::test]
async fn a_hanging_request_does_not_delay_the_shutdown() {
    let listener = listen("127.0.0.1:0").await.expect("a listener");
    let address = listener.local_addr().expect("an address");
    let begun = Arc::new(Semaphore::new(0));
    let starts = begun.clone();
    let app = poem::endpoint::make(move |_: Request| {
        let begun = starts.clone();
        async move {
            begun.add_permits(1);
            std::future::pending::<&str>().await
        }
    });
    let stop = CancellationToken::new();
    let stopped = stop.clone().cancelled_owned();
    let stopped = async move {
        stopped.await;
        SHORT
    };
    let app = app.map_to_response().boxed();
    let serving =
        tokio::spawn(async move { serve(listener, app, &long_timeouts(), stopped).await });
    let mut socket = connect(address).await;
    socket.write_all(GET).await.expect("sent");
    drop(begun.acquire().await);
    stop.cancel();
    let generous = Duration::from_secs(60);
    let ended = tokio::time::timeout(generous, serving).await;
    ended.expect("the request does not hold the server up").expect("it has stopped");
    let closed = tokio::time::timeout(generous, read_to_end(&mut socket)).await;
    assert_eq!(closed.expect("the connection is closed"), "");
    assert!(TcpStream::connect(address).await.is_err(), "nothing listens");
}

#[test]
fn connections_use_at_most_half_of_the_descriptors() {
    assert_eq!(connection_limit(1000, Some(1024)), 512);
    assert_eq!(connection_limit(1000, Some(65_536)), 1000);
    assert_eq!(connection_limit(1000, None), 1000);
}
