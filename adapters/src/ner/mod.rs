//! Adapters for `ports::ner`.

#[cfg(feature = "onnx")]
mod gliner;
mod open;
mod rules;
mod scripted;

#[cfg(feature = "onnx")]
pub use gliner::{Gliner, GlinerOptions};
pub use open::{Kind, Settings, open};
pub use rules::RuleEntities;
pub use scripted::ScriptedEntities;
