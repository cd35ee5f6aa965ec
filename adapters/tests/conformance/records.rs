//! Adapters of the `records` port.
