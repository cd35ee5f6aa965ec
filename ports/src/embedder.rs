//! Text embedding.

use async_trait::async_trait;

use crate::Result;

/// Bytes that a token stands for, where no tokenizer tells: fewer than it does in prose or JSON.
const BYTES_PER_TOKEN: usize = 3;

/// Turns texts into vectors whose cosine says how alike their meanings are.
#[async_trait]
pub trait Embedder: Send + Sync {
    /// Identifies the model and everything that changes its vectors, as `all-MiniLM-L6-v2`.
    fn model(&self) -> &str;

    /// Length of every vector.
    fn dimension(&self) -> usize;

    /// One unit vector per text, in order. The same text MUST give the same vector (cosine above
    /// 0.999) whatever stands beside it. Texts longer than the model reads are cut by the adapter.
    async fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>>;

    /// Tokens of each text, none of them cut, as the model's tokenizer counts them. Where that is not
    /// at hand, an estimate that is rather too high.
    async fn count_tokens(&self, texts: &[String]) -> Result<Vec<usize>> {
        Ok(texts.iter().map(|text| text.len().div_ceil(BYTES_PER_TOKEN)).collect())
    }

    /// Fails unless the model can be asked. MUST NOT bill anything and MUST NOT try again what
    /// failed; the caller sets the deadline. A model within the process is always there.
    async fn probe(&self) -> Result<()> {
        Ok(())
    }
}
