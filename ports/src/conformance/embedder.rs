//! What every adapter of the `embedder` port does.
