//! The two channels of a stereo track, handed out along with their mix, and the choice of a track.

use std::fs::File;
use std::path::Path;

use adapters::decoder::{FfmpegDecoder, FfmpegOptions};
use ports::ErrorKind;
use ports::decoder::{
    AudioBlock, CancellationToken, Clip, ClipRequest, SAMPLE_RATE, ScanFrame, ScanOptions,
    ScanSink, VideoDecoder,
};
use shotlog_adapters as adapters;

use super::ffmpeg::{Studio, decoder};

const SIZE: ScanOptions = ScanOptions { width: 2, height: 2, exact: true, audio_track: None };

/// The amount of audio, and the energy of the mix and of each channel.
#[derive(Default)]
struct Levels {
    samples: usize,
    /// Number of samples in blocks whose channels differ.
    stereo: usize,
    energy: [f64; 3],
}

impl ScanSink for Levels {
    fn frame(&mut self, _: ScanFrame<'_>) -> ports::Result<()> {
        Ok(())
    }

    fn audio(&mut self, block: AudioBlock<'_>) -> ports::Result<()> {
        let [left, right] = block.channels.unwrap_or([block.samples; 2]);
        assert_eq!([left.len(), right.len()], [block.samples.len(); 2]);
        self.samples += block.samples.len();
        self.stereo += block.channels.map_or(0, |[left, _]| left.len());
        for (energy, samples) in self.energy.iter_mut().zip([block.samples, left, right]) {
            *energy += samples.iter().map(|s| f64::from(*s).powi(2)).sum::<f64>();
        }
        Ok(())
    }
}

impl Levels {
    fn rms(&self) -> [f64; 3] {
        self.energy.map(|energy| (energy / self.samples as f64).sqrt())
    }
}

/// A tone on each channel. The tone on the right channel begins after a second.
const TONES: &str =
    "-f lavfi -i aevalsrc='0.5*sin(440*2*PI*t)|0.25*sin(700*2*PI*t)*gte(t,1)':s=44100:d=3";

#[test]
fn channels_that_differ_are_handed_out() {
    let Some(studio) = Studio::open() else { return };
    for (name, coding) in [("call.wav", "-c:a pcm_s16le"), ("call.mp3", "-c:a libmp3lame")] {
        let Some(file) = studio.make(name, &format!("{TONES} {coding}")) else { continue };
        let mut confined = Levels::default();
        decoder().scan(&file, &SIZE, &mut confined).unwrap();
        let mut alone = Levels::default();
        decoder().sound(&file, None, &mut alone).unwrap();
        let mut direct = Levels::default();
        let inner = FfmpegDecoder::new(FfmpegOptions::default());
        inner.scan(&file, &SIZE, &mut direct).unwrap();
        for levels in [confined, alone, direct] {
            let [mix, left, right] = levels.rms();
            assert!((left - 0.354).abs() < 0.02, "{name}: {left}");
            assert!((right - 0.144).abs() < 0.02, "{name}: {right}");
            assert!((mix - 0.191).abs() < 0.02, "{name}: {mix}");
            assert!(levels.stereo + 100 >= levels.samples, "{name}");
        }
    }
}

#[test]
fn channels_that_are_the_same_are_not() {
    let Some(studio) = Studio::open() else { return };
    for (name, coding) in [
        ("same.wav", "-af pan=stereo|c0=c0|c1=c0 -c:a pcm_s16le"),
        ("same.m4a", "-af pan=stereo|c0=c0|c1=c0 -c:a aac"),
        ("mono.wav", "-ac 1 -c:a pcm_s16le"),
        ("surround.wav", "-af pan=5.1|FL=c0|FR=c1|FC=c0 -c:a pcm_s16le"),
    ] {
        let Some(file) = studio.make(name, &format!("{TONES} {coding}")) else { continue };
        let mut levels = Levels::default();
        decoder().scan(&file, &SIZE, &mut levels).unwrap();
        assert_eq!(levels.stereo, 0, "{name}");
        assert!(levels.samples > 40_000, "{name}");
    }
}

/// The pitch of a tone.
#[derive(Default)]
struct Pitch {
    samples: Vec<f32>,
}

impl ScanSink for Pitch {
    fn frame(&mut self, _: ScanFrame<'_>) -> ports::Result<()> {
        Ok(())
    }

    fn audio(&mut self, block: AudioBlock<'_>) -> ports::Result<()> {
        self.samples.extend(block.samples);
        Ok(())
    }
}

impl Pitch {
    /// Whole periods per second.
    fn hertz(&self) -> f64 {
        let rises = self.samples.windows(2).filter(|pair| pair[0] < 0.0 && pair[1] >= 0.0).count();
        rises as f64 * f64::from(SAMPLE_RATE) / self.samples.len() as f64
    }

    fn scan(file: &Path, audio_track: Option<u32>) -> ports::Result<f64> {
        let mut pitch = Self::default();
        decoder().scan(file, &ScanOptions { audio_track, ..SIZE }, &mut pitch)?;
        Ok(pitch.hertz())
    }

    fn sound(file: &Path, audio_track: Option<u32>) -> ports::Result<f64> {
        let mut pitch = Self::default();
        decoder().sound(file, audio_track, &mut pitch)?;
        Ok(pitch.hertz())
    }

    fn clip(file: &Path, audio_track: Option<u32>, exact: bool) -> ports::Result<f64> {
        let cut = file.with_extension("clip.mp4");
        let request = ClipRequest { start: 0.5, end: 2.5, exact, max_bytes: 10 << 20, audio_track };
        let out = File::create(&cut)?;
        let Clip { copied, .. } =
            decoder().clip(file, &request, out, &CancellationToken::default())?;
        assert_eq!(copied, !exact, "{}", file.display());
        let tracks = decoder().probe(&cut)?.audio.map(|audio| audio.tracks);
        assert_eq!(tracks, Some(1), "{}", file.display());
        Self::scan(&cut, None)
    }
}

#[test]
fn requested_audio_track_is_decoded() {
    let Some(studio) = Studio::open() else { return };
    let tracks = "-f lavfi -i {picture} -f lavfi -i sine=frequency=440:duration=3 \
                  -f lavfi -i sine=frequency=1000:duration=3 -map 0:v -map 1:a -map 2:a";
    for name in ["tracks.mp4", "tracks.mkv"] {
        let coding = "-c:v libx264 -pix_fmt yuv420p -g 12 -c:a aac";
        let Some(file) = studio.make(name, &format!("{tracks} {coding}")) else { return };
        assert_eq!(decoder().probe(&file).unwrap().audio.map(|audio| audio.tracks), Some(2));
        for (track, expected) in [(None, 440.0), (Some(0), 440.0), (Some(1), 1000.0)] {
            for (what, hertz) in [
                ("scan", Pitch::scan(&file, track)),
                ("sound", Pitch::sound(&file, track)),
                ("exact clip", Pitch::clip(&file, track, true)),
                ("copied clip", Pitch::clip(&file, track, false)),
            ] {
                let hertz = hertz.unwrap();
                let near = (hertz - expected).abs() < expected / 10.0;
                assert!(near, "{name}: {what} of track {track:?} has {hertz} Hz");
            }
        }
        for error in [
            Pitch::scan(&file, Some(2)).unwrap_err(),
            Pitch::sound(&file, Some(2)).unwrap_err(),
            Pitch::clip(&file, Some(2), true).unwrap_err(),
        ] {
            assert_eq!(error.kind(), ErrorKind::Invalid, "{name}: {error}");
            assert!(error.to_string().contains("no sound track 2"), "{name}: {error}");
        }
    }
}
