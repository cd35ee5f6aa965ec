//! A text recognizer with scripted results, for tests of the domain.

use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use ports::{
    Result,
    decoder::Image,
    ocr::{ReadImage, TextLine, TextRecognizer},
};

type Script = dyn Fn(&Image) -> Result<Vec<TextLine>> + Send + Sync;

/// A recognizer that calls a closure with each image and counts the calls. An image of one colour
/// never has text.
pub struct ScriptedTextRecognizer {
    script: Box<Script>,
    calls: AtomicUsize,
}

impl ScriptedTextRecognizer {
    /// Creates a recognizer that calls `script` with each well-formed image.
    pub fn new<F>(script: F) -> Self
    where
        F: Fn(&Image) -> Result<Vec<TextLine>> + Send + Sync + 'static,
    {
        Self { script: Box::new(script), calls: AtomicUsize::new(0) }
    }

    /// Creates a recognizer that reads the same lines in every image.
    pub fn with_lines(lines: Vec<TextLine>) -> Self {
        Self::new(move |_| Ok(lines.clone()))
    }

    /// Returns the number of images received so far.
    pub fn calls(&self) -> usize {
        self.calls.load(Ordering::Relaxed)
    }
}

#[async_trait]
impl TextRecognizer for ScriptedTextRecognizer {
    fn model(&self) -> &str {
        "scripted"
    }

    async fn read_after(&self, image: &Image, _: Option<&ReadImage>) -> Result<Vec<TextLine>> {
        crate::picture::view(image)?;
        self.calls.fetch_add(1, Ordering::Relaxed);
        if image.rgb.chunks_exact(3).all(|p| p == &image.rgb[..3]) {
            return Ok(Vec::new());
        }
        (self.script)(image)
    }
}
