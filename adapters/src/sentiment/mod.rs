//! Adapters of `ports::sentiment`.
