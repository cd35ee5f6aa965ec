//! Adapters of `ports::index`.

mod check;
pub mod embedded;
#[cfg(feature = "cloud")]
mod frequent;
mod lazy;
pub mod memory;
mod open;
#[cfg(feature = "cloud")]
pub mod qdrant;
mod words;

pub use open::{Contents, Kind, Opened, Rebuild, Settings, Unreadable, open};
