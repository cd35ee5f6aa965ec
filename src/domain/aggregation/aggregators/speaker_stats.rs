//! `speaker_stats`: each speaker's talk time and turns, and the handovers between speakers.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use text::plural::with_count;

use crate::aggregation::result::{Aggregate, AggregateRecord, AggregatorOutput, read};
use crate::aggregation::turns::turns;
use crate::aggregation::{Aggregator, AggregatorInput, AggregatorSpec, round4};
use crate::analysis::analyzers::diarization;
use crate::analysis::presentation::{Chart, ChartForm, OutputKind, Presentation, Tab};
use crate::kernel::error::Result;
use crate::kernel::schema::json_schema;
use crate::kernel::time::{Span, rounded};
use crate::media::speech::SpeakerTurn;

/// The id in requests and stored records.
pub(crate) const ID: &str = "speaker_stats";

/// The `speaker_stats` aggregator.
pub(crate) struct SpeakerStatsAggregator;

/// How the conversation is divided among the speakers.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct Conversation {
    /// The speakers, in descending order of talk time.
    pub(crate) speakers: Vec<TalkTime>,
    pub(crate) speaker_count: usize,
    pub(crate) total_turns: usize,
    /// Number of times that the speaker changes.
    pub(crate) handovers: usize,
    pub(crate) total_speech_seconds: f64,
    pub(crate) dominant_speaker: Option<String>,
    pub(crate) timeline: Vec<SpokenTurn>,
}

/// The talk time of one speaker.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct TalkTime {
    pub(crate) speaker: String,
    pub(crate) seconds: f64,
    pub(crate) turns: u32,
    /// Share of the total talk time, 0..1.
    pub(crate) share: f64,
}

/// The time and speaker of one turn.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct SpokenTurn {
    /// Start, in seconds from the start of the video.
    pub(crate) start: f64,
    /// End, in seconds from the start of the video.
    pub(crate) end: f64,
    pub(crate) speaker: String,
}

#[async_trait]
impl Aggregator for SpeakerStatsAggregator {
    fn spec(&self) -> &'static AggregatorSpec {
        &AggregatorSpec {
            id: ID,
            depends_on: &[diarization::ID],
            uses_llm: false,
            answers: "who speaks most, how many speakers there are, how long each one talks, \
                      turns and handovers in the conversation",
            label: "Speaking time",
            presentation: const {
                let shares = Chart {
                    label: Some("speaker"),
                    ..Chart::new(ChartForm::SpeakingTime, "Speaking time", "/speakers", "share")
                };
                Presentation {
                    icon: "chart",
                    kind: OutputKind::Charts,
                    rank: 70,
                    tab: Some(Tab::STATISTICS),
                    charts: &[shares],
                    ..Presentation::ROWS
                }
            },
        }
    }

    async fn aggregate(&self, input: &AggregatorInput<'_>) -> Result<Aggregate> {
        Ok(Arc::new(AggregateRecord::new(statistics(&turns(input.video)))))
    }

    fn schema(&self) -> Value {
        json_schema::<Conversation>()
    }

    fn read(&self, stored: Value) -> Result<Aggregate> {
        read::<Conversation>(stored)
    }
}

impl AggregatorOutput for Conversation {
    fn evidence(&self, whole: Span) -> Vec<(Span, String)> {
        let talk_times = self.speakers.iter().map(|s| {
            format!(
                "Speaker {} talks for {:.0} seconds ({:.0} %) in {}.",
                s.speaker,
                s.seconds,
                100.0 * s.share,
                with_count("turn", u64::from(s.turns))
            )
        });
        let talk_times: Vec<String> = talk_times.collect();
        let dominant = self.dominant_speaker.as_deref().unwrap_or_default();
        let overview = match talk_times.len() {
            0 => return Vec::new(),
            1 => format!("One speaker is heard: {dominant}."),
            count => format!(
                "{count} speakers are heard, with {} handovers; {dominant} speaks most.",
                self.handovers
            ),
        };
        vec![(whole, format!("{overview} {}", talk_times.join(" ")))]
    }
}

fn statistics(turns: &[SpeakerTurn]) -> Conversation {
    let mut totals: BTreeMap<&str, (f64, u32)> = BTreeMap::new();
    for turn in turns {
        let total = totals.entry(&turn.speaker).or_default();
        total.0 += turn.seconds();
        total.1 += 1;
    }
    let speech: f64 = totals.values().map(|(seconds, _)| seconds).sum();
    let mut speakers: Vec<(&str, f64, u32)> =
        totals.into_iter().map(|(speaker, (seconds, turns))| (speaker, seconds, turns)).collect();
    speakers.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(b.0)));
    let handovers = turns.windows(2).filter(|pair| pair[0].speaker != pair[1].speaker).count();
    let timeline = turns.iter().map(|turn| SpokenTurn {
        start: rounded(turn.start),
        end: rounded(turn.end),
        speaker: turn.speaker.clone(),
    });
    Conversation {
        speaker_count: speakers.len(),
        total_turns: turns.len(),
        handovers,
        total_speech_seconds: rounded(speech),
        dominant_speaker: speakers.first().map(|(speaker, ..)| (*speaker).to_owned()),
        timeline: timeline.collect(),
        speakers: speakers
            .into_iter()
            .map(|(speaker, seconds, turns)| TalkTime {
                speaker: speaker.to_owned(),
                seconds: rounded(seconds),
                turns,
                share: round4(seconds / speech),
            })
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::aggregation::testing::{diarized, video};

    #[test]
    fn talk_time_is_counted_by_speaker() {
        // The end of the first chunk splits a turn of S1, which still counts as one turn.
        let video = video(10.0, 3).with(
            diarization::ID,
            vec![
                diarized(&[
                    ("S1", 0.0, 4.0, "hello"),
                    ("S2", 4.5, 7.0, "hi"),
                    ("S1", 8.0, 10.0, "so"),
                ]),
                diarized(&[("S1", 10.0, 12.0, "anyway"), ("S1", 15.0, 16.0, "yes")]),
                None,
            ],
        );
        let stats = json!(statistics(&turns(&video)));
        assert_eq!(
            stats["speakers"],
            json!([
                {"speaker": "S1", "seconds": 9.0, "turns": 3, "share": 0.7826},
                {"speaker": "S2", "seconds": 2.5, "turns": 1, "share": 0.2174},
            ])
        );
        for (key, expected) in [
            ("speaker_count", json!(2)),
            ("total_turns", json!(4)),
            ("handovers", json!(2)),
            ("total_speech_seconds", json!(11.5)),
            ("dominant_speaker", json!("S1")),
        ] {
            assert_eq!(stats[key], expected, "{key}");
        }
        assert_eq!(stats["timeline"][2], json!({"start": 8.0, "end": 12.0, "speaker": "S1"}));
        assert_eq!(turns(&video)[2].text, "so anyway");
    }

    #[test]
    fn silence_has_no_speakers() {
        let video = video(10.0, 2).with(diarization::ID, vec![None, None]);
        let stats = json!(statistics(&turns(&video)));
        assert_eq!(stats["speakers"], json!([]));
        assert_eq!(stats["dominant_speaker"], Value::Null);
        // −0.0 is equal to 0.0, but is written differently.
        assert_eq!(stats["total_speech_seconds"].to_string(), "0.0");
    }
}
