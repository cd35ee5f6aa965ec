//! The audio of a video. It is kept on disk while the video is ingested, as 16-bit samples in an
//! unnamed file. This allows random access to audio of any length.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

use ports::decoder::SAMPLE_RATE;

use crate::kernel::error::{Error, Result};
use crate::kernel::time::Span;

const BYTES_PER_SAMPLE: u64 = 2;

/// Peak amplitude of audio after amplification, 0..1.
const AMPLIFIED_PEAK: f32 = 0.5;

/// Maximum amplification: 40 dB. Audio that would need more is too quiet for 16-bit samples.
const MAX_GAIN: f32 = 100.0;

/// Writes samples while the audio is decoded.
pub(crate) struct SoundWriter {
    file: BufWriter<File>,
    start: f64,
    samples: u64,
    /// Peak amplitude so far, 0..1.
    peak: f32,
    quiet_peak: f32,
}

/// The audio of a video. If all of it is quiet, it is amplified when read, because speech models
/// are trained on audio of normal loudness.
pub(crate) struct Sound {
    file: File,
    start: f64,
    samples: u64,
    gain: f32,
    /// Spans that are read as silence, in order and without overlaps.
    muted: Vec<Span>,
}

impl SoundWriter {
    /// Creates a temporary file in `folder`.
    pub(crate) fn create(folder: &Path) -> Result<Self> {
        std::fs::create_dir_all(folder)?;
        let file = BufWriter::with_capacity(64 * 1024, tempfile::tempfile_in(folder)?);
        Ok(Self { file, start: 0.0, samples: 0, peak: 0.0, quiet_peak: 0.0 })
    }

    /// Enables amplification of audio whose peak amplitude (0..1) is lower than `peak`.
    pub(crate) fn amplify_below(&mut self, peak: f32) {
        self.quiet_peak = peak;
    }

    /// Sets the time of the first sample, in seconds. The default is 0.
    pub(crate) fn starts_at(&mut self, time: f64) {
        self.start = time;
    }

    /// Appends samples with values from −1 to 1.
    pub(crate) fn push(&mut self, samples: &[f32]) -> std::io::Result<()> {
        for sample in samples {
            // `max` ignores NaN.
            self.peak = self.peak.max(sample.abs());
            let quantised = (sample.clamp(-1.0, 1.0) * f32::from(i16::MAX)).round() as i16;
            self.file.write_all(&quantised.to_le_bytes())?;
        }
        self.samples += samples.len() as u64;
        Ok(())
    }

    /// Creates a second writer in `folder` that begins with the audio written so far.
    pub(super) fn copy(&mut self, folder: &Path) -> std::io::Result<Self> {
        self.file.flush()?;
        let mut file = BufWriter::with_capacity(64 * 1024, tempfile::tempfile_in(folder)?);
        let mut piece = [0; 64 * 1024];
        let (mut at, end) = (0, self.samples * BYTES_PER_SAMPLE);
        while at < end {
            let piece = &mut piece[..(end - at).min(64 * 1024) as usize];
            self.file.get_ref().read_exact_at(piece, at)?;
            file.write_all(piece)?;
            at += piece.len() as u64;
        }
        let Self { start, samples, peak, quiet_peak, .. } = *self;
        Ok(Self { file, start, samples, peak, quiet_peak })
    }

    pub(crate) fn finish(self) -> Result<Sound> {
        let file = self.file.into_inner().map_err(|e| e.into_error())?;
        let quiet = self.peak > 0.0 && self.peak < self.quiet_peak;
        let gain = if quiet { (AMPLIFIED_PEAK / self.peak).clamp(1.0, MAX_GAIN) } else { 1.0 };
        Ok(Sound { file, start: self.start, samples: self.samples, gain, muted: Vec::new() })
    }
}

impl Sound {
    /// Returns the span of all samples.
    pub(crate) fn span(&self) -> Span {
        let seconds = self.samples as f64 / f64::from(SAMPLE_RATE);
        Span { start: self.start, end: self.start + seconds }
    }

    /// Whether the audio is amplified when read.
    pub(crate) fn is_amplified(&self) -> bool {
        self.gain > 1.0
    }

    /// Makes reads return silence within `spans`, which are in order and without overlaps.
    pub(super) fn mute(&mut self, spans: Vec<Span>) {
        self.muted = spans;
    }

    /// Reads the existing samples between two times in seconds.
    pub(crate) async fn read(self: &Arc<Self>, from: f64, to: f64) -> Result<Vec<f32>> {
        let sound = self.clone();
        tokio::task::spawn_blocking(move || sound.read_blocking(from, to))
            .await
            .map_err(|e| Error::corrupt(format!("reading the sound panicked: {e}")))?
    }

    /// Reads samples like [`Self::read`]. *Blocks.*
    pub(crate) fn read_blocking(&self, from: f64, to: f64) -> Result<Vec<f32>> {
        let place = |time: f64| {
            let sample = ((time - self.start) * f64::from(SAMPLE_RATE)).round();
            (sample.max(0.0) as u64).min(self.samples)
        };
        let (first, last) = (place(from), place(to));
        let mut bytes = vec![0; (last.saturating_sub(first) * BYTES_PER_SAMPLE) as usize];
        self.file.read_exact_at(&mut bytes, first * BYTES_PER_SAMPLE)?;
        let sample = |pair: &[u8]| {
            let quantised = i16::from_le_bytes([pair[0], pair[1]]);
            f32::from(quantised) / f32::from(i16::MAX) * self.gain
        };
        let mut samples: Vec<f32> =
            bytes.chunks_exact(BYTES_PER_SAMPLE as usize).map(sample).collect();
        let next = self.muted.partition_point(|span| place(span.end) <= first);
        for span in self.muted[next..].iter().take_while(|span| place(span.start) < last) {
            let [from, to] = [span.start, span.end].map(|t| place(t).clamp(first, last) - first);
            samples[from as usize..to as usize].fill(0.0);
        }
        Ok(samples)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_read_by_time() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut writer = SoundWriter::create(folder.path()).expect("a writer");
        writer.starts_at(2.0);
        let ramp: Vec<f32> = (0..SAMPLE_RATE).map(|i| i as f32 / SAMPLE_RATE as f32).collect();
        writer.push(&ramp[..100]).expect("room");
        writer.push(&ramp[100..]).expect("room");
        let sound = writer.finish().expect("a sound");
        let half = sound.read_blocking(2.5, 9.0).expect("samples");
        assert_eq!(half.len(), SAMPLE_RATE as usize / 2);
        assert!((half[0] - 0.5).abs() < 1e-4);
        assert!(sound.read_blocking(0.0, 2.0).expect("nothing").is_empty());
        assert!(sound.read_blocking(7.0, 3.5).expect("nothing").is_empty());
    }

    #[test]
    fn copies_are_independent_and_can_be_muted() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut writer = SoundWriter::create(folder.path()).expect("a writer");
        writer.starts_at(2.0);
        writer.push(&vec![0.5; 16_000]).expect("room");
        let mut copy = writer.copy(folder.path()).expect("a copy");
        writer.push(&vec![0.1; 16_000]).expect("room");
        copy.push(&vec![0.9; 16_000]).expect("room");
        let mut copy = copy.finish().expect("a sound");
        let span = |start, end| Span { start, end };
        copy.mute(vec![span(0.0, 2.1), span(2.5, 2.6), span(3.9, 9.0)]);
        let read = copy.read_blocking(2.0, 4.0).expect("samples");
        let at = |time: f64| (read[((time - 2.0) * 16_000.0) as usize] * 10.0).round();
        assert_eq!([2.05, 2.2, 2.55, 2.7, 3.5, 3.95].map(at), [0.0, 5.0, 0.0, 5.0, 9.0, 0.0]);
        assert_eq!(read.len(), 32_000);
        let later = copy.read_blocking(2.55, 2.65).expect("samples");
        assert_eq!((later[0], later.len()), (0.0, 1_600));
        assert!(later[1_000] > 0.4);
    }

    #[test]
    fn quiet_audio_is_amplified() {
        let loudest = |peak: f32, quiet_peak: f32| {
            let folder = tempfile::tempdir().expect("a folder");
            let mut writer = SoundWriter::create(folder.path()).expect("a writer");
            writer.amplify_below(quiet_peak);
            writer.push(&[0.0, peak / 2.0, -peak, f32::NAN]).expect("room");
            let sound = writer.finish().expect("a sound");
            let samples = sound.read_blocking(0.0, 1.0).expect("samples");
            (sound.is_amplified(), samples.iter().fold(0.0_f32, |peak, s| peak.max(s.abs())))
        };
        let near = |found: f32, expected: f32| (found - expected).abs() < 0.02;
        let (amplified, peak) = loudest(0.01, 0.1);
        assert!(amplified && near(peak, 0.5), "{peak}");
        let (amplified, peak) = loudest(0.001, 0.1);
        assert!(amplified && near(peak, 0.1), "no more than 40 dB: {peak}");
        for (peak, quiet_peak) in [(0.3, 0.1), (0.01, 0.0), (0.0, 0.1)] {
            let (amplified, found) = loudest(peak, quiet_peak);
            assert!(!amplified && near(found, peak), "{peak}: {found}");
        }
    }
}
