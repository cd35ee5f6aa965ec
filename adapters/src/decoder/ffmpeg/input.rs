//! An opened file: bounded before FFmpeg sees a byte of it, its streams chosen as a player would,
//! its packets on one continuous timeline.

use std::ffi::{CStr, CString, c_int, c_void};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use ffmpeg::codec::{Context as CodecContext, decoder::Opened, threading};
use ffmpeg::{Discard, Packet, Rational, ffi};
use ffmpeg_next as ffmpeg;
use ports::decoder::{MediaInfo, VideoInfo};

use super::file_type::{file_type, picture};
use super::picture::Orientation;
use super::{Error, FfmpegOptions};

/// Demuxers of real media files. Absent on purpose: playlists (hls, concat, dash), picture
/// sequences, text renderers and everything that opens a second file or an address.
const FORMATS: &CStr =
    c"aac,ac3,aiff,amr,ape,asf,au,avi,caf,dts,dv,eac3,flac,flv,gif,gxf,h264,hevc,\
ivf,m4v,matroska,mov,mp3,mpeg,mpegts,mpegvideo,mxf,nut,obu,ogg,rm,tta,vc1,voc,w64,wav,webm,wtv,wv,\
yuv4mpegpipe";

/// Bytes and time looked at to find the streams.
const PROBE_BYTES: i64 = 8 << 20;
const PROBE_MICROSECONDS: i64 = 10_000_000;

/// A jump of the time stamps that is a splice and not a pause, in formats that allow splices.
/// The same threshold as the `ffmpeg` program's `dts_delta_threshold`.
const SPLICE_SECONDS: f64 = 10.0;

/// When work on a file must end. Shared with FFmpeg, which asks it while it waits for bytes.
pub(super) struct Deadline {
    start: Instant,
    limit_us: AtomicU64,
}

impl Deadline {
    fn new(limit: Duration) -> Self {
        let deadline = Self { start: Instant::now(), limit_us: AtomicU64::new(0) };
        deadline.set(limit);
        deadline
    }

    /// Moves the end to `limit` after the file was opened.
    pub(super) fn set(&self, limit: Duration) {
        let us = u64::try_from(limit.as_micros()).unwrap_or(u64::MAX);
        self.limit_us.store(us, Ordering::Relaxed);
    }

    pub(super) fn check(&self) -> Result<(), Error> {
        if self.passed() {
            let seconds = self.limit_us.load(Ordering::Relaxed) as f64 / 1e6;
            return Err(Error::Deadline(seconds));
        }
        Ok(())
    }

    fn passed(&self) -> bool {
        self.start.elapsed().as_micros() > u128::from(self.limit_us.load(Ordering::Relaxed))
    }
}

extern "C" fn interrupted(deadline: *mut c_void) -> c_int {
    #[expect(unsafe_code, reason = "FFI")]
    // SAFETY: `Input` keeps the `Deadline` that was registered alive for longer than its context.
    let deadline = unsafe { &*deadline.cast::<Deadline>() };
    c_int::from(deadline.passed())
}

/// Which of the two chosen streams a packet belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Picture,
    Sound,
}

/// An opened media file.
pub(super) struct Input {
    // Declared before the deadline, so dropped before it: closing may still ask for it.
    context: ffmpeg::format::context::Input,
    pub(super) deadline: Arc<Deadline>,
    pub(super) picture: Option<usize>,
    pub(super) sound: Option<usize>,
    /// Where the container's clock stands at time 0, seconds.
    origin: f64,
    splices: bool,
    /// Seconds added to every time stamp because of splices so far.
    shift: f64,
    last_dts: Vec<Option<f64>>,
}

impl Input {
    pub(super) fn open(path: &Path, options: &FfmpegOptions) -> Result<Self, Error> {
        let meta = std::fs::metadata(path)?;
        if !meta.is_file() {
            // A FIFO or a device would hang in open(2), where no deadline is asked.
            return Err(Error::NotAFile);
        }
        if meta.len() == 0 {
            return Err(Error::Empty);
        }
        let mut head = Vec::with_capacity(32);
        std::fs::File::open(path)?.take(32).read_to_end(&mut head)?;
        if let Some(format) = picture(&head) {
            return Err(Error::Picture(format));
        }
        // The explicit scheme keeps a name such as `concat:a|b` from being taken for a protocol.
        let mut url = b"file:".to_vec();
        url.extend_from_slice(std::path::absolute(path)?.as_os_str().as_bytes());
        let url = CString::new(url).map_err(|_| Error::Path)?;

        let deadline = Arc::new(Deadline::new(options.open_timeout));
        let context = open_context(&url, &deadline, options).map_err(|e| {
            if deadline.passed() {
                Error::Deadline(options.open_timeout.as_secs_f64())
            } else {
                Error::NotMedia(e)
            }
        })?;
        deadline.check()?;

        let streams = context.nb_streams() as usize;
        let mut input = Self {
            splices: is_spliceable(&context),
            context,
            deadline,
            picture: None,
            sound: None,
            origin: 0.0,
            shift: 0.0,
            last_dts: vec![None; streams],
        };
        input.choose_streams();
        if let Some((width, height)) = input.picture.map(|i| input.coded_size(i))
            && u64::from(width) * u64::from(height) > options.max_pixels
        {
            return Err(Error::TooManyPixels { width, height, max: options.max_pixels });
        }
        if input.picture.is_none() && input.sound.is_none() {
            return Err(Error::NoStreams);
        }
        input.origin = input.earliest_start();
        Ok(input)
    }

    /// The next packet of a chosen stream, on the timeline of [`Input::seconds`]. `None` at the end.
    pub(super) fn read(&mut self, packet: &mut Packet) -> Result<Option<Kind>, Error> {
        loop {
            self.deadline.check()?;
            // Reading does not give back what the packet held before.
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
                i if i == self.picture => Kind::Picture,
                i if i == self.sound => Kind::Sound,
                _ => continue,
            };
            if self.splices {
                self.follow_splice(index, packet);
            }
            return Ok(Some(kind));
        }
    }

    /// A stream's time stamp in seconds of the timeline.
    pub(super) fn seconds(&self, stream: usize, stamp: i64) -> f64 {
        stamp as f64 * self.time_base(stream) - self.origin
    }

    /// Length of `ticks` of a stream, seconds.
    pub(super) fn length(&self, stream: usize, ticks: i64) -> f64 {
        ticks as f64 * self.time_base(stream)
    }

    /// Continues reading at the last key frame at or before `time`; before the first one, at it.
    pub(super) fn seek(&mut self, time: f64) -> Result<(), Error> {
        let Some(stream) = self.picture else { return Err(Error::NoStreams) };
        let stamp = self.stamp(stream, time);
        self.last_dts.fill(None);
        self.shift = 0.0;
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

    /// Time of the last key frame at or before `time`, where the container has an index.
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

    /// Leaves the sound unread.
    pub(super) fn picture_only(&mut self) {
        if let Some(sound) = self.sound.take() {
            self.discard(sound);
        }
    }

    /// A decoder for one of the chosen streams.
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

    /// Seconds between frames on average, where the container says so.
    pub(super) fn frame_length(&self) -> Option<f64> {
        let st = self.context.stream(self.picture?)?;
        [st.avg_frame_rate(), st.rate()]
            .into_iter()
            .find(|r| r.numerator() > 0 && r.denominator() > 0)
            .map(|r| f64::from(r.denominator()) / f64::from(r.numerator()))
    }

    /// How the pictures must be turned to be shown.
    pub(super) fn orientation(&self) -> Orientation {
        let Some(stream) = self.picture else { return Orientation::default() };
        #[expect(unsafe_code, reason = "FFI")]
        // SAFETY: the stream belongs to the open context. Side data of this type is nine 32-bit
        // numbers; its length is checked.
        let matrix = unsafe {
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
        };
        matrix.map_or_else(Orientation::default, |m| Orientation::from_matrix(&m))
    }

    /// Width over height of one pixel, 1 where nothing plausible is said.
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

    /// What the file says about itself.
    pub(super) fn info(&self) -> MediaInfo {
        let container = self.context.format().name().to_owned();
        let video = self.picture.map(|i| {
            let (width, height) = self.coded_size(i);
            let (width, height) =
                self.orientation().size(shown_size(width, height, self.pixel_aspect()));
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
            audio: self.sound.is_some(),
        }
    }

    fn choose_streams(&mut self) {
        let picture = self.best(ffi::AVMediaType::AVMEDIA_TYPE_VIDEO, None);
        // Cover art is a picture stream to FFmpeg. Where it wins, look for a real one behind it.
        self.picture = picture.filter(|&i| !self.is_attached(i)).or_else(|| {
            (0..self.last_dts.len())
                .filter(|&i| self.medium(i) == Some(ffmpeg::media::Type::Video))
                .filter(|&i| !self.is_attached(i) && self.has_decoder(i))
                .max_by_key(|&i| {
                    let (w, h) = self.coded_size(i);
                    u64::from(w) * u64::from(h)
                })
        });
        self.picture = self.picture.filter(|&i| {
            let (w, h) = self.coded_size(i);
            w > 0 && h > 0
        });
        self.sound = self.best(ffi::AVMediaType::AVMEDIA_TYPE_AUDIO, self.picture);
        for i in 0..self.last_dts.len() {
            if Some(i) != self.picture && Some(i) != self.sound {
                self.discard(i);
            }
        }
    }

    /// FFmpeg's own choice, which weighs the default flag, how many frames were seen, and quality.
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

    /// Start of the earliest picture or sound stream, seconds of the container's clock. Other
    /// streams (subtitles, data) do not move the zero of a player's clock.
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
                // Sound before 0 is an encoder's priming, which is never heard.
                let priming = st.parameters().medium() == ffmpeg::media::Type::Audio;
                if priming { start.max(0.0) } else { start }
            })
            .fold(f64::INFINITY, f64::min);
        if start.is_finite() { start } else { 0.0 }
    }

    /// Recordings of broadcasts are spliced: the clock jumps. The jump is taken out, so that the
    /// timeline goes on where it was, as players do.
    fn follow_splice(&mut self, stream: usize, packet: &mut Packet) {
        let tick = self.time_base(stream);
        let Some(dts) = packet.dts().or(packet.pts()) else { return };
        let step = packet.duration().max(0) as f64 * tick;
        let mut now = dts as f64 * tick + self.shift;
        if let Some(Some(expected)) = self.last_dts.get(stream).copied()
            && (now - expected).abs() > SPLICE_SECONDS
        {
            self.shift -= now - expected;
            now = expected;
        }
        if let Some(last) = self.last_dts.get_mut(stream) {
            *last = Some(now + step);
        }
        if self.shift != 0.0 {
            let ticks = (self.shift / tick).round() as i64;
            packet.set_pts(packet.pts().map(|t| t.saturating_add(ticks)));
            packet.set_dts(packet.dts().map(|t| t.saturating_add(ticks)));
        }
    }

    fn stamp(&self, stream: usize, time: f64) -> i64 {
        ((time + self.origin) / self.time_base(stream)).round() as i64
    }

    fn time_base(&self, stream: usize) -> f64 {
        self.context.stream(stream).map_or(1e-6, |st| seconds_per_tick(st.time_base()))
    }

    fn coded_size(&self, stream: usize) -> (u32, u32) {
        #[expect(unsafe_code, reason = "FFI")]
        // SAFETY: every stream of an open context has its parameters.
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
        // SAFETY: a plain field of a stream of the open context.
        let disposition = unsafe { (*self.raw_stream(stream)).disposition };
        disposition & still != 0
    }

    fn discard(&mut self, stream: usize) {
        #[expect(unsafe_code, reason = "FFI")]
        // SAFETY: a plain field of a stream of the open context.
        unsafe {
            (*self.raw_stream(stream)).discard = Discard::All.into();
        }
    }

    /// Callers pass indices below `nb_streams` only.
    fn raw_stream(&self, stream: usize) -> *mut ffi::AVStream {
        debug_assert!(stream < self.context.nb_streams() as usize, "no such stream");
        #[expect(unsafe_code, reason = "FFI")]
        // SAFETY: FFmpeg keeps `nb_streams` valid pointers in `streams`.
        unsafe {
            *(*self.context.as_ptr()).streams.add(stream)
        }
    }
}

/// Size at which pixels that are not square are shown: the longer way is stretched.
pub(super) fn shown_size(width: u32, height: u32, pixel_aspect: f64) -> (u32, u32) {
    let stretch = |n: u32, by: f64| ((f64::from(n) * by).round() as u32).max(1);
    if pixel_aspect >= 1.0 {
        (stretch(width, pixel_aspect), height)
    } else {
        (width, stretch(height, 1.0 / pixel_aspect))
    }
}

fn seconds_per_tick(base: Rational) -> f64 {
    f64::from(base.numerator()) / f64::from(base.denominator().max(1))
}

fn is_spliceable(context: &ffmpeg::format::context::Input) -> bool {
    #[expect(unsafe_code, reason = "FFI")]
    // SAFETY: an open context has its input format, a static table.
    let flags = unsafe { (*(*context.as_ptr()).iformat).flags };
    flags & ffi::AVFMT_TS_DISCONT != 0
}

/// Opens with every bound in place before the first byte is read.
fn open_context(
    url: &CStr,
    deadline: &Arc<Deadline>,
    options: &FfmpegOptions,
) -> Result<ffmpeg::format::context::Input, ffmpeg::Error> {
    #[expect(unsafe_code, reason = "FFI")]
    // SAFETY: the context is allocated here, handed to `avformat_open_input`, which frees it when
    // it fails, and then owned by the wrapper. The strings are copies that the context frees. The
    // deadline outlives the context (see `Input`).
    unsafe {
        let mut raw = ffi::avformat_alloc_context();
        if raw.is_null() {
            return Err(ffmpeg::Error::Other { errno: ffmpeg::error::ENOMEM });
        }
        (*raw).interrupt_callback = ffi::AVIOInterruptCB {
            callback: Some(interrupted),
            opaque: Arc::as_ptr(deadline).cast_mut().cast(),
        };
        (*raw).probesize = PROBE_BYTES;
        (*raw).max_analyze_duration = PROBE_MICROSECONDS;
        (*raw).max_streams = c_int::try_from(options.max_streams).unwrap_or(c_int::MAX);
        (*raw).protocol_whitelist = ffi::av_strdup(c"file".as_ptr());
        (*raw).format_whitelist = ffi::av_strdup(FORMATS.as_ptr());
        let code = ffi::avformat_open_input(
            &mut raw,
            url.as_ptr(),
            std::ptr::null_mut(),
            std::ptr::null_mut(),
        );
        if code < 0 {
            return Err(code.into());
        }
        let context = ffmpeg::format::context::Input::wrap(raw);
        // Probing opens decoders of its own: the limit on pictures has to hold for them too.
        let limit = CString::new(options.max_pixels.to_string()).unwrap_or_default();
        let mut limits: Vec<*mut ffi::AVDictionary> =
            vec![std::ptr::null_mut(); (*raw).nb_streams as usize];
        for dictionary in &mut limits {
            ffi::av_dict_set(dictionary, c"max_pixels".as_ptr(), limit.as_ptr(), 0);
        }
        let code = ffi::avformat_find_stream_info(raw, limits.as_mut_ptr());
        for dictionary in &mut limits {
            ffi::av_dict_free(dictionary);
        }
        if code < 0 { Err(code.into()) } else { Ok(context) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pixels_that_are_not_square_stretch_the_longer_way() {
        assert_eq!(shown_size(720, 576, 16.0 / 15.0), (768, 576));
        assert_eq!(shown_size(720, 480, 8.0 / 9.0), (720, 540));
        assert_eq!(shown_size(640, 360, 1.0), (640, 360));
    }
}
