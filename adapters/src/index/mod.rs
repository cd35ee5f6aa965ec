//! Adapters of `ports::index`.
