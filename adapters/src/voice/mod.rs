//! Adapters of `ports::voice`.

mod scripted;
mod segments;
#[cfg(feature = "onnx")]
mod silero;

pub use scripted::{ScriptedSpeakerEmbedder, ScriptedVoiceActivity};
pub use segments::SpeechOptions;
#[cfg(feature = "onnx")]
pub use silero::{Silero, SileroOptions};
