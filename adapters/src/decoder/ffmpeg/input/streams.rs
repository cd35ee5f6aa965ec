//! The streams of an opened file: which to read, and what the container states about them.

use std::ffi::c_int;

use ffmpeg::codec::{Context as CodecContext, decoder::Opened, threading};
use ffmpeg::format::context::Input as Context;
use ffmpeg::{Discard, Rational, ffi};
use ffmpeg_next as ffmpeg;
use ports::FrameRate;

use crate::decoder::ffmpeg::picture::Orientation;
use crate::decoder::ffmpeg::{Error, FfmpegOptions};

/// The streams of an opened file.
pub(crate) struct Streams {
    pub(crate) context: Context,
    /// The selected video stream.
    pub(crate) picture: Option<usize>,
    /// The selected audio stream.
    pub(crate) sound: Option<usize>,
}

impl Streams {
    /// Selects the streams to read: the video stream that a player would show, and either the
    /// requested audio stream or the one that a player would play. `audio_track` counts from 0.
    pub(crate) fn choose(context: Context, audio_track: Option<u32>) -> Result<Self, Error> {
        let mut streams = Self { context, picture: None, sound: None };
        let picture = streams.best(ffi::AVMediaType::AVMEDIA_TYPE_VIDEO, None);
        // FFmpeg treats cover art as a video stream. If FFmpeg chooses cover art, another video
        // stream is selected.
        streams.picture = picture.filter(|&i| !streams.is_attached(i)).or_else(|| {
            (0..streams.count())
                .filter(|&i| streams.medium(i) == Some(ffmpeg::media::Type::Video))
                .filter(|&i| !streams.is_attached(i) && streams.has_decoder(i))
                .max_by_key(|&i| {
                    let (w, h) = streams.coded_size(i);
                    u64::from(w) * u64::from(h)
                })
        });
        streams.picture = streams.picture.filter(|&i| {
            let (w, h) = streams.coded_size(i);
            w > 0 && h > 0 && !streams.is_encrypted(i)
        });
        let sound = streams.best(ffi::AVMediaType::AVMEDIA_TYPE_AUDIO, streams.picture);
        streams.sound = sound.filter(|&i| !streams.is_encrypted(i));
        if let Some(track) = audio_track {
            let sounds = streams.sounds();
            let stream = sounds.get(track as usize).copied().filter(|&i| streams.has_decoder(i));
            streams.sound = Some(stream.ok_or(Error::NoTrack { track, tracks: sounds.len() })?);
        }
        for i in 0..streams.count() {
            if Some(i) != streams.picture && Some(i) != streams.sound {
                streams.discard(i);
            }
        }
        Ok(streams)
    }

    /// Returns the duration in seconds that the container itself states, as opposed to FFmpeg's
    /// estimates from timestamps or file size.
    pub(crate) fn claimed_duration(&self) -> Option<f64> {
        let duration = self.context.duration();
        #[expect(unsafe_code, reason = "FFI")]
        // SAFETY: the context is open, and the field is plain.
        let method = unsafe { (*self.context.as_ptr()).duration_estimation_method };
        let is_stated = method == ffi::AVDurationEstimationMethod::AVFMT_DURATION_FROM_STREAM;
        (is_stated && duration > 0).then(|| duration as f64 / f64::from(ffi::AV_TIME_BASE))
    }

    /// Returns whether the clock may restart within the file, as in a recorded broadcast.
    pub(crate) fn are_spliceable(&self) -> bool {
        #[expect(unsafe_code, reason = "FFI")]
        // SAFETY: an open context has an input format, which is an entry in a static table.
        let flags = unsafe { (*(*self.context.as_ptr()).iformat).flags };
        flags & ffi::AVFMT_TS_DISCONT != 0
    }

    /// Returns the start of the earliest video or audio stream, in seconds on the container's
    /// clock. Other streams (subtitles, data) do not affect where a player's clock starts.
    pub(crate) fn earliest_start(&self) -> f64 {
        let start = self
            .context
            .streams()
            .filter(|st| {
                let medium = st.parameters().medium();
                (medium == ffmpeg::media::Type::Video && !self.is_attached(st.index()))
                    || medium == ffmpeg::media::Type::Audio
            })
            .filter(|st| st.start_time() != ffi::AV_NOPTS_VALUE)
            .map(|st| {
                let start = st.start_time() as f64 * seconds_per_tick(st.time_base());
                // Audio before time 0 is encoder priming, which is never played.
                let priming = st.parameters().medium() == ffmpeg::media::Type::Audio;
                if priming { start.max(0.0) } else { start }
            })
            .fold(f64::INFINITY, f64::min);
        if start.is_finite() { start } else { 0.0 }
    }

    /// Stops reading the audio.
    pub(crate) fn picture_only(&mut self) {
        if let Some(sound) = self.sound.take() {
            self.discard(sound);
        }
    }

    /// Stops reading the video.
    pub(crate) fn sound_only(&mut self) {
        if let Some(picture) = self.picture.take() {
            self.discard(picture);
        }
    }

    /// Creates a decoder for one of the selected streams.
    pub(crate) fn decoder(
        &self,
        stream: usize,
        threads: usize,
        options: &FfmpegOptions,
    ) -> Result<Opened, Error> {
        let st = self.context.stream(stream).ok_or(Error::NoStreams)?;
        let mut context = CodecContext::from_parameters(st.parameters())?;
        context.set_threading(threading::Config {
            kind: threading::Type::Frame,
            count: threads.max(1),
            ..Default::default()
        });
        #[expect(unsafe_code, reason = "FFI")]
        // SAFETY: the context is allocated and not yet open; these are plain fields.
        unsafe {
            let raw = context.as_mut_ptr();
            (*raw).max_pixels = i64::try_from(options.max_pixels).unwrap_or(i64::MAX);
            (*raw).pkt_timebase = st.time_base().into();
        }
        let codec = ffmpeg::decoder::find(context.id()).ok_or(ffmpeg::Error::DecoderNotFound)?;
        Ok(context.decoder().open_as(codec)?)
    }

    /// Returns whether frames may be interlaced, that is, stored as two fields of alternate lines.
    pub(crate) fn is_interlaced(&self) -> bool {
        let parameters = self.picture.and_then(|i| self.context.stream(i)).map(|s| s.parameters());
        parameters.is_some_and(|picture| {
            #[expect(unsafe_code, reason = "FFI")]
            // SAFETY: the parameters live as long as the stream, and the field is plain.
            let order = unsafe { (*picture.as_ptr()).field_order };
            let whole =
                [ffi::AVFieldOrder::AV_FIELD_UNKNOWN, ffi::AVFieldOrder::AV_FIELD_PROGRESSIVE];
            !whole.contains(&order)
        })
    }

    /// Returns the average frame rate, if the container states it.
    pub(crate) fn frame_rate(&self) -> Option<FrameRate> {
        let st = self.context.stream(self.picture?)?;
        [st.avg_frame_rate(), st.rate()].into_iter().find_map(fraction)
    }

    /// Returns the frame rate in which editing programs count the video. If the rate is variable and
    /// all frames begin at multiples of a frame duration of film or television, that is its rate, in
    /// which also the timecode counts; the average would change with the frames that are left out.
    pub(crate) fn counted_rate(&self) -> Option<FrameRate> {
        let average = self.frame_rate()?;
        let common = self.context.stream(self.picture?).and_then(|st| fraction(st.rate()));
        let is_common = |rate: &FrameRate| {
            rate.is_standard() && !average.is_standard() && rate.per_second() > average.per_second()
        };
        Some(common.filter(is_common).unwrap_or(average))
    }

    /// Returns the average frame duration in seconds, if the container states it.
    pub(crate) fn frame_length(&self) -> Option<f64> {
        let rate = self.frame_rate()?;
        Some(f64::from(rate.denominator()) / f64::from(rate.numerator()))
    }

    /// Returns the display orientation of the video.
    pub(crate) fn orientation(&self) -> Orientation {
        let matrix = self.picture.and_then(|stream| self.display_matrix(stream));
        matrix.map_or_else(Orientation::default, |m| Orientation::from_matrix(&m))
    }

    pub(crate) fn display_matrix(&self, stream: usize) -> Option<[i32; 9]> {
        #[expect(unsafe_code, reason = "FFI")]
        // SAFETY: the stream belongs to the open context. Side data of this type consists of nine
        // 32-bit numbers, and its length is checked.
        unsafe {
            let mut size = 0;
            let data = ffi::av_stream_get_side_data(
                self.raw(stream),
                ffi::AVPacketSideDataType::AV_PKT_DATA_DISPLAYMATRIX,
                &mut size,
            );
            if data.is_null() || size < 36 {
                None
            } else {
                Some(data.cast::<[i32; 9]>().read_unaligned())
            }
        }
    }

    /// Returns the sample aspect ratio as coded.
    pub(crate) fn sample_aspect(&self, stream: usize) -> Rational {
        #[expect(unsafe_code, reason = "FFI")]
        // SAFETY: every stream of an open context has parameters.
        unsafe {
            (*(*self.raw(stream)).codecpar).sample_aspect_ratio.into()
        }
    }

    /// Returns the sample aspect ratio, or 1 if it is implausible or missing.
    pub(crate) fn pixel_aspect(&self) -> f64 {
        let Some(stream) = self.picture else { return 1.0 };
        #[expect(unsafe_code, reason = "FFI")]
        // SAFETY: the stream belongs to the open context; no frame is given.
        let ratio = unsafe {
            ffi::av_guess_sample_aspect_ratio(
                self.context.as_ptr().cast_mut(),
                self.raw(stream),
                std::ptr::null_mut(),
            )
        };
        let aspect = f64::from(ratio.num) / f64::from(ratio.den);
        if (0.1..=10.0).contains(&aspect) { aspect } else { 1.0 }
    }

    /// Returns the time base of a stream.
    pub(crate) fn ticks(&self, stream: usize) -> Rational {
        self.context.stream(stream).map_or(Rational(1, 1_000_000), |st| st.time_base())
    }

    pub(crate) fn time_base(&self, stream: usize) -> f64 {
        self.context.stream(stream).map_or(1e-6, |st| seconds_per_tick(st.time_base()))
    }

    pub(crate) fn coded_size(&self, stream: usize) -> (u32, u32) {
        #[expect(unsafe_code, reason = "FFI")]
        // SAFETY: every stream of an open context has parameters.
        let (width, height) = unsafe {
            let parameters = (*self.raw(stream)).codecpar;
            ((*parameters).width, (*parameters).height)
        };
        (u32::try_from(width).unwrap_or(0), u32::try_from(height).unwrap_or(0))
    }

    pub(crate) fn codec_name(&self, stream: usize) -> String {
        self.context
            .stream(stream)
            .map_or_else(String::new, |st| st.parameters().id().name().to_owned())
    }

    /// Returns the indexes of the audio streams, in file order.
    pub(crate) fn sounds(&self) -> Vec<usize> {
        let is_sound = |&i: &usize| self.medium(i) == Some(ffmpeg::media::Type::Audio);
        (0..self.count()).filter(is_sound).collect()
    }

    pub(crate) fn medium(&self, stream: usize) -> Option<ffmpeg::media::Type> {
        self.context.stream(stream).map(|st| st.parameters().medium())
    }

    pub(crate) fn is_attached(&self, stream: usize) -> bool {
        let still = ffi::AV_DISPOSITION_ATTACHED_PIC | ffi::AV_DISPOSITION_TIMED_THUMBNAILS;
        #[expect(unsafe_code, reason = "FFI")]
        // SAFETY: the stream belongs to the open context, and the field is plain.
        let disposition = unsafe { (*self.raw(stream)).disposition };
        disposition & still != 0
    }

    /// Returns whether a stream is protected by Common Encryption or FairPlay.
    pub(crate) fn is_encrypted(&self, stream: usize) -> bool {
        matches!(&self.four_letters(stream), b"encv" | b"enca" | b"drmi" | b"drms")
    }

    pub(crate) fn has_decoder(&self, stream: usize) -> bool {
        self.context
            .stream(stream)
            .is_some_and(|st| ffmpeg::decoder::find(st.parameters().id()).is_some())
    }

    pub(crate) fn four_letters(&self, stream: usize) -> [u8; 4] {
        #[expect(unsafe_code, reason = "FFI")]
        // SAFETY: every stream of an open context has parameters.
        unsafe {
            (*(*self.raw(stream)).codecpar).codec_tag.to_le_bytes()
        }
    }

    /// Returns a pointer to a stream. Callers pass only indices below `nb_streams`.
    pub(crate) fn raw(&self, stream: usize) -> *mut ffi::AVStream {
        debug_assert!(stream < self.context.nb_streams() as usize, "no such stream");
        #[expect(unsafe_code, reason = "FFI")]
        // SAFETY: FFmpeg keeps `nb_streams` valid pointers in `streams`.
        unsafe {
            *(*self.context.as_ptr()).streams.add(stream)
        }
    }

    pub(crate) fn sample_rate(&self, stream: usize) -> c_int {
        #[expect(unsafe_code, reason = "FFI")]
        // SAFETY: every stream of an open context has parameters.
        unsafe {
            (*(*self.raw(stream)).codecpar).sample_rate
        }
    }

    pub(crate) fn count(&self) -> usize {
        self.context.nb_streams() as usize
    }

    /// Returns the stream that FFmpeg considers best. FFmpeg's choice depends on the default flag,
    /// the number of probed frames, and quality.
    fn best(&self, medium: ffi::AVMediaType, related: Option<usize>) -> Option<usize> {
        let related = related.map_or(-1, |i| i as c_int);
        let mut decoder = std::ptr::null();
        #[expect(unsafe_code, reason = "FFI")]
        // SAFETY: the context is open; the call reads it and writes the decoder's address.
        let index = unsafe {
            ffi::av_find_best_stream(
                self.context.as_ptr().cast_mut(),
                medium,
                -1,
                related,
                &mut decoder,
                0,
            )
        };
        usize::try_from(index).ok()
    }

    fn discard(&mut self, stream: usize) {
        #[expect(unsafe_code, reason = "FFI")]
        // SAFETY: the stream belongs to the open context, and the field is plain.
        unsafe {
            (*self.raw(stream)).discard = Discard::All.into();
        }
    }
}

fn seconds_per_tick(base: Rational) -> f64 {
    f64::from(base.numerator()) / f64::from(base.denominator().max(1))
}

/// Converts a positive fraction of frames per second.
fn fraction(rate: Rational) -> Option<FrameRate> {
    let positive = |part: i32| u32::try_from(part).unwrap_or(0);
    FrameRate::new(positive(rate.numerator()), positive(rate.denominator()))
}
