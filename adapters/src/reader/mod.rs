//! Adapters of `ports::reader`.

mod scripted;

pub use scripted::ScriptedReader;
