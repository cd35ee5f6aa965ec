//! Adapters of `ports::entities`.

mod rules;
mod scripted;

pub use rules::RuleEntities;
pub use scripted::ScriptedEntities;
