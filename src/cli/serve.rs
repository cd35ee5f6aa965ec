//! `serve`, `check`, `verify` and `reindex`: the commands that open the adapters themselves.

use std::net::SocketAddr;
use std::ops::RangeInclusive;
use std::time::Duration;

use tokio::signal::unix::{SignalKind, signal};
use tokio::time::Instant;

use super::{BoxError, app};
use crate::config::Config;
use domain::records::readiness::StoreState;

/// Maximum time that the listener waits for the first attempt to open the stores.
const STARTUP_WAIT: Duration = Duration::from_secs(5);

/// Range of the time that requests may take after the jobs have stopped. The remaining grace period
/// is clamped to this range.
const REQUEST_GRACE: RangeInclusive<Duration> = Duration::from_secs(1)..=Duration::from_secs(5);

/// Runs the service until SIGINT, SIGTERM or SIGHUP.
pub(super) async fn serve(config: &Config, remove_orphans: bool) -> Result<(), BoxError> {
    let listen = &config.http.listen;
    let listen_error = |e| format!("cannot listen on {listen} (http.listen): {e}");
    let listener = crate::http::listen(listen).await.map_err(listen_error)?;
    let address = listener.local_addr().map_err(listen_error)?;
    let app = app::build_to_serve(config, address).await?;
    for (role, adapter) in &app.roles {
        tracing::info!(%role, %adapter);
    }
    for (analyzer, why) in app.service.status.health().await.unavailable {
        tracing::warn!(%analyzer, %why, "analyzer not available");
    }
    app.service.sources.clear().await?;
    app.service.catalog.readiness.set(StoreState::Connecting);
    tokio::spawn(app.service.maintenance.background.clone().run(remove_orphans));
    app.service.catalog.readiness.first_attempt(STARTUP_WAIT).await;
    if let StoreState::Rejected(why) = app.service.catalog.readiness.state() {
        return Err(why.into());
    }
    tracing::info!(url = %app.http.base_url, ui = !app.http.server.api_only, "listening");
    let grace = config.shutdown.grace;
    let (service, opened) = (app.service.clone(), app.service.clone());
    let watched = app.service.clone();
    tokio::spawn(async move { watched.status.watch().await });
    let stop = async move {
        tokio::select! {
            () = stop_signal() => {}
            _ = service.catalog.readiness.rejected() => {}
        }
        tracing::info!("stopping: running jobs get {} s", grace.as_secs());
        let end = Instant::now() + grace;
        // Reads are served until the jobs have stopped; then the listener closes.
        service.jobs.worker.stop(grace).await;
        let remaining = end.saturating_duration_since(Instant::now());
        remaining.clamp(*REQUEST_GRACE.start(), *REQUEST_GRACE.end())
    };
    let mounts = crate::mcp::mount(app.service.clone(), config.mcp.clone());
    let routes = crate::http::app(app.service, app.http, mounts.into_iter().collect());
    crate::http::serve(listener, routes, &config.http, stop).await;
    match opened.catalog.readiness.state() {
        StoreState::Rejected(why) => Err(why.into()),
        _ => Ok(()),
    }
}

/// Waits for the first signal that stops the process.
async fn stop_signal() {
    let mut kinds = vec![SignalKind::interrupt(), SignalKind::terminate()];
    // Under nohup, the service must outlive its terminal.
    if !ignores_hangup(&std::fs::read_to_string("/proc/self/status").unwrap_or_default()) {
        kinds.push(SignalKind::hangup());
    }
    let mut signals: Vec<_> = kinds.into_iter().filter_map(|kind| signal(kind).ok()).collect();
    if signals.is_empty() {
        return std::future::pending().await;
    }
    let received = signals.iter_mut().map(|signal| Box::pin(signal.recv()));
    futures::future::select_all(received).await;
}

/// Whether the process was started with SIGHUP ignored, according to its `/proc/<pid>/status`.
fn ignores_hangup(status: &str) -> bool {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    mask & (1 << (SignalKind::hangup().as_raw_value() - 1)) != 0
}

/// Prints the adapter for each role and whether it works.
pub(super) async fn check(config: &Config) -> Result<(), BoxError> {
    println!("configuration    ok");
    let app = app::build(config, listen_address(config)?).await?;
    for (role, adapter) in &app.roles {
        println!("{role:<16} {adapter}");
    }
    let mut failed = false;
    for (port, outcome) in app.service.status.probe().await {
        match outcome {
            Ok(()) => println!("{port:<16} ok"),
            Err(error) => {
                failed = true;
                println!("{port:<16} FAILED {error}");
            }
        }
    }
    for (analyzer, why) in app.service.status.health().await.unavailable {
        println!("{analyzer:<16} not available: {why}");
    }
    if let Ok(Some(advice)) = app.service.status.advice().await {
        println!("{:<16} {advice}", "index");
    }
    if failed { Err("a port does not answer".into()) } else { Ok(()) }
}

/// Prints inconsistencies between records, objects and vectors.
pub(super) async fn verify(config: &Config) -> Result<(), BoxError> {
    let app = app::build(config, listen_address(config)?).await?;
    let report = app.service.maintenance.verification.run().await?;
    for problem in &report.problems {
        println!("{problem}");
    }
    println!(
        "{} videos, {} being worked on, {} problems",
        report.videos,
        report.busy,
        report.problems.len()
    );
    if report.problems.is_empty() {
        Ok(())
    } else {
        Err("records, objects and vectors disagree".into())
    }
}

/// Rebuilds every point from the records.
pub(super) async fn reindex(config: &Config, remove_orphans: bool) -> Result<(), BoxError> {
    let done = app::reindex(config, listen_address(config)?, remove_orphans).await?;
    println!(
        "{} videos, {} analyzers rebuilt, {} orphans removed, {} kept, {} videos do not read back",
        done.videos, done.rebuilt, done.orphans, done.orphans_kept, done.unreadable
    );
    Ok(())
}

fn listen_address(config: &Config) -> Result<SocketAddr, BoxError> {
    use std::net::ToSocketAddrs;
    let listen = &config.http.listen;
    let mut addresses = listen
        .to_socket_addrs()
        .map_err(|e| format!("http.listen is '{listen}'; it must be an address and port: {e}"))?;
    addresses.next().ok_or_else(|| format!("http.listen '{listen}' resolves to nothing").into())
}

#[cfg(test)]
mod tests {
    use super::ignores_hangup;

    #[test]
    fn a_process_under_nohup_ignores_sighup() {
        let status =
            |mask: &str| format!("Name:\tshotlog\nSigBlk:\t0000000000000000\nSigIgn:\t{mask}\n");
        assert!(ignores_hangup(&status("0000000000001001")));
        assert!(!ignores_hangup(&status("0000000000001000")));
        assert!(!ignores_hangup(""));
    }
}
