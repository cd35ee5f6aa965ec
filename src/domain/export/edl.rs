//! An edit decision list (CMX 3600): one event per chunk, for editing programs.

use crate::domain::export::{Content, Log};
use crate::domain::kernel::error::Result;

/// Longest comment, characters.
const COMMENT: usize = 70;

pub(super) fn write(log: &Log) -> Result<Content> {
    let rate = log.frame_rate();
    let mut file = format!("TITLE: {}\nFCM: NON-DROP FRAME\n\n", ascii(log.stem(), COMMENT));
    let frame = |seconds: f64| (seconds * rate).round() as u64;
    let mut number = 0;
    for (chunk, span) in log.chunks() {
        let (from, to) = (frame(span.start), frame(span.end));
        if to <= from {
            continue;
        }
        number += 1;
        let placed = [span.start, span.end].map(|time| timecode(frame(log.part.told(time)), rate));
        let (from, to, [start, end]) = (timecode(from, rate), timecode(to, rate), placed);
        file.push_str(&format!(
            "{number:03}  AX       V     C        {from} {to} {start} {end}\n\
             * FROM CLIP NAME: {}\n",
            ascii(&log.record.filename, COMMENT)
        ));
        if let Some(instant) = log.record.about.wall_clock(span.start) {
            file.push_str(&format!("* RECORDED AT: {instant}\n"));
        }
        let headline = ascii(&log.headline(chunk), COMMENT);
        if !headline.is_empty() {
            file.push_str(&format!("* COMMENT: {headline}\n"));
        }
        file.push('\n');
    }
    Ok(Content::Text(file))
}

/// `HH:MM:SS:FF`, without dropped numbers.
fn timecode(frame: u64, rate: f64) -> String {
    let base = rate.round().max(1.0) as u64;
    let seconds = frame / base;
    format!(
        "{:02}:{:02}:{:02}:{:02}",
        seconds / 3600,
        seconds / 60 % 60,
        seconds % 60,
        frame % base
    )
}

/// The format knows no other characters.
fn ascii(text: &str, most: usize) -> String {
    let plain = |c: char| if c.is_ascii_graphic() || c == ' ' { c } else { '?' };
    text.chars().take(most).map(plain).collect::<String>().trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timecodes_count_frames() {
        for (frame, rate, expected) in [
            (0, 25.0, "00:00:00:00"),
            (124, 25.0, "00:00:04:24"),
            (30, 29.97, "00:00:01:00"),
            (90_000, 25.0, "01:00:00:00"),
        ] {
            assert_eq!(timecode(frame, rate), expected);
        }
    }
}
