//! What files take of a disk.

/// Bytes of one of the blocks that a file's metadata counts.
pub(crate) const BLOCK: u64 = 512;
