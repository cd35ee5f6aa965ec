//! A decoder without codecs. Its files are scripts that describe colours and sounds. It serves for
//! tests and demonstrations of code that uses the `VideoDecoder` port.

use std::fs::File;
use std::path::Path;

use ports::decoder::{
    AudioBlock, AudioInfo, CancellationToken, Clip, ClipRequest, Frame, Image, MediaInfo,
    RenderFormat, RenderPart, RenderParts, SAMPLE_RATE, ScanFrame, ScanOptions, ScanSink,
    ScanSummary, Still, VideoDecoder, VideoDecoderExt, VideoInfo,
};
use ports::{ErrorKind, FrameRate, PortError, Result};
use serde::{Deserialize, Serialize};

/// The first bytes of a script file.
const MAGIC: &[u8] = b"shotlog-recording\n";

/// Maximum size of a script, in bytes.
const MAX_SCRIPT: u64 = 1 << 20;

/// Maximum duration of a recording, in seconds.
const MAX_SECONDS: f64 = 24.0 * 3600.0;

/// A scripted video. [`Recording::to_bytes`] returns the file content that [`RecordedDecoder`]
/// reads.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recording {
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// Frames per second.
    pub frame_rate: f64,
    /// Consecutive scenes, starting at time 0. If there are none, there is no video stream.
    pub scenes: Vec<Scene>,
    /// Consecutive sounds, starting at time 0. If there are none, there is no audio stream.
    pub sounds: Vec<ToneSpan>,
    /// A wrong duration in seconds that the container claims.
    #[serde(default)]
    pub claimed_duration: Option<f64>,
    /// Time in seconds after which the file is damaged.
    #[serde(default)]
    pub damaged_from: Option<f64>,
}

/// A time span with one picture.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Scene {
    /// Duration in seconds.
    pub seconds: f64,
    /// What every frame of the scene shows.
    pub fill: Fill,
}

/// The content of a scene.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fill {
    /// One colour, RGB.
    Colour([u8; 3]),
    /// A pattern of coloured blocks that is derived from this number.
    Blocks(u32),
}

/// A time span with one sound.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ToneSpan {
    /// Duration in seconds.
    pub seconds: f64,
    /// Frequency in Hz of a sine wave at half of full scale; 0 means silence.
    pub tone: f32,
}

impl Recording {
    /// Returns the file content: a magic line, then JSON.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend(serde_json::to_vec(self).unwrap_or_default());
        bytes
    }

    fn read(file: &Path) -> Result<Self> {
        let meta = std::fs::metadata(file)?;
        let invalid = |why: &str| PortError::new(ErrorKind::Invalid, why);
        if !meta.is_file() {
            return Err(invalid("not a regular file: a recording is needed"));
        }
        if meta.len() > MAX_SCRIPT {
            return Err(invalid("not a recording: scripts are shorter than a mebibyte"));
        }
        let bytes = std::fs::read(file)?;
        let script = bytes.strip_prefix(MAGIC).ok_or_else(|| {
            invalid("not a recording: a file that starts with `shotlog-recording` is needed")
        })?;
        let recording: Self = serde_json::from_slice(script).map_err(|e| {
            PortError::caused_by(ErrorKind::Invalid, format!("a broken recording: {e}"), e)
        })?;
        let lengths = recording
            .scenes
            .iter()
            .map(|s| s.seconds)
            .chain(recording.sounds.iter().map(|s| s.seconds));
        let plausible = recording.width.max(recording.height) <= 8192
            && (0.1..=1000.0).contains(&recording.frame_rate)
            && lengths.clone().all(|l| l >= 0.0)
            && lengths.sum::<f64>() <= MAX_SECONDS;
        if !plausible {
            return Err(invalid(
                "a broken recording: its size, frame rate or lengths are out of range",
            ));
        }
        Ok(recording)
    }

    fn has_picture(&self) -> bool {
        !self.scenes.is_empty() && self.width > 0 && self.height > 0
    }

    /// Returns the number of decodable frames.
    fn frames(&self) -> u64 {
        if !self.has_picture() {
            return 0;
        }
        let seconds: f64 = self.scenes.iter().map(|s| s.seconds).sum();
        (seconds.min(self.damaged_from.unwrap_or(f64::MAX)) * self.frame_rate).round().max(0.0)
            as u64
    }

    fn sound_seconds(&self) -> f64 {
        let seconds: f64 = self.sounds.iter().map(|s| s.seconds).sum();
        seconds.min(self.damaged_from.unwrap_or(f64::MAX)).max(0.0)
    }

    fn time(&self, frame: u64) -> f64 {
        frame as f64 / self.frame_rate
    }

    fn scene_at(&self, time: f64) -> Option<Fill> {
        let mut end = 0.0;
        let scene = self.scenes.iter().find(|s| {
            end += s.seconds;
            // Allows for rounding differences between frame times and sums of durations.
            time < end - 1e-6
        });
        scene.or(self.scenes.last()).map(|s| s.fill)
    }

    /// Appends a part of another recording.
    fn append(&mut self, other: &Self, part: &RenderPart, format: &RenderFormat) {
        let seconds = format.rate.seconds(part.frames);
        let last = other.scenes.last().map_or(Fill::Colour([0; 3]), |scene| scene.fill);
        let fills = other.scenes.iter().map(|scene| (scene.seconds, scene.fill));
        for (seconds, fill) in cut(fills, part.start, seconds, last) {
            self.scenes.push(Scene { seconds, fill });
        }
        let tones = other.sounds.iter().map(|sound| (sound.seconds, sound.tone));
        for (seconds, tone) in cut(tones, part.start, seconds, 0.0) {
            self.sounds.push(ToneSpan { seconds, tone });
        }
    }

    fn paint(&self, time: f64, width: u32, height: u32) -> Vec<u8> {
        let Some(fill) = self.scene_at(time) else { return Vec::new() };
        let pixel = |x: u32, y: u32| match fill {
            Fill::Colour(colour) => colour,
            Fill::Blocks(seed) => {
                let block = (u64::from(y) * 4 / u64::from(height)) * 4
                    + u64::from(x) * 4 / u64::from(width);
                let mixed = (block + 1).wrapping_mul(u64::from(seed) * 2 + 0x9E37_79B9_7F4A_7C15);
                let mixed = (mixed ^ (mixed >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
                [(mixed >> 20) as u8, (mixed >> 36) as u8, (mixed >> 52) as u8]
            }
        };
        (0..height).flat_map(|y| (0..width).flat_map(move |x| pixel(x, y))).collect()
    }
}

/// Reads [`Recording`] files.
#[derive(Debug, Clone, Copy, Default)]
pub struct RecordedDecoder;

impl VideoDecoder for RecordedDecoder {
    fn probe(&self, file: &Path) -> Result<MediaInfo> {
        let recording = Recording::read(file)?;
        let picture = recording.has_picture();
        if !picture && recording.sounds.is_empty() {
            return Err(PortError::new(
                ErrorKind::Invalid,
                "the recording holds neither pictures nor sound",
            ));
        }
        let seconds: f64 = recording.scenes.iter().map(|s| s.seconds).sum();
        let sound: f64 = recording.sounds.iter().map(|s| s.seconds).sum();
        Ok(MediaInfo {
            container: "recording".into(),
            extension: "rec".into(),
            content_type: if picture { "video/x-recording" } else { "audio/x-recording" }.into(),
            duration: recording.claimed_duration.or(Some(seconds.max(sound))).filter(|&d| d > 0.0),
            video: picture.then(|| VideoInfo {
                codec: "recording".into(),
                width: recording.width,
                height: recording.height,
                frame_rate: FrameRate::nearest(recording.frame_rate),
            }),
            audio: (!recording.sounds.is_empty())
                .then_some(AudioInfo { tracks: 1, default_track: 0 }),
            undecodable_video: None,
            timecode: None,
            reel_name: None,
            recorded_at: None,
        })
    }

    fn scan(
        &self,
        file: &Path,
        options: &ScanOptions,
        sink: &mut dyn ScanSink,
    ) -> Result<ScanSummary> {
        let recording = Recording::read(file)?;
        let rate = f64::from(SAMPLE_RATE);
        let mut summary = ScanSummary {
            damaged: u64::from(recording.damaged_from.is_some()),
            ..Default::default()
        };
        let samples = (recording.sound_seconds() * rate).round() as u64;
        let frames = recording.frames();
        if frames == 0 && samples == 0 {
            return Err(PortError::new(
                ErrorKind::Invalid,
                "nothing in the recording could be decoded",
            ));
        }
        let mut painted: Option<(Fill, Vec<u8>)> = None;
        // Audio is sent in blocks of 0.1 s. Each block is sent before the frames at the same time.
        while summary.frames < frames || summary.samples < samples {
            let audio_end = summary.samples as f64 / rate;
            if summary.samples < samples
                && (summary.frames == frames || audio_end <= recording.time(summary.frames))
            {
                let block = (samples - summary.samples).min(u64::from(SAMPLE_RATE) / 10);
                let wave = tone(&recording, summary.samples, block);
                sink.audio(AudioBlock::mono(audio_end, &wave))?;
                summary.samples += block;
                continue;
            }
            let time = recording.time(summary.frames);
            let fill = recording.scene_at(time);
            if painted.as_ref().map(|p| p.0) != fill {
                painted = fill.map(|f| (f, recording.paint(time, options.width, options.height)));
            }
            if let Some((_, rgb)) = &painted {
                sink.frame(ScanFrame::new(time, rgb))?;
            }
            summary.frames += 1;
        }
        summary.end = recording.time(frames).max(samples as f64 / rate);
        Ok(summary)
    }

    fn sound(&self, file: &Path, audio_track: Option<u32>, sink: &mut dyn ScanSink) -> Result<()> {
        self.scan_sound(file, audio_track, sink)
    }

    fn stills(&self, file: &Path, stills: &[Still]) -> Result<Vec<Option<Frame>>> {
        let recording = Recording::read(file)?;
        let Some(last) = recording.frames().checked_sub(1) else {
            return Ok(vec![None; stills.len()]);
        };
        let longer = recording.width.max(recording.height);
        let frame = |&Still { time, max_side }: &Still| {
            time.is_finite().then(|| {
                let scale = (f64::from(max_side.max(1)) / f64::from(longer)).min(1.0);
                let side = |n: u32| ((f64::from(n) * scale).round() as u32).max(1);
                let (width, height) = (side(recording.width), side(recording.height));
                let index = (time * recording.frame_rate + 1e-6).floor().clamp(0.0, last as f64);
                let time = recording.time(index as u64);
                let rgb = recording.paint(time, width, height);
                Frame { time, image: Image { width, height, rgb } }
            })
        };
        Ok(stills.iter().map(frame).collect())
    }

    /// Copies the whole file, because a recording cannot be cut.
    fn clip(
        &self,
        file: &Path,
        cut: &ClipRequest,
        mut out: File,
        _: &CancellationToken,
    ) -> Result<Clip> {
        let recording = Recording::read(file)?;
        std::io::Write::write_all(&mut out, &std::fs::read(file)?)?;
        Ok(Clip { start: cut.start, copied: true, video: recording.has_picture() })
    }

    /// Writes a recording with the scenes and sounds of the parts.
    fn render(
        &self,
        format: &RenderFormat,
        parts: &mut RenderParts<'_>,
        mut out: File,
        cancel: &CancellationToken,
    ) -> Result<()> {
        let mut joined = Recording {
            width: format.width,
            height: format.height,
            frame_rate: format.rate.per_second(),
            scenes: Vec::new(),
            sounds: Vec::new(),
            claimed_duration: None,
            damaged_from: None,
        };
        let mut frames = 0;
        for part in parts {
            if cancel.is_cancelled() {
                return Err(PortError::new(ErrorKind::Unavailable, "cancelled"));
            }
            let part = part?;
            frames += part.frames;
            joined.append(&Recording::read(&part.file)?, &part, format);
        }
        if frames != format.frames {
            let message = format!("the parts have {frames} frames, not {}", format.frames);
            return Err(PortError::new(ErrorKind::Invalid, message));
        }
        let bytes = joined.to_bytes();
        if bytes.len() as u64 > format.max_bytes {
            return Err(PortError::new(ErrorKind::TooLarge, "the recording is too large"));
        }
        Ok(std::io::Write::write_all(&mut out, &bytes)?)
    }
}

/// Cuts `seconds` from consecutive spans, from `start` on. What is missing at the end has the content
/// `rest`.
fn cut<T>(
    spans: impl Iterator<Item = (f64, T)>,
    start: f64,
    seconds: f64,
    rest: T,
) -> Vec<(f64, T)> {
    let (mut begin, mut left, mut pieces) = (0.0_f64, seconds, Vec::new());
    for (length, content) in spans {
        let end = begin + length;
        let piece = (end.min(start + seconds) - begin.max(start)).min(left);
        if piece > 0.0 {
            left -= piece;
            pieces.push((piece, content));
        }
        begin = end;
    }
    if left > 0.0 {
        pieces.push((left, rest));
    }
    pieces
}

fn tone(recording: &Recording, start: u64, count: u64) -> Vec<f32> {
    let rate = f64::from(SAMPLE_RATE);
    (start..start + count)
        .map(|i| {
            let time = i as f64 / rate;
            let mut end = 0.0;
            let sound = recording.sounds.iter().find(|s| {
                end += s.seconds;
                time < end
            });
            let tone = sound.map_or(0.0, |s| f64::from(s.tone));
            (0.5 * (std::f64::consts::TAU * tone * time).sin()) as f32
        })
        .collect()
}
