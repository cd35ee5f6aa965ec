//! Whether what the service stands on answers, as it was last seen. Whoever asks is answered at once,
//! and however many ask, a port is asked once per interval.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use futures::future::BoxFuture;
use ports::{ErrorKind, PortError};
use tokio::sync::Notify;
use tokio::time::{Instant, timeout};

use crate::domain::kernel::error::Error;

/// How ports are asked.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ProbeSettings {
    /// How long an outcome holds.
    pub interval: Duration,
    /// How often a port is asked that nobody asks about: a bucket bills each time.
    pub idle_probe_interval: Duration,
    /// How long a port may take to answer.
    pub timeout: Duration,
    /// How long whoever asks waits for a newer outcome than one that does not hold any more.
    pub patience: Duration,
    /// Whether storage is part of this machine, so that it is asked whenever somebody wants to know.
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

/// `TypeName: message` of what is wrong.
pub type Outcome = Result<(), String>;

type Ask = Box<dyn Fn() -> BoxFuture<'static, Result<(), Error>> + Send + Sync>;

/// One port, and what was last seen of it.
pub(super) struct Probe {
    /// What holds when it answers.
    pub(super) check: &'static str,
    port: &'static str,
    ask: Ask,
    settings: ProbeSettings,
    last: RwLock<Option<(Instant, Outcome)>>,
    asking: AtomicBool,
    answered: Notify,
}

impl Probe {
    pub(super) fn new(
        check: &'static str,
        port: &'static str,
        settings: ProbeSettings,
        ask: impl Fn() -> BoxFuture<'static, Result<(), Error>> + Send + Sync + 'static,
    ) -> Arc<Self> {
        Arc::new(Self {
            check,
            port,
            ask: Box::new(ask),
            settings,
            last: RwLock::default(),
            asking: AtomicBool::new(false),
            answered: Notify::new(),
        })
    }

    /// What was last seen, after a short wait for something newer where that is too old; the first
    /// time, after as long as the port may take.
    pub(super) async fn outcome(self: &Arc<Self>) -> Outcome {
        let wait = match self.last() {
            Some((at, outcome)) if at.elapsed() < self.settings.interval => return outcome,
            Some(_) => self.settings.patience,
            None => self.settings.timeout + self.settings.patience,
        };
        let mut answered = std::pin::pin!(self.answered.notified());
        answered.as_mut().enable();
        self.start();
        // Late or not, the newest counts.
        let _ = timeout(wait, answered).await;
        self.last().map_or_else(|| Err(self.late()), |(_, outcome)| outcome)
    }

    fn last(&self) -> Option<(Instant, Outcome)> {
        self.last.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Asks the port, unless it is being asked.
    fn start(self: &Arc<Self>) {
        if self.asking.swap(true, Ordering::AcqRel) {
            return;
        }
        let probe = self.clone();
        tokio::spawn(async move {
            let _over = Over(&probe);
            let outcome = match timeout(probe.settings.timeout, (probe.ask)()).await {
                Ok(outcome) => outcome.map_err(|error| error.labelled()),
                Err(_) => Err(probe.late()),
            };
            probe.enter(outcome);
        });
    }

    /// Keeps an outcome, and says when it is another than before.
    fn enter(&self, outcome: Outcome) {
        let mut last = self.last.write().unwrap_or_else(PoisonError::into_inner);
        let failed = matches!(&*last, Some((_, Err(_))));
        match &outcome {
            Err(error) if !failed => tracing::warn!(port = self.port, error, "does not answer"),
            Ok(()) if failed => tracing::info!(port = self.port, "answers again"),
            _ => {}
        }
        *last = Some((Instant::now(), outcome));
    }

    fn late(&self) -> String {
        let message = format!(
            "{} did not answer within {} s (http.probe_timeout)",
            self.port,
            self.settings.timeout.as_secs_f64()
        );
        Error::Port(PortError::new(ErrorKind::Timeout, message)).labelled()
    }
}

/// The port is not being asked any more, whatever became of it.
struct Over<'p>(&'p Probe);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.asking.store(false, Ordering::Release);
        self.0.answered.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::sync::atomic::AtomicUsize;

    use futures::FutureExt;

    use super::*;

    const SETTINGS: ProbeSettings = ProbeSettings {
        interval: Duration::from_secs(2),
        idle_probe_interval: Duration::from_secs(15),
        timeout: Duration::from_secs(1),
        patience: Duration::from_millis(40),
        storage_is_local: false,
    };

    /// What a port does when it is asked.
    #[derive(Clone, Copy)]
    enum Does {
        Answer,
        Refuse,
        Hang,
    }

    /// A port, what it does, and how often it was asked.
    fn port() -> (Arc<Probe>, Arc<Mutex<Does>>, Arc<AtomicUsize>) {
        let (does, asked) = (Arc::new(Mutex::new(Does::Answer)), Arc::new(AtomicUsize::new(0)));
        let (now, count) = (does.clone(), asked.clone());
        let ask = move || {
            count.fetch_add(1, Ordering::SeqCst);
            let does = *now.lock().expect("unpoisoned");
            async move {
                match does {
                    Does::Answer => Ok(()),
                    Does::Refuse => Err(PortError::new(ErrorKind::Unavailable, "refused").into()),
                    Does::Hang => std::future::pending().await,
                }
            }
            .boxed()
        };
        (Probe::new("storage answers", "storage", SETTINGS, ask), does, asked)
    }

    #[tokio::test(start_paused = true)]
    async fn however_many_ask_a_port_is_asked_once_per_interval() {
        let (probe, does, asked) = port();
        for (what, count) in [(Does::Answer, 1), (Does::Refuse, 2), (Does::Hang, 3)] {
            *does.lock().expect("unpoisoned") = what;
            let all = (0..500).map(|_| probe.outcome());
            futures::future::join_all(all).await;
            assert_eq!(asked.load(Ordering::SeqCst), count);
            tokio::time::sleep(SETTINGS.interval + SETTINGS.timeout).await;
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_port_that_hangs_makes_nobody_wait() {
        let (probe, does, _) = port();
        assert_eq!(probe.outcome().await, Ok(()));
        *does.lock().expect("unpoisoned") = Does::Hang;
        tokio::time::sleep(SETTINGS.interval).await;
        let asked = Instant::now();
        assert_eq!(probe.outcome().await, Ok(()), "what was last seen");
        assert!(asked.elapsed() < Duration::from_millis(100), "{:?}", asked.elapsed());
        tokio::time::sleep(SETTINGS.timeout).await;
        let late = probe.outcome().await.expect_err("it hangs");
        assert!(late.contains("TimeoutError: storage did not answer within 1 s"), "{late}");
    }

    #[tokio::test(start_paused = true)]
    async fn after_a_pause_the_present_state_is_told() {
        let (probe, does, _) = port();
        for (what, ok) in [(Does::Answer, true), (Does::Refuse, false), (Does::Answer, true)] {
            *does.lock().expect("unpoisoned") = what;
            tokio::time::sleep(SETTINGS.interval).await;
            assert_eq!(probe.outcome().await.is_ok(), ok);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn the_first_time_a_port_has_as_long_as_it_may_take() {
        let (probe, does, _) = port();
        *does.lock().expect("unpoisoned") = Does::Hang;
        assert!(probe.outcome().await.expect_err("it hangs").contains("http.probe_timeout"));
    }
}
