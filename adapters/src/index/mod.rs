//! Adapters of `ports::index`.

mod check;
pub mod memory;
mod words;
