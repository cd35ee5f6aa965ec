//! What analyzers look at: a video's measured signals and, per chunk, the frames chosen once for
//! all analyzers and what models read from them. Everything is computed when first asked for.

use cuts::VisualSecond;
use std::path::PathBuf;
use std::sync::Arc;

use ports::decoder::{Frame, Image, Still, VideoDecoder};
use ports::detector::{Detection, ObjectDetector};
use ports::ocr::{TextLine, TextRecognizer};
use serde::{Deserialize, Serialize};
use tokio::sync::OnceCell;

use crate::domain::chunking::Signals;
use crate::domain::kernel::error::{Error, Result};
use crate::domain::kernel::ports::Models;
use crate::domain::kernel::profile::{Profile, Step};
use crate::domain::kernel::time::Span;
use crate::domain::kernel::video::{ChunkId, VideoId};
use crate::domain::media::clothing::{Garment, measured};
use crate::domain::media::decode;
use crate::domain::media::picture::portrait;
use crate::domain::media::screen_changes::{Reading, readings};
use crate::domain::media::screen_text::{self, ScreenLine};
use crate::domain::media::speech::{SpeakerTurn, Speech, Utterance};
use crate::domain::media::tracking::{Track, Tracker};

/// A video while it is analyzed.
pub struct VideoEvidence {
    /// Its id.
    pub video_id: VideoId,
    /// The local copy.
    pub file: PathBuf,
    /// What the decoding pass measured.
    pub signals: Arc<Signals>,
    /// What is heard.
    pub speech: Arc<Speech>,
    /// What is said in it, sentence by sentence.
    pub utterances: Vec<Utterance>,
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
    /// How closely objects are followed.
    pub tracking: TrackingOptions,
    /// How closely text on screen is watched.
    pub watching: WatchingOptions,
    /// What looking and reading take.
    pub profile: Profile,
}

/// How closely objects are followed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TrackingOptions {
    /// Frames looked at per second: objects are followed from one to the next.
    pub frames_per_second: f64,
    /// Most frames looked at per chunk.
    pub max_frames: usize,
    /// Largest side of those frames, pixels.
    pub frame_side: u32,
}

impl Default for TrackingOptions {
    fn default() -> Self {
        Self { frames_per_second: 2.0, max_frames: 24, frame_side: 640 }
    }
}

/// How closely text on screen is watched.
#[derive(Debug, Clone, PartialEq)]
pub struct WatchingOptions {
    /// Thumbnails sampled per second to detect when text on screen changes.
    pub looks_per_second: f64,
    /// Most thumbnails per chunk.
    pub max_looks: usize,
    /// Most frames per chunk that are read.
    pub max_frames: usize,
}

/// Largest side of the thumbnails in which changes of text are detected, pixels.
const LOOK_SIDE: u32 = 320;

/// The objects of a chunk.
#[derive(Debug, Default)]
pub struct ChunkTracks {
    /// When was looked, seconds.
    pub times: Vec<f64>,
    /// Every object, people among them.
    pub tracks: Vec<Track>,
    /// The people, with what they wear.
    pub people: Vec<PersonTrack>,
}

/// A person who is seen in a chunk.
#[derive(Debug)]
pub struct PersonTrack {
    /// Where and when.
    pub track: Track,
    /// What they wear, as far as colours tell.
    pub garments: Vec<Garment>,
    /// The surest sight.
    pub portrait: Image,
}

/// One chunk of it.
pub struct ChunkEvidence {
    /// What is known of the whole video.
    pub video: Arc<VideoEvidence>,
    /// Names it within its video.
    pub chunk_id: ChunkId,
    /// When it is, seconds of the video.
    pub span: Span,
    screen_lines: OnceCell<Vec<ScreenLine>>,
    tracks: OnceCell<ChunkTracks>,
}

impl ChunkEvidence {
    /// Nothing is looked at yet.
    pub fn new(video: Arc<VideoEvidence>, chunk_id: ChunkId, span: Span) -> Self {
        Self { video, chunk_id, span, screen_lines: OnceCell::new(), tracks: OnceCell::new() }
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

    /// Whether it shows what another chunk shows, throughout, and nobody speaks in either.
    pub fn repeats(&self, other: &Self) -> bool {
        /// Bits of the perceptual hash and share of colours that coding noise changes.
        const BITS: u32 = 4;
        const COLOURS: f32 = 0.06;
        let silent = |chunk: &Self| chunk.video.speech.words_in(chunk.span).is_empty();
        let Some(shown) = other.visual().first() else { return false };
        let alike = |v: &VisualSecond| {
            let changed: f32 =
                v.histogram.iter().zip(&shown.histogram).map(|(a, b)| (a - b).abs()).sum();
            (v.hash ^ shown.hash).count_ones() <= BITS && changed / 2.0 <= COLOURS
        };
        !self.visual().is_empty()
            && self.visual().iter().chain(other.visual()).all(alike)
            && silent(self)
            && silent(other)
    }

    /// What is said in it: every sentence of which a word is within the chunk, whole.
    pub fn utterances(&self) -> impl Iterator<Item = &Utterance> {
        self.video.speech.utterances_in(&self.video.utterances, self.span)
    }

    /// The turns of its speakers, clipped to it.
    pub fn turns(&self) -> Vec<SpeakerTurn> {
        self.video.speech.turns_in(&self.video.utterances, self.span)
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
        Ok(self.decode(self.frame_stills()).await?.into_iter().flatten().collect())
    }

    fn frame_stills(&self) -> Vec<Still> {
        let max_side = self.video.frame_side;
        self.frame_times().into_iter().map(|time| Still { time, max_side }).collect()
    }

    async fn decode(&self, stills: Vec<Still>) -> Result<Vec<Option<Frame>>> {
        if stills.is_empty() {
            return Ok(Vec::new());
        }
        let decoding = decode::frames(&self.video.decoder, self.video.file.clone(), stills);
        self.video.profile.measure(Step::DecodeFrames, decoding).await
    }

    /// Evenly spaced times in the chunk, seconds: `per_second` for each second, at most `most`.
    fn even_times(&self, per_second: f64, most: usize) -> impl Iterator<Item = f64> {
        let wanted = (self.span.seconds() * per_second).round() as usize;
        let count = if self.video.has_video { wanted.clamp(1, most.max(1)) } else { 0 };
        let step = self.span.seconds() / count.max(1) as f64;
        let start = self.span.start;
        (0..count).map(move |i| start + (i as f64 + 0.5) * step)
    }

    /// The thumbnails in which changes of text are detected.
    fn watching_stills(&self) -> Vec<Still> {
        let WatchingOptions { looks_per_second, max_looks, .. } = self.video.watching;
        let times = self.even_times(looks_per_second, max_looks);
        times.map(|time| Still { time, max_side: LOOK_SIDE }).collect()
    }

    /// The frames to run OCR on: those at [`Self::frame_times`], and one for each change of text that the
    /// thumbnails `looks` show.
    fn readings(&self, stills: &[Still], looks: Vec<Option<Frame>>) -> Vec<Reading> {
        let shown = stills.iter().zip(looks);
        let looks: Vec<(f64, Image)> =
            shown.filter_map(|(still, frame)| Some((still.time, frame?.image))).collect();
        readings(&looks, &self.frame_times(), self.video.watching.max_frames)
    }

    /// What [`Self::screen_lines`] and [`Self::tracks`] find, their frames decoded in one pass.
    pub async fn sights(&self, models: &Models) -> Result<(&[ScreenLine], &ChunkTracks)> {
        if let (Some(reader), Some(detector)) = (&models.ocr, &models.detector)
            && !self.screen_lines.initialized()
            && !self.tracks.initialized()
        {
            let (watched, tracked) = (self.watching_stills(), self.tracking_stills());
            let mut looks = self.decode([watched.clone(), tracked].concat()).await?;
            let tracked = looks.split_off(watched.len().min(looks.len()));
            let readings = self.readings(&watched, looks);
            // Reading takes longest: what is held meanwhile is little.
            let tracked = tracked.into_iter().flatten().collect();
            self.tracks.get_or_try_init(|| self.follow(detector.as_ref(), tracked)).await?;
            self.screen_lines.get_or_try_init(|| self.read(reader.as_ref(), readings)).await?;
        }
        Ok((self.screen_lines(models).await?, self.tracks(models).await?))
    }

    /// The text of the chunk, each line once. Empty without a reader.
    pub async fn screen_lines(&self, models: &Models) -> Result<&[ScreenLine]> {
        let lines = self.screen_lines.get_or_try_init(|| async {
            let Some(reader) = &models.ocr else { return Ok::<_, Error>(Vec::new()) };
            let watched = self.watching_stills();
            let looks = self.decode(watched.clone()).await?;
            self.read(reader.as_ref(), self.readings(&watched, looks)).await
        });
        Ok(lines.await?)
    }

    /// The text on frames. One that shows what the last one that was read did is not read again.
    async fn read(
        &self,
        reader: &dyn TextRecognizer,
        readings: Vec<Reading>,
    ) -> Result<Vec<ScreenLine>> {
        let profile = &self.video.profile;
        let max_side = self.video.frame_side;
        let stills = readings.iter().map(|reading| Still { time: reading.time, max_side });
        let frames = self.decode(stills.collect()).await?;
        let mut lines: Vec<(f64, Vec<TextLine>)> = Vec::new();
        let mut before: Option<Image> = None;
        for (Reading { time, shown }, frame) in readings.into_iter().zip(frames) {
            let Some(frame) = frame else { continue };
            let unchanged = before.as_ref().is_some_and(|b| same_picture(b, &frame.image));
            let read = match lines.last().filter(|_| unchanged) {
                Some((_, known)) => known.clone(),
                None => profile.measure(Step::ReadText, reader.read(&frame.image)).await?,
            };
            for seen in [shown.start, time, shown.end] {
                if lines.last().is_none_or(|(last, _)| *last < seen) {
                    lines.push((seen, read.clone()));
                }
            }
            if !unchanged {
                before = Some(frame.image);
            }
        }
        Ok(screen_text::merged(&lines))
    }

    /// The frames on which objects are looked for: evenly over the chunk.
    fn tracking_stills(&self) -> Vec<Still> {
        let TrackingOptions { frames_per_second, max_frames, frame_side } = self.video.tracking;
        let times = self.even_times(frames_per_second, max_frames);
        times.map(|time| Still { time, max_side: frame_side }).collect()
    }

    /// The objects of the chunk, followed over time. Empty without a detector.
    pub async fn tracks(&self, models: &Models) -> Result<&ChunkTracks> {
        let tracks = self.tracks.get_or_try_init(|| async {
            let Some(detector) = &models.detector else {
                return Ok::<_, Error>(ChunkTracks::default());
            };
            let frames = self.decode(self.tracking_stills()).await?;
            self.follow(detector.as_ref(), frames.into_iter().flatten().collect()).await
        });
        tracks.await
    }

    /// The objects on frames, from one to the next. One that shows what the last one that was looked at
    /// did is not looked at again.
    async fn follow(
        &self,
        detector: &dyn ObjectDetector,
        frames: Vec<Frame>,
    ) -> Result<ChunkTracks> {
        let cuts: Vec<f64> = self.video.signals.candidates.cut.iter().map(|c| c.time).collect();
        let person = |label: &str| label == "person";
        let (mut tracker, mut times) = (Tracker::default(), Vec::with_capacity(frames.len()));
        let mut before: Option<(Image, Vec<Detection>)> = None;
        // Others need not be kept until all are looked at.
        let mut frames_of_people = Vec::new();
        for frame in frames {
            let known = before.take().filter(|(image, _)| same_picture(image, &frame.image));
            let (image, found) = match known {
                Some(known) => known,
                None => {
                    let looking = detector.detect(&frame.image);
                    let found = self.video.profile.measure(Step::FindObjects, looking).await?;
                    (frame.image.clone(), found)
                }
            };
            tracker.push(frame.time, &frame.image, &found, &cuts);
            times.push(frame.time);
            if found.iter().any(|object| person(&object.label)) {
                frames_of_people.push(frame);
            }
            before = Some((image, found));
        }
        let tracks = tracker.finish();
        let of_people = tracks.iter().filter(|track| person(&track.label));
        let of_people = of_people.filter_map(|track| PersonTrack::of(track, &frames_of_people));
        let people = of_people.collect();
        Ok(ChunkTracks { times, tracks, people })
    }
}

impl PersonTrack {
    fn of(track: &Track, frames: &[Frame]) -> Option<Self> {
        let image = |time: f64| frames.iter().find(|f| f.time == time).map(|f| &f.image);
        // What most sights agree on: a passer-by or a shadow spoils one of them.
        let mut seen: Vec<(Vec<Garment>, usize)> = Vec::new();
        for point in &track.points {
            let worn = image(point.time).map_or_else(Vec::new, |i| measured(i, &point.bounds));
            match seen.iter_mut().find(|(known, _)| *known == worn) {
                Some((_, count)) => *count += 1,
                None => seen.push((worn, 1)),
            }
        }
        let told = seen.into_iter().filter(|(garments, _)| !garments.is_empty());
        let garments =
            told.max_by_key(|(_, count)| *count).map_or_else(Vec::new, |(garments, _)| garments);
        let surest = track.surest()?;
        let portrait = portrait(image(surest.time)?, &surest.bounds);
        Some(Self { track: track.clone(), garments, portrait })
    }
}

/// Whether two frames differ by no more than coding noise anywhere, so that not even a small
/// caption has changed.
fn same_picture(a: &Image, b: &Image) -> bool {
    /// Pixels per block and the mean change of its bytes that noise does not reach.
    const BLOCK: usize = 64;
    const NOISE: u32 = 6;
    a.width == b.width
        && a.height == b.height
        && a.rgb.chunks(3 * BLOCK).zip(b.rgb.chunks(3 * BLOCK)).all(|(a, b)| {
            let change: u32 = a.iter().zip(b).map(|(x, y)| u32::from(x.abs_diff(*y))).sum();
            change <= NOISE * a.len() as u32
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_caption_is_another_picture() {
        let still = Image { width: 640, height: 360, rgb: vec![90; 640 * 360 * 3] };
        let mut noisy = still.clone();
        noisy.rgb.iter_mut().step_by(3).for_each(|x| *x += 5);
        assert!(same_picture(&still, &noisy));
        let mut captioned = still.clone();
        for row in 300..312 {
            captioned.rgb[(row * 640 + 200) * 3..(row * 640 + 300) * 3].fill(250);
        }
        assert!(!same_picture(&still, &captioned));
        assert!(!same_picture(&still, &Image { width: 1, height: 1, rgb: vec![90; 3] }));
    }
}
