//! A classifier with scripted results, for tests of the domain.

use async_trait::async_trait;
use ports::{
    Result,
    classifier::{Classification, ImageClassifier},
    decoder::Image,
};

type Script = dyn Fn(&Image) -> Vec<f32> + Send + Sync;

/// A classifier that calls a closure with each well-formed image. The closure returns the
/// probability of each label.
pub struct ScriptedClassifier {
    labels: Vec<String>,
    script: Box<Script>,
    text_vectors: Option<(String, Box<Script>)>,
}

impl ScriptedClassifier {
    /// Creates a classifier with these labels.
    pub fn new<F>(labels: &[&str], script: F) -> Self
    where
        F: Fn(&Image) -> Vec<f32> + Send + Sync + 'static,
    {
        let labels = labels.iter().map(|label| label.to_string()).collect();
        Self { labels, script: Box::new(script), text_vectors: None }
    }

    /// Adds vectors in the space of a text embedder, from another closure.
    pub fn with_text_vectors<F>(mut self, text_embedder: &str, script: F) -> Self
    where
        F: Fn(&Image) -> Vec<f32> + Send + Sync + 'static,
    {
        self.text_vectors = Some((text_embedder.to_owned(), Box::new(script)));
        self
    }
}

#[async_trait]
impl ImageClassifier for ScriptedClassifier {
    fn model(&self) -> &str {
        "scripted"
    }

    fn labels(&self) -> &[String] {
        &self.labels
    }

    fn text_embedder(&self) -> Option<&str> {
        self.text_vectors.as_ref().map(|(embedder, _)| embedder.as_str())
    }

    async fn classify(&self, images: &[Image]) -> Result<Vec<Classification>> {
        let classify = |image: &Image| {
            crate::picture::view(image)?;
            let text_vector = self.text_vectors.as_ref().map(|(_, script)| script(image));
            Ok(Classification {
                probabilities: (self.script)(image),
                text_vector: text_vector.unwrap_or_default(),
            })
        };
        images.iter().map(classify).collect()
    }
}
