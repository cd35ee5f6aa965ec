//! What every adapter of the `detector` port does.
