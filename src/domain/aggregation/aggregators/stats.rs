//! `stats`: counts over time, busiest and quietest moment, speech totals.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use text::plural::many;

use crate::domain::aggregation::result::{Aggregate, Conclusion, Stored, read};
use crate::domain::aggregation::{Aggregator, AggregatorSpec, Input, rounded};
use crate::domain::analysis::analyzers::default_video::{self, Shown};
use crate::domain::analysis::analyzers::diarization::{self, Voices};
use crate::domain::analysis::analyzers::object_detection;
use crate::domain::analysis::analyzers::people::{self, Crowd};
use crate::domain::analysis::analyzers::transcript::{self, Words};
use crate::domain::analysis::video::AnalyzedVideo;
use crate::domain::kernel::error::Result;
use crate::domain::kernel::schema::schema_of;
use crate::domain::kernel::time::Span;
use crate::domain::kernel::video::ChunkId;

/// What requests and stored records call it.
pub(crate) const ID: &str = "stats";

/// Counts over time, with the busiest and the quietest moment.
pub(crate) struct Stats;

/// What can be counted in a video.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct Counts {
    /// Length of the video, seconds.
    pub(crate) duration: f64,
    pub(crate) chunks: usize,
    /// Those that have output.
    pub(crate) analyzers: Vec<String>,
    pub(crate) people: PeopleOverTime,
    pub(crate) objects: ObjectKinds,
    pub(crate) speech: SpeechTotals,
}

/// How many people the chunks show.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct PeopleOverTime {
    pub(crate) series: Vec<PeopleCount>,
    pub(crate) min: u64,
    pub(crate) max: u64,
    pub(crate) mean: f64,
    pub(crate) total_observations: u64,
    pub(crate) busiest: Option<Moment>,
    pub(crate) quietest: Option<Moment>,
}

/// How many people one chunk shows.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct PeopleCount {
    /// When it begins, seconds of the video.
    pub(crate) start: f64,
    /// When it ends, seconds of the video.
    pub(crate) end: f64,
    pub(crate) people_count: u64,
}

/// A chunk that stands out by how many people it shows.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct Moment {
    /// When it begins, seconds of the video.
    pub(crate) start: f64,
    /// When it ends, seconds of the video.
    pub(crate) end: f64,
    pub(crate) count: u64,
}

/// The kinds of objects that are seen.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct ObjectKinds {
    pub(crate) distinct: usize,
    /// In how many chunks each is seen, most first.
    pub(crate) most_common: Vec<(String, u32)>,
}

/// How much is said.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct SpeechTotals {
    pub(crate) words: usize,
    pub(crate) seconds: f64,
}

#[async_trait]
impl Aggregator for Stats {
    fn spec(&self) -> &'static AggregatorSpec {
        &AggregatorSpec {
            id: ID,
            depends_on: &[],
            uses_llm: false,
            answers: "how many people or objects there are, how long the video is, when it is \
                      busiest or quietest, counts and totals",
        }
    }

    async fn aggregate(&self, input: &Input<'_>) -> Result<Aggregate> {
        let video = input.video;
        let mut most_common: Vec<(String, u32)> = objects(video).into_iter().collect();
        most_common.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        Ok(Arc::new(Stored::new(Counts {
            duration: rounded(video.duration),
            chunks: video.spans.len(),
            analyzers: with_output(video),
            people: people_over_time(video),
            objects: ObjectKinds { distinct: most_common.len(), most_common },
            speech: speech(video),
        })))
    }

    fn schema(&self) -> Value {
        schema_of::<Counts>()
    }

    fn read(&self, stored: Value) -> Result<Aggregate> {
        read::<Counts>(stored)
    }
}

impl Conclusion for Counts {
    fn evidence(&self, whole: Span) -> Vec<(Span, String)> {
        let mut text = format!(
            "The video lasts {:?} seconds and has {}.",
            self.duration,
            many("chunk", self.chunks as u64)
        );
        let common =
            self.objects.most_common.iter().take(8).map(|(object, chunks)| {
                format!("{object} ({})", many("chunk", u64::from(*chunks)))
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
        // Where nobody looked for people, nothing is known of how many there are.
        let counted = !self.people.series.is_empty();
        let people = |count: u64| many("person", count);
        let told = |moment: &Moment, bound: &str, when: &str| {
            let span = Span { start: moment.start, end: moment.end };
            (span, format!("{bound} {} can be seen {when}.", people(moment.count)))
        };
        match (&self.people.busiest, &self.people.quietest) {
            (Some(busiest), _) if counted && busiest.count == 0 => {
                evidence.push((whole, format!("{} can be seen at any time.", people(0))));
            }
            (Some(busiest), quietest) if counted => {
                evidence.push(told(busiest, "At most", "at once"));
                let seen = quietest.as_ref().filter(|moment| moment.count > 0);
                evidence.extend(seen.map(|moment| told(moment, "At least", "at any time")));
            }
            _ => {}
        }
        evidence
    }
}

/// The number of people that each chunk shows, from the people analyzer, else from the description's
/// list; chunks of which neither tells are left out.
fn people_counts(video: &AnalyzedVideo) -> Vec<(Span, u64)> {
    if video.outputs.contains_key(people::ID) {
        let counted: BTreeMap<ChunkId, u64> = video
            .of::<Crowd>(people::ID)
            .map(|(chunk, _, crowd)| (chunk, crowd.people_count.into()))
            .collect();
        let count = |chunk| counted.get(&chunk).copied().unwrap_or_default();
        return video.chunks().map(|(chunk, span)| (span, count(chunk))).collect();
    }
    let described = video.of::<Shown>(default_video::ID);
    described.map(|(_, span, shown)| (span, shown.people.len() as u64)).collect()
}

fn people_over_time(video: &AnalyzedVideo) -> PeopleOverTime {
    let counts = people_counts(video);
    let total: u64 = counts.iter().map(|(_, count)| count).sum();
    // Of equal counts the first moment is named.
    let busiest = counts.iter().rev().max_by_key(|(_, count)| *count);
    let quietest = counts.iter().min_by_key(|(_, count)| *count);
    let uncounted = (video.spans.first().copied().unwrap_or(Span { start: 0.0, end: 0.0 }), 0);
    let moment = |&(span, count): &(Span, u64)| Moment {
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

/// In how many chunks each object name occurs.
fn objects(video: &AnalyzedVideo) -> BTreeMap<String, u32> {
    let mut counts = BTreeMap::new();
    for chunk in video.chunk_ids() {
        for name in objects_in(video, chunk) {
            *counts.entry(name).or_default() += 1;
        }
    }
    counts
}

/// The names of the objects that a chunk shows.
pub(crate) fn objects_in(video: &AnalyzedVideo, chunk: ChunkId) -> BTreeSet<String> {
    let analyzers = [object_detection::ID, default_video::ID];
    let findings = analyzers.iter().filter_map(|id| video.finding(id, chunk));
    findings.flat_map(|found| found.index().document.objects).map(|o| o.to_lowercase()).collect()
}

/// The analyzers that have found something in any chunk.
fn with_output(video: &AnalyzedVideo) -> Vec<String> {
    let found = video.outputs.iter().filter(|(_, outputs)| outputs.iter().any(Option::is_some));
    found.map(|(id, _)| id.clone()).collect()
}

/// Words and seconds of speech, from the transcript, else from the speakers' turns: both hold the same
/// words.
fn speech(video: &AnalyzedVideo) -> SpeechTotals {
    let segments = video.of::<Words>(transcript::ID).flat_map(|(_, _, words)| &words.segments);
    let said = total(segments.map(|segment| (&*segment.text, segment.end - segment.start)));
    if said.words > 0 {
        return said;
    }
    let turns = video.of::<Voices>(diarization::ID).flat_map(|(_, _, voices)| &voices.turns);
    total(turns.map(|turn| (&*turn.text, turn.end - turn.start)))
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
    use crate::domain::aggregation::testing::{aggregate, output, spoken, video};

    #[tokio::test]
    async fn counts_name_their_moments() {
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
                    spoken(&[("S1", 1.0, 3.0, "two words"), ("S2", 4.0, 4.5, "one")]),
                    None,
                    None,
                    None,
                ],
            );
        let found = aggregate(&Stats, &video).await;
        assert_eq!((found["duration"].as_f64(), found["chunks"].as_u64()), (Some(40.0), Some(4)));
        let people = &found["people"];
        let summary = ["min", "max", "total_observations"].map(|key| people[key].as_u64());
        assert_eq!(summary, [Some(0), Some(5), Some(12)]);
        assert_eq!(people["mean"], 3.0);
        // Of equal counts the first moment.
        assert_eq!(people["busiest"], json!({"start": 10.0, "end": 20.0, "count": 5}));
        assert_eq!(people["quietest"], json!({"start": 20.0, "end": 30.0, "count": 0}));
        assert_eq!(people["series"].as_array().map(Vec::len), Some(4));
        // An object that two analyzers see in one chunk is in one chunk.
        assert_eq!(
            found["objects"],
            json!({"distinct": 3, "most_common": [["car", 2], ["dog", 1], ["kite", 1]]})
        );
        assert_eq!(found["speech"], json!({"words": 3, "seconds": 2.5}));
    }

    #[tokio::test]
    async fn words_that_two_analyzers_hear_are_counted_once() {
        let turns = vec![spoken(&[("S1", 1.0, 3.0, "two words")]), None];
        let segments = json!({"segments": [{"start": 1.0, "end": 3.0, "text": "two words", "confidence": 0.9}]});
        let video = video(10.0, 2)
            .with(diarization::ID, turns)
            .with(transcript::ID, vec![output(segments), None])
            .with(people::ID, vec![None, None]);
        let found = aggregate(&Stats, &video).await;
        assert_eq!(found["speech"], json!({"words": 2, "seconds": 2.0}));
        assert_eq!(found["analyzers"], json!([diarization::ID, transcript::ID]));
    }

    #[tokio::test]
    async fn a_video_nobody_looked_at_has_busiest_and_quietest_moments_of_none() {
        let found = aggregate(&Stats, &video(10.0, 2)).await;
        let none = json!({"start": 0.0, "end": 10.0, "count": 0});
        assert_eq!((&found["people"]["busiest"], &found["people"]["quietest"]), (&none, &none));
        assert_eq!(found["people"]["series"], json!([]));
        let counts: Counts = serde_json::from_value(found).expect("counts");
        let told = counts.evidence(Span { start: 0.0, end: 20.0 });
        assert_eq!(told.len(), 1, "nothing is told of people: {told:?}");
        let found = aggregate(&Stats, &video(10.0, 0)).await;
        let none = json!({"start": 0.0, "end": 0.0, "count": 0});
        assert_eq!(found["people"]["busiest"], none, "without chunks too");
        assert_eq!(found["objects"], json!({"distinct": 0, "most_common": []}));
    }
}
