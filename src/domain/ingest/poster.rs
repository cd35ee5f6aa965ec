//! The poster: a representative frame of the video.

use cuts::VisualSecond;
use std::path::PathBuf;
use std::sync::Arc;

use bytes::Bytes;
use ports::decoder::{Still, VideoDecoder};

use crate::chunking::Signals;
use crate::kernel::error::{Error, Result};
use crate::media::decode::frames;
use crate::media::picture::jpeg;

/// Encodes a frame of the most representative second as a JPEG. Prefers a second that is well lit,
/// sharp and colourful, that has little motion, and that comes early.
pub(crate) async fn poster(
    decoder: Arc<dyn VideoDecoder>,
    file: PathBuf,
    signals: &Signals,
    max_side: u32,
) -> Result<Bytes> {
    let time = representative_second(signals);
    let frames = frames(&decoder, file, vec![Still { time, max_side }]).await?;
    let frame = frames.into_iter().flatten().next();
    let frame = frame.ok_or_else(|| Error::corrupt("no frame could be decoded for a poster"))?;
    jpeg(frame.image).await
}

/// Finds the most representative second in the first two minutes. Returns its midpoint, in seconds
/// from the start of the video.
fn representative_second(signals: &Signals) -> f64 {
    const MAX_SECONDS: usize = 120;
    let score = |v: &VisualSecond| {
        let exposure = (1.0 - (v.luma / 255.0 - 0.5).abs() * 2.0).max(0.0);
        let earliness = 1.0 / (1.0 + v.second as f32 / 60.0);
        let stillness = 1.0 / (1.0 + v.motion / 10.0);
        exposure * (2.0 + v.sharpness) * (20.0 + v.colourfulness) * earliness * stillness
    };
    let seconds = signals.visual.iter().take(MAX_SECONDS);
    let best = seconds.max_by(|a, b| score(a).total_cmp(&score(b)));
    best.map_or(0.0, |v| f64::from(v.second) + 0.5)
}
