//! Decodes the frames of consecutive chunks in one pass. A decoder starts at a key frame and
//! decodes everything from there, so a pass per chunk would decode much of the file several times.
//! Called by [`super::evidence`]. Nothing is written to disk.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use ports::decoder::{Frame, Still, VideoDecoder};
use tokio::sync::Mutex;

use crate::kernel::error::Result;
use crate::kernel::profile::{Profile, Step};
use crate::media::decode;

/// Frames by the index of the still that requests them; `None` if a frame cannot be decoded.
pub(crate) type Frames = Vec<Option<Frame>>;

/// The frames of a video, decoded a batch of chunks at a time.
pub struct FrameBatches {
    decoder: Arc<dyn VideoDecoder>,
    file: PathBuf,
    profile: Profile,
    max_bytes: u64,
    /// The frames of chunks that have not been taken yet, by the index of the chunk.
    decoded: Mutex<BTreeMap<usize, ChunkFrames>>,
}

struct ChunkFrames {
    stills: Vec<Still>,
    frames: Frames,
}

impl FrameBatches {
    /// Creates batches of the frames of `file` that hold at most `max_bytes` of frames that have not
    /// been taken yet.
    pub(crate) fn new(
        decoder: Arc<dyn VideoDecoder>,
        file: PathBuf,
        profile: Profile,
        max_bytes: u64,
    ) -> Self {
        Self { decoder, file, profile, max_bytes, decoded: Mutex::default() }
    }

    /// Decodes frames outside the batches.
    pub(crate) async fn decode(&self, stills: Vec<Still>) -> Result<Frames> {
        if stills.is_empty() {
            return Ok(Vec::new());
        }
        let decoding = decode::frames(&self.decoder, self.file.clone(), stills);
        self.profile.measure(Step::DecodeFrames, decoding).await
    }

    /// Returns the frames of a chunk. If they have not been decoded yet, decodes them together with
    /// those of the chunks after it, `following`, in order, as far as the memory limit allows. If
    /// the batch cannot be decoded, decodes this chunk alone.
    pub(crate) async fn take(
        &self,
        chunk: usize,
        stills: Vec<Still>,
        following: impl Iterator<Item = Vec<Still>>,
    ) -> Result<Frames> {
        if stills.is_empty() {
            return Ok(Vec::new());
        }
        let mut decoded = self.decoded.lock().await;
        if let Some(ready) = decoded.remove(&chunk)
            && ready.stills == stills
        {
            return Ok(ready.frames);
        }
        // Chunks are taken in order, so frames before this chunk are no longer needed.
        *decoded = decoded.split_off(&chunk);
        let held = decoded.values().map(|ready| max_size(&ready.stills)).sum();
        let next_decoded = decoded.keys().next().copied();
        let batch = self.batch(held, chunk, stills, following, next_decoded);
        let all: Vec<Still> = batch.iter().flatten().copied().collect();
        let mut frames = match self.decode(all).await {
            Ok(frames) => frames.into_iter(),
            Err(error) if batch.len() > 1 => {
                tracing::debug!(chunk, error = %error.labelled(), "decoding a chunk alone");
                return self.decode(batch.into_iter().next().unwrap_or_default()).await;
            }
            Err(error) => return Err(error),
        };
        let mut batch = (chunk..).zip(batch);
        let count = batch.next().map_or(0, |(_, stills)| stills.len());
        let first = frames.by_ref().take(count).collect();
        for (next, stills) in batch {
            let frames = frames.by_ref().take(stills.len()).collect();
            decoded.insert(next, ChunkFrames { stills, frames });
        }
        Ok(first)
    }

    /// Selects the stills to decode together: those of a chunk, and of the chunks after it until
    /// the memory limit or a chunk that is already decoded. `held` is the size of the frames that
    /// have not been taken yet, in bytes.
    fn batch(
        &self,
        held: u64,
        chunk: usize,
        stills: Vec<Still>,
        following: impl Iterator<Item = Vec<Still>>,
        next_decoded: Option<usize>,
    ) -> Vec<Vec<Still>> {
        let mut bytes = held + max_size(&stills);
        let mut batch = vec![stills];
        for (next, stills) in (chunk + 1..).zip(following) {
            bytes += max_size(&stills);
            if bytes > self.max_bytes || next_decoded.is_some_and(|decoded| decoded <= next) {
                break;
            }
            batch.push(stills);
        }
        batch
    }
}

/// Returns the frames with the times for which they were requested, because the picture that is
/// shown then can be older than the chunk.
pub(crate) fn at_requested_times(stills: &[Still], frames: Frames) -> Frames {
    let at = |(still, frame): (&Still, Option<Frame>)| {
        frame.map(|frame| Frame { time: still.time, ..frame })
    };
    stills.iter().zip(frames).map(at).collect()
}

/// The size of the frames, if they are square, in bytes. Other frames are smaller.
fn max_size(stills: &[Still]) -> u64 {
    stills.iter().map(|still| u64::from(still.max_side).pow(2) * 3).sum()
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::path::Path;

    use ports::decoder::{
        CancellationToken, Clip, ClipRequest, Image, MediaInfo, ScanOptions, ScanSink, ScanSummary,
    };
    use ports::{ErrorKind, PortError};

    use super::*;

    /// Returns a black picture for each still and records the calls. Fails if a call includes a
    /// time from `damaged_from`.
    struct BlackDecoder {
        calls: parking_lot::Mutex<Vec<Vec<f64>>>,
        damaged_from: f64,
    }

    impl VideoDecoder for BlackDecoder {
        fn probe(&self, _: &Path) -> ports::Result<MediaInfo> {
            unreachable!("frames only")
        }

        fn scan(
            &self,
            _: &Path,
            _: &ScanOptions,
            _: &mut dyn ScanSink,
        ) -> ports::Result<ScanSummary> {
            unreachable!("frames only")
        }

        fn sound(&self, _: &Path, _: Option<u32>, _: &mut dyn ScanSink) -> ports::Result<()> {
            unreachable!("frames only")
        }

        fn stills(&self, _: &Path, stills: &[Still]) -> ports::Result<Vec<Option<Frame>>> {
            self.calls.lock().push(stills.iter().map(|still| still.time).collect());
            if stills.iter().any(|still| still.time >= self.damaged_from) {
                return Err(PortError::new(ErrorKind::Invalid, "the file is damaged"));
            }
            let frame = |still: &Still| {
                let image = Image { width: 1, height: 1, rgb: vec![0; 3] };
                Some(Frame { time: still.time, image })
            };
            Ok(stills.iter().map(frame).collect())
        }

        fn clip(
            &self,
            _: &Path,
            _: &ClipRequest,
            _: File,
            _: &CancellationToken,
        ) -> ports::Result<Clip> {
            unreachable!("frames only")
        }
    }

    /// Number of chunks in the video; each has one frame, at its index in seconds.
    const CHUNKS: usize = 6;

    fn stills(chunk: usize) -> Vec<Still> {
        vec![Still { time: chunk as f64, max_side: 100 }]
    }

    /// Room for this many frames.
    fn batches(room: u64, damaged_from: f64) -> (FrameBatches, Arc<BlackDecoder>) {
        let decoder = Arc::new(BlackDecoder { calls: parking_lot::Mutex::default(), damaged_from });
        let profile = Profile::default();
        (FrameBatches::new(decoder.clone(), PathBuf::new(), profile, room * 30_000), decoder)
    }

    async fn take(batches: &FrameBatches, chunk: usize) -> Result<Option<f64>> {
        let following = (chunk + 1..CHUNKS).map(stills);
        let frames = batches.take(chunk, stills(chunk), following).await?;
        Ok(frames[0].as_ref().map(|frame| frame.time))
    }

    #[tokio::test]
    async fn chunks_are_decoded_together_up_to_the_memory_limit() {
        let (batches, decoder) = batches(4, f64::INFINITY);
        for chunk in 0..CHUNKS {
            assert_eq!(take(&batches, chunk).await.expect("frames"), Some(chunk as f64));
        }
        assert_eq!(*decoder.calls.lock(), [vec![0.0, 1.0, 2.0, 3.0], vec![4.0, 5.0]]);
        assert!(batches.decoded.lock().await.is_empty());
    }

    #[tokio::test]
    async fn chunk_larger_than_the_limit_is_decoded_alone() {
        let (batches, decoder) = batches(0, f64::INFINITY);
        for chunk in 0..2 {
            assert_eq!(take(&batches, chunk).await.expect("frames"), Some(chunk as f64));
        }
        assert_eq!(*decoder.calls.lock(), [[0.0], [1.0]]);
    }

    #[tokio::test]
    async fn skipped_chunks_are_dropped_and_later_ones_kept() {
        let (batches, decoder) = batches(3, f64::INFINITY);
        // Chunk 2 is requested before chunk 1, and chunk 0 is never taken again.
        for chunk in [2, 1, 3, 4, 5] {
            assert_eq!(take(&batches, chunk).await.expect("frames"), Some(chunk as f64));
        }
        assert_eq!(*decoder.calls.lock(), [vec![2.0, 3.0, 4.0], vec![1.0, 2.0], vec![5.0]]);
        let other = vec![Still { time: 9.0, max_side: 100 }];
        let frames = batches.take(2, other, std::iter::empty()).await.expect("frames");
        assert_eq!(frames[0].as_ref().map(|frame| frame.time), Some(9.0), "other frames");
    }

    #[tokio::test]
    async fn damaged_chunk_does_not_affect_the_chunks_before_it() {
        let (batches, decoder) = batches(10, 2.0);
        assert_eq!(take(&batches, 0).await.expect("frames"), Some(0.0));
        assert_eq!(take(&batches, 1).await.expect("frames"), Some(1.0));
        assert!(take(&batches, 2).await.is_err());
        assert_eq!(decoder.calls.lock().len(), 6);
        let nothing = batches.take(3, Vec::new(), std::iter::empty()).await.expect("no frames");
        assert!(nothing.is_empty());
    }
}
