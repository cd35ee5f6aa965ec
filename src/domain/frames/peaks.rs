//! How loud a video is over time, for clients that draw its waveform. What is heard is decoded once
//! and kept with the pictures.

use ports::decoder::{AudioBlock, SAMPLE_RATE, ScanFrame, ScanSink};

use super::Frames;
use crate::domain::catalog::record::VideoRecord;
use crate::domain::kernel::error::{Error, Result};
use crate::domain::kernel::video::VideoId;
use crate::domain::media::decode::decode;

/// The peaks of a sound.
#[derive(Debug, Clone, PartialEq)]
pub struct Peaks {
    /// Seconds that each stands for.
    pub interval: f64,
    /// The largest amplitude of each part, 0 to 1; none where there is no sound.
    pub peaks: Vec<f64>,
}

/// Parts of a second that are kept.
const PER_SECOND: u32 = 50;

const SAMPLES: u64 = (SAMPLE_RATE / PER_SECOND) as u64;

/// Full scale of what is kept.
const FULL: f32 = 65_535.0;

const KEY: &str = "peaks";

impl Frames {
    /// The peaks of the sound in `buckets` parts of the same length. `Unprocessable` past the most.
    pub async fn peaks(&self, video_id: VideoId, buckets: u32) -> Result<Peaks> {
        let record = self.catalog.record(video_id).await?;
        let most = self.settings.max_buckets;
        if !(1..=most).contains(&buckets) {
            return Err(Error::Unprocessable(format!(
                "buckets is {buckets}; it must be from 1 to {most} (frames.max_buckets)"
            )));
        }
        let heard = match self.kept(video_id, &key_of(&record)).await {
            Some(bytes) => Heard::from_bytes(&bytes),
            None => self.listen(&record).await?,
        };
        let interval = record.duration / f64::from(buckets);
        Ok(Peaks { interval, peaks: heard.in_parts(buckets as usize, interval) })
    }

    /// Decodes the sound, unless it was kept while waiting for its turn.
    async fn listen(&self, record: &VideoRecord) -> Result<Heard> {
        let full = |_| Error::Busy {
            message: "too many pictures and sounds are being decoded; try again shortly".into(),
            retry_after: 5,
        };
        let key = key_of(record);
        let place = self.waiting.clone().try_acquire_owned().map_err(full)?;
        let turn = self.listening.clone().lock_owned().await;
        if let Some(bytes) = self.kept(record.video_id, &key).await {
            return Ok(Heard::from_bytes(&bytes));
        }
        // Pictures of the video are not kept waiting while it is listened to.
        let source = self.source(record.video_id, self.settings.sources);
        let spooled = self.fetched(record, &mut *source.lock().await).await?;
        drop(source);
        let audio_track = record.audio_track;
        let heard = decode(&self.decoder, move |decoder| {
            let _permits = (place, turn);
            let mut heard = Heard::default();
            decoder.sound(&spooled.path, audio_track, &mut heard)?;
            Ok(heard)
        })
        .await?;
        self.keep(record.video_id, &key, heard.to_bytes().into()).await;
        Ok(heard)
    }
}

/// What they are kept by.
fn key_of(record: &VideoRecord) -> String {
    record.audio_track.map_or_else(|| KEY.to_owned(), |track| format!("{KEY}-a{track}"))
}

/// The largest amplitude of each fiftieth of a second.
#[derive(Debug, Default, PartialEq)]
struct Heard(Vec<u16>);

impl ScanSink for Heard {
    fn frame(&mut self, _: ScanFrame<'_>) -> ports::Result<()> {
        Ok(())
    }

    fn audio(&mut self, block: AudioBlock<'_>) -> ports::Result<()> {
        let AudioBlock { time, samples, .. } = block;
        let first = (time * f64::from(SAMPLE_RATE)).round() as u64;
        for (at, sample) in (first..).zip(samples) {
            let part = (at / SAMPLES) as usize;
            if self.0.len() <= part {
                self.0.resize(part + 1, 0);
            }
            self.0[part] = self.0[part].max((sample.abs().min(1.0) * FULL).round() as u16);
        }
        Ok(())
    }
}

impl Heard {
    fn to_bytes(&self) -> Vec<u8> {
        self.0.iter().flat_map(|peak| peak.to_le_bytes()).collect()
    }

    fn from_bytes(bytes: &[u8]) -> Self {
        Self(bytes.as_chunks().0.iter().map(|peak| u16::from_le_bytes(*peak)).collect())
    }

    /// The peaks of `count` parts of `interval` seconds.
    fn in_parts(&self, count: usize, interval: f64) -> Vec<f64> {
        if self.0.is_empty() {
            return Vec::new();
        }
        let place = |part: usize| part as f64 * interval * f64::from(PER_SECOND);
        let peak = |part: usize| {
            let from = (place(part) + 1e-6) as usize;
            let to = ((place(part + 1) - 1e-6).ceil() as usize).max(from + 1).min(self.0.len());
            let largest = self.0.get(from..to).and_then(|within| within.iter().max());
            let peak = f64::from(largest.copied().unwrap_or(0)) / f64::from(FULL);
            (peak * 1e4).round() / 1e4
        };
        (0..count).map(peak).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_part_has_its_loudest_sample() {
        let mut heard = Heard::default();
        // Half a second of silence, about a quarter of half scale, one sample too loud; it begins late.
        let mut samples = vec![0.0; 8000];
        samples.extend([-0.5; 3840]);
        samples.push(1.5);
        heard.audio(AudioBlock::mono(1.0, &samples[..5000])).expect("room");
        let later = AudioBlock::mono(1.0 + 5000.0 / 16_000.0, &samples[5000..]);
        heard.audio(later).expect("room");
        let kept = Heard::from_bytes(&heard.to_bytes());
        assert_eq!(kept, heard);
        // Sound that ends before the video is followed by silence.
        assert_eq!(kept.in_parts(5, 0.5), [0.0, 0.0, 0.0, 1.0, 0.0]);
        let each = kept.in_parts(100, 0.02);
        assert_eq!(each[74..76], [0.0, 0.5]);
        assert_eq!(each[86..89], [0.5, 1.0, 0.0]);
        // Finer than what is kept, neighbours share a peak.
        assert_eq!(kept.in_parts(200, 0.01)[173..177], [0.5, 1.0, 1.0, 0.0]);
        assert!(Heard::default().in_parts(3, 1.0).is_empty());
    }
}
