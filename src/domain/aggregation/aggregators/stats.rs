//! `stats`: counts over time, busiest and quietest moment, speech totals.

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use serde_json::{Value, json};

use crate::domain::aggregation::{Aggregator, AggregatorSpec, Input, rounded};
use crate::domain::analysis::analyzers::default_video::{self, Shown};
use crate::domain::analysis::analyzers::diarization::{self, Voices};
use crate::domain::analysis::analyzers::object_detection;
use crate::domain::analysis::analyzers::people::{self, Crowd};
use crate::domain::analysis::analyzers::transcript::{self, Words};
use crate::domain::analysis::video::AnalyzedVideo;
use crate::domain::kernel::error::Result;
use crate::domain::kernel::time::Span;

/// Its id.
pub(crate) const ID: &str = "stats";

/// The aggregator.
pub(crate) struct Stats;

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

    async fn aggregate(&self, input: &Input<'_>) -> Result<Value> {
        let video = input.video;
        let objects = objects(video);
        let mut most_common: Vec<(&String, &u32)> = objects.iter().collect();
        most_common.sort_by(|a, b| b.1.cmp(a.1).then_with(|| a.0.cmp(b.0)));
        Ok(json!({
            "duration": rounded(video.duration),
            "chunks": video.spans.len(),
            "analyzers": video.outputs.keys().collect::<Vec<_>>(),
            "people": people_over_time(video),
            "objects": {
                "distinct": objects.len(),
                "most_common": most_common,
            },
            "speech": speech(video),
        }))
    }

    fn evidence(&self, result: &Value, whole: Span) -> Vec<(Span, String)> {
        let mut text = format!(
            "The video lasts {} seconds and has {} chunks.",
            result["duration"], result["chunks"]
        );
        let common: Vec<String> = result["objects"]["most_common"]
            .as_array()
            .into_iter()
            .flatten()
            .take(8)
            .filter_map(|pair| {
                let plural = if pair[1] == 1 { "" } else { "s" };
                Some(format!("{} ({} chunk{plural})", pair[0].as_str()?, pair[1]))
            })
            .collect();
        if !common.is_empty() {
            text.push_str(&format!(
                " {} kinds of objects are seen. Most often in view: {}.",
                result["objects"]["distinct"],
                common.join(", ")
            ));
        }
        let mut evidence = vec![(whole, text)];
        let people = &result["people"];
        // Where nobody looked for people, nothing is known of how many there are.
        let counted = people["series"].as_array().is_some_and(|series| !series.is_empty());
        let moments = [("busiest", "most"), ("quietest", "fewest")];
        for (key, word) in moments.into_iter().filter(|_| counted) {
            let moment = &people[key];
            if let (Some(start), Some(end)) = (moment["start"].as_f64(), moment["end"].as_f64()) {
                let text = format!("The {word} people at once are {}.", moment["count"]);
                evidence.push((Span { start, end }, text));
            }
        }
        evidence
    }
}

/// The number of people that each chunk shows, from the people analyzer, else from the description's
/// list; chunks of which neither tells are left out.
fn people_counts(video: &AnalyzedVideo) -> Vec<(Span, u64)> {
    if video.outputs.contains_key(people::ID) {
        let counted: BTreeMap<u32, u64> = video
            .of::<Crowd>(people::ID)
            .map(|(chunk, _, crowd)| (chunk, crowd.people_count.into()))
            .collect();
        let count = |chunk| counted.get(&chunk).copied().unwrap_or_default();
        return (0..).zip(&video.spans).map(|(chunk, span)| (*span, count(chunk))).collect();
    }
    let described = video.of::<Shown>(default_video::ID);
    described.map(|(_, span, shown)| (span, shown.people.len() as u64)).collect()
}

fn people_over_time(video: &AnalyzedVideo) -> Value {
    let counts = people_counts(video);
    let total: u64 = counts.iter().map(|(_, count)| count).sum();
    let moment = |(span, count): &(Span, u64)| json!({"start": rounded(span.start), "end": rounded(span.end), "count": count});
    // Of equal counts the first moment is named.
    let busiest = counts.iter().rev().max_by_key(|(_, count)| *count);
    let quietest = counts.iter().min_by_key(|(_, count)| *count);
    let uncounted = (video.spans.first().copied().unwrap_or(Span { start: 0.0, end: 0.0 }), 0);
    json!({
        "series": counts.iter().map(|(span, count)| json!({
            "start": rounded(span.start), "end": rounded(span.end), "people_count": count,
        })).collect::<Vec<_>>(),
        "min": quietest.map_or(0, |(_, count)| *count),
        "max": busiest.map_or(0, |(_, count)| *count),
        "mean": if counts.is_empty() { 0.0 } else { rounded(total as f64 / counts.len() as f64) },
        "total_observations": total,
        "busiest": moment(busiest.unwrap_or(&uncounted)),
        "quietest": moment(quietest.unwrap_or(&uncounted)),
    })
}

/// In how many chunks each object name occurs.
fn objects(video: &AnalyzedVideo) -> BTreeMap<String, u32> {
    let mut counts = BTreeMap::new();
    for chunk in 0..video.spans.len() {
        for name in objects_in(video, chunk) {
            *counts.entry(name).or_default() += 1;
        }
    }
    counts
}

/// The names of the objects that a chunk shows.
pub(crate) fn objects_in(video: &AnalyzedVideo, chunk: usize) -> BTreeSet<String> {
    let analyzers = [object_detection::ID, default_video::ID];
    let findings = analyzers.iter().filter_map(|id| video.finding(id, chunk));
    findings.flat_map(|found| found.index().document.objects).map(|o| o.to_lowercase()).collect()
}

/// Words and seconds of speech, from whichever speech analyzer ran.
fn speech(video: &AnalyzedVideo) -> Value {
    let said = video.of::<Words>(transcript::ID).flat_map(|(_, _, words)| &words.segments);
    let said = said.map(|segment| (&segment.text, segment.end - segment.start));
    let turns = video.of::<Voices>(diarization::ID).flat_map(|(_, _, voices)| &voices.turns);
    let pieces = said.chain(turns.map(|turn| (&turn.text, turn.end - turn.start)));
    let (mut words, mut seconds) = (0, 0.0);
    for (text, length) in pieces {
        words += text.split_whitespace().count();
        seconds += length;
    }
    json!({"words": words, "seconds": rounded(seconds)})
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::aggregation::testing::{aggregate, output, spoken, video};

    #[tokio::test]
    async fn counts_name_their_moments() {
        let people = |count: u64| output(json!({"people": [], "people_count": count}));
        let objects = |names: &[&str]| output(json!({"objects": names}));
        let video = video(10.0, 4)
            .with("people", vec![people(2), people(5), None, people(5)])
            .with("object_detection", vec![objects(&["Dog", "car"]), objects(&["car"]), None, None])
            .with("default_video", vec![objects(&["dog"]), None, objects(&["kite"]), None])
            .with(
                "diarization",
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
    async fn a_video_nobody_looked_at_has_busiest_and_quietest_moments_of_none() {
        let found = aggregate(&Stats, &video(10.0, 2)).await;
        let none = json!({"start": 0.0, "end": 10.0, "count": 0});
        assert_eq!((&found["people"]["busiest"], &found["people"]["quietest"]), (&none, &none));
        assert_eq!(found["people"]["series"], json!([]));
        let told = Stats.evidence(&found, Span { start: 0.0, end: 20.0 });
        assert_eq!(told.len(), 1, "nothing is told of people: {told:?}");
        let found = aggregate(&Stats, &video(10.0, 0)).await;
        let none = json!({"start": 0.0, "end": 0.0, "count": 0});
        assert_eq!(found["people"]["busiest"], none, "without chunks too");
        assert_eq!(found["objects"], json!({"distinct": 0, "most_common": []}));
    }
}
