//! Limits on the streams of an opened file.

use std::ffi::c_int;

use super::info::undecodable_video;
use super::streams::Streams;
use crate::decoder::ffmpeg::accepted::check_codec;
use crate::decoder::ffmpeg::{Error, FfmpegOptions};

/// Accepted audio sample rates in Hz, from telephone to studio quality. They are checked because a
/// file may claim any rate.
const SAMPLE_RATES: std::ops::RangeInclusive<c_int> = 4_000..=384_000;

/// Rejects streams that are too costly or whose codec is not accepted.
pub(crate) fn check(streams: &Streams, options: &FfmpegOptions) -> Result<(), Error> {
    if let Some((width, height)) = streams.picture.map(|i| streams.coded_size(i))
        && u64::from(width) * u64::from(height) > options.max_pixels
    {
        return Err(Error::TooManyPixels { width, height, max: options.max_pixels });
    }
    if streams.picture.is_none() && streams.sound.is_none() {
        return Err(undecodable_video(streams).map_or(Error::NoStreams, Error::LeftOut));
    }
    if let Some(rate) = streams.sound.map(|i| streams.sample_rate(i))
        && rate != 0
        && !SAMPLE_RATES.contains(&rate)
    {
        return Err(Error::SampleRate(rate));
    }
    for (stream, what) in [(streams.picture, "pictures"), (streams.sound, "sound")] {
        if let Some(stream) = stream {
            check_codec(&streams.codec_name(stream), what, options)?;
        }
    }
    Ok(())
}
