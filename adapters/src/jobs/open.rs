//! What `[jobs]` says of the queue, and the adapter that it asks for.

use std::sync::Arc;

use ports::jobs::JobQueue;
use serde::{Deserialize, Serialize};

use super::MemoryJobs;
use crate::OpenError;

/// Where jobs are kept.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// In memory: a restart forgets them.
    #[default]
    Memory,
    /// A NATS server with JetStream: every instance works on them, and goes on with those of one that died.
    Nats,
}

/// Where jobs are kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// What keeps the jobs.
    pub kind: Kind,
    /// Addresses of one cluster, separated by commas, as `nats://user:password@host:4222` or `tls://host:4222` (nats).
    pub url: String,
    /// A credentials file, where the server asks for one (nats).
    pub credentials: String,
    /// Begins the names of the stream, the bucket and the subjects: letters, digits, `-` and `_` (nats).
    pub name: String,
    /// Copies that a cluster keeps of each job, when they are made (nats).
    pub replicas: usize,
    /// Seconds of silence after which a job is offered to another instance (nats).
    pub redelivery: u64,
    /// Seconds for one request (nats).
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

/// Opens the queue; a server is connected to when it is first used.
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
