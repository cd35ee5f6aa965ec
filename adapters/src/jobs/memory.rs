//! Jobs in memory, lost with the process.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use async_trait::async_trait;
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use ports::Result;
use ports::jobs::{JobQueue, Lease, StoredJob};
use serde_json::Value;
use tokio::sync::{Notify, watch};

/// Jobs in memory.
#[derive(Default)]
pub struct MemoryJobs {
    shelf: Arc<Shelf>,
    shared: bool,
    owner: OnceLock<String>,
}

#[derive(Default)]
struct Shelf {
    state: Mutex<State>,
    /// Notifies of a job that entered the queue.
    filled: Notify,
}

#[derive(Default)]
struct State {
    jobs: HashMap<String, watch::Sender<StoredJob>>,
    queue: VecDeque<String>,
    /// The number of deliveries of each unfinished job.
    offers: HashMap<String, u32>,
    version: u64,
}

impl MemoryJobs {
    /// An empty queue.
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty queue to share among services of one process.
    pub fn shared() -> Self {
        Self { shared: true, ..Self::default() }
    }
}

impl State {
    /// Removes the job that has waited longest, and returns its number of deliveries.
    fn next(&mut self) -> Option<(String, u32)> {
        let job_id = self.queue.pop_front()?;
        let offers = self.offers.entry(job_id.clone()).or_default();
        *offers += 1;
        Some((job_id, *offers))
    }
}

impl Shelf {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts a leased job back to the front of the queue.
    fn offer_again(&self, job_id: String) {
        let mut state = self.state();
        if state.jobs.contains_key(&job_id) {
            state.queue.push_front(job_id);
            self.filled.notify_one();
        }
    }
}

#[async_trait]
impl JobQueue for MemoryJobs {
    fn shared(&self) -> bool {
        self.shared
    }

    async fn add(&self, job_id: &str, document: &Value) -> Result<Option<StoredJob>> {
        let mut state = self.shelf.state();
        if let Some(kept) = state.jobs.get(job_id) {
            return Ok(Some(kept.borrow().clone()));
        }
        state.version += 1;
        let (job_id, version) = (job_id.to_owned(), state.version);
        let kept = StoredJob { job_id: job_id.clone(), document: document.clone(), version };
        state.jobs.insert(job_id.clone(), watch::Sender::new(kept));
        state.queue.push_back(job_id);
        self.shelf.filled.notify_one();
        Ok(None)
    }

    async fn waiting_count(&self) -> Result<usize> {
        Ok(self.shelf.state().queue.len())
    }

    async fn take(&self) -> Result<Box<dyn Lease>> {
        loop {
            if let Some((job_id, offers)) = self.shelf.state().next() {
                // Several notifications may have been merged into one.
                self.shelf.filled.notify_one();
                return Ok(Box::new(Taken { job_id, offers, shelf: Some(self.shelf.clone()) }));
            }
            self.shelf.filled.notified().await;
        }
    }

    async fn get(&self, job_id: &str) -> Result<Option<StoredJob>> {
        Ok(self.shelf.state().jobs.get(job_id).map(|kept| kept.borrow().clone()))
    }

    async fn list(&self) -> Result<Vec<StoredJob>> {
        Ok(self.shelf.state().jobs.values().map(|kept| kept.borrow().clone()).collect())
    }

    async fn compare_and_swap(
        &self,
        job_id: &str,
        version: u64,
        document: &Value,
    ) -> Result<Option<u64>> {
        let mut state = self.shelf.state();
        let next = state.version + 1;
        let Some(kept) = state.jobs.get(job_id) else { return Ok(None) };
        if kept.borrow().version != version {
            return Ok(None);
        }
        kept.send_modify(|kept| {
            kept.document = document.clone();
            kept.version = next;
        });
        state.version = next;
        Ok(Some(next))
    }

    async fn watch(&self, job_id: &str) -> Result<BoxStream<'static, Result<StoredJob>>> {
        let receiver = self.shelf.state().jobs.get(job_id).map(watch::Sender::subscribe);
        let Some(mut changes) = receiver else { return Ok(stream::pending().boxed()) };
        changes.mark_changed();
        let next = |mut changes: watch::Receiver<StoredJob>| async move {
            changes.changed().await.ok()?;
            let kept = changes.borrow_and_update().clone();
            Some((Ok(kept), changes))
        };
        Ok(stream::unfold(changes, next).boxed())
    }

    async fn withdraw(&self, job_id: &str) -> Result<bool> {
        let mut state = self.shelf.state();
        let before = state.queue.len();
        state.queue.retain(|waiting| waiting != job_id);
        state.offers.remove(job_id);
        Ok(state.queue.len() < before)
    }

    async fn remove(&self, job_id: &str, version: u64) -> Result<()> {
        let mut state = self.shelf.state();
        if state.jobs.get(job_id).is_some_and(|kept| kept.borrow().version == version) {
            state.jobs.remove(job_id);
        }
        Ok(())
    }

    async fn adopt(&self, install: &str) -> Result<String> {
        Ok(self.owner.get_or_init(|| install.to_owned()).clone())
    }

    async fn probe(&self) -> Result<()> {
        Ok(())
    }
}

struct Taken {
    job_id: String,
    offers: u32,
    /// `None` once the job is acknowledged or given back.
    shelf: Option<Arc<Shelf>>,
}

impl Drop for Taken {
    fn drop(&mut self) {
        if let Some(shelf) = self.shelf.take() {
            shelf.offer_again(std::mem::take(&mut self.job_id));
        }
    }
}

#[async_trait]
impl Lease for Taken {
    fn job_id(&self) -> &str {
        &self.job_id
    }

    fn delivery_count(&self) -> u32 {
        self.offers
    }

    async fn ack(mut self: Box<Self>) -> Result<()> {
        if let Some(shelf) = self.shelf.take() {
            shelf.state().offers.remove(&self.job_id);
        }
        Ok(())
    }

    async fn nack(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}
