//! Adapters of `ports::index`.

mod check;
pub mod embedded;
pub mod memory;
mod words;
