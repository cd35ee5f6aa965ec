//! An opened media file. Limits apply before FFmpeg reads the first byte. Streams are selected as a
//! player would select them, and packets are placed on one continuous timeline.

mod streams;

use std::ffi::c_int;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use ffmpeg::codec::encoder::video::Video as Encoder;
use ffmpeg::codec::{Context as CodecContext, Id, Parameters, decoder::Opened, threading};
use ffmpeg::format::context::Output;
use ffmpeg::{Discard, Packet, Rational, ffi};
use ffmpeg_next as ffmpeg;
use ports::decoder::{MediaInfo, VideoInfo};

use super::accepted::check_codec;
use super::context::{OUT_OF_MEMORY, open_context};
use super::deadline::Deadline;
use super::file_type::{file_type, is_gzip, is_playlist, picture};
use super::hdr::Transfer;
use super::picture::{Orientation, display_size};
use super::source::IoContext;
use super::timeline::{StreamKind, Timeline};
use super::{Error, FfmpegOptions};

/// Accepted audio sample rates in Hz, from telephone to studio quality. They are checked because a
/// file may claim any rate.
const SAMPLE_RATES: std::ops::RangeInclusive<c_int> = 4_000..=384_000;

/// Maximum number of frames that may be decoded before a frame that is shown earlier. This is the
/// limit of H.264 and HEVC.
const REORDERED: f64 = 16.0;

/// An opened media file.
pub(super) struct Input {
    // Declared before `_source` and `deadline`, so it is dropped before them.
    context: ffmpeg::format::context::Input,
    _source: IoContext,
    pub(super) deadline: Arc<Deadline>,
    pub(super) picture: Option<usize>,
    pub(super) sound: Option<usize>,
    /// The container's clock at time 0, in seconds.
    origin: f64,
    /// `None` after a seek, because timestamps are then used unchanged.
    pub(super) timeline: Option<Timeline>,
    /// Number of packets read so far from the selected streams.
    pub(super) packets: u64,
    /// Number of video packets read so far. `stamped` is `true` if any video packet had a
    /// timestamp.
    pictures: u64,
    stamped: bool,
}

impl Input {
    /// Opens a file. `audio_track` selects the audio stream, counted from 0.
    pub(super) fn open(
        file: &Arc<File>,
        options: &FfmpegOptions,
        audio_track: Option<u32>,
    ) -> Result<Self, Error> {
        let mut head = [0; 32];
        let read = file.read_at(&mut head, 0)?;
        if read == 0 {
            return Err(Error::Empty);
        }
        if let Some(format) = picture(&head[..read]) {
            return Err(Error::Picture(format));
        }
        if is_playlist(&head[..read]) {
            return Err(Error::Playlist);
        }
        if is_gzip(&head[..read]) {
            return Err(Error::Gzip);
        }
        let deadline = Arc::new(Deadline::new(options.open_timeout));
        let mut source = IoContext::open(file.clone(), deadline.clone())?;
        let context = open_context(&mut source, &deadline, options).map_err(|e| match e {
            _ if deadline.passed() => Error::Deadline(options.open_timeout.as_secs_f64()),
            Error::Decoder(OUT_OF_MEMORY) => Error::Memory,
            Error::Decoder(e) => Error::NotMedia(e),
            other => other,
        })?;
        deadline.check()?;

        let mut input = Self {
            context,
            _source: source,
            deadline,
            picture: None,
            sound: None,
            origin: 0.0,
            timeline: None,
            packets: 0,
            pictures: 0,
            stamped: false,
        };
        input.choose_streams(audio_track)?;
        input.check_streams(options)?;
        input.origin = input.earliest_start();
        let (claimed, restarts) = (input.claimed(), is_spliceable(&input.context));
        input.timeline = Some(Timeline::new(claimed, options.max_gap, restarts));
        Ok(input)
    }

    /// Reads the next packet of a selected stream and places it on the timeline of
    /// [`Input::seconds`]. Returns `None` at the end of the file.
    pub(super) fn read(&mut self, packet: &mut Packet) -> Result<Option<StreamKind>, Error> {
        loop {
            self.deadline.check()?;
            // Reading does not free the packet's previous content.
            *packet = Packet::empty();
            match packet.read(&mut self.context) {
                Ok(()) => {}
                Err(ffmpeg::Error::Other { errno: ffmpeg::error::EAGAIN }) => continue,
                Err(e) => {
                    self.deadline.check()?;
                    return if e == ffmpeg::Error::Eof { Ok(None) } else { Err(e.into()) };
                }
            }
            let index = packet.stream();
            let kind = match Some(index) {
                i if i == self.picture => StreamKind::Picture,
                i if i == self.sound => StreamKind::Sound,
                _ => continue,
            };
            self.packets += 1;
            self.place(index, kind, packet);
            return Ok(Some(kind));
        }
    }

    /// Converts a stream's timestamp to seconds on the timeline.
    pub(super) fn seconds(&self, stream: usize, stamp: i64) -> f64 {
        stamp as f64 * self.time_base(stream) - self.origin
    }

    /// Converts a duration of `ticks` in a stream to seconds.
    pub(super) fn length(&self, stream: usize, ticks: i64) -> f64 {
        ticks as f64 * self.time_base(stream)
    }

    /// Seeks to the last key frame at or before `time`, or to the first key frame if there is none.
    pub(super) fn seek(&mut self, time: f64) -> Result<(), Error> {
        let Some(stream) = self.picture else { return Err(Error::NoStreams) };
        let stamp = self.stamp(stream, time);
        self.timeline = None;
        #[expect(unsafe_code, reason = "FFI")]
        // SAFETY: the context is open and `stream` is one of its streams.
        let code = unsafe {
            ffi::avformat_seek_file(
                self.context.as_mut_ptr(),
                stream as c_int,
                i64::MIN,
                stamp,
                stamp,
                0,
            )
        };
        if code < 0 { Err(ffmpeg::Error::from(code).into()) } else { Ok(()) }
    }

    /// Sends the first video packet to `decoder`, if it is among the first `max_packets` packets,
    /// because all later packets may depend on it. x264 stores its version in this packet. Without
    /// the version, early 4:4:4 streams from x264 decode to garbage.
    pub(super) fn prime_decoder(
        &mut self,
        decoder: &mut Opened,
        max_packets: usize,
    ) -> Result<(), Error> {
        let mut packet = Packet::empty();
        for _ in 0..max_packets {
            match self.read(&mut packet) {
                Ok(Some(StreamKind::Picture)) => {
                    _ = decoder.send_packet(&packet);
                    break;
                }
                Err(e @ Error::Deadline(_)) => return Err(e),
                // A read error can be ignored here, because it occurs again when the packet is
                // needed.
                Ok(_) | Err(_) => {}
            }
        }
        Ok(())
    }

    /// Returns the time of the last key frame at or before `time`, if the container has an index.
    pub(super) fn key_frame_before(&mut self, time: f64) -> Option<f64> {
        let stream = self.picture?;
        let stamp = self.stamp(stream, time);
        let st = self.raw_stream(stream);
        #[expect(unsafe_code, reason = "FFI")]
        // SAFETY: `st` belongs to the open context; the entry is read before anything else is
        // called on it.
        let entry = unsafe {
            let entry =
                ffi::avformat_index_get_entry_from_timestamp(st, stamp, ffi::AVSEEK_FLAG_BACKWARD);
            entry.as_ref().map(|e| e.timestamp)
        };
        entry.map(|e| self.seconds(stream, e))
    }

    /// Returns whether the last frame ends where the container claims that the media ends. If so,
    /// the clock does not jump anywhere before it. Consumes the input.
    pub(super) fn ends_as_claimed(mut self) -> bool {
        let Some(timeline) = self.timeline.take() else { return false };
        let Some(claimed) = timeline.claimed.filter(|_| !timeline.restarts) else { return false };
        let mut packet = Packet::empty();
        let mut last = f64::NEG_INFINITY;
        if self.seek(claimed).is_ok() {
            while let Ok(Some(_)) = self.read(&mut packet) {
                let stamp = packet.dts().or(packet.pts());
                let time = stamp.map(|stamp| self.seconds(packet.stream(), stamp));
                last = last.max(time.unwrap_or(last));
            }
        }
        (claimed - 30.0..=claimed + 1.0).contains(&last)
    }

    /// Stops reading the audio.
    pub(super) fn picture_only(&mut self) {
        if let Some(sound) = self.sound.take() {
            self.discard(sound);
        }
    }

    /// Stops reading the video.
    pub(super) fn sound_only(&mut self) {
        if let Some(picture) = self.picture.take() {
            self.discard(picture);
        }
    }

    /// Creates a decoder for one of the selected streams.
    pub(super) fn decoder(
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
    pub(super) fn is_interlaced(&self) -> bool {
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

    /// Returns the average frame duration in seconds, if the container states it.
    pub(super) fn frame_length(&self) -> Option<f64> {
        let st = self.context.stream(self.picture?)?;
        [st.avg_frame_rate(), st.rate()]
            .into_iter()
            .find(|r| r.numerator() > 0 && r.denominator() > 0)
            .map(|r| f64::from(r.denominator()) / f64::from(r.numerator()))
    }

    /// Returns the display orientation of the video.
    pub(super) fn orientation(&self) -> Orientation {
        let matrix = self.picture.and_then(|stream| self.display_matrix(stream));
        matrix.map_or_else(Orientation::default, |m| Orientation::from_matrix(&m))
    }

    fn display_matrix(&self, stream: usize) -> Option<[i32; 9]> {
        #[expect(unsafe_code, reason = "FFI")]
        // SAFETY: the stream belongs to the open context. Side data of this type consists of nine
        // 32-bit numbers, and its length is checked.
        unsafe {
            let mut size = 0;
            let data = ffi::av_stream_get_side_data(
                self.raw_stream(stream),
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

    /// Returns whether players can play the selected streams in MP4 without re-encoding. Checks the
    /// codec and, for video, the chroma subsampling and bit depth.
    pub(super) fn is_playable(&self) -> bool {
        let parameters = |stream: Option<usize>| Some(self.context.stream(stream?)?.parameters());
        let is_video_playable = parameters(self.picture).is_none_or(|picture| {
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
        let is_audio_playable =
            |sound: Parameters| matches!(sound.id(), Id::AAC | Id::MP3 | Id::OPUS);
        is_video_playable && parameters(self.sound).is_none_or(is_audio_playable)
    }

    /// Sets an encoder's colour properties to those of the stream, or to BT.709 if the stream is
    /// tone-mapped from high dynamic range.
    pub(super) fn set_colours(&self, stream: usize, encoder: &mut Encoder) {
        #[expect(unsafe_code, reason = "FFI")]
        // SAFETY: every stream of an open context has parameters; the encoder is not yet open, and
        // these are plain fields.
        unsafe {
            let from = &*(*self.raw_stream(stream)).codecpar;
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

    /// Returns the time base of a stream.
    pub(super) fn ticks(&self, stream: usize) -> Rational {
        self.context.stream(stream).map_or(Rational(1, 1_000_000), |st| st.time_base())
    }

    /// Adds a stream to `output` for packets that are copied from `stream`.
    pub(super) fn copy_stream(&self, stream: usize, output: &mut Output) -> Result<(), Error> {
        let from = self.context.stream(stream).ok_or(Error::NoStreams)?;
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
        self.copy_orientation(stream, place, output);
        Ok(())
    }

    /// Adds a stream to `output` for packets of `stream` that are re-encoded with `encoder`.
    /// Returns the index of the new stream.
    pub(super) fn add_coded(
        &self,
        stream: usize,
        encoder: &CodecContext,
        output: &mut Output,
    ) -> Result<usize, Error> {
        let place = output.add_stream_with(encoder)?.index();
        self.copy_orientation(stream, place, output);
        Ok(place)
    }

    /// Copies the display matrix, if there is one, to the output stream `place`.
    fn copy_orientation(&self, stream: usize, place: usize, output: &mut Output) {
        let Some(matrix) = self.display_matrix(stream) else { return };
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

    /// Returns the sample aspect ratio as coded.
    pub(super) fn sample_aspect(&self, stream: usize) -> Rational {
        #[expect(unsafe_code, reason = "FFI")]
        // SAFETY: every stream of an open context has parameters.
        unsafe {
            (*(*self.raw_stream(stream)).codecpar).sample_aspect_ratio.into()
        }
    }

    /// Returns the sample aspect ratio, or 1 if it is implausible or missing.
    pub(super) fn pixel_aspect(&self) -> f64 {
        let Some(stream) = self.picture else { return 1.0 };
        #[expect(unsafe_code, reason = "FFI")]
        // SAFETY: the stream belongs to the open context; no frame is given.
        let ratio = unsafe {
            ffi::av_guess_sample_aspect_ratio(
                self.context.as_ptr().cast_mut(),
                self.raw_stream(stream),
                std::ptr::null_mut(),
            )
        };
        let aspect = f64::from(ratio.num) / f64::from(ratio.den);
        if (0.1..=10.0).contains(&aspect) { aspect } else { 1.0 }
    }

    /// Returns the properties of the file.
    pub(super) fn info(&self) -> MediaInfo {
        let container = self.context.format().name().to_owned();
        let video = self.picture.map(|i| {
            let (width, height) = self.coded_size(i);
            let (width, height) =
                self.orientation().size(display_size(width, height, self.pixel_aspect()));
            let rate = self.frame_length().map(|l| 1.0 / l);
            VideoInfo { codec: self.codec_name(i), width, height, frame_rate: rate }
        });
        let brand = self.context.metadata().get("major_brand").unwrap_or("").to_owned();
        let codecs: Vec<String> =
            [self.picture, self.sound].into_iter().flatten().map(|i| self.codec_name(i)).collect();
        let (extension, content_type) = file_type(&container, &brand, &codecs, video.is_some());
        let duration = self.context.duration();
        MediaInfo {
            container,
            extension: extension.to_owned(),
            content_type: content_type.to_owned(),
            duration: (duration > 0).then(|| duration as f64 / f64::from(ffi::AV_TIME_BASE)),
            video,
            audio: self.audio_info(),
            undecodable_video: self.undecodable_video(),
            timecode: self.tagged("timecode"),
            recorded_at: self
                .tagged("com.apple.quicktime.creationdate")
                .or_else(|| self.tagged("creation_time")),
        }
    }

    /// Returns the start of the earliest video or audio stream, in seconds on the container's
    /// clock. Other streams (subtitles, data) do not affect where a player's clock starts.
    fn earliest_start(&self) -> f64 {
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

    /// Returns whether no video packet so far had a timestamp, as in a raw stream. In this case,
    /// packets are numbered, and the numbers are lost after a seek.
    pub(super) fn is_unstamped(&self) -> bool {
        self.pictures > 0 && !self.stamped
    }

    /// Counts a video packet and, in a raw stream, assigns a decoding time to it.
    fn count(&mut self, stream: usize, packet: &mut Packet) {
        self.stamped |= packet.dts().or(packet.pts()).is_some();
        if !self.stamped {
            let time = self.pictures as f64 * self.frame_length().unwrap_or(0.04);
            packet.set_dts(Some(self.stamp(stream, time)));
        }
        self.pictures += 1;
    }

    /// Moves the packet to its place on the timeline.
    fn place(&mut self, stream: usize, kind: StreamKind, packet: &mut Packet) {
        if kind == StreamKind::Picture {
            self.count(stream, packet);
        }
        let tick = self.time_base(stream);
        let length = packet.duration().max(0) as f64 * tick;
        if let (Some(dts), Some(pts)) = (packet.dts(), packet.pts())
            && (pts - dts).unsigned_abs() as f64 * tick > 1.0 + REORDERED * length
        {
            // Presentation and decoding times differ implausibly, so the decoder gets only the
            // packet order.
            packet.set_pts(None);
        }
        let Some(stamp) = packet.dts().or(packet.pts()) else { return };
        let time = stamp as f64 * tick - self.origin;
        let Some(timeline) = &mut self.timeline else { return };
        let shift = timeline.place(kind, time, length);
        let shown = packet.pts().unwrap_or(stamp) as f64 * tick - self.origin;
        timeline.lasts_until(shown + shift + length.min(1.0));
        if shift != 0.0 {
            let ticks = (shift / tick).round() as i64;
            packet.set_pts(packet.pts().map(|t| t.saturating_add(ticks)));
            packet.set_dts(packet.dts().map(|t| t.saturating_add(ticks)));
        }
    }

    /// Rejects streams that are too costly or whose codec is not accepted.
    fn check_streams(&self, options: &FfmpegOptions) -> Result<(), Error> {
        if let Some((width, height)) = self.picture.map(|i| self.coded_size(i))
            && u64::from(width) * u64::from(height) > options.max_pixels
        {
            return Err(Error::TooManyPixels { width, height, max: options.max_pixels });
        }
        if self.picture.is_none() && self.sound.is_none() {
            return Err(self.undecodable_video().map_or(Error::NoStreams, Error::LeftOut));
        }
        if let Some(rate) = self.sound.map(|i| self.sample_rate(i))
            && rate != 0
            && !SAMPLE_RATES.contains(&rate)
        {
            return Err(Error::SampleRate(rate));
        }
        for (stream, what) in [(self.picture, "pictures"), (self.sound, "sound")] {
            if let Some(stream) = stream {
                check_codec(&self.codec_name(stream), what, options)?;
            }
        }
        Ok(())
    }

    /// Returns the duration in seconds that the container itself states, as opposed to FFmpeg's
    /// estimates from timestamps or file size.
    fn claimed(&self) -> Option<f64> {
        let duration = self.context.duration();
        #[expect(unsafe_code, reason = "FFI")]
        // SAFETY: the context is open, and the field is plain.
        let method = unsafe { (*self.context.as_ptr()).duration_estimation_method };
        let is_stated = method == ffi::AVDurationEstimationMethod::AVFMT_DURATION_FROM_STREAM;
        (is_stated && duration > 0).then(|| duration as f64 / f64::from(ffi::AV_TIME_BASE))
    }

    fn sample_rate(&self, stream: usize) -> c_int {
        #[expect(unsafe_code, reason = "FFI")]
        // SAFETY: every stream of an open context has parameters.
        unsafe {
            (*(*self.raw_stream(stream)).codecpar).sample_rate
        }
    }

    fn streams(&self) -> usize {
        self.context.nb_streams() as usize
    }

    /// Converts seconds on the timeline to ticks of a stream.
    pub(super) fn stamp(&self, stream: usize, time: f64) -> i64 {
        ((time + self.origin) / self.time_base(stream)).round() as i64
    }

    fn time_base(&self, stream: usize) -> f64 {
        self.context.stream(stream).map_or(1e-6, |st| seconds_per_tick(st.time_base()))
    }

    pub(super) fn coded_size(&self, stream: usize) -> (u32, u32) {
        #[expect(unsafe_code, reason = "FFI")]
        // SAFETY: every stream of an open context has parameters.
        let (width, height) = unsafe {
            let parameters = (*self.raw_stream(stream)).codecpar;
            ((*parameters).width, (*parameters).height)
        };
        (u32::try_from(width).unwrap_or(0), u32::try_from(height).unwrap_or(0))
    }

    fn codec_name(&self, stream: usize) -> String {
        self.context
            .stream(stream)
            .map_or_else(String::new, |st| st.parameters().id().name().to_owned())
    }

    fn medium(&self, stream: usize) -> Option<ffmpeg::media::Type> {
        self.context.stream(stream).map(|st| st.parameters().medium())
    }

    fn has_decoder(&self, stream: usize) -> bool {
        self.context
            .stream(stream)
            .is_some_and(|st| ffmpeg::decoder::find(st.parameters().id()).is_some())
    }

    fn is_attached(&self, stream: usize) -> bool {
        let still = ffi::AV_DISPOSITION_ATTACHED_PIC | ffi::AV_DISPOSITION_TIMED_THUMBNAILS;
        #[expect(unsafe_code, reason = "FFI")]
        // SAFETY: the stream belongs to the open context, and the field is plain.
        let disposition = unsafe { (*self.raw_stream(stream)).disposition };
        disposition & still != 0
    }

    fn discard(&mut self, stream: usize) {
        #[expect(unsafe_code, reason = "FFI")]
        // SAFETY: the stream belongs to the open context, and the field is plain.
        unsafe {
            (*self.raw_stream(stream)).discard = Discard::All.into();
        }
    }

    /// Returns a pointer to a stream. Callers pass only indices below `nb_streams`.
    fn raw_stream(&self, stream: usize) -> *mut ffi::AVStream {
        debug_assert!(stream < self.context.nb_streams() as usize, "no such stream");
        #[expect(unsafe_code, reason = "FFI")]
        // SAFETY: FFmpeg keeps `nb_streams` valid pointers in `streams`.
        unsafe {
            *(*self.context.as_ptr()).streams.add(stream)
        }
    }
}

fn seconds_per_tick(base: Rational) -> f64 {
    f64::from(base.numerator()) / f64::from(base.denominator().max(1))
}

fn is_spliceable(context: &ffmpeg::format::context::Input) -> bool {
    #[expect(unsafe_code, reason = "FFI")]
    // SAFETY: an open context has an input format, which is an entry in a static table.
    let flags = unsafe { (*(*context.as_ptr()).iformat).flags };
    flags & ffi::AVFMT_TS_DISCONT != 0
}
