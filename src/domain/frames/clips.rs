//! Pieces of stored videos as files of their own. They are kept with the pictures, within the same
//! bytes of disk.

use std::fs::File;
use std::path::PathBuf;

use ports::ErrorKind;
use ports::decoder::ClipRequest;
use tokio::sync::OwnedSemaphorePermit;

use super::{Frames, trim};
use crate::domain::catalog::record::VideoRecord;
use crate::domain::kernel::error::{Error, Result};
use crate::domain::kernel::video::VideoId;
use crate::domain::media::decode::decode_while_wanted;

/// Counts up when clips are cut otherwise: those that were kept before are not given any more.
const CUTTING: u32 = 2;

/// A clip that was cut.
#[derive(Debug)]
pub struct ClipFile {
    /// Its bytes.
    pub file: File,
    /// How many they are.
    pub size: u64,
    /// Whether it has pictures; else it is sound.
    pub video: bool,
    /// A name to save it under: letters and digits of any script, `.`, `_` and `-`.
    pub filename: String,
    /// Differs from that of another cut of the same piece; `None` where the file system does not know
    /// when a file was made.
    pub version: Option<String>,
}

/// A clip before it is cut.
#[derive(Debug)]
pub struct ClipOutline {
    /// Whether it has pictures; else it is sound.
    pub video: bool,
    /// A name to save it under, as of [`ClipFile`].
    pub filename: String,
    /// The clip, where it was cut before.
    pub kept: Option<ClipFile>,
}

impl Frames {
    /// The piece of a video from `start` to `end` seconds. With `exact` it begins at `start`, else at
    /// the key frame before, which is quicker. `Invalid` says which pieces there are.
    pub async fn clip(
        &self,
        video_id: VideoId,
        start: f64,
        end: f64,
        exact: bool,
    ) -> Result<ClipFile> {
        let record = self.checked(video_id, start, end).await?;
        let key = key(&record, start, end, exact);
        if let Some(clip) = self.kept_clip(&record, &key, start, end).await {
            return Ok(clip);
        }
        let full = |_| Error::Busy {
            message: "too many clips and pictures are being made; try again shortly".into(),
            retry_after: 5,
        };
        let place = self.waiting.clone().try_acquire_owned().map_err(full)?;
        let turn = self.clips.clone().acquire_owned().await.map_err(Error::corrupt)?;
        if let Some(clip) = self.kept_clip(&record, &key, start, end).await {
            return Ok(clip);
        }
        let (max_bytes, audio_track) = (self.settings.max_clip_bytes, record.audio_track);
        let cut = ClipRequest { start, end, exact, max_bytes, audio_track };
        self.cut(&record, cut, &key, (place, turn)).await?;
        let clip = self.kept_clip(&record, &key, start, end).await;
        clip.ok_or_else(|| Error::Busy {
            message: "there is no room for the clip beside other pictures (frames.cache_bytes)"
                .into(),
            retry_after: 30,
        })
    }

    /// What [`Self::clip`] would give, without cutting it.
    pub async fn clip_outline(
        &self,
        video_id: VideoId,
        start: f64,
        end: f64,
        exact: bool,
    ) -> Result<ClipOutline> {
        let record = self.checked(video_id, start, end).await?;
        let kept = self.kept_clip(&record, &key(&record, start, end, exact), start, end).await;
        let sound = record.content_type.starts_with("audio/");
        let video = kept.as_ref().map_or(!sound, |clip| clip.video);
        let filename = filename(&record, start, end, video);
        Ok(ClipOutline { video, filename, kept })
    }

    /// The record of a video that has this piece.
    async fn checked(&self, video_id: VideoId, start: f64, end: f64) -> Result<VideoRecord> {
        let record = self.catalog.record(video_id).await?;
        let whole = record.end(&self.catalog.spans(&record).await?);
        self.check_clip(whole, start, end)?;
        Ok(record)
    }

    /// Of a video that lasts `whole` seconds.
    fn check_clip(&self, whole: f64, start: f64, end: f64) -> Result<()> {
        let longest = self.settings.max_clip_duration;
        if !(0.0..whole).contains(&start) || end > whole + 0.001 {
            return Err(Error::Invalid(format!(
                "the clip goes from {start} to {end}; it must lie within the video, from 0 to \
                 {whole} seconds"
            )));
        }
        if end <= start {
            return Err(Error::Invalid(format!(
                "the clip ends at {end}; it must end after its start, {start} seconds"
            )));
        }
        if end - start > longest as f64 {
            return Err(Error::Invalid(format!(
                "the clip lasts {} seconds; at most {longest} are cut (frames.max_clip_duration)",
                end - start
            )));
        }
        Ok(())
    }

    /// Cuts a clip and keeps it. The permits last as long as the work, whoever goes away.
    async fn cut(
        &self,
        record: &VideoRecord,
        cut: ClipRequest,
        key: &str,
        permits: (OwnedSemaphorePermit, OwnedSemaphorePermit),
    ) -> Result<()> {
        let source = self.source(record.video_id, self.settings.sources);
        // Pictures of the video need not wait until the clip is cut.
        let spooled = self.fetched(record, &mut *source.lock().await).await?;
        let folder = self.folders.pictures.join(record.video_id.as_str());
        let (pictures, most) = (self.folders.pictures.clone(), self.settings.cache_bytes);
        let (work, key) = (self.folders.work.clone(), key.to_owned());
        decode_while_wanted(&self.decoder, move |decoder, cancel| {
            let _permits = permits;
            let file = tempfile::NamedTempFile::new_in(&work).map_err(ports::PortError::from)?;
            let out = file.reopen().map_err(ports::PortError::from)?;
            let clip = decoder.clip(&spooled.path, &cut, out, cancel)?;
            let name = format!("{key}.{}", extension(clip.video));
            std::fs::create_dir_all(&folder).map_err(ports::PortError::from)?;
            file.persist(folder.join(name)).map_err(|e| ports::PortError::from(e.error))?;
            trim(&pictures, most).map_err(ports::PortError::from)?;
            Ok(())
        })
        .await
        .map_err(told)
    }

    /// A clip that was cut before.
    async fn kept_clip(
        &self,
        record: &VideoRecord,
        key: &str,
        start: f64,
        end: f64,
    ) -> Option<ClipFile> {
        let folder: PathBuf = self.folders.pictures.join(record.video_id.as_str());
        let names = [true, false].map(|video| (video, filename(record, start, end, video)));
        let key = key.to_owned();
        tokio::task::spawn_blocking(move || {
            names.into_iter().find_map(|(video, filename)| {
                let path = folder.join(format!("{key}.{}", extension(video)));
                let file = File::options().read(true).append(true).open(path).ok()?;
                // What was asked for last goes last.
                let _ = file.set_modified(std::time::SystemTime::now());
                let metadata = file.metadata().ok()?;
                let (size, version) = (metadata.len(), version(&metadata));
                Some(ClipFile { file, size, video, filename, version })
            })
        })
        .await
        .ok()?
    }
}

/// What a clip is kept by.
fn key(record: &VideoRecord, start: f64, end: f64, exact: bool) -> String {
    let milliseconds = |time: f64| (time * 1000.0).round() as u64;
    let way = if exact { "" } else { "-key" };
    let track = record.audio_track.map_or_else(String::new, |track| format!("-a{track}"));
    let (from, to) = (milliseconds(start), milliseconds(end));
    format!("cut{CUTTING}-{from:08}-{to:08}{way}{track}")
}

fn filename(record: &VideoRecord, start: f64, end: f64, video: bool) -> String {
    let stem = record.filename.rsplit_once('.').map_or(&*record.filename, |(stem, _)| stem);
    format!("{stem}-{}-{}.{}", spoken(start), spoken(end), extension(video))
}

fn extension(video: bool) -> &'static str {
    if video { "mp4" } else { "m4a" }
}

/// When a file was made and how large it is: when it was changed says when it was last read.
fn version(metadata: &std::fs::Metadata) -> Option<String> {
    let made = metadata.created().ok()?.duration_since(std::time::UNIX_EPOCH).ok()?;
    Some(format!("{:x}-{:x}", made.as_nanos(), metadata.len()))
}

/// What the caller can do about a clip that cannot be cut is theirs to know.
fn told(error: Error) -> Error {
    let Error::Port(port) = &error else { return error };
    match port.kind() {
        ErrorKind::TooLarge => Error::TooLarge(port.to_string()),
        ErrorKind::Invalid | ErrorKind::Timeout | ErrorKind::Unavailable => {
            Error::Invalid(port.to_string())
        }
        _ => error,
    }
}

/// A time as a part of a file's name: `1m5.25s`.
fn spoken(seconds: f64) -> String {
    let ms = (seconds * 1000.0).round() as u64;
    let (minutes, rest) = (ms / 60_000, (ms % 60_000) as f64 / 1000.0);
    if minutes == 0 { format!("{rest}s") } else { format!("{minutes}m{rest}s") }
}

#[cfg(test)]
mod tests {
    #[test]
    fn times_read_well_in_names() {
        let names = [0.0, 1.5, 61.25, 3600.0].map(super::spoken);
        assert_eq!(names, ["0s", "1.5s", "1m1.25s", "60m0s"]);
    }
}
