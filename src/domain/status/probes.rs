//! Health probes for ports, with cached results. A port is probed at most once per interval, no
//! matter how many requests arrive, and requests wait only briefly for a probe.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures::future::BoxFuture;
use parking_lot::RwLock;
use ports::{ErrorKind, PortError};
use tokio::sync::Notify;
use tokio::time::{Instant, timeout};

use crate::kernel::error::Error;

/// Timing of health probes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ProbeSettings {
    /// How long a probe result is reused.
    pub interval: Duration,
    /// Interval between background probes. A longer interval saves money, since object stores bill
    /// every probe.
    pub idle_probe_interval: Duration,
    /// Timeout for a probe.
    pub timeout: Duration,
    /// How long a request waits for a new result if the last one has expired.
    pub patience: Duration,
    /// Whether storage is local. Local storage is probed on every request.
    pub storage_is_local: bool,
}

impl Default for ProbeSettings {
    fn default() -> Self {
        Self {
            interval: Duration::from_secs(1),
            idle_probe_interval: Duration::from_secs(1),
            timeout: Duration::from_millis(1500),
            patience: Duration::from_millis(40),
            storage_is_local: false,
        }
    }
}

/// The result of a probe. The error has the form `TypeName: message`.
pub type ProbeOutcome = Result<(), String>;

type ProbeFn = Box<dyn Fn() -> BoxFuture<'static, Result<(), Error>> + Send + Sync>;

/// A probe for one port, with its last result.
pub(super) struct PortProbe {
    /// The name of the check, which says what a successful probe means.
    pub(super) check: &'static str,
    port: &'static str,
    run: ProbeFn,
    settings: ProbeSettings,
    last: RwLock<Option<(Instant, ProbeOutcome)>>,
    in_flight: AtomicBool,
    finished: Notify,
}

impl PortProbe {
    pub(super) fn new(
        check: &'static str,
        port: &'static str,
        settings: ProbeSettings,
        run: impl Fn() -> BoxFuture<'static, Result<(), Error>> + Send + Sync + 'static,
    ) -> Arc<Self> {
        Arc::new(Self {
            check,
            port,
            run: Box::new(run),
            settings,
            last: RwLock::default(),
            in_flight: AtomicBool::new(false),
            finished: Notify::new(),
        })
    }

    /// Returns the last result. If it has expired, waits briefly for a new one. If there is none
    /// yet, waits as long as the probe may take.
    pub(super) async fn outcome(self: &Arc<Self>) -> ProbeOutcome {
        let wait = match self.last() {
            Some((at, outcome)) if at.elapsed() < self.settings.interval => return outcome,
            Some(_) => self.settings.patience,
            None => self.settings.timeout + self.settings.patience,
        };
        let mut finished = std::pin::pin!(self.finished.notified());
        finished.as_mut().enable();
        self.start();
        // After a timeout, the last result is returned.
        let _ = timeout(wait, finished).await;
        self.last().map_or_else(|| Err(self.timeout_message()), |(_, outcome)| outcome)
    }

    fn last(&self) -> Option<(Instant, ProbeOutcome)> {
        self.last.read().clone()
    }

    /// Starts a probe, unless one is in flight.
    fn start(self: &Arc<Self>) {
        if self.in_flight.swap(true, Ordering::AcqRel) {
            return;
        }
        let probe = self.clone();
        tokio::spawn(async move {
            let _guard = InFlightGuard(&probe);
            let outcome = match timeout(probe.settings.timeout, (probe.run)()).await {
                Ok(outcome) => outcome.map_err(|error| error.labelled()),
                Err(_) => Err(probe.timeout_message()),
            };
            probe.record(outcome);
        });
    }

    /// Stores a result. Logs when the port stops or starts answering.
    fn record(&self, outcome: ProbeOutcome) {
        let mut last = self.last.write();
        let failed = matches!(&*last, Some((_, Err(_))));
        match &outcome {
            Err(error) if !failed => tracing::warn!(port = self.port, error, "does not answer"),
            Ok(()) if failed => tracing::info!(port = self.port, "answers again"),
            _ => {}
        }
        *last = Some((Instant::now(), outcome));
    }

    fn timeout_message(&self) -> String {
        let message = format!(
            "{} did not answer within {} s (http.probe_timeout)",
            self.port,
            self.settings.timeout.as_secs_f64()
        );
        Error::Port(PortError::new(ErrorKind::Timeout, message)).labelled()
    }
}

/// Marks the probe as finished when dropped.
struct InFlightGuard<'p>(&'p PortProbe);

impl Drop for InFlightGuard<'_> {
    fn drop(&mut self) {
        self.0.in_flight.store(false, Ordering::Release);
        self.0.finished.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use futures::FutureExt;
    use parking_lot::Mutex;

    use super::*;

    const SETTINGS: ProbeSettings = ProbeSettings {
        interval: Duration::from_secs(2),
        idle_probe_interval: Duration::from_secs(15),
        timeout: Duration::from_secs(1),
        patience: Duration::from_millis(40),
        storage_is_local: false,
    };

    /// The behaviour of a fake port.
    #[derive(Clone, Copy)]
    enum Behaviour {
        Answer,
        Refuse,
        Hang,
    }

    /// Creates a probe for a fake port. Also returns the port's behaviour and the number of calls.
    fn port() -> (Arc<PortProbe>, Arc<Mutex<Behaviour>>, Arc<AtomicUsize>) {
        let (behaviour, calls) =
            (Arc::new(Mutex::new(Behaviour::Answer)), Arc::new(AtomicUsize::new(0)));
        let (now, count) = (behaviour.clone(), calls.clone());
        let run = move || {
            count.fetch_add(1, Ordering::SeqCst);
            let behaviour = *now.lock();
            async move {
                match behaviour {
                    Behaviour::Answer => Ok(()),
                    Behaviour::Refuse => {
                        Err(PortError::new(ErrorKind::Unavailable, "refused").into())
                    }
                    Behaviour::Hang => std::future::pending().await,
                }
            }
            .boxed()
        };
        (PortProbe::new("storage answers", "storage", SETTINGS, run), behaviour, calls)
    }

    #[tokio::test(start_paused = true)]
    async fn ports_are_probed_once_per_interval() {
        let (probe, behaviour, calls) = port();
        for (what, count) in [(Behaviour::Answer, 1), (Behaviour::Refuse, 2), (Behaviour::Hang, 3)]
        {
            *behaviour.lock() = what;
            let all = (0..500).map(|_| probe.outcome());
            futures::future::join_all(all).await;
            assert_eq!(calls.load(Ordering::SeqCst), count);
            tokio::time::sleep(SETTINGS.interval + SETTINGS.timeout).await;
        }
    }

    #[tokio::test(start_paused = true)]
    async fn hanging_ports_do_not_delay_requests() {
        let (probe, behaviour, _) = port();
        assert_eq!(probe.outcome().await, Ok(()));
        *behaviour.lock() = Behaviour::Hang;
        tokio::time::sleep(SETTINGS.interval).await;
        let started = Instant::now();
        assert_eq!(probe.outcome().await, Ok(()), "the last result");
        assert!(started.elapsed() < Duration::from_millis(100), "{:?}", started.elapsed());
        tokio::time::sleep(SETTINGS.timeout).await;
        let timeout_message = probe.outcome().await.expect_err("it hangs");
        assert!(
            timeout_message.contains("TimeoutError: storage did not answer within 1 s"),
            "{timeout_message}"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn expired_results_are_refreshed() {
        let (probe, behaviour, _) = port();
        for (what, ok) in
            [(Behaviour::Answer, true), (Behaviour::Refuse, false), (Behaviour::Answer, true)]
        {
            *behaviour.lock() = what;
            tokio::time::sleep(SETTINGS.interval).await;
            assert_eq!(probe.outcome().await.is_ok(), ok);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn first_request_waits_for_the_probe() {
        let (probe, behaviour, _) = port();
        *behaviour.lock() = Behaviour::Hang;
        assert!(probe.outcome().await.expect_err("it hangs").contains("http.probe_timeout"));
    }
}
