//! Adapters of `ports::jobs`.

mod memory;
#[cfg(feature = "cloud")]
mod nats;

pub use memory::MemoryJobs;
#[cfg(feature = "cloud")]
pub use nats::{NatsJobs, NatsOptions};
