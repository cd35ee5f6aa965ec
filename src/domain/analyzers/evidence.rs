//! What analyzers look at: a video's measured signals and, per chunk, the frames chosen once for
//! all analyzers and what models read from them. Everything is computed when first asked for.

use std::path::PathBuf;
use std::sync::Arc;

use ports::decoder::{Frame, VideoDecoder};
use ports::reader::TextLine;
use tokio::sync::OnceCell;

use crate::domain::Ports;
use crate::domain::chunking::Signals;
use crate::domain::chunking::cut::VisualSecond;
use crate::domain::error::{Error, Result};
use crate::domain::record::Span;
use crate::domain::speech::Speech;

/// A video while it is analyzed.
pub struct VideoEvidence {
    /// The local copy.
    pub file: PathBuf,
    /// What the decoding pass measured.
    pub signals: Arc<Signals>,
    /// What is heard.
    pub speech: Arc<Speech>,
    /// Whether there is a picture.
    pub has_video: bool,
    /// Whether there is a sound track.
    pub has_audio: bool,
    /// Reads frames from the local copy.
    pub decoder: Arc<dyn VideoDecoder>,
    /// Frames looked at per chunk.
    pub frames_per_chunk: usize,
    /// Their largest side, pixels.
    pub frame_side: u32,
}

/// One chunk of it.
pub struct ChunkEvidence {
    /// Its video.
    pub video: Arc<VideoEvidence>,
    /// Its position.
    pub chunk_id: u32,
    /// Its segment.
    pub span: Span,
    lines: OnceCell<Vec<(f64, Vec<TextLine>)>>,
}

impl ChunkEvidence {
    /// Nothing is looked at yet.
    pub fn new(video: Arc<VideoEvidence>, chunk_id: u32, span: Span) -> Self {
        Self { video, chunk_id, span, lines: OnceCell::new() }
    }

    /// The seconds of picture measures that lie within the chunk.
    pub fn visual(&self) -> &[VisualSecond] {
        // Seconds without a frame are missing from the list.
        let seconds = &self.video.signals.visual;
        let place = |second: f64| seconds.partition_point(|v| f64::from(v.second) < second);
        let (first, last) = (place(self.span.start.round()), place(self.span.end.round()));
        if first < last {
            return &seconds[first..last];
        }
        let only = place(self.span.start.floor());
        seconds.get(only..=only).unwrap_or_default()
    }

    /// The seconds of sound level (dBFS) that lie within the chunk.
    pub fn loudness(&self) -> &[f32] {
        let seconds = &self.video.signals.loudness;
        let place = |second: f64| (second as usize).min(seconds.len());
        let (first, last) = (place(self.span.start.round()), place(self.span.end.round()));
        let first = first.min(last.saturating_sub(1));
        seconds.get(first..last).unwrap_or_default()
    }

    /// Times of the frames to look at: the sharpest second of each of `frames_per_chunk` equal
    /// parts, away from the chunk's edges.
    pub fn frame_times(&self) -> Vec<f64> {
        if !self.video.has_video {
            return Vec::new();
        }
        let parts = self.video.frames_per_chunk.max(1);
        let length = self.span.seconds() / parts as f64;
        (0..parts)
            .map(|part| {
                let start = self.span.start + part as f64 * length;
                let middle = start + length / 2.0;
                self.visual()
                    .iter()
                    .filter(|v| {
                        let second = f64::from(v.second);
                        second >= start && second + 1.0 <= start + length
                    })
                    .max_by(|a, b| a.sharpness.total_cmp(&b.sharpness))
                    .map_or(middle, |v| f64::from(v.second) + 0.5)
            })
            .collect()
    }

    /// The frames at [`Self::frame_times`]; those that cannot be decoded are left out.
    pub async fn frames(&self) -> Result<Vec<Frame>> {
        let (video, times) = (self.video.clone(), self.frame_times());
        if times.is_empty() {
            return Ok(Vec::new());
        }
        let frames = tokio::task::spawn_blocking(move || {
            video.decoder.frames(&video.file, &times, video.frame_side)
        })
        .await
        .map_err(|e| Error::corrupt(format!("decoding frames panicked: {e}")))??;
        Ok(frames.into_iter().flatten().collect())
    }

    /// The lines of text on each looked-at frame, with the frame's time. Empty without a reader.
    pub async fn lines(&self, ports: &Ports) -> Result<&[(f64, Vec<TextLine>)]> {
        let lines = self.lines.get_or_try_init(|| async {
            let Some(reader) = &ports.reader else { return Ok::<_, Error>(Vec::new()) };
            let mut lines = Vec::new();
            for frame in self.frames().await? {
                lines.push((frame.time, reader.read(&frame.image).await?));
            }
            Ok(lines)
        });
        Ok(lines.await?)
    }
}
