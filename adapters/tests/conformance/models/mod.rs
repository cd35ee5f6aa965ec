//! Adapters of the transcriber, voice, detector, reader, sentiment and entities ports.

mod scripted;
mod support;
mod text;
mod voice;
