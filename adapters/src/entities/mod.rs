//! Adapters of `ports::entities`.

mod scripted;

pub use scripted::ScriptedEntities;
