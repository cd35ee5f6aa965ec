//! Sentiment analysis.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::Result;

/// Shares of positive, neutral and negative sentiment. They add up to 1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Sentiment {
    /// Share of positive sentiment, 0..1.
    pub positive: f32,
    /// Share of neutral sentiment, 0..1.
    pub neutral: f32,
    /// Share of negative sentiment, 0..1.
    pub negative: f32,
}

/// Classifies the sentiment of text.
///
/// ```
/// use adapters::sentiment::Vader;
/// use shotlog_ports::sentiment::SentimentClassifier;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> shotlog_ports::Result<()> {
/// let results = Vader::new().classify(&["What a wonderful day!".to_owned()]).await?;
/// assert!(results[0].positive > results[0].negative);
/// # Ok(())
/// # }
/// ```
#[async_trait]
pub trait SentimentClassifier: Send + Sync {
    /// Identifies the model, such as `vader`.
    fn model(&self) -> &str;

    /// Classifies each text and returns one result per text, in order. Text without words is
    /// neutral.
    async fn classify(&self, texts: &[String]) -> Result<Vec<Sentiment>>;
}
