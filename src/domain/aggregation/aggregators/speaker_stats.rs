//! `speaker_stats`: talk time, turns and handovers of each speaker.

use std::collections::BTreeMap;

use async_trait::async_trait;
use serde_json::{Value, json};

use crate::domain::aggregation::turns::{Turn, turns};
use crate::domain::aggregation::{Aggregator, AggregatorSpec, Input, rounded};
use crate::domain::analysis::analyzers::diarization;
use crate::domain::kernel::error::Result;
use crate::domain::kernel::time::Span;

/// Its id.
pub(crate) const ID: &str = "speaker_stats";

/// The aggregator.
pub(crate) struct SpeakerStats;

#[async_trait]
impl Aggregator for SpeakerStats {
    fn spec(&self) -> &'static AggregatorSpec {
        &AggregatorSpec {
            id: ID,
            depends_on: &[diarization::ID],
            uses_llm: false,
            answers: "who speaks most, how many speakers there are, how long each one talks, \
                      turns and handovers in the conversation",
        }
    }

    async fn aggregate(&self, input: &Input<'_>) -> Result<Value> {
        Ok(statistics(&turns(input.video)))
    }

    fn evidence(&self, result: &Value, whole: Span) -> Vec<(Span, String)> {
        let speakers: Vec<String> = result["speakers"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|s| {
                Some(format!(
                    "Speaker {} talks for {:.0} seconds ({:.0} %) in {} turn{}.",
                    s["speaker"].as_str()?,
                    s["seconds"].as_f64()?,
                    100.0 * s["share"].as_f64()?,
                    s["turns"],
                    if s["turns"] == 1 { "" } else { "s" }
                ))
            })
            .collect();
        if speakers.is_empty() {
            return Vec::new();
        }
        let dominant = result["dominant_speaker"].as_str().unwrap_or_default();
        let heard = match speakers.len() {
            1 => format!("One speaker is heard: {dominant}."),
            count => format!(
                "{count} speakers are heard, with {} handovers; {dominant} speaks most.",
                result["handovers"]
            ),
        };
        vec![(whole, format!("{heard} {}", speakers.join(" ")))]
    }
}

fn statistics(turns: &[Turn]) -> Value {
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
    json!({
        "speakers": speakers.iter().map(|(speaker, seconds, turns)| json!({
            "speaker": speaker,
            "seconds": rounded(*seconds),
            "turns": turns,
            "share": crate::domain::aggregation::round4(seconds / speech),
        })).collect::<Vec<_>>(),
        "speaker_count": speakers.len(),
        "total_turns": turns.len(),
        "handovers": turns.windows(2).filter(|pair| pair[0].speaker != pair[1].speaker).count(),
        "total_speech_seconds": rounded(speech),
        "dominant_speaker": speakers.first().map(|(speaker, ..)| speaker),
        "timeline": turns.iter().map(|turn| json!({
            "start": rounded(turn.start), "end": rounded(turn.end), "speaker": turn.speaker,
        })).collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::aggregation::testing::{spoken, video};

    #[test]
    fn talk_time_is_counted_by_speaker() {
        // S1 is cut by the end of the first chunk: one turn, not two.
        let video = video(10.0, 3).with(
            "diarization",
            vec![
                spoken(&[
                    ("S1", 0.0, 4.0, "hello"),
                    ("S2", 4.5, 7.0, "hi"),
                    ("S1", 8.0, 10.0, "so"),
                ]),
                spoken(&[("S1", 10.0, 12.0, "anyway"), ("S1", 15.0, 16.0, "yes")]),
                None,
            ],
        );
        let stats = statistics(&turns(&video));
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
        let stats = statistics(&turns(&video(10.0, 2).with("diarization", vec![None, None])));
        assert_eq!(stats["speakers"], json!([]));
        assert_eq!(stats["dominant_speaker"], Value::Null);
        assert_eq!(stats["total_speech_seconds"], 0.0);
    }
}
