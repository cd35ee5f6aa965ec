//! Adapters for `ports::image_embedder`.

mod bridge;
mod open;

pub use bridge::LabelBridge;
pub use open::{Kind, Settings, open};
