//! What every adapter of the `records` port does.
