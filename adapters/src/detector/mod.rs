//! Adapters of `ports::detector`.

mod scripted;

pub use scripted::ScriptedDetector;
