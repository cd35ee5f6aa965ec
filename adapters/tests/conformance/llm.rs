//! Adapters of the `llm` port.
