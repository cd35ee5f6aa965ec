//! What is said in the clips of a sequence, as a document with a section for each clip.

use crate::export::document::{self, DocumentSection, Heading, SpokenDocument, SpokenParagraph};
use crate::export::sequence::{Sequence, SequenceClip};
use crate::export::{Content, one_line};
use crate::kernel::error::Result;
use crate::media::speech::Utterance;

pub(crate) fn markdown(sequence: &Sequence) -> Result<Content> {
    Ok(Content::Text(document::markdown::write(&build(sequence))))
}

pub(crate) fn word(sequence: &Sequence) -> Result<Content> {
    document::docx::write(&build(sequence)).map(Content::Bytes)
}

fn build(sequence: &Sequence) -> SpokenDocument {
    let sections = (1..).zip(&sequence.clips).map(|(number, clip)| DocumentSection {
        heading: Some(heading(number, clip)),
        paragraphs: paragraphs(clip),
        remarks: remarks(clip),
    });
    SpokenDocument { title: one_line(&sequence.name), sections: sections.collect() }
}

fn heading(number: usize, clip: &SequenceClip) -> Heading {
    let [start, end] = clip.timecodes();
    let (source, span) = (&clip.source, clip.span());
    Heading {
        text: format!("{number}. {}, {start} to {end}", one_line(&source.filename)),
        // The part of the video, as a media fragment.
        link: format!("{}#t={:.3},{:.3}", source.url, span.start, span.end),
    }
}

/// Joins consecutive sentences by the same speaker.
fn paragraphs(clip: &SequenceClip) -> Vec<SpokenParagraph> {
    let is_same_speaker = |a: &Utterance, b: &Utterance| a.speaker == b.speaker;
    let turns = clip.speech.chunk_by(is_same_speaker).filter_map(|turn| {
        let first = turn.first()?;
        let texts: Vec<String> = turn.iter().map(|spoken| one_line(&spoken.text)).collect();
        Some(SpokenParagraph {
            time: (clip.source.start + clip.source.rate.frame_at(first.start)).to_string(),
            speaker: first.speaker.as_deref().map(one_line),
            text: texts.join(" "),
        })
    });
    turns.collect()
}

fn remarks(clip: &SequenceClip) -> Vec<String> {
    let note = one_line(&clip.note);
    let tags: Vec<String> = clip.tags.iter().map(|tag| one_line(tag)).collect();
    let tags = (!tags.is_empty()).then(|| format!("Tags: {}", tags.join(", ")));
    let rating = (clip.rating > 0).then(|| format!("Rating: {} of 5", clip.rating));
    (!note.is_empty()).then_some(note).into_iter().chain(tags).chain(rating).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::sequence::testing::{clip, said, sequence, source};

    #[test]
    fn quotes_have_speakers_timecodes_and_links() {
        let source = source(1, "25/1", "01:00:00:00", "A001");
        let quoted = SequenceClip {
            speech: vec![
                said(Some("Anna"), 1.0, "We choose"),
                said(Some("Anna"), 2.0, "to go."),
                said(Some("Ben"), 3.0, "Why?"),
            ],
            tags: vec!["opening".into(), "moon".into()],
            rating: 4,
            ..clip(&source, 25..100)
        };
        let Content::Text(text) = markdown(&sequence(vec![quoted])).expect("quotes") else {
            panic!("Markdown is text");
        };
        assert_eq!(
            text,
            "# selects\n\n\
             ## [1. clip1.mov, 01:00:01:00 to 01:00:04:00]\
             (<http://shotlog.test/files/clip1.mov#t=1.000,4.000>)\n\n\
             **Anna** `01:00:01:00`\n\nWe choose to go.\n\n\
             **Ben** `01:00:03:00`\n\nWhy?\n\n\
             > Frame 25.\n\n> Tags: opening, moon\n\n> Rating: 4 of 5\n"
        );
    }
}
