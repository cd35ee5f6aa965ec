//! The facts that are stored about a video, as the resolvers read them: speakers, words, text on
//! screen, people and things, each with times.

use std::collections::BTreeMap;

use text::letters_and_digits;

use super::question::{FactQuestion, Intent, Subject};
use crate::aggregation::aggregators::speaker_stats::{self, Conversation};
use crate::aggregation::aggregators::stats::{self, Counts};
use crate::aggregation::result::result_of;
use crate::analysis::analyzers::default_video::{self, ChunkDescription};
use crate::analysis::analyzers::object_detection::{self, ChunkObjects};
use crate::analysis::analyzers::ocr::{self, ScreenText};
use crate::analysis::analyzers::people;
use crate::analysis::correction::{CorrectionSet, TranscribedSpeech};
use crate::analysis::output::{OutputRecord, output_of, record_of};
use crate::analysis::video::Outputs;
use crate::kernel::error::{Error, Result};
use crate::kernel::time::Span;
use crate::kernel::video::VideoId;
use crate::media::screen_text::ScreenLine;
use crate::records::Records;
use crate::records::record::VideoRecord;

/// The kinds of stored facts that a question needs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Needs {
    pub(super) speakers: bool,
    pub(super) words: bool,
    pub(super) screen: bool,
    pub(super) things: bool,
    pub(super) counts: bool,
}

/// The stored facts about a video. A field is `None` if its analyzer or aggregator has not run or
/// the question does not need it.
#[derive(Debug)]
pub(super) struct VideoFacts {
    pub(super) video_id: VideoId,
    pub(super) filename: String,
    /// Length of the video, in seconds.
    pub(super) video_duration: f64,
    /// The part of the video that the facts are about.
    pub(super) span: Span,
    pub(super) conversation: Option<Conversation>,
    pub(super) counts: Option<Counts>,
    /// Whether the number of people is known for each chunk, so that none is a fact.
    pub(super) people_are_counted: bool,
    pub(super) speech: Option<TranscribedSpeech>,
    /// The lines on screen, in order of appearance.
    pub(super) lines: Option<Vec<TimedLine>>,
    pub(super) things: Option<Vec<Sighting>>,
}

/// A line on screen with the times that are known about it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct TimedLine {
    pub(super) text: String,
    /// The confidence of the reading, 0..1.
    pub(super) confidence: f64,
    /// From the first to the last frame in which the line was read.
    pub(super) span: Span,
    /// From the last frame before in which it was not read, to the first frame after.
    pub(super) possible: Span,
}

/// A kind of thing that is visible for a while.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Sighting {
    /// The label, such as `dog`.
    pub(super) label: String,
    pub(super) span: Span,
    /// The probability that the label is right, 0..1.
    pub(super) probability: f64,
    /// Whether both picture models agree on the label or one is sure. If not, the label is a tag.
    pub(super) is_stated: bool,
    /// The number of such things in each frame that shows any, by time in milliseconds.
    pub(super) at_once: BTreeMap<u64, u32>,
}

impl Needs {
    pub(super) fn for_question(question: &FactQuestion) -> Self {
        let mut needs = Self::default();
        for subject in std::iter::once(&question.subject).chain(&question.other) {
            needs.add(subject);
        }
        if question.intent == Intent::Describe {
            needs = Self { words: true, screen: true, things: true, counts: true, ..needs };
        }
        needs
    }

    fn add(&mut self, subject: &Subject) {
        match subject {
            Subject::Video => {}
            Subject::Speech | Subject::Mention(..) => (self.words, self.speakers) = (true, true),
            Subject::Words => self.counts = true,
            Subject::Speakers | Subject::Speaker(_) | Subject::Turns(_) | Subject::Handovers => {
                (self.words, self.speakers) = (true, true);
            }
            Subject::People => (self.counts, self.things) = (true, true),
            Subject::Anyone => (self.counts, self.speakers, self.words) = (true, true, true),
            Subject::Things(_) | Subject::AllThings => (self.things, self.counts) = (true, true),
            Subject::ScreenText => self.screen = true,
            Subject::Screen => {
                (self.screen, self.things, self.counts) = (true, true, true);
            }
            Subject::Shown(_) => (self.screen, self.things) = (true, true),
        }
    }

    /// Whether outputs or words have to be read. Their size grows with the length of the video.
    pub(super) fn outputs(self) -> bool {
        self.screen || self.things || self.words
    }
}

impl VideoFacts {
    /// Reads the facts that a question needs. Omits facts whose documents are corrupt.
    pub(super) async fn read(
        records: &Records,
        record: &VideoRecord,
        needs: Needs,
    ) -> Result<Self> {
        let has_picture = !record.content_type.starts_with("audio/");
        let mut facts = Self {
            video_id: record.video_id,
            filename: record.filename.clone(),
            video_duration: record.duration,
            span: Span { start: 0.0, end: record.duration },
            conversation: None,
            counts: None,
            people_are_counted: has_picture && record.analyzers.contains_key(people::ID),
            speech: None,
            lines: None,
            things: None,
        };
        if needs.speakers {
            let read = read_aggregate(records, record, speaker_stats::ID);
            facts.conversation = unless_corrupt(read.await)?.flatten();
        }
        if needs.counts {
            let read = read_aggregate(records, record, stats::ID);
            facts.counts = unless_corrupt(read.await)?.flatten();
        }
        if needs.words {
            facts.speech = unless_corrupt(read_speech(records, record).await)?.flatten();
        }
        if needs.screen && record.analyzers.contains_key(ocr::ID) {
            facts.lines = unless_corrupt(read_lines(records, record).await)?;
        }
        if needs.things {
            facts.things = unless_corrupt(read_things(records, record).await)?.flatten();
        }
        Ok(facts)
    }

    /// The speakers in the order in which they first speak; empty if that is unknown.
    pub(super) fn speakers(&self) -> Vec<&str> {
        let mut speakers: Vec<&str> = Vec::new();
        for turn in self.conversation.iter().flat_map(|conversation| &conversation.timeline) {
            if !speakers.contains(&turn.speaker.as_str()) {
                speakers.push(&turn.speaker);
            }
        }
        speakers
    }

    /// The spans in which a speaker speaks.
    pub(super) fn turns_of(&self, speaker: &str) -> Vec<Span> {
        let turns = self.conversation.iter().flat_map(|conversation| &conversation.timeline);
        let own = turns.filter(|turn| turn.speaker == speaker);
        own.map(|turn| Span { start: turn.start, end: turn.end }).collect()
    }

    /// Whether the facts are about the whole video.
    pub(super) fn is_whole(&self) -> bool {
        self.span == Span { start: 0.0, end: self.video_duration }
    }

    /// The facts about a part of the video.
    pub(super) fn within(mut self, span: Span) -> Self {
        let is_inside = |other: Span| other.overlap(&span) > 0.0 || other.is_at(&span);
        let clipped =
            |other: Span| Span { start: other.start.max(span.start), end: other.end.min(span.end) };
        if let Some(conversation) = &mut self.conversation {
            for turn in &mut conversation.timeline {
                let part = clipped(Span { start: turn.start, end: turn.end });
                (turn.start, turn.end) = (part.start, part.end);
            }
            conversation.timeline.retain(|turn| turn.end > turn.start);
        }
        if let Some(counts) = &mut self.counts {
            let series = &mut counts.people.series;
            series.retain(|people| is_inside(Span { start: people.start, end: people.end }));
        }
        if let Some(speech) = &mut self.speech {
            speech.utterances.retain(|said| is_inside(said.span()));
            let spans = speech.speech.spans.iter().map(|voice| clipped(*voice));
            speech.speech.spans = spans.filter(|voice| voice.end > voice.start).collect();
        }
        if let Some(lines) = &mut self.lines {
            lines.retain(|line| is_inside(line.likely()) || is_inside(line.span));
        }
        if let Some(things) = &mut self.things {
            things.retain(|sighting| is_inside(sighting.span));
            let (start, end) = ((span.start * 1000.0) as u64, (span.end * 1000.0) as u64);
            things.iter_mut().for_each(|sighting| {
                sighting.at_once.retain(|time, _| (start..=end).contains(time));
            });
        }
        Self { span, ..self }
    }
}

/// Returns `None` for corrupt data, as if it had not been stored.
fn unless_corrupt<T>(read: Result<T, Error>) -> Result<Option<T>> {
    match read {
        Err(error) if error.is_corrupt() => Ok(None),
        read => read.map(Some),
    }
}

async fn read_aggregate<T: Clone + 'static>(
    records: &Records,
    record: &VideoRecord,
    id: &str,
) -> Result<Option<T>> {
    if !record.aggregates.contains_key(id) {
        return Ok(None);
    }
    let result = records.aggregate_result(record, id).await?;
    Ok(result_of::<T>(result.as_ref()).cloned())
}

/// Reads the corrected speech.
async fn read_speech(records: &Records, record: &VideoRecord) -> Result<Option<TranscribedSpeech>> {
    let Some(document) = &record.speech_document else { return Ok(None) };
    let speech = records.speech(document).await?;
    let corrections = CorrectionSet::new(records.corrections(record).await?, Some(speech));
    Ok(corrections.into_speech().filter(|found| found.speech.words.is_some()))
}

impl TimedLine {
    /// The span in which the line is visible, on average, given when frames were read.
    pub(super) fn likely(&self) -> Span {
        let middle = |a: f64, b: f64| (a + b) / 2.0;
        Span {
            start: middle(self.possible.start, self.span.start),
            end: middle(self.span.end, self.possible.end),
        }
    }

    /// A line that was read in a chunk. `frames` are the times of the frames that are read even if
    /// the picture does not change; all other frames are read because it has changed.
    fn new(line: &ScreenLine, chunk: Span, frames: &[f64]) -> Self {
        let is_at = |frame: &f64, time: f64| (frame - time).abs() < 0.001;
        let is_sampled = |time: f64| frames.iter().any(|frame| is_at(frame, time));
        let (first, last) = (line.first_seen, line.last_seen);
        let before = frames.iter().copied().rfind(|frame| *frame < first - 0.001);
        let after = frames.iter().copied().find(|frame| *frame > last + 0.001);
        Self {
            text: line.text.clone(),
            confidence: line.confidence,
            span: Span { start: first, end: last },
            possible: Span {
                start: if is_sampled(first) { before.unwrap_or(chunk.start) } else { first },
                end: if is_sampled(last) { after.unwrap_or(chunk.end) } else { last },
            },
        }
    }
}

/// The lines on screen in all chunks. A line that continues in the next chunk is one line.
fn lines(chunks: &[Span], outputs: &Outputs) -> Vec<TimedLine> {
    /// Maximum gap between two sightings of the same line, in seconds.
    const MAX_GAP: f64 = 1.0;
    let mut found: Vec<TimedLine> = Vec::new();
    let mut open: BTreeMap<String, usize> = BTreeMap::new();
    for (chunk, output) in chunks.iter().zip(outputs) {
        let output = output.as_deref().and_then(|output| record_of::<ScreenText>(output));
        let Some(OutputRecord { output, frames, .. }) = output else { continue };
        let frames = frames.as_deref().unwrap_or_default();
        for line in output.texts.iter().map(|line| TimedLine::new(line, *chunk, frames)) {
            let key = letters_and_digits(&line.text);
            let known = open.get(&key).map(|at| &mut found[*at]);
            match known.filter(|known| line.possible.start - known.possible.end <= MAX_GAP) {
                Some(known) => {
                    known.span.end = known.span.end.max(line.span.end);
                    known.possible.end = known.possible.end.max(line.possible.end);
                    known.confidence = known.confidence.max(line.confidence);
                }
                None => {
                    open.insert(key, found.len());
                    found.push(line);
                }
            }
        }
    }
    found.sort_by(|a, b| a.span.start.total_cmp(&b.span.start));
    found
}

async fn read_lines(records: &Records, record: &VideoRecord) -> Result<Vec<TimedLine>> {
    let chunks = records.spans(record).await?;
    Ok(lines(&chunks, &records.outputs(record, ocr::ID).await?))
}

/// Reads what is visible: detected objects, and what the frames probably show.
async fn read_things(records: &Records, record: &VideoRecord) -> Result<Option<Vec<Sighting>>> {
    let ids = [object_detection::ID, default_video::ID];
    if !ids.iter().any(|id| record.analyzers.contains_key(*id)) {
        return Ok(None);
    }
    let spans = records.spans(record).await?;
    let objects = records.outputs(record, object_detection::ID).await?;
    let descriptions = records.outputs(record, default_video::ID).await?;
    let mut found = Vec::new();
    for (at, span) in spans.iter().enumerate() {
        let output = |outputs: &Outputs| outputs.get(at).cloned().flatten();
        let (objects, description) = (output(&objects), output(&descriptions));
        let objects = objects.as_deref().and_then(output_of::<ChunkObjects>);
        let described = description.as_deref().and_then(output_of::<ChunkDescription>);
        let in_chunk: Vec<Sighting> = objects.into_iter().flat_map(detected).collect();
        let is_new = |s: &Sighting| in_chunk.iter().all(|known| known.label != s.label);
        let new = described.into_iter().flat_map(|described| described_things(described, *span));
        let new: Vec<Sighting> = new.filter(is_new).collect();
        found.extend(in_chunk.into_iter().chain(new));
    }
    found.sort_by(|a, b| a.span.start.total_cmp(&b.span.start));
    Ok(Some(found))
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
        label: label.clone(),
        span: chunk,
        probability: described.certainty.for_label(label).unwrap_or(1.0),
        is_stated: true,
        at_once: BTreeMap::new(),
    });
    let probable = described.seen.iter().filter(|seen| !described.objects.contains(&seen.label));
    let probable = probable.map(move |seen| {
        let first = seen.times.iter().copied().reduce(f64::min).unwrap_or(chunk.start);
        let last = seen.times.iter().copied().reduce(f64::max).unwrap_or(chunk.end);
        Sighting {
            label: seen.label.clone(),
            span: Span { start: first, end: last },
            probability: seen.probability,
            is_stated: false,
            at_once: BTreeMap::new(),
        }
    });
    stated.chain(probable)
}
