//! What every adapter of the `llm` port does.
