//! Adapters of `ports::reader`.
