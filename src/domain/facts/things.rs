//! The things that are visible, each with its times: detected objects, and what the frames probably
//! show.

use std::collections::BTreeMap;

use crate::analysis::analyzers::default_video::{self, ChunkDescription};
use crate::analysis::analyzers::object_detection::{self, ChunkObjects, LabelDetection};
use crate::analysis::output::{output_of, record_of};
use crate::analysis::video::{AnalyzedVideo, Output};
use crate::kernel::time::Span;

/// Maximum gap in a track over which the object counts as visible, in seconds. It is the gap over
/// which the tracker joins boxes by their positions.
pub(crate) const MAX_GAP: f64 = 2.0;

/// A kind of thing that is visible for a while.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Sighting {
    /// The label, such as `dog`.
    pub(crate) label: String,
    /// From the first to the last time at which it is visible.
    pub(crate) span: Span,
    /// The spans in which it is visible, in order; those of tracks, or the whole span.
    pub(crate) visible: Vec<Span>,
    /// The probability that the label is right, 0..1.
    pub(crate) probability: f64,
    /// Whether both picture models agree on the label or one is sure. If not, the label is a tag.
    pub(crate) is_stated: bool,
    /// The number of such things in each frame that shows any, by time in milliseconds.
    pub(crate) at_once: BTreeMap<u64, u32>,
}

/// What is visible in all chunks, in order of appearance: detected objects, and what the frames
/// probably show.
pub(crate) fn sightings(video: &AnalyzedVideo) -> Vec<Sighting> {
    let mut found = Vec::new();
    for (at, span) in video.spans.iter().enumerate() {
        let output = |id: &str| video.outputs.get(id)?.get(at)?.as_deref();
        let objects = output(object_detection::ID).and_then(record_of::<ChunkObjects>);
        let described = output(default_video::ID).and_then(output_of::<ChunkDescription>);
        let frames = objects.and_then(|objects| objects.frames.as_deref()).unwrap_or_default();
        let objects = objects.map(|objects| &objects.output);
        let in_chunk: Vec<Sighting> =
            objects.into_iter().flat_map(|objects| detected(objects, frames)).collect();
        let is_new = |s: &Sighting| in_chunk.iter().all(|known| known.label != s.label);
        let new = described.into_iter().flat_map(|described| described_things(described, *span));
        let new: Vec<Sighting> = new.filter(is_new).collect();
        found.extend(in_chunk.into_iter().chain(new));
    }
    found.sort_by(|a, b| a.span.start.total_cmp(&b.span.start));
    found
}

/// The times of the frames in which objects were looked for, in seconds and in order. The frames of a
/// chunk without findings are not stored; its middle stands for them.
pub(crate) fn frame_times(video: &AnalyzedVideo) -> Vec<f64> {
    let outputs = video.outputs.get(object_detection::ID).into_iter().flatten();
    let frames = |(chunk, output): (&Span, &Option<Output>)| match output {
        Some(output) => record_of::<ChunkObjects>(output.as_ref())
            .and_then(|stored| stored.frames.clone())
            .unwrap_or_default(),
        None => vec![(chunk.start + chunk.end) / 2.0],
    };
    let mut times: Vec<f64> = video.spans.iter().zip(outputs).flat_map(frames).collect();
    times.sort_by(f64::total_cmp);
    times.dedup();
    times
}

/// The tags of the picture. The time of a tag that frames probably show is that of these frames; the
/// time of every other tag is that of its chunk.
pub(crate) fn tags(video: &AnalyzedVideo) -> Vec<Sighting> {
    let mut found = Vec::new();
    for (_, chunk, described) in video.typed_outputs::<ChunkDescription>(default_video::ID) {
        for label in &described.tags {
            let seen = described.seen.iter().find(|seen| seen.label == *label);
            let probability = described.certainty.for_label(label);
            found.push(match seen {
                Some(seen) => {
                    probable_sighting(label, times_span(&seen.times, chunk), seen.probability)
                }
                None => probable_sighting(label, chunk, probability.unwrap_or(1.0)),
            });
        }
    }
    found.sort_by(|a, b| a.span.start.total_cmp(&b.span.start));
    found
}

/// The objects that were detected in a chunk. `frames` are the times of the analyzed frames.
fn detected<'a>(
    objects: &'a ChunkObjects,
    frames: &'a [f64],
) -> impl Iterator<Item = Sighting> + 'a {
    objects.detections.iter().map(move |detection| {
        let mut at_once: BTreeMap<u64, u32> = BTreeMap::new();
        for location in &detection.locations {
            *at_once.entry((location.t * 1000.0).round() as u64).or_default() += 1;
        }
        let certainty = objects.certainty.for_label(&detection.label);
        let span = Span { start: detection.first_seen, end: detection.last_seen };
        Sighting {
            label: detection.label.clone(),
            span,
            visible: visible_spans(detection, frames, span),
            probability: certainty.unwrap_or(detection.confidence),
            is_stated: true,
            at_once,
        }
    })
}

/// The spans in which the tracks of a label are visible. A track that is out of sight for longer
/// than [`MAX_GAP`] has several, unless no frame in between was analyzed. `whole` is the span of a
/// label without tracks.
fn visible_spans(detection: &LabelDetection, frames: &[f64], whole: Span) -> Vec<Span> {
    let was_checked = |from: f64, to: f64| {
        frames.is_empty() || frames.iter().any(|frame| from < *frame && *frame < to)
    };
    let mut spans: Vec<Span> = Vec::new();
    for track in &detection.tracks {
        let times = track.points.iter().filter_map(|at| detection.locations.get(*at));
        let mut open: Option<Span> = None;
        for time in times.map(|location| location.t) {
            match &mut open {
                Some(span) if time - span.end <= MAX_GAP || !was_checked(span.end, time) => {
                    span.end = time;
                }
                _ => spans.extend(open.replace(Span { start: time, end: time })),
            }
        }
        spans.extend(open);
    }
    if spans.is_empty() {
        return vec![whole];
    }
    spans.sort_by(|a, b| a.start.total_cmp(&b.start));
    spans
}

/// The objects and tags of a description. Their times are those of the frames, or of the chunk.
fn described_things(
    described: &ChunkDescription,
    chunk: Span,
) -> impl Iterator<Item = Sighting> + '_ {
    let stated = described.objects.iter().map(move |label| Sighting {
        is_stated: true,
        ..probable_sighting(label, chunk, described.certainty.for_label(label).unwrap_or(1.0))
    });
    let probable = described.seen.iter().filter(|seen| !described.objects.contains(&seen.label));
    let probable = probable.map(move |seen| {
        probable_sighting(&seen.label, times_span(&seen.times, chunk), seen.probability)
    });
    stated.chain(probable)
}

fn probable_sighting(label: &str, span: Span, probability: f64) -> Sighting {
    Sighting {
        label: label.to_owned(),
        span,
        visible: vec![span],
        probability,
        is_stated: false,
        at_once: BTreeMap::new(),
    }
}

/// From the first to the last of these times, or the whole chunk.
fn times_span(times: &[f64], chunk: Span) -> Span {
    let first = times.iter().copied().reduce(f64::min).unwrap_or(chunk.start);
    let last = times.iter().copied().reduce(f64::max).unwrap_or(chunk.end);
    Span { start: first, end: last }
}
