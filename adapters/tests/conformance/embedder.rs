//! Adapters of the `embedder` port.
