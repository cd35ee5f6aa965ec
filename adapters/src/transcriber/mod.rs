//! Adapters of `ports::transcriber`.
