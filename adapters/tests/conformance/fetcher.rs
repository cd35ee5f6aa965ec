//! Adapters of the `fetcher` port.
