//! Adapters of `ports::detector`.
