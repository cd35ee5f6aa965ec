//! The outermost layer, which every request passes through once. It assigns a request id, writes a
//! log line, runs the guard, attaches the caller's access rights, and converts errors and panics
//! into the error body.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Instant;

use futures::FutureExt;
use poem::http::{HeaderValue, Method, header};
use poem::{Endpoint, Request, Response, Result};
use tracing::Instrument;

use super::auth::Guard;
use super::metrics;
use super::route_table::RouteTable;
use crate::http::wire::conditional::HeadOnly;
use crate::http::wire::errors;
use crate::http::wire::failure::HttpFailure;
use crate::http::wire::share_paths;

const REQUEST_ID: &str = "x-request-id";

/// Wraps the routes.
pub(crate) struct EdgeEndpoint<E> {
    pub(crate) inner: E,
    pub(crate) guard: Arc<Guard>,
    pub(crate) routes: RouteTable,
}

impl<E: Endpoint<Output = Response>> Endpoint for EdgeEndpoint<E> {
    type Output = Response;

    async fn call(&self, request: Request) -> Result<Response> {
        let id = request_id(&request);
        let span = tracing::info_span!("request", id = %id);
        let mut response = self.answer(request).instrument(span).await;
        let headers = response.headers_mut();
        if let Ok(id) = HeaderValue::from_str(&id) {
            headers.insert(REQUEST_ID, id);
        }
        headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        let referrer = headers.entry(header::REFERRER_POLICY);
        referrer.or_insert(HeaderValue::from_static("same-origin"));
        Ok(response)
    }
}

impl<E: Endpoint<Output = Response>> EdgeEndpoint<E> {
    async fn answer(&self, mut request: Request) -> Response {
        let started = Instant::now();
        let method = request.method().clone();
        let path = request.uri().path().to_owned();
        let admitted = self.guard.admit(&request).and_then(|access| {
            self.check_parameters(&request)?;
            Ok(access)
        });
        let response = match admitted {
            Err(failure) => failure.into_response(),
            Ok(access) => {
                request.set_data(access);
                if method == Method::HEAD {
                    request.set_data(HeadOnly);
                }
                match AssertUnwindSafe(self.inner.call(request)).catch_unwind().await {
                    Ok(Ok(response)) => response,
                    Ok(Err(error)) => {
                        errors::into_failure(error, &path, self.routes.allowed_methods(&path))
                            .into_response()
                    }
                    Err(panic) => {
                        tracing::error!(panic = panic_message(&*panic), "a handler panicked");
                        HttpFailure::internal().into_response()
                    }
                }
            }
        };
        let route = self.routes.route(&path);
        metrics::record_request(
            method.as_str(),
            route,
            response.status().as_u16(),
            started.elapsed(),
        );
        log_request(&method, &path, &response, started);
        response
    }

    /// Rejects query parameters that the operation does not have.
    fn check_parameters(&self, request: &Request) -> Result<(), HttpFailure> {
        let Some(query) = request.uri().query() else { return Ok(()) };
        match self.routes.unknown_parameter(request.method(), request.uri().path(), query) {
            Some(detail) => Err(HttpFailure::unprocessable(detail)),
            None => Ok(()),
        }
    }
}

fn log_request(method: &Method, path: &str, response: &Response, started: Instant) {
    let status = response.status().as_u16();
    let ms = started.elapsed().as_secs_f64() * 1000.0;
    let path = share_paths::without_secret(path);
    tracing::info!(%method, %path, status, ms, "answered");
}

/// Returns the caller's request id if it is valid, otherwise a new one.
fn request_id(request: &Request) -> String {
    let usable = |id: &&str| {
        (1..=64).contains(&id.len())
            && id.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'))
    };
    let given = request.header(REQUEST_ID).filter(usable).map(str::to_owned);
    given.unwrap_or_else(|| uuid::Uuid::new_v4().simple().to_string())
}

fn panic_message(panic: &(dyn std::any::Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("not a text")
}
