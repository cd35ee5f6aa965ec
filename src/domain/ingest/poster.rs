//! The poster: one frame that shows what the video is like.

use cuts::VisualSecond;
use std::path::PathBuf;
use std::sync::Arc;

use bytes::Bytes;
use ports::decoder::{Still, VideoDecoder};

use crate::domain::chunking::Signals;
use crate::domain::kernel::error::{Error, Result};
use crate::domain::media::decode::frames;
use crate::domain::media::picture::jpeg;

/// A JPEG of the most telling second: lit, sharp, colourful and quiet, early rather than late.
pub(crate) async fn poster(
    decoder: Arc<dyn VideoDecoder>,
    file: PathBuf,
    signals: &Signals,
    max_side: u32,
) -> Result<Bytes> {
    let time = telling_second(signals);
    let frames = frames(&decoder, file, vec![Still { time, max_side }]).await?;
    let frame = frames.into_iter().flatten().next();
    let frame = frame.ok_or_else(|| Error::corrupt("no frame could be decoded for a poster"))?;
    jpeg(frame.image).await
}

/// The middle of the best second among the first two minutes.
fn telling_second(signals: &Signals) -> f64 {
    const CONSIDERED: usize = 120;
    let score = |v: &VisualSecond| {
        let lit = (1.0 - (v.luma / 255.0 - 0.5).abs() * 2.0).max(0.0);
        let early = 1.0 / (1.0 + v.second as f32 / 60.0);
        let still = 1.0 / (1.0 + v.motion / 10.0);
        lit * (2.0 + v.sharpness) * (20.0 + v.colourfulness) * early * still
    };
    let seconds = signals.visual.iter().take(CONSIDERED);
    let best = seconds.max_by(|a, b| score(a).total_cmp(&score(b)));
    best.map_or(0.0, |v| f64::from(v.second) + 0.5)
}
