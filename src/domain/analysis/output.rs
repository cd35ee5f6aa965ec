//! The trait that all analyzer outputs implement, and the record in which they are stored. Each
//! analyzer's output is a struct in its own file.

use std::any::Any;
use std::fmt::Debug;
use std::sync::Arc;

use ports::llm::PassageKind;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::analysis::IndexEntry;
use crate::analysis::correction::CorrectionSet;
use crate::analysis::views::ImageVectors;
use crate::kernel::error::{Error, Result};
use crate::kernel::time::Span;
use crate::kernel::video::ChunkId;
use crate::media::speech::{SpeakerTurn, Utterance};

/// An analyzer's output for one chunk.
pub trait AnalyzerOutput: Debug + Send + Sync {
    /// Returns the texts to embed, the labels for filters and what a hit shows.
    fn index_entry(&self) -> IndexEntry;

    /// Returns the vectors of frames, if the analyzer stores any.
    fn image_vectors(&self) -> Option<&ImageVectors> {
        None
    }

    /// Returns the statements about the chunk, in order. Their texts contain no labels. Searches,
    /// answers and aggregators such as the summary read them.
    fn statements(&self) -> Vec<Statement>;

    /// Returns the first prose statement, if any.
    fn description(&self) -> Option<String> {
        let is_prose = |statement: &Statement| statement.kind == PassageKind::Prose;
        self.statements().into_iter().find(is_prose).map(|statement| statement.text)
    }

    /// Returns the table cells, one per column of the analyzer.
    fn cells(&self) -> Vec<String>;

    /// Applies user corrections; `span` is the chunk's time span.
    fn apply_corrections(&mut self, _corrections: &CorrectionSet, _span: Span) {}
}

/// One statement about a chunk. It is stored with the chunk's point in the index.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Statement {
    /// Where it comes from: speech, screen text, detected objects, prose …
    pub kind: PassageKind,
    /// The speaker, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speaker: Option<String>,
    /// The time span, if it is known more precisely than that of the chunk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub span: Option<Span>,
    /// The text.
    pub text: String,
    /// The confidence of the recognition of speech or of text on screen, 0..1. It is `None` for
    /// statements of other kinds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f32>,
}

/// Answers and aggregates ignore recognized speech whose mean word probability is below this value,
/// since such text is as likely to be wrong as right.
const MIN_SPEECH_CONFIDENCE: f32 = 0.6;

/// Answers and aggregates ignore text on screen whose mean character probability is below this
/// value. One wrong character makes a wrong word.
pub(crate) const MIN_SCREEN_CONFIDENCE: f32 = 0.85;

impl Statement {
    /// Creates a statement about the whole chunk, without a speaker.
    pub fn new(kind: PassageKind, text: impl Into<String>) -> Self {
        Self { kind, speaker: None, span: None, text: text.into(), confidence: None }
    }

    /// Creates a speech statement.
    pub fn from_utterance(utterance: &Utterance) -> Self {
        Self {
            speaker: utterance.speaker.clone(),
            span: Some(utterance.span()),
            confidence: Some(utterance.confidence),
            ..Self::new(PassageKind::Speech, utterance.text.clone())
        }
    }

    /// Creates a speech statement from a speaker turn.
    pub fn from_turn(turn: &SpeakerTurn) -> Self {
        Self {
            speaker: Some(turn.speaker.clone()),
            span: Some(Span { start: turn.start, end: turn.end }),
            ..Self::new(PassageKind::Speech, turn.text.clone())
        }
    }

    /// Whether its text is more likely to be right than wrong.
    pub fn is_likely(&self) -> bool {
        let min = match self.kind.is_on_screen() {
            true => MIN_SCREEN_CONFIDENCE,
            false => MIN_SPEECH_CONFIDENCE,
        };
        self.confidence.is_none_or(|confidence| confidence >= min)
    }
}

/// One statement of a composed description.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DescriptionPart {
    /// Where it comes from.
    pub kind: PassageKind,
    /// The text, without the words that connect it to other statements.
    pub text: String,
}

/// An output as stored: a flat record that begins with the analyzer's fields.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OutputRecord<T> {
    /// The output itself.
    #[serde(flatten)]
    pub output: T,
    /// The times of the analyzed frames, in seconds from the start of the video.
    #[serde(rename = "_frames", default, skip_serializing_if = "Option::is_none")]
    pub frames: Option<Vec<f64>>,
    /// The earlier, identical-looking chunk from which this output was copied.
    #[serde(
        rename = "_same_as",
        alias = "same_as",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub same_as: Option<ChunkId>,
}

impl<T> OutputRecord<T> {
    /// Wraps an output that was computed from frames.
    pub fn from_frames(output: T, frames: Vec<f64>) -> Self {
        Self { output, frames: Some(frames), same_as: None }
    }

    /// Wraps an output that was not computed from frames.
    pub fn new(output: T) -> Self {
        Self { output, frames: None, same_as: None }
    }
}

/// An [`OutputRecord`] of any output type.
pub trait StoredOutput: Any + Debug + Send + Sync {
    /// The output itself.
    fn content(&self) -> &dyn AnalyzerOutput;

    /// The stored form.
    fn to_json(&self) -> Map<String, Value>;

    /// Returns a copy for another chunk that looks the same as chunk `original`; `frames` are the
    /// frame times of the other chunk.
    fn as_repeat_of(&self, original: ChunkId, frames: Vec<f64>) -> Arc<dyn StoredOutput>;

    /// Returns a corrected copy, or `None` if the corrections change nothing.
    fn with_corrections(
        &self,
        corrections: &CorrectionSet,
        span: Span,
    ) -> Option<Arc<dyn StoredOutput>>;

    /// Supports the downcast in [`output_of`].
    fn as_any(&self) -> &dyn Any;
}

impl<T> StoredOutput for OutputRecord<T>
where
    T: AnalyzerOutput + Serialize + Clone + 'static,
{
    fn content(&self) -> &dyn AnalyzerOutput {
        &self.output
    }

    fn to_json(&self) -> Map<String, Value> {
        match serde_json::to_value(self) {
            Ok(Value::Object(fields)) => fields,
            // Cannot happen: outputs are structs, which are serialized as objects.
            _ => Map::new(),
        }
    }

    fn as_repeat_of(&self, original: ChunkId, frames: Vec<f64>) -> Arc<dyn StoredOutput> {
        Arc::new(Self { same_as: Some(original), frames: Some(frames), ..self.clone() })
    }

    fn with_corrections(
        &self,
        corrections: &CorrectionSet,
        span: Span,
    ) -> Option<Arc<dyn StoredOutput>> {
        let mut corrected = self.clone();
        corrected.output.apply_corrections(corrections, span);
        (corrected.to_json() != self.to_json())
            .then(|| Arc::new(corrected) as Arc<dyn StoredOutput>)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// The output, if it has type `T`.
pub fn output_of<T: 'static>(stored: &dyn StoredOutput) -> Option<&T> {
    record_of(stored).map(|stored| &stored.output)
}

/// The record of an output, if the output has type `T`.
pub fn record_of<T: 'static>(stored: &dyn StoredOutput) -> Option<&OutputRecord<T>> {
    stored.as_any().downcast_ref()
}

/// Deserializes what [`StoredOutput::to_json`] wrote.
pub fn read<T>(stored: Value) -> Result<Arc<dyn StoredOutput>>
where
    T: AnalyzerOutput + Serialize + DeserializeOwned + Clone + 'static,
{
    read_migrated(stored, |_: &mut T| {})
}

/// Deserializes like [`read`], for a type that has changed. `migrate` fills in fields that earlier
/// versions did not store.
pub fn read_migrated<T>(
    stored: Value,
    migrate: impl FnOnce(&mut T),
) -> Result<Arc<dyn StoredOutput>>
where
    T: AnalyzerOutput + Serialize + DeserializeOwned + Clone + 'static,
{
    let mut stored: OutputRecord<T> = serde_json::from_value(stored)
        .map_err(|e| Error::corrupt(format!("a stored output does not read back: {e}")))?;
    migrate(&mut stored.output);
    Ok(Arc::new(stored))
}

/// The output of an analyzer that is not installed. It is served as stored, without statements.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct UnknownOutput(pub Map<String, Value>);

impl AnalyzerOutput for UnknownOutput {
    fn index_entry(&self) -> IndexEntry {
        IndexEntry::default()
    }

    fn statements(&self) -> Vec<Statement> {
        Vec::new()
    }

    fn cells(&self) -> Vec<String> {
        Vec::new()
    }
}
