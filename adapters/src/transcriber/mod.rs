//! Adapters of `ports::transcriber`.

mod pocketsphinx;
mod scripted;
mod sound;

pub use pocketsphinx::{PocketSphinx, PocketSphinxOptions};
pub use scripted::ScriptedTranscriber;
