//! The scan: a single decoding pass that feeds the boundary detectors, visual measurements and
//! voice activity detection, and that stores the audio for later steps.

use cuts::CutDetector;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use ports::decoder::{
    AudioBlock, SAMPLE_RATE, ScanFrame, ScanOptions, ScanSink, ScanSummary, VideoDecoder,
};
use ports::vad::{VoiceActivityDetector, VoiceActivitySession};

use crate::chunking::semantic::scene_shifts;
use crate::chunking::silence::SilenceDetector;
use crate::chunking::{Signals, Weights};
use crate::kernel::error::Result;
use crate::kernel::metrics;
use crate::kernel::profile::Step;
use crate::kernel::progress::Progress;
use crate::kernel::time::Span;
use crate::media::decode::decode;
use crate::media::speech::{ChannelSpeech, ChannelWriter, Channels, Sound, SoundWriter};

/// The inputs of a scan.
pub(crate) struct Scan {
    pub(crate) decoder: Arc<dyn VideoDecoder>,
    pub(crate) file: PathBuf,
    pub(crate) options: ScanOptions,
    pub(crate) vad: Option<Arc<dyn VoiceActivityDetector>>,
    /// The folder that holds the audio while it is needed.
    pub(crate) folder: PathBuf,
    /// Peak amplitude below which audio is amplified (0..1).
    pub(crate) quiet_peak: f32,
    pub(crate) progress: Progress,
}

/// The results of a scan.
pub(crate) struct ScanResult {
    /// The signals, except for voice changes and topic shifts in speech, which are added later.
    pub(crate) signals: Signals,
    pub(crate) sound: Arc<Sound>,
    /// The spans of the audio in which there is voice activity.
    pub(crate) speech: Vec<Span>,
    /// The channels of a stereo track if each channel carries a different voice. Empty otherwise.
    pub(crate) channels: Vec<ChannelSpeech>,
}

struct Detectors {
    cut: CutDetector,
    silence: SilenceDetector,
    voice: Option<Box<dyn VoiceActivitySession>>,
    sound: SoundWriter,
    channels: ChannelWriter,
    /// Time spent on cut detection so far.
    cut_time: Duration,
    vad_time: Duration,
    /// Time of the first audio sample, in seconds.
    audio_start: Option<f64>,
    progress: Progress,
}

impl ScanSink for Detectors {
    fn frame(&mut self, frame: ScanFrame<'_>) -> ports::Result<()> {
        let started = Instant::now();
        self.cut.push(frame);
        self.cut_time += started.elapsed();
        self.check_cancelled()
    }

    fn audio(&mut self, block: AudioBlock<'_>) -> ports::Result<()> {
        let AudioBlock { time, samples, .. } = block;
        if self.audio_start.is_none() {
            self.audio_start = Some(time);
            self.silence.starts_at(time);
            self.sound.starts_at(time);
        }
        self.silence.push(samples);
        let written = self.channels.push(&block, &mut self.sound);
        written.and_then(|()| self.sound.push(samples)).map_err(|e| {
            let what = "cannot store the audio in the working folder";
            ports::PortError::caused_by(ports::ErrorKind::Other, what, e)
        })?;
        if let Some(voice) = &mut self.voice {
            let started = Instant::now();
            voice.push(samples)?;
            self.vad_time += started.elapsed();
        }
        self.check_cancelled()
    }
}

impl Detectors {
    fn new(width: u32, height: u32, folder: &Path, progress: Progress) -> Result<Self> {
        Ok(Self {
            cut: CutDetector::new(width, height),
            silence: SilenceDetector::new(SAMPLE_RATE),
            voice: None,
            sound: SoundWriter::create(folder)?,
            channels: ChannelWriter::new(folder),
            cut_time: Duration::ZERO,
            vad_time: Duration::ZERO,
            audio_start: None,
            progress,
        })
    }

    fn check_cancelled(&self) -> ports::Result<()> {
        self.progress
            .check()
            .map_err(|e| ports::PortError::new(ports::ErrorKind::Other, e.to_string()))
    }

    fn finish(self, summary: &ScanSummary) -> Result<(ScanResult, Option<Channels>)> {
        let profile = &self.progress.profile;
        profile.add(Step::FindCuts, summary.frames, self.cut_time);
        profile.add(Step::FindSpeech, 1, self.vad_time);
        let cuts = self.cut.finish();
        let silence = self.silence.finish();
        let offset = self.audio_start.unwrap_or_default();
        let found = self.voice.map_or(Ok(Vec::new()), |voice| voice.finish())?;
        let speech = found
            .into_iter()
            .map(|s| Span { start: s.start + offset, end: s.end + offset })
            .collect();
        let signals = Signals {
            scenes: scene_shifts(&cuts.seconds, &cuts.candidates),
            candidates: Weights {
                speaker: Vec::new(),
                silence: silence.candidates,
                cut: cuts.candidates,
                semantic: Vec::new(),
            },
            spoken: Vec::new(),
            visual: cuts.seconds,
            loudness: silence.levels,
            end: summary.end,
        };
        let sound = Arc::new(self.sound.finish()?);
        Ok((ScanResult { signals, sound, speech, channels: Vec::new() }, self.channels.finish()?))
    }
}

impl Scan {
    /// Decodes the file and runs the detectors.
    pub(crate) async fn run(self) -> Result<ScanResult> {
        let Self { decoder, file, options, vad, folder, quiet_peak, progress } = self;
        decode(&decoder, move |decoder| {
            let ScanOptions { width, height, .. } = options;
            let mut detectors = Detectors::new(width, height, &folder, progress)?;
            detectors.sound.amplify_below(quiet_peak);
            detectors.voice = vad.as_ref().map(|voice| voice.begin()).transpose()?;
            let started = Instant::now();
            let summary = decoder.scan(&file, &options, &mut detectors);
            detectors.progress.check()?;
            let summary = summary?;
            metrics::decoded(summary.end, started.elapsed());
            detectors.progress.profile.add(Step::Scan, 1, started.elapsed());
            let progress = detectors.progress.clone();
            let (mut scanned, channels) = detectors.finish(&summary)?;
            let Some(vad) = vad else { return Ok(scanned) };
            if scanned.sound.is_amplified() {
                let started = Instant::now();
                scanned.speech = find_speech(vad.as_ref(), &scanned.sound, &progress)?;
                progress.profile.add(Step::FindSpeech, 1, started.elapsed());
            }
            if let Some(channels) = channels {
                let started = Instant::now();
                let find_speech = |sound: &Sound| find_speech(vad.as_ref(), sound, &progress);
                let separate = channels.separate(&scanned.speech, find_speech)?;
                scanned.channels = separate.into_iter().flatten().collect();
                progress.profile.add(Step::FindSpeech, 1, started.elapsed());
            }
            Ok(scanned)
        })
        .await
    }
}

/// Detects voice activity in decoded audio. *Blocks*.
fn find_speech(
    vad: &dyn VoiceActivityDetector,
    sound: &Sound,
    progress: &Progress,
) -> Result<Vec<Span>> {
    let mut voice = vad.begin()?;
    let Span { start, end } = sound.span();
    let mut at = start;
    while at < end {
        progress.check()?;
        voice.push(&sound.read_blocking(at, at + READ_SECONDS)?)?;
        at += READ_SECONDS;
    }
    let found = voice.finish()?.into_iter();
    Ok(found.map(|s| Span { start: s.start + start, end: s.end + start }).collect())
}

/// Length of the audio read at a time, in seconds; 30 s take about 2 MB.
const READ_SECONDS: f64 = 30.0;
