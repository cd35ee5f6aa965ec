//! Adapters of `ports::voice`.

mod open;
mod scripted;
mod segments;
#[cfg(feature = "onnx")]
mod silero;
mod spectral;
mod spectrum;
mod timbre;
mod timbre_constants;
#[cfg(feature = "onnx")]
mod xvector;

pub use open::{Kind, Settings, SpeakerKind, SpeakerSettings, open, open_speaker};
pub use scripted::{ScriptedSpeakerEmbedder, ScriptedVoiceActivity};
pub use segments::SpeechOptions;
#[cfg(feature = "onnx")]
pub use silero::{Silero, SileroOptions};
pub use spectral::SpectralVoiceActivity;
pub use timbre::TimbreEmbedder;
#[cfg(feature = "onnx")]
pub use xvector::{XVectorEmbedder, XVectorOptions};
