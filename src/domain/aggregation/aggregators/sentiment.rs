//! `sentiment`: sentiment of the language that speakers use, per speaker and over time.

use std::collections::BTreeMap;

use async_trait::async_trait;
use ports::sentiment::Sentiment as Shares;
use ports::{ErrorKind, PortError};
use serde_json::{Value, json};

use crate::domain::aggregation::turns::{Turn, turns};
use crate::domain::aggregation::{Aggregator, AggregatorSpec, Input, round4, rounded};
use crate::domain::analysis::analyzers::diarization;
use crate::domain::kernel::error::Result;
use crate::domain::kernel::time::Span;

/// Its id.
pub(crate) const ID: &str = "sentiment";

/// The aggregator.
pub(crate) struct Sentiment;

const NOTE: &str = "Sentiment of the language used, turn by turn and weighted by words, not \
                    inferred emotion; errors of speech recognition propagate.";

/// Turns classified in one call.
const BATCH: usize = 256;

#[async_trait]
impl Aggregator for Sentiment {
    fn spec(&self) -> &'static AggregatorSpec {
        &AggregatorSpec {
            id: ID,
            depends_on: &[diarization::ID],
            uses_llm: false,
            answers: "the mood and tone of the conversation and of what is said, whether speakers \
                      are positive or negative, happy or upset, and how that changes",
        }
    }

    async fn aggregate(&self, input: &Input<'_>) -> Result<Value> {
        let classifier = input.sentiment.ok_or_else(|| {
            PortError::new(ErrorKind::Unavailable, "no sentiment classifier is configured")
        })?;
        let mut turns = turns(input.video);
        turns.retain(|turn| !turn.text.is_empty());
        let texts: Vec<String> = turns.iter().map(|turn| turn.text.clone()).collect();
        let mut classified = Vec::with_capacity(texts.len());
        for batch in texts.chunks(BATCH) {
            classified.extend(classifier.classify(batch).await?);
        }
        let turns: Vec<(Turn, Shares)> = turns.into_iter().zip(classified).collect();
        Ok(result(classifier.model(), &turns))
    }

    fn evidence(&self, result: &Value, whole: Span) -> Vec<(Span, String)> {
        let Some(dominant) = result["dominant"].as_str() else { return Vec::new() };
        let mut evidence = vec![(whole, format!("The language used is {dominant} on the whole."))];
        for speaker in result["per_speaker"].as_array().into_iter().flatten() {
            if let (Some(id), Some(dominant)) =
                (speaker["speaker"].as_str(), speaker["dominant"].as_str())
            {
                evidence.push((whole, format!("Speaker {id} mostly uses {dominant} language.")));
            }
        }
        for tone in ["positive", "negative"] {
            let turns = result["timeline"].as_array().into_iter().flatten();
            let strongest = turns
                .filter(|turn| turn["dominant"] == tone)
                .max_by(|a, b| score(a, tone).total_cmp(&score(b, tone)));
            if let Some((start, end)) =
                strongest.and_then(|t| Some((t["start"].as_f64()?, t["end"].as_f64()?)))
            {
                let text = format!("Here the most {tone} words are spoken.");
                evidence.push((Span { start, end }, text));
            }
        }
        evidence
    }
}

fn score(turn: &Value, tone: &str) -> f64 {
    turn[tone].as_f64().unwrap_or_default()
}

fn result(model: &str, turns: &[(Turn, Shares)]) -> Value {
    let mut speakers: BTreeMap<&str, Vec<&(Turn, Shares)>> = BTreeMap::new();
    for turn in turns {
        speakers.entry(&turn.0.speaker).or_default().push(turn);
    }
    let overall = mean(turns.iter());
    json!({
        "model": model,
        "overall": shares(&overall),
        "dominant": dominant(&overall),
        "per_speaker": speakers.into_iter().map(|(speaker, turns)| {
            let mean = mean(turns.iter().copied());
            with(json!({"speaker": speaker}), &mean, json!({"turns": turns.len()}))
        }).collect::<Vec<_>>(),
        "timeline": turns.iter().map(|(turn, shares)| {
            let place = json!({
                "start": rounded(turn.start), "end": rounded(turn.end), "speaker": turn.speaker,
            });
            with(place, shares, json!({}))
        }).collect::<Vec<_>>(),
        "note": NOTE,
    })
}

/// An item: what it is of, its shares, and the rest.
fn with(mut item: Value, of: &Shares, rest: Value) -> Value {
    let judged = json!({"dominant": dominant(of)});
    if let Some(item) = item.as_object_mut() {
        for part in [shares(of), judged, rest] {
            item.extend(part.as_object().cloned().unwrap_or_default());
        }
    }
    item
}

fn shares(of: &Shares) -> Value {
    json!({
        "positive": round4(of.positive.into()),
        "neutral": round4(of.neutral.into()),
        "negative": round4(of.negative.into()),
    })
}

/// The mean over turns by their weight; neutral where there are none.
fn mean<'a>(turns: impl Iterator<Item = &'a (Turn, Shares)>) -> Shares {
    let (mut positive, mut neutral, mut negative, mut total) = (0.0, 0.0, 0.0, 0.0);
    for (turn, shares) in turns {
        let weight = turn.weight();
        positive += weight * f64::from(shares.positive);
        neutral += weight * f64::from(shares.neutral);
        negative += weight * f64::from(shares.negative);
        total += weight;
    }
    if total <= 0.0 {
        return Shares { positive: 0.0, neutral: 1.0, negative: 0.0 };
    }
    Shares {
        positive: (positive / total) as f32,
        neutral: (neutral / total) as f32,
        negative: (negative / total) as f32,
    }
}

/// The largest share. Of equal ones neutral wins: nothing is claimed without evidence.
fn dominant(of: &Shares) -> &'static str {
    if of.positive > of.neutral && of.positive > of.negative {
        "positive"
    } else if of.negative > of.neutral && of.negative > of.positive {
        "negative"
    } else {
        "neutral"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turn(speaker: &str, words: usize, p: f32, n: f32) -> (Turn, Shares) {
        let text = vec!["word"; words].join(" ");
        let turn = Turn { speaker: speaker.into(), start: 1.0, end: 2.0, text };
        (turn, Shares { positive: p, neutral: 1.0 - p - n, negative: n })
    }

    #[test]
    fn a_long_turn_weighs_more_than_a_short_one() {
        let turns = [turn("S1", 9, 0.9, 0.0), turn("S2", 1, 0.0, 1.0), turn("S1", 10, 0.1, 0.3)];
        let result = result("vader", &turns);
        assert_eq!(result["model"], "vader");
        assert_eq!(
            result["overall"],
            json!({"positive": 0.455, "neutral": 0.345, "negative": 0.2})
        );
        assert_eq!(result["dominant"], "positive");
        assert_eq!(
            result["per_speaker"][1],
            json!({"speaker": "S2", "positive": 0.0, "neutral": 0.0, "negative": 1.0,
                   "dominant": "negative", "turns": 1})
        );
        assert_eq!(result["per_speaker"][0]["turns"], 2);
        assert_eq!(
            result["timeline"][1],
            json!({"start": 1.0, "end": 2.0, "speaker": "S2", "positive": 0.0, "neutral": 0.0,
                   "negative": 1.0, "dominant": "negative"})
        );
    }

    #[test]
    fn without_words_it_is_neutral() {
        let result = result("vader", &[]);
        assert_eq!(result["overall"], json!({"positive": 0.0, "neutral": 1.0, "negative": 0.0}));
        assert_eq!(result["dominant"], "neutral");
        assert_eq!(result["timeline"], json!([]));
    }
}
