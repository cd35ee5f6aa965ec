//! Frames, storyboards, images of people, audio peaks and clips of stored videos, for clients that
//! display moments.
//!
//! Results are cached on disk within a byte limit. A video is spooled from storage once and kept
//! for later requests; at most one decode per video runs at a time.

mod clips;
mod examples;
mod peaks;
mod portraits;
mod sequences;

use std::collections::VecDeque;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use bytes::Bytes;
use parking_lot::Mutex;
use ports::decoder::{Frame, Image, VideoDecoder, VideoDecoderExt};
use ports::storage::ObjectStorage;
use ports::units::{byte_size, seconds};
use serde::{Deserialize, Serialize};
use tokio::sync::Semaphore;

use crate::ingest::{Limit, Spool, SpooledFile};
use crate::kernel::disk::BLOCK;
use crate::kernel::error::{Error, Result};
use crate::kernel::ports::{Models, Stores};
use crate::kernel::video::VideoId;
use crate::media::decode::decode;
use crate::media::picture::jpeg;
use crate::records::Records;
use crate::records::record::VideoRecord;
pub use clips::{ClipFile, ClipOutline};

pub use peaks::Peaks;
pub use sequences::{RenderedClip, SequencePlan};

/// Limits for frames, storyboards, peaks and clips.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct FrameSettings {
    /// Maximum size of the disk cache under `data_dir`, in bytes. The least recently used files are
    /// removed first.
    #[serde(with = "byte_size")]
    pub cache_bytes: u64,
    /// Maximum width of a frame, in pixels.
    pub max_width: u32,
    /// Maximum number of concurrent decodes.
    pub concurrency: usize,
    /// Maximum number of requests that wait for a decode; further requests are answered with status
    /// 503.
    pub queue: usize,
    /// Number of videos whose spooled files are kept.
    pub sources: usize,
    /// Maximum length of a clip, in seconds.
    #[serde(with = "seconds")]
    pub max_clip_duration: u64,
    /// Maximum size of a clip, in bytes.
    #[serde(with = "byte_size")]
    pub max_clip_bytes: u64,
    /// Maximum number of clips cut at the same time.
    pub clips: usize,
    /// Maximum number of buckets of audio peaks.
    pub max_buckets: u32,
}

impl Default for FrameSettings {
    fn default() -> Self {
        Self {
            cache_bytes: 512 << 20,
            max_width: 1920,
            concurrency: 2,
            queue: 64,
            sources: 2,
            max_clip_duration: 600,
            max_clip_bytes: 256 << 20,
            clips: 1,
            max_buckets: 20_000,
        }
    }
}

/// The layout of a storyboard sheet. The tiles are arranged row by row, with `columns` tiles per
/// row.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Storyboard {
    /// Time between tiles, in seconds.
    pub interval: f64,
    /// Number of tiles in the sheet.
    pub tiles: u32,
    /// Number of tiles per row.
    pub columns: u32,
    /// Number of rows.
    pub rows: u32,
    /// Width of a tile, in pixels.
    pub tile_width: u32,
    /// Height of a tile, in pixels.
    pub tile_height: u32,
}

const COLUMNS: u32 = 10;
const MAX_TILES: u32 = 100;
const TILE_WIDTH: u32 = 160;

/// The slot that holds a spooled video. Its lock is held while the video is fetched or decoded.
type SpoolSlot = Arc<tokio::sync::Mutex<Option<Arc<SpooledFile>>>>;

/// Folders of the disk cache.
pub(crate) struct Folders {
    /// Cached files, by video.
    pub(crate) pictures: PathBuf,
    /// Spooled videos.
    pub(crate) work: PathBuf,
}

/// Decodes and caches frames, storyboards, peaks and clips of stored videos.
pub struct Frames {
    records: Arc<Records>,
    storage: Arc<dyn ObjectStorage>,
    decoder: Arc<dyn VideoDecoder>,
    settings: FrameSettings,
    folders: Folders,
    decodes: Arc<Semaphore>,
    waiting: Arc<Semaphore>,
    clips: Arc<Semaphore>,
    /// Held while audio is decoded, so that only one audio decode runs at a time; frame decodes are
    /// independent of it.
    audio_decode: Arc<tokio::sync::Mutex<()>>,
    sources: Mutex<VecDeque<(VideoId, SpoolSlot)>>,
    /// Number of bytes cached since the size of the cache was last measured; initially large, to
    /// force a measurement.
    unmeasured: AtomicU64,
}

impl Frames {
    pub(crate) fn new(
        stores: &Stores,
        models: &Models,
        records: Arc<Records>,
        settings: FrameSettings,
        folders: Folders,
    ) -> Self {
        Self {
            records,
            storage: stores.storage.clone(),
            decoder: models.decoder.clone(),
            decodes: Arc::new(Semaphore::new(settings.concurrency)),
            waiting: Arc::new(Semaphore::new(settings.queue)),
            clips: Arc::new(Semaphore::new(settings.clips)),
            audio_decode: Arc::default(),
            sources: Mutex::default(),
            unmeasured: AtomicU64::new(u64::MAX / 2),
            folders,
            settings,
        }
    }

    /// Finds or adds a video's slot. Evicts the least recently used slots, but never a slot in use.
    fn source(&self, video_id: VideoId, keep: usize) -> SpoolSlot {
        let mut sources = self.sources.lock();
        let position = sources.iter().position(|(id, _)| *id == video_id);
        let slot = position.and_then(|at| sources.remove(at));
        let slot = slot.unwrap_or_else(|| (video_id, SpoolSlot::default()));
        let source = slot.1.clone();
        sources.push_back(slot);
        while sources.len() > keep.max(1) {
            let idle = sources.iter().position(|(_, source)| Arc::strong_count(source) == 1);
            let Some(idle) = idle else { break };
            sources.remove(idle);
        }
        source
    }

    fn drop_source(&self, video_id: VideoId) {
        let mut sources = self.sources.lock();
        sources.retain(|(id, _)| *id != video_id);
    }
}

impl Frames {
    /// Returns the frame at `time` seconds as a JPEG that is `width` pixels wide, or as wide as the
    /// video if the video is narrower. Returns `Unprocessable` for a time outside the video or a
    /// width outside the limits.
    pub async fn frame(&self, video_id: VideoId, time: f64, width: u32) -> Result<Bytes> {
        let record = self.records.get(video_id).await?;
        let max_width = self.settings.max_width;
        if !(16..=max_width).contains(&width) {
            return Err(Error::Unprocessable(format!(
                "width is {width}; it must be from 16 to {max_width} pixels"
            )));
        }
        if !(0.0..=record.duration).contains(&time) {
            return Err(Error::Unprocessable(format!(
                "t is {time}; it must be from 0 to {} seconds, the length of the video",
                record.duration
            )));
        }
        let key = format!("{:08}-{width}.jpg", (time * 1000.0).round() as u64);
        if let Some(bytes) = self.cached(video_id, &key).await {
            return Ok(bytes);
        }
        let decoded = self.decode(&record, vec![time], width, &key).await?;
        let frames = match decoded {
            DecodeOutcome::Cached(bytes) => return Ok(bytes),
            DecodeOutcome::Frames(frames) => frames,
        };
        let frame = frames.into_iter().flatten().next();
        let frame = frame.ok_or_else(|| Error::NotFound("the video has no picture".into()))?;
        let bytes = jpeg(frame.image).await?;
        self.cache(video_id, &key, bytes.clone()).await;
        Ok(bytes)
    }

    /// Returns the layout of the storyboard, whose thumbnails are spread over the whole video.
    /// [`Frames::storyboard_sheet`] returns the thumbnails themselves.
    pub async fn storyboard(&self, video_id: VideoId) -> Result<Storyboard> {
        self.records.get(video_id).await?;
        if let Some(bytes) = self.cached(video_id, INDEX).await
            && let Ok(index) = serde_json::from_slice(&bytes)
        {
            return Ok(index);
        }
        self.make_storyboard(video_id).await.map(|(index, _)| index)
    }

    /// Returns the storyboard's sheet as a JPEG.
    pub async fn storyboard_sheet(&self, video_id: VideoId) -> Result<Bytes> {
        self.records.get(video_id).await?;
        match self.cached(video_id, SHEET).await {
            Some(bytes) => Ok(bytes),
            None => self.make_storyboard(video_id).await.map(|(_, sheet)| sheet),
        }
    }

    async fn make_storyboard(&self, video_id: VideoId) -> Result<(Storyboard, Bytes)> {
        let record = self.records.get(video_id).await?;
        let tiles = (record.duration.ceil() as u32).clamp(1, MAX_TILES);
        let interval = record.duration / f64::from(tiles);
        let times = (0..tiles).map(|tile| (f64::from(tile) + 0.5) * interval).collect();
        let frames = match self.decode(&record, times, TILE_WIDTH, SHEET).await? {
            DecodeOutcome::Frames(frames) => frames,
            DecodeOutcome::Cached(sheet) => {
                let index = self.cached(video_id, INDEX).await;
                let index = index.and_then(|bytes| serde_json::from_slice(&bytes).ok());
                let index = index.ok_or_else(|| Error::corrupt("a storyboard lost its index"))?;
                return Ok((index, sheet));
            }
        };
        let first = frames.iter().flatten().next();
        let first = first.ok_or_else(|| Error::NotFound("the video has no picture".into()))?;
        let index = Storyboard {
            interval,
            tiles,
            columns: tiles.min(COLUMNS),
            rows: tiles.div_ceil(COLUMNS),
            tile_width: first.image.width,
            tile_height: first.image.height,
        };
        let sheet = jpeg(sheet(&index, &frames)).await?;
        let text = serde_json::to_vec(&index)
            .map_err(|e| Error::corrupt(format!("cannot write a storyboard's index: {e}")))?;
        self.cache(video_id, INDEX, text.into()).await;
        self.cache(video_id, SHEET, sheet.clone()).await;
        Ok((index, sheet))
    }

    /// Decodes frames that are `width` pixels wide, unless `key` was cached while this call waited.
    async fn decode(
        &self,
        record: &VideoRecord,
        times: Vec<f64>,
        width: u32,
        key: &str,
    ) -> Result<DecodeOutcome> {
        let full = |_| Error::Busy {
            message: "too many pictures are being decoded; try again shortly".into(),
            retry_after: 2,
        };
        let queue_permit = self.waiting.clone().try_acquire_owned().map_err(full)?;
        let source = self.source(record.video_id, self.settings.sources);
        let mut source = source.lock_owned().await;
        if let Some(bytes) = self.cached(record.video_id, key).await {
            return Ok(DecodeOutcome::Cached(bytes));
        }
        let decode_permit = self.decodes.clone().acquire_owned().await.map_err(Error::corrupt)?;
        let spooled = self.spooled_source(record, &mut source).await?;
        // Hold the lock and permits until the decode ends, even if the caller is dropped.
        let frames = decode(&self.decoder, move |decoder| {
            let _held = (source, queue_permit, decode_permit);
            let info = decoder.probe(&spooled.path)?;
            let Some(video) = info.video else { return Ok(Vec::new()) };
            let (width, video_width) =
                (u64::from(width.min(video.width)), u64::from(video.width.max(1)));
            // The decoder limits the longer side; heights up to ten times the width are allowed.
            let height = (u64::from(video.height) * width).div_ceil(video_width).min(width * 10);
            let side = width.max(height) as u32;
            Ok(decoder.frames(&spooled.path, &times, side)?)
        });
        Ok(DecodeOutcome::Frames(frames.await?))
    }

    /// Returns a video's spooled file, fetching it from storage if the slot is empty.
    async fn spooled_source(
        &self,
        record: &VideoRecord,
        source: &mut Option<Arc<SpooledFile>>,
    ) -> Result<Arc<SpooledFile>> {
        if let Some(spooled) = source {
            return Ok(spooled.clone());
        }
        let limit = Limit { bytes: record.size_bytes, key: "the stored video's size" };
        let mut spool = Spool::create(self.folders.work.clone(), limit).await?;
        spool.write_stream(self.storage.get(&record.storage_path, None).await?).await?;
        Ok(source.insert(Arc::new(spool.finish().await?)).clone())
    }

    async fn cached(&self, video_id: VideoId, key: &str) -> Option<Bytes> {
        let file = self.folders.pictures.join(video_id.as_str()).join(key);
        let bytes = tokio::fs::read(&file).await.ok()?;
        // Files are evicted in the order of their modification times. If the time cannot be set,
        // the file is evicted earlier.
        let _ = tokio::task::spawn_blocking(move || {
            std::fs::File::options().append(true).open(file)?.set_modified(SystemTime::now())
        })
        .await;
        Some(bytes.into())
    }

    /// Caches a file. If this fails, the next request decodes its content again.
    async fn cache(&self, video_id: VideoId, key: &str, bytes: Bytes) {
        let frames = self.folders.pictures.clone();
        // Measuring takes time proportional to the number of files, so it is done only
        // occasionally.
        let (max_bytes, slack) = (self.settings.cache_bytes, self.settings.cache_bytes / 32);
        let size = bytes.len() as u64 + BLOCK;
        let full = self.unmeasured.fetch_add(size, Ordering::Relaxed) + size >= slack;
        if full {
            self.unmeasured.store(0, Ordering::Relaxed);
        }
        let folder = frames.join(video_id.as_str());
        let key = key.to_owned();
        let written = tokio::task::spawn_blocking(move || {
            std::fs::create_dir_all(&folder)?;
            let file = tempfile::NamedTempFile::new_in(&folder)?;
            std::fs::write(file.path(), &bytes)?;
            file.persist(folder.join(key)).map_err(|e| e.error)?;
            if full { trim(&frames, max_bytes - slack) } else { Ok(()) }
        });
        if let Err(error) = written.await.unwrap_or_else(|error| Err(error.into())) {
            tracing::warn!(%video_id, %error, "could not cache a file");
        }
    }

    /// Removes all cached files of a video.
    pub(crate) async fn remove_video(&self, video_id: VideoId) {
        self.drop_source(video_id);
        self.remove_sequences().await;
        let folder = self.folders.pictures.join(video_id.as_str());
        match tokio::fs::remove_dir_all(&folder).await {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                tracing::warn!(%video_id, %error, "could not remove cached files");
            }
            _ => {}
        }
    }
}

const INDEX: &str = "storyboard.json";
const SHEET: &str = "storyboard.jpg";

enum DecodeOutcome {
    Frames(Vec<Option<Frame>>),
    Cached(Bytes),
}

/// Assembles the storyboard's sheet. Tiles that could not be decoded or that have a different size
/// stay black.
fn sheet(index: &Storyboard, frames: &[Option<Frame>]) -> Image {
    let (tile_width, tile_height) = (index.tile_width as usize, index.tile_height as usize);
    let width = tile_width * index.columns as usize;
    let height = tile_height * index.rows as usize;
    let mut rgb = vec![0; width * height * 3];
    for (at, frame) in frames.iter().enumerate() {
        let Some(image) = frame.as_ref().map(|frame| &frame.image) else { continue };
        if (image.width, image.height) != (index.tile_width, index.tile_height) {
            continue;
        }
        let (row, column) = (at / index.columns as usize, at % index.columns as usize);
        for (line, pixels) in image.rgb.chunks_exact(tile_width * 3).enumerate() {
            let start = ((row * tile_height + line) * width + column * tile_width) * 3;
            rgb[start..start + pixels.len()].copy_from_slice(pixels);
        }
    }
    Image { width: width as u32, height: height as u32, rgb }
}

/// Removes the least recently used files until the remaining ones take up at most `max_bytes` on
/// disk, and removes folders that become empty. *Blocks.*
fn trim(folder: &Path, max_bytes: u64) -> std::io::Result<()> {
    let mut files = Vec::new();
    for video in std::fs::read_dir(folder)?.flatten() {
        for file in std::fs::read_dir(video.path()).into_iter().flatten().flatten() {
            if let Ok(info) = file.metadata() {
                let used = info.modified().unwrap_or(SystemTime::UNIX_EPOCH);
                files.push((used, info.blocks() * BLOCK, file.path()));
            }
        }
    }
    let mut total: u64 = files.iter().map(|(_, size, _)| size).sum();
    files.sort_unstable();
    for (_, size, path) in files {
        if total <= max_bytes {
            break;
        }
        total -= size;
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        // This fails if the folder is not empty.
        let _ = path.parent().map(std::fs::remove_dir);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sheets_contain_tiles_row_by_row() {
        let index = Storyboard {
            interval: 1.0,
            tiles: 3,
            columns: 2,
            rows: 2,
            tile_width: 1,
            tile_height: 1,
        };
        let tile = |shade: u8| {
            Some(Frame { time: 0.0, image: Image { width: 1, height: 1, rgb: vec![shade; 3] } })
        };
        let sheet = sheet(&index, &[tile(1), None, tile(3)]);
        assert_eq!((sheet.width, sheet.height), (2, 2));
        assert_eq!(sheet.rgb, [1, 1, 1, 0, 0, 0, 3, 3, 3, 0, 0, 0]);
    }

    #[test]
    fn least_recently_used_files_are_removed_first() {
        let folder = tempfile::tempdir().expect("a folder");
        let [gone, video] = ["u", "v"].map(|video| folder.path().join(video));
        let path = |name: &str| if name == "oldest" { gone.join(name) } else { video.join(name) };
        for folder in [&gone, &video] {
            std::fs::create_dir(folder).expect("a folder");
        }
        let mut size = 0;
        for (age, name) in [(40, "oldest"), (30, "old"), (20, "middle"), (10, "new")] {
            std::fs::write(path(name), b"one byte takes a block").expect("a file");
            let file = std::fs::File::options().append(true).open(path(name)).expect("a file");
            file.sync_all().expect("on the disk");
            size = file.metadata().expect("its size").blocks() * BLOCK;
            let then = SystemTime::now() - std::time::Duration::from_secs(age);
            file.set_modified(then).expect("its time");
        }
        assert!(size > 22, "a file takes whole blocks: {size}");
        trim(folder.path(), 2 * size).expect("trimmed");
        assert!(!gone.exists(), "an empty folder is no use");
        assert!(!video.join("old").exists());
        assert!(video.join("middle").exists() && video.join("new").exists());
    }
}
