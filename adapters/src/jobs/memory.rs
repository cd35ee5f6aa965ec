//! Jobs in memory. They are lost when the process ends.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, OnceLock};

use async_trait::async_trait;
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use parking_lot::{Mutex, MutexGuard};
use ports::Result;
use ports::jobs::{JobQueue, Lease, QueueLane, StoredJob};
use ports::ownership::StoreOwnership;
use serde_json::Value;
use tokio::sync::{Notify, watch};

/// A job queue in memory, with the jobs' documents.
#[derive(Default)]
pub struct MemoryJobs {
    shared_queue: Arc<SharedQueue>,
    shared: bool,
    owner: OnceLock<String>,
}

#[derive(Default)]
struct SharedQueue {
    state: Mutex<State>,
    /// Notify consumers that a job has entered their lane.
    main_filled: Notify,
    follow_up_filled: Notify,
}

#[derive(Default)]
struct State {
    jobs: HashMap<String, watch::Sender<StoredJob>>,
    main: VecDeque<String>,
    follow_up: VecDeque<String>,
    /// The number of deliveries of each unfinished job.
    deliveries: HashMap<String, u32>,
    version: u64,
}

impl MemoryJobs {
    /// Creates an empty queue.
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates an empty queue that several services in one process can share.
    pub fn shared() -> Self {
        Self { shared: true, ..Self::default() }
    }
}

impl State {
    fn lane(&mut self, lane: QueueLane) -> &mut VecDeque<String> {
        match lane {
            QueueLane::Main => &mut self.main,
            QueueLane::FollowUp => &mut self.follow_up,
        }
    }

    fn waiting_count(&self) -> usize {
        self.main.len() + self.follow_up.len()
    }

    /// Removes the first job from a lane. Returns its id and its number of deliveries.
    fn next(&mut self, lane: QueueLane) -> Option<(String, u32)> {
        let job_id = self.lane(lane).pop_front()?;
        let deliveries = self.deliveries.entry(job_id.clone()).or_default();
        *deliveries += 1;
        Some((job_id, *deliveries))
    }
}

impl SharedQueue {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    fn filled(&self, lane: QueueLane) -> &Notify {
        match lane {
            QueueLane::Main => &self.main_filled,
            QueueLane::FollowUp => &self.follow_up_filled,
        }
    }

    /// Puts a leased job back at the front of its lane.
    fn requeue(&self, lane: QueueLane, job_id: String) {
        let mut state = self.state();
        if state.jobs.contains_key(&job_id) {
            state.lane(lane).push_front(job_id);
            self.filled(lane).notify_one();
        }
    }
}

#[async_trait]
impl JobQueue for MemoryJobs {
    async fn add(
        &self,
        lane: QueueLane,
        job_id: &str,
        document: &Value,
    ) -> Result<Option<StoredJob>> {
        let mut state = self.shared_queue.state();
        if let Some(stored) = state.jobs.get(job_id) {
            return Ok(Some(stored.borrow().clone()));
        }
        state.version += 1;
        let (job_id, version) = (job_id.to_owned(), state.version);
        let stored = StoredJob { job_id: job_id.clone(), document: document.clone(), version };
        state.jobs.insert(job_id.clone(), watch::Sender::new(stored));
        state.lane(lane).push_back(job_id);
        self.shared_queue.filled(lane).notify_one();
        Ok(None)
    }

    async fn waiting_count(&self) -> Result<usize> {
        Ok(self.shared_queue.state().waiting_count())
    }

    async fn take(&self, lane: QueueLane) -> Result<Box<dyn Lease>> {
        let filled = self.shared_queue.filled(lane);
        loop {
            if let Some((job_id, deliveries)) = self.shared_queue.state().next(lane) {
                // Several notifications may have been merged into one.
                filled.notify_one();
                return Ok(Box::new(MemoryLease {
                    lane,
                    job_id,
                    deliveries,
                    shared_queue: Some(self.shared_queue.clone()),
                }));
            }
            filled.notified().await;
        }
    }

    async fn get(&self, job_id: &str) -> Result<Option<StoredJob>> {
        Ok(self.shared_queue.state().jobs.get(job_id).map(|stored| stored.borrow().clone()))
    }

    async fn list(&self) -> Result<Vec<StoredJob>> {
        Ok(self.shared_queue.state().jobs.values().map(|stored| stored.borrow().clone()).collect())
    }

    async fn compare_and_swap(
        &self,
        job_id: &str,
        version: u64,
        document: &Value,
    ) -> Result<Option<u64>> {
        let mut state = self.shared_queue.state();
        let next = state.version + 1;
        let Some(stored) = state.jobs.get(job_id) else { return Ok(None) };
        if stored.borrow().version != version {
            return Ok(None);
        }
        stored.send_modify(|stored| {
            stored.document = document.clone();
            stored.version = next;
        });
        state.version = next;
        Ok(Some(next))
    }

    async fn watch(&self, job_id: &str) -> Result<BoxStream<'static, Result<StoredJob>>> {
        let receiver = self.shared_queue.state().jobs.get(job_id).map(watch::Sender::subscribe);
        let Some(mut changes) = receiver else { return Ok(stream::pending().boxed()) };
        changes.mark_changed();
        let next = |mut changes: watch::Receiver<StoredJob>| async move {
            changes.changed().await.ok()?;
            let stored = changes.borrow_and_update().clone();
            Some((Ok(stored), changes))
        };
        Ok(stream::unfold(changes, next).boxed())
    }

    async fn withdraw(&self, job_id: &str) -> Result<bool> {
        let mut state = self.shared_queue.state();
        let before = state.waiting_count();
        for lane in [QueueLane::Main, QueueLane::FollowUp] {
            state.lane(lane).retain(|waiting| waiting != job_id);
        }
        state.deliveries.remove(job_id);
        Ok(state.waiting_count() < before)
    }

    async fn remove(&self, job_id: &str, version: u64) -> Result<()> {
        let mut state = self.shared_queue.state();
        if state.jobs.get(job_id).is_some_and(|stored| stored.borrow().version == version) {
            state.jobs.remove(job_id);
        }
        Ok(())
    }

    async fn probe(&self) -> Result<()> {
        Ok(())
    }
}

#[async_trait]
impl StoreOwnership for MemoryJobs {
    fn shared(&self) -> bool {
        self.shared
    }

    async fn adopt(&self, install: &str) -> Result<String> {
        Ok(self.owner.get_or_init(|| install.to_owned()).clone())
    }
}

struct MemoryLease {
    lane: QueueLane,
    job_id: String,
    deliveries: u32,
    /// `None` once the job has been acknowledged or given back.
    shared_queue: Option<Arc<SharedQueue>>,
}

impl Drop for MemoryLease {
    fn drop(&mut self) {
        if let Some(shared_queue) = self.shared_queue.take() {
            shared_queue.requeue(self.lane, std::mem::take(&mut self.job_id));
        }
    }
}

#[async_trait]
impl Lease for MemoryLease {
    fn job_id(&self) -> &str {
        &self.job_id
    }

    fn delivery_count(&self) -> u32 {
        self.deliveries
    }

    async fn ack(mut self: Box<Self>) -> Result<()> {
        if let Some(shared_queue) = self.shared_queue.take() {
            shared_queue.state().deliveries.remove(&self.job_id);
        }
        Ok(())
    }

    async fn nack(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}
