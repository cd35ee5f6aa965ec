//! Cuts clips from stored videos. Clips and frames share the disk cache and its size limit.

use std::fs::File;
use std::path::PathBuf;

use bytes::Bytes;
use ports::ErrorKind;
use ports::decoder::ClipRequest;
use tokio::sync::OwnedSemaphorePermit;

use super::{Frames, trim};
use crate::kernel::error::{Error, Result};
use crate::kernel::time::{Span, rounded};
use crate::kernel::video::VideoId;
use crate::media::decode::decode_cancellable;
use crate::records::record::VideoRecord;

/// Version of the cutting method. Incrementing it invalidates cached clips.
const CLIP_VERSION: u32 = 2;

/// Width of the poster of a clip, in pixels.
const POSTER_WIDTH: u32 = 960;

/// A clip that has been cut.
#[derive(Debug)]
pub struct ClipFile {
    /// The open file.
    pub file: File,
    /// Size of the file, in bytes.
    pub size: u64,
    /// Whether the clip has a video stream; otherwise it is audio only.
    pub video: bool,
    /// Suggested file name: letters and digits of any script, `.`, `_` and `-`.
    pub filename: String,
    /// Version of the file, which differs each time the clip is cut; `None` if the file system does
    /// not store creation times.
    pub version: Option<String>,
}

/// The properties of a clip, which may not have been cut yet.
#[derive(Debug)]
pub struct ClipOutline {
    /// Whether the clip has a video stream; otherwise it is audio only.
    pub video: bool,
    /// Suggested file name, as in [`ClipFile`].
    pub filename: String,
    /// The clip, if it is cached.
    pub cached: Option<ClipFile>,
}

impl Frames {
    /// Returns a clip of the video from `start` to `end` seconds. With `exact`, the clip begins at
    /// `start`; otherwise it begins at the preceding key frame, which is faster. Returns `Invalid`
    /// if the span lies outside the video or is longer than allowed.
    pub async fn clip(
        &self,
        video_id: VideoId,
        start: f64,
        end: f64,
        exact: bool,
    ) -> Result<ClipFile> {
        let record = self.record_with_span(video_id, start, end).await?;
        let key = key(&record, start, end, exact);
        if let Some(clip) = self.cached_clip(&record, &key, start, end).await {
            return Ok(clip);
        }
        let full = |_| Error::Busy {
            message: "too many clips and pictures are being made; try again shortly".into(),
            retry_after: 5,
        };
        let queue_permit = self.waiting.clone().try_acquire_owned().map_err(full)?;
        let clip_permit = self.clips.clone().acquire_owned().await.map_err(Error::corrupt)?;
        if let Some(clip) = self.cached_clip(&record, &key, start, end).await {
            return Ok(clip);
        }
        let (max_bytes, audio_track) = (self.settings.max_clip_bytes, record.audio_track);
        let cut = ClipRequest { start, end, exact, max_bytes, audio_track };
        self.cut(&record, cut, &key, (queue_permit, clip_permit)).await?;
        let clip = self.cached_clip(&record, &key, start, end).await;
        clip.ok_or_else(|| Error::Busy {
            message:
                "the cache has no room for the clip next to other pictures (frames.cache_bytes)"
                    .into(),
            retry_after: 30,
        })
    }

    /// Returns the properties of the clip that [`Self::clip`] would return, without cutting it.
    pub async fn clip_outline(
        &self,
        video_id: VideoId,
        start: f64,
        end: f64,
        exact: bool,
    ) -> Result<ClipOutline> {
        let record = self.record_with_span(video_id, start, end).await?;
        let cached = self.cached_clip(&record, &key(&record, start, end, exact), start, end).await;
        let video = cached.as_ref().map_or_else(|| record.has_picture(), |clip| clip.video);
        let filename = filename(&record, start, end, video);
        Ok(ClipOutline { video, filename, cached })
    }

    /// Returns the span of a clip with the given times, rounded to milliseconds; by default the start and the end of the video.
    /// Returns `Unprocessable` if they are not in order, and `Invalid` if the span lies outside the
    /// video or is longer than allowed.
    pub(crate) async fn clip_span(
        &self,
        video_id: VideoId,
        start: Option<f64>,
        end: Option<f64>,
    ) -> Result<Span> {
        let record = self.records.get(video_id).await?;
        let duration = record.end(&self.records.spans(&record).await?);
        let [start, end] = [start.unwrap_or(0.0), end.unwrap_or(duration)].map(rounded);
        if !(start >= 0.0 && end.is_finite()) || end <= start {
            return Err(Error::Unprocessable(format!(
                "start is {start} and end is {end}; they must be seconds of the video, end after \
                 start"
            )));
        }
        self.check_clip(duration, start, end)?;
        Ok(Span { start, end })
    }

    /// Returns a frame of a clip for players to show before the clip is played: that after a second,
    /// because clips often begin in the dark. Returns `NotFound` if there is no picture.
    pub(crate) async fn clip_poster(&self, video_id: VideoId, span: Span) -> Result<Bytes> {
        let record = self.records.get(video_id).await?;
        let time = (span.start + (span.seconds() / 2.0).min(1.0)).min(record.duration);
        if !record.has_picture() || time < span.start {
            return Err(Error::NotFound("the clip has no picture".into()));
        }
        self.frame(video_id, time, POSTER_WIDTH.min(self.settings.max_width)).await
    }

    /// Reads a video's record and checks that a clip can have the given span.
    async fn record_with_span(
        &self,
        video_id: VideoId,
        start: f64,
        end: f64,
    ) -> Result<VideoRecord> {
        let record = self.records.get(video_id).await?;
        let duration = record.end(&self.records.spans(&record).await?);
        self.check_clip(duration, start, end)?;
        Ok(record)
    }

    /// Checks the span of a clip from a video of `duration` seconds.
    fn check_clip(&self, duration: f64, start: f64, end: f64) -> Result<()> {
        let max_seconds = self.settings.max_clip_duration;
        if !(0.0..duration).contains(&start) || end > duration + 0.001 {
            return Err(Error::Invalid(format!(
                "the clip goes from {start} to {end}; it must lie within the video, from 0 to \
                 {duration} seconds"
            )));
        }
        if end <= start {
            return Err(Error::Invalid(format!(
                "the clip ends at {end}; it must end after its start, {start} seconds"
            )));
        }
        if end - start > max_seconds as f64 {
            return Err(Error::Invalid(format!(
                "the clip lasts {} seconds; at most {max_seconds} are cut (frames.max_clip_duration)",
                end - start
            )));
        }
        Ok(())
    }

    /// Cuts a clip and caches it. Holds the permits until the work ends, even if the caller is
    /// dropped.
    async fn cut(
        &self,
        record: &VideoRecord,
        cut: ClipRequest,
        key: &str,
        permits: (OwnedSemaphorePermit, OwnedSemaphorePermit),
    ) -> Result<()> {
        let source = self.source(record.video_id, self.settings.sources);
        // The lock is released before cutting, so that requests for frames of the video need not
        // wait.
        let spooled = self.spooled_source(record, &mut *source.lock().await).await?;
        let folder = self.folders.pictures.join(record.video_id.as_str());
        let (pictures, max_bytes) = (self.folders.pictures.clone(), self.settings.cache_bytes);
        let (work, key) = (self.folders.work.clone(), key.to_owned());
        decode_cancellable(&self.decoder, move |decoder, cancel| {
            let _permits = permits;
            let file = tempfile::NamedTempFile::new_in(&work).map_err(ports::PortError::from)?;
            let out = file.reopen().map_err(ports::PortError::from)?;
            let clip = decoder.clip(&spooled.path, &cut, out, cancel)?;
            let name = format!("{key}.{}", extension(clip.video));
            std::fs::create_dir_all(&folder).map_err(ports::PortError::from)?;
            file.persist(folder.join(name)).map_err(|e| ports::PortError::from(e.error))?;
            trim(&pictures, max_bytes).map_err(ports::PortError::from)?;
            Ok(())
        })
        .await
        .map_err(client_error)
    }

    /// Opens a cached clip, if there is one.
    async fn cached_clip(
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
                // The cache evicts files in the order of their modification times.
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

/// Returns the cache key of a clip.
fn key(record: &VideoRecord, start: f64, end: f64, exact: bool) -> String {
    let milliseconds = |time: f64| (time * 1000.0).round() as u64;
    let mode = if exact { "" } else { "-key" };
    let track = record.audio_track.map_or_else(String::new, |track| format!("-a{track}"));
    let (from, to) = (milliseconds(start), milliseconds(end));
    format!("cut{CLIP_VERSION}-{from:08}-{to:08}{mode}{track}")
}

fn filename(record: &VideoRecord, start: f64, end: f64, video: bool) -> String {
    let stem = record.filename.rsplit_once('.').map_or(&*record.filename, |(stem, _)| stem);
    format!("{stem}-{}-{}.{}", time_label(start), time_label(end), extension(video))
}

fn extension(video: bool) -> &'static str {
    if video { "mp4" } else { "m4a" }
}

/// Returns a version made of the creation time and size. The modification time cannot be used,
/// because it is set to the time of the last access.
pub(super) fn version(metadata: &std::fs::Metadata) -> Option<String> {
    let created = metadata.created().ok()?.duration_since(std::time::UNIX_EPOCH).ok()?;
    Some(format!("{:x}-{:x}", created.as_nanos(), metadata.len()))
}

/// Maps the errors that a client can act on to client errors.
pub(super) fn client_error(error: Error) -> Error {
    let Error::Port(port) = &error else { return error };
    match port.kind() {
        ErrorKind::TooLarge => Error::TooLarge(port.to_string()),
        ErrorKind::Invalid | ErrorKind::Timeout | ErrorKind::Unavailable => {
            Error::Invalid(port.to_string())
        }
        _ => error,
    }
}

/// Formats a time for a file name, such as `1m5.25s`.
fn time_label(seconds: f64) -> String {
    let ms = (seconds * 1000.0).round() as u64;
    let (minutes, rest) = (ms / 60_000, (ms % 60_000) as f64 / 1000.0);
    if minutes == 0 { format!("{rest}s") } else { format!("{minutes}m{rest}s") }
}

#[cfg(test)]
mod tests {
    #[test]
    fn time_labels_are_readable() {
        let names = [0.0, 1.5, 61.25, 3600.0].map(super::time_label);
        assert_eq!(names, ["0s", "1.5s", "1m1.25s", "60m0s"]);
    }
}
