//! `/metrics`, for Prometheus, `/live`, for whoever restarts the process, and `/ready`, for a
//! balancer.

use std::sync::OnceLock;
use std::time::Duration;

use metrics::{Unit, counter, describe_counter, describe_histogram, histogram};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};
use poem::http::StatusCode;
use poem::web::Data;
use poem::{Request, Response, Result, handler};
use serde_json::{Map, Value, json};

use super::auth::{Service, Token};
use super::errors::Failure;
use crate::domain::catalog::opening::Opened;
use crate::domain::kernel;

const REQUESTS: &str = "shotlog_http_requests_total";
const REQUEST: &str = "shotlog_http_request_duration_seconds";

/// How long measured times are kept before they are counted.
const UPKEEP: Duration = Duration::from_secs(5);

/// Upper ends of the latency buckets, seconds: from a cached read to a long upload or stage.
const BUCKETS: &[f64] = &[
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0,
    300.0, 1800.0,
];

/// The process's recorder, installed the first time it is asked for. `None` where another one is.
pub(super) fn recorder() -> Option<&'static PrometheusHandle> {
    static RECORDER: OnceLock<Option<PrometheusHandle>> = OnceLock::new();
    let install = || {
        let builder = PrometheusBuilder::new()
            .set_buckets_for_metric(Matcher::Suffix("_seconds".into()), BUCKETS)
            .map_err(|e| e.to_string());
        match builder.and_then(|b| b.install_recorder().map_err(|e| e.to_string())) {
            Ok(handle) => {
                describe_counter!(REQUESTS, "Requests by method, route and status.");
                describe_histogram!(REQUEST, Unit::Seconds, "Time to answer a request, by route.");
                kernel::metrics::describe();
                Some(handle)
            }
            Err(error) => {
                tracing::warn!(error, "/metrics is not available");
                None
            }
        }
    };
    RECORDER.get_or_init(install).as_ref()
}

/// Counts what was measured, again and again: until then each measured time is kept, and nobody may
/// ask for `/metrics`.
pub(super) async fn upkeep() {
    loop {
        tokio::time::sleep(UPKEEP).await;
        if let Some(recorder) = recorder() {
            recorder.run_upkeep();
        }
    }
}

/// A request has been answered.
pub(super) fn answered(method: &str, route: Option<String>, status: u16, after: Duration) {
    // One label for every path that is no route: strangers' paths must not become labels.
    let route = route.unwrap_or_else(|| "other".into());
    histogram!(REQUEST, "route" => route.clone()).record(after);
    let method = match method {
        "GET" | "HEAD" | "POST" | "PUT" | "DELETE" | "OPTIONS" | "PATCH" => method.to_owned(),
        _ => "other".to_owned(),
    };
    let status = status.to_string();
    counter!(REQUESTS, "method" => method, "route" => route, "status" => status).increment(1);
}

/// Everything measured, in the Prometheus text format.
#[handler]
pub(super) async fn page(request: &Request, service: Data<&Service>) -> Result<Response> {
    let Some(recorder) = recorder() else {
        return Err(Failure::not_found("the program measures itself elsewhere").into());
    };
    // Why looking failed is logged where it was first seen.
    let _ = service.of(&Token::of(request)?).measured().await.map_err(Failure::from)?;
    recorder.run_upkeep();
    Ok(Response::builder()
        .content_type("text/plain; version=0.0.4; charset=utf-8")
        .body(recorder.render()))
}

/// Whether the process answers: 200, whatever it stands on. Touches no store, so that an outage
/// elsewhere restarts nothing.
#[handler]
pub(super) fn live() -> Response {
    Response::builder().content_type("application/json").body(json!({ "live": true }).to_string())
}

/// Whether the service should get requests: 200 when everything it stands on answers, else 503. It
/// needs no token, so it names what fails and not why.
#[handler]
pub(super) async fn ready(service: Data<&Service>) -> Response {
    let mut checks = Map::new();
    let mut ready = service.takes_jobs();
    if !ready {
        checks.insert("not stopping".into(), "failed".into());
    }
    if service.opened() != Opened::Open {
        ready = false;
        checks.insert("stores opened".into(), "failed".into());
    }
    if !service.index_is_whole() {
        ready = false;
        checks.insert("index written again".into(), "failed".into());
    }
    for (check, outcome) in service.status().probe().await {
        ready &= outcome.is_ok();
        checks.insert(check.into(), Value::from(if outcome.is_ok() { "ok" } else { "failed" }));
    }
    let body = json!({ "ready": ready, "checks": checks }).to_string();
    let status = if ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    Response::builder().status(status).content_type("application/json").body(body)
}
