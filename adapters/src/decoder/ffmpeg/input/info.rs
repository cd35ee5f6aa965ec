//! The properties of an opened file. If its video cannot be read, explains why.

use ffmpeg::ffi;
use ffmpeg_next as ffmpeg;
use ports::decoder::{AudioInfo, MediaInfo, VideoInfo};

use super::streams::Streams;
use crate::decoder::ffmpeg::file_type::file_type;
use crate::decoder::ffmpeg::picture::display_size;

/// Returns the properties of the file.
pub(crate) fn media_info(streams: &Streams) -> MediaInfo {
    let container = streams.context.format().name().to_owned();
    let video = streams.picture.map(|i| {
        let (width, height) = streams.coded_size(i);
        let (width, height) =
            streams.orientation().size(display_size(width, height, streams.pixel_aspect()));
        let frame_rate = streams.counted_rate();
        VideoInfo { codec: streams.codec_name(i), width, height, frame_rate }
    });
    let brand = streams.context.metadata().get("major_brand").unwrap_or("").to_owned();
    let selected = [streams.picture, streams.sound].into_iter().flatten();
    let codecs: Vec<String> = selected.map(|i| streams.codec_name(i)).collect();
    let (extension, content_type) = file_type(&container, &brand, &codecs, video.is_some());
    let duration = streams.context.duration();
    MediaInfo {
        container,
        extension: extension.to_owned(),
        content_type: content_type.to_owned(),
        duration: (duration > 0).then(|| duration as f64 / f64::from(ffi::AV_TIME_BASE)),
        video,
        audio: audio_info(streams),
        undecodable_video: undecodable_video(streams),
        timecode: tagged(streams, "timecode"),
        reel_name: tagged(streams, "reel_name"),
        recorded_at: tagged(streams, "com.apple.quicktime.creationdate")
            .or_else(|| tagged(streams, "creation_time")),
    }
}

/// Explains why the file's video stream cannot be decoded. Returns `None` if it can, or if there
/// is none.
pub(crate) fn undecodable_video(streams: &Streams) -> Option<String> {
    if streams.picture.is_some() {
        return None;
    }
    let is_picture = |&i: &usize| {
        streams.medium(i) == Some(ffmpeg::media::Type::Video) && !streams.is_attached(i)
    };
    let stream = (0..streams.count()).find(is_picture)?;
    Some(match streams.codec_name(stream).as_str() {
        _ if streams.is_encrypted(stream) => "its pictures are encrypted".into(),
        "" | "none" => format!("the codec of its pictures is not known{}", tag(streams, stream)),
        codec if streams.has_decoder(stream) => {
            format!("its pictures cannot be read (codec {codec})")
        }
        codec => format!("no decoder reads the codec of its pictures ({codec})"),
    })
}

fn audio_info(streams: &Streams) -> Option<AudioInfo> {
    let (played, sounds) = (streams.sound?, streams.sounds());
    let played = sounds.iter().position(|&i| i == played)?;
    Some(AudioInfo { tracks: sounds.len() as u32, default_track: played as u32 })
}

/// Returns a stream's codec tag in brackets, with a leading space. Returns an empty string if the tag
/// is not printable.
fn tag(streams: &Streams, stream: usize) -> String {
    let name = streams.four_letters(stream);
    let letters = name.iter().all(|b| b.is_ascii_graphic());
    if letters { format!(" ({})", String::from_utf8_lossy(&name)) } else { String::new() }
}

/// Returns the value of a metadata tag from the container, or from the first stream that has the
/// tag.
fn tagged(streams: &Streams, key: &str) -> Option<String> {
    let of_streams = || {
        let pictures = streams.picture.and_then(|i| streams.context.stream(i));
        let all = pictures.into_iter().chain(streams.context.streams());
        all.filter_map(|st| st.metadata().get(key).map(str::to_owned)).next()
    };
    streams.context.metadata().get(key).map(str::to_owned).or_else(of_streams)
}
