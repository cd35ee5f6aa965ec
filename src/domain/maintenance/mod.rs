//! Checks and repairs stored data.

pub mod verify;
