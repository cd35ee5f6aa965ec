//! Reranking, which scores how well texts answer a question.

use async_trait::async_trait;

use crate::Result;

/// A cross-encoder, which reads a question and a text together and scores whether the text answers
/// the question. Embeddings, in contrast, are computed separately for the question and the text, so
/// they only show whether the two share a topic.
///
/// ```
/// use adapters::reranker::ScriptedReranker;
/// use shotlog_ports::reranker::Reranker;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> shotlog_ports::Result<()> {
/// let reranker = ScriptedReranker::new(|_, text| if text.contains("basket") { 0.9 } else { 0.1 });
/// let texts = ["Dogs are mammals.", "The dog sleeps in a basket."].map(str::to_owned);
/// assert_eq!(reranker.score("Where does the dog sleep?", &texts).await?, [0.1, 0.9]);
/// # Ok(())
/// # }
/// ```
#[async_trait]
pub trait Reranker: Send + Sync {
    /// Identifies the model.
    fn model(&self) -> &str;

    /// Scores each text, in order, with the probability (0..1) that it answers the question. The
    /// score of a text MUST NOT change by more than 0.01 if other texts are scored in the same
    /// call. The adapter truncates texts that exceed the model's limit.
    async fn score(&self, question: &str, texts: &[String]) -> Result<Vec<f32>>;
}
