//! Adapters of `ports::storage`.
