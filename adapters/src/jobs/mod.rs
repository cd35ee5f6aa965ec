//! Adapters for `ports::jobs`.

#[cfg(feature = "cloud")]
mod lazy;
mod memory;
#[cfg(feature = "cloud")]
mod nats;
mod open;

pub use memory::MemoryJobs;
#[cfg(feature = "cloud")]
pub use nats::{NatsJobs, NatsOptions};
pub use open::{Kind, Settings, open};
