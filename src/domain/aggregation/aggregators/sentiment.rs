//! `sentiment`: the sentiment of what is said, by speaker and over time.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use ports::sentiment::Sentiment;
use ports::{ErrorKind, PortError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::aggregation::result::{Aggregate, AggregateRecord, AggregatorOutput, read};
use crate::aggregation::turns::turns;
use crate::aggregation::{Aggregator, AggregatorInput, AggregatorSpec, round4};
use crate::analysis::analyzers::diarization;
use crate::analysis::presentation::{
    Chart, ChartForm, Lane, LaneForm, OutputKind, Presentation, Tab, TrackSpec,
};
use crate::kernel::error::Result;
use crate::kernel::schema::json_schema;
use crate::kernel::time::{Span, rounded};
use crate::media::speech::SpeakerTurn;

/// The id in requests and stored records.
pub(crate) const ID: &str = "sentiment";

/// The `sentiment` aggregator.
pub(crate) struct SentimentAggregator;

/// The sentiment of the speech in a video.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct SentimentSummary {
    /// The name of the classification model.
    pub(crate) model: String,
    pub(crate) overall: SentimentShares,
    pub(crate) dominant: SentimentLabel,
    pub(crate) per_speaker: Vec<SpeakerSentiment>,
    /// The sentiment of each turn, in chronological order.
    pub(crate) timeline: Vec<TurnSentiment>,
    /// How to interpret the result.
    pub(crate) note: String,
}

/// The share of each sentiment; the shares add up to 1.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct SentimentShares {
    pub(crate) positive: f64,
    pub(crate) neutral: f64,
    pub(crate) negative: f64,
}

/// The dominant sentiment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum SentimentLabel {
    Positive,
    #[default]
    Neutral,
    Negative,
}

/// The sentiment of one speaker.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct SpeakerSentiment {
    pub(crate) speaker: String,
    #[serde(flatten)]
    pub(crate) shares: SentimentShares,
    pub(crate) dominant: SentimentLabel,
    pub(crate) turns: usize,
}

/// The sentiment of one turn.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct TurnSentiment {
    /// Start, in seconds from the start of the video.
    pub(crate) start: f64,
    /// End, in seconds from the start of the video.
    pub(crate) end: f64,
    pub(crate) speaker: String,
    #[serde(flatten)]
    pub(crate) shares: SentimentShares,
    pub(crate) dominant: SentimentLabel,
}

const NOTE: &str = "Sentiment of the language used, turn by turn and weighted by words, not \
                    inferred emotion; errors of speech recognition propagate.";

/// Number of turns per call to the classifier.
const BATCH_SIZE: usize = 256;

#[async_trait]
impl Aggregator for SentimentAggregator {
    fn spec(&self) -> &'static AggregatorSpec {
        &AggregatorSpec {
            id: ID,
            depends_on: &[diarization::ID],
            uses_llm: false,
            answers: "the mood and tone of the conversation and of what is said, whether speakers \
                      are positive or negative, happy or upset, and how that changes",
            label: "Sentiment",
            presentation: const {
                let lane = Lane { form: LaneForm::Moods, ..Lane::spans(ID, "Sentiment", 100) };
                let turns =
                    TrackSpec { lane: Some(lane), ..TrackSpec::new("/timeline", "dominant") };
                let moods = Chart {
                    minus: Some("negative"),
                    low: -1.0,
                    ..Chart::new(ChartForm::Line, "Sentiment of speech", "/timeline", "positive")
                };
                Presentation {
                    icon: "chart",
                    kind: OutputKind::Charts,
                    rank: 71,
                    tab: Some(Tab::STATISTICS),
                    tracks: &[turns],
                    charts: &[moods],
                    ..Presentation::ROWS
                }
            },
        }
    }

    async fn aggregate(&self, input: &AggregatorInput<'_>) -> Result<Aggregate> {
        let classifier = input.sentiment.ok_or_else(|| {
            PortError::new(ErrorKind::Unavailable, "no sentiment classifier is configured")
        })?;
        let mut turns = turns(input.video);
        turns.retain(|turn| !turn.text.is_empty());
        let texts: Vec<String> = turns.iter().map(|turn| turn.text.clone()).collect();
        let mut classified = Vec::with_capacity(texts.len());
        for batch in texts.chunks(BATCH_SIZE) {
            classified.extend(classifier.classify(batch).await?);
        }
        let turns: Vec<(SpeakerTurn, Sentiment)> = turns.into_iter().zip(classified).collect();
        Ok(Arc::new(AggregateRecord::new(summarize(classifier.model(), &turns))))
    }

    fn schema(&self) -> Value {
        json_schema::<SentimentSummary>()
    }

    fn read(&self, stored: Value) -> Result<Aggregate> {
        read::<SentimentSummary>(stored)
    }
}

impl AggregatorOutput for SentimentSummary {
    fn evidence(&self, whole: Span) -> Vec<(Span, String)> {
        let mut evidence =
            vec![(whole, format!("The language used is {} on the whole.", self.dominant.name()))];
        for SpeakerSentiment { speaker, dominant, .. } in &self.per_speaker {
            let text = format!("Speaker {speaker} mostly uses {} language.", dominant.name());
            evidence.push((whole, text));
        }
        for label in [SentimentLabel::Positive, SentimentLabel::Negative] {
            let share = |turn: &TurnSentiment| turn.shares.get(label);
            let turns = self.timeline.iter().filter(|turn| turn.dominant == label);
            if let Some(turn) = turns.max_by(|a, b| share(a).total_cmp(&share(b))) {
                let text = format!("Here the most {} words are spoken.", label.name());
                evidence.push((Span { start: turn.start, end: turn.end }, text));
            }
        }
        evidence
    }
}

impl SentimentShares {
    fn new(scores: &Sentiment) -> Self {
        Self {
            positive: round4(scores.positive.into()),
            neutral: round4(scores.neutral.into()),
            negative: round4(scores.negative.into()),
        }
    }

    fn get(&self, label: SentimentLabel) -> f64 {
        match label {
            SentimentLabel::Positive => self.positive,
            SentimentLabel::Neutral => self.neutral,
            SentimentLabel::Negative => self.negative,
        }
    }
}

impl SentimentLabel {
    /// Returns the label with the highest score, or neutral if there is a tie.
    fn dominant(scores: &Sentiment) -> Self {
        if scores.positive > scores.neutral && scores.positive > scores.negative {
            Self::Positive
        } else if scores.negative > scores.neutral && scores.negative > scores.positive {
            Self::Negative
        } else {
            Self::Neutral
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Positive => "positive",
            Self::Neutral => "neutral",
            Self::Negative => "negative",
        }
    }
}

fn summarize(model: &str, turns: &[(SpeakerTurn, Sentiment)]) -> SentimentSummary {
    let mut speakers: BTreeMap<&str, Vec<&(SpeakerTurn, Sentiment)>> = BTreeMap::new();
    for turn in turns {
        speakers.entry(&turn.0.speaker).or_default().push(turn);
    }
    let overall = mean(turns.iter());
    let per_speaker = speakers.into_iter().map(|(speaker, turns)| {
        let mean = mean(turns.iter().copied());
        SpeakerSentiment {
            speaker: speaker.to_owned(),
            shares: SentimentShares::new(&mean),
            dominant: SentimentLabel::dominant(&mean),
            turns: turns.len(),
        }
    });
    let timeline = turns.iter().map(|(turn, scores)| TurnSentiment {
        start: rounded(turn.start),
        end: rounded(turn.end),
        speaker: turn.speaker.clone(),
        shares: SentimentShares::new(scores),
        dominant: SentimentLabel::dominant(scores),
    });
    SentimentSummary {
        model: model.to_owned(),
        overall: SentimentShares::new(&overall),
        dominant: SentimentLabel::dominant(&overall),
        per_speaker: per_speaker.collect(),
        timeline: timeline.collect(),
        note: NOTE.to_owned(),
    }
}

/// Returns the weighted mean over turns, or neutral if there are no turns.
fn mean<'a>(turns: impl Iterator<Item = &'a (SpeakerTurn, Sentiment)>) -> Sentiment {
    let (mut positive, mut neutral, mut negative, mut total) = (0.0, 0.0, 0.0, 0.0);
    for (turn, scores) in turns {
        let weight = turn.weight();
        positive += weight * f64::from(scores.positive);
        neutral += weight * f64::from(scores.neutral);
        negative += weight * f64::from(scores.negative);
        total += weight;
    }
    if total <= 0.0 {
        return Sentiment { positive: 0.0, neutral: 1.0, negative: 0.0 };
    }
    Sentiment {
        positive: (positive / total) as f32,
        neutral: (neutral / total) as f32,
        negative: (negative / total) as f32,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn turn(speaker: &str, words: usize, p: f32, n: f32) -> (SpeakerTurn, Sentiment) {
        let text = vec!["word"; words].join(" ");
        let turn = SpeakerTurn { speaker: speaker.into(), start: 1.0, end: 2.0, text };
        (turn, Sentiment { positive: p, neutral: 1.0 - p - n, negative: n })
    }

    #[test]
    fn a_long_turn_weighs_more_than_a_short_one() {
        let turns = [turn("S1", 9, 0.9, 0.0), turn("S2", 1, 0.0, 1.0), turn("S1", 10, 0.1, 0.3)];
        let result = json!(summarize("vader", &turns));
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
        let result = json!(summarize("vader", &[]));
        assert_eq!(result["overall"], json!({"positive": 0.0, "neutral": 1.0, "negative": 0.0}));
        assert_eq!(result["dominant"], "neutral");
        assert_eq!(result["timeline"], json!([]));
    }
}
