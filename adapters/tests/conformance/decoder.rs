//! Adapters of the `decoder` port.
