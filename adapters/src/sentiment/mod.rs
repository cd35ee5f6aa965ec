//! Adapters of `ports::sentiment`.

mod scripted;

pub use scripted::ScriptedSentiment;
