//! A fake Google Cloud Storage, needed because there is no emulator. It runs in memory and supports
//! only what the adapters use. It rejects requests that deviate from Google's documentation.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use percent_encoding::percent_decode_str;
use poem::http::{HeaderMap, Method, StatusCode, header};
use poem::listener::{Acceptor, Listener, TcpListener};
use poem::{Endpoint, Request, Response, Server};
use serde_json::{Value, json};

/// Name of the only bucket.
pub(crate) const BUCKET: &str = "clips";

/// The server. It runs until the runtime ends.
#[derive(Clone, Default)]
pub(crate) struct Gcs {
    state: Arc<Mutex<State>>,
    next: Arc<AtomicU64>,
    url: String,
}

#[derive(Default)]
struct State {
    objects: BTreeMap<String, Object>,
    /// The content type of each multipart upload, and its parts by number.
    uploads: HashMap<String, (String, BTreeMap<u32, Bytes>)>,
    sessions: HashMap<String, Session>,
    /// The distinct methods and forms of the requests so far.
    asked: BTreeSet<String>,
}

/// A resumable upload.
struct Session {
    /// The query of the request that began the upload.
    query: HashMap<String, String>,
    content_type: String,
    content: Vec<u8>,
}

#[derive(Clone)]
struct Object {
    content: Bytes,
    content_type: String,
    generation: u64,
}

impl Gcs {
    pub(crate) async fn start() -> Self {
        let acceptor = TcpListener::bind("127.0.0.1:0").into_acceptor().await.unwrap();
        let address = acceptor.local_addr()[0].as_socket_addr().copied().unwrap();
        let gcs = Self { url: format!("http://{address}"), ..Self::default() };
        tokio::spawn(Server::new_with_acceptor(acceptor).run(gcs.clone()));
        gcs
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Returns the distinct methods and forms of the requests so far.
    pub(crate) fn asked(&self) -> BTreeSet<String> {
        self.state.lock().unwrap().asked.clone()
    }

    fn asks(&self, what: &str) {
        self.state.lock().unwrap().asked.insert(what.to_owned());
    }

    async fn answer(&self, mut request: Request) -> Response {
        let method = request.method().clone();
        let headers = request.headers().clone();
        let path = request.uri().path().to_owned();
        let query: HashMap<String, String> =
            url::form_urlencoded::parse(request.uri().query().unwrap_or_default().as_bytes())
                .into_owned()
                .collect();
        let body = request.take_body().into_bytes().await.unwrap();
        let object = path.strip_prefix(&format!("/storage/v1/b/{BUCKET}/o/"));
        match (&method, object) {
            (_, Some(name)) => self.object(&method, &decoded(name), &query, &headers),
            _ if path == format!("/storage/v1/b/{BUCKET}/o") => self.list(&query),
            _ if path == format!("/upload/storage/v1/b/{BUCKET}/o") => {
                self.upload(&method, &query, &headers, body)
            }
            _ if path == "/batch/storage/v1" => self.batch(&headers, &body),
            _ => match path.strip_prefix(&format!("/{BUCKET}/")) {
                Some(name) => self.parts(&method, &decoded(name), &query, &headers, body),
                None => status(StatusCode::NOT_FOUND),
            },
        }
    }

    fn object(
        &self,
        method: &Method,
        name: &str,
        query: &HashMap<String, String>,
        headers: &HeaderMap,
    ) -> Response {
        let mut state = self.state.lock().unwrap();
        let Some(object) = state.objects.get(name).cloned() else {
            return status(StatusCode::NOT_FOUND);
        };
        if *method == Method::DELETE {
            state.asked.insert("DELETE object".into());
            state.objects.remove(name);
            return status(StatusCode::NO_CONTENT);
        }
        let etag = |text: &str| text.trim_matches('"') == object.generation.to_string();
        if headers.get(header::IF_MATCH).is_some_and(|e| !etag(e.to_str().unwrap())) {
            return status(StatusCode::PRECONDITION_FAILED);
        }
        if query.get("alt").is_none_or(|alt| alt != "media") {
            state.asked.insert("GET metadata".into());
            return described(name, &object);
        }
        let range = headers.get(header::RANGE).map(|range| range.to_str().unwrap().to_owned());
        let form = if range.is_some() { "GET range" } else { "GET media" };
        state.asked.insert(form.into());
        let size = object.content.len();
        let Some(range) = range else {
            return Response::builder().header("etag", object.generation).body(object.content);
        };
        let (start, end) = range.strip_prefix("bytes=").unwrap().split_once('-').unwrap();
        let start: usize = start.parse().unwrap();
        let end = end.parse().map_or(size, |last: usize| (last + 1).min(size));
        if start >= size {
            return status(StatusCode::RANGE_NOT_SATISFIABLE);
        }
        Response::builder()
            .status(StatusCode::PARTIAL_CONTENT)
            .header("content-range", format!("bytes {start}-{}/{size}", end - 1))
            .body(object.content.slice(start..end))
    }

    fn list(&self, query: &HashMap<String, String>) -> Response {
        /// Number of entries per page. It is small, so that listings have several pages.
        const PAGE: usize = 7;
        self.asks("GET list");
        let get = |name: &str| query.get(name).map(String::as_str).unwrap_or_default();
        let (prefix, after) = (get("prefix"), get("pageToken"));
        let state = self.state.lock().unwrap();
        let (mut items, mut prefixes) = (Vec::new(), BTreeSet::new());
        let mut next = None;
        for (name, object) in state.objects.iter().filter(|(name, _)| name.starts_with(prefix)) {
            let rest = &name[prefix.len()..];
            let folder = match rest.split_once('/') {
                Some((folder, _)) if get("delimiter") == "/" => Some(format!("{prefix}{folder}/")),
                _ => None,
            };
            let place = folder.as_ref().unwrap_or(name);
            if place.as_str() <= after || place.as_str() < get("startOffset") {
                continue;
            }
            if items.len() + prefixes.len() == PAGE
                && folder.as_ref().is_none_or(|folder| !prefixes.contains(folder))
            {
                next = items
                    .iter()
                    .map(|item: &Value| item["name"].as_str().unwrap().to_owned())
                    .chain(prefixes.iter().cloned())
                    .max();
                break;
            }
            match folder {
                Some(folder) => {
                    prefixes.insert(folder);
                }
                None => items.push(metadata(name, object)),
            }
        }
        let mut page = json!({ "items": items, "prefixes": prefixes });
        if let Some(next) = next {
            page["nextPageToken"] = json!(next);
        }
        Response::builder().content_type("application/json").body(page.to_string())
    }

    fn upload(
        &self,
        method: &Method,
        query: &HashMap<String, String>,
        headers: &HeaderMap,
        body: Bytes,
    ) -> Response {
        let kind = query.get("uploadType").map(String::as_str).unwrap_or_default();
        self.asks(&format!("{method} upload {kind}"));
        match kind {
            "media" => self.insert(&query["name"], query, "application/octet-stream", body),
            "multipart" => {
                let parts = split(headers, &body);
                let described: Value = serde_json::from_slice(&parts[0].1).unwrap();
                let kind = described["contentType"].as_str().unwrap_or_default();
                self.insert(&query["name"], query, kind, parts[1].1.clone())
            }
            "resumable" => {
                let id = self.next.fetch_add(1, Ordering::SeqCst).to_string();
                let kind = headers.get("x-upload-content-type");
                let content_type =
                    kind.map_or(String::new(), |kind| kind.to_str().unwrap().to_owned());
                let session = Session { query: query.clone(), content_type, content: Vec::new() };
                self.state.lock().unwrap().sessions.insert(id.clone(), session);
                let uri = format!(
                    "{}/upload/storage/v1/b/{BUCKET}/o?uploadType=session&id={id}",
                    self.url
                );
                Response::builder().header("location", uri).finish()
            }
            "session" if *method == Method::DELETE => {
                self.state.lock().unwrap().sessions.remove(&query["id"]);
                Response::builder().status(StatusCode::from_u16(499).unwrap()).finish()
            }
            "session" => self.resume(&query["id"], headers, &body),
            _ => status(StatusCode::BAD_REQUEST),
        }
    }

    fn resume(&self, id: &str, headers: &HeaderMap, body: &[u8]) -> Response {
        let mut state = self.state.lock().unwrap();
        let Some(session) = state.sessions.get_mut(id) else {
            return status(StatusCode::NOT_FOUND);
        };
        session.content.extend_from_slice(body);
        let range = headers.get(header::CONTENT_RANGE).unwrap().to_str().unwrap();
        let total = range.rsplit_once('/').unwrap().1;
        if total != session.content.len().to_string() {
            let mut more = Response::builder().status(StatusCode::PERMANENT_REDIRECT);
            if let Some(last) = session.content.len().checked_sub(1) {
                more = more.header("range", format!("bytes=0-{last}"));
            }
            return more.finish();
        }
        let Some(Session { query, content_type, content }) = state.sessions.remove(id) else {
            return status(StatusCode::NOT_FOUND);
        };
        drop(state);
        self.insert(&query["name"], &query, &content_type, content.into())
    }

    fn insert(
        &self,
        name: &str,
        query: &HashMap<String, String>,
        content_type: &str,
        content: Bytes,
    ) -> Response {
        let mut state = self.state.lock().unwrap();
        let there = state.objects.get(name).map_or(0, |object| object.generation);
        if let Some(expected) = query.get("ifGenerationMatch") {
            state.asked.insert("ifGenerationMatch".into());
            if *expected != there.to_string() {
                return status(StatusCode::PRECONDITION_FAILED);
            }
        }
        let generation = self.next.fetch_add(1, Ordering::SeqCst) + 1;
        let object = Object { content, content_type: content_type.to_owned(), generation };
        let response = described(name, &object);
        state.objects.insert(name.to_owned(), object);
        response
    }

    /// Handles multipart uploads through the XML API.
    fn parts(
        &self,
        method: &Method,
        name: &str,
        query: &HashMap<String, String>,
        headers: &HeaderMap,
        body: Bytes,
    ) -> Response {
        let mut state = self.state.lock().unwrap();
        let Some(id) = query.get("uploadId") else {
            if *method != Method::POST || !query.contains_key("uploads") {
                return status(StatusCode::BAD_REQUEST);
            }
            state.asked.insert("POST parts".into());
            let id = self.next.fetch_add(1, Ordering::SeqCst).to_string();
            let kind = headers.get(header::CONTENT_TYPE);
            let kind = kind.map_or(String::new(), |kind| kind.to_str().unwrap().to_owned());
            let answer = format!(
                "<InitiateMultipartUploadResult><UploadId>{id}</UploadId>\
                 </InitiateMultipartUploadResult>"
            );
            state.uploads.insert(id, (kind, BTreeMap::new()));
            return Response::builder().body(answer);
        };
        if *method == Method::DELETE {
            state.uploads.remove(id);
            return status(StatusCode::NO_CONTENT);
        }
        if *method == Method::PUT {
            let number = query["partNumber"].parse().unwrap();
            let Some((_, parts)) = state.uploads.get_mut(id) else {
                return status(StatusCode::NOT_FOUND);
            };
            parts.insert(number, body);
            return Response::builder().header("etag", format!("\"{number}\"")).finish();
        }
        let Some((kind, parts)) = state.uploads.remove(id) else {
            return status(StatusCode::NOT_FOUND);
        };
        drop(state);
        let content: Vec<u8> = parts.into_values().flatten().collect();
        self.insert(name, &HashMap::new(), &kind, content.into())
    }

    fn batch(&self, headers: &HeaderMap, body: &[u8]) -> Response {
        self.asks("POST batch");
        let mut answer = String::new();
        for (id, part) in split(headers, body) {
            let text = String::from_utf8_lossy(&part).into_owned();
            let (method, rest) = text.split_once(' ').unwrap();
            assert_eq!(method, "DELETE");
            let target = rest.split_whitespace().next().unwrap();
            let name = target.rsplit_once("/o/").unwrap().1;
            let gone = self.state.lock().unwrap().objects.remove(&decoded(name)).is_some();
            let status = if gone { "204 No Content" } else { "404 Not Found" };
            answer.push_str(&format!(
                "--answer\r\nContent-Type: application/http\r\nContent-ID: <response-{id}>\r\n\r\n\
                 HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n\r\n"
            ));
        }
        answer.push_str("--answer--\r\n");
        Response::builder().content_type("multipart/mixed; boundary=answer").body(answer)
    }
}

impl Endpoint for Gcs {
    type Output = Response;

    async fn call(&self, request: Request) -> poem::Result<Response> {
        Ok(self.answer(request).await)
    }
}

fn decoded(text: &str) -> String {
    percent_decode_str(text).decode_utf8().unwrap().into_owned()
}

fn status(status: StatusCode) -> Response {
    let error = json!({ "error": { "code": status.as_u16(), "message": status.as_str() } });
    Response::builder().status(status).content_type("application/json").body(error.to_string())
}

fn metadata(name: &str, object: &Object) -> Value {
    json!({
        "name": name,
        "size": object.content.len().to_string(),
        "etag": object.generation.to_string(),
        "generation": object.generation.to_string(),
        "updated": "2024-01-01T00:00:00.000Z",
        "contentType": object.content_type,
    })
}

fn described(name: &str, object: &Object) -> Response {
    Response::builder().content_type("application/json").body(metadata(name, object).to_string())
}

/// Splits a multipart body into parts and returns each part's `Content-ID` and its content without
/// headers.
fn split(headers: &HeaderMap, body: &[u8]) -> Vec<(String, Bytes)> {
    let kind = headers.get(header::CONTENT_TYPE).unwrap().to_str().unwrap();
    let boundary = kind.split_once("boundary=").unwrap().1.trim_matches('"');
    let delimiter = format!("--{boundary}");
    let find = |from: usize, what: &[u8]| {
        body[from..].windows(what.len()).position(|w| w == what).map(|at| from + at)
    };
    let mut parts = Vec::new();
    let mut at = find(0, delimiter.as_bytes()).unwrap() + delimiter.len();
    while !body[at..].starts_with(b"--") {
        let content = find(at, b"\r\n\r\n").unwrap() + 4;
        let head = String::from_utf8_lossy(&body[at..content]).to_lowercase();
        let id = head.lines().find_map(|line| line.strip_prefix("content-id:"));
        // If a part is empty, its line end is also the line end before the delimiter.
        let end = find(content - 2, format!("\r\n{delimiter}").as_bytes()).unwrap();
        let part = Bytes::copy_from_slice(&body[content..end.max(content)]);
        parts.push((id.unwrap_or_default().trim().to_owned(), part));
        at = end + 2 + delimiter.len();
    }
    parts
}
