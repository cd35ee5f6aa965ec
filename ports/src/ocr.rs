//! Optical character recognition (OCR): text in images.

use async_trait::async_trait;

use crate::{Result, decoder::Image, detector::BoundingBox};

/// One line of text.
#[derive(Debug, Clone, PartialEq)]
pub struct TextLine {
    /// The text. Words are separated by spaces if the script uses spaces.
    pub text: String,
    /// Confidence that the text is right, 0..1.
    pub confidence: f32,
    /// The axis-aligned box around the line.
    pub bounds: BoundingBox,
}

/// An image that was read before.
#[derive(Debug, Clone, PartialEq)]
pub struct ReadImage {
    /// The image.
    pub image: Image,
    /// The lines of text in it.
    pub lines: Vec<TextLine>,
}

/// Reads text in images.
///
/// ```
/// use adapters::ocr::ScriptedTextRecognizer;
/// use shotlog_ports::{decoder::Image, ocr::{TextLine, TextRecognizerExt}};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> shotlog_ports::Result<()> {
/// let line = TextLine { text: "EXIT".into(), confidence: 0.9, bounds: [0.4, 0.1, 0.2, 0.1] };
/// let reader = ScriptedTextRecognizer::with_lines(vec![line.clone()]);
/// let image = Image { width: 2, height: 1, rgb: vec![0, 0, 0, 255, 255, 255] };
/// assert_eq!(reader.read(&image).await?, [line]);
/// # Ok(())
/// # }
/// ```
#[async_trait]
pub trait TextRecognizer: Send + Sync {
    /// Identifies the model and its settings.
    fn model(&self) -> &str;

    /// Reads the lines of text in an image, in reading order. `before` is an image that was read
    /// before, such as an earlier frame of the same shot. Where both images look the same, the
    /// adapter may return a line of that image instead of recognising it again. An image of another
    /// size has no effect.
    async fn read_after(&self, image: &Image, before: Option<&ReadImage>) -> Result<Vec<TextLine>>;
}

/// Conveniences over every text recognizer.
#[async_trait]
pub trait TextRecognizerExt: TextRecognizer {
    /// Reads the lines of text in an image, in reading order.
    async fn read(&self, image: &Image) -> Result<Vec<TextLine>> {
        self.read_after(image, None).await
    }
}

impl<T: TextRecognizer + ?Sized> TextRecognizerExt for T {}
