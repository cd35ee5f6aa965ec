//! Tests of the adapters that run or imitate models.

mod detector;
mod ocr;
mod scripted;
#[cfg(feature = "onnx")]
mod speaker;
mod speech;
mod support;
mod text;
mod vad;
