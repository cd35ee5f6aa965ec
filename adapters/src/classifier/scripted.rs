//! A classifier with scripted results, for tests of the domain.

use async_trait::async_trait;
use ports::{Result, classifier::ImageClassifier, decoder::Image};

type Script = dyn Fn(&Image) -> Vec<f32> + Send + Sync;

/// A classifier that calls a closure with each well-formed image. The closure returns the
/// probability of each label.
pub struct ScriptedClassifier {
    labels: Vec<String>,
    script: Box<Script>,
}

impl ScriptedClassifier {
    /// Creates a classifier with these labels.
    pub fn new<F>(labels: &[&str], script: F) -> Self
    where
        F: Fn(&Image) -> Vec<f32> + Send + Sync + 'static,
    {
        let labels = labels.iter().map(|label| label.to_string()).collect();
        Self { labels, script: Box::new(script) }
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

    async fn classify(&self, images: &[Image]) -> Result<Vec<Vec<f32>>> {
        let probabilities = |image: &Image| {
            crate::picture::view(image)?;
            Ok((self.script)(image))
        };
        images.iter().map(probabilities).collect()
    }
}
