//! Language models.
//!
//! A request holds instructions and evidence: numbered passages, a question, images. A generative
//! model receives the whole request as a prompt; an extractive model selects from the passages.
//! Both answer a [`Task`] with JSON that follows the same schema, which the types below define.
//! Their doc comments are part of that schema and therefore of the prompt.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Result, VideoId};

/// The kind of a request. It determines the type of the answer.
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
    /// [`Answer`] to the question, from passages.
    Answer,
    /// [`Narrative`] about one person or thing, from passages.
    Narrate,
    /// [`Persons`] in pictures, one person per picture.
    Persons,
    /// [`Extraction`] of the request's fields from passages and pictures.
    Extract,
}

impl Task {
    /// Returns the JSON schema of this task's answer.
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

    /// Returns the name of the task, such as `summarize`.
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

/// The answer type of a task.
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
    /// Where it takes place, in a few words; empty when it cannot be determined.
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
    /// Who or what does it; empty when it cannot be determined.
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
    /// Garments with their colours, as `red coat, blue jeans`; empty when they cannot be determined.
    pub clothing: String,
    /// One sentence on clothing and appearance, never a name or identity.
    pub description: String,
    /// What they are doing, in a few words; empty when it cannot be determined.
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

/// A field to extract.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    /// The field's path in the client's schema, such as `/dish/price`. `*` stands for a list index,
    /// as in `/goals/*/minute`.
    pub path: String,
    /// What the field means, in the client's words.
    pub description: String,
    /// The type of the field's values.
    pub kind: FieldKind,
}

/// The type of a field's values.
#[derive(Debug, Clone, PartialEq)]
pub enum FieldKind {
    /// Free text.
    Text,
    /// An email address.
    Email,
    /// A URL that starts with `http://` or `https://`.
    Uri,
    /// A date, such as `2026-11-22`.
    Date,
    /// A time of day, such as `18:30`.
    Time,
    /// One of these options.
    OneOf(Vec<String>),
    /// A number that may have bounds.
    Number {
        /// Whether it must be an integer.
        whole: bool,
        /// Lower bound, inclusive.
        minimum: Option<f64>,
        /// Upper bound, inclusive.
        maximum: Option<f64>,
    },
    /// True or false.
    Boolean,
    /// A time span of the video, in seconds.
    Span,
}

/// The source of a passage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PassageKind {
    /// Text about the video, such as a description, a summary or a narrative.
    Prose,
    /// Speech in the video.
    Speech,
    /// On-screen text.
    Screen,
    /// A row of a table on screen: its cells, each after the name of its column if that is known,
    /// such as `product: Lamp; price: 12`.
    Row,
    /// Labels of detected objects.
    Objects,
    /// The appearance of people.
    People,
    /// Low-level measurements, such as light, colour, motion and loudness. Searches find them;
    /// answers without a language model do not quote them.
    Scene,
}

impl PassageKind {
    /// Whether the text was read on screen.
    pub fn is_on_screen(self) -> bool {
        matches!(self, Self::Screen | Self::Row)
    }
}

/// A time span of a video.
#[derive(Debug, Clone, PartialEq)]
pub struct VideoSpan {
    /// The video, if the request covers more than one.
    pub video_id: Option<VideoId>,
    /// Start, in seconds from the start of the video.
    pub start: f64,
    /// End, in seconds from the start of the video.
    pub end: f64,
}

/// The topic of a passage that describes everything in its moment.
pub const OVERVIEW: &str = "overview";

/// A piece of evidence.
#[derive(Debug, Clone, PartialEq)]
pub struct Passage {
    /// The id that answers cite; unique within a request.
    pub id: String,
    /// The moment that the text describes. Consecutive passages with the same moment belong
    /// together.
    pub moment: Option<VideoSpan>,
    /// The source of the text.
    pub kind: PassageKind,
    /// The speaker label, such as `S1`.
    pub speaker: Option<String>,
    /// The subject or purpose of the passage, such as `chapter`, `car` or `who speaks most`. The
    /// topic `summary` means that the text covers the whole video.
    pub topic: Option<String>,
    /// The sentences, lines or names, without a prefix that states their source.
    pub text: String,
    /// Words in the text that are probably wrong, such as misrecognised words. They are in lower
    /// case.
    pub doubtful: Vec<String>,
}

impl Passage {
    /// Creates a passage without a moment, speaker or topic.
    pub fn new(id: impl Into<String>, kind: PassageKind, text: impl Into<String>) -> Self {
        let (id, text) = (id.into(), text.into());
        Self { id, moment: None, kind, speaker: None, topic: None, text, doubtful: Vec::new() }
    }
}

/// A callback for each piece of an answer. The flag is `true` if the piece begins the answer.
type OnPiece = dyn Fn(&str, bool) + Send + Sync;

/// Receives the sentences of an answer as the model generates them. A model that does not support
/// streaming sends nothing. If the model generates the answer again, the stream restarts with its
/// first sentence.
#[derive(Clone, Default)]
pub struct TokenSink(Option<Arc<OnPiece>>);

impl TokenSink {
    /// Creates a sink that calls `on_piece` with each piece and whether it begins the answer.
    pub fn new(on_piece: impl Fn(&str, bool) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(on_piece)))
    }

    /// Returns whether the sink has a receiver.
    pub fn is_active(&self) -> bool {
        self.0.is_some()
    }

    /// Sends a piece; `begins` marks the beginning of the answer.
    pub fn send(&self, piece: &str, begins: bool) {
        if let Some(on_piece) = &self.0 {
            on_piece(piece, begins);
        }
    }
}

impl fmt::Debug for TokenSink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("TokenSink").field(&self.is_active()).finish()
    }
}

/// All sinks are equal, because the receiver does not affect the answer.
impl PartialEq for TokenSink {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// A request to a language model.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// Determines the schema of the answer.
    pub task: Task,
    /// Instructions for a generative model. An extractive model ignores them.
    pub instructions: String,
    /// The evidence, in chronological order.
    pub passages: Vec<Passage>,
    /// The question for [`Task::Answer`], or the subject for [`Task::Narrate`].
    pub question: Option<String>,
    /// The fields to extract, for [`Task::Extract`].
    pub fields: Vec<Field>,
    /// JPEG images, in chronological order.
    pub images: Vec<bytes::Bytes>,
    /// Maximum number of tokens in the answer.
    pub max_tokens: u32,
    /// Receives the answer to [`Task::Answer`] as a stream.
    pub sink: TokenSink,
}

/// The cost of model calls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Number of requests that reached the model, including retries.
    pub calls: u32,
    /// Number of tokens in prompts.
    pub input_tokens: u64,
    /// Number of tokens in answers.
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
    /// The answer, which matches the task's schema.
    pub answer: Value,
    /// The cost of the answer.
    pub usage: Usage,
}

/// A language model that answers requests with JSON.
///
/// ```
/// use adapters::llm::Extractive;
/// use shotlog_ports::llm::{
///     Answer, LanguageModel, Passage, PassageKind, Request, Task, TokenSink,
/// };
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let model = Extractive::default();
/// let text = "A woman in a red coat walks along a snowy street.";
/// let request = Request {
///     task: Task::Answer,
///     instructions: String::new(),
///     passages: vec![Passage::new("p1", PassageKind::Prose, text)],
///     question: Some("What does the woman wear on the street?".into()),
///     fields: Vec::new(),
///     images: Vec::new(),
///     max_tokens: 200,
///     sink: TokenSink::default(),
/// };
/// let completion = model.complete(&request).await?;
/// let answer: Answer = serde_json::from_value(completion.answer)?;
/// assert!(answer.sentences.iter().all(|sentence| sentence.passages == ["p1"]));
/// # Ok(())
/// # }
/// ```
#[async_trait]
pub trait LanguageModel: Send + Sync {
    /// Identifies the model.
    fn model(&self) -> &str;

    /// Whether the model accepts images, as [`Task::Describe`] and [`Task::Persons`] require.
    fn supports_images(&self) -> bool;

    /// Whether calls cost money or send data off the machine.
    fn is_billed(&self) -> bool;

    /// Whether the model only selects parts of the passages by matching words and generates no
    /// text.
    fn is_extractive(&self) -> bool;

    /// Returns the approximate number of passage tokens that fit into one request.
    fn context_tokens(&self) -> usize;

    /// Answers a request. The answer MUST match the task's schema. If the model's answer does not
    /// match, the adapter retries once, then fails with `Corrupt`. If the model refuses, the error
    /// is `Denied`. If the request exceeds the context, the error is `TooLarge`. An extractive
    /// model is deterministic.
    async fn complete(&self, request: &Request) -> Result<Completion>;
}
