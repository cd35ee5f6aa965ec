//! Runs CPU-bound work on blocking threads instead of async threads. The work owns its data.

use ports::{ErrorKind, PortError, Result};

/// Runs `work` on a blocking thread. A panic becomes an error.
pub(crate) async fn run<T: Send + 'static>(
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|e| {
        Err(PortError::caused_by(ErrorKind::Other, "a computation ended abnormally", e))
    })
}
