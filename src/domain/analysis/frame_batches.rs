//! Decodes the frames of consecutive chunks in one pass. A decoder starts at a key frame and
//! decodes everything from there, so a pass per chunk would decode much of the file several times.
//! Called by [`super::evidence`]. Nothing is written to disk.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use ports::decoder::{Frame, Still, VideoDecoder};
use tokio::sync::Mutex;

use crate::kernel::error::Result;
use crate::kernel::profile::{Profile, Step};
use crate::media::decode;

/// Frames by the index of the still that requests them; `None` if a frame cannot be decoded.
pub(crate) type DecodedFrames = Vec<Option<Frame>>;

/// The purposes for which frames are decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum FrameKind {
    /// Models run on single frames of a chunk.
    Analysis,
    /// Text changes are detected in thumbnails.
    Thumbnail,
    /// Objects are tracked from one frame to the next.
    Tracking,
}

/// The frames of one kind of a chunk, by the index of the chunk.
type Key = (usize, FrameKind);

/// Chunks are analyzed nearly in order: the frames of a chunk that is so far behind another are no
/// longer needed.
const MAX_LAG: usize = 16;

/// The frames of a video, decoded a batch of chunks at a time.
pub struct FrameBatches {
    decoder: Arc<dyn VideoDecoder>,
    file: PathBuf,
    profile: Profile,
    /// Width and height of the video's pictures.
    picture: (u32, u32),
    max_bytes: u64,
    state: Mutex<Batches>,
}

#[derive(Default)]
struct Batches {
    /// The kinds that are requested for some chunk. A batch has all of them.
    kinds: BTreeSet<FrameKind>,
    /// What has been taken; it is not decoded ahead again.
    taken: BTreeSet<Key>,
    /// Frames that have not been taken yet, with their size in bytes.
    decoded: BTreeMap<Key, (u64, DecodedFrames)>,
}

impl FrameBatches {
    /// Creates batches of the frames of `file`, whose pictures have the width and height `picture`,
    /// that hold at most `max_bytes` of frames that have not been taken yet.
    pub(crate) fn new(
        decoder: Arc<dyn VideoDecoder>,
        file: PathBuf,
        profile: Profile,
        picture: (u32, u32),
        max_bytes: u64,
    ) -> Self {
        Self { decoder, file, profile, picture, max_bytes, state: Mutex::default() }
    }

    /// Decodes frames outside the batches. They have the times for which they were requested,
    /// because the picture that is shown then can be older than the chunk.
    pub(crate) async fn decode(&self, stills: Vec<Still>) -> Result<DecodedFrames> {
        if stills.is_empty() {
            return Ok(Vec::new());
        }
        let times: Vec<f64> = stills.iter().map(|still| still.time).collect();
        let decoding = decode::frames(&self.decoder, self.file.clone(), stills);
        let frames = self.profile.measure(Step::DecodeFrames, decoding).await?;
        let at = |(time, frame): (f64, Option<Frame>)| frame.map(|frame| Frame { time, ..frame });
        Ok(times.into_iter().zip(frames).map(at).collect())
    }

    /// Announces kinds that will be taken, so that they are decoded in one pass.
    pub(crate) async fn announce<const N: usize>(&self, kinds: [FrameKind; N]) {
        self.state.lock().await.kinds.extend(kinds);
    }

    /// Returns frames of a chunk. Those that have not been decoded yet are decoded together with the
    /// frames of the chunks after it, as far as the memory limit allows; if this fails, alone.
    /// `stills` returns the frames of a chunk, or `None` after the last chunk.
    pub(crate) async fn take<const N: usize>(
        &self,
        chunk: usize,
        kinds: [FrameKind; N],
        stills: impl Fn(usize, FrameKind) -> Option<Vec<Still>>,
    ) -> Result<[DecodedFrames; N]> {
        let mut state = self.state.lock().await;
        state.kinds.extend(kinds);
        state.taken.extend(kinds.map(|kind| (chunk, kind)));
        let keys = kinds.map(|kind| (chunk, kind));
        let missing: Vec<Key> =
            keys.into_iter().filter(|key| !state.decoded.contains_key(key)).collect();
        if !missing.is_empty() {
            let oldest = (chunk.saturating_sub(MAX_LAG), FrameKind::Analysis);
            state.decoded = state.decoded.split_off(&oldest);
            let requested = |key: &Key| stills(key.0, key.1).map(|stills| (*key, stills));
            let mut batch: Vec<(Key, Vec<Still>)> = missing.iter().filter_map(requested).collect();
            let alone = batch.len();
            self.add_following(&state, chunk, &mut batch, &stills);
            let frames = match self.decode_batch(&batch).await {
                Err(error) if batch.len() > alone => {
                    tracing::debug!(chunk, error = %error.labelled(), "decoding a chunk alone");
                    batch.truncate(alone);
                    self.decode_batch(&batch).await?
                }
                frames => frames?,
            };
            for ((key, stills), frames) in batch.into_iter().zip(frames) {
                state.decoded.insert(key, (self.size(&stills), frames));
            }
        }
        Ok(keys.map(|key| state.decoded.remove(&key).map(|(_, frames)| frames).unwrap_or_default()))
    }

    /// Adds the frames of the chunks after a chunk to a batch, until the memory limit or a chunk of
    /// which nothing is missing.
    fn add_following(
        &self,
        state: &Batches,
        chunk: usize,
        batch: &mut Vec<(Key, Vec<Still>)>,
        stills: &impl Fn(usize, FrameKind) -> Option<Vec<Still>>,
    ) {
        let held: u64 = state.decoded.values().map(|(size, _)| size).sum();
        let mut bytes = held + batch.iter().map(|(_, stills)| self.size(stills)).sum::<u64>();
        for next in chunk + 1.. {
            let is_missing =
                |key: &Key| !state.decoded.contains_key(key) && !state.taken.contains(key);
            let keys = state.kinds.iter().map(|kind| (next, *kind)).filter(is_missing);
            let added: Option<Vec<_>> =
                keys.map(|key| stills(key.0, key.1).map(|stills| (key, stills))).collect();
            let Some(added) = added.filter(|added| !added.is_empty()) else { break };
            bytes += added.iter().map(|(_, stills)| self.size(stills)).sum::<u64>();
            if bytes > self.max_bytes {
                break;
            }
            batch.extend(added);
        }
    }

    /// Decodes a batch in one pass. Returns the frames of each of its parts.
    async fn decode_batch(&self, batch: &[(Key, Vec<Still>)]) -> Result<Vec<DecodedFrames>> {
        let all = batch.iter().flat_map(|(_, stills)| stills).copied().collect();
        let mut frames = self.decode(all).await?.into_iter();
        Ok(batch.iter().map(|(_, stills)| frames.by_ref().take(stills.len()).collect()).collect())
    }

    /// The size of frames, in bytes. They are scaled down to the side that is requested.
    fn size(&self, stills: &[Still]) -> u64 {
        let (width, height) = (f64::from(self.picture.0), f64::from(self.picture.1));
        let scale = |still: &Still| (f64::from(still.max_side) / width.max(height)).min(1.0);
        let bytes = |still: &Still| (3.0 * width * height * scale(still).powi(2)).ceil() as u64;
        stills.iter().map(bytes).sum()
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::path::Path;

    use ports::decoder::{
        CancellationToken, Clip, ClipRequest, Image, MediaInfo, RenderFormat, RenderParts,
        ScanOptions, ScanSink, ScanSummary,
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

        fn render(
            &self,
            _: &RenderFormat,
            _: &mut RenderParts<'_>,
            _: File,
            _: &CancellationToken,
        ) -> ports::Result<()> {
            unreachable!("frames only")
        }
    }

    use FrameKind::{Analysis, Tracking};

    /// Number of chunks in the video; each has one frame of each kind, at its index in seconds.
    const CHUNKS: usize = 6;

    fn stills(chunk: usize, _: FrameKind) -> Option<Vec<Still>> {
        (chunk < CHUNKS).then(|| vec![Still { time: chunk as f64, max_side: 100 }])
    }

    /// Room for this many frames of 100 × 50 pixels.
    fn batches(room: u64, damaged_from: f64) -> (FrameBatches, Arc<BlackDecoder>) {
        let decoder = Arc::new(BlackDecoder { calls: parking_lot::Mutex::default(), damaged_from });
        let profile = Profile::default();
        let (file, picture) = (PathBuf::new(), (200, 100));
        (FrameBatches::new(decoder.clone(), file, profile, picture, room * 15_000), decoder)
    }

    async fn take(batches: &FrameBatches, chunk: usize, kind: FrameKind) -> Result<Option<f64>> {
        let [frames] = batches.take(chunk, [kind], stills).await?;
        Ok(frames[0].as_ref().map(|frame| frame.time))
    }

    #[tokio::test]
    async fn chunks_are_decoded_together_up_to_the_memory_limit() {
        let (batches, decoder) = batches(4, f64::INFINITY);
        for chunk in 0..CHUNKS {
            let time = take(&batches, chunk, Analysis).await.expect("frames");
            assert_eq!(time, Some(chunk as f64));
        }
        assert_eq!(*decoder.calls.lock(), [vec![0.0, 1.0, 2.0, 3.0], vec![4.0, 5.0]]);
        assert!(batches.state.lock().await.decoded.is_empty());
    }

    #[tokio::test]
    async fn kinds_that_are_requested_once_are_decoded_together_afterwards() {
        let (batches, decoder) = batches(4, f64::INFINITY);
        for chunk in 0..CHUNKS {
            for kind in [Tracking, Analysis] {
                let time = take(&batches, chunk, kind).await.expect("frames");
                assert_eq!(time, Some(chunk as f64));
            }
        }
        let expected = [
            // Nothing was known about the second kind, and there is room for one more frame then.
            vec![0.0, 1.0, 2.0, 3.0],
            vec![0.0],
            vec![1.0, 2.0],
            vec![3.0, 4.0, 4.0],
            vec![5.0],
            vec![5.0],
        ];
        assert_eq!(*decoder.calls.lock(), expected);
    }

    #[tokio::test]
    async fn announced_kinds_are_decoded_in_the_first_pass() {
        let (batches, decoder) = batches(100, f64::INFINITY);
        batches.announce([Analysis, Tracking]).await;
        for chunk in 0..CHUNKS {
            let [first, second] =
                batches.take(chunk, [Tracking, Analysis], stills).await.expect("frames");
            assert_eq!((first.len(), second.len()), (1, 1));
        }
        assert_eq!(decoder.calls.lock().len(), 1);
    }

    #[tokio::test]
    async fn chunk_larger_than_the_limit_is_decoded_alone() {
        let (batches, decoder) = batches(0, f64::INFINITY);
        for chunk in 0..2 {
            let time = take(&batches, chunk, Analysis).await.expect("frames");
            assert_eq!(time, Some(chunk as f64));
        }
        assert_eq!(*decoder.calls.lock(), [[0.0], [1.0]]);
    }

    #[tokio::test]
    async fn chunks_may_be_taken_out_of_order() {
        let (batches, decoder) = batches(3, f64::INFINITY);
        for chunk in [2, 1, 3, 4, 5] {
            let time = take(&batches, chunk, Analysis).await.expect("frames");
            assert_eq!(time, Some(chunk as f64));
        }
        assert_eq!(*decoder.calls.lock(), [vec![2.0, 3.0, 4.0], vec![1.0], vec![5.0]]);
        assert_eq!(take(&batches, 2, Analysis).await.expect("frames"), Some(2.0), "once more");
    }

    #[tokio::test]
    async fn damaged_chunk_does_not_affect_the_chunks_before_it() {
        let (batches, decoder) = batches(10, 2.0);
        assert_eq!(take(&batches, 0, Analysis).await.expect("frames"), Some(0.0));
        assert_eq!(take(&batches, 1, Analysis).await.expect("frames"), Some(1.0));
        assert!(take(&batches, 2, Analysis).await.is_err());
        assert_eq!(decoder.calls.lock().len(), 6);
        let [nothing] = batches.take(CHUNKS, [Analysis], stills).await.expect("no frames");
        assert!(nothing.is_empty());
    }
}
