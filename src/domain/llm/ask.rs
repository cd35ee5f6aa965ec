//! Typed questions: what is asked for decides the task, and the answer is of its type.

use ports::llm::{Field, LanguageModel, Passage, Request, TaskAnswer, TokenSink};
use serde_json::Value;

use crate::domain::kernel::error::{Error, Result};

/// A [`Request`] whose task is that of the answer's type.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Prompt {
    /// What a generative model is told to do.
    pub instructions: String,
    /// The evidence, in order of time.
    pub passages: Vec<Passage>,
    /// The question, or who or what it is about.
    pub question: Option<String>,
    /// What is looked for.
    pub fields: Vec<Field>,
    /// JPEG pictures in order of time.
    pub images: Vec<bytes::Bytes>,
    /// Most tokens the answer may take.
    pub max_tokens: u32,
    /// Who hears an answer while it is written.
    pub sink: TokenSink,
}

impl Prompt {
    /// As a model takes it.
    pub(super) fn request<T: TaskAnswer>(self) -> Request {
        let Self { instructions, passages, question, fields, images, max_tokens, sink } = self;
        let task = T::TASK;
        Request { task, instructions, passages, question, fields, images, max_tokens, sink }
    }
}

/// Asking a language model for an answer of a type.
pub(crate) trait Ask {
    /// The answer. `Corrupt` where it is none of that type.
    fn ask<T: TaskAnswer>(&self, prompt: Prompt) -> impl Future<Output = Result<T>> + Send;
}

impl Ask for dyn LanguageModel {
    async fn ask<T: TaskAnswer>(&self, prompt: Prompt) -> Result<T> {
        read(self.complete(&prompt.request::<T>()).await?.answer)
    }
}

pub(super) fn read<T: TaskAnswer>(answer: Value) -> Result<T> {
    serde_json::from_value(answer).map_err(|e| {
        Error::corrupt(format!("the model's answer to {} does not parse: {e}", T::TASK.name()))
    })
}
