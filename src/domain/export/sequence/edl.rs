//! A CMX 3600 edit decision list with one event per clip, for editing programs.

use crate::export::sequence::{PlacedClip, Sequence};
use crate::export::{Content, one_line};
use crate::kernel::error::Result;

/// Maximum length of a title, clip name or comment, in characters.
const MAX_COMMENT_CHARS: usize = 70;

pub(crate) fn write(sequence: &Sequence) -> Result<Content> {
    let mode = if sequence.start.is_drop_frame() { "DROP" } else { "NON-DROP" };
    let mut file = format!("TITLE: {}\nFCM: {mode} FRAME\n\n", ascii(&sequence.name));
    let reels = sequence.reels();
    for (number, placed) in (1..).zip(sequence.placed_clips()) {
        let reel = reels.get(&placed.clip.source.video_id);
        file.push_str(&event(sequence, number, &placed, reel.map_or("", String::as_str)));
        file.push('\n');
    }
    Ok(Content::Text(file))
}

/// Formats an event and the comments that belong to it.
fn event(sequence: &Sequence, number: u32, placed: &PlacedClip<'_>, reel: &str) -> String {
    let (clip, source) = (placed.clip, &placed.clip.source);
    let [source_in, source_out] = clip.timecodes();
    let [record_in, record_out] = placed.timecodes(sequence.start);
    let channel = match (source.has_picture, source.audio_tracks.unwrap_or_default() > 0) {
        (true, true) => "B",
        (true, false) => "V",
        (false, _) => "A",
    };
    let mut event = format!(
        "{number:03}  {reel:<8} {channel:<5} C        \
         {source_in} {source_out} {record_in} {record_out}\n"
    );
    let length = placed.placed.end - placed.placed.start;
    if clip.length() != length {
        // The source plays at its own speed, which is not that of the sequence.
        let speed = source.rate.per_second();
        event.push_str(&format!("M2   {reel:<8} {speed:05.1}                {source_in}\n"));
    }
    let mut comment = |kind: &str, text: &str| {
        for line in lines(text) {
            event.push_str(&format!("* {kind}: {line}\n"));
        }
    };
    comment("FROM CLIP NAME", &source.filename.chars().take(MAX_COMMENT_CHARS).collect::<String>());
    comment("CLIP NAME", &clip.name);
    comment("RECORDED AT", clip.recorded_at.as_deref().unwrap_or_default());
    comment("COMMENT", &clip.note);
    event
}

/// Breaks text between words into lines of ASCII that fit in a comment.
fn lines(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in ascii_words(text) {
        match lines.last_mut() {
            Some(line) if line.len() + 1 + word.len() <= MAX_COMMENT_CHARS => {
                line.push(' ');
                line.push_str(&word);
            }
            _ => lines.push(word),
        }
    }
    lines
}

/// Returns the words of a text in ASCII. Cuts words that are longer than a comment.
fn ascii_words(text: &str) -> Vec<String> {
    let plain = to_ascii(&one_line(text));
    plain.split_whitespace().map(|word| word.chars().take(MAX_COMMENT_CHARS).collect()).collect()
}

/// Converts a title to at most one line of ASCII.
fn ascii(text: &str) -> String {
    to_ascii(&text.chars().take(MAX_COMMENT_CHARS).collect::<String>()).trim().to_owned()
}

/// Converts text to ASCII, since the format allows no other characters. Typographic characters
/// become plain ones.
fn to_ascii(text: &str) -> String {
    let mut plain = String::new();
    for c in text.chars() {
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
    plain
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::sequence::testing::{clip, sequence, source};

    fn text(content: Content) -> String {
        match content {
            Content::Text(text) => text,
            other => panic!("{other:?} is no text"),
        }
    }

    #[test]
    fn typographic_signs_become_ascii() {
        let text = "\u{201c}It\u{2019}s here\u{201d} \u{2013} he said\u{2026} 日\u{a0}x";
        assert_eq!(lines(text), ["\"It's here\" - he said... ? x"]);
    }

    #[test]
    fn long_notes_become_several_comments() {
        let note = "a word ".repeat(40);
        let lines = lines(&note);
        assert!(lines.len() > 1 && lines.iter().all(|line| line.len() <= MAX_COMMENT_CHARS));
        assert_eq!(lines.join(" "), note.trim());
        assert_eq!(super::lines(&"x".repeat(200)), ["x".repeat(MAX_COMMENT_CHARS)]);
        assert_eq!(super::lines(" \n "), [""; 0]);
    }

    #[test]
    fn events_have_source_timecode_and_reel() {
        let source = source(1, "30000/1001", "01:00:00;00", "A001");
        let sequence = sequence(vec![clip(&source, 1798..1802), clip(&source, 0..30)]);
        let edl = text(write(&sequence).expect("an edit list"));
        assert_eq!(
            edl,
            "TITLE: selects\nFCM: DROP FRAME\n\n\
             001  A001     B     C        01:00:59;28 01:01:00;04 00:00:00;00 00:00:00;04\n\
             * FROM CLIP NAME: clip1.mov\n* CLIP NAME: clip1 1798\n* COMMENT: Frame 1798.\n\n\
             002  A001     B     C        01:00:00;00 01:00:01;00 00:00:00;04 00:00:01;04\n\
             * FROM CLIP NAME: clip1.mov\n* CLIP NAME: clip1 0\n* COMMENT: Frame 0.\n\n"
        );
    }

    #[test]
    fn clips_of_another_rate_keep_their_speed() {
        let (film, video) = (source(1, "24/1", "10:00:00:00", "A"), source(2, "25/1", "", "B"));
        let sequence = sequence(vec![clip(&film, 0..24), clip(&video, 50..75)]);
        let edl = text(write(&sequence).expect("an edit list"));
        let second = "002  B        B     C        00:00:02:00 00:00:03:00 00:00:01:00 00:00:02:00\n\
                      M2   B        025.0                00:00:02:00\n";
        assert!(edl.contains(second), "{edl}");
        assert_eq!(edl.matches("M2 ").count(), 1, "{edl}");
    }

    #[test]
    fn reels_with_the_same_timecode_are_numbered() {
        let sources = [
            source(1, "25/1", "01:00:00:00", "A001"),
            source(2, "25/1", "01:00:00:00", "A001"),
            source(3, "25/1", "05:00:00:00", "A001"),
        ];
        let clips = sources.iter().map(|source| clip(source, 0..10)).collect();
        let edl = text(write(&sequence(clips)).expect("an edit list"));
        let reels: Vec<&str> = edl
            .lines()
            .filter(|line| line.starts_with("00"))
            .filter_map(|line| line.split_whitespace().nth(1))
            .collect();
        assert_eq!(reels, ["A001", "A001_2", "A001"]);
    }
}
