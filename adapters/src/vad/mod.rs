//! Adapters for `ports::vad`.

mod open;
mod scripted;
mod segments;
#[cfg(feature = "onnx")]
mod silero;
mod spectral;
mod spectrum;

pub use open::{Kind, Settings, open};
pub use scripted::ScriptedVoiceActivity;
pub use segments::SpeechOptions;
#[cfg(feature = "onnx")]
pub use silero::{Silero, SileroOptions};
pub use spectral::SpectralVoiceActivity;
