//! Adapters for `ports::index`.

mod check;
mod cosines;
mod dimensions;
pub mod embedded;
#[cfg(feature = "cloud")]
mod lazy;
pub mod memory;
mod open;
#[cfg(feature = "cloud")]
pub mod qdrant;
mod top_values;
mod words;

pub use open::{DamagePolicy, IndexSpec, IndexStores, Kind, Rebuild, Settings, open};
