//! Endpoints of other inbound adapters. They are mounted behind the same edge and have the same
//! body limits as the HTTP routes.

use poem::endpoint::BoxEndpoint;
use poem::http::header;
use poem::{Endpoint, Request, Response, Result, RouteMethod};

use super::route_table::PlainRoute;
use crate::http::wire::body;
use crate::http::wire::failure::HttpFailure;

/// Maximum length of an error text that is passed on to the client, in bytes.
const MAX_ERROR_BYTES: usize = 4096;

/// An endpoint that accepts JSON by POST. It receives the complete, decompressed body and must
/// validate it.
pub struct Mount {
    /// Path from the service's root, such as `/mcp`.
    pub path: &'static str,
    /// The endpoint at `path`.
    pub endpoint: BoxEndpoint<'static, Response>,
}

impl Mount {
    /// Converts the mount into a route.
    pub(crate) fn into_route(self) -> PlainRoute {
        let endpoint = RouteMethod::new().post(MountedEndpoint(self.endpoint));
        PlainRoute::new(self.path, "POST", endpoint)
    }
}

/// Reads the body within its limits before calling the endpoint, and converts the endpoint's
/// plain-text errors into the common error body.
struct MountedEndpoint(BoxEndpoint<'static, Response>);

impl Endpoint for MountedEndpoint {
    type Output = Response;

    async fn call(&self, mut request: Request) -> Result<Response> {
        let payload = request.take_body();
        let bytes = body::read(&request, payload, |options| options.server.max_json_bytes).await?;
        request.headers_mut().remove(header::CONTENT_ENCODING);
        request.headers_mut().remove(header::CONTENT_LENGTH);
        request.set_body(bytes);
        let response = self.0.call(request).await?;
        let status = response.status();
        let is_json =
            response.content_type().is_some_and(|kind| kind.starts_with("application/json"));
        if is_json || !(status.is_client_error() || status.is_server_error()) {
            return Ok(response);
        }
        let text = response.into_body().into_bytes_limit(MAX_ERROR_BYTES).await.unwrap_or_default();
        Err(HttpFailure::new(status, String::from_utf8_lossy(&text)).into())
    }
}
