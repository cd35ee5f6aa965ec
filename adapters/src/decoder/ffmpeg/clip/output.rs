//! The streams of a clip, and what they take over from the streams of the file.

use std::ffi::c_int;

use ffmpeg::codec::encoder::video::Video as Encoder;
use ffmpeg::codec::{Context as CodecContext, Id, Parameters};
use ffmpeg::ffi;
use ffmpeg::format::context::Output;
use ffmpeg_next as ffmpeg;

use crate::decoder::ffmpeg::Error;
use crate::decoder::ffmpeg::hdr::Transfer;
use crate::decoder::ffmpeg::input::Streams;

/// Returns whether players can play the selected streams in MP4 without re-encoding. Checks the
/// codec and, for video, the chroma subsampling and bit depth.
pub(super) fn is_playable(streams: &Streams) -> bool {
    let parameters = |stream: Option<usize>| Some(streams.context.stream(stream?)?.parameters());
    let is_video_playable = parameters(streams.picture).is_none_or(|picture| {
        #[expect(unsafe_code, reason = "FFI")]
        // SAFETY: the parameters live as long as the stream, and the field is plain.
        let format = unsafe { (*picture.as_ptr()).format };
        let is_one_of =
            |formats: &[ffi::AVPixelFormat]| formats.iter().any(|&one| one as c_int == format);
        let is_8_bit = is_one_of(&[
            ffi::AVPixelFormat::AV_PIX_FMT_YUV420P,
            ffi::AVPixelFormat::AV_PIX_FMT_YUVJ420P,
        ]);
        let is_10_bit = is_one_of(&[ffi::AVPixelFormat::AV_PIX_FMT_YUV420P10LE]);
        match picture.id() {
            Id::H264 => is_8_bit,
            Id::HEVC | Id::AV1 | Id::VP9 => is_8_bit || is_10_bit,
            _ => false,
        }
    });
    let is_audio_playable = |sound: Parameters| matches!(sound.id(), Id::AAC | Id::MP3 | Id::OPUS);
    is_video_playable && parameters(streams.sound).is_none_or(is_audio_playable)
}

/// Sets an encoder's colour properties to those of the stream, or to BT.709 if the stream is
/// tone-mapped from high dynamic range.
pub(super) fn set_colours(streams: &Streams, stream: usize, encoder: &mut Encoder) {
    #[expect(unsafe_code, reason = "FFI")]
    // SAFETY: every stream of an open context has parameters; the encoder is not yet open, and
    // these are plain fields.
    unsafe {
        let from = &*(*streams.raw(stream)).codecpar;
        let to = &mut *encoder.as_mut_ptr();
        if Transfer::named(from.color_trc.into()).is_some() {
            to.color_primaries = ffi::AVColorPrimaries::AVCOL_PRI_BT709;
            to.color_trc = ffi::AVColorTransferCharacteristic::AVCOL_TRC_BT709;
            to.colorspace = ffi::AVColorSpace::AVCOL_SPC_BT709;
            to.color_range = ffi::AVColorRange::AVCOL_RANGE_MPEG;
        } else if from.color_space != ffi::AVColorSpace::AVCOL_SPC_RGB {
            to.color_primaries = from.color_primaries;
            to.color_trc = from.color_trc;
            to.colorspace = from.color_space;
            to.color_range = from.color_range;
        }
    }
}

/// Adds a stream to `output` for packets that are copied from `stream`.
pub(super) fn copy_stream(
    streams: &Streams,
    stream: usize,
    output: &mut Output,
) -> Result<(), Error> {
    let from = streams.context.stream(stream).ok_or(Error::NoStreams)?;
    let mut to = output.add_stream(ffmpeg::codec::Id::None)?;
    to.set_parameters(from.parameters());
    to.set_time_base(from.time_base());
    #[expect(unsafe_code, reason = "FFI")]
    // SAFETY: the field is plain. It is reset because the tag of one container means nothing in
    // another.
    unsafe {
        (*(*to.as_mut_ptr()).codecpar).codec_tag = 0;
    }
    let place = to.index();
    copy_orientation(streams, stream, place, output);
    Ok(())
}

/// Adds a stream to `output` for packets of `stream` that are re-encoded with `encoder`. Returns the
/// index of the new stream.
pub(super) fn add_coded(
    streams: &Streams,
    stream: usize,
    encoder: &CodecContext,
    output: &mut Output,
) -> Result<usize, Error> {
    let place = output.add_stream_with(encoder)?.index();
    copy_orientation(streams, stream, place, output);
    Ok(place)
}

/// Copies the display matrix, if there is one, to the output stream `place`.
fn copy_orientation(streams: &Streams, stream: usize, place: usize, output: &mut Output) {
    let Some(matrix) = streams.display_matrix(stream) else { return };
    let Some(mut to) = output.stream_mut(place) else { return };
    #[expect(unsafe_code, reason = "FFI")]
    // SAFETY: if the side data was allocated, it has room for the nine numbers.
    unsafe {
        let kind = ffi::AVPacketSideDataType::AV_PKT_DATA_DISPLAYMATRIX;
        let data = ffi::av_stream_new_side_data(to.as_mut_ptr(), kind, 36);
        if !data.is_null() {
            data.cast::<[i32; 9]>().write_unaligned(matrix);
        }
    }
}
