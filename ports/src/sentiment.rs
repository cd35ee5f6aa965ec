//! Sentiment of language.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::Result;

/// Shares that add up to 1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Sentiment {
    /// 0..1.
    pub positive: f32,
    /// 0..1.
    pub neutral: f32,
    /// 0..1.
    pub negative: f32,
}

/// Classifies the sentiment of texts.
#[async_trait]
pub trait SentimentClassifier: Send + Sync {
    /// Identifies the model, as `vader`.
    fn model(&self) -> &str;

    /// One result per text, in order. Text without words is neutral.
    async fn classify(&self, texts: &[String]) -> Result<Vec<Sentiment>>;
}
