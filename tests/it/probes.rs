//! Probes of load balancers and supervisors: `/live`, `/ready` and `/health` while a store is down.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use poem::Request;
use poem::http::Method;
use ports::conformance::faults::{Fault, Faults};
use tokio::sync::Barrier;

use crate::support::{Setup, TestApp, mentions};

fn with_short_timeouts(setup: &mut Setup) {
    setup.settings.probes.timeout = Duration::from_millis(20);
}

#[tokio::test]
async fn health_answers_while_a_store_hangs() {
    let app = TestApp::with(with_short_timeouts).await;
    app.storage.probes.hang();
    let health = app.get("/health").await.ok();
    assert_eq!(health["status"], "degraded");
    let error = health["storage"]["error"].as_str().expect("why");
    mentions(error, &["TimeoutError: ", "storage", "0.02 s", "http.probe_timeout"]);
}

#[tokio::test]
async fn ready_answers_while_stores_and_models_hang() {
    let app = TestApp::with(with_short_timeouts).await;
    app.storage.probes.hang();
    app.embedder.probes.hang();
    let reply = app.get("/ready").await;
    assert_eq!(reply.status, 503);
    let checks = &reply.json()["checks"];
    assert_eq!(
        (&checks["storage answers"], &checks["embedder answers"]),
        (&"failed".into(), &"failed".into())
    );
    assert_eq!(checks["records answer"], "ok");
}

#[tokio::test]
async fn probes_run_concurrently() {
    let app = TestApp::new().await;
    let both = Arc::new(Barrier::new(2));
    app.storage.probes.meet(both.clone());
    app.embedder.probes.meet(both);
    assert_eq!(app.get("/ready").await.status, 200, "each probe waits until the other has started");
}

#[tokio::test]
async fn concurrent_requests_share_one_probe_per_interval() {
    let app = TestApp::with(|setup| {
        setup.settings.probes.interval = Duration::from_secs(600);
    })
    .await;
    let probes = (0..250).map(|_| async {
        assert_eq!(app.get("/health").await.status, 200);
        assert_eq!(app.get("/ready").await.status, 200);
    });
    futures::future::join_all(probes).await;
    assert_eq!((app.storage.probes.asked(), app.embedder.probes.asked()), (1, 1));
}

#[tokio::test]
async fn idle_service_probes_each_store_once_per_watch_interval() {
    let app = TestApp::with(|setup| {
        setup.settings.probes.idle_probe_interval = Duration::from_secs(600);
    })
    .await;
    let watch = app.service.status.watch();
    let watched = tokio::time::timeout(Duration::from_millis(300), watch).await;
    assert!(watched.is_err(), "watch never returns");
    assert_eq!((app.storage.probes.asked(), app.embedder.probes.asked()), (1, 1));
}

#[tokio::test]
async fn last_probe_result_is_served_while_a_store_hangs() {
    let app = TestApp::with(|setup| {
        let probes = &mut setup.settings.probes;
        (probes.timeout, probes.patience) = (Duration::from_secs(600), Duration::from_millis(1));
    })
    .await;
    assert_eq!(app.get("/ready").await.status, 200);
    app.storage.probes.hang();
    app.embedder.probes.hang();
    for _ in 0..20 {
        assert_eq!(app.get("/health").await.ok()["status"], "ok");
        assert_eq!(app.get("/ready").await.status, 200);
    }
    assert_eq!(app.storage.probes.asked(), 2, "no second probe starts while one is pending");
}

#[tokio::test]
async fn ready_sends_no_billed_request_to_the_embedder() {
    let app = TestApp::new().await;
    assert_eq!(app.get("/ready").await.ok()["ready"], true);
    assert_eq!(app.embedder.embedded.load(Ordering::SeqCst), 0, "no text was embedded");
    app.embedder.down.store(true, Ordering::SeqCst);
    assert_eq!(app.get("/ready").await.json()["checks"]["embedder answers"], "failed");
}

#[tokio::test]
async fn metrics_are_served_while_a_store_hangs() {
    let faults = Arc::new(Faults::default());
    let app = TestApp::with(|setup| {
        with_short_timeouts(setup);
        setup.settings.records.deadline = Duration::from_secs(1 << 30);
        setup.faults = Some(faults.clone());
    })
    .await;
    let metrics = async || {
        let page = app.request(Method::GET, "/metrics").finish();
        tokio::time::timeout(Duration::from_secs(60), app.raw(page))
            .await
            .expect("an answer")
            .text()
    };
    mentions(&metrics().await, &["shotlog_index_points", "shotlog_videos"]);
    faults.plan(1, Fault::Hangs);
    mentions(&metrics().await, &["shotlog_index_points", "shotlog_videos"]);
    mentions(&faults.clear().expect("the store was queried"), &["count"]);
}

#[tokio::test]
async fn liveness_touches_no_store_and_needs_no_token() {
    let app =
        TestApp::with(|setup| setup.http.auth.tokens = vec!["secret-token-of-tests".into()]).await;
    app.storage.down.store(true, Ordering::SeqCst);
    app.storage.probes.hang();
    app.embedder.probes.hang();
    let live = app.raw(Request::builder().uri_str("/live").finish()).await;
    assert_eq!((live.status, &live.json()["live"]), (200, &true.into()), "{}", live.text());
}

#[test]
fn manifests_use_live_as_the_liveness_probe() {
    let read = |file: &str| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("deploy").join(file);
        std::fs::read_to_string(path).expect("a manifest")
    };
    let deployment = read("kubernetes/deployment.yaml");
    for (probe, path) in [("startup", "/live"), ("liveness", "/live"), ("readiness", "/ready")] {
        let (_, rest) = deployment.split_once(&format!("{probe}Probe:")).expect("a probe");
        let request = rest.lines().nth(1).unwrap_or_default();
        mentions(request, &[&format!("path: {path},")]);
    }
    let compose = read("compose.yaml");
    let (_, check) = compose.split_once("healthcheck:").expect("a check");
    mentions(check, &["GET /live HTTP/1.1"]);
    // The service waits for its stores itself; a command before it would fail without them.
    let unit = read("systemd/shotlog.service");
    assert!(unit.contains("ExecStart=") && !unit.contains("ExecStartPre="), "{unit}");
}
