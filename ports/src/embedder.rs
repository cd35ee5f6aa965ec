//! Text embedding.

use async_trait::async_trait;

use crate::Result;

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

    /// Fails unless the model can be asked. MUST NOT bill anything and MUST NOT try again what
    /// failed; the caller sets the deadline. A model within the process is always there.
    async fn probe(&self) -> Result<()> {
        Ok(())
    }
}
