//! Opens a resource on first use, because its server may not be up yet. For a short time after a
//! failed attempt, callers get the error of that attempt at once instead of waiting for another
//! attempt.

use std::time::{Duration, Instant};

use async_trait::async_trait;
use futures::future::BoxFuture;
use parking_lot::Mutex;
use ports::ownership::StoreOwnership;
use ports::{ErrorKind, PortError, Result};
use tokio::sync::OnceCell;

/// How long the error of a failed attempt is returned to callers.
const ERROR_TTL: Duration = Duration::from_secs(1);

/// A resource that is opened on first use.
pub(crate) struct Lazy<T> {
    cell: OnceCell<T>,
    open: Box<dyn Fn() -> BoxFuture<'static, Result<T>> + Send + Sync>,
    failed: Mutex<Option<(Instant, ErrorKind, String)>>,
}

impl<T: Send + Sync> Lazy<T> {
    pub(crate) fn new(
        open: impl Fn() -> BoxFuture<'static, Result<T>> + Send + Sync + 'static,
    ) -> Self {
        Self { cell: OnceCell::new(), open: Box::new(open), failed: Mutex::new(None) }
    }

    /// Returns the open resource; the first caller opens it.
    pub(crate) async fn get(&self) -> Result<&T> {
        self.cell.get_or_try_init(|| self.attempt()).await
    }

    async fn attempt(&self) -> Result<T> {
        let failed = self.failed.lock().clone();
        if let Some((at, kind, message)) = failed
            && at.elapsed() < ERROR_TTL
        {
            return Err(PortError::new(kind, message));
        }
        let opened = (self.open)().await;
        if let Err(error) = &opened {
            let failed = (Instant::now(), error.kind(), error.to_string());
            *self.failed.lock() = Some(failed);
        }
        opened
    }
}

#[async_trait]
impl<T: StoreOwnership> StoreOwnership for Lazy<T> {
    // All clients of a server share its data.
    fn shared(&self) -> bool {
        true
    }

    async fn adopt(&self, install: &str) -> Result<String> {
        self.get().await?.adopt(install).await
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use futures::FutureExt;
    use futures::future::join_all;

    use super::*;

    #[tokio::test]
    async fn callers_get_the_recent_error() {
        let attempts = Arc::new(AtomicUsize::new(0));
        let counted = attempts.clone();
        let lazy: Lazy<()> = Lazy::new(move || {
            counted.fetch_add(1, Ordering::SeqCst);
            async { Err(PortError::new(ErrorKind::Unavailable, "the server is down")) }.boxed()
        });
        for outcome in join_all((0..10).map(|_| lazy.get())).await {
            let error = outcome.expect_err("the server is down");
            assert_eq!(
                (error.kind(), error.to_string().as_str()),
                (ErrorKind::Unavailable, "the server is down")
            );
        }
        assert_eq!(attempts.load(Ordering::SeqCst), 1);
    }

    #[tokio::test]
    async fn open_resource_is_kept() {
        let attempts = Arc::new(AtomicUsize::new(0));
        let counted = attempts.clone();
        let lazy = Lazy::new(move || {
            let number = counted.fetch_add(1, Ordering::SeqCst);
            async move { Ok(number) }.boxed()
        });
        for _ in 0..3 {
            assert_eq!(*lazy.get().await.expect("open"), 0);
        }
    }
}
