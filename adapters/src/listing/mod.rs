//! Adapters of `ports::listing`. Which one is opened goes with the index: `index.kind`.

pub mod embedded;
#[cfg(feature = "cloud")]
mod lazy;
pub mod memory;
mod order;
#[cfg(feature = "cloud")]
pub mod qdrant;

use ports::listing::VideoEntry;
use ports::{ErrorKind, PortError, Result};

/// What every adapter refuses in the same words, before anything is changed.
fn check(entries: &[VideoEntry]) -> Result<()> {
    if entries.iter().any(|entry| entry.video_id.is_empty()) {
        let message = "an entry of the listing has no video id; 16 hexadecimal digits are expected";
        return Err(PortError::new(ErrorKind::Invalid, message));
    }
    Ok(())
}

/// What the part of a filename that is asked for is compared in.
fn folded(filename: &str) -> String {
    filename.to_lowercase()
}
