//! Adapters of `ports::records`.
