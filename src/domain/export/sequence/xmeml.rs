//! A sequence in the XML format of Final Cut Pro 7 (`xmeml`, version 5), which Premiere Pro and
//! DaVinci Resolve read.

use std::collections::HashMap;

use ports::FrameRate;

use crate::export::sequence::fcpxml::{file_url, has_sound};
use crate::export::sequence::{PlacedClip, Sequence, SequenceMarker, SourceVideo};
use crate::export::xml::Element;
use crate::export::{Content, one_line};
use crate::kernel::error::Result;
use crate::kernel::timecode::Timecode;
use crate::kernel::video::VideoId;

/// The kind of a track.
#[derive(Clone, Copy, PartialEq)]
enum Medium {
    Picture,
    Sound,
}

/// The clips of both tracks, and the files that have been described so far.
struct Tracks<'s> {
    sequence: &'s Sequence,
    /// The number of each file.
    files: HashMap<VideoId, usize>,
}

pub(crate) fn write(sequence: &Sequence) -> Result<Content> {
    let mut tracks = Tracks { sequence, files: HashMap::new() };
    let size = sequence.sources().iter().find_map(|source| source.picture_size);
    let format = Element::new("format").child(picture_format(sequence.rate, size));
    let video = Element::new("video").child(format).child(tracks.track(Medium::Picture));
    let audio = Element::new("audio").child(tracks.track(Medium::Sound));
    let timeline = Element::new("sequence")
        .with("id", "sequence-1")
        .leaf("name", one_line(&sequence.name))
        .leaf("duration", sequence.length())
        .child(rate(sequence.rate))
        .child(timecode(sequence.start, sequence.rate))
        .child(Element::new("media").child(video).child(audio))
        .children(sequence.markers.iter().map(marker));
    let document = Element::new("xmeml").with("version", "5").child(timeline);
    document.to_document("xmeml").map(Content::Text)
}

impl Tracks<'_> {
    fn track(&mut self, medium: Medium) -> Element {
        let sequence = self.sequence;
        let clips = (1..).zip(sequence.placed_clips()).filter(|(_, placed)| has(placed, medium));
        let clips: Vec<Element> =
            clips.map(|(number, placed)| self.clip(number, &placed, medium)).collect();
        Element::new("track").children(clips).leaf("enabled", "TRUE").leaf("locked", "FALSE")
    }

    fn clip(&mut self, number: usize, placed: &PlacedClip<'_>, medium: Medium) -> Element {
        let (clip, source) = (placed.clip, &placed.clip.source);
        let mut element = Element::new("clipitem")
            .with("id", clip_id(number, medium))
            .leaf("name", one_line(&clip.name))
            .leaf("enabled", "TRUE")
            .leaf("duration", source.frames)
            .child(rate(source.rate))
            .leaf("start", placed.placed.start)
            .leaf("end", placed.placed.end)
            .leaf("in", clip.frames.start)
            .leaf("out", clip.frames.end)
            .child(self.file(source));
        if medium == Medium::Sound {
            let track = Element::new("sourcetrack").leaf("mediatype", "audio");
            element = element.child(track.leaf("trackindex", 1));
        }
        if has(placed, Medium::Picture) && has(placed, Medium::Sound) {
            let link = |medium| link(number, medium);
            element = element.child(link(Medium::Picture)).child(link(Medium::Sound));
        }
        if !clip.note.is_empty() {
            let log = Element::new("logginginfo").leaf("lognote", &clip.note);
            let comments = Element::new("comments").leaf("mastercomment1", &clip.note);
            element = element.child(log).child(comments);
        }
        element
    }

    /// Describes a file where it first occurs, and refers to it afterwards.
    fn file(&mut self, source: &SourceVideo) -> Element {
        let next = self.files.len() + 1;
        let number = *self.files.entry(source.video_id).or_insert(next);
        let file = Element::new("file").with("id", format!("file-{number}"));
        if number < next {
            return file;
        }
        let reel = Element::new("reel").leaf("name", &source.reel);
        let mut media = Element::new("media");
        if source.has_picture {
            let format = picture_format(source.rate, source.picture_size);
            media = media.child(Element::new("video").child(format));
        }
        if has_sound(source) {
            media = media.child(Element::new("audio").leaf("channelcount", 2));
        }
        file.leaf("name", &source.filename)
            .leaf("pathurl", file_url(&source.filename))
            .child(rate(source.rate))
            .leaf("duration", source.frames)
            .child(timecode(source.start, source.rate).child(reel))
            .child(media)
    }
}

fn has(placed: &PlacedClip<'_>, medium: Medium) -> bool {
    let source = &placed.clip.source;
    match medium {
        Medium::Picture => source.has_picture,
        Medium::Sound => has_sound(source),
    }
}

fn clip_id(number: usize, medium: Medium) -> String {
    match medium {
        Medium::Picture => format!("clipitem-{number}"),
        Medium::Sound => format!("clipitem-{number}-audio"),
    }
}

fn link(number: usize, medium: Medium) -> Element {
    let kind = if medium == Medium::Picture { "video" } else { "audio" };
    Element::new("link")
        .leaf("linkclipref", clip_id(number, medium))
        .leaf("mediatype", kind)
        .leaf("trackindex", 1)
}

/// Formats a rate as the number of frames per second of timecode, and whether the true rate is
/// lower by a factor of 1000/1001.
fn rate(rate: FrameRate) -> Element {
    let ntsc = if rate.is_ntsc() { "TRUE" } else { "FALSE" };
    Element::new("rate").leaf("timebase", rate.nominal()).leaf("ntsc", ntsc)
}

fn timecode(timecode: Timecode, frame_rate: FrameRate) -> Element {
    Element::new("timecode")
        .child(rate(frame_rate))
        .leaf("string", timecode)
        .leaf("frame", timecode.frames())
        .leaf("displayformat", if timecode.is_drop_frame() { "DF" } else { "NDF" })
}

fn picture_format(frame_rate: FrameRate, size: Option<(u32, u32)>) -> Element {
    let format = Element::new("samplecharacteristics").child(rate(frame_rate));
    match size {
        Some((width, height)) => format.leaf("width", width).leaf("height", height),
        None => format,
    }
}

fn marker(marker: &SequenceMarker) -> Element {
    Element::new("marker")
        .leaf("name", one_line(&marker.name))
        .leaf("in", marker.frames.start)
        .leaf("out", marker.frames.end)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::export::sequence::testing::{clip, sequence, source};

    fn text(sequence: &Sequence) -> String {
        match write(sequence).expect("a sequence") {
            Content::Text(text) => text.lines().map(str::trim).collect(),
            other => panic!("{other:?} is no text"),
        }
    }

    #[test]
    fn clips_are_counted_from_the_first_frame_of_their_file() {
        let video = source(1, "30000/1001", "01:00:00;00", "A001");
        let mut selects = sequence(vec![clip(&video, 0..30), clip(&video, 1798..1799)]);
        selects.markers = vec![SequenceMarker { frames: 0..30, name: "One".into() }];
        let text = text(&selects);
        for expected in [
            "<xmeml version=\"5\"><sequence id=\"sequence-1\"><name>selects</name>\
             <duration>31</duration><rate><timebase>30</timebase><ntsc>TRUE</ntsc></rate>",
            "<start>30</start><end>31</end><in>1798</in><out>1799</out><file id=\"file-1\"/>",
            "<string>01:00:00;00</string><frame>107892</frame><displayformat>DF</displayformat>\
             <reel><name>A001</name></reel>",
            "<width>1920</width><height>1080</height>",
            "<link><linkclipref>clipitem-2-audio</linkclipref>",
            "<marker><name>One</name><in>0</in><out>30</out></marker>",
        ] {
            assert!(text.contains(expected), "{expected}\n{text}");
        }
        assert_eq!(text.matches("<file id=\"file-1\">").count(), 1, "{text}");
        assert_eq!(text.matches("<clipitem ").count(), 4, "{text}");
    }

    #[test]
    fn tracks_have_only_what_their_files_have() {
        let video = source(1, "25/1", "", "A");
        let silent = Arc::new(SourceVideo { audio_tracks: Some(0), ..(*video).clone() });
        let text = text(&sequence(vec![clip(&silent, 0..30)]));
        assert_eq!(text.matches("<clipitem ").count(), 1, "{text}");
        assert!(!text.contains("<link>") && !text.contains("channelcount"), "{text}");
    }
}
