//! Adapters of `ports::index`.

mod check;
pub mod embedded;
pub mod memory;
#[cfg(feature = "cloud")]
pub mod qdrant;
mod words;
