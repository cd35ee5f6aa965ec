//! Adapters of the `storage` port.
