//! Adapters for `ports::image_embedder`.

mod bridge;
#[cfg(feature = "onnx")]
mod clip;
mod open;

pub use bridge::LabelBridge;
#[cfg(feature = "onnx")]
pub use clip::{ClipEmbedder, ClipOptions};
pub use open::{Kind, Settings, open};
