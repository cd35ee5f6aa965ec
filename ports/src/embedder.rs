//! Text embedding.

use async_trait::async_trait;

use crate::Result;

/// Assumed bytes per token if there is no tokenizer. Prose and JSON usually have more, so estimates
/// tend to be too high.
const BYTES_PER_TOKEN: usize = 3;

/// Turns texts into vectors. The cosine of two vectors shows how similar the texts are in meaning.
///
/// ```
/// use adapters::embedder::HashingEmbedder;
/// use shotlog_ports::embedder::Embedder;
/// use shotlog_ports::vector::dot;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> shotlog_ports::Result<()> {
/// let embedder = HashingEmbedder::new(384)?;
/// let texts = ["a red bicycle", "the red bicycle", "quarterly revenue"].map(str::to_owned);
/// let vectors = embedder.embed(&texts).await?;
///
/// assert!(dot(&vectors[0], &vectors[1]) > dot(&vectors[0], &vectors[2]));
/// # Ok(())
/// # }
/// ```
#[async_trait]
pub trait Embedder: Send + Sync {
    /// Identifies the model and everything else that affects its vectors, for example
    /// `all-MiniLM-L6-v2`.
    fn model(&self) -> &str;

    /// Returns the length of every vector.
    fn dimension(&self) -> usize;

    /// Computes one unit vector per text, in order. The same text MUST yield the same vector
    /// (cosine above 0.999) regardless of the other texts. The adapter truncates texts that exceed
    /// the model's limit.
    async fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>>;

    /// Counts the tokens in each text with the model's tokenizer, without truncating the text. If
    /// there is no tokenizer, returns the result of [`estimate_tokens`].
    async fn count_tokens(&self, texts: &[String]) -> Result<Vec<usize>>;

    /// Checks that the model can be reached, and fails otherwise. MUST NOT cause costs and MUST NOT
    /// retry. The caller sets the deadline. A model that runs within the process can always be
    /// reached.
    async fn probe(&self) -> Result<()>;
}

/// Estimates the number of tokens in each text. The estimates tend to be too high.
pub fn estimate_tokens(texts: &[String]) -> Vec<usize> {
    texts.iter().map(|text| text.len().div_ceil(BYTES_PER_TOKEN)).collect()
}
