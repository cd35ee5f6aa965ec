//! Named entities in text.

use async_trait::async_trait;

use crate::Result;

/// A named entity.
#[derive(Debug, Clone, PartialEq)]
pub struct EntitySpan {
    /// Byte offsets into the text, on character boundaries.
    pub range: std::ops::Range<usize>,
    /// One of [`EntityRecognizer::labels`].
    pub label: String,
    /// 0..1.
    pub confidence: f32,
}

/// Finds named entities.
#[async_trait]
pub trait EntityRecognizer: Send + Sync {
    /// Identifies the model.
    fn model(&self) -> &str;

    /// The labels it can give, as `person`, `organisation`.
    fn labels(&self) -> &[String];

    /// The entities of each text, in order and not overlapping.
    async fn recognize(&self, texts: &[String]) -> Result<Vec<Vec<EntitySpan>>>;
}
