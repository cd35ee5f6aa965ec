//! Typed requests to a language model: the answer type selects the task.

use ports::llm::{Field, LanguageModel, Passage, Request, TaskAnswer, TokenSink};
use serde_json::Value;

use crate::kernel::error::{Error, Result};

/// A [`Request`] without its task, which the answer type determines.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Prompt {
    /// Instructions for a generative model.
    pub instructions: String,
    /// The evidence, in chronological order.
    pub passages: Vec<Passage>,
    /// The question, or the subject of a narrative.
    pub question: Option<String>,
    /// Fields to extract.
    pub fields: Vec<Field>,
    /// JPEG images, in chronological order.
    pub images: Vec<bytes::Bytes>,
    /// Maximum number of tokens in the answer.
    pub max_tokens: u32,
    /// Receives the answer while it is being generated.
    pub sink: TokenSink,
}

impl Prompt {
    /// Builds the request to the model.
    pub(super) fn request<T: TaskAnswer>(self) -> Request {
        let Self { instructions, passages, question, fields, images, max_tokens, sink } = self;
        let task = T::TASK;
        Request { task, instructions, passages, question, fields, images, max_tokens, sink }
    }
}

/// Structured output: requests that return a typed answer.
pub(crate) trait StructuredOutput {
    /// Requests an answer of type `T`. Returns `Corrupt` if the model's answer cannot be parsed as
    /// `T`.
    fn complete_as<T: TaskAnswer>(&self, prompt: Prompt) -> impl Future<Output = Result<T>> + Send;
}

impl StructuredOutput for dyn LanguageModel {
    async fn complete_as<T: TaskAnswer>(&self, prompt: Prompt) -> Result<T> {
        parse_answer(self.complete(&prompt.request::<T>()).await?.answer)
    }
}

pub(super) fn parse_answer<T: TaskAnswer>(answer: Value) -> Result<T> {
    serde_json::from_value(answer).map_err(|e| {
        Error::corrupt(format!("the model's answer to {} does not parse: {e}", T::TASK.name()))
    })
}
