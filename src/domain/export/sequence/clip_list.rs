//! The clips of a sequence as CSV (RFC 4180), with one row per clip.

use crate::export::csv::{LINE_END, quote};
use crate::export::sequence::Sequence;
use crate::export::{Content, one_line};
use crate::kernel::error::Result;

const COLUMNS: [&str; 16] = [
    "number",
    "name",
    "note",
    "video_id",
    "filename",
    "reel",
    "frame_rate",
    "source_in",
    "source_out",
    "record_in",
    "record_out",
    "first_frame",
    "end_frame",
    "frames",
    "start",
    "end",
];

pub(crate) fn write(sequence: &Sequence) -> Result<Content> {
    let reels = sequence.reels();
    let mut file = COLUMNS.join(",") + LINE_END;
    for (number, placed) in (1..).zip(sequence.placed_clips()) {
        let (clip, source) = (placed.clip, &placed.clip.source);
        let [source_in, source_out] = clip.timecodes();
        let [record_in, record_out] = placed.timecodes(sequence.start);
        let seconds = |frame: u64| format!("{:.3}", frame as f64 / source.rate.per_second());
        let row: [String; 16] = [
            u32::to_string(&number),
            clip.name.clone(),
            clip.note.clone(),
            source.video_id.to_string(),
            source.filename.clone(),
            reels.get(&source.video_id).cloned().unwrap_or_default(),
            source.rate.to_string(),
            source_in.to_string(),
            source_out.to_string(),
            record_in.to_string(),
            record_out.to_string(),
            clip.frames.start.to_string(),
            clip.frames.end.to_string(),
            clip.length().to_string(),
            seconds(clip.frames.start),
            seconds(clip.frames.end),
        ];
        file.push_str(&row.map(|cell| quote(&one_line(&cell))).join(","));
        file.push_str(LINE_END);
    }
    Ok(Content::Text(file))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::sequence::testing::{clip, sequence, source};

    #[test]
    fn rows_have_timecodes_and_frames() {
        let source = source(1, "25/1", "01:00:00:00", "A001");
        let Content::Text(table) = write(&sequence(vec![clip(&source, 25..60)])).expect("a table")
        else {
            panic!("a table is text");
        };
        let rows: Vec<&str> = table.split("\r\n").collect();
        assert_eq!(rows[0], COLUMNS.join(","));
        let id = source.video_id;
        assert_eq!(
            rows[1],
            format!(
                "1,clip1 25,Frame 25.,{id},clip1.mov,A001,25/1,01:00:01:00,01:00:02:10,\
                 00:00:00:00,00:00:01:10,25,60,35,1.000,2.400"
            )
        );
        assert_eq!(rows[2..], [""]);
    }
}
