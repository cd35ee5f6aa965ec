//! Records request metrics, and installs the recorder that `/metrics` reads.

use std::sync::OnceLock;
use std::time::Duration;

use metrics::{Unit, counter, describe_counter, describe_histogram, histogram};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};

use domain::kernel;

const REQUESTS: &str = "shotlog_http_requests_total";
const REQUEST: &str = "shotlog_http_request_duration_seconds";

/// Interval at which recorded samples are folded into the histograms.
const UPKEEP: Duration = Duration::from_secs(5);

/// Upper bounds of the latency buckets, in seconds. They range from a cached read to a long upload
/// or ingest stage.
const BUCKETS: &[f64] = &[
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0,
    300.0, 1800.0,
];

/// Returns the process's recorder, which is installed on first use. Returns `None` if another
/// recorder is installed.
pub(crate) fn recorder() -> Option<&'static PrometheusHandle> {
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

/// Periodically folds recorded samples into the histograms. Without this, every sample would stay
/// in memory until `/metrics` is read.
pub(crate) async fn upkeep() {
    loop {
        tokio::time::sleep(UPKEEP).await;
        if let Some(recorder) = recorder() {
            recorder.run_upkeep();
        }
    }
}

/// Records a completed request.
pub(crate) fn record_request(method: &str, route: Option<String>, status: u16, after: Duration) {
    // All unknown paths share one label, to limit the number of labels.
    let route = route.unwrap_or_else(|| "other".into());
    histogram!(REQUEST, "route" => route.clone()).record(after);
    let method = match method {
        "GET" | "HEAD" | "POST" | "PUT" | "DELETE" | "OPTIONS" | "PATCH" => method.to_owned(),
        _ => "other".to_owned(),
    };
    let status = status.to_string();
    counter!(REQUESTS, "method" => method, "route" => route, "status" => status).increment(1);
}
