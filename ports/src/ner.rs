//! Named entity recognition.

use async_trait::async_trait;

use crate::Result;

/// A named entity.
#[derive(Debug, Clone, PartialEq)]
pub struct EntitySpan {
    /// The entity's byte range in the text. It begins and ends on character boundaries.
    pub range: std::ops::Range<usize>,
    /// One of [`EntityRecognizer::labels`].
    pub label: String,
    /// Confidence that the span and the label are right, 0..1.
    pub confidence: f32,
}

/// Finds named entities in text.
///
/// ```
/// use adapters::ner::RuleEntities;
/// use shotlog_ports::ner::EntityRecognizer;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> shotlog_ports::Result<()> {
/// let text = "The train leaves on 3 May 2024.";
/// let entities = RuleEntities::new().recognize(&[text.to_owned()]).await?;
/// assert_eq!(entities[0][0].label, "date");
/// assert_eq!(&text[entities[0][0].range.clone()], "3 May 2024");
/// # Ok(())
/// # }
/// ```
#[async_trait]
pub trait EntityRecognizer: Send + Sync {
    /// Identifies the model.
    fn model(&self) -> &str;

    /// Returns all labels that the model can assign, such as `person` or `organisation`.
    fn labels(&self) -> &[String];

    /// Finds the entities in each text. The entities of a text are in order and do not overlap.
    async fn recognize(&self, texts: &[String]) -> Result<Vec<Vec<EntitySpan>>>;
}
