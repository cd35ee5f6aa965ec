//! Adapters for `ports::transcriber`.

mod open;
mod openai;
mod scripted;
mod sound;
#[cfg(feature = "onnx")]
mod whisper;

pub use open::{Kind, Settings, open};
pub use openai::{OpenAiTranscriber, OpenAiTranscriberOptions};
pub use scripted::ScriptedTranscriber;
#[cfg(feature = "onnx")]
pub use whisper::{Whisper, WhisperOptions};
