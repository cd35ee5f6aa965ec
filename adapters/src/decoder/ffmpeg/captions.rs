//! Draws captions into the pictures of a rendered sequence with FFmpeg's `drawtext` filter. The text
//! of a picture is passed as metadata of the frame, so that no character in it has a meaning.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use ffmpeg::Dictionary;
use ffmpeg::filter::{self, Graph};
use ffmpeg::format::Pixel;
use ffmpeg::frame::Video;
use ffmpeg_next as ffmpeg;
use ports::FrameRate;
use ports::decoder::BurnedCaption;

use super::Error;

/// Maximum number of lines in a picture. If captions overlap, the last lines are shown.
const MAX_LINES: usize = 4;

/// Height of the font in parts of the height of the picture, and in parts of its width, whichever is
/// smaller. A line has up to 42 characters, which are 0.6 of their height wide on average.
const LINES_PER_HEIGHT: u32 = 18;
const CHARS_PER_WIDTH: u32 = 26;

/// Smallest font, in pixels.
const MIN_FONT: u32 = 8;

/// Height of a line, in parts of the font's height.
const LINE_HEIGHT: f64 = 1.3;

/// Distance of the last baseline from the bottom, in parts of the picture's height, as in
/// broadcasters' safe areas for captions.
const BOTTOM: f64 = 0.07;

/// Draws the captions of one part.
pub(in crate::decoder) struct CaptionPainter {
    graph: Graph,
    size: (u32, u32),
    /// The frames of each caption, from the start of the part, and its lines.
    captions: Vec<(std::ops::Range<u64>, Vec<String>)>,
}

impl CaptionPainter {
    /// Loads the font and builds the filters. Afterwards, no file is opened, so the process may give
    /// up access to the file system.
    pub(super) fn open(
        font: &Path,
        size: (u32, u32),
        rate: FrameRate,
        captions: &[BurnedCaption],
    ) -> Result<Self, Error> {
        let graph = graph(font, size)?;
        let frames = |caption: &BurnedCaption| {
            let start = rate.frame_at(caption.start);
            start..rate.frame_at(caption.end).max(start + 1)
        };
        let captions = captions.iter().map(|caption| (frames(caption), caption.lines.clone()));
        Ok(Self { graph, size, captions: captions.collect() })
    }

    /// Returns the first frame after `frame` at which other lines are shown.
    pub(super) fn next_change(&self, frame: u64) -> Option<u64> {
        let ends = self.captions.iter().flat_map(|(frames, _)| [frames.start, frames.end]);
        ends.filter(|end| *end > frame).min()
    }

    /// Draws the lines of `frame` into an RGB picture without padding. Returns `None` if it has
    /// none.
    pub(super) fn draw(&mut self, frame: u64, rgb: &[u8]) -> Result<Option<Vec<u8>>, Error> {
        let shown = self.captions.iter().filter(|(frames, _)| frames.contains(&frame));
        let lines: Vec<&String> = shown.flat_map(|(_, lines)| lines).collect();
        if lines.is_empty() {
            return Ok(None);
        }
        let mut metadata = Dictionary::new();
        for (number, line) in lines.iter().rev().take(MAX_LINES).enumerate() {
            // The names and values become C strings.
            metadata.set(&key(number), &line.replace('\0', " "));
        }
        let (width, height) = self.size;
        let mut picture = Video::new(Pixel::RGB24, width, height);
        picture.set_pts(Some(0));
        picture.set_metadata(metadata);
        let (stride, row_bytes) = (picture.stride(0), width as usize * 3);
        let rows = picture.data_mut(0).chunks_mut(stride).zip(rgb.chunks_exact(row_bytes));
        rows.for_each(|(row, from)| row[..row_bytes].copy_from_slice(from));
        let missing = || Error::NoCaptionFilter("buffer");
        self.graph.get("in").ok_or_else(missing)?.source().add(&picture)?;
        let mut drawn = Video::empty();
        self.graph.get("out").ok_or_else(missing)?.sink().frame(&mut drawn)?;
        let rows = drawn.data(0).chunks(drawn.stride(0)).take(height as usize);
        Ok(Some(rows.flat_map(|row| &row[..row_bytes]).copied().collect()))
    }
}

/// The name of the metadata that has the text of a line, counted from the bottom.
fn key(number: usize) -> String {
    format!("caption{number}")
}

/// Builds a graph with a filter for each line. A line without text is not drawn.
fn graph(font: &Path, (width, height): (u32, u32)) -> Result<Graph, Error> {
    let font_name = font.to_string_lossy();
    let unusable = || Error::CaptionFont(font_name.clone().into_owned());
    if !is_font(font) {
        return Err(unusable());
    }
    let find = |name| filter::find(name).ok_or(Error::NoCaptionFilter(name));
    let (buffer, drawtext, sink) = (find("buffer")?, find("drawtext")?, find("buffersink")?);
    let mut graph = Graph::new();
    #[expect(unsafe_code, reason = "FFI")]
    // SAFETY: the graph has no filters yet, and the field is plain. One thread, because a sandbox
    // that is closed later does not apply to threads that exist already.
    unsafe {
        (*graph.as_mut_ptr()).nb_threads = 1;
    }
    let size = (height / LINES_PER_HEIGHT).min(width / CHARS_PER_WIDTH).max(MIN_FONT);
    let arguments = format!("video_size={width}x{height}:pix_fmt=rgb24:time_base=1/1:sar=1/1");
    let mut last = graph.add(&buffer, "in", &arguments)?;
    for number in 0..MAX_LINES {
        let up = f64::from(height) * BOTTOM + number as f64 * f64::from(size) * LINE_HEIGHT;
        let baseline = (f64::from(height) - up).round();
        let arguments = format!(
            "fontfile={}:fontsize={size}:fontcolor=white:bordercolor=black:borderw={}:\
             text=%{{metadata\\:{}}}:x=(w-text_w)/2:y={baseline}-max_glyph_a",
            escape(&font_name),
            (size / 10).max(1),
            key(number)
        );
        let mut line =
            graph.add(&drawtext, &format!("line{number}"), &arguments).map_err(|_| unusable())?;
        last.link(0, &mut line, 0);
        last = line;
    }
    let mut sink = graph.add(&sink, "out", "")?;
    last.link(0, &mut sink, 0);
    graph.validate()?;
    Ok(graph)
}

/// Whether a file begins like a TrueType or OpenType font. FFmpeg takes another font of the machine
/// instead of a file that is none.
fn is_font(path: &Path) -> bool {
    let mut start = [0; 4];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut start));
    read.is_ok() && matches!(&start, b"\0\x01\0\0" | b"OTTO" | b"true" | b"ttcf")
}

/// Escapes the characters that have a meaning in the options of a filter.
fn escape(value: &str) -> String {
    let escaped = |c: char| match c {
        '\\' | '\'' | ':' => format!("\\{c}"),
        c => c.to_string(),
    };
    value.chars().map(escaped).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const FONT: &str = "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf";
    const SIZE: (u32, u32) = (320, 180);

    fn painter(texts: &[&str]) -> Option<CaptionPainter> {
        if !Path::new(FONT).exists() {
            println!("skipped: there is no {FONT}");
            return None;
        }
        let lines = |text: &&str| text.split('\n').map(str::to_owned).collect();
        let captions = texts.iter().enumerate().map(|(number, text)| BurnedCaption {
            start: number as f64,
            end: number as f64 + 0.5,
            lines: lines(text),
        });
        let captions: Vec<BurnedCaption> = captions.collect();
        let rate = FrameRate::new(25, 1).expect("a rate");
        Some(CaptionPainter::open(Path::new(FONT), SIZE, rate, &captions).expect("a painter"))
    }

    /// Number of bright pixels of each row.
    fn bright_rows(rgb: &[u8]) -> Vec<usize> {
        let row = |row: &[u8]| row.chunks(3).filter(|pixel| pixel[0] > 200).count();
        rgb.chunks(SIZE.0 as usize * 3).map(row).collect()
    }

    #[test]
    fn text_of_any_kind_is_drawn_above_the_bottom() {
        let hostile = [
            "It's here: 100% \\ {x} %{pts} [a] ; , =",
            "\u{645}\u{631}\u{62d}\u{628}\u{627} \u{202e}abc",
            "\u{1f642}\u{200d}\u{1f525} \u{65e5}\u{672c} \0 \t",
            "'\"`$(reboot) <b> &amp; %{e\\:1/0} %",
        ];
        let Some(mut painter) = painter(&hostile) else { return };
        let grey = vec![90; (SIZE.0 * SIZE.1 * 3) as usize];
        for number in 0..hostile.len() as u64 {
            let drawn = painter.draw(number * 25, &grey).expect("a picture").expect("a caption");
            assert_eq!(drawn.len(), grey.len());
            let rows = bright_rows(&drawn);
            assert!(rows[140..175].iter().sum::<usize>() > 20, "{}", hostile[number as usize]);
            assert_eq!(rows[..140].iter().sum::<usize>(), 0);
        }
        assert_eq!(painter.draw(13, &grey).expect("a picture"), None);
        assert_eq!(painter.next_change(0), Some(13));
        assert_eq!(painter.next_change(13), Some(25));
        assert_eq!(painter.next_change(1000), None);
    }

    #[test]
    fn each_text_is_drawn_as_itself() {
        let Some(mut painter) = painter(&["one\ntwo", "two", "one"]) else { return };
        let black = vec![0; (SIZE.0 * SIZE.1 * 3) as usize];
        let mut draw = |frame| painter.draw(frame, &black).expect("a picture").expect("a caption");
        let (both, two, one) = (draw(0), draw(25), draw(50));
        assert!(two != one);
        let (both, two) = (bright_rows(&both), bright_rows(&two));
        assert_eq!(both[158..], two[158..], "the last line is at the bottom");
        assert!(both.iter().sum::<usize>() > two.iter().sum());
    }

    #[test]
    fn fonts_that_cannot_be_read_are_named() {
        let folder = tempfile::tempdir().expect("a folder");
        let text = folder.path().join("it's a: font.ttf");
        std::fs::write(&text, "no font").expect("a file");
        for font in [text.as_path(), Path::new("/nowhere.ttf")] {
            let rate = FrameRate::new(25, 1).expect("a rate");
            let Err(error) = CaptionPainter::open(font, SIZE, rate, &[]) else { panic!("opened") };
            let error = error.to_string();
            assert!(error.contains(&*font.to_string_lossy()), "{error}");
            assert!(error.contains("decoder.caption_font"), "{error}");
        }
    }
}
