//! One file per analyzer; the list is [`ANALYZERS`](super::ANALYZERS).

pub(crate) mod default_video;
pub(crate) mod diarization;
pub mod object_detection;
pub mod ocr;
pub mod people;
pub(crate) mod transcript;
