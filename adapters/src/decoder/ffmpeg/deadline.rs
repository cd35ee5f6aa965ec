//! The deadline for reading a file.

use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::Error;

/// The deadline for reading a file. It is shared with FFmpeg, which polls it.
pub(super) struct Deadline {
    start: Instant,
    limit_us: AtomicU64,
}

impl Deadline {
    pub(super) fn new(limit: Duration) -> Self {
        let deadline = Self { start: Instant::now(), limit_us: AtomicU64::new(0) };
        deadline.set(limit);
        deadline
    }

    /// Sets the deadline to `limit` after the file was opened.
    pub(super) fn set(&self, limit: Duration) {
        let us = u64::try_from(limit.as_micros()).unwrap_or(u64::MAX);
        self.limit_us.store(us, Ordering::Relaxed);
    }

    pub(super) fn check(&self) -> Result<(), Error> {
        if self.passed() {
            let seconds = self.limit_us.load(Ordering::Relaxed) as f64 / 1e6;
            return Err(Error::Deadline(seconds));
        }
        Ok(())
    }

    pub(super) fn passed(&self) -> bool {
        self.start.elapsed().as_micros() > u128::from(self.limit_us.load(Ordering::Relaxed))
    }
}

/// FFmpeg's interrupt callback.
pub(super) extern "C" fn interrupted(deadline: *mut c_void) -> c_int {
    #[expect(unsafe_code, reason = "FFI")]
    // SAFETY: `Input` keeps the registered `Deadline` alive for longer than its context.
    let deadline = unsafe { &*deadline.cast::<Deadline>() };
    c_int::from(deadline.passed())
}
