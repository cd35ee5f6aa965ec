//! `serve`, `check`, `verify` and `reindex`: the commands that open the adapters themselves.

use std::net::SocketAddr;
use std::ops::{ControlFlow, RangeInclusive};
use std::sync::Arc;
use std::time::Duration;

use tokio::signal::unix::{SignalKind, signal};
use tokio::time::Instant;

use super::{Failure, app, startup};
use crate::config::Config;
use crate::domain::catalog::opening::Opened;
use crate::domain::ingest::RepairSettings;
use crate::domain::search::look::Look;
use crate::domain::search::reindex::{Reindexed, Repair};
use crate::domain::{Error, Shotlog};

/// How long the index is not checked again, whatever searches meet.
const CHECK_PAUSE: Duration = Duration::from_secs(10);

/// How long videos are looked at before it is noted how far that was: so much is done again after an end.
const STRETCH: Duration = Duration::from_secs(5);

/// How long requests may still take once the jobs have stopped: what is left of the grace, within this.
const LAST_REQUESTS: RangeInclusive<Duration> = Duration::from_secs(1)..=Duration::from_secs(5);

/// Runs the service until SIGINT, SIGTERM or SIGHUP.
pub(super) async fn serve(config: &Config, remove_orphans: bool) -> Result<(), Failure> {
    let listen = &config.http.listen;
    let unheard = |e| format!("cannot listen on {listen} (http.listen): {e}");
    let listener = crate::http::listen(listen).await.map_err(unheard)?;
    let address = listener.local_addr().map_err(unheard)?;
    let app = app::build_to_serve(config, address).await?;
    for (role, adapter) in &app.roles {
        tracing::info!(%role, %adapter);
    }
    for (analyzer, why) in app.service.status.health().await.unavailable {
        tracing::warn!(%analyzer, %why, "analyzer not available");
    }
    app.service.ingest.clear_work().await?;
    app.service.catalog.opening.enter(Opened::Trying);
    tokio::spawn(begin(app.service.clone(), config.clone(), remove_orphans));
    app.service.catalog.opening.attempted(startup::PATIENCE).await;
    if let Opened::Refused(why) = app.service.catalog.opening.now() {
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
            _ = service.catalog.opening.refused() => {}
        }
        tracing::info!("stopping: running jobs get {} s", grace.as_secs());
        let end = Instant::now() + grace;
        // Reads go on until the jobs have stopped; then the listener closes.
        service.jobs.stop(grace).await;
        let left = end.saturating_duration_since(Instant::now());
        left.clamp(*LAST_REQUESTS.start(), *LAST_REQUESTS.end())
    };
    let mounts = crate::mcp::mount(app.service.clone(), config.mcp.clone());
    let routes = crate::http::app(app.service, app.http, mounts.into_iter().collect());
    crate::http::serve(listener, routes, &config.http, stop).await;
    match opened.catalog.opening.now() {
        Opened::Refused(why) => Err(why.into()),
        _ => Ok(()),
    }
}

/// Reads the index whole, now and then since damage that no search meets stays unseen otherwise, and
/// when a search or a change has met some.
async fn check_index(service: Arc<Shotlog>, every: Duration) {
    loop {
        match service.search.mend_index().await {
            Ok(None) => {}
            Ok(Some(done)) => tell(&done),
            Err(error) => tracing::error!(
                error = %error.labelled(),
                "the index could not be checked, or not be repaired; `shotlog reindex` builds it again"
            ),
        }
        let due = (!every.is_zero()).then(|| Instant::now() + every);
        tokio::time::sleep(CHECK_PAUSE).await;
        service.search.check_due(due).await;
    }
}

/// What begins with the stores: their repair, the jobs, and what is measured.
async fn begin(service: Arc<Shotlog>, config: Config, remove_orphans: bool) {
    let repair = Repair { remove_orphans, ..Repair::default() };
    if !startup::open(service.clone(), repair).await {
        return;
    }
    let repair = Repair { unfinished: !remove_orphans, ..repair };
    tokio::spawn(calibrate(service.clone()));
    tokio::spawn(check_index(service.clone(), config.domain.index.check_interval));
    resume(&service).await;
    service.jobs.start();
    repair_now_and_then(service, repair, config.domain.records).await;
}

/// Measures what scores are worth with this embedder, so that no search waits for it.
async fn calibrate(service: Arc<Shotlog>) {
    if let Err(error) = service.search.calibrate().await {
        tracing::warn!(
            error = %error.labelled(),
            "scores could not be calibrated; the next search tries again"
        );
    }
}

/// Looks now and then at the videos that a change has left unfinished, since an instance may die and a
/// store fail at any time, and beside the requests at all of them, where that is due.
async fn repair_now_and_then(service: Arc<Shotlog>, orphans: Repair, settings: RepairSettings) {
    let (mut repair, mut begun) = (orphans, None);
    loop {
        match service.search.reindex(repair).await {
            Ok(done) => {
                tell(&done);
                repair = Repair { unfinished: true, ..Repair::default() };
            }
            Err(error) => tracing::warn!(error = %error.labelled(), "the index was not checked"),
        }
        sweep(&service).await;
        service.fill_reserve().await;
        let next = Instant::now() + settings.repair_interval.max(Duration::from_secs(1));
        begun = match look(&service, begun, settings.scrub_interval, next).await {
            Ok(left) => left,
            Err(error) => {
                tracing::warn!(error = %error.labelled(), "not every video was looked at");
                None
            }
        };
        tokio::time::sleep_until(next).await;
        resume(&service).await;
    }
}

/// Goes on with a look at every video, or begins the one that is due, until then: what is left of it.
async fn look(
    service: &Shotlog,
    begun: Option<Look>,
    every: Duration,
    until: Instant,
) -> Result<Option<Look>, Error> {
    let mut look = match begun {
        None => service.search.look_that_is_due(every).await?,
        begun => begun,
    };
    while let Some(begun) = look.take() {
        match service.search.look_on(begun, STRETCH).await? {
            ControlFlow::Break(done) => tell(&done),
            ControlFlow::Continue(left) if Instant::now() < until => look = Some(left),
            ControlFlow::Continue(left) => return Ok(Some(left)),
        }
    }
    Ok(None)
}

/// Forgets the uploads that nobody went on with.
async fn sweep(service: &Shotlog) {
    match service.ingest.uploads.sweep().await {
        Ok(0) => {}
        Ok(swept) => tracing::info!(swept, "uploads whose time was over were removed"),
        Err(error) => {
            tracing::warn!(error = %error.labelled(), "old uploads are not removed yet");
        }
    }
}

/// Queues again the jobs that an instance left behind when it died.
async fn resume(service: &Shotlog) {
    if let Err(error) = service.jobs.resume().await {
        tracing::warn!(error = %error.labelled(), "jobs that were left behind are not taken up yet");
    }
}

pub(super) fn tell(repaired: &Reindexed) {
    if repaired.rebuilt + repaired.orphans > 0 {
        tracing::warn!(
            rebuilt = repaired.rebuilt,
            orphans = repaired.orphans,
            "the index disagreed with the records and was brought in line"
        );
    }
}

/// Waits for the first signal that asks the process to end.
async fn stop_signal() {
    let mut kinds = vec![SignalKind::interrupt(), SignalKind::terminate()];
    // Under nohup the service outlives its terminal.
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

/// Whether the process was started to ignore SIGHUP, by its `/proc/<pid>/status`.
fn ignores_hangup(status: &str) -> bool {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    mask & (1 << (SignalKind::hangup().as_raw_value() - 1)) != 0
}

/// Says what serves each role and whether it answers.
pub(super) async fn check(config: &Config) -> Result<(), Failure> {
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

/// Says what does not agree between records, objects and vectors.
pub(super) async fn verify(config: &Config) -> Result<(), Failure> {
    let app = app::build(config, listen_address(config)?).await?;
    let found = app.service.catalog.verify().await?;
    for problem in &found.problems {
        println!("{problem}");
    }
    println!(
        "{} videos, {} being worked on, {} problems",
        found.videos,
        found.busy,
        found.problems.len()
    );
    if found.problems.is_empty() {
        Ok(())
    } else {
        Err("records, objects and vectors disagree".into())
    }
}

/// Rebuilds every point from the records.
pub(super) async fn reindex(config: &Config, remove_orphans: bool) -> Result<(), Failure> {
    let done = app::reindex(config, listen_address(config)?, remove_orphans).await?;
    println!(
        "{} videos, {} analyzers rebuilt, {} orphans removed, {} kept, {} videos do not read back",
        done.videos, done.rebuilt, done.orphans, done.orphans_kept, done.unreadable
    );
    Ok(())
}

fn listen_address(config: &Config) -> Result<SocketAddr, Failure> {
    use std::net::ToSocketAddrs;
    let listen = &config.http.listen;
    let mut addresses = listen
        .to_socket_addrs()
        .map_err(|e| format!("http.listen is '{listen}', which is no address and port: {e}"))?;
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
