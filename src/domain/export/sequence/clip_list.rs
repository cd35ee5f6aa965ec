//! The clips of a sequence as CSV (RFC 4180), with one row per clip.

use crate::export::csv::{LINE_END, quote};
use crate::export::sequence::{Sequence, SequenceClip};
use crate::export::{Content, one_line};
use crate::kernel::error::Result;

const COLUMNS: [&str; 20] = [
    "number",
    "name",
    "note",
    "speech",
    "tags",
    "rating",
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
    "duration",
];

pub(crate) fn write(sequence: &Sequence) -> Result<Content> {
    let reels = sequence.reels();
    let mut file = COLUMNS.join(",") + LINE_END;
    for (number, placed) in (1..).zip(sequence.placed_clips()) {
        let (clip, source) = (placed.clip, &placed.clip.source);
        let [source_in, source_out] = clip.timecodes();
        let [record_in, record_out] = placed.timecodes(sequence.start);
        let seconds = |frame: u64| format!("{:.3}", frame as f64 / source.rate.per_second());
        let row: [String; 20] = [
            u32::to_string(&number),
            clip.name.clone(),
            clip.note.clone(),
            speech(clip),
            clip.tags.join("; "),
            if clip.rating > 0 { clip.rating.to_string() } else { String::new() },
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
            seconds(clip.length()),
        ];
        file.push_str(&row.map(|cell| quote(&one_line(&cell))).join(","));
        file.push_str(LINE_END);
    }
    Ok(Content::Text(file))
}

/// Returns what is said, with the speakers if they are known.
fn speech(clip: &SequenceClip) -> String {
    let spoken = clip.speech.iter().map(|spoken| match &spoken.speaker {
        Some(speaker) => format!("{speaker}: {}", spoken.text),
        None => spoken.text.clone(),
    });
    spoken.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::sequence::testing::{clip, said, sequence, source};

    #[test]
    fn rows_have_timecodes_and_frames() {
        let source = source(1, "25/1", "01:00:00:00", "A001");
        let rated = SequenceClip {
            speech: vec![said(Some("Anna"), 1.0, "Go!"), said(None, 2.0, "Now")],
            tags: vec!["a".into(), "b".into()],
            rating: 3,
            ..clip(&source, 25..60)
        };
        let Content::Text(table) = write(&sequence(vec![rated])).expect("a table") else {
            panic!("a table is text");
        };
        let rows: Vec<&str> = table.split("\r\n").collect();
        assert_eq!(rows[0], COLUMNS.join(","));
        let id = source.video_id;
        assert_eq!(
            rows[1],
            format!(
                "1,clip1 25,Frame 25.,Anna: Go! Now,a; b,3,{id},clip1.mov,A001,25/1,01:00:01:00,01:00:02:10,\
                 00:00:00:00,00:00:01:10,25,60,35,1.000,2.400,1.400"
            )
        );
        assert_eq!(rows[2..], [""]);
    }
}
