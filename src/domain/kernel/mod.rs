//! Shared foundations of all domain modules: access, ids, moments, times, timecodes, vectors,
//! errors, bundles of ports, progress, metrics and signed webhooks. None of these modules knows
//! anything about video analysis.

pub mod access;
pub(crate) mod cache;
pub(crate) mod deadline;
pub(crate) mod disk;
pub mod error;
pub mod metrics;
pub mod moment;
pub mod names;
pub mod ports;
pub mod profile;
pub mod progress;
pub mod reel;
pub mod schema;
pub mod stage;
pub mod time;
pub mod timecode;
pub mod token_budget;
pub mod urls;
pub mod verdict;
pub mod video;
pub mod webhook;

pub use ::ports::vector;
pub use error::{Error, Result};
