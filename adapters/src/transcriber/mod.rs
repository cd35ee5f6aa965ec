//! Adapters of `ports::transcriber`.

mod scripted;

pub use scripted::ScriptedTranscriber;
