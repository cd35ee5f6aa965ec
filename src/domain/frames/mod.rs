//! Single frames, storyboards and loudness over time of stored videos, for clients that show where a
//! moment is.
//!
//! Pictures are kept on disk within a byte limit. The video is spooled from storage once and kept
//! for the next request; at most one decode per video runs at a time.

mod clips;
mod peaks;

use std::collections::VecDeque;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use bytes::Bytes;
use ports::decoder::{Frame, Image, VideoDecoder};
use ports::storage::ObjectStorage;
use ports::units::{byte_size, seconds};
use serde::{Deserialize, Serialize};
use tokio::sync::Semaphore;

use crate::domain::catalog::Catalog;
use crate::domain::catalog::record::VideoRecord;
use crate::domain::ingest::{Limit, Spool, Spooled};
use crate::domain::kernel::disk::BLOCK;
use crate::domain::kernel::error::{Error, Result};
use crate::domain::kernel::ports::{Models, Stores};
use crate::domain::kernel::video::VideoId;
use crate::domain::media::decode::decode;
use crate::domain::media::picture::jpeg;
pub use clips::{ClipFile, ClipOutline};

pub use peaks::Peaks;

/// Pictures of stored videos, for storyboards and thumbnails.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct FrameSettings {
    /// Most bytes of disk that pictures kept below `data_dir` take; the longest unused go first.
    #[serde(with = "byte_size")]
    pub cache_bytes: u64,
    /// Widest frame, pixels.
    pub max_width: u32,
    /// Decodes at once.
    pub concurrency: usize,
    /// Requests that may wait for a decode; past them the answer is 503.
    pub queue: usize,
    /// Videos whose file is kept for the next frame.
    pub sources: usize,
    /// Longest clip that is cut out of a video, seconds.
    #[serde(with = "seconds")]
    pub max_clip_duration: u64,
    /// Most bytes of a clip.
    #[serde(with = "byte_size")]
    pub max_clip_bytes: u64,
    /// Clips cut at once.
    pub clips: usize,
    /// Most parts of a video that the peaks of its sound are asked for.
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

/// Where each moment is in a storyboard's sheet: row by row, `columns` tiles per row.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Storyboard {
    /// Seconds between tiles.
    pub interval: f64,
    /// Tiles in the sheet.
    pub tiles: u32,
    /// Tiles per row.
    pub columns: u32,
    /// Tiles from top to bottom.
    pub rows: u32,
    /// Width of a tile, pixels.
    pub tile_width: u32,
    /// Height of a tile, pixels.
    pub tile_height: u32,
}

const COLUMNS: u32 = 10;
const MOST_TILES: u32 = 100;
const TILE_WIDTH: u32 = 160;

/// A spooled video, by video id. The lock is held while it is fetched or decoded.
type Source = Arc<tokio::sync::Mutex<Option<Arc<Spooled>>>>;

/// Where pictures are kept.
pub(crate) struct Folders {
    /// Those that were decoded.
    pub(crate) pictures: PathBuf,
    /// The videos that they are decoded from, while that lasts.
    pub(crate) work: PathBuf,
}

/// Pictures of stored videos: what is being decoded, and the files that are kept for it.
pub struct Frames {
    catalog: Arc<Catalog>,
    storage: Arc<dyn ObjectStorage>,
    decoder: Arc<dyn VideoDecoder>,
    settings: FrameSettings,
    folders: Folders,
    decodes: Arc<Semaphore>,
    waiting: Arc<Semaphore>,
    clips: Arc<Semaphore>,
    /// Held while a sound is decoded: one at a time, beside the pictures.
    listening: Arc<tokio::sync::Mutex<()>>,
    sources: Mutex<VecDeque<(VideoId, Source)>>,
    /// Bytes kept since it was last looked how many there are; many, before the first look.
    unmeasured: AtomicU64,
}

impl Frames {
    pub(crate) fn new(
        stores: &Stores,
        models: &Models,
        catalog: Arc<Catalog>,
        settings: FrameSettings,
        folders: Folders,
    ) -> Self {
        Self {
            catalog,
            storage: stores.storage.clone(),
            decoder: models.decoder.clone(),
            decodes: Arc::new(Semaphore::new(settings.concurrency)),
            waiting: Arc::new(Semaphore::new(settings.queue)),
            clips: Arc::new(Semaphore::new(settings.clips)),
            listening: Arc::default(),
            sources: Mutex::default(),
            unmeasured: AtomicU64::new(u64::MAX / 2),
            folders,
            settings,
        }
    }

    /// The slot of a video. The slots used longest ago are given up, never one that is in use.
    fn source(&self, video_id: VideoId, keep: usize) -> Source {
        let mut sources = self.sources.lock().unwrap_or_else(PoisonError::into_inner);
        let found = sources.iter().position(|(id, _)| *id == video_id);
        let slot = found.and_then(|at| sources.remove(at));
        let slot = slot.unwrap_or_else(|| (video_id, Source::default()));
        let source = slot.1.clone();
        sources.push_back(slot);
        while sources.len() > keep.max(1) {
            let idle = sources.iter().position(|(_, source)| Arc::strong_count(source) == 1);
            let Some(idle) = idle else { break };
            sources.remove(idle);
        }
        source
    }

    fn give_up_source(&self, video_id: VideoId) {
        let mut sources = self.sources.lock().unwrap_or_else(PoisonError::into_inner);
        sources.retain(|(id, _)| *id != video_id);
    }
}

impl Frames {
    /// The frame shown at `time` seconds as a JPEG that is `width` pixels wide, or as wide as the
    /// video where that is less. `Unprocessable` outside the video or past the widest.
    pub async fn frame(&self, video_id: VideoId, time: f64, width: u32) -> Result<Bytes> {
        let record = self.catalog.record(video_id).await?;
        let widest = self.settings.max_width;
        if !(16..=widest).contains(&width) {
            return Err(Error::Unprocessable(format!(
                "width is {width}; it must be from 16 to {widest} pixels"
            )));
        }
        if !(0.0..=record.duration).contains(&time) {
            return Err(Error::Unprocessable(format!(
                "t is {time}; it must be from 0 to {} seconds, the length of the video",
                record.duration
            )));
        }
        let key = format!("{:08}-{width}.jpg", (time * 1000.0).round() as u64);
        if let Some(bytes) = self.kept(video_id, &key).await {
            return Ok(bytes);
        }
        let decoded = self.decode(&record, vec![time], width, &key).await?;
        let frames = match decoded {
            Decoded::Kept(bytes) => return Ok(bytes),
            Decoded::Frames(frames) => frames,
        };
        let frame = frames.into_iter().flatten().next();
        let frame = frame.ok_or_else(|| Error::NotFound("the video has no picture".into()))?;
        let bytes = jpeg(frame.image).await?;
        self.keep(video_id, &key, bytes.clone()).await;
        Ok(bytes)
    }

    /// Small frames spread over the whole video, and where each is in [`Frames::storyboard_sheet`].
    pub async fn storyboard(&self, video_id: VideoId) -> Result<Storyboard> {
        self.catalog.record(video_id).await?;
        if let Some(bytes) = self.kept(video_id, INDEX).await
            && let Ok(index) = serde_json::from_slice(&bytes)
        {
            return Ok(index);
        }
        self.make_storyboard(video_id).await.map(|(index, _)| index)
    }

    /// The sheet of the storyboard as a JPEG.
    pub async fn storyboard_sheet(&self, video_id: VideoId) -> Result<Bytes> {
        self.catalog.record(video_id).await?;
        match self.kept(video_id, SHEET).await {
            Some(bytes) => Ok(bytes),
            None => self.make_storyboard(video_id).await.map(|(_, sheet)| sheet),
        }
    }

    async fn make_storyboard(&self, video_id: VideoId) -> Result<(Storyboard, Bytes)> {
        let record = self.catalog.record(video_id).await?;
        let tiles = (record.duration.ceil() as u32).clamp(1, MOST_TILES);
        let interval = record.duration / f64::from(tiles);
        let times = (0..tiles).map(|tile| (f64::from(tile) + 0.5) * interval).collect();
        let frames = match self.decode(&record, times, TILE_WIDTH, SHEET).await? {
            Decoded::Frames(frames) => frames,
            Decoded::Kept(sheet) => {
                let index = self.kept(video_id, INDEX).await;
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
        self.keep(video_id, INDEX, text.into()).await;
        self.keep(video_id, SHEET, sheet.clone()).await;
        Ok((index, sheet))
    }

    /// Decodes frames that are `width` pixels wide, unless `key` was kept while waiting for its turn.
    async fn decode(
        &self,
        record: &VideoRecord,
        times: Vec<f64>,
        width: u32,
        key: &str,
    ) -> Result<Decoded> {
        let full = |_| Error::Busy {
            message: "too many pictures are being decoded; try again shortly".into(),
            retry_after: 2,
        };
        let place = self.waiting.clone().try_acquire_owned().map_err(full)?;
        let source = self.source(record.video_id, self.settings.sources);
        let mut source = source.lock_owned().await;
        if let Some(bytes) = self.kept(record.video_id, key).await {
            return Ok(Decoded::Kept(bytes));
        }
        let turn = self.decodes.clone().acquire_owned().await.map_err(Error::corrupt)?;
        let spooled = self.fetched(record, &mut source).await?;
        // Lock and permits move along: a caller who goes away must not let another decode start.
        let frames = decode(&self.decoder, move |decoder| {
            let _held = (source, place, turn);
            let info = decoder.probe(&spooled.path)?;
            let Some(video) = info.video else { return Ok(Vec::new()) };
            let (width, shown) = (u64::from(width.min(video.width)), u64::from(video.width.max(1)));
            // The decoder bounds the longer side; a tall picture may be ten times its width.
            let height = (u64::from(video.height) * width).div_ceil(shown).min(width * 10);
            let side = width.max(height) as u32;
            Ok(decoder.frames(&spooled.path, &times, side)?)
        });
        Ok(Decoded::Frames(frames.await?))
    }

    /// The file of a video, fetched where its slot is empty.
    async fn fetched(
        &self,
        record: &VideoRecord,
        source: &mut Option<Arc<Spooled>>,
    ) -> Result<Arc<Spooled>> {
        if let Some(spooled) = source {
            return Ok(spooled.clone());
        }
        let limit = Limit { bytes: record.size_bytes, key: "the stored video's size" };
        let mut spool = Spool::create(self.folders.work.clone(), limit).await?;
        spool.write_stream(self.storage.get(&record.storage_path, None).await?).await?;
        Ok(source.insert(Arc::new(spool.finish().await?)).clone())
    }

    async fn kept(&self, video_id: VideoId, key: &str) -> Option<Bytes> {
        let file = self.folders.pictures.join(video_id.as_str()).join(key);
        let bytes = tokio::fs::read(&file).await.ok()?;
        // What was read last goes last. A picture whose time cannot be set merely goes earlier.
        let _ = tokio::task::spawn_blocking(move || {
            std::fs::File::options().append(true).open(file)?.set_modified(SystemTime::now())
        })
        .await;
        Some(bytes.into())
    }

    /// Keeps a picture for the next who asks. Where it cannot be kept, it is decoded again.
    async fn keep(&self, video_id: VideoId, key: &str, bytes: Bytes) {
        let frames = self.folders.pictures.clone();
        // Looking takes longer the more there are, so it is done now and then.
        let (most, now_and_then) = (self.settings.cache_bytes, self.settings.cache_bytes / 32);
        let kept = bytes.len() as u64 + BLOCK;
        let full = self.unmeasured.fetch_add(kept, Ordering::Relaxed) + kept >= now_and_then;
        if full {
            self.unmeasured.store(0, Ordering::Relaxed);
        }
        let folder = frames.join(video_id.as_str());
        let key = key.to_owned();
        let kept = tokio::task::spawn_blocking(move || {
            std::fs::create_dir_all(&folder)?;
            let file = tempfile::NamedTempFile::new_in(&folder)?;
            std::fs::write(file.path(), &bytes)?;
            file.persist(folder.join(key)).map_err(|e| e.error)?;
            if full { trim(&frames, most - now_and_then) } else { Ok(()) }
        });
        if let Err(error) = kept.await.unwrap_or_else(|error| Err(error.into())) {
            tracing::warn!(%video_id, %error, "a picture could not be kept");
        }
    }

    /// Removes what is kept of a video.
    pub(crate) async fn forget(&self, video_id: VideoId) {
        self.give_up_source(video_id);
        let folder = self.folders.pictures.join(video_id.as_str());
        match tokio::fs::remove_dir_all(&folder).await {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                tracing::warn!(%video_id, %error, "kept pictures could not be removed");
            }
            _ => {}
        }
    }
}

const INDEX: &str = "storyboard.json";
const SHEET: &str = "storyboard.jpg";

enum Decoded {
    Frames(Vec<Option<Frame>>),
    Kept(Bytes),
}

/// The tiles side by side; one that could not be decoded, or has another size, stays black.
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

/// Removes the pictures used longest ago until those that are left take at most `most` bytes of the
/// disk, and the folders that are empty then. *Blocks.*
fn trim(folder: &Path, most: u64) -> std::io::Result<()> {
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
        if total <= most {
            break;
        }
        total -= size;
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        // One that is not empty stays.
        let _ = path.parent().map(std::fs::remove_dir);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sheet_lays_its_tiles_out_row_by_row() {
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
    fn the_longest_unused_pictures_go_first() {
        let folder = tempfile::tempdir().expect("a folder");
        let [gone, video] = ["u", "v"].map(|video| folder.path().join(video));
        let of = |name: &str| if name == "oldest" { gone.join(name) } else { video.join(name) };
        for folder in [&gone, &video] {
            std::fs::create_dir(folder).expect("a folder");
        }
        let mut size = 0;
        for (age, name) in [(40, "oldest"), (30, "old"), (20, "middle"), (10, "new")] {
            std::fs::write(of(name), b"one byte takes a block").expect("a file");
            let file = std::fs::File::options().append(true).open(of(name)).expect("a file");
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
