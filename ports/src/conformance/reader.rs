//! What every adapter of the `reader` port does.
