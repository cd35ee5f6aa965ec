//! The audio peaks of a video, for clients that draw a waveform. The audio is decoded once, and its
//! peaks are cached on disk.

use ports::decoder::{AudioBlock, SAMPLE_RATE, ScanFrame, ScanSink};

use super::Frames;
use crate::kernel::error::{Error, Result};
use crate::kernel::video::VideoId;
use crate::media::decode::decode;
use crate::records::record::VideoRecord;

/// Audio peaks of a video.
#[derive(Debug, Clone, PartialEq)]
pub struct Peaks {
    /// Length of each bucket, in seconds.
    pub interval: f64,
    /// The peak amplitude in each bucket, 0..1; empty if there is no audio.
    pub peaks: Vec<f64>,
}

/// Number of cached peaks per second.
const PER_SECOND: u32 = 50;

const SAMPLES: u64 = (SAMPLE_RATE / PER_SECOND) as u64;

/// The value of a cached peak at full scale.
const FULL_SCALE: f32 = 65_535.0;

const KEY: &str = "peaks";

impl Frames {
    /// Computes the audio peaks in `buckets` buckets of equal length. Returns `Unprocessable` if
    /// `buckets` is outside the limits.
    pub async fn peaks(&self, video_id: VideoId, buckets: u32) -> Result<Peaks> {
        let record = self.records.get(video_id).await?;
        let max = self.settings.max_buckets;
        if !(1..=max).contains(&buckets) {
            return Err(Error::Unprocessable(format!(
                "buckets is {buckets}; it must be from 1 to {max} (frames.max_buckets)"
            )));
        }
        let envelope = match self.cached(video_id, &cache_key(&record)).await {
            Some(bytes) => PeakEnvelope::from_bytes(&bytes),
            None => self.decode_peaks(&record).await?,
        };
        let interval = record.duration / f64::from(buckets);
        Ok(Peaks { interval, peaks: envelope.resample(buckets as usize, interval) })
    }

    /// Decodes the audio, unless its peaks were cached while this call waited.
    async fn decode_peaks(&self, record: &VideoRecord) -> Result<PeakEnvelope> {
        let full = |_| Error::Busy {
            message: "too many pictures and sounds are being decoded; try again shortly".into(),
            retry_after: 5,
        };
        let key = cache_key(record);
        let queue_permit = self.waiting.clone().try_acquire_owned().map_err(full)?;
        let decode_guard = self.audio_decode.clone().lock_owned().await;
        if let Some(bytes) = self.cached(record.video_id, &key).await {
            return Ok(PeakEnvelope::from_bytes(&bytes));
        }
        // The lock is released before decoding, so that requests for frames of the video need not
        // wait.
        let source = self.source(record.video_id, self.settings.sources);
        let spooled = self.spooled_source(record, &mut *source.lock().await).await?;
        drop(source);
        let audio_track = record.audio_track;
        let envelope = decode(&self.decoder, move |decoder| {
            let _permits = (queue_permit, decode_guard);
            let mut envelope = PeakEnvelope::default();
            decoder.sound(&spooled.path, audio_track, &mut envelope)?;
            Ok(envelope)
        })
        .await?;
        self.cache(record.video_id, &key, envelope.to_bytes().into()).await;
        Ok(envelope)
    }
}

/// Returns the cache key for a video's peaks.
fn cache_key(record: &VideoRecord) -> String {
    record.audio_track.map_or_else(|| KEY.to_owned(), |track| format!("{KEY}-a{track}"))
}

/// The peak amplitude in each 1/50 of a second, scaled to [`FULL_SCALE`].
#[derive(Debug, Default, PartialEq)]
struct PeakEnvelope(Vec<u16>);

impl ScanSink for PeakEnvelope {
    fn frame(&mut self, _: ScanFrame<'_>) -> ports::Result<()> {
        Ok(())
    }

    fn audio(&mut self, block: AudioBlock<'_>) -> ports::Result<()> {
        let AudioBlock { time, samples, .. } = block;
        let first = (time * f64::from(SAMPLE_RATE)).round() as u64;
        for (at, sample) in (first..).zip(samples) {
            let bucket = (at / SAMPLES) as usize;
            if self.0.len() <= bucket {
                self.0.resize(bucket + 1, 0);
            }
            self.0[bucket] =
                self.0[bucket].max((sample.abs().min(1.0) * FULL_SCALE).round() as u16);
        }
        Ok(())
    }
}

impl PeakEnvelope {
    fn to_bytes(&self) -> Vec<u8> {
        self.0.iter().flat_map(|peak| peak.to_le_bytes()).collect()
    }

    fn from_bytes(bytes: &[u8]) -> Self {
        Self(bytes.as_chunks().0.iter().map(|peak| u16::from_le_bytes(*peak)).collect())
    }

    /// Computes the peaks in `count` buckets of `interval` seconds each.
    fn resample(&self, count: usize, interval: f64) -> Vec<f64> {
        if self.0.is_empty() {
            return Vec::new();
        }
        let position = |bucket: usize| bucket as f64 * interval * f64::from(PER_SECOND);
        let peak = |bucket: usize| {
            let from = (position(bucket) + 1e-6) as usize;
            let to =
                ((position(bucket + 1) - 1e-6).ceil() as usize).max(from + 1).min(self.0.len());
            let largest = self.0.get(from..to).and_then(|within| within.iter().max());
            let peak = f64::from(largest.copied().unwrap_or(0)) / f64::from(FULL_SCALE);
            (peak * 1e4).round() / 1e4
        };
        (0..count).map(peak).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_contain_their_peak() {
        let mut envelope = PeakEnvelope::default();
        // The audio begins late: 0.5 s of silence, 0.24 s at half scale, one clipped sample.
        let mut samples = vec![0.0; 8000];
        samples.extend([-0.5; 3840]);
        samples.push(1.5);
        envelope.audio(AudioBlock::mono(1.0, &samples[..5000])).expect("room");
        let later = AudioBlock::mono(1.0 + 5000.0 / 16_000.0, &samples[5000..]);
        envelope.audio(later).expect("room");
        let restored = PeakEnvelope::from_bytes(&envelope.to_bytes());
        assert_eq!(restored, envelope);
        // After the end of the audio, peaks are 0.
        assert_eq!(restored.resample(5, 0.5), [0.0, 0.0, 0.0, 1.0, 0.0]);
        let each = restored.resample(100, 0.02);
        assert_eq!(each[74..76], [0.0, 0.5]);
        assert_eq!(each[86..89], [0.5, 1.0, 0.0]);
        // Buckets shorter than the cached resolution share a peak with adjacent ones.
        assert_eq!(restored.resample(200, 0.01)[173..177], [0.5, 1.0, 1.0, 0.0]);
        assert!(PeakEnvelope::default().resample(3, 1.0).is_empty());
    }
}
