//! What every adapter of the `transcriber` port does.
