//! Speakers: how many speak at once and when they change, and whose voice a stretch is.

use async_trait::async_trait;

use crate::Result;

/// Who speaks in a window of sound. Speakers are numbered within the window alone: number 0 of one
/// window need not be number 0 of the next.
#[derive(Debug, Clone, PartialEq)]
pub struct WindowActivity {
    /// The middle of the first frame, seconds from the first sample.
    pub first: f64,
    /// From the middle of one frame to that of the next, seconds.
    pub step: f64,
    /// Per frame a bit for each speaker who speaks, speaker 0 the lowest.
    pub frames: Vec<u8>,
}

/// Tells apart who speaks within a window of sound, several at once included.
#[async_trait]
pub trait SpeakerSegmentation: Send + Sync {
    /// Identifies the model.
    fn model(&self) -> &str;

    /// Length of a window, samples at [`crate::decoder::SAMPLE_RATE`].
    fn window(&self) -> usize;

    /// Most speakers told apart in one window, 1..=8.
    fn max_speakers(&self) -> usize;

    /// Who speaks in each of several windows of mono samples, which a network hears sooner together
    /// than one after the other. What a shorter window lacks counts as silence at its end, so every
    /// answer MUST have the same number of frames, first time and step. More samples than
    /// [`Self::window`] are [`crate::ErrorKind::Invalid`].
    async fn segment(&self, windows: Vec<Vec<f32>>) -> Result<Vec<WindowActivity>>;
}

/// Turns speech into a vector that is alike for the same voice.
#[async_trait]
pub trait SpeakerEmbedder: Send + Sync {
    /// Identifies the model.
    fn model(&self) -> &str;

    /// The mean cosine between clean stretches of 1.5 s above which they are one voice, −1..1.
    fn same_voice(&self) -> f32;

    /// A unit vector for mono samples at [`crate::decoder::SAMPLE_RATE`], or `None` when they are
    /// too short or silent to tell a voice by.
    async fn embed(&self, samples: &[f32]) -> Result<Option<Vec<f32>>>;
}
