//! The facts that are stored about a video, as typed values with times: speakers, words, text on
//! screen, people and things. Answers to questions about facts and searches for intervals read them
//! only here, so that both agree.

pub(crate) mod matching;
mod people;
mod screen;
mod speech;
mod things;

use std::collections::{BTreeMap, BTreeSet};

use crate::aggregation::aggregators::speaker_stats::{self, Conversation, SpokenTurn};
use crate::aggregation::aggregators::stats::{self, Counts, PeopleCount};
use crate::aggregation::result::result_of;
use crate::analysis::analyzers::{
    default_video, diarization, object_detection, ocr, people as crowd,
};
use crate::analysis::correction::{CorrectionSet, TranscribedSpeech};
use crate::analysis::video::AnalyzedVideo;
use crate::kernel::error::{Error, Result};
use crate::kernel::time::Span;
use crate::kernel::video::VideoId;
use crate::records::Records;
use crate::records::record::VideoRecord;

pub(crate) use people::people_series;
pub(crate) use screen::{TimedLine, lines};
pub(crate) use speech::{has_voice_activity, turns};
pub(crate) use things::{MAX_GAP, Sighting, frame_times, sightings, tags};

/// The kinds of stored facts to read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Needs {
    pub(crate) speakers: bool,
    pub(crate) words: bool,
    pub(crate) screen: bool,
    pub(crate) things: bool,
    pub(crate) tags: bool,
    /// The number of people in each part of the video.
    pub(crate) people: bool,
    /// The statistics of the whole video.
    pub(crate) counts: bool,
}

/// The stored facts about a video. A field is `None` if its analyzer or aggregator has not run or
/// the facts were not requested.
#[derive(Debug)]
pub(crate) struct VideoFacts {
    pub(crate) video_id: VideoId,
    pub(crate) filename: String,
    /// Length of the video, in seconds.
    pub(crate) video_duration: f64,
    /// The chunks of the video, in order; empty if no outputs were requested.
    pub(crate) chunks: Vec<Span>,
    /// The part of the video that the facts are about.
    pub(crate) span: Span,
    /// The turns of the speakers, in order.
    pub(crate) turns: Option<Vec<SpokenTurn>>,
    pub(crate) counts: Option<Counts>,
    /// Whether the number of people is known for each chunk, so that none is a fact.
    pub(crate) people_are_counted: bool,
    /// The number of people in each part of the video, in order.
    pub(crate) people: Option<Vec<PeopleCount>>,
    /// The corrected speech with its words.
    pub(crate) speech: Option<TranscribedSpeech>,
    /// The lines on screen, in order of appearance.
    pub(crate) lines: Option<Vec<TimedLine>>,
    pub(crate) things: Option<Vec<Sighting>>,
    /// The tags of the picture, with the probability and the time of each.
    pub(crate) tags: Option<Vec<Sighting>>,
    /// The times of the frames in which things were looked for, in seconds and in order.
    pub(crate) frames: Vec<f64>,
    /// The parts of the video that were analyzed.
    pub(crate) coverage: Coverage,
}

/// The parts of a video for which analyzers have stored results, in order. A part without findings
/// is covered, too.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Coverage {
    pub(crate) screen: Vec<Span>,
    pub(crate) things: Vec<Span>,
    pub(crate) tags: Vec<Span>,
}

impl Needs {
    /// Every kind of fact that has a time.
    pub(crate) const TIMED: Self = Self {
        speakers: true,
        words: true,
        screen: true,
        things: true,
        tags: true,
        people: true,
        counts: false,
    };

    /// Whether outputs or words have to be read. Their size grows with the length of the video.
    pub(crate) fn outputs(self) -> bool {
        self.words || !self.analyzers().is_empty()
    }

    /// The analyzers whose outputs have to be read.
    fn analyzers(self) -> BTreeSet<&'static str> {
        let by_need = [
            (self.speakers, diarization::ID),
            (self.screen, ocr::ID),
            (self.things, object_detection::ID),
            (self.things || self.tags, default_video::ID),
            (self.people, crowd::ID),
        ];
        by_need.into_iter().filter(|(needed, _)| *needed).map(|(_, id)| id).collect()
    }
}

impl VideoFacts {
    /// Reads the facts of a published video. Omits facts whose documents are corrupt.
    pub(crate) async fn read(
        records: &Records,
        record: &VideoRecord,
        needs: Needs,
    ) -> Result<Self> {
        let video = read_outputs(records, record, &needs.analyzers()).await?;
        let mut facts = Self::from_outputs(&video, needs, record.has_picture());
        facts.filename = record.filename.clone();
        facts.people_are_counted = record.has_picture() && record.analyzers.contains_key(crowd::ID);
        if needs.speakers && facts.turns.is_none() {
            let read = read_aggregate::<Conversation>(records, record, speaker_stats::ID).await;
            let stored = unless_corrupt(read)?.flatten();
            facts.turns = stored.map(|conversation| conversation.timeline);
        }
        if needs.counts {
            let read = read_aggregate(records, record, stats::ID).await;
            facts.counts = unless_corrupt(read)?.flatten();
        }
        if needs.words {
            facts.speech = unless_corrupt(read_speech(records, record).await)?.flatten();
        }
        Ok(facts)
    }

    /// Derives the facts that outputs of analyzers contain.
    pub(crate) fn from_outputs(video: &AnalyzedVideo, needs: Needs, has_picture: bool) -> Self {
        let has = |id: &str| video.outputs.contains_key(id);
        let has_things = has(object_detection::ID) || has(default_video::ID);
        let covered = |needed: bool, ids: &[&str]| match needed && has_picture {
            true => covered_spans(video, ids),
            false => Vec::new(),
        };
        Self {
            video_id: video.video_id,
            filename: String::new(),
            video_duration: video.duration,
            chunks: video.spans.clone(),
            span: Span { start: 0.0, end: video.duration },
            turns: (needs.speakers && has(diarization::ID)).then(|| turns(video)),
            counts: None,
            people_are_counted: false,
            people: (needs.people && has_picture).then(|| people_series(video)).flatten(),
            speech: None,
            lines: (needs.screen && has(ocr::ID)).then(|| lines(video)),
            things: (needs.things && has_things).then(|| sightings(video)),
            tags: (needs.tags && has(default_video::ID)).then(|| tags(video)),
            frames: if needs.things { frame_times(video) } else { Vec::new() },
            coverage: Coverage {
                screen: covered(needs.screen, &[ocr::ID]),
                things: covered(needs.things, &[object_detection::ID, default_video::ID]),
                tags: covered(needs.tags, &[default_video::ID]),
            },
        }
    }

    /// The speakers in the order in which they first speak; empty if that is unknown.
    pub(crate) fn speakers(&self) -> Vec<&str> {
        let mut speakers: Vec<&str> = Vec::new();
        for turn in self.turns.iter().flatten() {
            if !speakers.contains(&turn.speaker.as_str()) {
                speakers.push(&turn.speaker);
            }
        }
        speakers
    }

    /// The spans in which a speaker speaks.
    pub(crate) fn turns_of(&self, speaker: &str) -> Vec<Span> {
        let own = self.turns.iter().flatten().filter(|turn| turn.speaker == speaker);
        own.map(|turn| Span { start: turn.start, end: turn.end }).collect()
    }

    /// Whether the facts are about the whole video.
    pub(crate) fn is_whole(&self) -> bool {
        self.span == Span { start: 0.0, end: self.video_duration }
    }

    /// The facts about a part of the video.
    pub(crate) fn within(mut self, span: Span) -> Self {
        let is_inside = |other: Span| other.overlap(&span) > 0.0 || other.is_at(&span);
        let clipped =
            |other: Span| Span { start: other.start.max(span.start), end: other.end.min(span.end) };
        if let Some(turns) = &mut self.turns {
            for turn in turns.iter_mut() {
                let part = clipped(Span { start: turn.start, end: turn.end });
                (turn.start, turn.end) = (part.start, part.end);
            }
            turns.retain(|turn| turn.end > turn.start);
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

/// Reads the chunks of a video and the outputs of these analyzers, without those that are corrupt
/// or have not run.
async fn read_outputs(
    records: &Records,
    record: &VideoRecord,
    analyzers: &BTreeSet<&'static str>,
) -> Result<AnalyzedVideo> {
    let mut video = AnalyzedVideo {
        video_id: record.video_id,
        duration: record.duration,
        spans: Vec::new(),
        outputs: BTreeMap::new(),
        doubtful: BTreeSet::new(),
    };
    if analyzers.is_empty() {
        return Ok(video);
    }
    let Some(spans) = unless_corrupt(records.spans(record).await)? else { return Ok(video) };
    video.spans = spans;
    for id in analyzers.iter().copied().filter(|id| record.analyzers.contains_key(*id)) {
        if let Some(outputs) = unless_corrupt(records.outputs(record, id).await)? {
            video.outputs.insert(id.to_owned(), outputs);
        }
    }
    Ok(video)
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

/// Reads the corrected speech, if its words were recognised.
pub(crate) async fn read_speech(
    records: &Records,
    record: &VideoRecord,
) -> Result<Option<TranscribedSpeech>> {
    let Some(document) = &record.speech_document else { return Ok(None) };
    let speech = records.speech(document).await?;
    let corrections = CorrectionSet::new(records.corrections(record).await?, Some(speech));
    Ok(corrections.into_speech().filter(|found| found.speech.words.is_some()))
}

/// The chunks for which any of these analyzers has stored whether it found something.
fn covered_spans(video: &AnalyzedVideo, analyzers: &[&str]) -> Vec<Span> {
    let stored = analyzers.iter().filter_map(|id| video.outputs.get(*id)).map(Vec::len).max();
    video.spans.iter().take(stored.unwrap_or_default()).copied().collect()
}
