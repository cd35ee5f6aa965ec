//! What every adapter of the `voice` port does.
