//! Adapters of `ports::sentiment`.

mod scripted;
mod vader;

pub use scripted::ScriptedSentiment;
pub use vader::Vader;
