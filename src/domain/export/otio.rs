//! An OpenTimelineIO timeline with one clip per chunk, and chapters as markers.

use ports::ChunkId;
use serde_json::{Value, json};

use crate::export::chapter_marks::{ChapterMark, stored_chapters};
use crate::export::{Content, VideoLog};
use crate::kernel::error::{Error, Result};
use crate::kernel::time::Span;

pub(super) fn write(log: &VideoLog) -> Result<Content> {
    let timeline = json!({
        "OTIO_SCHEMA": "Timeline.1",
        "name": log.stem(),
        "global_start_time": null,
        "metadata": {},
        "tracks": {
            "OTIO_SCHEMA": "Stack.1",
            "name": "tracks",
            "source_range": null,
            "metadata": {},
            "effects": [],
            "markers": [],
            "children": [{
                "OTIO_SCHEMA": "Track.1",
                "name": "chunks",
                "kind": "Video",
                "source_range": null,
                "metadata": {},
                "effects": [],
                "markers": markers(log),
                "children": clips(log),
            }],
        },
    });
    serde_json::to_string_pretty(&timeline)
        .map(Content::Text)
        .map_err(|e| Error::corrupt(format!("cannot write the timeline: {e}")))
}

/// Makes a clip for every chunk.
fn clips(log: &VideoLog) -> Vec<Value> {
    let (rate, first) = (log.frame_rate(), log.timecode().start);
    let end = log.video.spans.last().map_or(0.0, |span| span.end);
    let media = json!({
        "OTIO_SCHEMA": "ExternalReference.1",
        "name": log.record.filename,
        "target_url": log.video_url,
        "available_range": range(Span { start: 0.0, end: log.video.duration.max(end) }, rate, first),
        "metadata": {},
    });
    let clip = |(chunk, span): (ChunkId, Span)| {
        json!({
            "OTIO_SCHEMA": "Clip.1",
            "name": format!("{} {chunk}", log.stem()),
            "source_range": range(span, rate, first),
            "media_reference": media,
            "metadata": {"shotlog": {
                "video_id": log.record.video_id,
                "chunk_id": chunk,
                "description": log.headline(chunk),
            }},
            "effects": [],
            "markers": [],
        })
    };
    log.chunks().map(clip).collect()
}

/// Makes a marker for every chapter.
fn markers(log: &VideoLog) -> Vec<Value> {
    let marker = |chapter: &ChapterMark| {
        // Markers are relative to the track, which begins at the part's start.
        let [start, end] = [chapter.span.start, chapter.span.end].map(|t| t - log.part.start());
        json!({
            "OTIO_SCHEMA": "Marker.2",
            "name": chapter.title,
            "color": "GREEN",
            "marked_range": range(Span { start, end }, log.frame_rate(), 0),
            "metadata": {},
        })
    };
    stored_chapters(log).unwrap_or_default().iter().map(marker).collect()
}

/// Builds a time range in whole frames, counted from `first`, so that adjacent clips touch.
fn range(span: Span, rate: f64, first: u64) -> Value {
    let frame = |seconds: f64| (seconds * rate).round();
    let time = |value: f64| json!({"OTIO_SCHEMA": "RationalTime.1", "rate": rate, "value": value});
    json!({
        "OTIO_SCHEMA": "TimeRange.1",
        "start_time": time(first as f64 + frame(span.start)),
        "duration": time(frame(span.end) - frame(span.start)),
    })
}
