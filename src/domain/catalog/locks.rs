//! Who works on which video: one job at a time, the next one waits. Where instances share their
//! records, a lock is also a lease there, which ends by itself when its holder dies.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, Weak};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use ports::ErrorKind;
use ports::records::{Expected, RecordStore};
use serde_json::{Value, json};
use tokio::sync::{Mutex as AsyncMutex, OwnedMutexGuard};
use tokio_util::sync::CancellationToken;

use crate::domain::kernel::error::{Error, Result};

/// How often a lease that another instance holds is looked at.
const POLL: Duration = Duration::from_secs(1);

/// A lease is renewed so many times within its length.
const RENEWALS: u32 = 4;

/// Which videos are being changed right now.
pub struct VideoLocks {
    held: Mutex<HashMap<String, Weak<AsyncMutex<()>>>>,
    leases: Option<Leases>,
}

/// The right to change one video, given back when dropped.
pub struct VideoLock {
    lease: Option<Lease>,
    _guard: OwnedMutexGuard<()>,
}

#[derive(Clone)]
struct Leases {
    records: Arc<dyn RecordStore>,
    length: Duration,
}

struct Lease {
    /// Cancelled when the lease could not be renewed in time.
    lost: CancellationToken,
    /// Cancelled when the lease is no longer needed.
    done: CancellationToken,
}

impl VideoLocks {
    /// VideoLocks within this process, or, with the length of a lease, among all that share `records`.
    pub fn new(records: Arc<dyn RecordStore>, lease: Option<Duration>) -> Self {
        let leases = lease.map(|length| Leases { records, length });
        Self { held: Mutex::default(), leases }
    }

    /// Waits until nobody else changes the video.
    pub async fn lock(&self, video_id: &str) -> Result<VideoLock> {
        loop {
            let guard = self.local(video_id).lock_owned().await;
            let Some(leases) = &self.leases else {
                return Ok(VideoLock { lease: None, _guard: guard });
            };
            if let Some(lease) = leases.take(video_id).await? {
                return Ok(VideoLock { lease: Some(lease), _guard: guard });
            }
            drop(guard);
            tokio::time::sleep(POLL).await;
        }
    }

    /// The lock, unless someone else changes the video right now.
    pub async fn try_lock(&self, video_id: &str) -> Result<Option<VideoLock>> {
        let Ok(guard) = self.local(video_id).try_lock_owned() else { return Ok(None) };
        let Some(leases) = &self.leases else {
            return Ok(Some(VideoLock { lease: None, _guard: guard }));
        };
        let lease = leases.take(video_id).await?;
        Ok(lease.map(|lease| VideoLock { lease: Some(lease), _guard: guard }))
    }

    fn local(&self, video_id: &str) -> Arc<AsyncMutex<()>> {
        let mut held = self.held.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        held.retain(|_, lock| lock.strong_count() > 0);
        match held.get(video_id).and_then(Weak::upgrade) {
            Some(lock) => lock,
            None => {
                let lock = Arc::new(AsyncMutex::new(()));
                held.insert(video_id.to_owned(), Arc::downgrade(&lock));
                lock
            }
        }
    }
}

impl VideoLock {
    /// Fails when the lock has passed to someone else: asked before what cannot be undone.
    pub fn check(&self) -> Result<()> {
        match &self.lease {
            Some(lease) if lease.lost.is_cancelled() => Err(Error::Cancelled(
                "the shared records could not be reached for too long, so another instance may \
                 work on this video now; ingest it again"
                    .into(),
            )),
            _ => Ok(()),
        }
    }
}

impl Leases {
    /// The lease, unless another holder's has not ended yet.
    async fn take(&self, video_id: &str) -> Result<Option<Lease>> {
        let key = format!("claims/{video_id}.json");
        let holder = uuid::Uuid::new_v4().simple().to_string();
        let before = match self.records.get(&key).await {
            // Nobody holds what nobody can read.
            Err(e) if e.kind() == ErrorKind::Corrupt => Err(Expected::Unreadable),
            read => Ok(read?),
        };
        let before = match &before {
            Ok(lease) => Expected::from(lease.as_ref()),
            Err(unreadable) => *unreadable,
        };
        if let Expected::Document(lease) = before
            && lease["until"].as_f64().is_some_and(|ends| ends > now())
        {
            return Ok(None);
        }
        let mine = self.lease(&holder);
        if !self.records.compare_and_swap(&key, before, &mine).await? {
            return Ok(None);
        }
        let lease = Lease { lost: CancellationToken::new(), done: CancellationToken::new() };
        let (lost, done) = (lease.lost.clone(), lease.done.clone());
        tokio::spawn(self.clone().hold(key, holder, mine, lost, done));
        Ok(Some(lease))
    }

    /// Renews a lease until it is done with, and then gives it back.
    async fn hold(
        self,
        key: String,
        holder: String,
        mut mine: Value,
        lost: CancellationToken,
        done: CancellationToken,
    ) {
        let mut renewed = tokio::time::Instant::now();
        loop {
            tokio::select! {
                () = done.cancelled() => break,
                () = tokio::time::sleep(self.length / RENEWALS) => {}
            }
            let next = self.lease(&holder);
            match self.records.compare_and_swap(&key, Expected::Document(&mine), &next).await {
                Ok(true) => {
                    mine = next;
                    renewed = tokio::time::Instant::now();
                }
                Ok(false) => {
                    // An answer that got lost may have renewed it all the same.
                    match self.records.get(&key).await {
                        Ok(Some(found)) if found["holder"] == holder.as_str() => mine = found,
                        _ => return lost.cancel(),
                    }
                }
                Err(error) => tracing::warn!(%error, key, "a lease could not be renewed"),
            }
            // A quarter of its length is left for clocks that differ.
            if renewed.elapsed() > self.length * (RENEWALS - 1) / RENEWALS {
                return lost.cancel();
            }
        }
        // It may have ended in between: then it is not ours to remove.
        if renewed.elapsed() > self.length * (RENEWALS - 1) / RENEWALS {
            return;
        }
        if let Err(error) = self.records.delete(&key).await {
            tracing::warn!(%error, key, "a lease could not be given back; it ends by itself");
        }
    }

    fn lease(&self, holder: &str) -> Value {
        json!({ "holder": holder, "until": now() + self.length.as_secs_f64() })
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.done.cancel();
    }
}

/// Seconds since 1970, by this machine's clock.
fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64()
}
