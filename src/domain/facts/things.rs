//! The things that are visible, each with its times: detected objects, and what the frames probably
//! show.

use std::collections::BTreeMap;

use crate::analysis::analyzers::default_video::{self, ChunkDescription};
use crate::analysis::analyzers::object_detection::{self, ChunkObjects};
use crate::analysis::output::output_of;
use crate::analysis::video::AnalyzedVideo;
use crate::kernel::time::Span;

/// A kind of thing that is visible for a while.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Sighting {
    /// The label, such as `dog`.
    pub(crate) label: String,
    /// From the first to the last time at which it is visible.
    pub(crate) span: Span,
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
        let objects = output(object_detection::ID).and_then(output_of::<ChunkObjects>);
        let described = output(default_video::ID).and_then(output_of::<ChunkDescription>);
        let in_chunk: Vec<Sighting> = objects.into_iter().flat_map(detected).collect();
        let is_new = |s: &Sighting| in_chunk.iter().all(|known| known.label != s.label);
        let new = described.into_iter().flat_map(|described| described_things(described, *span));
        let new: Vec<Sighting> = new.filter(is_new).collect();
        found.extend(in_chunk.into_iter().chain(new));
    }
    found.sort_by(|a, b| a.span.start.total_cmp(&b.span.start));
    found
}

/// The objects that were detected in a chunk.
fn detected(objects: &ChunkObjects) -> impl Iterator<Item = Sighting> + '_ {
    objects.detections.iter().map(|detection| {
        let mut at_once: BTreeMap<u64, u32> = BTreeMap::new();
        for location in &detection.locations {
            *at_once.entry((location.t * 1000.0).round() as u64).or_default() += 1;
        }
        let certainty = objects.certainty.for_label(&detection.label);
        Sighting {
            label: detection.label.clone(),
            span: Span { start: detection.first_seen, end: detection.last_seen },
            probability: certainty.unwrap_or(detection.confidence),
            is_stated: true,
            at_once,
        }
    })
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
