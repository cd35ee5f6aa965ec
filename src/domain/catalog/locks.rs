//! Who works on which video: one job at a time, the next one waits. Each lock is entered in the
//! records, so that a start knows what the process before it was at when it died. Where instances
//! share their records, the entry is a lease, which ends by itself when its holder dies.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use ports::ErrorKind;
use ports::records::{Precondition, RecordStore};
use serde_json::{Value, json};
use tokio::sync::{Mutex as AsyncMutex, OwnedMutexGuard};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::domain::kernel::error::{Error, Result};
use crate::domain::kernel::video::VideoId;

/// How often a lease that another instance holds is looked at.
const POLL: Duration = Duration::from_secs(1);

/// A lease is renewed so many times within its length.
const RENEWALS: u32 = 4;

/// What one at a time may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Locked {
    /// Change this video.
    Video(VideoId),
    /// Repair all of them.
    Repair,
}

impl From<VideoId> for Locked {
    fn from(video_id: VideoId) -> Self {
        Self::Video(video_id)
    }
}

impl fmt::Display for Locked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Video(video_id) => video_id.fmt(f),
            Self::Repair => f.write_str("repair"),
        }
    }
}

/// Which videos are being changed right now.
pub struct VideoLocks {
    held: Mutex<HashMap<Locked, Weak<AsyncMutex<()>>>>,
    records: Arc<dyn RecordStore>,
    /// Where other instances change the videos too.
    leases: Option<Leases>,
}

/// The right to change one video, given back when dropped.
pub struct VideoLock {
    entry: Entry,
    _guard: OwnedMutexGuard<()>,
}

/// How a lock is entered in the records.
enum Entry {
    Lease(Lease),
    Note(Note),
}

#[derive(Clone)]
struct Leases {
    records: Arc<dyn RecordStore>,
    length: Duration,
}

/// The entry of a process that is alone. It has a key of its own, so that its removal, which nobody
/// waits for, is never that of the next one.
struct Note {
    records: Arc<dyn RecordStore>,
    what: Locked,
    key: String,
}

struct Lease {
    /// When it was last entered, and how long it holds from then.
    renewed: Arc<Mutex<Instant>>,
    length: Duration,
    /// Cancelled when the lease has passed to another.
    lost: CancellationToken,
    /// Cancelled when the lease is no longer needed.
    done: CancellationToken,
}

impl Lease {
    /// Whether another instance may have it: a quarter of its length is left for clocks that differ.
    fn is_over(&self) -> bool {
        self.lost.is_cancelled() || is_over(&self.renewed, self.length)
    }
}

fn is_over(renewed: &Mutex<Instant>, length: Duration) -> bool {
    let renewed = *renewed.lock().unwrap_or_else(PoisonError::into_inner);
    renewed.elapsed() > length * (RENEWALS - 1) / RENEWALS
}

impl VideoLocks {
    /// VideoLocks within this process, or, with the length of a lease, among all that share `records`.
    pub fn new(records: Arc<dyn RecordStore>, lease: Option<Duration>) -> Self {
        let leases = lease.map(|length| Leases { records: records.clone(), length });
        Self { held: Mutex::default(), records, leases }
    }

    /// Whether other instances may change the videos too.
    pub(crate) fn are_shared(&self) -> bool {
        self.leases.is_some()
    }

    /// The videos whose lock somebody has, or had when they died.
    pub(crate) async fn entered(&self) -> Result<Vec<VideoId>> {
        let names = self.records.children("claims/").await?;
        Ok(names.iter().filter_map(|name| of_entry(name)).collect())
    }

    /// Waits until nobody else changes the video.
    pub async fn lock(&self, what: impl Into<Locked>) -> Result<VideoLock> {
        let what = what.into();
        loop {
            let guard = self.local(what).lock_owned().await;
            if let Some(entry) = self.enter(what).await? {
                return Ok(VideoLock { entry, _guard: guard });
            }
            drop(guard);
            tokio::time::sleep(POLL).await;
        }
    }

    /// The lock, unless someone else changes the video right now.
    pub async fn try_lock(&self, what: impl Into<Locked>) -> Result<Option<VideoLock>> {
        let what = what.into();
        let Ok(guard) = self.local(what).try_lock_owned() else { return Ok(None) };
        let entry = self.enter(what).await?;
        Ok(entry.map(|entry| VideoLock { entry, _guard: guard }))
    }

    /// Enters a lock, unless another instance has it.
    async fn enter(&self, what: Locked) -> Result<Option<Entry>> {
        if let Some(leases) = &self.leases {
            return Ok(leases.take(what).await?.map(Entry::Lease));
        }
        let key = format!("claims/{what}-{}.json", uuid::Uuid::new_v4().simple());
        self.records.put(&key, &json!({ "since": now() })).await?;
        let records = self.records.clone();
        Ok(Some(Entry::Note(Note { records, what, key })))
    }

    fn local(&self, what: Locked) -> Arc<AsyncMutex<()>> {
        let mut held = self.held.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        held.retain(|_, lock| lock.strong_count() > 0);
        match held.get(&what).and_then(Weak::upgrade) {
            Some(lock) => lock,
            None => {
                let lock = Arc::new(AsyncMutex::new(()));
                held.insert(what, Arc::downgrade(&lock));
                lock
            }
        }
    }
}

impl VideoLock {
    /// Removes what processes that died have entered of this video. A lease ends by itself.
    pub(crate) async fn forget_the_dead(&self) -> Result<()> {
        let Entry::Note(Note { records, what, key }) = &self.entry else { return Ok(()) };
        for name in records.children("claims/").await? {
            let of_dead = format!("claims/{name}");
            if of_entry(&name).map(Locked::Video) == Some(*what) && of_dead != *key {
                records.delete(&of_dead).await?;
            }
        }
        Ok(())
    }

    /// Fails when the lock has passed to someone else: asked before what cannot be undone.
    pub fn check(&self) -> Result<()> {
        match &self.entry {
            Entry::Lease(lease) if lease.is_over() => Err(Error::Cancelled(
                "the shared records could not be reached for too long, so another instance may \
                 work on this video now; ingest it again"
                    .into(),
            )),
            _ => Ok(()),
        }
    }
}

impl Drop for Note {
    fn drop(&mut self) {
        let (records, key) = (self.records.clone(), std::mem::take(&mut self.key));
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        runtime.spawn(async move {
            if let Err(error) = records.delete(&key).await {
                tracing::warn!(%error, key, "the entry of a lock remains until a repair");
            }
        });
    }
}

/// The video that an entry below `claims/` is of.
fn of_entry(name: &str) -> Option<VideoId> {
    name.strip_suffix(".json")?.split('-').next()?.parse().ok()
}

impl Leases {
    /// The lease, unless another holder's has not ended yet.
    async fn take(&self, what: Locked) -> Result<Option<Lease>> {
        let key = format!("claims/{what}.json");
        let holder = uuid::Uuid::new_v4().simple().to_string();
        let before = match self.records.get(&key).await {
            // Nobody holds what nobody can read.
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
        let (asked, mine) = (Instant::now(), self.lease(&holder));
        if !self.records.compare_and_swap(&key, before, &mine).await? {
            return Ok(None);
        }
        let lease = Lease {
            renewed: Arc::new(Mutex::new(asked)),
            length: self.length,
            lost: CancellationToken::new(),
            done: CancellationToken::new(),
        };
        let (renewed, lost, done) = (lease.renewed.clone(), lease.lost.clone(), lease.done.clone());
        tokio::spawn(self.clone().hold(key, holder, mine, renewed, lost, done));
        Ok(Some(lease))
    }

    /// Renews a lease until it is done with, and then gives it back.
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
            let (asked, next) = (Instant::now(), self.lease(&holder));
            // A store that hangs must not hide that the lease is over.
            match tokio::time::timeout(every, self.renew(&key, &holder, &mine, &next)).await {
                Ok(Ok(Some(now))) => {
                    mine = now;
                    *renewed.lock().unwrap_or_else(PoisonError::into_inner) = asked;
                }
                Ok(Ok(None)) => return lost.cancel(),
                Ok(Err(error)) => tracing::warn!(%error, key, "a lease could not be renewed"),
                Err(_) => tracing::warn!(key, "a lease could not be renewed in time"),
            }
            if is_over(&renewed, self.length) {
                return lost.cancel();
            }
        }
        // It may have ended in between: then it is not ours to remove.
        if is_over(&renewed, self.length) {
            return;
        }
        if let Err(error) = self.records.delete(&key).await {
            tracing::warn!(%error, key, "a lease could not be given back; it ends by itself");
        }
    }

    /// The lease as it is stored once it was renewed; `None` when another holder has it.
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
        // An answer that got lost may have renewed it all the same.
        let found = self.records.get(key).await?;
        Ok(found.filter(|found| found["holder"] == holder))
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
