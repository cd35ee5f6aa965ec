//! One file per analyzer; the list is [`ANALYZERS`](super::ANALYZERS).

pub(crate) mod default_video;
pub(crate) mod diarization;
pub(crate) mod object_detection;
pub(crate) mod ocr;
pub(crate) mod people;
pub(crate) mod transcript;
