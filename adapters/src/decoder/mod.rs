//! Adapters of `ports::decoder`.
