//! Wrappers for models that count calls, tokens and cost.

use std::sync::Arc;
use std::time::Instant;

use async_trait::async_trait;
use ports::embedder::Embedder;
use ports::llm::{Completion, LanguageModel, Request};
use serde::{Deserialize, Serialize};
use tracing::Instrument;
use tracing::field::Empty;

use crate::kernel::metrics::{model_called, tokens_used};

/// Token prices for a language model, both in the same currency. `/metrics` reports the total cost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Prices {
    /// Price per million input tokens.
    #[serde(rename = "input_price")]
    pub input: f64,
    /// Price per million output tokens.
    #[serde(rename = "output_price")]
    pub output: f64,
}

/// Wraps a language model and counts its calls, tokens and cost.
pub(crate) struct MeteredModel {
    inner: Arc<dyn LanguageModel>,
    prices: Prices,
}

impl MeteredModel {
    pub(crate) fn new(inner: Arc<dyn LanguageModel>, prices: Prices) -> Self {
        Self { inner, prices }
    }
}

#[async_trait]
impl LanguageModel for MeteredModel {
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
        let started = Instant::now();
        let span = tracing::info_span!(
            "model call",
            model = self.inner.model(),
            task = request.task.name(),
            input_tokens = Empty,
            output_tokens = Empty
        );
        let outcome = self.inner.complete(request).instrument(span.clone()).await;
        if let Ok(completion) = &outcome {
            span.record("input_tokens", completion.usage.input_tokens);
            span.record("output_tokens", completion.usage.output_tokens);
        }
        let model = self.inner.model().to_owned();
        let task = format!("{:?}", request.task).to_lowercase();
        model_called("language_model", model.clone(), task, outcome.is_ok(), started);
        if let Ok(completion) = &outcome {
            let usage = completion.usage;
            let cost = usage.input_tokens as f64 * self.prices.input
                + usage.output_tokens as f64 * self.prices.output;
            tokens_used(model, usage, cost / 1e6);
        }
        outcome
    }
}

/// Wraps an embedder and counts its calls.
pub(crate) struct MeteredEmbedder(Arc<dyn Embedder>);

impl MeteredEmbedder {
    pub(crate) fn new(inner: Arc<dyn Embedder>) -> Self {
        Self(inner)
    }
}

#[async_trait]
impl Embedder for MeteredEmbedder {
    fn model(&self) -> &str {
        self.0.model()
    }

    fn dimension(&self) -> usize {
        self.0.dimension()
    }

    async fn embed(&self, texts: &[String]) -> ports::Result<Vec<Vec<f32>>> {
        let started = Instant::now();
        let outcome = self.0.embed(texts).await;
        model_called(
            "embedder",
            self.0.model().to_owned(),
            "embed".into(),
            outcome.is_ok(),
            started,
        );
        outcome
    }

    async fn count_tokens(&self, texts: &[String]) -> ports::Result<Vec<usize>> {
        self.0.count_tokens(texts).await
    }

    async fn probe(&self) -> ports::Result<()> {
        self.0.probe().await
    }
}
