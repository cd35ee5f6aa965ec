//! Adapters of the transcriber, voice, detector, reader, sentiment and entities ports.

mod detector;
mod reader;
mod scripted;
mod speech;
mod support;
mod text;
mod voice;
