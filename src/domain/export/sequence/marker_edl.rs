//! Markers for a timeline of DaVinci Resolve, as an edit decision list with one event per clip.
//! Resolve reads the list with *Timelines > Import > Timeline Markers from EDL* into a timeline that
//! starts at the same timecode, such as one that was imported from the sequence's `edl`.

use crate::export::sequence::Sequence;
use crate::export::{Content, one_line};
use crate::kernel::error::Result;

pub(crate) fn write(sequence: &Sequence) -> Result<Content> {
    let mode = if sequence.start.is_drop_frame() { "DROP" } else { "NON-DROP" };
    let mut file = format!("TITLE: {}\nFCM: {mode} FRAME\n\n", field(&sequence.name));
    for (number, placed) in (1..).zip(sequence.placed_clips()) {
        // Resolve gives each event one frame; the length of the marker follows `D:`.
        let first = sequence.start + placed.placed.start;
        let next = first + 1;
        let length = placed.placed.end - placed.placed.start;
        let (note, name) = (note(&placed.clip.note), field(&placed.clip.name));
        file.push_str(&format!(
            "{number:03}  001      V     C        {first} {next} {first} {next}  \n\
             {note} |C:ResolveColorBlue |M:{name} |D:{length}\n\n"
        ));
    }
    Ok(Content::Text(file))
}

/// Puts text on one line without control characters and `|`, which separates fields.
fn field(text: &str) -> String {
    let plain: String = one_line(text).chars().filter(|c| !c.is_control()).collect();
    plain.replace('|', "/")
}

/// Formats the note before the first field. A line that begins with a digit is an event, so such a
/// note gets a leading apostrophe.
fn note(text: &str) -> String {
    let note = field(text);
    if note.starts_with(|c: char| c.is_numeric()) { format!("'{note}") } else { note }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::sequence::SequenceClip;
    use crate::export::sequence::testing::{clip, sequence, source};

    #[test]
    fn markers_have_the_length_of_their_clips() {
        let source = source(1, "25/1", "01:00:00:00", "A001");
        let second = clip(&source, 500..505);
        let second = SequenceClip {
            name: "two | three".into(),
            note: "2 people,\nand a dog | cat".into(),
            ..second
        };
        let markers = write(&sequence(vec![clip(&source, 0..50), second])).expect("markers");
        let expected = "TITLE: selects\nFCM: NON-DROP FRAME\n\n\
            001  001      V     C        00:00:00:00 00:00:00:01 00:00:00:00 00:00:00:01  \n\
            Frame 0. |C:ResolveColorBlue |M:clip1 0 |D:50\n\n\
            002  001      V     C        00:00:02:00 00:00:02:01 00:00:02:00 00:00:02:01  \n\
            '2 people, and a dog / cat |C:ResolveColorBlue |M:two / three |D:5\n\n";
        assert_eq!(markers, Content::Text(expected.into()));
    }
}
