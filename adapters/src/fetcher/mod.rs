//! Adapters of `ports::fetcher`.
