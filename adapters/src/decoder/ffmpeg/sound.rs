//! Converts decoded audio to one continuous 16 kHz mono track. It mixes channels, resamples, and
//! fills gaps. If two channels would cancel each other out because one is inverted, they are
//! subtracted instead of added. Stereo tracks also yield their two channels in addition to the mix.

use std::ffi::c_int;

use ffmpeg::ffi;
use ffmpeg::frame::Audio;
use ffmpeg_next as ffmpeg;
use ports::decoder::{AudioBlock, SAMPLE_RATE, ScanSink};

use super::Error;

/// Maximum difference in seconds between a frame's timestamp and the end of the previous frame that
/// counts as a rounding error.
const TOLERANCE: f64 = 0.05;

/// Maximum number of samples per block.
const MAX_BLOCK: usize = SAMPLE_RATE as usize;

/// Maximum difference that a lossy codec causes between equal channels, −60 dB.
const CODING_NOISE: f32 = 0.001;

/// Channel mask for front left and front right.
const STEREO: u64 = 0b11;

/// Maximum number of samples to resample at once. One frame may hold millions of samples.
const MAX_RESAMPLE: usize = 8192;

/// Sample rates in Hz that are resampled. Other rates indicate damage. Files that announce such a
/// rate are rejected earlier, by `input::limits::SAMPLE_RATES`.
const RATES: std::ops::RangeInclusive<u32> = 4_000..=384_000;

/// Places resampled audio on the timeline.
#[derive(Default)]
pub(super) struct AudioTimeline {
    resampler: Option<Resampler>,
    /// Index of the next output sample, counted from time 0; `None` before the first sample.
    next: Option<u64>,
    /// Number of samples to drop because they precede `next`.
    drop: u64,
    /// End of the input so far, in seconds.
    clock: f64,
    /// Number of output samples.
    pub(super) samples: u64,
    block: Block,
    mixer: StereoMixer,
}

impl AudioTimeline {
    /// Adds a decoded frame that starts at `time`.
    pub(super) fn push(
        &mut self,
        frame: &Audio,
        time: f64,
        sink: &mut dyn ScanSink,
    ) -> Result<(), Error> {
        let format = Format::for_frame(frame)?;
        let fits = self.resampler.as_ref().is_some_and(|r| r.format == format);
        if !fits || (time - self.clock).abs() > TOLERANCE {
            self.end_segment(sink)?;
            self.resampler = Some(Resampler::open(frame, format)?);
            // If only the format changes, the audio continues without a gap.
            let jumps = self.next.is_none() || (time - self.clock).abs() > TOLERANCE;
            let start = if jumps { time } else { self.clock };
            self.begin_segment(start, sink)?;
        }
        self.clock += frame.samples() as f64 / f64::from(format.rate);
        let Some(mut resampler) = self.resampler.take() else { return Ok(()) };
        let mut block = std::mem::take(&mut self.block);
        let mut done = Ok(());
        let mut from = 0;
        while from < frame.samples() && done.is_ok() {
            let count = MAX_RESAMPLE.min(frame.samples() - from);
            block.samples.clear();
            done = resampler.convert(Some((frame, from, count)), &mut block.samples);
            block.mix_down(resampler.is_pair.then_some(&mut self.mixer));
            done = done.and_then(|()| self.emit(&block, sink));
            from += count;
        }
        (self.resampler, self.block) = (Some(resampler), block);
        done
    }

    /// Flushes the resampler and emits its remaining samples.
    pub(super) fn end_segment(&mut self, sink: &mut dyn ScanSink) -> Result<(), Error> {
        let Some(mut resampler) = self.resampler.take() else { return Ok(()) };
        let mut block = Block::default();
        resampler.convert(None, &mut block.samples)?;
        block.mix_down(resampler.is_pair.then_some(&mut self.mixer));
        self.emit(&block, sink)
    }

    /// Returns the end of the input so far, in seconds.
    pub(super) fn clock(&self) -> f64 {
        self.clock
    }

    /// Returns the end of the output so far, in seconds.
    pub(super) fn end(&self) -> f64 {
        self.next.map_or(0.0, |n| n as f64 / f64::from(SAMPLE_RATE))
    }

    fn begin_segment(&mut self, time: f64, sink: &mut dyn ScanSink) -> Result<(), Error> {
        self.clock = time;
        let start = (time * f64::from(SAMPLE_RATE)).round() as i64;
        let next = *self.next.get_or_insert(u64::try_from(start).unwrap_or(0));
        let ahead = start.saturating_sub(i64::try_from(next).unwrap_or(i64::MAX));
        self.drop = u64::try_from(-ahead).unwrap_or(0);
        let mut missing = u64::try_from(ahead).unwrap_or(0);
        let silence = [0.0; MAX_BLOCK];
        while missing > 0 {
            let n = missing.min(MAX_BLOCK as u64);
            self.output(&silence[..n as usize], None, sink)?;
            missing -= n;
        }
        Ok(())
    }

    fn emit(&mut self, block: &Block, sink: &mut dyn ScanSink) -> Result<(), Error> {
        let dropped = self.drop.min(block.samples.len() as u64);
        self.drop -= dropped;
        let from = dropped as usize;
        let channels = block.channels.as_ref();
        let channels = channels.map(|[left, right]| [&left[from..], &right[from..]]);
        self.output(&block.samples[from..], channels, sink)
    }

    fn output(
        &mut self,
        samples: &[f32],
        channels: Option<[&[f32]; 2]>,
        sink: &mut dyn ScanSink,
    ) -> Result<(), Error> {
        for from in (0..samples.len()).step_by(MAX_BLOCK) {
            let part = from..samples.len().min(from + MAX_BLOCK);
            let channels = channels.map(|pair| pair.map(|channel| &channel[part.clone()]));
            let samples = &samples[part];
            let block = AudioBlock {
                time: self.end(),
                samples,
                channels: channels.filter(|[left, right]| differ(left, right)),
            };
            sink.audio(block).map_err(Error::Sink)?;
            self.samples += samples.len() as u64;
            self.next = self.next.map(|n| n + samples.len() as u64);
        }
        Ok(())
    }
}

/// Returns whether two channels differ by more than the noise of a lossy codec.
fn differ(left: &[f32], right: &[f32]) -> bool {
    left.iter().zip(right).any(|(left, right)| (left - right).abs() > CODING_NOISE)
}

/// Resampled audio.
#[derive(Default)]
struct Block {
    /// One channel, or two interleaved channels until they are mixed down.
    samples: Vec<f32>,
    /// Left and right channel of a stereo pair.
    channels: Option<[Vec<f32>; 2]>,
}

impl Block {
    /// Deinterleaves the samples of a stereo pair into channels and mixes them to mono.
    fn mix_down(&mut self, mixer: Option<&mut StereoMixer>) {
        let Some(mixer) = mixer else {
            self.channels = None;
            return;
        };
        for (at, channel) in self.channels.get_or_insert_default().iter_mut().enumerate() {
            channel.clear();
            channel.extend(self.samples.iter().skip(at).step_by(2));
        }
        mixer.mix(&mut self.samples);
    }
}

/// Samples per channel in a correlation window, which lasts 50 ms.
const WINDOW: usize = SAMPLE_RATE as usize / 20;

/// Weight of earlier windows in the moving average.
const DECAY: f64 = 0.95;

/// Correlation below which two channels count as inverted, and correlation above which they no
/// longer do.
const OPPOSITE: f64 = -0.8;
const NOT_OPPOSITE: f64 = -0.2;

/// Decides how to mix two channels.
#[derive(Default)]
struct StereoMixer {
    /// Moving averages of each channel's energy and of the channels' product.
    left: f64,
    right: f64,
    shared: f64,
    subtract: bool,
}

impl StereoMixer {
    /// Mixes interleaved samples of two channels to mono.
    fn mix(&mut self, block: &mut Vec<f32>) {
        let pairs = block.len() / 2;
        for from in (0..pairs).step_by(WINDOW) {
            let to = pairs.min(from + WINDOW);
            self.correlate(&block[from * 2..to * 2]);
            for i in from..to {
                let (left, right) = (block[i * 2], block[i * 2 + 1]);
                block[i] = if self.subtract { left - right } else { left + right } / 2.0;
            }
        }
        block.truncate(pairs);
    }

    /// Updates the correlation with a window of interleaved samples.
    fn correlate(&mut self, samples: &[f32]) {
        for sum in [&mut self.left, &mut self.right, &mut self.shared] {
            *sum *= DECAY;
        }
        for mixer in samples.chunks_exact(2) {
            let (left, right) = (f64::from(mixer[0]), f64::from(mixer[1]));
            self.left += left * left;
            self.right += right * right;
            self.shared += left * right;
        }
        let correlation = self.shared / (self.left * self.right).sqrt().max(f64::MIN_POSITIVE);
        self.subtract = correlation < if self.subtract { NOT_OPPOSITE } else { OPPOSITE };
    }
}

/// The audio format before resampling. It may change at any frame.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Format {
    sample: ffi::AVSampleFormat,
    rate: u32,
    channels: c_int,
    mask: u64,
}

impl Format {
    fn for_frame(frame: &Audio) -> Result<Self, Error> {
        #[expect(unsafe_code, reason = "FFI")]
        // SAFETY: plain fields of a decoded frame; the mask is a member of a union of integers and
        // a pointer, and is only compared.
        let (channels, mask) = unsafe {
            let layout = (*frame.as_ptr()).ch_layout;
            (layout.nb_channels, layout.u.mask)
        };
        let rate = frame.rate();
        if !RATES.contains(&rate) || channels < 1 {
            return Err(ffmpeg::Error::InvalidData.into());
        }
        Ok(Self { sample: frame.format().into(), rate, channels, mask })
    }
}

/// A libswresample context for one input format.
struct Resampler {
    raw: *mut ffi::SwrContext,
    format: Format,
    /// Whether the output has two interleaved channels instead of one.
    is_pair: bool,
}

impl Resampler {
    fn open(frame: &Audio, format: Format) -> Result<Self, Error> {
        #[expect(unsafe_code, reason = "FFI")]
        // SAFETY: the context is allocated, configured, and initialised in the order that FFmpeg
        // requires, and `resampler` owns it from the start. The calls only read the layouts and
        // keep no pointers to them.
        unsafe {
            let mut mixed = std::mem::zeroed::<ffi::AVChannelLayout>();
            let source = &raw const (*frame.as_ptr()).ch_layout;
            let named = (*source).order == ffi::AVChannelOrder::AV_CHANNEL_ORDER_NATIVE;
            let is_pair = format.channels == 2 && (!named || format.mask == STEREO);
            let channels = if is_pair { 2 } else { 1 };
            ffi::av_channel_layout_default(&mut mixed, channels);
            let source = if is_pair { &raw const mixed } else { source };
            let mut resampler = Self { raw: std::ptr::null_mut(), format, is_pair };
            let code = ffi::swr_alloc_set_opts2(
                &mut resampler.raw,
                &mut mixed,
                ffi::AVSampleFormat::AV_SAMPLE_FMT_FLT,
                SAMPLE_RATE as c_int,
                source.cast_mut(),
                format.sample,
                format.rate as c_int,
                0,
                std::ptr::null_mut(),
            );
            if code < 0 {
                return Err(ffmpeg::Error::from(code).into());
            }
            // Without this option, mixing to floating point adds channels instead of averaging
            // them.
            ffi::av_opt_set_double(resampler.raw.cast(), c"rematrix_maxval".as_ptr(), 1.0, 0);
            if !named && !is_pair && format.channels > 1 {
                // If the channel layout is unknown, every channel has the same weight.
                let weights = vec![1.0 / f64::from(format.channels); format.channels as usize];
                ffi::swr_set_matrix(resampler.raw, weights.as_ptr(), format.channels);
            }
            match ffi::swr_init(resampler.raw) {
                code if code < 0 => Err(ffmpeg::Error::from(code).into()),
                _ => Ok(resampler),
            }
        }
    }

    /// Appends the output for `count` samples of a frame, starting at sample `from`, to `out`. If
    /// `piece` is `None`, appends the remaining output. Output values are within −1..1.
    fn convert(
        &mut self,
        piece: Option<(&Audio, usize, usize)>,
        out: &mut Vec<f32>,
    ) -> Result<(), Error> {
        let samples = piece.map_or(0, |(.., count)| count as c_int);
        let planes = piece.map(|(frame, from, _)| self.planes(frame, from));
        let source = planes.as_ref().map_or(std::ptr::null(), Vec::as_ptr);
        let start = out.len();
        let channels = if self.is_pair { 2 } else { 1 };
        #[expect(unsafe_code, reason = "FFI")]
        // SAFETY: `out` has room for as many samples as the call may write; each source plane holds
        // `samples` samples in the format for which the context was opened.
        let count = unsafe {
            let room = ffi::swr_get_out_samples(self.raw, samples).max(0) + 64;
            out.resize(start + room as usize * channels, 0.0);
            let mut plane = out.as_mut_ptr().add(start).cast::<u8>();
            ffi::swr_convert(self.raw, &mut plane, room, source.cast_mut(), samples)
        };
        out.truncate(start + count.max(0) as usize * channels);
        if count < 0 {
            return Err(ffmpeg::Error::from(count).into());
        }
        for sample in &mut out[start..] {
            // Lossy codecs may exceed full scale, and floating-point formats can hold any value.
            *sample = if sample.is_nan() { 0.0 } else { sample.clamp(-1.0, 1.0) };
        }
        Ok(())
    }
}

impl Resampler {
    /// Returns pointers to a frame's samples, starting at index `from`. There is one pointer per
    /// channel, or a single pointer if samples are interleaved.
    fn planes(&self, frame: &Audio, from: usize) -> Vec<*const u8> {
        let channels = usize::try_from(self.format.channels).unwrap_or(1);
        #[expect(unsafe_code, reason = "FFI")]
        // SAFETY: a decoded frame has one plane per channel, or a single plane of interleaved
        // samples, and `from` is below its number of samples.
        unsafe {
            let size = ffi::av_get_bytes_per_sample(self.format.sample) as usize;
            let planar = ffi::av_sample_fmt_is_planar(self.format.sample) != 0;
            let (planes, step) = if planar { (channels, size) } else { (1, size * channels) };
            let data = (*frame.as_ptr()).extended_data;
            (0..planes).map(|i| (*data.add(i)).add(from * step).cast_const()).collect()
        }
    }
}

impl Drop for Resampler {
    fn drop(&mut self) {
        #[expect(unsafe_code, reason = "FFI")]
        // SAFETY: the pointer is null or was allocated in `open`, and is freed once.
        unsafe {
            ffi::swr_free(&mut self.raw);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Mixes one second of a tone, which `left` and `right` scale on the two channels, and returns
    /// the peak.
    fn mixed(mixer: &mut StereoMixer, left: f32, right: f32) -> f32 {
        let tone = |i: usize| (i as f32 * 0.17).sin();
        let samples = 0..SAMPLE_RATE as usize;
        let mut block: Vec<f32> = samples.flat_map(|i| [tone(i) * left, tone(i) * right]).collect();
        mixer.mix(&mut block);
        assert_eq!(block.len(), SAMPLE_RATE as usize);
        block[block.len() / 2..].iter().fold(0.0, |most, sample| most.max(sample.abs()))
    }

    #[test]
    fn inverted_channels_do_not_cancel() {
        for (left, right, expected) in
            [(0.5, 0.5, 0.5), (0.5, -0.5, 0.5), (0.8, -0.4, 0.6), (0.5, 0.0, 0.25), (0.0, 0.0, 0.0)]
        {
            let loudest = mixed(&mut StereoMixer::default(), left, right);
            assert!((loudest - expected).abs() < 0.01, "{left} and {right}: {loudest}");
        }
    }

    #[test]
    fn channels_may_invert_and_revert() {
        let mut mixer = StereoMixer::default();
        for right in [0.5, -0.5, 0.5] {
            for _ in 0..4 {
                mixed(&mut mixer, 0.5, right);
            }
            assert!(mixed(&mut mixer, 0.5, right) > 0.49, "{right}");
        }
    }
}
