//! `/metrics` for Prometheus, `/live` for liveness probes, `/ready` for load balancers.

use poem::http::StatusCode;
use poem::web::Data;
use poem::{Request, Response, Result, get, handler};
use serde_json::{Map, Value, json};

use crate::http::edge::auth::{CallerToken, Service};
use crate::http::edge::metrics::recorder;
use crate::http::edge::route_table::PlainRoute;
use crate::http::wire::failure::HttpFailure;
use domain::records::readiness::StoreState;

/// The routes of this file. Metrics need a token, probes do not.
pub(super) fn routes() -> [PlainRoute; 3] {
    [
        PlainRoute::new("/metrics", "GET, HEAD", get(metrics_page)),
        PlainRoute::new("/live", "GET, HEAD", get(live)).without_token(),
        PlainRoute::new("/ready", "GET, HEAD", get(ready)).without_token(),
    ]
}

/// Returns all metrics in the Prometheus text format.
#[handler]
async fn metrics_page(request: &Request, service: Data<&Service>) -> Result<Response> {
    let Some(recorder) = recorder() else {
        return Err(HttpFailure::not_found("the program measures itself elsewhere").into());
    };
    // The outcome is ignored, because failures are logged where they occur.
    let _ = service
        .scoped(&CallerToken::extract(request)?)
        .unrestricted()
        .map_err(HttpFailure::from)?
        .refresh_gauges()
        .await;
    recorder.run_upkeep();
    Ok(Response::builder()
        .content_type("text/plain; version=0.0.4; charset=utf-8")
        .body(recorder.render()))
}

/// Liveness probe: always returns 200. It accesses no store, so that an outage elsewhere does not
/// cause a restart.
#[handler]
fn live() -> Response {
    Response::builder().content_type("application/json").body(json!({ "live": true }).to_string())
}

/// Readiness probe: returns 200 if the service and all its dependencies work, otherwise 503. It
/// needs no token, so it names the failed checks without details.
#[handler]
async fn ready(service: Data<&Service>) -> Response {
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
