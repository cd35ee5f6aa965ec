//! The poster: one frame that shows what the video is like.

use std::path::PathBuf;
use std::sync::Arc;

use bytes::Bytes;
use ports::decoder::VideoDecoder;

use crate::domain::analyzers::jpeg;
use crate::domain::chunking::Signals;
use crate::domain::error::{Error, Result};

/// A JPEG of the most telling second: lit, sharp, colourful and quiet, early rather than late.
pub(super) async fn poster(
    decoder: Arc<dyn VideoDecoder>,
    file: PathBuf,
    signals: &Signals,
    max_side: u32,
) -> Result<Bytes> {
    let time = telling_second(signals);
    let frames = tokio::task::spawn_blocking(move || decoder.frames(&file, &[time], max_side))
        .await
        .map_err(|e| Error::corrupt(format!("decoding the poster panicked: {e}")))??;
    let frame = frames.into_iter().flatten().next();
    let frame = frame.ok_or_else(|| Error::corrupt("no frame could be decoded for a poster"))?;
    jpeg(frame.image).await
}

/// The middle of the best second among the first two minutes.
fn telling_second(signals: &Signals) -> f64 {
    const CONSIDERED: usize = 120;
    let best = signals.visual.iter().take(CONSIDERED).enumerate().map(|(second, v)| {
        let lit = (1.0 - (v.luma - 0.5).abs() * 2.0).max(0.0);
        let early = 1.0 / (1.0 + second as f32 / 60.0);
        let still = 1.0 / (1.0 + v.motion * 20.0);
        (second, lit * (0.2 + v.sharpness) * (0.5 + v.colourfulness) * early * still)
    });
    best.max_by(|a, b| a.1.total_cmp(&b.1)).map_or(0.0, |(second, _)| second as f64 + 0.5)
}
