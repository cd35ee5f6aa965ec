//! Adapters of `ports::listing`. Which one is opened goes with the index: `index.kind`.

pub mod embedded;
#[cfg(feature = "cloud")]
mod lazy;
pub mod memory;
mod order;
#[cfg(feature = "cloud")]
pub mod qdrant;

/// What the part of a filename that is asked for is compared in.
fn folded(filename: &str) -> String {
    filename.to_lowercase()
}
