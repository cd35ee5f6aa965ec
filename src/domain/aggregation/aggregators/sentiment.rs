//! `sentiment`: sentiment of the language that speakers use, per speaker and over time.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use ports::sentiment::Sentiment as Judgement;
use ports::{ErrorKind, PortError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::domain::aggregation::result::{Aggregate, Conclusion, Stored, read};
use crate::domain::aggregation::turns::turns;
use crate::domain::aggregation::{Aggregator, AggregatorSpec, Input, round4, rounded};
use crate::domain::analysis::analyzers::diarization;
use crate::domain::kernel::error::Result;
use crate::domain::kernel::schema::schema_of;
use crate::domain::kernel::time::Span;
use crate::domain::media::speech::SpeakerTurn;

/// What requests and stored records call it.
pub(crate) const ID: &str = "sentiment";

/// Tells the sentiment of the language that speakers use, per speaker and over time.
pub(crate) struct Sentiment;

/// The sentiment of what is said.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct Language {
    /// What judged it.
    pub(crate) model: String,
    pub(crate) overall: Shares,
    pub(crate) dominant: Tone,
    pub(crate) per_speaker: Vec<SpeakerTone>,
    /// In order of time.
    pub(crate) timeline: Vec<TurnTone>,
    /// How to read it.
    pub(crate) note: String,
}

/// How much of each there is; together 1.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct Shares {
    pub(crate) positive: f64,
    pub(crate) neutral: f64,
    pub(crate) negative: f64,
}

/// What prevails.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Tone {
    Positive,
    #[default]
    Neutral,
    Negative,
}

/// The language of one speaker.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct SpeakerTone {
    pub(crate) speaker: String,
    #[serde(flatten)]
    pub(crate) shares: Shares,
    pub(crate) dominant: Tone,
    pub(crate) turns: usize,
}

/// The language of one turn.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct TurnTone {
    /// When it begins, seconds of the video.
    pub(crate) start: f64,
    /// When it ends, seconds of the video.
    pub(crate) end: f64,
    pub(crate) speaker: String,
    #[serde(flatten)]
    pub(crate) shares: Shares,
    pub(crate) dominant: Tone,
}

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

    async fn aggregate(&self, input: &Input<'_>) -> Result<Aggregate> {
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
        let turns: Vec<(SpeakerTurn, Judgement)> = turns.into_iter().zip(classified).collect();
        Ok(Arc::new(Stored::new(judged(classifier.model(), &turns))))
    }

    fn schema(&self) -> Value {
        schema_of::<Language>()
    }

    fn read(&self, stored: Value) -> Result<Aggregate> {
        read::<Language>(stored)
    }
}

impl Conclusion for Language {
    fn evidence(&self, whole: Span) -> Vec<(Span, String)> {
        let mut evidence =
            vec![(whole, format!("The language used is {} on the whole.", self.dominant.word()))];
        for SpeakerTone { speaker, dominant, .. } in &self.per_speaker {
            let text = format!("Speaker {speaker} mostly uses {} language.", dominant.word());
            evidence.push((whole, text));
        }
        for tone in [Tone::Positive, Tone::Negative] {
            let share = |turn: &TurnTone| turn.shares.of(tone);
            let turns = self.timeline.iter().filter(|turn| turn.dominant == tone);
            if let Some(turn) = turns.max_by(|a, b| share(a).total_cmp(&share(b))) {
                let text = format!("Here the most {} words are spoken.", tone.word());
                evidence.push((Span { start: turn.start, end: turn.end }, text));
            }
        }
        evidence
    }
}

impl Shares {
    fn new(of: &Judgement) -> Self {
        Self {
            positive: round4(of.positive.into()),
            neutral: round4(of.neutral.into()),
            negative: round4(of.negative.into()),
        }
    }

    fn of(&self, tone: Tone) -> f64 {
        match tone {
            Tone::Positive => self.positive,
            Tone::Neutral => self.neutral,
            Tone::Negative => self.negative,
        }
    }
}

impl Tone {
    /// The largest share. Of equal ones neutral wins: nothing is claimed without evidence.
    fn dominant(of: &Judgement) -> Self {
        if of.positive > of.neutral && of.positive > of.negative {
            Self::Positive
        } else if of.negative > of.neutral && of.negative > of.positive {
            Self::Negative
        } else {
            Self::Neutral
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Positive => "positive",
            Self::Neutral => "neutral",
            Self::Negative => "negative",
        }
    }
}

fn judged(model: &str, turns: &[(SpeakerTurn, Judgement)]) -> Language {
    let mut speakers: BTreeMap<&str, Vec<&(SpeakerTurn, Judgement)>> = BTreeMap::new();
    for turn in turns {
        speakers.entry(&turn.0.speaker).or_default().push(turn);
    }
    let overall = mean(turns.iter());
    let per_speaker = speakers.into_iter().map(|(speaker, turns)| {
        let mean = mean(turns.iter().copied());
        SpeakerTone {
            speaker: speaker.to_owned(),
            shares: Shares::new(&mean),
            dominant: Tone::dominant(&mean),
            turns: turns.len(),
        }
    });
    let timeline = turns.iter().map(|(turn, judgement)| TurnTone {
        start: rounded(turn.start),
        end: rounded(turn.end),
        speaker: turn.speaker.clone(),
        shares: Shares::new(judgement),
        dominant: Tone::dominant(judgement),
    });
    Language {
        model: model.to_owned(),
        overall: Shares::new(&overall),
        dominant: Tone::dominant(&overall),
        per_speaker: per_speaker.collect(),
        timeline: timeline.collect(),
        note: NOTE.to_owned(),
    }
}

/// The mean over turns by their weight; neutral where there are none.
fn mean<'a>(turns: impl Iterator<Item = &'a (SpeakerTurn, Judgement)>) -> Judgement {
    let (mut positive, mut neutral, mut negative, mut total) = (0.0, 0.0, 0.0, 0.0);
    for (turn, judgement) in turns {
        let weight = turn.weight();
        positive += weight * f64::from(judgement.positive);
        neutral += weight * f64::from(judgement.neutral);
        negative += weight * f64::from(judgement.negative);
        total += weight;
    }
    if total <= 0.0 {
        return Judgement { positive: 0.0, neutral: 1.0, negative: 0.0 };
    }
    Judgement {
        positive: (positive / total) as f32,
        neutral: (neutral / total) as f32,
        negative: (negative / total) as f32,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn turn(speaker: &str, words: usize, p: f32, n: f32) -> (SpeakerTurn, Judgement) {
        let text = vec!["word"; words].join(" ");
        let turn = SpeakerTurn { speaker: speaker.into(), start: 1.0, end: 2.0, text };
        (turn, Judgement { positive: p, neutral: 1.0 - p - n, negative: n })
    }

    #[test]
    fn a_long_turn_weighs_more_than_a_short_one() {
        let turns = [turn("S1", 9, 0.9, 0.0), turn("S2", 1, 0.0, 1.0), turn("S1", 10, 0.1, 0.3)];
        let result = json!(judged("vader", &turns));
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
        let result = json!(judged("vader", &[]));
        assert_eq!(result["overall"], json!({"positive": 0.0, "neutral": 1.0, "negative": 0.0}));
        assert_eq!(result["dominant"], "neutral");
        assert_eq!(result["timeline"], json!([]));
    }
}
