//! Adapters of `ports::llm`.
