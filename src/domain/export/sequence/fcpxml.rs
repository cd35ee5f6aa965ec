//! A project for Final Cut Pro (FCPXML 1.10), which DaVinci Resolve reads, too. All times are
//! fractions of a second.

use std::collections::HashMap;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use ports::FrameRate;

use crate::export::sequence::{PlacedClip, Sequence, SequenceMarker, SourceVideo};
use crate::export::xml::Element;
use crate::export::{Content, one_line};
use crate::kernel::error::Result;
use crate::kernel::timecode::Timecode;

/// The characters of a file name that are encoded in a URL.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The picture formats of a document, without duplicates.
#[derive(Default)]
struct Formats(Vec<(FrameRate, Option<(u32, u32)>)>);

pub(crate) fn write(sequence: &Sequence) -> Result<Content> {
    let sources = sequence.sources();
    let mut formats = Formats::default();
    let size = sources.iter().find_map(|source| source.picture_size);
    let sequence_format = formats.id(sequence.rate, size);
    let mut assets = Vec::with_capacity(sources.len());
    let mut asset_ids = HashMap::new();
    for (number, source) in (1..).zip(&sources) {
        let id = format!("asset{number}");
        let format = source.has_picture.then(|| formats.id(source.rate, source.picture_size));
        assets.push(asset(source, &id, format));
        asset_ids.insert(source.video_id, id);
    }
    let clips: Vec<Element> = sequence
        .placed_clips()
        .map(|placed| {
            let asset_id = asset_ids.get(&placed.clip.source.video_id);
            asset_clip(sequence, &placed, asset_id.map_or("", String::as_str))
        })
        .collect();
    let timeline = Element::new("sequence")
        .with("format", sequence_format)
        .with("duration", time(sequence.length(), sequence.rate))
        .with("tcStart", time(sequence.start.frames(), sequence.rate))
        .with("tcFormat", timecode_format(sequence.start))
        .child(Element::new("spine").children(clips));
    let name = one_line(&sequence.name);
    let project = Element::new("project").with("name", &name).child(timeline);
    let event = Element::new("event").with("name", &name).child(project);
    let document = Element::new("fcpxml")
        .with("version", "1.10")
        .child(Element::new("resources").children(formats.elements()).children(assets))
        .child(Element::new("library").child(event));
    document.to_document("fcpxml").map(Content::Text)
}

impl Formats {
    /// Returns the id of a format, and adds it if necessary.
    fn id(&mut self, rate: FrameRate, size: Option<(u32, u32)>) -> String {
        let index = self.0.iter().position(|format| *format == (rate, size));
        let index = index.unwrap_or_else(|| {
            self.0.push((rate, size));
            self.0.len() - 1
        });
        format!("format{}", index + 1)
    }

    fn elements(&self) -> impl Iterator<Item = Element> {
        (1..).zip(&self.0).map(|(number, (rate, size))| {
            let number: u32 = number;
            let format = Element::new("format")
                .with("id", format!("format{number}"))
                .with("frameDuration", format!("{}/{}s", rate.denominator(), rate.numerator()));
            match size {
                Some((width, height)) => format.with("width", width).with("height", height),
                None => format,
            }
        })
    }
}

/// Describes a source. Its file is expected next to the document.
fn asset(source: &SourceVideo, id: &str, format: Option<String>) -> Element {
    let mut asset = Element::new("asset")
        .with("id", id)
        .with("name", &source.filename)
        .with("start", time(source.start.frames(), source.rate))
        .with("duration", time(source.frames, source.rate));
    if let Some(format) = format {
        asset = asset.with("hasVideo", 1).with("format", format).with("videoSources", 1);
    }
    if has_sound(source) {
        let tracks = source.audio_tracks.unwrap_or(1);
        asset = asset.with("hasAudio", 1).with("audioSources", tracks);
    }
    let file = Element::new("media-rep").with("kind", "original-media");
    let reel =
        Element::new("md").with("key", "com.apple.proapps.studio.reel").with("value", &source.reel);
    asset
        .child(file.with("src", file_url(&source.filename)))
        .child(Element::new("metadata").child(reel))
}

/// Returns the URL of a file in the same folder as the document.
pub(super) fn file_url(filename: &str) -> String {
    format!("./{}", utf8_percent_encode(filename, ENCODED))
}

/// Whether a source has sound; it is assumed to have some if this is unknown.
pub(super) fn has_sound(source: &SourceVideo) -> bool {
    source.audio_tracks != Some(0)
}

fn asset_clip(sequence: &Sequence, placed: &PlacedClip<'_>, asset: &str) -> Element {
    let (clip, source) = (placed.clip, &placed.clip.source);
    let offset = sequence.start.frames() + placed.placed.start;
    let length = placed.placed.end - placed.placed.start;
    let mut element = Element::new("asset-clip")
        .with("ref", asset)
        .with("name", one_line(&clip.name))
        .with("offset", time(offset, sequence.rate))
        .with("start", time(clip.source_frames().start, source.rate))
        .with("duration", time(length, sequence.rate))
        .with("tcFormat", timecode_format(source.start));
    if !clip.note.is_empty() {
        element = element.leaf("note", &clip.note);
    }
    if let Some(rate) = conformed_rate(source.rate).filter(|_| source.rate != sequence.rate) {
        let conform = Element::new("conform-rate").with("scaleEnabled", 0);
        element = element.child(conform.with("srcFrameRate", rate));
    }
    if !clip.tags.is_empty() {
        let keywords = Element::new("keyword")
            .with("start", time(clip.source_frames().start, source.rate))
            .with("duration", time(clip.length(), source.rate))
            .with("value", one_line(&clip.tags.join(", ")));
        element = element.child(keywords);
    }
    let in_clip = |marker: &&SequenceMarker| placed.placed.contains(&marker.frames.start);
    let markers = sequence.markers.iter().filter(in_clip);
    element.children(markers.map(|marker| {
        let after = sequence.rate.convert(marker.frames.start - placed.placed.start, source.rate);
        Element::new("marker")
            .with("start", time(clip.source_frames().start + after, source.rate))
            .with("duration", time(1, source.rate))
            .with("value", one_line(&marker.name))
    }))
}

/// Returns the name of a rate to which the format can conform clips, if it is one.
fn conformed_rate(rate: FrameRate) -> Option<&'static str> {
    Some(match (rate.nominal(), rate.is_ntsc()) {
        (24, true) => "23.98",
        (30, true) => "29.97",
        (48, true) => "47.95",
        (60, true) => "59.94",
        (120, true) => "119.88",
        (24, false) => "24",
        (25, false) => "25",
        (30, false) => "30",
        (48, false) => "48",
        (50, false) => "50",
        (60, false) => "60",
        (120, false) => "120",
        _ => return None,
    })
}

fn timecode_format(timecode: Timecode) -> &'static str {
    if timecode.is_drop_frame() { "DF" } else { "NDF" }
}

/// Formats the duration of a number of frames as an exact number of seconds, such as `1001/30000s`.
fn time(frames: u64, rate: FrameRate) -> String {
    let numerator = u128::from(frames) * u128::from(rate.denominator());
    let denominator = u128::from(rate.numerator());
    match numerator % denominator {
        0 => format!("{}s", numerator / denominator),
        _ => format!("{numerator}/{denominator}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::sequence::testing::{clip, sequence, source};

    #[test]
    fn times_are_exact_fractions() {
        let rate = |text: &str| text.parse::<FrameRate>().expect("a rate");
        for (frames, frame_rate, expected) in [
            (0, "25/1", "0s"),
            (25, "25/1", "1s"),
            (26, "25/1", "26/25s"),
            (1, "30000/1001", "1001/30000s"),
            (108_000, "30000/1001", "108108000/30000s"),
            (30_000, "30000/1001", "1001s"),
            (24 * 3600 * 60, "60000/1001", "5189184000/60000s"),
        ] {
            assert_eq!(time(frames, rate(frame_rate)), expected);
        }
    }

    #[test]
    fn clips_start_at_source_timecode() {
        let video = source(1, "30000/1001", "01:00:00;00", "A001");
        let mut selects = sequence(vec![clip(&video, 0..30), clip(&video, 1798..1799)]);
        selects.markers = vec![SequenceMarker { frames: 30..31, name: "One".into() }];
        let Content::Text(text) = write(&selects).expect("a project") else {
            panic!("a project is text");
        };
        for expected in [
            "<!DOCTYPE fcpxml>\n<fcpxml version=\"1.10\">",
            "<format id=\"format1\" frameDuration=\"1001/30000s\" width=\"1920\" height=\"1080\"/>",
            "start=\"107999892/30000s\" duration=\"107999892/30000s\" hasVideo=\"1\"",
            "src=\"./clip1.mov\"",
            "<sequence format=\"format1\" duration=\"31031/30000s\" tcStart=\"0s\" tcFormat=\"DF\">",
            "name=\"clip1 1798\" offset=\"30030/30000s\" start=\"109799690/30000s\" \
             duration=\"1001/30000s\" tcFormat=\"DF\">",
            "<note>Frame 1798.</note>",
            "<marker start=\"109799690/30000s\" duration=\"1001/30000s\" value=\"One\"/>",
        ] {
            assert!(text.contains(expected), "{expected}\n{text}");
        }
        assert_eq!(text.matches("<asset ").count(), 1, "{text}");
    }

    #[test]
    fn clips_of_another_rate_are_conformed_without_a_change_of_speed() {
        let (film, video) = (source(1, "24/1", "", "A"), source(2, "25/1", "", "B"));
        let selects = sequence(vec![clip(&film, 0..24), clip(&video, 50..75)]);
        let Content::Text(text) = write(&selects).expect("a project") else {
            panic!("a project is text");
        };
        assert!(
            text.contains("offset=\"1s\" start=\"2s\" duration=\"1s\"")
                && text.contains("<conform-rate scaleEnabled=\"0\" srcFrameRate=\"25\"/>"),
            "{text}"
        );
        assert_eq!(text.matches("<conform-rate").count(), 1, "{text}");
    }
}
