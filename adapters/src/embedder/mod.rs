//! Adapters of `ports::embedder`.
