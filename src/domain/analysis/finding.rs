//! What analyzers find, as types: each analyzer's output is a struct in its own file. Here is what all
//! of them can be asked, and how they are stored.

use std::any::Any;
use std::fmt::Debug;
use std::sync::Arc;

use ports::llm::PassageKind;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::domain::analysis::Indexed;
use crate::domain::analysis::correction::Overlay;
use crate::domain::kernel::error::{Error, Result};
use crate::domain::kernel::time::Span;
use crate::domain::kernel::video::ChunkId;
use crate::domain::media::speech::Utterance;

/// What an analyzer found in one chunk.
pub trait Finding: Debug + Send + Sync {
    /// What of it is searched and shown with hits.
    fn index(&self) -> Indexed;

    /// What it tells of the chunk, in order, each text without labels.
    fn statements(&self) -> Vec<Statement>;

    /// What is written about the chunk in prose, if anything is.
    fn description(&self) -> Option<String> {
        let prose = self.statements().into_iter().find(|told| told.kind == PassageKind::Prose);
        prose.map(|told| told.text)
    }

    /// Its cells in tables, one for each of its analyzer's columns.
    fn cells(&self) -> Vec<String>;

    /// Takes over what people have said is right, of a chunk with this span.
    fn correct(&mut self, _overlay: &Overlay, _span: Span) {}
}

/// One thing that is told of a chunk.
#[derive(Debug, Clone, PartialEq)]
pub struct Statement {
    /// How it is known.
    pub kind: PassageKind,
    /// Who says it, where that is known.
    pub speaker: Option<String>,
    /// When, where that is known better than the chunk's span.
    pub span: Option<Span>,
    /// The text.
    pub text: String,
    /// How sure its words are, where they were recognised, 0..1.
    pub confidence: Option<f32>,
}

/// Words that are less probable than this in the mean are as likely misheard as not: nothing is
/// concluded from them.
const LIKELY: f32 = 0.6;

impl Statement {
    /// Of the whole chunk, by nobody in particular.
    pub fn new(kind: PassageKind, text: impl Into<String>) -> Self {
        Self { kind, speaker: None, span: None, text: text.into(), confidence: None }
    }

    /// What somebody says.
    pub fn said(utterance: &Utterance) -> Self {
        Self {
            speaker: utterance.speaker.clone(),
            span: Some(utterance.span()),
            confidence: Some(utterance.confidence),
            ..Self::new(PassageKind::Speech, utterance.text.clone())
        }
    }

    /// Whether its words are likely right.
    pub fn is_likely(&self) -> bool {
        self.confidence.is_none_or(|confidence| confidence >= LIKELY)
    }
}

/// A part of a composed text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Part {
    /// How it is known.
    pub kind: PassageKind,
    /// Without the words that tie it to the others.
    pub text: String,
}

/// An output as it is stored: flat, the analyzer's own fields first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Stored<T> {
    /// What the analyzer found.
    #[serde(flatten)]
    pub output: T,
    /// The frames that were looked at, seconds.
    #[serde(rename = "_frames", default, skip_serializing_if = "Option::is_none")]
    pub frames: Option<Vec<f64>>,
    /// The earlier chunk that looks the same and whose output this is.
    #[serde(
        rename = "_same_as",
        alias = "same_as",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub same_as: Option<ChunkId>,
}

impl<T> Stored<T> {
    /// Found by looking at frames.
    pub fn seen(output: T, frames: Vec<f64>) -> Self {
        Self { output, frames: Some(frames), same_as: None }
    }

    /// Found otherwise.
    pub fn heard(output: T) -> Self {
        Self { output, frames: None, same_as: None }
    }
}

/// A stored output whose type only its analyzer knows.
pub trait StoredFinding: Any + Debug + Send + Sync {
    /// What the analyzer found.
    fn finding(&self) -> &dyn Finding;

    /// As it is stored.
    fn to_json(&self) -> Map<String, Value>;

    /// A copy for a chunk that looks the same as chunk `of`, with its own frames.
    fn repeated(&self, of: ChunkId, frames: Vec<f64>) -> Arc<dyn StoredFinding>;

    /// A copy with what people have said is right; nothing where that changes nothing.
    fn corrected(&self, overlay: &Overlay, span: Span) -> Option<Arc<dyn StoredFinding>>;

    /// For [`output_of`].
    fn as_any(&self) -> &dyn Any;
}

impl<T> StoredFinding for Stored<T>
where
    T: Finding + Serialize + Clone + 'static,
{
    fn finding(&self) -> &dyn Finding {
        &self.output
    }

    fn to_json(&self) -> Map<String, Value> {
        match serde_json::to_value(self) {
            Ok(Value::Object(fields)) => fields,
            // Outputs are structs of strings, numbers and lists.
            _ => Map::new(),
        }
    }

    fn repeated(&self, of: ChunkId, frames: Vec<f64>) -> Arc<dyn StoredFinding> {
        Arc::new(Self { same_as: Some(of), frames: Some(frames), ..self.clone() })
    }

    fn corrected(&self, overlay: &Overlay, span: Span) -> Option<Arc<dyn StoredFinding>> {
        let mut corrected = self.clone();
        corrected.output.correct(overlay, span);
        (corrected.to_json() != self.to_json())
            .then(|| Arc::new(corrected) as Arc<dyn StoredFinding>)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// The output, if it is of that type.
pub fn output_of<T: 'static>(stored: &dyn StoredFinding) -> Option<&T> {
    stored.as_any().downcast_ref::<Stored<T>>().map(|stored| &stored.output)
}

/// Reads what [`StoredFinding::to_json`] wrote.
pub fn read<T>(stored: Value) -> Result<Arc<dyn StoredFinding>>
where
    T: Finding + Serialize + DeserializeOwned + Clone + 'static,
{
    read_migrated(stored, |_: &mut T| {})
}

/// The same of a type that has had other fields: `migrate` fills in what an earlier version did not
/// store.
pub fn read_migrated<T>(
    stored: Value,
    migrate: impl FnOnce(&mut T),
) -> Result<Arc<dyn StoredFinding>>
where
    T: Finding + Serialize + DeserializeOwned + Clone + 'static,
{
    let mut stored: Stored<T> = serde_json::from_value(stored)
        .map_err(|e| Error::corrupt(format!("a stored output does not read back: {e}")))?;
    migrate(&mut stored.output);
    Ok(Arc::new(stored))
}

/// An output of an analyzer that this install does not have: shown as it is stored, and nothing else.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Unknown(pub Map<String, Value>);

impl Finding for Unknown {
    fn index(&self) -> Indexed {
        Indexed::default()
    }

    fn statements(&self) -> Vec<Statement> {
        Vec::new()
    }

    fn cells(&self) -> Vec<String> {
        Vec::new()
    }
}
