//! Chunking: the requested mode, the weights of the boundary detectors, and the resulting spans.

pub mod fuse;
pub mod semantic;
pub mod signal;
pub mod silence;
pub mod speaker;
pub mod speech_cost;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::kernel::error::{Error, Result};
use crate::kernel::time::{Span, rounded};
pub use signal::{Candidate, Detector, Signals, Vote};
use speech_cost::SpeechCost;

/// The chunking parameters of an ingest request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChunkingFields {
    /// The mode: `preset`, `weights` or `interval`.
    pub mode: String,
    /// Name of the preset, for mode `preset`.
    pub preset: String,
    /// Weights of the detectors, for mode `weights`; at least one is required.
    pub weights: Weights<Option<f64>>,
    /// Length of a chunk, in seconds; required in mode `interval`.
    pub interval: Option<f64>,
    /// Minimum length of a chunk, in seconds; ignored in mode `interval`.
    pub min_duration: f64,
    /// Maximum length of a chunk, in seconds; ignored in mode `interval`.
    pub max_duration: f64,
}

impl Default for ChunkingFields {
    fn default() -> Self {
        Self {
            mode: "preset".into(),
            preset: "audio_video".into(),
            weights: Weights::default(),
            interval: None,
            min_duration: 5.0,
            max_duration: 20.0,
        }
    }
}

/// One value per boundary detector.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Weights<T> {
    /// Voice changes.
    pub speaker: T,
    /// Pauses.
    pub silence: T,
    /// Shot changes.
    pub cut: T,
    /// Topic shifts.
    pub semantic: T,
}

impl<T: Copy> Weights<T> {
    /// Returns names and values in the order speaker, silence, cut, semantic.
    pub fn named(&self) -> [(&'static str, T); 4] {
        [
            ("speaker", self.speaker),
            ("silence", self.silence),
            ("cut", self.cut),
            ("semantic", self.semantic),
        ]
    }
}

/// A named set of weights.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Preset {
    /// The name in requests.
    pub name: &'static str,
    /// What the preset considers, and the footage that it suits.
    pub description: &'static str,
    /// The weight of each detector.
    pub weights: Weights<f64>,
}

/// All presets.
pub const PRESETS: &[Preset] = &[
    Preset {
        name: "audio",
        description: "sound (podcasts, calls, lectures)",
        weights: Weights { speaker: 1.0, silence: 0.6, cut: 0.0, semantic: 0.8 },
    },
    Preset {
        name: "video",
        description: "picture (silent footage, sports)",
        weights: Weights { speaker: 0.0, silence: 0.0, cut: 1.0, semantic: 0.4 },
    },
    Preset {
        name: "audio_video",
        description: "sound and picture (most footage)",
        weights: Weights { speaker: 0.7, silence: 0.4, cut: 1.0, semantic: 0.5 },
    },
];

/// The chunking modes with their descriptions.
pub const MODES: &[(&str, &str)] = &[
    ("preset", "by what happens"),
    ("weights", "with own weights"),
    ("interval", "at equal intervals"),
];

/// The boundary detectors with their descriptions.
pub const DETECTORS: &[(&str, &str)] = &[
    ("speaker", "changes of voice"),
    ("silence", "pauses"),
    ("cut", "cuts in the picture"),
    ("semantic", "changes of topic"),
];

/// A valid chunking configuration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "mode", rename_all = "snake_case")]
pub enum Chunking {
    /// Boundaries according to the weights of a preset.
    Preset {
        /// Name of the preset.
        preset: String,
        /// Minimum length of a chunk, in seconds.
        min_duration: f64,
        /// Maximum length of a chunk, in seconds.
        max_duration: f64,
    },
    /// Boundaries according to custom weights.
    Weights {
        /// The weights; at least one is not zero.
        weights: Weights<f64>,
        /// Minimum length of a chunk, in seconds.
        min_duration: f64,
        /// Maximum length of a chunk, in seconds.
        max_duration: f64,
    },
    /// Boundaries at multiples of a fixed length.
    Interval {
        /// Length of every chunk except the last, in seconds.
        interval: f64,
    },
}

impl Chunking {
    /// Validates the fields of a request. Returns `Invalid` for unknown names and missing or
    /// contradictory fields, and `Unprocessable` for numbers out of range.
    pub fn parse(fields: &ChunkingFields) -> Result<Self> {
        if fields.mode == "interval" {
            let interval = fields.interval.ok_or_else(|| {
                Error::Invalid("mode=interval needs 'interval', the seconds per chunk".into())
            })?;
            return Ok(Self::Interval { interval: positive("interval", interval)? });
        }
        let min_duration = positive("min_duration", fields.min_duration)?;
        let max_duration = positive("max_duration", fields.max_duration)?;
        let chunking = match fields.mode.as_str() {
            "preset" => {
                let preset = known_preset(&fields.preset)?;
                Self::Preset { preset, min_duration, max_duration }
            }
            "weights" => {
                let weights = complete_weights(fields.weights)?;
                Self::Weights { weights, min_duration, max_duration }
            }
            other => {
                return Err(Error::Invalid(format!(
                    "unknown mode '{other}'; available: {}",
                    MODES.iter().map(|(mode, _)| *mode).collect::<Vec<_>>().join(", ")
                )));
            }
        };
        if min_duration > max_duration {
            return Err(Error::Invalid(format!(
                "min_duration ({}) is greater than max_duration ({}); it must not be",
                number(min_duration),
                number(max_duration)
            )));
        }
        Ok(chunking)
    }

    /// Returns the canonical form, such as `audio_video:5-20`, `weights(cut=1,silence=0.5):5-20` or
    /// `interval:10`.
    pub fn config(&self) -> String {
        match self {
            Self::Preset { preset, min_duration, max_duration } => {
                format!("{preset}:{}-{}", number(*min_duration), number(*max_duration))
            }
            Self::Weights { weights, min_duration, max_duration } => {
                let named: Vec<_> = weights
                    .named()
                    .iter()
                    .filter(|(_, weight)| *weight > 0.0)
                    .map(|(name, weight)| format!("{name}={}", number(*weight)))
                    .collect();
                let (min, max) = (number(*min_duration), number(*max_duration));
                format!("weights({}):{min}-{max}", named.join(","))
            }
            Self::Interval { interval } => format!("interval:{}", number(*interval)),
        }
    }

    /// Returns the value of `preset` in responses: the name of the preset, or the mode if there is
    /// no preset.
    pub fn preset(&self) -> &str {
        match self {
            Self::Preset { preset, .. } => preset,
            Self::Weights { .. } => "weights",
            Self::Interval { .. } => "interval",
        }
    }

    /// Returns the value of `params` in responses.
    pub fn params(&self) -> Map<String, Value> {
        let value = match self {
            Self::Preset { min_duration, max_duration, .. } => {
                json!({"min_duration": min_duration, "max_duration": max_duration})
            }
            Self::Weights { weights, min_duration, max_duration } => json!({
                "speaker": weights.speaker, "silence": weights.silence, "cut": weights.cut,
                "semantic": weights.semantic,
                "min_duration": min_duration, "max_duration": max_duration,
            }),
            Self::Interval { interval } => json!({"interval": interval}),
        };
        value.as_object().cloned().unwrap_or_default()
    }

    /// Returns the weights of the detectors, or `None` in mode `interval`, which uses no detectors.
    pub fn weights(&self) -> Option<Weights<f64>> {
        match self {
            Self::Interval { .. } => None,
            Self::Weights { weights, .. } => Some(*weights),
            // An unknown preset can only come from a record written by another version.
            Self::Preset { preset, .. } => {
                PRESETS.iter().find(|known| known.name == preset).map(|known| known.weights)
            }
        }
    }

    /// Whether topic shifts are detected in speech. The preset `video` uses only the picture.
    pub fn uses_speech(&self) -> bool {
        let video_only = matches!(self, Self::Preset { preset, .. } if preset == "video");
        !video_only && self.weights().is_some_and(|weights| weights.semantic > 0.0)
    }

    /// Returns all weighted votes in chronological order.
    pub fn votes(&self, signals: &Signals) -> Vec<Vote> {
        let Some(weights) = self.weights() else { return Vec::new() };
        signals.weighted(&weights, self.uses_speech(), self.speech_cost(signals))
    }

    /// Returns the cost of boundaries in speech, which is zero if only the picture counts.
    fn speech_cost<'a>(&self, signals: &'a Signals) -> SpeechCost<'a> {
        let uses_audio = |weights: Weights<f64>| weights.speaker > 0.0 || weights.silence > 0.0;
        if self.uses_speech() || self.weights().is_some_and(uses_audio) {
            SpeechCost(&signals.spoken)
        } else {
            SpeechCost::default()
        }
    }

    /// Returns `Invalid` if every possible split of `duration` seconds yields more than
    /// `max_chunks` chunks.
    pub fn check_count(&self, duration: f64, max_chunks: usize) -> Result<()> {
        let (max_length, field) = match self {
            Self::Interval { interval } => (*interval, "interval"),
            Self::Preset { max_duration, .. } | Self::Weights { max_duration, .. } => {
                (*max_duration, "max_duration")
            }
        };
        check_limit((duration / max_length).ceil(), max_chunks, field)
    }

    /// Splits `duration` seconds into chunks. Returns `Invalid` if there would be more than
    /// `max_chunks`.
    pub fn split(&self, duration: f64, signals: &Signals, max_chunks: usize) -> Result<Vec<Span>> {
        self.check_count(duration, max_chunks)?;
        let (min, max) = match self {
            Self::Interval { interval } => {
                return Ok(rounded_spans(multiples(duration, *interval)));
            }
            Self::Preset { min_duration, max_duration, .. }
            | Self::Weights { min_duration, max_duration, .. } => (*min_duration, *max_duration),
        };
        let spans = fuse::fuse(duration, &self.votes(signals), self.speech_cost(signals), min, max);
        check_limit(spans.len() as f64, max_chunks, "min_duration")?;
        Ok(rounded_spans(spans))
    }
}

fn positive(name: &str, seconds: f64) -> Result<f64> {
    if seconds.is_finite() && seconds > 0.0 {
        Ok(seconds)
    } else {
        Err(Error::Unprocessable(format!(
            "{name} is {seconds}; it must be a number of seconds greater than 0"
        )))
    }
}

fn known_preset(name: &str) -> Result<String> {
    if !PRESETS.iter().any(|preset| preset.name == name) {
        let names: Vec<_> = PRESETS.iter().map(|preset| preset.name).collect();
        return Err(Error::Invalid(format!(
            "unknown preset '{name}'; available: {}",
            names.join(", ")
        )));
    }
    Ok(name.to_owned())
}

/// Returns the requested weights, with 0 for missing ones.
fn complete_weights(requested: Weights<Option<f64>>) -> Result<Weights<f64>> {
    for (name, weight) in requested.named() {
        if weight.is_some_and(|w| !w.is_finite() || w < 0.0) {
            return Err(Error::Unprocessable(format!(
                "the weight '{name}' is {}; it must be a number of at least 0",
                weight.unwrap_or_default()
            )));
        }
    }
    if requested.named().iter().all(|(_, w)| w.is_none_or(|w| w == 0.0)) {
        return Err(Error::Invalid(
            "mode=weights needs at least one weight above 0 among speaker, silence, cut and \
             semantic"
                .into(),
        ));
    }
    Ok(Weights {
        speaker: requested.speaker.unwrap_or(0.0),
        silence: requested.silence.unwrap_or(0.0),
        cut: requested.cut.unwrap_or(0.0),
        semantic: requested.semantic.unwrap_or(0.0),
    })
}

fn rounded_spans(mut spans: Vec<Span>) -> Vec<Span> {
    for span in &mut spans {
        (span.start, span.end) = (rounded(span.start), rounded(span.end));
    }
    spans
}

fn check_limit(expected: f64, max_chunks: usize, field: &str) -> Result<()> {
    if expected > max_chunks as f64 {
        return Err(Error::Invalid(format!(
            "this would make {expected} chunks, more than the {max_chunks} that are allowed \
             (ingest.max_chunks); use a larger {field}"
        )));
    }
    Ok(())
}

/// Splits `duration` seconds into spans of `interval` seconds. The last span is the remainder.
fn multiples(duration: f64, interval: f64) -> Vec<Span> {
    // A remainder below a millisecond is a rounding error.
    let count = ((duration - 0.001) / interval).ceil().max(1.0) as usize;
    let boundary = |i: usize| if i == count { duration.max(0.001) } else { i as f64 * interval };
    (0..count).map(|i| Span { start: boundary(i), end: boundary(i + 1) }).collect()
}

/// Formats a number in the shortest decimal form: `5` or `0.5`, never `5.0`.
fn number(value: f64) -> String {
    format!("{value}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunking::speech_cost::SpokenWord;

    fn parse(change: impl FnOnce(&mut ChunkingFields)) -> Result<String> {
        let mut fields = ChunkingFields::default();
        change(&mut fields);
        Chunking::parse(&fields).map(|chunking| chunking.config())
    }

    #[test]
    fn configurations_are_canonical() {
        assert_eq!(parse(|_| {}).expect("the defaults"), "audio_video:5-20");
        let interval = parse(|f| (f.mode, f.interval) = ("interval".into(), Some(2.50)));
        assert_eq!(interval.expect("an interval"), "interval:2.5");
        let weights = parse(|f| {
            f.mode = "weights".into();
            f.weights.cut = Some(1.0);
            f.weights.silence = Some(0.5);
            f.weights.speaker = Some(0.0);
        });
        assert_eq!(weights.expect("weights"), "weights(silence=0.5,cut=1):5-20");
    }

    #[test]
    fn invalid_fields_have_distinct_errors() {
        for (change, status) in [
            ((|f: &mut ChunkingFields| f.mode = "x".into()) as fn(&mut ChunkingFields), 400),
            (|f| f.preset = "x".into(), 400),
            (|f| f.mode = "weights".into(), 400),
            (|f| (f.mode, f.weights.cut) = ("weights".into(), Some(0.0)), 400),
            (|f| f.mode = "interval".into(), 400),
            (|f| f.min_duration = 30.0, 400),
            (|f| (f.mode, f.weights.cut) = ("weights".into(), Some(-1.0)), 422),
            (|f| (f.mode, f.weights.cut) = ("weights".into(), Some(f64::NAN)), 422),
            (|f| (f.mode, f.interval) = ("interval".into(), Some(0.0)), 422),
            (|f| (f.mode, f.interval) = ("interval".into(), Some(f64::INFINITY)), 422),
            (|f| f.min_duration = 0.0, 422),
            (|f| f.max_duration = f64::NAN, 422),
        ] {
            match (parse(change).expect_err("a mistake"), status) {
                (Error::Invalid(_), 400) | (Error::Unprocessable(_), 422) => {}
                (error, status) => panic!("{error:?} is not {status}"),
            }
        }
    }

    #[test]
    fn intervals_end_with_the_video() {
        for (duration, interval, ends) in [
            (10.0, 4.0, vec![4.0, 8.0, 10.0]),
            (10.0, 5.0, vec![5.0, 10.0]),
            (10.0004, 5.0, vec![5.0, 10.0]),
            (3.0, 5.0, vec![3.0]),
        ] {
            let chunking = Chunking::Interval { interval };
            let spans = chunking.split(duration, &Signals::default(), 100).expect("spans");
            assert_eq!(spans.iter().map(|s| s.end).collect::<Vec<_>>(), ends);
        }
    }

    #[test]
    fn speech_counts_only_if_audio_counts() {
        let sentence = |start: usize| (0..14).map(move |word| (start + word, word == 13));
        let spoken = [0, 14, 28].into_iter().flat_map(sentence).map(|(i, last)| SpokenWord {
            span: Span { start: i as f64 * 0.5, end: i as f64 * 0.5 + 0.45 },
            last,
        });
        let signals = Signals { spoken: spoken.collect(), ..Signals::default() };
        let ends = |preset: &str| -> Vec<f64> {
            let preset = preset.into();
            let chunking = Chunking::Preset { preset, min_duration: 5.0, max_duration: 12.0 };
            chunking.split(21.0, &signals, 100).expect("spans").iter().map(|s| s.end).collect()
        };
        assert_eq!(ends("video"), [10.5, 21.0]);
        for preset in ["audio", "audio_video"] {
            let spans = ends(preset);
            let splits_sentence = |end: &&f64| SpeechCost(&signals.spoken).cost(**end) > 0.0;
            assert!(
                spans.len() == 3 && !spans.iter().any(|end| splits_sentence(&end)),
                "{spans:?}"
            );
        }
        let words = |cut, silence| Chunking::Weights {
            weights: Weights { speaker: 0.0, silence, cut, semantic: 0.0 },
            min_duration: 5.0,
            max_duration: 20.0,
        };
        assert!(words(1.0, 0.0).speech_cost(&signals).is_empty());
        assert!(!words(1.0, 0.1).speech_cost(&signals).is_empty());
        assert!(Chunking::Interval { interval: 5.0 }.speech_cost(&signals).is_empty());
    }

    #[test]
    fn too_many_chunks_are_rejected_early() {
        let error = Chunking::Interval { interval: 1e-9 }.split(10.0, &Signals::default(), 100);
        assert!(matches!(error, Err(Error::Invalid(_))));
    }
}
