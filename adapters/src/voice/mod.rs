//! Adapters of `ports::voice`.
