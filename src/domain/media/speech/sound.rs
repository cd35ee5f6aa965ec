//! A video's sound on disk while it is ingested, so that it can be listened to piece by piece
//! whatever its length: 16-bit samples in an unnamed file.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

use ports::decoder::SAMPLE_RATE;

use crate::domain::kernel::error::{Error, Result};
use crate::domain::kernel::time::Span;

const BYTES: u64 = 2;

/// Takes samples as they are decoded.
pub(crate) struct SoundWriter {
    file: BufWriter<File>,
    start: f64,
    samples: u64,
}

/// The sound of a video.
pub(crate) struct Sound {
    file: File,
    start: f64,
    samples: u64,
}

impl SoundWriter {
    /// A file in `folder` that is gone with the process.
    pub(crate) fn create(folder: &Path) -> Result<Self> {
        std::fs::create_dir_all(folder)?;
        let file = BufWriter::with_capacity(64 * 1024, tempfile::tempfile_in(folder)?);
        Ok(Self { file, start: 0.0, samples: 0 })
    }

    /// The time of the first sample, seconds; 0 unless said.
    pub(crate) fn starts_at(&mut self, time: f64) {
        self.start = time;
    }

    /// Adds samples in −1..1.
    pub(crate) fn push(&mut self, samples: &[f32]) -> std::io::Result<()> {
        for sample in samples {
            let quantised = (sample.clamp(-1.0, 1.0) * f32::from(i16::MAX)).round() as i16;
            self.file.write_all(&quantised.to_le_bytes())?;
        }
        self.samples += samples.len() as u64;
        Ok(())
    }

    pub(crate) fn finish(self) -> Result<Sound> {
        let file = self.file.into_inner().map_err(|e| e.into_error())?;
        Ok(Sound { file, start: self.start, samples: self.samples })
    }
}

impl Sound {
    /// From the first sample to the end of the last.
    pub(crate) fn span(&self) -> Span {
        let seconds = self.samples as f64 / f64::from(SAMPLE_RATE);
        Span { start: self.start, end: self.start + seconds }
    }

    /// The samples from one time to another, seconds, as far as there are any.
    pub(crate) async fn read(self: &Arc<Self>, from: f64, to: f64) -> Result<Vec<f32>> {
        let sound = self.clone();
        tokio::task::spawn_blocking(move || sound.read_blocking(from, to))
            .await
            .map_err(|e| Error::corrupt(format!("reading the sound panicked: {e}")))?
    }

    /// [`Self::read`] for threads that may *block*.
    pub(crate) fn read_blocking(&self, from: f64, to: f64) -> Result<Vec<f32>> {
        let place = |time: f64| {
            let sample = ((time - self.start) * f64::from(SAMPLE_RATE)).round();
            (sample.max(0.0) as u64).min(self.samples)
        };
        let (first, last) = (place(from), place(to));
        let mut bytes = vec![0; (last.saturating_sub(first) * BYTES) as usize];
        self.file.read_exact_at(&mut bytes, first * BYTES)?;
        let sample =
            |pair: &[u8]| f32::from(i16::from_le_bytes([pair[0], pair[1]])) / f32::from(i16::MAX);
        Ok(bytes.chunks_exact(BYTES as usize).map(sample).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read_back_by_time() {
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
}
