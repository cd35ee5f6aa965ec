//! Adapters for `ports::speaker`.

#[cfg(feature = "onnx")]
mod embedder;
#[cfg(feature = "onnx")]
mod filterbank;
mod open;
mod scripted;
#[cfg(feature = "onnx")]
mod segmentation;

#[cfg(feature = "onnx")]
pub use embedder::{XVectorEmbedder, XVectorOptions};
pub use open::{Networks, Settings, open};
pub use scripted::{ScriptedSpeakerEmbedder, ScriptedSpeakerSegmentation};
#[cfg(feature = "onnx")]
pub use segmentation::{PyannoteOptions, PyannoteSegmentation};
