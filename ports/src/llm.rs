//! Language models.
//!
//! A request is instructions plus evidence: numbered passages, a question, pictures. A generative
//! model is shown all of it as a prompt; an extractive one selects from the passages. Both answer a
//! [`Task`] with JSON of the same shape, the types below.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Result, VideoId};

/// What is asked for; each has one answer type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Task {
    /// [`Description`] of pictures.
    Describe,
    /// [`Summary`] of passages.
    Summarize,
    /// [`Title`] of passages.
    Title,
    /// [`Events`] in passages.
    Events,
    /// [`Answer`] to the question from passages.
    Answer,
    /// [`Narrative`] of one person or thing from passages.
    Narrate,
    /// [`Persons`] in pictures, one person per picture.
    Persons,
    /// An [`Extraction`] of the request's fields from passages and pictures.
    Extract,
}

impl Task {
    /// The JSON schema of the task's answer.
    pub fn schema(self) -> Value {
        let schema = match self {
            Self::Describe => schemars::schema_for!(Description),
            Self::Summarize => schemars::schema_for!(Summary),
            Self::Title => schemars::schema_for!(Title),
            Self::Events => schemars::schema_for!(Events),
            Self::Answer => schemars::schema_for!(Answer),
            Self::Narrate => schemars::schema_for!(Narrative),
            Self::Persons => schemars::schema_for!(Persons),
            Self::Extract => schemars::schema_for!(Extraction),
        };
        schema.to_value()
    }

    /// The task's name, as `summarize`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Describe => "describe",
            Self::Summarize => "summarize",
            Self::Title => "title",
            Self::Events => "events",
            Self::Answer => "answer",
            Self::Narrate => "narrate",
            Self::Persons => "persons",
            Self::Extract => "extract",
        }
    }
}

/// The answer to a task.
pub trait TaskAnswer: DeserializeOwned {
    /// The task.
    const TASK: Task;
}

impl TaskAnswer for Description {
    const TASK: Task = Task::Describe;
}

impl TaskAnswer for Summary {
    const TASK: Task = Task::Summarize;
}

impl TaskAnswer for Title {
    const TASK: Task = Task::Title;
}

impl TaskAnswer for Events {
    const TASK: Task = Task::Events;
}

impl TaskAnswer for Answer {
    const TASK: Task = Task::Answer;
}

impl TaskAnswer for Narrative {
    const TASK: Task = Task::Narrate;
}

impl TaskAnswer for Persons {
    const TASK: Task = Task::Persons;
}

impl TaskAnswer for Extraction {
    const TASK: Task = Task::Extract;
}

/// What a stretch of video shows.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Description {
    /// One to four sentences of prose about what is seen and what happens.
    pub description: String,
    /// Where it takes place, in a few words; empty when it cannot be told.
    pub setting: String,
    /// Each visible person by clothing and appearance, never by name or identity.
    pub people: Vec<String>,
    /// Names of visible objects, singular, lower case.
    pub objects: Vec<String>,
    /// What is being done and what objects are used for.
    pub actions: Vec<String>,
    /// One- or two-word topics, lower case.
    pub tags: Vec<String>,
}

/// A summary of passages.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Summary {
    /// A few sentences that the passages bear out.
    pub summary: String,
    /// The most important statements, most important first.
    pub key_points: Vec<String>,
    /// Short names of what it is about.
    pub topics: Vec<String>,
}

/// A heading.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Title {
    /// At most eight words that name the topic.
    pub title: String,
}

/// Events found in passages.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Events {
    /// In order of time, without repetitions.
    pub events: Vec<Event>,
}

/// Something that happens at one moment.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Event {
    /// What happens, in one short sentence.
    pub event: String,
    /// Who or what does it; empty when it cannot be told.
    pub actor: String,
    /// One lower-case word for the kind of event, as `speech`, `movement`, `scene`.
    pub category: String,
    /// The id of the passage that bears it out.
    pub passage: String,
}

/// An answer made of sentences that each name their evidence.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    /// In reading order; empty when the passages do not answer the question.
    pub sentences: Vec<AnswerSentence>,
}

/// One sentence of an answer.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AnswerSentence {
    /// The sentence, without citation marks.
    pub text: String,
    /// Ids of the passages that bear it out, at least one.
    pub passages: Vec<String>,
}

/// What one person or thing does over time.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Narrative {
    /// One to four sentences.
    pub narrative: String,
}

/// People, one per picture.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Persons {
    /// In the order of the pictures, exactly one for each.
    pub persons: Vec<Person>,
}

/// A person by looks.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Person {
    /// Garments with their colours, as `red coat, blue jeans`; empty when they cannot be told.
    pub clothing: String,
    /// One sentence on clothing and appearance, never a name or identity.
    pub description: String,
    /// What they are doing, in a few words; empty when it cannot be told.
    pub action: String,
}

/// Values of fields that somebody wants to know.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Extraction {
    /// One for each field whose value the evidence shows; none for the others.
    pub values: Vec<ExtractedValue>,
}

/// A value with what shows it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExtractedValue {
    /// The path of the field, with a number from 0 in the place of each `*`.
    pub field: String,
    /// The value in writing: numbers in digits, `true` or `false`, spans as `12.5-14.0` in seconds.
    pub value: String,
    /// The id of the passage that shows it; empty where only the pictures do.
    pub passage: String,
}

/// A field that is looked for.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    /// Where it is in the asker's form, as `/dish/price`; `*` stands for the place in a list, as in
    /// `/goals/*/minute`.
    pub path: String,
    /// What it means, in the asker's words.
    pub description: String,
    /// What its values are like.
    pub kind: FieldKind,
}

/// What the values of a field are like.
#[derive(Debug, Clone, PartialEq)]
pub enum FieldKind {
    /// Some words.
    Text,
    /// An address of electronic mail.
    Email,
    /// An address that begins with `http://` or `https://`.
    Uri,
    /// A day, as `2026-11-22`.
    Date,
    /// A time of day, as `18:30`.
    Time,
    /// One of these.
    OneOf(Vec<String>),
    /// A number within bounds.
    Number {
        /// Whether it has no fraction.
        whole: bool,
        /// The least that it may be.
        minimum: Option<f64>,
        /// The most that it may be.
        maximum: Option<f64>,
    },
    /// True or false.
    Boolean,
    /// When it is, seconds of the video.
    Span,
}

/// How what a passage says is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PassageKind {
    /// Written about the video: descriptions, summaries, narratives.
    Prose,
    /// Said in it.
    Speech,
    /// Read in its picture.
    Screen,
    /// Names of what a detector has found.
    Objects,
    /// What people look like.
    People,
    /// Measured without understanding: light, colour, motion, loudness.
    Scene,
}

/// A stretch of a video.
#[derive(Debug, Clone, PartialEq)]
pub struct Moment {
    /// Whose, where a request is about more than one video.
    pub video_id: Option<VideoId>,
    /// When it begins, seconds of the video.
    pub start: f64,
    /// When it ends, seconds of the video.
    pub end: f64,
}

/// The topic of a passage that names what its whole moment shows.
pub const OVERVIEW: &str = "overview";

/// A piece of evidence.
#[derive(Debug, Clone, PartialEq)]
pub struct Passage {
    /// Names the passage in the answer; unique within a request.
    pub id: String,
    /// What it speaks of. Neighbours of one moment belong together.
    pub moment: Option<Moment>,
    /// How it is known.
    pub kind: PassageKind,
    /// Who says it, as `S1`.
    pub speaker: Option<String>,
    /// What it is about or good for, as `chapter`, `car`, `who speaks most`; a `summary` sums the
    /// whole up.
    pub topic: Option<String>,
    /// Sentences, lines or names, without a word on where they come from.
    pub text: String,
    /// Words of it, in lower case, that are rather wrong than right, as misheard ones are.
    pub doubtful: Vec<String>,
}

impl Passage {
    /// Of no known moment, by nobody in particular.
    pub fn new(id: impl Into<String>, kind: PassageKind, text: impl Into<String>) -> Self {
        let (id, text) = (id.into(), text.into());
        Self { id, moment: None, kind, speaker: None, topic: None, text, doubtful: Vec::new() }
    }
}

/// What is called with each piece of a text, and whether the text begins with it.
type Heard = dyn Fn(&str, bool) + Send + Sync;

/// Hears the sentences of an answer while a model writes them, before it is whole. A model that gives
/// its answer at once tells nothing. Where it is written again it begins again.
#[derive(Clone, Default)]
pub struct TokenSink(Option<Arc<Heard>>);

impl TokenSink {
    /// Calls `heard` with each piece, and whether the answer begins with it.
    pub fn new(heard: impl Fn(&str, bool) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(heard)))
    }

    /// Whether anybody listens.
    pub fn is_active(&self) -> bool {
        self.0.is_some()
    }

    /// Tells a piece.
    pub fn send(&self, piece: &str, begins: bool) {
        if let Some(heard) = &self.0 {
            heard(piece, begins);
        }
    }
}

impl fmt::Debug for TokenSink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("TokenSink").field(&self.is_active()).finish()
    }
}

/// Who listens makes no other request of it.
impl PartialEq for TokenSink {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// One call.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// Decides the answer's shape.
    pub task: Task,
    /// What a generative model is told to do. An extractive one does not read it.
    pub instructions: String,
    /// The evidence, in order of time.
    pub passages: Vec<Passage>,
    /// For [`Task::Answer`] the question; for [`Task::Narrate`] who or what it is about.
    pub question: Option<String>,
    /// For [`Task::Extract`], what is looked for.
    pub fields: Vec<Field>,
    /// JPEG pictures in order of time.
    pub images: Vec<bytes::Bytes>,
    /// Most tokens the answer may take.
    pub max_tokens: u32,
    /// For [`Task::Answer`], who hears it while it is written.
    pub sink: TokenSink,
}

/// What calls cost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Requests that reached the model, retries included.
    pub calls: u32,
    /// Tokens read.
    pub input_tokens: u64,
    /// Tokens written.
    pub output_tokens: u64,
}

impl std::ops::AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.calls += other.calls;
        self.input_tokens += other.input_tokens;
        self.output_tokens += other.output_tokens;
    }
}

/// An answer and its cost.
#[derive(Debug, Clone, PartialEq)]
pub struct Completion {
    /// Valid for the task's schema.
    pub answer: Value,
    /// What it took to get it.
    pub usage: Usage,
}

/// Answers requests.
#[async_trait]
pub trait LanguageModel: Send + Sync {
    /// Identifies the model.
    fn model(&self) -> &str;

    /// Whether [`Task::Describe`] and [`Task::Persons`] work, that is, whether it sees pictures.
    fn supports_images(&self) -> bool;

    /// Whether calls cost money or leave the machine.
    fn is_billed(&self) -> bool;

    /// Whether answers are chosen from the passages by their words alone, not written with an
    /// understanding of them.
    fn is_extractive(&self) -> bool {
        false
    }

    /// About how many tokens of passages fit into one request.
    fn context_tokens(&self) -> usize;

    /// The answer. MUST fit the task's schema: an answer that does not is asked for once more, then
    /// the call fails with `Corrupt`. A refusal is `Denied`, a request larger than the context is
    /// `TooLarge`. An extractive model is deterministic.
    async fn complete(&self, request: &Request) -> Result<Completion>;
}
