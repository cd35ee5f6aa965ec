//! Adapters of `ports::records`.

mod folder;
mod memory;

pub use folder::FolderRecords;
pub use memory::MemoryRecords;
