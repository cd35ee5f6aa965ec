//! The input to analyzers: a video's measured signals and, for each chunk, the selected frames with
//! the text and objects detected in them. Detections are computed lazily and shared by all
//! analyzers of the chunk.

use cuts::VisualSecond;
use std::sync::Arc;

use ports::classifier::ImageClassifier;
use ports::decoder::{Frame, Image, Still};
use ports::detector::{Detection, ObjectDetector};
use ports::ocr::{ReadImage, TextLine, TextRecognizer};
use serde::{Deserialize, Serialize};
use tokio::sync::OnceCell;

use crate::analysis::frame_batches::{DecodedFrames, FrameBatches, FrameKind};
use crate::analysis::tracks::{ChunkTracks, PersonTrack, best_images};
use crate::analysis::views::{FrameView, MAX_VIEWS, distinct_images};
use crate::chunking::Signals;
use crate::kernel::error::{Error, Result};
use crate::kernel::ports::Models;
use crate::kernel::profile::{Profile, Step};
use crate::kernel::time::Span;
use crate::kernel::video::{ChunkId, VideoId};
use crate::media::agreement::{self, Agreement, Classes, MAX_OBJECTS};
use crate::media::picture::same_picture;
use crate::media::screen_changes::{Reading, readings};
use crate::media::screen_text::{self, ScreenLine};
use crate::media::speech::{SpeakerTurn, Speech, Utterance};
use crate::media::tracking::{Track, Tracker};

/// A video that is being analyzed.
pub struct VideoEvidence {
    /// The id.
    pub video_id: VideoId,
    /// The spans of all chunks, in seconds from the start of the video.
    pub spans: Vec<Span>,
    /// The signals measured by the decoding pass.
    pub signals: Arc<Signals>,
    /// Recognized speech and diarization.
    pub speech: Arc<Speech>,
    /// The sentences, in chronological order.
    pub utterances: Vec<Utterance>,
    /// Whether it has a video stream.
    pub has_video: bool,
    /// Whether it has an audio stream.
    pub has_audio: bool,
    /// Decodes frames of the local copy.
    pub frames: FrameBatches,
    /// Number of frames analyzed per chunk.
    pub frames_per_chunk: usize,
    /// Longest side of the analyzed frames, in pixels.
    pub frame_side: u32,
    /// Frame sampling for object tracking.
    pub tracking: TrackingOptions,
    /// Frame sampling for OCR.
    pub ocr_sampling: OcrSamplingOptions,
    /// Measures the time that each step takes.
    pub profile: Profile,
}

/// Frame sampling for object tracking.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TrackingOptions {
    /// Number of frames sampled per second. Objects are tracked from one frame to the next.
    pub frames_per_second: f64,
    /// Maximum number of frames per chunk.
    pub max_frames: usize,
    /// Longest side of the sampled frames, in pixels.
    pub frame_side: u32,
}

impl Default for TrackingOptions {
    fn default() -> Self {
        Self { frames_per_second: 2.0, max_frames: 24, frame_side: 640 }
    }
}

/// Frame sampling for OCR.
#[derive(Debug, Clone, PartialEq)]
pub struct OcrSamplingOptions {
    /// Thumbnails per second, sampled to detect when text on screen changes.
    pub thumbnails_per_second: f64,
    /// Maximum number of thumbnails per chunk.
    pub max_thumbnails: usize,
    /// Maximum number of frames per chunk to run OCR on.
    pub max_frames: usize,
}

/// Longest side, in pixels, of the thumbnails used to detect text changes.
const THUMBNAIL_SIDE: u32 = 320;

/// One chunk of a [`VideoEvidence`].
pub struct ChunkEvidence {
    /// The video that the chunk belongs to.
    pub video: Arc<VideoEvidence>,
    /// The id within the video.
    pub chunk_id: ChunkId,
    /// The time span, in seconds from the start of the video.
    pub span: Span,
    screen_lines: OnceCell<Vec<ScreenLine>>,
    tracks: OnceCell<ChunkTracks>,
    views: OnceCell<Vec<FrameView>>,
}

impl ChunkEvidence {
    /// Creates the evidence for a chunk without decoding any frames.
    pub fn new(video: Arc<VideoEvidence>, chunk_id: ChunkId, span: Span) -> Self {
        let (screen_lines, tracks, views) = (OnceCell::new(), OnceCell::new(), OnceCell::new());
        Self { video, chunk_id, span, screen_lines, tracks, views }
    }

    /// The per-second picture measurements within the chunk.
    pub fn visual(&self) -> &[VisualSecond] {
        // Seconds without a frame are missing from the list.
        let seconds = &self.video.signals.visual;
        let index = |second: f64| seconds.partition_point(|v| f64::from(v.second) < second);
        let (first, last) = (index(self.span.start.round()), index(self.span.end.round()));
        if first < last {
            return &seconds[first..last];
        }
        let only = index(self.span.start.floor());
        seconds.get(only..=only).unwrap_or_default()
    }

    /// Whether the chunk looks the same as another one throughout and neither contains speech.
    pub fn repeats(&self, other: &Self) -> bool {
        /// The largest difference in the perceptual hash, in bits, that coding noise may cause.
        const BITS: u32 = 4;
        /// The largest difference in the colour histogram, as a share, that coding noise may cause.
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

    /// The sentences with at least one word within the chunk, uncut.
    pub fn utterances(&self) -> impl Iterator<Item = &Utterance> {
        self.video.speech.utterances_in(&self.video.utterances, self.span)
    }

    /// The speaker turns, clipped to the chunk.
    pub fn turns(&self) -> Vec<SpeakerTurn> {
        self.video.speech.turns_in(&self.video.utterances, self.span)
    }

    /// The per-second sound levels (dBFS) within the chunk.
    pub fn loudness(&self) -> &[f32] {
        let seconds = &self.video.signals.loudness;
        let index = |second: f64| (second as usize).min(seconds.len());
        let (first, last) = (index(self.span.start.round()), index(self.span.end.round()));
        let first = first.min(last.saturating_sub(1));
        seconds.get(first..last).unwrap_or_default()
    }

    /// The times of the frames to analyze, in seconds. The chunk is divided into `frames_per_chunk`
    /// equal parts. From each part, the midpoint of its sharpest whole second is used, or the
    /// midpoint of the part if it contains no whole second.
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

    /// Decodes the frames at [`Self::frame_times`], omitting those that cannot be decoded.
    pub async fn frames(&self) -> Result<Vec<Frame>> {
        let [frames] = self.decode([FrameKind::Analysis]).await?;
        Ok(frames.into_iter().flatten().collect())
    }

    /// The frames of one kind, in chronological order.
    fn stills(&self, kind: FrameKind) -> Vec<Still> {
        let VideoEvidence { frame_side, ocr_sampling, tracking, .. } = &*self.video;
        let (times, max_side) = match kind {
            FrameKind::Analysis => (self.frame_times(), *frame_side),
            FrameKind::Thumbnail => {
                let OcrSamplingOptions { thumbnails_per_second, max_thumbnails, .. } = ocr_sampling;
                (self.even_times(*thumbnails_per_second, *max_thumbnails), THUMBNAIL_SIDE)
            }
            FrameKind::Tracking => {
                let TrackingOptions { frames_per_second, max_frames, frame_side } = tracking;
                (self.even_times(*frames_per_second, *max_frames), *frame_side)
            }
        };
        times.into_iter().map(|time| Still { time, max_side }).collect()
    }

    /// Decodes frames, together with those of the chunks after this one.
    async fn decode<const N: usize>(&self, kinds: [FrameKind; N]) -> Result<[DecodedFrames; N]> {
        let index = self.chunk_id.0 as usize;
        let stills = |chunk: usize, kind: FrameKind| {
            if chunk == index {
                return Some(self.stills(kind));
            }
            let span = *self.video.spans.get(chunk)?;
            let next = Self::new(self.video.clone(), ChunkId::from_index(chunk), span);
            Some(next.stills(kind))
        };
        self.video.frames.take(index, kinds, stills).await
    }

    /// Evenly spaced times in the chunk, in seconds: `per_second` times for each second, but at
    /// most `limit` in total.
    fn even_times(&self, per_second: f64, limit: usize) -> Vec<f64> {
        let target = (self.span.seconds() * per_second).round() as usize;
        let count = if self.video.has_video { target.clamp(1, limit.max(1)) } else { 0 };
        let step = self.span.seconds() / count.max(1) as f64;
        let start = self.span.start;
        (0..count).map(|i| start + (i as f64 + 0.5) * step).collect()
    }

    /// The frames to run OCR on: those at [`Self::frame_times`], and one for each text change
    /// detected in the thumbnails.
    fn readings(&self, thumbnails: DecodedFrames) -> Vec<Reading> {
        let thumbnails = thumbnails.into_iter().flatten();
        let thumbnails: Vec<(f64, Image)> =
            thumbnails.map(|frame| (frame.time, frame.image)).collect();
        readings(&thumbnails, &self.frame_times(), self.video.ocr_sampling.max_frames)
    }

    /// Computes [`Self::screen_lines`] and [`Self::tracks`], decoding the frames for both in one
    /// pass.
    pub async fn screen_lines_and_tracks(
        &self,
        models: &Models,
    ) -> Result<(&[ScreenLine], &ChunkTracks)> {
        if models.ocr.is_some() && models.detector.is_some() {
            let kinds = [FrameKind::Analysis, FrameKind::Thumbnail, FrameKind::Tracking];
            self.video.frames.announce(kinds).await;
        }
        // Track first: OCR takes longest, and the tracking frames are freed before OCR starts.
        let tracks = self.tracks(models).await?;
        Ok((self.screen_lines(models).await?, tracks))
    }

    /// Reads the text on screen and returns each line once. Returns no lines if there is no OCR
    /// model.
    pub async fn screen_lines(&self, models: &Models) -> Result<&[ScreenLine]> {
        let lines = self.screen_lines.get_or_try_init(|| async {
            let Some(reader) = &models.ocr else { return Ok::<_, Error>(Vec::new()) };
            let [frames, thumbnails] =
                self.decode([FrameKind::Analysis, FrameKind::Thumbnail]).await?;
            self.read_text(reader.as_ref(), self.readings(thumbnails), frames).await
        });
        Ok(lines.await?)
    }

    /// Returns the frames to run OCR on. Decodes those that are not among `frames`, which are the
    /// frames at [`Self::frame_times`].
    async fn text_frames(
        &self,
        readings: Vec<Reading>,
        frames: DecodedFrames,
    ) -> Result<Vec<(Reading, Image)>> {
        let (decoded, max_side) = (self.frame_times(), self.video.frame_side);
        let times = readings.iter().map(|reading| reading.time);
        let missing = times.filter(|time| !decoded.contains(time));
        let missing = missing.map(|time| Still { time, max_side }).collect();
        let added = self.video.frames.decode(missing).await?;
        let mut all: Vec<Frame> = frames.into_iter().chain(added).flatten().collect();
        let with_image = |reading: Reading| {
            let index = all.iter().position(|frame| frame.time == reading.time)?;
            Some((reading, all.swap_remove(index).image))
        };
        Ok(readings.into_iter().filter_map(with_image).collect())
    }

    /// Runs OCR on frames. Where a frame is identical to the previous one, it has the same text.
    /// `frames` are the frames at [`Self::frame_times`].
    async fn read_text(
        &self,
        reader: &dyn TextRecognizer,
        readings: Vec<Reading>,
        frames: DecodedFrames,
    ) -> Result<Vec<ScreenLine>> {
        let profile = &self.video.profile;
        let frames = self.text_frames(readings, frames).await?;
        let mut lines: Vec<(f64, Vec<TextLine>)> = Vec::new();
        let mut before: Option<ReadImage> = None;
        for (Reading { time, shown }, image) in frames {
            let unchanged = before.take_if(|before| same_picture(&before.image, &image));
            let read = match unchanged {
                Some(read) => read,
                None => {
                    let reading = reader.read_after(&image, before.as_ref());
                    let text = profile.measure(Step::ReadText, reading).await?;
                    ReadImage { image, lines: text }
                }
            };
            for time in [shown.start, time, shown.end] {
                if lines.last().is_none_or(|(last, _)| *last < time) {
                    lines.push((time, read.lines.clone()));
                }
            }
            before = Some(read);
        }
        screen_text::remove_icons(&mut lines);
        Ok(screen_text::merge_lines(&lines))
    }

    /// Tracks the objects in the chunk over time. Returns no tracks if there is no detector.
    pub async fn tracks(&self, models: &Models) -> Result<&ChunkTracks> {
        let tracks = self.tracks.get_or_try_init(|| async {
            let Some(detector) = &models.detector else {
                return Ok::<_, Error>(ChunkTracks::default());
            };
            let [frames] = self.decode([FrameKind::Tracking]).await?;
            self.track_objects(models, detector.as_ref(), frames.into_iter().flatten().collect())
                .await
        });
        tracks.await
    }

    /// Classifies and embeds whole frames: those nearest to [`Self::frame_times`], at most
    /// [`MAX_VIEWS`]. Returns no views if there is no model for it.
    pub async fn views(&self, models: &Models) -> Result<&[FrameView]> {
        if models.detector.is_some() {
            // Uses the frames in which objects are detected.
            self.tracks(models).await?;
        }
        let views = self.views.get_or_try_init(|| async {
            if models.classifier.is_none() && models.image_embedder.is_none() {
                return Ok::<_, Error>(Vec::new());
            }
            self.view_frames(models, &self.frames().await?).await
        });
        Ok(views.await?)
    }

    async fn view_frames(&self, models: &Models, frames: &[Frame]) -> Result<Vec<FrameView>> {
        let frames = self.viewed_frames(frames);
        if frames.is_empty() {
            return Ok(Vec::new());
        }
        let (images, image_of) = distinct_images(&frames);
        let profile = &self.video.profile;
        let mut views: Vec<FrameView> =
            frames.iter().map(|frame| FrameView::at(frame.time)).collect();
        if let Some(classifier) = &models.classifier {
            let classifying = classifier.classify(&images);
            let classified = profile.measure(Step::ClassifyFrames, classifying).await?;
            for (view, image) in views.iter_mut().zip(&image_of) {
                view.probabilities = classified.get(*image).cloned().unwrap_or_default();
            }
        }
        if let Some(embedder) = &models.image_embedder {
            let embedding = embedder.embed_images(&images);
            let vectors = profile.measure(Step::EmbedFrames, embedding).await?;
            for (view, image) in views.iter_mut().zip(&image_of) {
                view.vector = vectors.get(*image).cloned().unwrap_or_default();
            }
        }
        Ok(views)
    }

    /// The frames nearest to [`Self::frame_times`], at most [`MAX_VIEWS`].
    fn viewed_frames<'a>(&self, frames: &'a [Frame]) -> Vec<&'a Frame> {
        let times = self.frame_times();
        let skipped = times.len().div_ceil(MAX_VIEWS).max(1);
        let nearest = |time: f64| {
            let distance = |frame: &&Frame| (frame.time - time).abs();
            frames.iter().min_by(|a, b| distance(a).total_cmp(&distance(b)))
        };
        let mut viewed: Vec<&Frame> =
            times.into_iter().step_by(skipped).filter_map(nearest).collect();
        viewed.dedup_by_key(|frame| frame.time);
        viewed
    }

    /// Detects objects in frames and tracks them from one frame to the next. A frame that is
    /// identical to the previous one reuses its detections.
    async fn track_objects(
        &self,
        models: &Models,
        detector: &dyn ObjectDetector,
        frames: Vec<Frame>,
    ) -> Result<ChunkTracks> {
        if models.classifier.is_some() || models.image_embedder.is_some() {
            self.views.get_or_try_init(|| self.view_frames(models, &frames)).await?;
        }
        let cuts: Vec<f64> = self.video.signals.candidates.cut.iter().map(|c| c.time).collect();
        let is_person = |label: &str| label == "person";
        let (mut tracker, mut times) = (Tracker::default(), Vec::with_capacity(frames.len()));
        let mut previous: Option<(Image, Vec<Detection>)> = None;
        // After tracking, only frames with people are needed, and those with objects to verify.
        let is_verified = models.classifier.is_some();
        let mut needed_frames = Vec::new();
        for frame in frames {
            let unchanged = previous.take().filter(|(image, _)| same_picture(image, &frame.image));
            let (image, detections) = match unchanged {
                Some(previous) => previous,
                None => {
                    let detecting = detector.detect(&frame.image);
                    let profile = &self.video.profile;
                    let detections = profile.measure(Step::FindObjects, detecting).await?;
                    (frame.image.clone(), detections)
                }
            };
            tracker.push(frame.time, &frame.image, &detections, &cuts);
            times.push(frame.time);
            if detections.iter().any(|object| is_verified || is_person(&object.label)) {
                needed_frames.push(frame);
            }
            previous = Some((image, detections));
        }
        let mut tracks = tracker.finish();
        let mut unverified = Vec::new();
        if let Some(classifier) = &models.classifier {
            (tracks, unverified) = self.verify(classifier.as_ref(), tracks, &needed_frames).await?;
        }
        let person_tracks = tracks.iter().filter(|track| is_person(&track.label));
        let people = person_tracks
            .filter_map(|track| PersonTrack::from_track(track, &needed_frames))
            .collect();
        Ok(ChunkTracks { times, tracks, people, unverified })
    }

    /// Verifies the labels of objects with images of them; see [`agreement`]. Returns the objects as
    /// they are stated, and the labels that could not be verified.
    async fn verify(
        &self,
        classifier: &dyn ImageClassifier,
        tracks: Vec<Track>,
        frames: &[Frame],
    ) -> Result<(Vec<Track>, Vec<(String, f32)>)> {
        let classes = Classes::new(classifier.labels());
        let mut verified = vec![Agreement::Unsure; tracks.len()];
        let mut by_confidence: Vec<usize> = (0..tracks.len()).collect();
        by_confidence.sort_by(|a, b| tracks[*b].confidence().total_cmp(&tracks[*a].confidence()));
        for index in by_confidence.into_iter().take(MAX_OBJECTS) {
            let images = best_images(&tracks[index], frames);
            let classifying = classifier.classify(&images);
            let results = self.video.profile.measure(Step::ClassifyObjects, classifying).await?;
            let mut mean = vec![0.0; classifier.labels().len()];
            for probabilities in &results {
                for (sum, probability) in mean.iter_mut().zip(probabilities) {
                    *sum += probability / results.len() as f32;
                }
            }
            verified[index] = classes.verify(&tracks[index], &mean);
        }
        let unverified = agreement::unverified(&tracks, &verified);
        let stated = agreement::stated(tracks, &verified);
        Ok((stated, unverified))
    }
}
