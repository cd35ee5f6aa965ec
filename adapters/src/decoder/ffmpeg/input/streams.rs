//! Selects the streams to read from a file. If the video cannot be read, explains why.

use std::ffi::c_int;

use ffmpeg::ffi;
use ffmpeg_next as ffmpeg;
use ports::decoder::AudioInfo;

use super::Input;
use crate::decoder::ffmpeg::Error;

impl Input {
    /// Selects the video stream that a player would show, and either the requested audio stream or
    /// the one that a player would play.
    pub(super) fn choose_streams(&mut self, audio_track: Option<u32>) -> Result<(), Error> {
        let picture = self.best(ffi::AVMediaType::AVMEDIA_TYPE_VIDEO, None);
        // FFmpeg treats cover art as a video stream. If FFmpeg chooses cover art, another video
        // stream is selected.
        self.picture = picture.filter(|&i| !self.is_attached(i)).or_else(|| {
            (0..self.streams())
                .filter(|&i| self.medium(i) == Some(ffmpeg::media::Type::Video))
                .filter(|&i| !self.is_attached(i) && self.has_decoder(i))
                .max_by_key(|&i| {
                    let (w, h) = self.coded_size(i);
                    u64::from(w) * u64::from(h)
                })
        });
        self.picture = self.picture.filter(|&i| {
            let (w, h) = self.coded_size(i);
            w > 0 && h > 0 && !self.is_encrypted(i)
        });
        let sound = self.best(ffi::AVMediaType::AVMEDIA_TYPE_AUDIO, self.picture);
        self.sound = sound.filter(|&i| !self.is_encrypted(i));
        if let Some(track) = audio_track {
            let sounds = self.sounds();
            let stream = sounds.get(track as usize).copied().filter(|&i| self.has_decoder(i));
            self.sound = Some(stream.ok_or(Error::NoTrack { track, tracks: sounds.len() })?);
        }
        for i in 0..self.streams() {
            if Some(i) != self.picture && Some(i) != self.sound {
                self.discard(i);
            }
        }
        Ok(())
    }

    /// Returns the indexes of the audio streams, in file order.
    fn sounds(&self) -> Vec<usize> {
        let is_sound = |&i: &usize| self.medium(i) == Some(ffmpeg::media::Type::Audio);
        (0..self.streams()).filter(is_sound).collect()
    }

    pub(super) fn audio_info(&self) -> Option<AudioInfo> {
        let (played, sounds) = (self.sound?, self.sounds());
        let played = sounds.iter().position(|&i| i == played)?;
        Some(AudioInfo { tracks: sounds.len() as u32, default_track: played as u32 })
    }

    /// Explains why the file's video stream cannot be decoded. Returns `None` if it can, or if
    /// there is none.
    pub(super) fn undecodable_video(&self) -> Option<String> {
        if self.picture.is_some() {
            return None;
        }
        let is_picture =
            |&i: &usize| self.medium(i) == Some(ffmpeg::media::Type::Video) && !self.is_attached(i);
        let stream = (0..self.streams()).find(is_picture)?;
        Some(match self.codec_name(stream).as_str() {
            _ if self.is_encrypted(stream) => "its pictures are encrypted".into(),
            "" | "none" => format!("the codec of its pictures is not known{}", self.tag(stream)),
            codec if self.has_decoder(stream) => {
                format!("its pictures cannot be read (codec {codec})")
            }
            codec => format!("no decoder reads the codec of its pictures ({codec})"),
        })
    }

    /// Returns a stream's codec tag in brackets, with a leading space. Returns an empty string if
    /// the tag is not printable.
    fn tag(&self, stream: usize) -> String {
        let name = self.four_letters(stream);
        let letters = name.iter().all(|b| b.is_ascii_graphic());
        if letters { format!(" ({})", String::from_utf8_lossy(&name)) } else { String::new() }
    }

    /// Returns whether a stream is protected by Common Encryption or FairPlay.
    fn is_encrypted(&self, stream: usize) -> bool {
        matches!(&self.four_letters(stream), b"encv" | b"enca" | b"drmi" | b"drms")
    }

    fn four_letters(&self, stream: usize) -> [u8; 4] {
        #[expect(unsafe_code, reason = "FFI")]
        // SAFETY: every stream of an open context has parameters.
        unsafe {
            (*(*self.raw_stream(stream)).codecpar).codec_tag.to_le_bytes()
        }
    }

    /// Returns the value of a metadata tag from the container, or from the first stream that has
    /// the tag.
    pub(super) fn tagged(&self, key: &str) -> Option<String> {
        let of_streams = || {
            let pictures = self.picture.and_then(|i| self.context.stream(i));
            let streams = pictures.into_iter().chain(self.context.streams());
            streams.filter_map(|st| st.metadata().get(key).map(str::to_owned)).next()
        };
        self.context.metadata().get(key).map(str::to_owned).or_else(of_streams)
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
}
