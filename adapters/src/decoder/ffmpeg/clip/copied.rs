//! Copies the packets of a clip.

use ffmpeg::Packet;
use ffmpeg::format::context::Output;
use ffmpeg_next as ffmpeg;

use super::output::copy_stream;
use super::{ClipSpan, ON_KEY_FRAME, each_packet, write as write_packet};
use crate::decoder::ffmpeg::Error;
use crate::decoder::ffmpeg::input::Input;
use crate::decoder::ffmpeg::timeline::StreamKind;

/// Half the duration of an audio packet, in seconds. If a packet begins no more than this long
/// before the clip, at least half of the packet is within the clip.
const HALF_AUDIO_PACKET: f64 = 0.011;

/// Copies the packets from the key frame at the start of `part` to its end.
pub(super) fn write(input: &mut Input, mut output: Output, part: ClipSpan) -> Result<(), Error> {
    let streams: Vec<(StreamKind, usize)> =
        [(StreamKind::Picture, input.streams.picture), (StreamKind::Sound, input.streams.sound)]
            .into_iter()
            .filter_map(|(kind, stream)| Some((kind, stream?)))
            .collect();
    for (_, stream) in &streams {
        copy_stream(&input.streams, *stream, &mut output)?;
    }
    output.write_header()?;
    let place = |kind| streams.iter().position(|(one, _)| *one == kind).unwrap_or(0);
    let mut pictures = VideoPackets { begun: false, over: false, waiting: Vec::new() };
    let mut sound_over = input.streams.sound.is_none();
    each_packet(input, |input, kind, packet| {
        let stream = packet.stream();
        let base = input.streams.ticks(stream);
        let time = |stamp: Option<i64>| stamp.map(|stamp| input.seconds(stream, stamp));
        let (shown, decoded) = (time(packet.pts().or(packet.dts())), time(packet.dts()));
        let Some(shown) = shown else { return Ok(true) };
        move_by(packet, input.stamp(stream, part.start));
        match kind {
            StreamKind::Sound => {
                sound_over |= shown >= part.end;
                if !sound_over && shown >= part.start - HALF_AUDIO_PACKET {
                    write_packet(&mut output, place(kind), base, packet)?;
                }
            }
            StreamKind::Picture => {
                for mut packet in pictures.take(packet, shown, decoded.unwrap_or(shown), part) {
                    write_packet(&mut output, place(kind), base, &mut packet)?;
                }
            }
        }
        Ok(!(pictures.over && sound_over))
    })?;
    Ok(output.write_trailer()?)
}

/// Returns whether the clip would contain frames shown after the part's end, because earlier frames
/// depend on them.
pub(super) fn overruns(input: &mut Input, part: ClipSpan) -> Result<bool, Error> {
    let mut pictures = VideoPackets { begun: false, over: false, waiting: Vec::new() };
    let mut overruns = false;
    each_packet(input, |input, kind, packet| {
        let time = |stamp: Option<i64>| stamp.map(|at| input.seconds(packet.stream(), at));
        let (shown, decoded) = (time(packet.pts().or(packet.dts())), time(packet.dts()));
        let Some(shown) = shown.filter(|_| kind == StreamKind::Picture) else { return Ok(true) };
        overruns |= pictures.take(packet, shown, decoded.unwrap_or(shown), part).len() > 1;
        Ok(!overruns && !pictures.over)
    })?;
    Ok(overruns)
}

fn move_by(packet: &mut Packet, ticks: i64) {
    packet.set_pts(packet.pts().map(|stamp| stamp.saturating_sub(ticks)));
    packet.set_dts(packet.dts().map(|stamp| stamp.saturating_sub(ticks)));
}

/// Selects the video packets of the clip.
struct VideoPackets {
    begun: bool,
    over: bool,
    /// Packets shown after the part's end, on which earlier frames may still depend.
    waiting: Vec<Packet>,
}

impl VideoPackets {
    /// Returns the packets to write now.
    fn take(&mut self, packet: &Packet, shown: f64, decoded: f64, part: ClipSpan) -> Vec<Packet> {
        self.begun |= packet.is_key() && (shown - part.start).abs() <= ON_KEY_FRAME;
        self.over |= decoded >= part.end;
        // Frames that follow the key frame but are shown before it depend on earlier frames.
        if !self.begun || self.over || shown < part.start - ON_KEY_FRAME {
            return Vec::new();
        }
        self.waiting.push(packet.clone());
        if shown < part.end { std::mem::take(&mut self.waiting) } else { Vec::new() }
    }
}
