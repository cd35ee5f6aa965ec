//! Defines the configuration section `[jobs]` and opens the queue that it selects.

use std::sync::Arc;

use ports::jobs::JobQueue;
use ports::units::seconds;
use serde::{Deserialize, Serialize};

use super::MemoryJobs;
use crate::OpenError;

/// Where jobs are stored.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// In memory. Jobs are lost on restart.
    #[default]
    Memory,
    /// A NATS server with JetStream. Every instance takes jobs, and if an instance crashes, others
    /// resume its jobs.
    Nats,
}

/// Settings of the job queue.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// The kind of queue.
    pub kind: Kind,
    /// URLs of the servers in one cluster, separated by commas, such as
    /// `nats://user:password@host:4222` or `tls://host:4222` (NATS only).
    pub url: String,
    /// A credentials file, if the server requires one (NATS only).
    pub credentials: String,
    /// Prefix for the names of streams, buckets and subjects. It consists of letters, digits, `-`
    /// and `_` (NATS only).
    pub name: String,
    /// Number of replicas of each job in a cluster, fixed at creation (NATS only).
    pub replicas: usize,
    /// Seconds without a heartbeat after which a job is delivered to another instance (NATS only).
    #[serde(with = "seconds")]
    pub redelivery: u64,
    /// Request timeout in seconds (NATS only).
    #[serde(with = "seconds")]
    pub timeout: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            kind: Kind::default(),
            url: "nats://127.0.0.1:4222".into(),
            credentials: String::new(),
            name: "shotlog".into(),
            replicas: 1,
            redelivery: 30,
            timeout: 10,
        }
    }
}

/// Opens the queue. If it is on a server, it connects on first use.
pub fn open(section: &Settings) -> Result<Arc<dyn JobQueue>, OpenError> {
    match section.kind {
        Kind::Memory => Ok(Arc::new(MemoryJobs::new())),
        Kind::Nats => nats(section),
    }
}

#[cfg(feature = "cloud")]
fn nats(section: &Settings) -> Result<Arc<dyn JobQueue>, OpenError> {
    use std::time::Duration;

    use futures::FutureExt;

    use super::{NatsJobs, NatsOptions};
    use crate::lazy::Lazy;

    let options = NatsOptions {
        url: section.url.clone(),
        credentials: crate::open::set(&section.credentials).map(Into::into),
        name: section.name.clone(),
        replicas: section.replicas.max(1),
        redelivery: Duration::from_secs(section.redelivery.max(1)),
        timeout: Duration::from_secs(section.timeout.max(1)),
    };
    Ok(Arc::new(Lazy::new(move || NatsJobs::connect(options.clone()).boxed())))
}

#[cfg(not(feature = "cloud"))]
fn nats(_: &Settings) -> Result<Arc<dyn JobQueue>, OpenError> {
    Err(OpenError::compiled_out("jobs.kind = \"nats\"", "cloud"))
}
