//! `stats`: counts over time, the busiest and quietest moments, and speech totals.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use text::plural::with_count;

use crate::aggregation::result::{Aggregate, AggregateRecord, AggregatorOutput, read};
use crate::aggregation::{Aggregator, AggregatorInput, AggregatorSpec};
use crate::analysis::analyzers::default_video::{self, ChunkDescription};
use crate::analysis::analyzers::diarization::{self, ChunkDiarization};
use crate::analysis::analyzers::object_detection;
use crate::analysis::analyzers::people::{self, ChunkPeople};
use crate::analysis::analyzers::transcript::{self, ChunkTranscript};
use crate::analysis::presentation::{Chart, ChartForm, OutputKind, Presentation, Tab};
use crate::analysis::video::AnalyzedVideo;
use crate::kernel::error::Result;
use crate::kernel::schema::json_schema;
use crate::kernel::time::{Span, rounded};
use crate::kernel::video::ChunkId;

/// The id in requests and stored records.
pub(crate) const ID: &str = "stats";

/// The `stats` aggregator.
pub(crate) struct StatsAggregator;

/// The counts for a video.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct Counts {
    /// Length of the video, in seconds.
    pub(crate) duration: f64,
    pub(crate) chunks: usize,
    /// The analyzers that have output.
    pub(crate) analyzers: Vec<String>,
    pub(crate) people: PeopleOverTime,
    pub(crate) objects: ObjectKinds,
    pub(crate) speech: SpeechTotals,
}

/// The number of people per chunk.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct PeopleOverTime {
    pub(crate) series: Vec<PeopleCount>,
    pub(crate) min: u64,
    pub(crate) max: u64,
    pub(crate) mean: f64,
    pub(crate) total_observations: u64,
    pub(crate) busiest: Option<CountMoment>,
    pub(crate) quietest: Option<CountMoment>,
}

/// The number of people in one chunk.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct PeopleCount {
    /// Start, in seconds from the start of the video.
    pub(crate) start: f64,
    /// End, in seconds from the start of the video.
    pub(crate) end: f64,
    pub(crate) people_count: u64,
}

/// A chunk with the maximum or minimum number of people.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct CountMoment {
    /// Start, in seconds from the start of the video.
    pub(crate) start: f64,
    /// End, in seconds from the start of the video.
    pub(crate) end: f64,
    pub(crate) count: u64,
}

/// The labels of detected objects.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct ObjectKinds {
    pub(crate) distinct: usize,
    /// Each label with the number of chunks that contain it, in descending order.
    pub(crate) most_common: Vec<(String, u32)>,
}

/// The amount of speech.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct SpeechTotals {
    pub(crate) words: usize,
    pub(crate) seconds: f64,
}

#[async_trait]
impl Aggregator for StatsAggregator {
    fn spec(&self) -> &'static AggregatorSpec {
        &AggregatorSpec {
            id: ID,
            depends_on: &[],
            uses_llm: false,
            answers: "how many people or objects there are, how long the video is, when it is \
                      busiest or quietest, counts and totals",
            label: "Statistics",
            presentation: const {
                let people =
                    Chart::new(ChartForm::Steps, "People", "/people/series", "people_count");
                let objects = Chart {
                    label: Some("0"),
                    ..Chart::new(ChartForm::Bars, "Objects", "/objects/most_common", "1")
                };
                Presentation {
                    icon: "chart",
                    kind: OutputKind::Charts,
                    rank: 72,
                    tab: Some(Tab::STATISTICS),
                    charts: &[people, objects],
                    ..Presentation::ROWS
                }
            },
        }
    }

    async fn aggregate(&self, input: &AggregatorInput<'_>) -> Result<Aggregate> {
        let video = input.video;
        let mut most_common: Vec<(String, u32)> = chunks_per_object(video).into_iter().collect();
        most_common.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        Ok(Arc::new(AggregateRecord::new(Counts {
            duration: rounded(video.duration),
            chunks: video.spans.len(),
            analyzers: with_output(video),
            people: people_over_time(video),
            objects: ObjectKinds { distinct: most_common.len(), most_common },
            speech: speech(video),
        })))
    }

    fn schema(&self) -> Value {
        json_schema::<Counts>()
    }

    fn read(&self, stored: Value) -> Result<Aggregate> {
        read::<Counts>(stored)
    }
}

impl AggregatorOutput for Counts {
    fn evidence(&self, whole: Span) -> Vec<(Span, String)> {
        let mut text = format!(
            "The video lasts {:?} seconds and has {}.",
            self.duration,
            with_count("chunk", self.chunks as u64)
        );
        let common = self.objects.most_common.iter().take(8).map(|(object, chunks)| {
            format!("{object} ({})", with_count("chunk", u64::from(*chunks)))
        });
        let common: Vec<String> = common.collect();
        if !common.is_empty() {
            text.push_str(&format!(
                " {} kinds of objects are seen. Most often in view: {}.",
                self.objects.distinct,
                common.join(", ")
            ));
        }
        let mut evidence = vec![(whole, text)];
        // The number of people is unknown if no analyzer counted them.
        let counted = !self.people.series.is_empty();
        let people = |count: u64| with_count("person", count);
        let statement = |moment: &CountMoment, bound: &str, when: &str| {
            let span = Span { start: moment.start, end: moment.end };
            (span, format!("{bound} {} can be seen {when}.", people(moment.count)))
        };
        match (&self.people.busiest, &self.people.quietest) {
            (Some(busiest), _) if counted && busiest.count == 0 => {
                evidence.push((whole, format!("{} can be seen at any time.", people(0))));
            }
            (Some(busiest), quietest) if counted => {
                evidence.push(statement(busiest, "At most", "at once"));
                let nonzero = quietest.as_ref().filter(|moment| moment.count > 0);
                evidence.extend(nonzero.map(|moment| statement(moment, "At least", "at any time")));
            }
            _ => {}
        }
        evidence
    }
}

/// Returns the number of people in each chunk, as counted by the people analyzer. If that analyzer
/// has not run, uses the counts of the descriptions, or the number of people listed in descriptions
/// that a model wrote, and omits chunks without a description.
fn people_counts(video: &AnalyzedVideo) -> Vec<(Span, u64)> {
    if video.outputs.contains_key(people::ID) {
        let counted: BTreeMap<ChunkId, u64> = video
            .typed_outputs::<ChunkPeople>(people::ID)
            .map(|(chunk, _, people)| (chunk, people.people_count.into()))
            .collect();
        let count = |chunk| counted.get(&chunk).copied().unwrap_or_default();
        return video.chunks().map(|(chunk, span)| (span, count(chunk))).collect();
    }
    let described = video.typed_outputs::<ChunkDescription>(default_video::ID);
    let count = |description: &ChunkDescription| {
        let counted = description.counts.get("person").copied();
        counted.unwrap_or(description.people.len()) as u64
    };
    described.map(|(_, span, description)| (span, count(description))).collect()
}

/// Counts the people in each chunk, and finds the busiest and the quietest one.
pub(crate) fn people_over_time(video: &AnalyzedVideo) -> PeopleOverTime {
    let counts = people_counts(video);
    let total: u64 = counts.iter().map(|(_, count)| count).sum();
    // If several counts are equal, the first one is chosen.
    let busiest = counts.iter().rev().max_by_key(|(_, count)| *count);
    let quietest = counts.iter().min_by_key(|(_, count)| *count);
    let uncounted = (video.spans.first().copied().unwrap_or(Span { start: 0.0, end: 0.0 }), 0);
    let moment = |&(span, count): &(Span, u64)| CountMoment {
        start: rounded(span.start),
        end: rounded(span.end),
        count,
    };
    let in_chunk = |&(span, people_count): &(Span, u64)| PeopleCount {
        start: rounded(span.start),
        end: rounded(span.end),
        people_count,
    };
    PeopleOverTime {
        series: counts.iter().map(in_chunk).collect(),
        min: quietest.map_or(0, |(_, count)| *count),
        max: busiest.map_or(0, |(_, count)| *count),
        mean: if counts.is_empty() { 0.0 } else { rounded(total as f64 / counts.len() as f64) },
        total_observations: total,
        busiest: Some(moment(busiest.unwrap_or(&uncounted))),
        quietest: Some(moment(quietest.unwrap_or(&uncounted))),
    }
}

/// Counts the chunks that each object occurs in.
fn chunks_per_object(video: &AnalyzedVideo) -> BTreeMap<String, u32> {
    let mut counts = BTreeMap::new();
    for chunk in video.chunk_ids() {
        for name in objects_in(video, chunk) {
            *counts.entry(name).or_default() += 1;
        }
    }
    counts
}

/// Returns the lower-case names of the objects in a chunk.
pub(crate) fn objects_in(video: &AnalyzedVideo, chunk: ChunkId) -> BTreeSet<String> {
    let analyzers = [object_detection::ID, default_video::ID];
    let outputs = analyzers.iter().filter_map(|id| video.output(id, chunk));
    outputs
        .flat_map(|output| output.index_entry().facets.objects)
        .map(|o| o.to_lowercase())
        .collect()
}

/// Returns the analyzers that have output for at least one chunk.
fn with_output(video: &AnalyzedVideo) -> Vec<String> {
    let present = video.outputs.iter().filter(|(_, outputs)| outputs.iter().any(Option::is_some));
    present.map(|(id, _)| id.clone()).collect()
}

/// Counts the words and seconds of speech in the speaker turns. If there are none, counts them in
/// the transcript, which contains the same words.
fn speech(video: &AnalyzedVideo) -> SpeechTotals {
    let mut turns = video
        .typed_outputs::<ChunkDiarization>(diarization::ID)
        .flat_map(|(_, _, diarization)| &diarization.turns)
        .peekable();
    if turns.peek().is_some() {
        return total(turns.map(|turn| (&*turn.text, turn.end - turn.start)));
    }
    let segments = video
        .typed_outputs::<ChunkTranscript>(transcript::ID)
        .flat_map(|(_, _, transcript)| &transcript.segments);
    total(segments.map(|segment| (&*segment.text, segment.end - segment.start)))
}

fn total<'a>(pieces: impl Iterator<Item = (&'a str, f64)>) -> SpeechTotals {
    let (mut words, mut seconds) = (0, 0.0);
    for (text, length) in pieces {
        words += text.split_whitespace().count();
        seconds += length;
    }
    SpeechTotals { words, seconds: rounded(seconds) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::aggregation::testing::{aggregate, diarized, output, video};

    #[tokio::test]
    async fn stats_counts_people_objects_and_speech() {
        let crowd = |count: u64| output(json!({"people": [], "people_count": count}));
        let objects = |names: &[&str]| output(json!({"objects": names}));
        let video = video(10.0, 4)
            .with(people::ID, vec![crowd(2), crowd(5), None, crowd(5)])
            .with(
                object_detection::ID,
                vec![objects(&["Dog", "car"]), objects(&["car"]), None, None],
            )
            .with(default_video::ID, vec![objects(&["dog"]), None, objects(&["kite"]), None])
            .with(
                diarization::ID,
                vec![
                    diarized(&[("S1", 1.0, 3.0, "two words"), ("S2", 4.0, 4.5, "one")]),
                    None,
                    None,
                    None,
                ],
            );
        let found = aggregate(&StatsAggregator, &video).await;
        assert_eq!((found["duration"].as_f64(), found["chunks"].as_u64()), (Some(40.0), Some(4)));
        let people = &found["people"];
        let summary = ["min", "max", "total_observations"].map(|key| people[key].as_u64());
        assert_eq!(summary, [Some(0), Some(5), Some(12)]);
        assert_eq!(people["mean"], 3.0);
        // If several counts are equal, the first one is chosen.
        assert_eq!(people["busiest"], json!({"start": 10.0, "end": 20.0, "count": 5}));
        assert_eq!(people["quietest"], json!({"start": 20.0, "end": 30.0, "count": 0}));
        assert_eq!(people["series"].as_array().map(Vec::len), Some(4));
        // An object that two analyzers find in one chunk counts once.
        assert_eq!(
            found["objects"],
            json!({"distinct": 3, "most_common": [["car", 2], ["dog", 1], ["kite", 1]]})
        );
        assert_eq!(found["speech"], json!({"words": 3, "seconds": 2.5}));
    }

    #[tokio::test]
    async fn speech_is_counted_in_the_turns_where_diarization_ran() {
        let turns = vec![diarized(&[("S1", 1.0, 3.0, "two words")]), None];
        let segments = json!({"segments": [{"start": 1.0, "end": 4.0, "text": "three more words", "confidence": 0.9}]});
        let transcribed = video(10.0, 2).with(transcript::ID, vec![output(segments.clone()), None]);
        let found = aggregate(&StatsAggregator, &transcribed).await;
        assert_eq!(found["speech"], json!({"words": 3, "seconds": 3.0}));
        let diarized = video(10.0, 2)
            .with(diarization::ID, turns)
            .with(transcript::ID, vec![output(segments), None])
            .with(people::ID, vec![None, None]);
        let found = aggregate(&StatsAggregator, &diarized).await;
        assert_eq!(found["speech"], json!({"words": 2, "seconds": 2.0}));
        assert_eq!(found["analyzers"], json!([diarization::ID, transcript::ID]));
    }

    #[tokio::test]
    async fn a_video_without_outputs_has_zero_counts() {
        let found = aggregate(&StatsAggregator, &video(10.0, 2)).await;
        let none = json!({"start": 0.0, "end": 10.0, "count": 0});
        assert_eq!((&found["people"]["busiest"], &found["people"]["quietest"]), (&none, &none));
        assert_eq!(found["people"]["series"], json!([]));
        let counts: Counts = serde_json::from_value(found).expect("counts");
        let evidence = counts.evidence(Span { start: 0.0, end: 20.0 });
        assert_eq!(evidence.len(), 1, "no statement about people: {evidence:?}");
        let found = aggregate(&StatsAggregator, &video(10.0, 0)).await;
        let none = json!({"start": 0.0, "end": 0.0, "count": 0});
        assert_eq!(found["people"]["busiest"], none, "without chunks too");
        assert_eq!(found["objects"], json!({"distinct": 0, "most_common": []}));
    }
}
