//! Tests that a scan passes on the two channels of a stereo track along with their mix.

use adapters::decoder::{FfmpegDecoder, FfmpegOptions};
use ports::decoder::{AudioBlock, ScanFrame, ScanOptions, ScanSink, VideoDecoder};
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
