//! A memoised language model for one run of the aggregators. It sends no request twice, stops
//! calling an unreachable server, and keeps the answers that a failed aggregator has already paid
//! for.

use std::collections::{BTreeMap, BTreeSet};

use parking_lot::{Mutex, MutexGuard};
use ports::llm::{LanguageModel, Request, TaskAnswer, Usage};
use ports::{ErrorKind, PortError};
use serde_json::Value;
use sha1::{Digest, Sha1};

use crate::kernel::error::Result;
use crate::llm::structured::{Prompt, StructuredOutput, parse_answer};

/// Answers by request key.
pub(crate) type Answers = BTreeMap<String, Value>;

/// Answers that failed aggregators had received, by aggregator.
pub(crate) type SavedAnswers = BTreeMap<String, Answers>;

/// A model and its answers during one run.
pub(crate) struct MemoisedModel<'a> {
    llm: &'a dyn LanguageModel,
    /// Held during calls until the first one succeeds, so that an unreachable server is tried once,
    /// not once per waiting request.
    first: tokio::sync::Mutex<()>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    answered: bool,
    answers: Answers,
    /// Request keys of the current aggregator.
    requested: BTreeSet<String>,
    usage: Usage,
    failure: Option<(ErrorKind, String)>,
}

impl<'a> MemoisedModel<'a> {
    /// Wraps a model and reuses saved answers.
    pub(crate) fn new(llm: &'a dyn LanguageModel, saved: &SavedAnswers) -> Self {
        let answers = saved.values().flatten().map(|(k, v)| (k.clone(), v.clone())).collect();
        let state = State { answers, ..State::default() };
        Self { llm, first: tokio::sync::Mutex::new(()), state: Mutex::new(state) }
    }

    /// Returns the approximate number of tokens available for passages in one request.
    pub(crate) fn context_tokens(&self) -> usize {
        self.llm.context_tokens()
    }

    /// Whether the model's calls cost money or leave the machine.
    pub(crate) fn is_billed(&self) -> bool {
        self.llm.is_billed()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    /// Resets the counts for the next aggregator. A server found unreachable is not called again in
    /// this run.
    pub(crate) fn begin(&self) {
        let mut state = self.state();
        state.requested.clear();
        state.usage = Usage::default();
        state.failure.take_if(|(kind, _)| *kind != ErrorKind::Unavailable);
    }

    /// Returns the current aggregator's usage.
    pub(crate) fn usage(&self) -> Usage {
        self.state().usage
    }

    /// Returns the answers that the current aggregator has received.
    pub(crate) fn answers(&self) -> Answers {
        let state = self.state();
        let got = |key: &String| Some((key.clone(), state.answers.get(key)?.clone()));
        state.requested.iter().filter_map(got).collect()
    }

    /// Returns the answer from the model or from memory. After a failure, the current aggregator
    /// cannot succeed, so no further requests are sent for it.
    async fn complete(&self, request: &Request) -> Result<Value> {
        let key = key(self.llm.model(), request);
        self.state().requested.insert(key.clone());
        if let Some(cached) = self.cached(&key) {
            return cached;
        }
        let answered = self.state().answered;
        let _guard = if answered { None } else { Some(self.first.lock().await) };
        if let Some(cached) = self.cached(&key) {
            return cached;
        }
        match self.llm.complete(request).await {
            Ok(completion) => {
                let mut state = self.state();
                state.answered = true;
                state.usage += completion.usage;
                state.answers.insert(key, completion.answer.clone());
                Ok(completion.answer)
            }
            Err(error) => {
                self.state().failure.get_or_insert((error.kind(), error.to_string()));
                Err(error.into())
            }
        }
    }

    fn cached(&self, key: &str) -> Option<Result<Value>> {
        let state = self.state();
        if let Some(answer) = state.answers.get(key) {
            return Some(Ok(answer.clone()));
        }
        let (kind, message) = state.failure.as_ref()?;
        Some(Err(PortError::new(*kind, message.clone()).into()))
    }
}

impl StructuredOutput for MemoisedModel<'_> {
    async fn complete_as<T: TaskAnswer>(&self, prompt: Prompt) -> Result<T> {
        parse_answer(self.complete(&prompt.request::<T>()).await?)
    }
}

/// Computes a request's key: a hash of everything that determines the answer.
fn key(model: &str, request: &Request) -> String {
    let mut hash = Sha1::new();
    let mut add = |text: &str| {
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text.as_bytes());
    };
    add(model);
    add(request.task.name());
    add(&request.instructions);
    add(request.question.as_deref().unwrap_or_default());
    add(&request.max_tokens.to_string());
    for passage in &request.passages {
        // `Debug` output covers every field, including future ones. Stored keys were computed when
        // the span type was called `Moment`.
        add(&format!("{passage:?}").replacen("VideoSpan {", "Moment {", 1));
    }
    for field in &request.fields {
        add(&format!("{field:?}"));
    }
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use async_trait::async_trait;
    use ports::llm::{Completion, Task};
    use serde_json::json;

    use super::*;

    /// A model that counts calls, and fails with `kind` if a request's `max_tokens` is `tokens`.
    struct Failing {
        tokens: u32,
        kind: ErrorKind,
        calls: AtomicU32,
    }

    #[async_trait]
    impl LanguageModel for Failing {
        fn model(&self) -> &str {
            "failing"
        }

        fn supports_images(&self) -> bool {
            false
        }

        fn is_billed(&self) -> bool {
            true
        }

        fn is_extractive(&self) -> bool {
            false
        }

        fn context_tokens(&self) -> usize {
            1000
        }

        async fn complete(&self, request: &Request) -> ports::Result<Completion> {
            self.calls.fetch_add(1, Ordering::SeqCst);
            if request.max_tokens == self.tokens {
                return Err(PortError::new(self.kind, "no"));
            }
            let usage = Usage { calls: 1, input_tokens: 7, output_tokens: 3 };
            Ok(Completion { answer: json!(request.max_tokens), usage })
        }
    }

    fn request(max_tokens: u32) -> Request {
        Request {
            task: Task::Title,
            instructions: String::new(),
            passages: Vec::new(),
            question: None,
            fields: Vec::new(),
            images: Vec::new(),
            max_tokens,
            sink: Default::default(),
        }
    }

    fn failing(kind: ErrorKind) -> Failing {
        Failing { tokens: 2, kind, calls: AtomicU32::new(0) }
    }

    #[tokio::test]
    async fn no_request_is_sent_twice() {
        let llm = failing(ErrorKind::Denied);
        let model = MemoisedModel::new(&llm, &SavedAnswers::new());
        model.begin();
        for tokens in [1, 3, 1, 3] {
            assert_eq!(model.complete(&request(tokens)).await.expect("an answer"), json!(tokens));
        }
        assert_eq!(model.usage(), Usage { calls: 2, input_tokens: 14, output_tokens: 6 });
        model.begin();
        model.complete(&request(1)).await.expect("an answer");
        assert_eq!((model.usage().calls, model.answers().len()), (0, 1));

        let saved = SavedAnswers::from([("of-one".to_owned(), model.answers())]);
        let model = MemoisedModel::new(&llm, &saved);
        model.complete(&request(1)).await.expect("a saved answer");
        assert_eq!(llm.calls.load(Ordering::SeqCst), 2);
    }

    #[tokio::test]
    async fn a_failure_stops_the_aggregator_and_an_unreachable_server_the_run() {
        for (kind, calls_after) in [(ErrorKind::Denied, 3), (ErrorKind::Unavailable, 2)] {
            let llm = failing(kind);
            let model = MemoisedModel::new(&llm, &SavedAnswers::new());
            model.begin();
            model.complete(&request(1)).await.expect("an answer");
            model.complete(&request(2)).await.expect_err("a failure");
            model.complete(&request(3)).await.expect_err("not sent");
            assert_eq!(llm.calls.load(Ordering::SeqCst), 2);
            assert_eq!(model.answers().len(), 1, "received answers are kept");
            model.begin();
            let outcome = model.complete(&request(4)).await;
            assert_eq!(outcome.is_ok(), kind == ErrorKind::Denied);
            assert_eq!(llm.calls.load(Ordering::SeqCst), calls_after);
        }
    }

    #[tokio::test]
    async fn an_unreachable_server_is_tried_once() {
        let llm = failing(ErrorKind::Unavailable);
        let model = MemoisedModel::new(&llm, &SavedAnswers::new());
        let request = request(2);
        let all = futures::future::join_all((0..8).map(|_| model.complete(&request))).await;
        assert!(all.iter().all(Result::is_err));
        assert_eq!(llm.calls.load(Ordering::SeqCst), 1);
    }
}
