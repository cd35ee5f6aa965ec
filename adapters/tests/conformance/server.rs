//! An HTTP server with scripted misbehaviour, for testing adapters that call a server. It records
//! the requests that it receives.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

/// A received request.
#[derive(Debug, Clone)]
pub(crate) struct ReceivedRequest {
    pub(crate) path: String,
    pub(crate) authorization: Option<String>,
    /// The body as JSON, or as text if it is not JSON.
    pub(crate) body: Value,
}

/// The reaction to a request.
#[derive(Debug, Clone)]
pub(crate) enum Reply {
    /// Sends a status, extra header lines and a body.
    Send(u16, String, String),
    /// Sends nothing until the client gives up.
    Hang,
    /// Closes the connection without a response.
    Drop,
    /// Sends a shorter body than announced.
    CutOff,
}

impl Reply {
    pub(crate) fn json(status: u16, body: Value) -> Self {
        Self::Send(status, String::new(), body.to_string())
    }
}

type Behaviour = dyn Fn(&ReceivedRequest, usize) -> Reply + Send + Sync;

/// A server that runs until it is dropped.
pub(crate) struct Server {
    pub(crate) url: String,
    received: Arc<Mutex<Vec<ReceivedRequest>>>,
    task: tokio::task::JoinHandle<()>,
}

impl Server {
    /// Starts a server. `reply` receives the request and the number of earlier requests.
    pub(crate) async fn start(
        reply: impl Fn(&ReceivedRequest, usize) -> Reply + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let received = Arc::new(Mutex::new(Vec::new()));
        let reply: Arc<Behaviour> = Arc::new(reply);
        let log = received.clone();
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, log.clone(), reply.clone()));
            }
        });
        Self { url, received, task }
    }

    /// Starts a server that sends each reply in turn, then repeats the last one.
    pub(crate) async fn in_turn(replies: Vec<Reply>) -> Self {
        Self::start(move |_, before| replies[before.min(replies.len() - 1)].clone()).await
    }

    pub(crate) fn received(&self) -> Vec<ReceivedRequest> {
        self.received.lock().unwrap().clone()
    }

    pub(crate) fn calls(&self) -> usize {
        self.received.lock().unwrap().len()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(stream: TcpStream, log: Arc<Mutex<Vec<ReceivedRequest>>>, reply: Arc<Behaviour>) {
    let mut stream = BufReader::new(stream);
    let mut path = String::new();
    let mut authorization = None;
    let mut length = 0;
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line).await.unwrap_or(0) == 0 {
            return;
        }
        let line = line.trim_end();
        if line.is_empty() {
            break;
        }
        match line.split_once(": ") {
            Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                length = value.parse().unwrap();
            }
            Some((name, value)) if name.eq_ignore_ascii_case("authorization") => {
                authorization = Some(value.to_owned());
            }
            Some(_) => {}
            None => path = line.split(' ').nth(1).unwrap_or_default().to_owned(),
        }
    }
    let mut body = vec![0; length];
    if stream.read_exact(&mut body).await.is_err() {
        return;
    }
    let body = serde_json::from_slice(&body)
        .unwrap_or_else(|_| Value::String(String::from_utf8_lossy(&body).into_owned()));
    let request = ReceivedRequest { path, authorization, body };
    let before = {
        let mut log = log.lock().unwrap();
        log.push(request.clone());
        log.len() - 1
    };
    let text = match reply(&request, before) {
        Reply::Send(status, mut headers, body) => {
            if !headers.contains("content-type") {
                headers.push_str("content-type: application/json\r\n");
            }
            format!(
                "HTTP/1.1 {status} X\r\ncontent-length: {}\r\n{headers}connection: close\r\n\r\n{body}",
                body.len()
            )
        }
        Reply::Hang => {
            tokio::time::sleep(Duration::from_secs(3600)).await;
            return;
        }
        Reply::Drop => return,
        Reply::CutOff => {
            "HTTP/1.1 200 X\r\ncontent-length: 1000\r\nconnection: close\r\n\r\n{".to_owned()
        }
    };
    // The client may have disconnected.
    let _ = stream.write_all(text.as_bytes()).await;
    let _ = stream.shutdown().await;
}
