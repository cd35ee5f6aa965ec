//! Adapters of `ports::entities`.
