//! Adapters for `ports::records`.

#[cfg(feature = "cloud")]
mod bucket;
mod folder;
mod memory;
mod open;

#[cfg(feature = "cloud")]
pub use bucket::BucketRecords;
pub use folder::FolderRecords;
pub use memory::MemoryRecords;
pub use open::{Kind, Settings, open};
