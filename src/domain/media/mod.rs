//! Analyses decoded media: speech, tracks, clothing, on-screen text, colours and pictures.

pub(crate) mod agreement;
pub mod clothing;
pub(crate) mod colour;
pub(crate) mod decode;
pub(crate) mod geometry;
pub mod movement;
pub(crate) mod picture;
pub(crate) mod screen_changes;
pub mod screen_text;
pub mod speech;
pub mod tracking;
