//! What every other room stands on: who asks, ids, moments, times, vectors, errors, the ports in
//! bundles, progress, metrics and signed
//! notices. Knows nothing of video.

pub mod access;
pub(crate) mod deadline;
pub(crate) mod disk;
pub mod error;
pub mod metrics;
pub mod moment;
pub mod names;
pub mod ports;
pub mod profile;
pub mod progress;
pub(crate) mod recent;
pub mod schema;
pub mod time;
pub mod tokens;
pub(crate) mod units;
pub(crate) mod urls;
pub mod vector;
pub mod verdict;
pub mod video;
pub mod webhook;

pub use error::{Error, Result};
