//! What every adapter of the `fetcher` port does.
