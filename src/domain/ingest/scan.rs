//! The decoding pass: the boundary detectors, the measures and the search for speech are fed from
//! one scan of the file, and its sound is kept at hand.

use cuts::CutDetector;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use ports::decoder::{
    AudioBlock, SAMPLE_RATE, ScanFrame, ScanOptions, ScanSink, ScanSummary, VideoDecoder,
};
use ports::vad::{VoiceActivityDetector, VoiceActivitySession};

use crate::domain::chunking::semantic::scene_shifts;
use crate::domain::chunking::silence::SilenceDetector;
use crate::domain::chunking::{Signals, Weights};
use crate::domain::kernel::error::Result;
use crate::domain::kernel::metrics;
use crate::domain::kernel::profile::Step;
use crate::domain::kernel::progress::Progress;
use crate::domain::kernel::time::Span;
use crate::domain::media::decode::decode;
use crate::domain::media::speech::{ChannelSpeech, ChannelWriter, Channels, Sound, SoundWriter};

/// What is scanned, and with what.
pub(crate) struct Scan {
    pub(crate) decoder: Arc<dyn VideoDecoder>,
    pub(crate) file: PathBuf,
    pub(crate) options: ScanOptions,
    pub(crate) vad: Option<Arc<dyn VoiceActivityDetector>>,
    /// Where the sound is kept while it is needed.
    pub(crate) folder: PathBuf,
    /// Sound whose loudest sample is below this is amplified, 0..1.
    pub(crate) quiet_peak: f32,
    pub(crate) progress: Progress,
}

/// What one pass found.
pub(crate) struct Scanned {
    /// Without voice changes and topic shifts in what is said.
    pub(crate) signals: Signals,
    pub(crate) sound: Arc<Sound>,
    /// Where speech is in it.
    pub(crate) speech: Vec<Span>,
    /// The channels of a stereo track where each has a voice of its own; else none.
    pub(crate) channels: Vec<ChannelSpeech>,
}

struct Detectors {
    cut: CutDetector,
    silence: SilenceDetector,
    voice: Option<Box<dyn VoiceActivitySession>>,
    sound: SoundWriter,
    channels: ChannelWriter,
    /// How long looking for cuts and for speech took so far.
    looking: Duration,
    listening: Duration,
    /// Time of the first sample.
    heard_from: Option<f64>,
    progress: Progress,
}

impl ScanSink for Detectors {
    fn frame(&mut self, frame: ScanFrame<'_>) -> ports::Result<()> {
        let started = Instant::now();
        self.cut.push(frame);
        self.looking += started.elapsed();
        self.stop_when_cancelled()
    }

    fn audio(&mut self, block: AudioBlock<'_>) -> ports::Result<()> {
        let AudioBlock { time, samples, .. } = block;
        if self.heard_from.is_none() {
            self.heard_from = Some(time);
            self.silence.starts_at(time);
            self.sound.starts_at(time);
        }
        self.silence.push(samples);
        let kept = self.channels.push(&block, &mut self.sound);
        kept.and_then(|()| self.sound.push(samples)).map_err(|e| {
            let what = "cannot keep the sound in the working folder";
            ports::PortError::caused_by(ports::ErrorKind::Other, what, e)
        })?;
        if let Some(voice) = &mut self.voice {
            let started = Instant::now();
            voice.push(samples)?;
            self.listening += started.elapsed();
        }
        self.stop_when_cancelled()
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
            looking: Duration::ZERO,
            listening: Duration::ZERO,
            heard_from: None,
            progress,
        })
    }

    fn stop_when_cancelled(&self) -> ports::Result<()> {
        self.progress
            .check()
            .map_err(|e| ports::PortError::new(ports::ErrorKind::Other, e.to_string()))
    }

    fn finish(self, summary: &ScanSummary) -> Result<(Scanned, Option<Channels>)> {
        let profile = &self.progress.profile;
        profile.add(Step::FindCuts, summary.frames, self.looking);
        profile.add(Step::FindSpeech, 1, self.listening);
        let cuts = self.cut.finish();
        let silence = self.silence.finish();
        let offset = self.heard_from.unwrap_or_default();
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
        Ok((Scanned { signals, sound, speech, channels: Vec::new() }, self.channels.finish()?))
    }
}

impl Scan {
    /// Decodes the file once.
    pub(crate) async fn run(self) -> Result<Scanned> {
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

/// Finds speech in sound that was decoded before. *Blocks*.
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

/// Sound that is read at a time, seconds: 2 MB.
const READ_SECONDS: f64 = 30.0;
