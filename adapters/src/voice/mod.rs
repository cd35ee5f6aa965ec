//! Adapters of `ports::voice`.

mod scripted;

pub use scripted::{ScriptedSpeakerEmbedder, ScriptedVoiceActivity};
