//! Adapters of `ports::index`.

mod check;
pub mod embedded;
mod frequent;
#[cfg(feature = "cloud")]
mod lazy;
pub mod memory;
mod open;
#[cfg(feature = "cloud")]
pub mod qdrant;
mod words;

pub use open::{Contents, Kind, Opened, Rebuild, Settings, Unreadable, open};
