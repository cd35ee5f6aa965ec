//! What one job spends on the language model, and where it stops.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use ports::llm::{Completion, LanguageModel, Request, Usage};
use ports::{ErrorKind, PortError};

use crate::domain::kernel::error::{Error, Result};
use crate::domain::kernel::ports::Models;

/// The models as one job works with them, and its budget.
pub(crate) struct Budget {
    /// Every billed call of this language model is on it.
    pub(crate) models: Models,
    spending: Arc<Spending>,
}

struct Spending {
    most: Option<u32>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    usage: Usage,
    refused: bool,
}

impl Budget {
    /// At most so many calls.
    pub(crate) fn open(models: &Models, most: Option<u32>) -> Self {
        let spending = Arc::new(Spending { most, state: Mutex::default() });
        let llm = Arc::new(BudgetedModel { inner: models.llm.clone(), spending: spending.clone() });
        Self { models: Models { llm, ..models.clone() }, spending }
    }

    /// What has been spent so far.
    pub(crate) fn usage(&self) -> Usage {
        self.spending.state().usage
    }

    /// Whether a call has been refused.
    pub(crate) fn is_exhausted(&self) -> bool {
        self.spending.state().refused
    }

    /// Fails when a call has been refused.
    pub(crate) fn check(&self) -> Result<()> {
        match self.spending.most {
            Some(most) if self.is_exhausted() => Err(Error::BudgetExhausted(refusal(most))),
            _ => Ok(()),
        }
    }
}

impl Spending {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn refusal(most: u32) -> String {
    format!(
        "the {most} model calls that were allowed (max_model_calls) are used up; what they brought \
         is kept: ingest again, with as many as are still needed, to go on"
    )
}

/// A language model whose billed calls are on an account.
struct BudgetedModel {
    inner: Arc<dyn LanguageModel>,
    spending: Arc<Spending>,
}

#[async_trait]
impl LanguageModel for BudgetedModel {
    fn model(&self) -> &str {
        self.inner.model()
    }

    fn supports_images(&self) -> bool {
        self.inner.supports_images()
    }

    fn is_billed(&self) -> bool {
        self.inner.is_billed()
    }

    fn is_extractive(&self) -> bool {
        self.inner.is_extractive()
    }

    fn context_tokens(&self) -> usize {
        self.inner.context_tokens()
    }

    async fn complete(&self, request: &Request) -> ports::Result<Completion> {
        if !self.inner.is_billed() {
            return self.inner.complete(request).await;
        }
        {
            let mut state = self.spending.state();
            if let Some(most) = self.spending.most
                && state.usage.calls >= most
            {
                state.refused = true;
                return Err(PortError::new(ErrorKind::Denied, refusal(most)));
            }
            // Counted before it is sent, so that calls under way at once stay within the limit.
            state.usage.calls += 1;
        }
        let outcome = self.inner.complete(request).await;
        if let Ok(completion) = &outcome {
            let mut usage = completion.usage;
            usage.calls = usage.calls.saturating_sub(1);
            self.spending.state().usage += usage;
        }
        outcome
    }
}
