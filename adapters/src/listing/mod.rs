//! Adapters for `ports::listing`. `index.kind` selects the adapters for the index and the listing
//! together.

pub mod embedded;
#[cfg(feature = "cloud")]
mod lazy;
pub mod memory;
mod order;
#[cfg(feature = "cloud")]
pub mod qdrant;

/// Converts a filename to the form in which filenames are compared.
fn folded(filename: &str) -> String {
    filename.to_lowercase()
}
