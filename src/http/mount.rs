//! Ways in beside the routes of the contract, which other driving adapters serve: what comes to them
//! has passed the same edge, and its body is held to the same limits.

use poem::endpoint::BoxEndpoint;
use poem::http::header;
use poem::{Endpoint, Request, Response, Result};

use super::body;
use super::errors::Failure;

/// Longest account of a refusal that is passed on, bytes.
const MOST_REFUSAL: usize = 4096;

/// An endpoint that takes JSON by POST: it has the body whole and decompressed, and checks it.
pub struct Mount {
    /// From the service's root, as `/mcp`.
    pub path: &'static str,
    /// What answers there.
    pub endpoint: BoxEndpoint<'static, Response>,
}

/// Reads the body within its limits before the endpoint has it, and gives what the endpoint refuses in
/// plain text the one error shape.
pub(super) struct Mounted(pub(super) BoxEndpoint<'static, Response>);

impl Endpoint for Mounted {
    type Output = Response;

    async fn call(&self, mut request: Request) -> Result<Response> {
        let given = request.take_body();
        let bytes = body::read(&request, given, |options| options.server.max_json_bytes).await?;
        request.headers_mut().remove(header::CONTENT_ENCODING);
        request.headers_mut().remove(header::CONTENT_LENGTH);
        request.set_body(bytes);
        let response = self.0.call(request).await?;
        let status = response.status();
        let told = response.content_type().is_some_and(|kind| kind.starts_with("application/json"));
        if told || !(status.is_client_error() || status.is_server_error()) {
            return Ok(response);
        }
        let text = response.into_body().into_bytes_limit(MOST_REFUSAL).await.unwrap_or_default();
        Err(Failure::new(status, String::from_utf8_lossy(&text)).into())
    }
}
