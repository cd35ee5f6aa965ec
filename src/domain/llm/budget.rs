//! One job's call budget: counts billed model calls and enforces a limit.

use std::sync::Arc;

use async_trait::async_trait;
use parking_lot::{Mutex, MutexGuard};
use ports::llm::{Completion, LanguageModel, Request, Usage};
use ports::{ErrorKind, PortError};

use crate::kernel::error::{Error, Result};
use crate::kernel::ports::Models;

/// One job's call budget, and the models whose calls count against it.
pub(crate) struct CallBudget {
    /// The models; every billed call to the language model counts against the budget.
    pub(crate) models: Models,
    account: Arc<Account>,
}

struct Account {
    max_calls: Option<u32>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    usage: Usage,
    refused: bool,
}

impl CallBudget {
    /// Creates a budget of at most `max_calls` billed calls, or an unlimited budget if it is
    /// `None`.
    pub(crate) fn new(models: &Models, max_calls: Option<u32>) -> Self {
        let account = Arc::new(Account { max_calls, state: Mutex::default() });
        let llm = Arc::new(BudgetedModel { inner: models.llm.clone(), account: account.clone() });
        Self { models: Models { llm, ..models.clone() }, account }
    }

    /// Returns the usage so far.
    pub(crate) fn usage(&self) -> Usage {
        self.account.state().usage
    }

    /// Whether a call has been refused.
    pub(crate) fn is_exhausted(&self) -> bool {
        self.account.state().refused
    }

    /// Returns `BudgetExhausted` if a call has been refused.
    pub(crate) fn check(&self) -> Result<()> {
        match self.account.max_calls {
            Some(max_calls) if self.is_exhausted() => {
                Err(Error::BudgetExhausted(refusal(max_calls)))
            }
            _ => Ok(()),
        }
    }
}

impl Account {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }
}

fn refusal(max_calls: u32) -> String {
    format!(
        "the {max_calls} model calls allowed by max_model_calls are used up; their results are kept: \
         ingest again with as many calls as are still needed to continue"
    )
}

/// A language model whose billed calls count against a budget.
struct BudgetedModel {
    inner: Arc<dyn LanguageModel>,
    account: Arc<Account>,
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
            let mut state = self.account.state();
            if let Some(max_calls) = self.account.max_calls
                && state.usage.calls >= max_calls
            {
                state.refused = true;
                return Err(PortError::new(ErrorKind::Denied, refusal(max_calls)));
            }
            // Count the call before sending it, so that concurrent calls stay within the limit.
            state.usage.calls += 1;
        }
        let outcome = self.inner.complete(request).await;
        if let Ok(completion) = &outcome {
            let mut usage = completion.usage;
            usage.calls = usage.calls.saturating_sub(1);
            self.account.state().usage += usage;
        }
        outcome
    }
}
