//! Renders clips of stored videos as one video. Rendered videos share the disk cache, its size limit
//! and the limits on concurrent work with clips.

use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use ports::decoder::{BurnedCaption, RenderFormat, RenderPart};
use ports::{ErrorKind, PortError};
use serde::Serialize;
use sha2::{Digest, Sha256};
use tempfile::NamedTempFile;
use tokio::sync::mpsc::{Receiver, Sender, channel};

use super::clips::{client_error, version};
use super::{ClipFile, Frames, trim};
use crate::ingest::SpooledFile;
use crate::kernel::error::{Error, Result};
use crate::kernel::video::VideoId;
use crate::media::decode::decode_cancellable;

/// Version of the rendering method. Incrementing it invalidates cached videos.
const RENDER_VERSION: u32 = 1;

/// Folder of the cached videos, next to the folders of the stored videos.
const FOLDER: &str = "sequences";

/// The largest part of the cache that one video may take; a larger one is not cached.
const MAX_SHARE: u64 = 4;

/// A clip of a sequence.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RenderedClip {
    /// The video.
    pub video_id: VideoId,
    /// Start of the clip, in seconds from the start of the video.
    pub start: f64,
    /// Number of frames, at the rate of the sequence.
    pub frames: u64,
    /// Captions to draw into the pictures.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub captions: Vec<BurnedCaption>,
}

/// A sequence to render.
#[derive(Debug, Clone, PartialEq)]
pub struct SequencePlan {
    /// The form of the video.
    pub format: RenderFormat,
    /// The clips, in order.
    pub clips: Vec<RenderedClip>,
    /// Suggested file name: letters, digits, `.`, `_` and `-`.
    pub filename: String,
}

/// A clip whose file is available.
struct SpooledClip {
    part: RenderPart,
    /// Keeps the file.
    spooled: Arc<SpooledFile>,
}

impl Frames {
    /// Renders a sequence as MP4, or returns the cached video. Waits while other clips are cut.
    /// Returns `Busy` if too many requests wait, `TooLarge` if the file would be larger than
    /// allowed, and `Invalid` if a video cannot be decoded.
    pub async fn sequence(&self, plan: &SequencePlan) -> Result<ClipFile> {
        if let Some(video) = self.cached_sequence(plan).await {
            return Ok(video);
        }
        let full = |_| Error::Busy {
            message: "too many clips and pictures are being made; try again shortly".into(),
            retry_after: 5,
        };
        let queue_permit = self.waiting.clone().try_acquire_owned().map_err(full)?;
        let clip_permit = self.clips.clone().acquire_owned().await.map_err(Error::corrupt)?;
        if let Some(video) = self.cached_sequence(plan).await {
            return Ok(video);
        }
        let (sender, receiver) = channel(1);
        let (format, work) = (plan.format, self.folders.work.clone());
        let render = decode_cancellable(&self.decoder, move |decoder, cancel| {
            let _permits = (queue_permit, clip_permit);
            let file = NamedTempFile::new_in(&work).map_err(PortError::from)?;
            let out = file.reopen().map_err(PortError::from)?;
            let mut parts = Parts { clips: receiver, current: None };
            decoder.render(&format, &mut parts, out, cancel)?;
            Ok(file)
        });
        let (supplied, rendered) = tokio::join!(self.supply(&plan.clips, sender), render);
        // If a file is unavailable, the decoder fails too, because a part is missing.
        supplied?;
        let file = rendered.map_err(|error| self.sequence_error(error, plan))?;
        self.keep_sequence(file, plan).await
    }

    /// Returns the rendered video if it is cached.
    pub async fn cached_sequence(&self, plan: &SequencePlan) -> Option<ClipFile> {
        let (path, filename) = (self.sequence_path(plan).await?, plan.filename.clone());
        tokio::task::spawn_blocking(move || {
            let file = File::options().read(true).append(true).open(path).ok()?;
            // The cache evicts files in the order of their modification times.
            let _ = file.set_modified(std::time::SystemTime::now());
            opened(file, filename).ok()
        })
        .await
        .ok()?
    }

    /// Supplies the clips with their files, one after the other, until nobody receives them.
    async fn supply(&self, clips: &[RenderedClip], parts: Sender<SpooledClip>) -> Result<()> {
        for clip in clips {
            let record = self.records.get(clip.video_id).await?;
            let source = self.source(clip.video_id, self.settings.sources);
            let spooled = self.spooled_source(&record, &mut *source.lock().await).await?;
            let part = RenderPart {
                file: spooled.path.to_path_buf(),
                start: clip.start,
                frames: clip.frames,
                audio_track: record.audio_track,
                captions: clip.captions.clone(),
            };
            if parts.send(SpooledClip { part, spooled }).await.is_err() {
                break;
            }
        }
        Ok(())
    }

    /// Caches a rendered video and opens it. If the cache has no room, the file is removed once it
    /// is closed.
    async fn keep_sequence(&self, file: NamedTempFile, plan: &SequencePlan) -> Result<ClipFile> {
        let path = self.sequence_path(plan).await;
        let (pictures, cache_bytes) = (self.folders.pictures.clone(), self.settings.cache_bytes);
        let filename = plan.filename.clone();
        let kept = tokio::task::spawn_blocking(move || {
            let video = opened(file.reopen()?, filename)?;
            if let Some(path) = path.filter(|_| video.size <= cache_bytes / MAX_SHARE) {
                std::fs::create_dir_all(pictures.join(FOLDER))?;
                file.persist(path).map_err(|error| error.error)?;
                trim(&pictures, cache_bytes)?;
            }
            Ok::<_, io::Error>(video)
        });
        Ok(kept.await.map_err(Error::corrupt)?.map_err(PortError::from)?)
    }

    /// Returns the path of the cached video. Its name is a digest of everything that determines the
    /// content; `None` if a video is missing.
    async fn sequence_path(&self, plan: &SequencePlan) -> Option<PathBuf> {
        let mut tracks = Vec::with_capacity(plan.clips.len());
        for clip in &plan.clips {
            tracks.push(self.records.get(clip.video_id).await.ok()?.audio_track);
        }
        let content = (RENDER_VERSION, &plan.format, &plan.clips, tracks);
        let digest = Sha256::digest(serde_json::to_vec(&content).ok()?);
        let name: String = digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
        Some(self.folders.pictures.join(FOLDER).join(format!("{name}.mp4")))
    }

    /// Maps an error of the decoder to one that says what a client can do.
    fn sequence_error(&self, error: Error, plan: &SequencePlan) -> Error {
        match &error {
            Error::Port(port) if port.kind() == ErrorKind::TooLarge => {
                let max = plan.format.max_bytes;
                Error::TooLarge(format!(
                    "the video has more than {max} bytes (bins.max_string_out_bytes), or a source is \
                     too large ({port}); use a smaller max_side, or fewer or shorter selects"
                ))
            }
            _ => client_error(error),
        }
    }

    /// Removes all cached sequences, because one of their videos is removed.
    pub(super) async fn remove_sequences(&self) {
        let folder = self.folders.pictures.join(FOLDER);
        match tokio::fs::remove_dir_all(&folder).await {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                tracing::warn!(%error, "could not remove cached sequences");
            }
            _ => {}
        }
    }
}

/// Passes clips to the decoder, and keeps the file of each until the next one is requested.
struct Parts {
    clips: Receiver<SpooledClip>,
    current: Option<Arc<SpooledFile>>,
}

impl Iterator for Parts {
    type Item = ports::Result<RenderPart>;

    fn next(&mut self) -> Option<Self::Item> {
        self.current = None;
        let SpooledClip { part, spooled } = self.clips.blocking_recv()?;
        self.current = Some(spooled);
        Some(Ok(part))
    }
}

fn opened(file: File, filename: String) -> io::Result<ClipFile> {
    let metadata = file.metadata()?;
    let version = version(&metadata);
    Ok(ClipFile { file, size: metadata.len(), video: true, filename, version })
}
