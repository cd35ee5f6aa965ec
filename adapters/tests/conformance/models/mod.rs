//! Adapters of the transcriber, voice activity, detector, OCR, sentiment and entities ports.

mod detector;
mod ocr;
mod scripted;
#[cfg(feature = "onnx")]
mod speaker;
mod speech;
mod support;
mod text;
mod vad;
