//! The clips of a sequence as a table in Markdown.

use crate::export::markdown::escape;
use crate::export::sequence::Sequence;
use crate::export::{Content, one_line};
use crate::kernel::error::Result;
use crate::kernel::timecode::Timecode;

pub(crate) fn write(sequence: &Sequence) -> Result<Content> {
    let mut file = format!("# {}\n\n", escape(&one_line(&sequence.name)));
    let length = sequence.length();
    let duration = Timecode::from_frames(length, sequence.rate, sequence.start.is_drop_frame());
    let (count, rate) = (sequence.clips.len(), sequence.rate);
    file.push_str(&format!("Clips: {count}; length: {duration}; frames per second: {rate}\n\n"));
    file.push_str("| # | Source in | Source out | Length | File | Clip | Note |\n");
    file.push_str("|--:|---|---|---|---|---|---|\n");
    for (number, clip) in (1..).zip(&sequence.clips) {
        let source = &clip.source;
        let [first, end] = clip.timecodes();
        let drop_frame = source.start.is_drop_frame();
        let length = Timecode::from_frames(clip.length(), source.rate, drop_frame);
        let [filename, name, note] =
            [&source.filename, &clip.name, &clip.note].map(|text| escape(&one_line(text)));
        let number: u32 = number;
        file.push_str(&format!(
            "| {number} | {first} | {end} | {length} | {filename} | {name} | {note} |\n"
        ));
    }
    Ok(Content::Text(file))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::sequence::SequenceClip;
    use crate::export::sequence::testing::{clip, sequence, source};

    #[test]
    fn cells_contain_no_markup() {
        let source = source(1, "30000/1001", "01:00:00;00", "A001");
        let marked = SequenceClip {
            name: "a | b".into(),
            note: "*so*\n<script>".into(),
            ..clip(&source, 0..1800)
        };
        let table = write(&sequence(vec![marked])).expect("a table");
        let expected = "# selects\n\nClips: 1; length: 00:01:00;02; frames per second: 30000/1001\n\n\
            | # | Source in | Source out | Length | File | Clip | Note |\n\
            |--:|---|---|---|---|---|---|\n\
            | 1 | 01:00:00;00 | 01:01:00;02 | 00:01:00;02 | clip1.mov | a \\| b | \
            \\*so\\* \\<script\\> |\n";
        assert_eq!(table, Content::Text(expected.into()));
    }
}
