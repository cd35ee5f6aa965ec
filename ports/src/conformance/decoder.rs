//! What every adapter of the `decoder` port does.
