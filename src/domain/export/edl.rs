//! A CMX 3600 edit decision list with one event per chunk, for editing programs.

use crate::export::{Content, VideoLog};
use crate::kernel::error::Result;

/// Maximum length of a title, clip name or comment, in characters.
const MAX_COMMENT_CHARS: usize = 70;

pub(super) fn write(log: &VideoLog) -> Result<Content> {
    let rate = log.frame_rate();
    let timecode = log.timecode();
    let mode = if timecode.drop_frame { "DROP" } else { "NON-DROP" };
    let mut file =
        format!("TITLE: {}\nFCM: {mode} FRAME\n\n", ascii(log.stem(), MAX_COMMENT_CHARS));
    let frame = |seconds: f64| (seconds * rate).round() as u64;
    let mut number = 0;
    for (chunk, span) in log.chunks() {
        let (from, to) = (frame(span.start), frame(span.end));
        if to <= from {
            continue;
        }
        number += 1;
        let placed =
            [span.start, span.end].map(|time| timecode.label(frame(log.part.exported_time(time))));
        let source = [from, to].map(|frame| timecode.label(timecode.start + frame));
        let ([from, to], [start, end]) = (source, placed);
        file.push_str(&format!(
            "{number:03}  AX       V     C        {from} {to} {start} {end}\n\
             * FROM CLIP NAME: {}\n",
            ascii(&log.record.filename, MAX_COMMENT_CHARS)
        ));
        if let Some(instant) = log.record.metadata.wall_clock(span.start) {
            file.push_str(&format!("* RECORDED AT: {instant}\n"));
        }
        let headline = ascii(&log.headline(chunk), MAX_COMMENT_CHARS);
        if !headline.is_empty() {
            file.push_str(&format!("* COMMENT: {headline}\n"));
        }
        file.push('\n');
    }
    Ok(Content::Text(file))
}

/// Converts text to ASCII, since the format allows no other characters. Typographic characters
/// become plain ones.
fn ascii(text: &str, max: usize) -> String {
    let mut plain = String::new();
    for c in text.chars().take(max) {
        match c {
            '\u{2018}' | '\u{2019}' | '\u{201a}' | '\u{2032}' => plain.push('\''),
            '\u{201c}' | '\u{201d}' | '\u{201e}' | '\u{2033}' | '\u{ab}' | '\u{bb}' => {
                plain.push('"')
            }
            '\u{2010}'..='\u{2015}' | '\u{2212}' => plain.push('-'),
            '\u{2026}' => plain.push_str("..."),
            '\u{a0}' | '\u{2009}' | '\u{202f}' => plain.push(' '),
            c if c.is_ascii_graphic() || c == ' ' => plain.push(c),
            _ => plain.push('?'),
        }
    }
    plain.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typographic_signs_become_ascii() {
        let text = "\u{201c}It\u{2019}s here\u{201d} \u{2013} he said\u{2026} 日\u{a0}x";
        assert_eq!(ascii(text, 99), "\"It's here\" - he said... ? x");
    }
}
