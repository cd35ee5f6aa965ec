//! Locks on videos: one job works on a video at a time, and the next one waits. Each lock is stored
//! in the records, so that a restarted process finds the videos that the previous one was working
//! on when it died. If instances share their records, the stored lock is a lease, which expires if
//! its holder dies.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Weak};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use parking_lot::Mutex;
use ports::ErrorKind;
use ports::records::{Precondition, RecordStore};
use serde_json::{Value, json};
use tokio::sync::{Mutex as AsyncMutex, OwnedMutexGuard};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::kernel::error::{Error, Result};
use crate::kernel::video::VideoId;

/// Interval between checks of a lease that another instance holds.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// Number of times that a lease is renewed within its length.
const RENEWALS: u32 = 4;

/// What a lock protects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LockTarget {
    /// Changes to this video.
    Video(VideoId),
    /// The repair of all videos.
    Repair,
}

impl From<VideoId> for LockTarget {
    fn from(video_id: VideoId) -> Self {
        Self::Video(video_id)
    }
}

impl fmt::Display for LockTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Video(video_id) => video_id.fmt(f),
            Self::Repair => f.write_str("repair"),
        }
    }
}

/// The locks on videos.
pub struct VideoLocks {
    held: Mutex<HashMap<LockTarget, Weak<AsyncMutex<()>>>>,
    records: Arc<dyn RecordStore>,
    /// `Some` if other instances share the records.
    leases: Option<Leases>,
}

/// The exclusive right to change one video. Dropping it releases the lock.
pub struct VideoLock {
    stored: StoredLock,
    _guard: OwnedMutexGuard<()>,
}

/// How a lock is stored in the records.
enum StoredLock {
    Lease(LockLease),
    Note(LockNote),
}

#[derive(Clone)]
struct Leases {
    records: Arc<dyn RecordStore>,
    length: Duration,
}

/// A lock in records that are not shared. Each lock has a unique key, because it is removed in the
/// background, and the removal must not delete a later lock.
struct LockNote {
    records: Arc<dyn RecordStore>,
    target: LockTarget,
    key: String,
}

struct LockLease {
    /// When the lease was last renewed; it is valid for `length` from then on.
    renewed: Arc<Mutex<Instant>>,
    length: Duration,
    /// Cancelled when the lease is lost to another holder.
    lost: CancellationToken,
    /// Cancelled to release the lease.
    done: CancellationToken,
}

impl LockLease {
    /// Whether another instance may already hold the lease. As a margin for clock skew, the lease
    /// counts as expired after three quarters of its length.
    fn is_expired(&self) -> bool {
        self.lost.is_cancelled() || is_expired(&self.renewed, self.length)
    }
}

fn is_expired(renewed: &Mutex<Instant>, length: Duration) -> bool {
    let renewed = *renewed.lock();
    renewed.elapsed() > length * (RENEWALS - 1) / RENEWALS
}

impl VideoLocks {
    /// Creates the locks. If `lease` gives the length of a lease, the locks apply across all
    /// instances that share `records`. Otherwise, they apply only within this process.
    pub fn new(records: Arc<dyn RecordStore>, lease: Option<Duration>) -> Self {
        let leases = lease.map(|length| Leases { records: records.clone(), length });
        Self { held: Mutex::default(), records, leases }
    }

    /// Whether other instances share the records.
    pub(crate) fn are_shared(&self) -> bool {
        self.leases.is_some()
    }

    /// Lists the videos with a stored lock, including locks left by processes that died.
    pub(crate) async fn locked_videos(&self) -> Result<Vec<VideoId>> {
        let names = self.records.children("claims/").await?;
        Ok(names.iter().filter_map(|name| locked_video(name)).collect())
    }

    /// Waits until the lock is free, then takes it.
    pub async fn lock(&self, target: impl Into<LockTarget>) -> Result<VideoLock> {
        let target = target.into();
        loop {
            let guard = self.local(target).lock_owned().await;
            if let Some(stored) = self.store(target).await? {
                return Ok(VideoLock { stored, _guard: guard });
            }
            drop(guard);
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }

    /// Takes the lock; returns `None` if someone else holds it.
    pub async fn try_lock(&self, target: impl Into<LockTarget>) -> Result<Option<VideoLock>> {
        let target = target.into();
        let Ok(guard) = self.local(target).try_lock_owned() else { return Ok(None) };
        let stored = self.store(target).await?;
        Ok(stored.map(|stored| VideoLock { stored, _guard: guard }))
    }

    /// Stores a lock; returns `None` if another instance holds it.
    async fn store(&self, target: LockTarget) -> Result<Option<StoredLock>> {
        if let Some(leases) = &self.leases {
            return Ok(leases.acquire(target).await?.map(StoredLock::Lease));
        }
        let key = format!("claims/{target}-{}.json", uuid::Uuid::new_v4().simple());
        self.records.put(&key, &json!({ "since": now() })).await?;
        let records = self.records.clone();
        Ok(Some(StoredLock::Note(LockNote { records, target, key })))
    }

    fn local(&self, target: LockTarget) -> Arc<AsyncMutex<()>> {
        let mut held = self.held.lock();
        held.retain(|_, lock| lock.strong_count() > 0);
        match held.get(&target).and_then(Weak::upgrade) {
            Some(lock) => lock,
            None => {
                let lock = Arc::new(AsyncMutex::new(()));
                held.insert(target, Arc::downgrade(&lock));
                lock
            }
        }
    }
}

impl VideoLock {
    /// Removes the stored locks that dead processes left on this video. Leases do not need this,
    /// since they expire.
    pub(crate) async fn remove_stale_locks(&self) -> Result<()> {
        let StoredLock::Note(LockNote { records, target, key }) = &self.stored else {
            return Ok(());
        };
        for name in records.children("claims/").await? {
            let stale_key = format!("claims/{name}");
            if locked_video(&name).map(LockTarget::Video) == Some(*target) && stale_key != *key {
                records.delete(&stale_key).await?;
            }
        }
        Ok(())
    }

    /// Checks that the lock is still held; returns `Cancelled` if another instance may have taken
    /// it. Call this before irreversible changes.
    pub fn check(&self) -> Result<()> {
        match &self.stored {
            StoredLock::Lease(lease) if lease.is_expired() => Err(Error::Cancelled(
                "the shared records could not be reached for too long, so another instance may \
                 work on this video now; ingest it again"
                    .into(),
            )),
            _ => Ok(()),
        }
    }
}

impl Drop for LockNote {
    fn drop(&mut self) {
        let (records, key) = (self.records.clone(), std::mem::take(&mut self.key));
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        runtime.spawn(async move {
            if let Err(error) = records.delete(&key).await {
                tracing::warn!(%error, key, "a stored lock could not be removed and remains until a repair");
            }
        });
    }
}

/// Returns the video that a stored lock under `claims/` protects.
fn locked_video(name: &str) -> Option<VideoId> {
    name.strip_suffix(".json")?.split('-').next()?.parse().ok()
}

impl Leases {
    /// Acquires the lease; returns `None` if another holder's lease has not expired yet.
    async fn acquire(&self, target: LockTarget) -> Result<Option<LockLease>> {
        let key = format!("claims/{target}.json");
        let holder = uuid::Uuid::new_v4().simple().to_string();
        let before = match self.records.get(&key).await {
            // An unreadable lease has no holder.
            Err(e) if e.kind() == ErrorKind::Corrupt => Err(Precondition::Unreadable),
            read => Ok(read?),
        };
        let before = match &before {
            Ok(lease) => Precondition::from(lease.as_ref()),
            Err(unreadable) => *unreadable,
        };
        if let Precondition::Document(lease) = before
            && lease["until"].as_f64().is_some_and(|ends| ends > now())
        {
            return Ok(None);
        }
        let (requested, mine) = (Instant::now(), self.lease(&holder));
        if !self.records.compare_and_swap(&key, before, &mine).await? {
            return Ok(None);
        }
        let lease = LockLease {
            renewed: Arc::new(Mutex::new(requested)),
            length: self.length,
            lost: CancellationToken::new(),
            done: CancellationToken::new(),
        };
        let (renewed, lost, done) = (lease.renewed.clone(), lease.lost.clone(), lease.done.clone());
        tokio::spawn(self.clone().hold(key, holder, mine, renewed, lost, done));
        Ok(Some(lease))
    }

    /// Renews a lease until it is no longer needed, then releases it.
    async fn hold(
        self,
        key: String,
        holder: String,
        mut mine: Value,
        renewed: Arc<Mutex<Instant>>,
        lost: CancellationToken,
        done: CancellationToken,
    ) {
        let every = self.length / RENEWALS;
        loop {
            tokio::select! {
                () = done.cancelled() => break,
                () = tokio::time::sleep(every) => {}
            }
            let (requested, next) = (Instant::now(), self.lease(&holder));
            // Limit the time, so that a hanging store does not hide that the lease has expired.
            match tokio::time::timeout(every, self.renew(&key, &holder, &mine, &next)).await {
                Ok(Ok(Some(now))) => {
                    mine = now;
                    *renewed.lock() = requested;
                }
                Ok(Ok(None)) => return lost.cancel(),
                Ok(Err(error)) => tracing::warn!(%error, key, "a lease could not be renewed"),
                Err(_) => tracing::warn!(key, "the renewal of a lease timed out"),
            }
            if is_expired(&renewed, self.length) {
                return lost.cancel();
            }
        }
        // If the lease has expired in the meantime, it may belong to another holder.
        if is_expired(&renewed, self.length) {
            return;
        }
        if let Err(error) = self.records.delete(&key).await {
            tracing::warn!(%error, key, "a lease could not be released; it will expire");
        }
    }

    /// Renews the lease and returns it as stored; returns `None` if another holder has it.
    async fn renew(
        &self,
        key: &str,
        holder: &str,
        mine: &Value,
        next: &Value,
    ) -> ports::Result<Option<Value>> {
        if self.records.compare_and_swap(key, Precondition::Document(mine), next).await? {
            return Ok(Some(next.clone()));
        }
        // The renewal may have succeeded although its response was lost.
        let current = self.records.get(key).await?;
        Ok(current.filter(|current| current["holder"] == holder))
    }

    fn lease(&self, holder: &str) -> Value {
        json!({ "holder": holder, "until": now() + self.length.as_secs_f64() })
    }
}

impl Drop for LockLease {
    fn drop(&mut self) {
        self.done.cancel();
    }
}

/// Returns the seconds since 1970 according to this machine's clock.
fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64()
}
