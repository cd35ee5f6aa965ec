//! Tests of the adapters that run or imitate models.

mod classifier;
mod detector;
mod image_embedder;
mod ocr;
mod scripted;
#[cfg(feature = "onnx")]
mod speaker;
mod speech;
mod support;
mod text;
mod vad;
