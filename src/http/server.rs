//! The front of the service: it accepts connections, holds them to the limits of `[http]`, and hands
//! their requests to the endpoint.
//!
//! A full house stays reachable: the connection that has been silent for longest makes room for the
//! next, and where none is silent, a few more are taken that are told to come back, save for probes.

mod activity;
mod compression;
mod patience;

use std::collections::HashMap;
use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hyper::body::Incoming;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use poem::endpoint::BoxEndpoint;
use poem::http::uri::{Authority, Scheme};
use poem::http::{HeaderValue, StatusCode, Version, header};
use poem::web::{LocalAddr, RemoteAddr};
use poem::{Addr, Endpoint, Request, Response};
use tokio::net::{TcpListener, TcpSocket, TcpStream, lookup_host};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::ServiceExt;

use super::HttpSettings;
use super::errors::Failure;
use super::metrics;
use activity::{Activity, Watched};
use patience::Patient;

/// How long accepting rests after it failed, as it does where descriptors have run out.
const REST: Duration = Duration::from_millis(50);
/// Connections past `http.max_connections`, whose requests are refused, save for probes.
const SPARE: usize = 32;
/// Connections that may wait to be accepted: whoever comes in a rush, and is not among them, tries
/// again only after a second. The system may allow fewer.
const BACKLOG: u32 = 4096;
/// Requests of one HTTP/2 connection at once.
const STREAMS: u32 = 100;
/// Paths that are answered even where the house is full.
const PROBES: [&str; 3] = ["/health", "/live", "/ready"];

/// Listens on an address and port, or on the first that a name and port lead to.
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
    // A service that starts again must not wait for the connections of the one before.
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// Serves `app` until `stop` is done, which says how long running requests may still take.
pub async fn serve(
    listener: TcpListener,
    app: BoxEndpoint<'static, Response>,
    settings: &HttpSettings,
    stop: impl Future<Output = Duration>,
) {
    let front = Arc::new(Front::new(app, settings));
    let upkeep = metrics::upkeep();
    tokio::pin!(stop, upkeep);
    let mut resting = false;
    let left = loop {
        tokio::select! {
            left = &mut stop => break left,
            () = &mut upkeep => {}
            accepted = front.accept(&listener) => match accepted {
                Ok((socket, remote)) => {
                    resting = false;
                    front.clone().take(socket, remote);
                }
                Err(error) => {
                    if !resting {
                        tracing::warn!(%error, "no connection can be accepted");
                    }
                    resting = true;
                    front.make_room();
                    tokio::time::sleep(REST).await;
                }
            }
        }
    };
    drop(listener);
    front.close(left).await;
}

/// What is open, and how it is served.
struct Front {
    app: BoxEndpoint<'static, Response>,
    settings: HttpSettings,
    /// Most connections, whatever the process may open.
    most: usize,
    open: Mutex<HashMap<u64, Arc<Connection>>>,
    next: AtomicU64,
    tasks: TaskTracker,
    /// No further requests.
    closing: CancellationToken,
    /// No further bytes.
    ended: CancellationToken,
}

/// An open connection, as others see it.
struct Connection {
    activity: Arc<Activity>,
    given_up: CancellationToken,
}

impl Front {
    fn new(app: BoxEndpoint<'static, Response>, settings: &HttpSettings) -> Self {
        let most = affordable(settings.max_connections, descriptors());
        if most < settings.max_connections {
            tracing::warn!(
                wanted = settings.max_connections,
                most,
                "http.max_connections is more than half of the descriptors that the process may \
                 open (ulimit -n); fewer connections are kept"
            );
        }
        Self {
            app,
            settings: settings.clone(),
            most,
            open: Mutex::default(),
            next: AtomicU64::new(0),
            tasks: TaskTracker::new(),
            closing: CancellationToken::new(),
            ended: CancellationToken::new(),
        }
    }

    /// The next connection, once there is a place for it.
    async fn accept(&self, listener: &TcpListener) -> io::Result<(TcpStream, SocketAddr)> {
        while self.open().len() >= self.most + SPARE && !self.make_room() {
            tokio::time::sleep(REST).await;
        }
        listener.accept().await
    }

    fn open(&self) -> MutexGuard<'_, HashMap<u64, Arc<Connection>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives up the connections that have been silent for longest, those first that never asked for
    /// anything: a few at once, so that a rush of new ones does not look through all of them each
    /// time. False where every one is at work.
    fn make_room(&self) -> bool {
        let mut open = self.open();
        let silent = open.iter().filter_map(|(id, connection)| {
            connection.activity.silent_since().map(|since| (since, *id))
        });
        let mut silent: Vec<_> = silent.collect();
        let few = (self.most / 32).clamp(1, silent.len().max(1));
        if silent.len() > few {
            silent.select_nth_unstable(few);
        }
        silent.truncate(few);
        for (_, id) in &silent {
            if let Some(connection) = open.remove(id) {
                connection.given_up.cancel();
            }
        }
        !silent.is_empty()
    }

    /// Serves a connection in a task of its own.
    fn take(self: Arc<Self>, socket: TcpStream, remote: SocketAddr) {
        let beyond = self.open().len() >= self.most && !self.make_room();
        let activity = Arc::new(Activity::new(&self.settings));
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let connection = Arc::new(Connection { activity, given_up: self.ended.child_token() });
        self.open().insert(id, connection.clone());
        let front = self.clone();
        self.tasks.spawn(async move {
            tokio::select! {
                () = front.converse(socket, remote, &connection.activity, beyond) => {}
                () = connection.given_up.cancelled() => {}
            }
            front.open().remove(&id);
        });
    }

    /// Answers the requests of one connection.
    async fn converse(
        self: &Arc<Self>,
        socket: TcpStream,
        remote: SocketAddr,
        activity: &Arc<Activity>,
        beyond: bool,
    ) {
        // Answers are small or streamed in large pieces: waiting for more to send helps neither.
        let _ = socket.set_nodelay(true);
        let local = LocalAddr(socket.local_addr().map(Addr::from).unwrap_or_default());
        let remote = RemoteAddr(remote.into());
        let (front, working) = (self.clone(), activity.clone());
        let min_bytes = self.settings.compress_min_bytes;
        let service = hyper::service::service_fn(move |request: hyper::Request<Incoming>| {
            // At once, not when the answer is first waited for: the socket asks whether it may rest.
            let at_work = working.begin(request.version());
            let (front, local, remote) = (front.clone(), local.clone(), remote.clone());
            let answering = tower::service_fn(move |request: hyper::Request<Incoming>| {
                let request = Request::from((request, local.clone(), remote.clone(), Scheme::HTTP));
                let front = front.clone();
                async move {
                    let response = front.answer(request, beyond).await;
                    Ok::<_, Infallible>(hyper::Response::from(response))
                }
            });
            async move {
                let answering = compression::layered(answering, min_bytes);
                let response = answering.oneshot(request).await?;
                Ok::<_, Infallible>(response.map(|body| Watched::new(body, at_work)))
            }
        });
        let mut builder = auto::Builder::new(TokioExecutor::new());
        builder.http1().max_buf_size(self.settings.max_header_bytes);
        builder.http2().max_concurrent_streams(STREAMS).max_header_list_size(
            u32::try_from(self.settings.max_header_bytes).unwrap_or(u32::MAX),
        );
        let socket = TokioIo::new(Patient::new(socket, activity.clone()));
        let conversation = builder.serve_connection(socket, service);
        tokio::pin!(conversation);
        let ended = tokio::select! {
            ended = &mut conversation => ended,
            () = self.closing.cancelled() => {
                conversation.as_mut().graceful_shutdown();
                conversation.await
            }
        };
        if let Err(error) = ended {
            tracing::debug!(%error, "a connection ended early");
        }
    }

    async fn answer(&self, request: Request, beyond: bool) -> Response {
        if let Some(detail) = wrong_host(&request) {
            let mut response = Failure::new(StatusCode::BAD_REQUEST, detail).into_response();
            // Where the next request begins is not sure either.
            response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
            return response;
        }
        if beyond && !PROBES.contains(&request.uri().path()) {
            let full = format!(
                "all {} connections are in use (http.max_connections); try again shortly",
                self.most
            );
            return Failure::busy(full, 1).into_response();
        }
        self.app.get_response(request).await
    }

    /// Lets what runs come to its end, for so long.
    async fn close(&self, left: Duration) {
        self.closing.cancel();
        self.tasks.close();
        if tokio::time::timeout(left, self.tasks.wait()).await.is_err() {
            self.ended.cancel();
            self.tasks.wait().await;
        }
    }
}

/// Why the `Host` of a request is refused (RFC 9112, section 3.2).
fn wrong_host(request: &Request) -> Option<&'static str> {
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

/// Half of the descriptors may be connections: files, stores and models need the others.
fn affordable(wanted: usize, descriptors: Option<u64>) -> usize {
    let half =
        descriptors.map_or(usize::MAX, |most| usize::try_from(most / 2).unwrap_or(usize::MAX));
    wanted.min(half).max(1)
}

/// How many descriptors the process may open; `None` where there is no limit.
fn descriptors() -> Option<u64> {
    rustix::process::getrlimit(rustix::process::Resource::Nofile).current
}

#[cfg(test)]
mod tests;
