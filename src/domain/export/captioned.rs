//! Captions that are drawn into the pictures of videos: into those of a bin's video, and into a clip
//! of one video.

use std::sync::Arc;

use ports::decoder::{BurnedCaption, RenderFormat};

use crate::analysis::analyzers::{diarization, transcript};
use crate::export::Exports;
use crate::export::bin::picture_size;
use crate::export::cues::{Cue, MAX_LINE_CHARS, cues_of_clip};
use crate::export::sequence::selection::{moment_clip, source_video};
use crate::export::sequence::{SequenceClip, SourceVideo};
use crate::frames::{Frames, RenderedClip, SequencePlan};
use crate::kernel::error::{Error, Result};
use crate::kernel::time::Span;
use crate::kernel::video::VideoId;

/// Maximum size of the captions of a clip, in bytes. More do not fit into the arguments of a program,
/// which have 128 KiB on Linux; an hour of fast speech has about half of this in English.
const MAX_CAPTION_BYTES: usize = 96 << 10;

/// Size of the times of a caption, in bytes.
const TIMES_BYTES: usize = 60;

/// The first of the characters that are about twice as wide as Latin letters, such as those of
/// Chinese, Japanese and Korean.
const FIRST_WIDE: char = '\u{1100}';

impl Exports {
    /// Plans a clip of a video with its speech as captions, which
    /// [`crate::frames::Frames::sequence`] renders at the frame rate of the video. Returns `Invalid`
    /// if the span lies outside the video or is longer than allowed, and if there are no pictures or
    /// no speech in it.
    pub async fn captioned_clip(
        &self,
        frames: &Frames,
        video_id: VideoId,
        span: Span,
    ) -> Result<SequencePlan> {
        let Span { start, end } = span;
        let outline = frames.clip_outline(video_id, start, end, true).await?;
        let read = |record| self.log(record, true);
        let log = self.records.read_published(video_id, read).await?;
        let source: Arc<SourceVideo> = Arc::new(source_video(&log));
        if !source.has_picture {
            return Err(Error::Invalid(format!(
                "video '{video_id}' has no pictures to draw captions into; get its captions with \
                 format=srt or format=vtt"
            )));
        }
        let clip = moment_clip(&log, &source, span).ok_or_else(|| {
            Error::Invalid(format!("the clip begins at {start}, after the last frame of the video"))
        })?;
        let captions = burned_captions(&clip)?;
        if captions.is_empty() {
            return Err(no_speech("no part of the clip"));
        }
        let settings = self.bins.settings();
        let (width, height) =
            picture_size(std::slice::from_ref(&clip), settings.max_string_out_side);
        let format = RenderFormat {
            width,
            height,
            rate: source.rate,
            frames: clip.length(),
            max_bytes: settings.max_string_out_bytes,
        };
        let start = clip.span().start;
        let clips = vec![RenderedClip { video_id, start, frames: clip.length(), captions }];
        Ok(SequencePlan { format, clips, filename: outline.filename })
    }
}

/// Returns the speech of a clip as captions, with times from the start of the clip. Returns `Invalid`
/// if there is too much.
pub(super) fn burned_captions(clip: &SequenceClip) -> Result<Vec<BurnedCaption>> {
    let caption = |cue: Cue| {
        let lines = cue.lines.iter().flat_map(|line| narrow_lines(line)).collect();
        // Tenths of milliseconds take fewer bytes than exact times.
        let [start, end] = [cue.start, cue.end].map(|time| (time * 1e4).round() / 1e4);
        BurnedCaption { start, end, lines }
    };
    let captions: Vec<BurnedCaption> = cues_of_clip(clip).into_iter().map(caption).collect();
    let text = captions.iter().flat_map(|caption| &caption.lines).map(|line| line.len() + 3);
    let bytes = text.sum::<usize>() + captions.len() * TIMES_BYTES;
    if bytes > MAX_CAPTION_BYTES {
        return Err(Error::Invalid(format!(
            "'{}' has {bytes} bytes of captions; up to {MAX_CAPTION_BYTES} are drawn into one clip: \
             split it",
            clip.name
        )));
    }
    Ok(captions)
}

/// Creates the error if nothing is said. `what` begins the sentence, such as "none of the clips".
pub(super) fn no_speech(what: &str) -> Error {
    Error::Invalid(format!(
        "{what} has recognised speech to show as captions; leave them out (captions=false), or \
         ingest the videos with the analyzer {} or {}",
        transcript::ID,
        diarization::ID
    ))
}

/// Breaks a line that is too wide because it has long words or wide characters.
fn narrow_lines(line: &str) -> Vec<String> {
    let (mut lines, mut width) = (vec![String::new()], 0);
    for c in line.chars() {
        let wide = if c >= FIRST_WIDE && c.is_alphanumeric() { 2 } else { 1 };
        if width + wide > MAX_LINE_CHARS {
            lines.push(String::new());
            width = 0;
        }
        width += wide;
        if let Some(line) = lines.last_mut() {
            line.push(c);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::sequence::testing::{clip, said, source};

    #[test]
    fn captions_are_relative_to_the_clip_and_end_with_it() {
        let source = source(1, "25/1", "10:00:00:00", "A");
        let mut clip = clip(&source, 50..100);
        clip.speech = vec![said(None, 1.5, "Before"), said(Some("Anna"), 3.5, "It's {x} \\ 100%")];
        let captions = burned_captions(&clip).expect("captions");
        assert_eq!(captions[0].start, 0.0);
        assert_eq!(captions[1].start, 1.5);
        assert!(captions.iter().all(|caption| caption.end <= 2.0 && caption.end > caption.start));
        assert_eq!(captions[1].lines, ["It's {x} \\ 100%"]);
    }

    #[test]
    fn lines_without_spaces_are_broken() {
        assert_eq!(narrow_lines("as it is"), ["as it is"]);
        let widths = |line: &str| -> Vec<usize> {
            narrow_lines(line).iter().map(|line| line.chars().count()).collect()
        };
        assert_eq!(widths(&"x".repeat(90)), [42, 42, 6]);
        assert_eq!(widths(&"\u{65e5}".repeat(50)), [21, 21, 8]);
    }

    #[test]
    fn too_much_speech_is_refused() {
        let source = source(1, "25/1", "", "A");
        let mut clip = clip(&source, 0..80_000);
        clip.speech =
            (0..1600).map(|n| said(None, f64::from(n) * 2.0, &"word ".repeat(20))).collect();
        let error = burned_captions(&clip).expect_err("too much").to_string();
        assert!(error.contains("split it"), "{error}");
    }
}
