//! Several sessions of one model, lent to one caller at a time. Adapters call it on blocking
//! threads; it waits there for a session to come back.

use std::path::Path;
use std::sync::{Condvar, Mutex};

use ort::session::Session;
use ports::{ErrorKind, PortError, Result};

use super::{Inputs, Runtime, lock};

/// How an adapter uses the processor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Threading {
    /// Threads inside one inference, at least 1.
    pub threads: usize,
    /// Inferences that run at once, at least 1. Each holds a copy of the model in memory.
    pub sessions: usize,
}

impl Default for Threading {
    fn default() -> Self {
        Self { threads: 1, sessions: 1 }
    }
}

/// The sessions that wait for work.
pub(crate) struct Pool {
    idle: Mutex<Vec<Session>>,
    returned: Condvar,
}

impl Pool {
    /// Opens the model as often as `threading` says.
    pub(crate) fn open(
        runtime: &Runtime,
        model: &Path,
        threading: Threading,
        inputs: Inputs,
    ) -> Result<Self> {
        let sessions = (0..threading.sessions.max(1))
            .map(|_| runtime.session(model, threading.threads.max(1), inputs))
            .collect::<Result<Vec<_>>>()?;
        Ok(Self { idle: Mutex::new(sessions), returned: Condvar::new() })
    }

    /// Hands a session to `work`, waiting for one if need be. *Blocks*.
    pub(crate) fn with<T>(&self, work: impl FnOnce(&mut Session) -> Result<T>) -> Result<T> {
        let mut idle = lock(&self.idle);
        let session = loop {
            match idle.pop() {
                Some(session) => break session,
                None => {
                    idle =
                        self.returned.wait(idle).unwrap_or_else(|poisoned| poisoned.into_inner());
                }
            }
        };
        drop(idle);
        let mut lent = Lent { pool: self, session: Some(session) };
        match lent.session.as_mut() {
            Some(session) => work(session),
            None => Err(PortError::new(ErrorKind::Other, "a lent session is missing")),
        }
    }
}

/// Brings a session back even when the work panics.
struct Lent<'a> {
    pool: &'a Pool,
    session: Option<Session>,
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        if let Some(session) = self.session.take() {
            lock(&self.pool.idle).push(session);
            self.pool.returned.notify_one();
        }
    }
}

/// An inference that failed, as a port error.
pub(crate) fn failed(e: ort::Error) -> PortError {
    PortError::new(ErrorKind::Other, format!("the model could not be run: {e}"))
}

/// A model that is not of the kind it was configured as.
pub(crate) fn unfit(model: &Path, why: impl std::fmt::Display) -> PortError {
    PortError::new(ErrorKind::Invalid, format!("the model {} does not fit: {why}", model.display()))
}
