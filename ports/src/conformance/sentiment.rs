//! What every adapter of the `sentiment` port does.
