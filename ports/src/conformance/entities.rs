//! What every adapter of the `entities` port does.
