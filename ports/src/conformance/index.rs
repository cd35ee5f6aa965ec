//! What every adapter of the `index` port does.
