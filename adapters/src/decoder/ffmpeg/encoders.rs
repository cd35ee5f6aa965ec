//! Opens the encoders of clips and rendered sequences.

use ffmpeg::codec::{Context, Flags, encoder};
use ffmpeg::format::Sample;
use ffmpeg::format::context::Output;
use ffmpeg::{Dictionary, Rational, ffi};
use ffmpeg_next as ffmpeg;

use super::Error;
use super::cut_audio::AUDIO_RATE;

/// Name of the video encoder.
pub(super) const H264: &str = "libx264";

/// Name of the audio encoder.
const AAC: &str = "aac";

/// Audio bit rate, in bits per second.
const BIT_RATE: usize = 160_000;

/// Makes the error for a missing encoder.
pub(super) type Missing = fn(&'static str) -> Error;

/// Finds an encoder for the next stream of the output.
pub(super) fn find(
    name: &'static str,
    output: &Output,
    missing: Missing,
) -> Result<(ffmpeg::Codec, Context), Error> {
    let codec = encoder::find_by_name(name).ok_or_else(|| missing(name))?;
    let mut context = Context::new_with_codec(codec);
    if output.format().flags().contains(ffmpeg::format::Flags::GLOBAL_HEADER) {
        context.set_flags(Flags::GLOBAL_HEADER);
    }
    Ok((codec, context))
}

/// Opens the video encoder, whose size, format and time base are set.
pub(super) fn open_video(
    mut encoder: encoder::video::Video,
    codec: ffmpeg::Codec,
    threads: usize,
) -> Result<encoder::video::Encoder, Error> {
    encoder.set_max_b_frames(0);
    let mut how = Dictionary::new();
    for (key, value) in [("preset", "veryfast"), ("crf", "20"), ("rc-lookahead", "10")] {
        how.set(key, value);
    }
    how.set("threads", &threads.max(1).to_string());
    Ok(encoder.open_as_with(codec, how)?)
}

/// Opens an encoder for stereo sound at [`AUDIO_RATE`].
pub(super) fn open_audio(
    output: &Output,
    missing: Missing,
) -> Result<encoder::audio::Encoder, Error> {
    let (codec, context) = find(AAC, output, missing)?;
    let mut encoder = context.encoder().audio()?;
    encoder.set_rate(AUDIO_RATE);
    encoder.set_format(Sample::F32(ffmpeg::format::sample::Type::Planar));
    encoder.set_bit_rate(BIT_RATE);
    encoder.set_time_base(Rational(1, AUDIO_RATE));
    #[expect(unsafe_code, reason = "FFI")]
    // SAFETY: the context is allocated and not yet open, and the field is plain.
    unsafe {
        ffi::av_channel_layout_default(&raw mut (*encoder.as_mut_ptr()).ch_layout, 2);
    }
    Ok(encoder.open_as(codec)?)
}
