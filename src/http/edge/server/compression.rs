//! Compresses JSON responses with gzip for clients that accept it. Media, event streams and partial
//! responses are not compressed. `tower_http` parses `Accept-Encoding` and sets the headers.

use hyper::Response;
use hyper::body::Body;
use poem::http::header;
use tower_http::CompressionLevel;
use tower_http::compression::Compression;
use tower_http::compression::predicate::Predicate;

/// Compresses JSON responses of at least `min_bytes` bytes.
pub(super) fn compressed<S>(service: S, min_bytes: u64) -> Compression<S, LargeJson> {
    // On a fast network, a higher level would cost more time than it saves.
    Compression::new(service)
        .quality(CompressionLevel::Fastest)
        .compress_when(LargeJson { min_bytes })
}

/// Selects JSON responses of at least `min_bytes` bytes.
#[derive(Debug, Clone, Copy)]
pub(super) struct LargeJson {
    min_bytes: u64,
}

impl Predicate for LargeJson {
    fn should_compress<B: Body>(&self, response: &Response<B>) -> bool {
        let kind = response.headers().get(header::CONTENT_TYPE);
        let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        let essence = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        let json = essence == "application/json" || essence.ends_with("+json");
        // A body of unknown size is streamed and counts as large.
        let size = response.body().size_hint().exact().unwrap_or(u64::MAX);
        json && size >= self.min_bytes
    }
}
