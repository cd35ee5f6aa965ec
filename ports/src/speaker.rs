//! Whose voice it is.

use async_trait::async_trait;

use crate::Result;

/// Turns speech into a vector that is alike for the same voice.
#[async_trait]
pub trait SpeakerEmbedder: Send + Sync {
    /// Identifies the model.
    fn model(&self) -> &str;

    /// The mean cosine between stretches of 2 s to 3 s above which they are one voice, −1..1.
    fn same_voice(&self) -> f32;

    /// A unit vector for mono samples at [`crate::decoder::SAMPLE_RATE`], or `None` when they are
    /// too short or silent to tell a voice by.
    async fn embed(&self, samples: &[f32]) -> Result<Option<Vec<f32>>>;
}
