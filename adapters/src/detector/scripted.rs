//! A detector with scripted results, for tests of the domain.

use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use ports::{
    Result,
    decoder::Image,
    detector::{Detection, ObjectDetector},
};

type Script = dyn Fn(&Image) -> Result<Vec<Detection>> + Send + Sync;

/// A detector that calls a closure with each image and counts the calls.
pub struct ScriptedDetector {
    labels: Vec<String>,
    script: Box<Script>,
    calls: AtomicUsize,
}

impl ScriptedDetector {
    /// Creates a detector that calls `script` with each well-formed image and sorts the result by
    /// confidence.
    pub fn new<F>(labels: &[&str], script: F) -> Self
    where
        F: Fn(&Image) -> Result<Vec<Detection>> + Send + Sync + 'static,
    {
        let labels = labels.iter().map(|l| l.to_string()).collect();
        Self { labels, script: Box::new(script), calls: AtomicUsize::new(0) }
    }

    /// Creates a detector that detects the same objects in every image.
    pub fn with_objects(objects: Vec<Detection>) -> Self {
        let mut labels: Vec<&str> = objects.iter().map(|d| d.label.as_str()).collect();
        labels.sort_unstable();
        labels.dedup();
        let labels: Vec<String> = labels.into_iter().map(str::to_owned).collect();
        let script = Box::new(move |_: &Image| Ok(objects.clone()));
        Self { labels, script, calls: AtomicUsize::new(0) }
    }

    /// Returns the number of images received so far.
    pub fn calls(&self) -> usize {
        self.calls.load(Ordering::Relaxed)
    }
}

#[async_trait]
impl ObjectDetector for ScriptedDetector {
    fn model(&self) -> &str {
        "scripted"
    }

    fn labels(&self) -> &[String] {
        &self.labels
    }

    async fn detect(&self, image: &Image) -> Result<Vec<Detection>> {
        crate::picture::view(image)?;
        self.calls.fetch_add(1, Ordering::Relaxed);
        let mut found = (self.script)(image)?;
        found.sort_by(|a, b| b.confidence.total_cmp(&a.confidence));
        Ok(found)
    }
}
