//! What every adapter of the `storage` port does.
