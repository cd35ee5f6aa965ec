//! Adapters of `ports::speaker`.

mod open;
mod scripted;
mod timbre;
mod timbre_constants;
#[cfg(feature = "onnx")]
mod xvector;

pub use open::{Kind, Settings, open};
pub use scripted::ScriptedSpeakerEmbedder;
pub use timbre::TimbreEmbedder;
#[cfg(feature = "onnx")]
pub use xvector::{XVectorEmbedder, XVectorOptions};
