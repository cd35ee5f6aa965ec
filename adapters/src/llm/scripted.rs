//! A scripted language model for tests.

use std::collections::VecDeque;

use async_trait::async_trait;
use parking_lot::{Mutex, MutexGuard};
use ports::llm::{Completion, LanguageModel, Request, Task, Usage};
use ports::{ErrorKind, PortError, Result};
use serde::Serialize;
use serde_json::Value;

type Reply = Box<dyn Fn(&Request) -> Result<Value> + Send + Sync>;

/// A model that takes its answers from a queue, then from a closure, and records every request.
pub struct ScriptedLanguageModel {
    model: String,
    sees: bool,
    billed: bool,
    context_tokens: usize,
    reply: Reply,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    queue: VecDeque<Result<Value>>,
    requests: Vec<Request>,
}

impl ScriptedLanguageModel {
    /// Creates a model that answers every request with `reply`, accepts no images and is not
    /// billed.
    pub fn new(reply: impl Fn(&Request) -> Result<Value> + Send + Sync + 'static) -> Self {
        Self {
            model: "scripted".to_owned(),
            sees: false,
            billed: false,
            context_tokens: 100_000,
            reply: Box::new(reply),
            state: Mutex::default(),
        }
    }

    /// Creates a model that answers only from the queue, which [`Self::then`] fills. It fails with
    /// `Unavailable` if the queue is empty.
    pub fn queue() -> Self {
        Self::new(|request| {
            let task = request.task.name();
            Err(PortError::new(ErrorKind::Unavailable, format!("nothing is scripted for {task}")))
        })
    }

    /// Creates a model that answers every task with an empty answer of the task's type.
    pub fn blank() -> Self {
        Self::new(|request| match request.task {
            Task::Describe => json(&ports::llm::Description::default()),
            Task::Summarize => json(&ports::llm::Summary::default()),
            Task::Title => json(&ports::llm::Title::default()),
            Task::Events => json(&ports::llm::Events::default()),
            Task::Answer => json(&ports::llm::Answer::default()),
            Task::Narrate => json(&ports::llm::Narrative::default()),
            Task::Persons => json(&ports::llm::Persons::default()),
            Task::Extract => json(&ports::llm::Extraction::default()),
        })
    }

    /// Appends an answer to the queue. Answers in the queue take precedence over the closure.
    #[must_use]
    pub fn then(self, answer: &impl Serialize) -> Self {
        self.push(json(answer));
        self
    }

    /// Appends a failure to the queue.
    #[must_use]
    pub fn then_fail(self, kind: ErrorKind, message: &str) -> Self {
        self.push(Err(PortError::new(kind, message)));
        self
    }

    /// Sets the model's name.
    #[must_use]
    pub fn named(self, model: &str) -> Self {
        Self { model: model.to_owned(), ..self }
    }

    /// Sets whether the model accepts images.
    #[must_use]
    pub fn seeing(self, sees: bool) -> Self {
        Self { sees, ..self }
    }

    /// Sets whether calls cost money.
    #[must_use]
    pub fn billing(self, billed: bool) -> Self {
        Self { billed, ..self }
    }

    /// Sets the context size.
    #[must_use]
    pub fn with_context(self, tokens: usize) -> Self {
        Self { context_tokens: tokens, ..self }
    }

    /// Appends an answer or a failure to the queue of a model that is already in use.
    pub fn push(&self, answer: Result<Value>) {
        self.state().queue.push_back(answer);
    }

    /// Returns every request so far, in order.
    pub fn requests(&self) -> Vec<Request> {
        self.state().requests.clone()
    }

    /// Returns the number of calls so far.
    pub fn calls(&self) -> usize {
        self.state().requests.len()
    }

    /// Returns the number of calls so far for one task.
    pub fn calls_for(&self, task: Task) -> usize {
        self.state().requests.iter().filter(|request| request.task == task).count()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }
}

fn json(answer: &impl Serialize) -> Result<Value> {
    serde_json::to_value(answer)
        .map_err(|e| PortError::caused_by(ErrorKind::Invalid, "a scripted answer is not JSON", e))
}

#[async_trait]
impl LanguageModel for ScriptedLanguageModel {
    fn model(&self) -> &str {
        &self.model
    }

    fn supports_images(&self) -> bool {
        self.sees
    }

    fn is_billed(&self) -> bool {
        self.billed
    }

    fn is_extractive(&self) -> bool {
        false
    }

    fn context_tokens(&self) -> usize {
        self.context_tokens
    }

    async fn complete(&self, request: &Request) -> Result<Completion> {
        let queued = {
            let mut state = self.state();
            state.requests.push(request.clone());
            state.queue.pop_front()
        };
        if matches!(request.task, Task::Describe | Task::Persons) && !self.sees {
            return Err(PortError::new(ErrorKind::Invalid, "this scripted model sees no pictures"));
        }
        let answer = match queued {
            Some(answer) => answer?,
            None => (self.reply)(request)?,
        };
        super::check_answer(request.task, &answer).map_err(|e| {
            PortError::new(
                ErrorKind::Corrupt,
                format!("a scripted answer does not fit the task {}: {e}", request.task.name()),
            )
        })?;
        let words = |text: &str| text.split_whitespace().count() as u64;
        let input = request.passages.iter().map(|passage| words(&passage.text)).sum();
        let usage =
            Usage { calls: 1, input_tokens: input, output_tokens: words(&answer.to_string()) };
        Ok(Completion { answer, usage })
    }
}
