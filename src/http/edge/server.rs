//! The HTTP server: accepts connections, enforces the limits of `[http]`, and passes requests to
//! the endpoint.
//!
//! At the connection limit, the connections that have been idle longest are closed to make room. If
//! no connection is idle, a few more are accepted, but their requests get 503, except for probes.

mod activity;
mod compression;
mod timeout_stream;

use std::collections::HashMap;
use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use hyper::body::Incoming;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use parking_lot::{Mutex, MutexGuard};
use poem::endpoint::BoxEndpoint;
use poem::http::uri::{Authority, Scheme};
use poem::http::{HeaderValue, StatusCode, Version, header};
use poem::web::{LocalAddr, RemoteAddr};
use poem::{Addr, Endpoint, Request, Response};
use tokio::net::{TcpListener, TcpSocket, TcpStream, lookup_host};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::ServiceExt;

use super::metrics;
use crate::http::settings::HttpSettings;
use crate::http::wire::failure::HttpFailure;
use activity::{Activity, GuardedBody};
use timeout_stream::TimeoutStream;

/// Pause before the server tries again to accept a connection, for example after it has run out of
/// file descriptors.
const ACCEPT_BACKOFF: Duration = Duration::from_millis(50);
/// Number of connections accepted beyond `http.max_connections`. Their requests get 503, except for
/// probes.
const OVERFLOW_CONNECTIONS: usize = 32;
/// Length of the listen backlog. It is long because a client that finds the backlog full in a burst
/// retries only after a second. The system may impose a lower limit.
const LISTEN_BACKLOG: u32 = 4096;
/// Maximum number of concurrent requests on one HTTP/2 connection.
const MAX_HTTP2_STREAMS: u32 = 100;
/// Paths that are answered even on connections beyond the limit.
const PROBES: [&str; 3] = ["/health", "/live", "/ready"];

/// Listens on an IP address and port. If a host name is given instead, its first usable address is
/// used.
pub async fn listen(address: &str) -> io::Result<TcpListener> {
    let mut failed = io::Error::new(io::ErrorKind::NotFound, "it leads to no address");
    for address in lookup_host(address).await? {
        match listen_on(address) {
            Ok(listener) => return Ok(listener),
            Err(error) => failed = error,
        }
    }
    Err(failed)
}

fn listen_on(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    // Without this, a restarted service would have to wait until its predecessor's connections are
    // gone.
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(LISTEN_BACKLOG)
}

/// Serves `app` until `stop` completes. `stop` returns how long running requests may take to
/// finish.
pub async fn serve(
    listener: TcpListener,
    app: BoxEndpoint<'static, Response>,
    settings: &HttpSettings,
    stop: impl Future<Output = Duration>,
) {
    let server = Arc::new(HttpServer::new(app, settings));
    let upkeep = metrics::upkeep();
    tokio::pin!(stop, upkeep);
    let mut accept_failed = false;
    let grace = loop {
        tokio::select! {
            grace = &mut stop => break grace,
            () = &mut upkeep => {}
            accepted = server.accept(&listener) => match accepted {
                Ok((socket, remote)) => {
                    accept_failed = false;
                    server.clone().spawn_connection(socket, remote);
                }
                Err(error) => {
                    if !accept_failed {
                        tracing::warn!(%error, "cannot accept connections");
                    }
                    accept_failed = true;
                    server.make_room();
                    tokio::time::sleep(ACCEPT_BACKOFF).await;
                }
            }
        }
    };
    drop(listener);
    server.close(grace).await;
}

/// The server's app, settings and open connections.
struct HttpServer {
    app: BoxEndpoint<'static, Response>,
    settings: HttpSettings,
    /// Maximum number of connections, lowered to fit the process's file descriptor limit.
    max_connections: usize,
    open: Mutex<HashMap<u64, Arc<OpenConnection>>>,
    next: AtomicU64,
    tasks: TaskTracker,
    /// Cancelled when the server stops accepting requests.
    closing: CancellationToken,
    /// Cancelled to close all connections.
    ended: CancellationToken,
}

struct OpenConnection {
    activity: Arc<Activity>,
    evicted: CancellationToken,
}

impl HttpServer {
    fn new(app: BoxEndpoint<'static, Response>, settings: &HttpSettings) -> Self {
        let max_connections = connection_limit(settings.max_connections, descriptors());
        if max_connections < settings.max_connections {
            tracing::warn!(
                requested = settings.max_connections,
                max_connections,
                "http.max_connections is more than half of the file descriptor limit (ulimit -n); \
                 the limit is lowered"
            );
        }
        Self {
            app,
            settings: settings.clone(),
            max_connections,
            open: Mutex::default(),
            next: AtomicU64::new(0),
            tasks: TaskTracker::new(),
            closing: CancellationToken::new(),
            ended: CancellationToken::new(),
        }
    }

    /// Waits until there is room for a connection, then accepts the next one.
    async fn accept(&self, listener: &TcpListener) -> io::Result<(TcpStream, SocketAddr)> {
        while self.open().len() >= self.max_connections + OVERFLOW_CONNECTIONS && !self.make_room()
        {
            tokio::time::sleep(ACCEPT_BACKOFF).await;
        }
        listener.accept().await
    }

    fn open(&self) -> MutexGuard<'_, HashMap<u64, Arc<OpenConnection>>> {
        self.open.lock()
    }

    /// Closes the connections that have been idle longest, starting with those that never completed
    /// a request. Closes several at once, so that a burst of new connections does not scan all
    /// connections every time. Returns false if no connection is idle.
    fn make_room(&self) -> bool {
        let mut open = self.open();
        let idle = open.iter().filter_map(|(id, connection)| {
            connection.activity.idle_since().map(|since| (since, *id))
        });
        let mut idle: Vec<_> = idle.collect();
        let few = (self.max_connections / 32).clamp(1, idle.len().max(1));
        if idle.len() > few {
            idle.select_nth_unstable(few);
        }
        idle.truncate(few);
        for (_, id) in &idle {
            if let Some(connection) = open.remove(id) {
                connection.evicted.cancel();
            }
        }
        !idle.is_empty()
    }

    /// Spawns a task that serves a connection.
    fn spawn_connection(self: Arc<Self>, socket: TcpStream, remote: SocketAddr) {
        let over_limit = self.open().len() >= self.max_connections && !self.make_room();
        let activity = Arc::new(Activity::new(&self.settings));
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let connection = Arc::new(OpenConnection { activity, evicted: self.ended.child_token() });
        self.open().insert(id, connection.clone());
        let server = self.clone();
        self.tasks.spawn(async move {
            tokio::select! {
                () = server.serve_connection(socket, remote, &connection.activity, over_limit) => {}
                () = connection.evicted.cancelled() => {}
            }
            server.open().remove(&id);
        });
    }

    /// Serves the requests on one connection.
    async fn serve_connection(
        self: &Arc<Self>,
        socket: TcpStream,
        remote: SocketAddr,
        activity: &Arc<Activity>,
        over_limit: bool,
    ) {
        // Nagle's algorithm would only delay responses, which are small or streamed in large
        // blocks.
        let _ = socket.set_nodelay(true);
        let local = LocalAddr(socket.local_addr().map(Addr::from).unwrap_or_default());
        let remote = RemoteAddr(remote.into());
        let (server, request_activity) = (self.clone(), activity.clone());
        let min_bytes = self.settings.compress_min_bytes;
        let service = hyper::service::service_fn(move |request: hyper::Request<Incoming>| {
            // The request must be registered before the response is polled, because the socket's
            // idle timeout depends on it.
            let guard = request_activity.start_request(request.version());
            let (server, local, remote) = (server.clone(), local.clone(), remote.clone());
            let answering = tower::service_fn(move |request: hyper::Request<Incoming>| {
                let request = Request::from((request, local.clone(), remote.clone(), Scheme::HTTP));
                let server = server.clone();
                async move {
                    let response = server.answer(request, over_limit).await;
                    Ok::<_, Infallible>(hyper::Response::from(response))
                }
            });
            async move {
                let answering = compression::compressed(answering, min_bytes);
                let response = answering.oneshot(request).await?;
                Ok::<_, Infallible>(response.map(|body| GuardedBody::new(body, guard)))
            }
        });
        let mut builder = auto::Builder::new(TokioExecutor::new());
        builder.http1().max_buf_size(self.settings.max_header_bytes);
        builder.http2().max_concurrent_streams(MAX_HTTP2_STREAMS).max_header_list_size(
            u32::try_from(self.settings.max_header_bytes).unwrap_or(u32::MAX),
        );
        let socket = TokioIo::new(TimeoutStream::new(socket, activity.clone()));
        let connection = builder.serve_connection(socket, service);
        tokio::pin!(connection);
        let ended = tokio::select! {
            ended = &mut connection => ended,
            () = self.closing.cancelled() => {
                connection.as_mut().graceful_shutdown();
                connection.await
            }
        };
        if let Err(error) = ended {
            tracing::debug!(%error, "a connection ended early");
        }
    }

    async fn answer(&self, request: Request, over_limit: bool) -> Response {
        if let Some(detail) = invalid_host(&request) {
            let mut response = HttpFailure::new(StatusCode::BAD_REQUEST, detail).into_response();
            // It is also uncertain where the next request starts, so the connection is closed.
            response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
            return response;
        }
        if over_limit && !PROBES.contains(&request.uri().path()) {
            let full = format!(
                "all {} connections are in use (http.max_connections); try again shortly",
                self.max_connections
            );
            return HttpFailure::busy(full, 1).into_response();
        }
        self.app.get_response(request).await
    }

    /// Waits up to `grace` for running requests, then closes all connections.
    async fn close(&self, grace: Duration) {
        self.closing.cancel();
        self.tasks.close();
        if tokio::time::timeout(grace, self.tasks.wait()).await.is_err() {
            self.ended.cancel();
            self.tasks.wait().await;
        }
    }
}

/// Returns what is wrong with the `Host` header, if anything (RFC 9112, section 3.2).
fn invalid_host(request: &Request) -> Option<&'static str> {
    if request.version() == Version::HTTP_2 {
        return None;
    }
    let mut hosts = request.headers().get_all(header::HOST).into_iter();
    match (hosts.next(), hosts.next()) {
        (_, Some(_)) => Some("there is more than one Host header; send one"),
        (None, None) if request.version() == Version::HTTP_11 => {
            Some("there is no Host header; HTTP/1.1 requires one")
        }
        (Some(host), None) if !host.is_empty() && Authority::try_from(host.as_bytes()).is_err() => {
            Some("the Host header is not a name or an address with a port")
        }
        _ => None,
    }
}

/// Limits connections to half of the file descriptors, because files, stores and models need the
/// other half.
fn connection_limit(requested: usize, descriptors: Option<u64>) -> usize {
    let half = descriptors.map_or(usize::MAX, |max_connections| {
        usize::try_from(max_connections / 2).unwrap_or(usize::MAX)
    });
    requested.min(half).max(1)
}

/// Returns the process's file descriptor limit; `None` if unlimited.
fn descriptors() -> Option<u64> {
    rustix::process::getrlimit(rustix::process::Resource::Nofile).current
}

#[cfg(test)]
mod tests;
