//! `/metrics` for Prometheus, `/live` for liveness probes, `/ready` for load balancers.

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
use domain::catalog::readiness::StoreState;
use domain::kernel;

const REQUESTS: &str = "shotlog_http_requests_total";
const REQUEST: &str = "shotlog_http_request_duration_seconds";

/// How often recorded samples are folded into the histograms.
const UPKEEP: Duration = Duration::from_secs(5);

/// Upper bounds of the latency buckets, seconds: from a cached read to a long upload or stage.
const BUCKETS: &[f64] = &[
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0,
    300.0, 1800.0,
];

/// The process's recorder, installed on first use. `None` if another recorder is installed.
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

/// Folds recorded samples periodically: otherwise every sample stays in memory until `/metrics` is read.
pub(super) async fn upkeep() {
    loop {
        tokio::time::sleep(UPKEEP).await;
        if let Some(recorder) = recorder() {
            recorder.run_upkeep();
        }
    }
}

/// Records a completed request.
pub(super) fn record_request(method: &str, route: Option<String>, status: u16, after: Duration) {
    // All unknown paths share one label, to bound the number of labels.
    let route = route.unwrap_or_else(|| "other".into());
    histogram!(REQUEST, "route" => route.clone()).record(after);
    let method = match method {
        "GET" | "HEAD" | "POST" | "PUT" | "DELETE" | "OPTIONS" | "PATCH" => method.to_owned(),
        _ => "other".to_owned(),
    };
    let status = status.to_string();
    counter!(REQUESTS, "method" => method, "route" => route, "status" => status).increment(1);
}

/// All metrics in the Prometheus text format.
#[handler]
pub(super) async fn metrics_page(request: &Request, service: Data<&Service>) -> Result<Response> {
    let Some(recorder) = recorder() else {
        return Err(Failure::not_found("the program measures itself elsewhere").into());
    };
    // Probe failures are logged where they occur.
    let _ =
        service.scoped(&Token::extract(request)?).refresh_gauges().await.map_err(Failure::from)?;
    recorder.run_upkeep();
    Ok(Response::builder()
        .content_type("text/plain; version=0.0.4; charset=utf-8")
        .body(recorder.render()))
}

/// Liveness: always 200. Touches no store, so an outage elsewhere restarts nothing.
#[handler]
pub(super) fn live() -> Response {
    Response::builder().content_type("application/json").body(json!({ "live": true }).to_string())
}

/// Readiness: 200 if the service and every dependency work, else 503. Needs no token, so it names the
/// failed checks without details.
#[handler]
pub(super) async fn ready(service: Data<&Service>) -> Response {
    let mut checks = Map::new();
    let mut ready = service.takes_jobs();
    if !ready {
        checks.insert("not stopping".into(), "failed".into());
    }
    if service.store_readiness() != StoreState::Ready {
        ready = false;
        checks.insert("stores opened".into(), "failed".into());
    }
    if !service.index_is_complete() {
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
