//! Whether texts answer a question.

use async_trait::async_trait;

use crate::Result;

/// Reads a question and a text together, and tells whether the one answers the other: what two vectors,
/// each made without knowing of the other, cannot tell apart from being about the same.
#[async_trait]
pub trait Reranker: Send + Sync {
    /// Identifies the model.
    fn model(&self) -> &str;

    /// How probable it is that each text answers the question, 0..1, in order. What stands beside a text
    /// MUST NOT change it by more than 0.01. Longer texts than the model reads are cut by the adapter.
    async fn score(&self, question: &str, texts: &[String]) -> Result<Vec<f32>>;
}
