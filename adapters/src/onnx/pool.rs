//! A pool of sessions of one model. Each session is lent to one caller at a time. Adapters call the
//! pool on blocking threads, where the call waits for a free session.

use std::path::Path;

use ort::session::{NoSelectedOutputs, RunOptions, Session};
use parking_lot::{Condvar, Mutex};
use ports::{ErrorKind, PortError, Result};

use super::{Inputs, Runtime};

/// Numbers of threads and sessions of an adapter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Threading {
    /// Number of threads per inference, at least 1.
    pub threads: usize,
    /// Number of parallel inferences, at least 1. Each session holds a copy of the model in memory.
    pub sessions: usize,
}

impl Default for Threading {
    fn default() -> Self {
        Self { threads: 1, sessions: 1 }
    }
}

/// After this many small runs in a row, the session releases the memory that it kept for larger
/// runs.
const SMALL_RUNS: u32 = 16;

/// The idle sessions.
pub(crate) struct Pool {
    idle: Mutex<Vec<PooledSession>>,
    returned: Condvar,
}

impl Pool {
    /// Opens as many sessions as `threading` specifies.
    pub(crate) fn open(
        runtime: &Runtime,
        model: &Path,
        threading: Threading,
        inputs: Inputs,
    ) -> Result<Self> {
        let sessions = (0..threading.sessions.max(1))
            .map(|_| {
                let session = runtime.session(model, threading.threads.max(1), inputs)?;
                Ok(PooledSession { session, retained: RetainedMemory::default() })
            })
            .collect::<Result<Vec<_>>>()?;
        Ok(Self { idle: Mutex::new(sessions), returned: Condvar::new() })
    }

    /// Runs `work` with a session. Waits for a free session if necessary. *Blocks*.
    pub(crate) fn with<T>(&self, work: impl FnOnce(&mut Session) -> Result<T>) -> Result<T> {
        self.acquire(|seat| work(&mut seat.session))
    }

    /// Like [`Self::with`], but for one run with an input of `values` values. It passes the run
    /// options that `work` must use. Use it for models that were opened with [`Inputs::Sized`] or
    /// [`Inputs::Short`].
    pub(crate) fn with_sized<T>(
        &self,
        values: usize,
        work: impl FnOnce(&mut Session, &RunOptions<NoSelectedOutputs>) -> Result<T>,
    ) -> Result<T> {
        self.acquire(|seat| {
            let too_much = seat.retained.should_release(values);
            let options =
                if too_much { release_memory()? } else { RunOptions::new().map_err(failed)? };
            work(&mut seat.session, &options)
        })
    }

    fn acquire<T>(&self, work: impl FnOnce(&mut PooledSession) -> Result<T>) -> Result<T> {
        let mut idle = self.idle.lock();
        let seat = loop {
            match idle.pop() {
                Some(seat) => break seat,
                None => self.returned.wait(&mut idle),
            }
        };
        drop(idle);
        let mut lent = SessionGuard { pool: self, seat: Some(seat) };
        match lent.seat.as_mut() {
            Some(seat) => work(seat),
            None => Err(PortError::new(ErrorKind::Other, "a lent session is missing")),
        }
    }
}

/// Returns run options that make the session release its working memory after the run.
pub(crate) fn release_memory() -> Result<RunOptions<NoSelectedOutputs>> {
    let mut options = RunOptions::new().map_err(failed)?;
    options.set("memory.enable_memory_arena_shrinkage", "cpu:0").map_err(failed)?;
    Ok(options)
}

/// A session and a record of the memory that it keeps.
struct PooledSession {
    session: Session,
    retained: RetainedMemory,
}

/// A record of the run sizes that determine how much memory a session keeps.
#[derive(Debug, Default)]
struct RetainedMemory {
    /// Number of values in the largest input for which memory is kept.
    largest: usize,
    /// Number of consecutive runs so far whose inputs had at most half as many values.
    small: u32,
}

impl RetainedMemory {
    /// Records a run with `values` values. Returns whether the run should release the memory that
    /// is kept for larger runs.
    fn should_release(&mut self, values: usize) -> bool {
        if values.saturating_mul(2) > self.largest {
            *self = Self { largest: self.largest.max(values), small: 0 };
            return false;
        }
        self.small += 1;
        if self.small < SMALL_RUNS {
            return false;
        }
        *self = Self { largest: values, small: 0 };
        true
    }
}

/// A guard that returns a session to the pool, even if the work panics.
struct SessionGuard<'a> {
    pool: &'a Pool,
    seat: Option<PooledSession>,
}

impl Drop for SessionGuard<'_> {
    fn drop(&mut self) {
        if let Some(seat) = self.seat.take() {
            self.pool.idle.lock().push(seat);
            self.pool.returned.notify_one();
        }
    }
}

/// Converts the error of a failed inference to a port error.
pub(crate) fn failed(e: ort::Error) -> PortError {
    PortError::new(ErrorKind::Other, format!("inference failed: {e}"))
}

/// Returns the error for a model that does not match its configuration.
pub(crate) fn unfit(model: &Path, why: impl std::fmt::Display) -> PortError {
    PortError::new(ErrorKind::Invalid, format!("the model {} does not fit: {why}", model.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_released_after_small_runs() {
        let mut retained = RetainedMemory::default();
        let released = |retained: &mut RetainedMemory, runs: &[usize]| -> Vec<usize> {
            let runs = runs.iter().enumerate();
            runs.filter(|(_, values)| retained.should_release(**values)).map(|(i, _)| i).collect()
        };
        assert!(released(&mut retained, &[1000; 40]).is_empty(), "all alike");
        let mut mixed = vec![400; 15];
        mixed.push(900);
        assert!(
            released(&mut retained, &[mixed.clone(), mixed].concat()).is_empty(),
            "still in use"
        );
        assert_eq!(released(&mut retained, &[400; 40]), [15], "once");
        assert!(released(&mut retained, &[1000, 400, 400]).is_empty(), "grown again");
    }
}
