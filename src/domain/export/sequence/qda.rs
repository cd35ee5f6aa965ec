//! A project for programs of qualitative data analysis, such as MAXQDA, NVivo and ATLAS.ti, in the
//! exchange format REFI-QDA (Project Exchange 1.0): a ZIP archive with the project as XML and the
//! transcripts as text. It refers to the videos by file name.

use std::collections::BTreeSet;
use std::io::{Cursor, Write};

use uuid::Uuid;
use zip::ZipWriter;
use zip::result::ZipError;
use zip::write::SimpleFileOptions;

use crate::analysis::utterances::utterances;
use crate::export::cues::no_speech;
use crate::export::sequence::selection::source_video;
use crate::export::sequence::{Sequence, SequenceClip, SourceVideo};
use crate::export::xml::Element;
use crate::export::{Content, VideoLog, one_line};
use crate::kernel::error::{Error, Result};
use crate::media::speech::Utterance;

const NAMESPACE: &str = "urn:QDA-XML:project:1.0";

/// A video with its transcript and the selections in it.
struct Source<'s> {
    video: &'s SourceVideo,
    speech: Vec<&'s Utterance>,
    selections: Vec<&'s SequenceClip>,
}

/// The text of a transcript, and for each utterance its time in milliseconds and its position in the
/// text, in characters.
struct Transcript {
    text: String,
    points: Vec<(u64, usize)>,
}

/// Writes a video with its transcript, or the exported part of it.
pub(in crate::export) fn write_video(log: &VideoLog) -> Result<Content> {
    let (video, spoken) = (source_video(log), utterances(&log.video));
    let is_exported = |spoken: &&Utterance| log.part.within(spoken.span()).is_some();
    let speech: Vec<&Utterance> = spoken.iter().filter(is_exported).collect();
    if speech.is_empty() {
        return Err(no_speech(log, "qdpx"));
    }
    archive(log.stem(), &[Source { video: &video, speech, selections: Vec::new() }])
}

/// Writes the clips as selections of their videos, coded with their tags. The transcripts contain
/// what is said in the clips.
pub(in crate::export) fn write(sequence: &Sequence) -> Result<Content> {
    let sources: Vec<Source<'_>> =
        sequence.sources().into_iter().map(|video| coded_source(sequence, video)).collect();
    archive(&sequence.name, &sources)
}

/// Returns a video with the clips that are taken from it, and what is said in them.
fn coded_source<'s>(sequence: &'s Sequence, video: &'s SourceVideo) -> Source<'s> {
    let is_of_video = |clip: &&SequenceClip| clip.source.video_id == video.video_id;
    let selections: Vec<&SequenceClip> = sequence.clips.iter().filter(is_of_video).collect();
    let mut speech: Vec<&Utterance> = selections.iter().flat_map(|clip| &clip.speech).collect();
    speech.sort_by(|a, b| a.span().start.total_cmp(&b.span().start));
    speech.dedup();
    Source { video, speech, selections }
}

fn archive(name: &str, sources: &[Source<'_>]) -> Result<Content> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    let mut add = |path: &str, content: &str| {
        archive.start_file(path, SimpleFileOptions::DEFAULT).map_err(failed)?;
        archive.write_all(content.as_bytes()).map_err(|error| failed(error.into()))
    };
    add("project.qde", &project(name, sources).to_compact_document()?)?;
    for source in sources.iter().filter(|source| !source.speech.is_empty()) {
        let path = format!("sources/{}.txt", transcript_id(source.video));
        add(&path, &transcript(&source.speech).text)?;
    }
    Ok(Content::Bytes(archive.finish().map_err(failed)?.into_inner()))
}

fn failed(error: ZipError) -> Error {
    Error::corrupt(format!("cannot write the project: {error}"))
}

fn project(name: &str, sources: &[Source<'_>]) -> Element {
    let user = guid("user", "shotlog");
    let users = Element::new("User").with("guid", &user).with("name", "Shotlog");
    let tags: BTreeSet<&String> =
        sources.iter().flat_map(|source| &source.selections).flat_map(|clip| &clip.tags).collect();
    let code = |tag: &&String| {
        let code = Element::new("Code").with("guid", guid("code", tag));
        code.with("name", one_line(tag)).with("isCodable", true)
    };
    let codes = Element::new("Codes").children(tags.iter().map(code));
    // The schema allows no empty code book.
    let code_book = (!tags.is_empty()).then(|| Element::new("CodeBook").child(codes));
    Element::new("Project")
        .with("xmlns", NAMESPACE)
        .with("name", one_line(name))
        .with("origin", "Shotlog")
        .with("creatingUserGUID", user)
        .child(Element::new("Users").child(users))
        .children(code_book)
        .child(Element::new("Sources").children(sources.iter().map(source_element)))
}

fn source_element(source: &Source<'_>) -> Element {
    let video = source.video;
    let id = video.video_id.to_string();
    let (name, selection_name) = match video.has_picture {
        true => ("VideoSource", "VideoSelection"),
        false => ("AudioSource", "AudioSelection"),
    };
    let selections = source.selections.iter().enumerate();
    let selections = selections.map(|(number, clip)| {
        selection(selection_name, &format!("{id} {number} {}", clip.frames.start), clip)
    });
    let transcript = (!source.speech.is_empty()).then(|| transcript_element(source));
    Element::new(name)
        .with("guid", guid("source", &id))
        .with("name", one_line(&video.filename))
        .with("path", format!("relative:///{}", video.filename))
        .children(transcript)
        .children(selections)
}

fn transcript_element(source: &Source<'_>) -> Element {
    let id = transcript_id(source.video);
    let points = transcript(&source.speech).points.into_iter().enumerate();
    let points = points.map(|(number, (time, position))| {
        let point =
            Element::new("SyncPoint").with("guid", guid("point", &format!("{id} {number}")));
        point.with("timeStamp", time).with("position", position)
    });
    Element::new("Transcript")
        .with("guid", &id)
        .with("name", one_line(&source.video.filename))
        .with("plainTextPath", format!("internal://{id}.txt"))
        .children(points)
}

fn transcript_id(video: &SourceVideo) -> String {
    guid("text", video.video_id.as_str())
}

fn selection(name: &'static str, id: &str, clip: &SequenceClip) -> Element {
    let span = clip.span();
    let note = one_line(&clip.note);
    let coding = |tag: &String| {
        let code = Element::new("CodeRef").with("targetGUID", guid("code", tag));
        Element::new("Coding").with("guid", guid("coding", &format!("{id} {tag}"))).child(code)
    };
    Element::new(name)
        .with("guid", guid("selection", id))
        .with("name", one_line(&clip.name))
        .with("begin", milliseconds(span.start))
        .with("end", milliseconds(span.end))
        .children((!note.is_empty()).then(|| Element::new("Description").text(note)))
        .children(clip.tags.iter().map(coding))
}

/// Writes an utterance per line, after the name of its speaker if that is known.
fn transcript(speech: &[&Utterance]) -> Transcript {
    let (mut text, mut points, mut position) = (String::new(), Vec::new(), 0);
    for spoken in speech {
        points.push((milliseconds(spoken.span().start), position));
        let speaker = spoken.speaker.as_deref().map(|speaker| format!("{}: ", one_line(speaker)));
        let line = format!("{}{}\n", speaker.unwrap_or_default(), one_line(&spoken.text));
        position += line.chars().count();
        text.push_str(&line);
    }
    points.extend(speech.last().map(|last| (milliseconds(last.span().end), position)));
    Transcript { text, points }
}

fn milliseconds(seconds: f64) -> u64 {
    (seconds * 1000.0).round().max(0.0) as u64
}

/// Makes a UUID from what it identifies, so that a second export has the same ones.
fn guid(kind: &str, id: &str) -> String {
    Uuid::new_v5(&Uuid::NAMESPACE_OID, format!("shotlog {kind} {id}").as_bytes()).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::sequence::testing::said;

    #[test]
    fn transcripts_are_counted_in_characters() {
        let speech = [said(Some("Zo\u{eb}"), 1.0, "\u{1f642} Hi.\nWho?"), said(None, 4.5, "Me")];
        let transcript = transcript(&speech.iter().collect::<Vec<_>>());
        assert_eq!(transcript.text, "Zo\u{eb}: \u{1f642} Hi. Who?\nMe\n");
        assert_eq!(transcript.points, [(1000, 0), (4500, 16), (5500, 19)]);
    }

    #[test]
    fn ids_are_uuids_and_stable() {
        let id = guid("code", "boats");
        assert_eq!((id.len(), &id[14..15]), (36, "5"));
        assert_eq!(id, guid("code", "boats"));
        assert_ne!(id, guid("source", "boats"));
    }
}
