//! Speaker diarization. Segmentation finds who speaks when; voice embeddings match speakers across
//! windows.

use async_trait::async_trait;

use crate::Result;

/// The active speakers in a window of audio. Speaker numbers are local to a window: speaker 0 of
/// one window and speaker 0 of the next may be different people.
#[derive(Debug, Clone, PartialEq)]
pub struct WindowActivity {
    /// Time of the first frame's centre, in seconds from the first sample.
    pub first: f64,
    /// Time between the centres of adjacent frames, in seconds.
    pub step: f64,
    /// One bit mask per frame: bit `n` is set if speaker `n` is speaking.
    pub frames: Vec<u8>,
}

/// Finds which speakers are active at each moment in a window of audio, even if they overlap.
///
/// ```
/// use adapters::speaker::ScriptedSpeakerSegmentation;
/// use shotlog_ports::speaker::SpeakerSegmentation;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> shotlog_ports::Result<()> {
/// let segmentation = ScriptedSpeakerSegmentation::new(|_| 0b01);
/// let windows = segmentation.segment(vec![vec![0.1; 16_000]]).await?;
/// assert_eq!(windows[0].frames[0], 0b01, "speaker 0 is active in the first frame");
/// assert_eq!(windows[0].frames[10], 0, "missing samples count as silence");
/// # Ok(())
/// # }
/// ```
#[async_trait]
pub trait SpeakerSegmentation: Send + Sync {
    /// Identifies the model.
    fn model(&self) -> &str;

    /// Returns the window length in samples at [`SAMPLE_RATE`](crate::decoder::SAMPLE_RATE).
    fn window(&self) -> usize;

    /// Returns the maximum number of speakers in one window, 1..=8.
    fn max_speakers(&self) -> usize;

    /// Finds the active speakers in each window of mono samples. Models process a batch faster than
    /// one window at a time. A window shorter than [`Self::window`] is padded with silence at its
    /// end, because all results MUST have the same number of frames, the same `first` and the same
    /// `step`. Returns `Invalid` if a window is longer than [`Self::window`].
    async fn segment(&self, windows: Vec<Vec<f32>>) -> Result<Vec<WindowActivity>>;
}

/// Turns speech into vectors. Vectors of the same voice are similar.
///
/// ```
/// use adapters::speaker::ScriptedSpeakerEmbedder;
/// use shotlog_ports::speaker::SpeakerEmbedder;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> shotlog_ports::Result<()> {
/// let embedder = ScriptedSpeakerEmbedder::new(|_| Some(vec![3.0, 4.0]));
/// assert_eq!(embedder.embed(&vec![0.1; 32_000]).await?, Some(vec![0.6, 0.8]));
/// assert_eq!(embedder.embed(&vec![0.0; 32_000]).await?, None, "silence has no voice");
/// # Ok(())
/// # }
/// ```
#[async_trait]
pub trait SpeakerEmbedder: Send + Sync {
    /// Identifies the model.
    fn model(&self) -> &str;

    /// Returns the cosine similarity (−1..1) above which voices count as the same. It applies to
    /// the mean similarity between two sets of clean segments of 1.5 seconds.
    fn same_voice_threshold(&self) -> f32;

    /// Turns mono samples at [`SAMPLE_RATE`](crate::decoder::SAMPLE_RATE) into a unit vector, or
    /// returns `None` if there are too few samples or they are too quiet to identify a voice.
    async fn embed(&self, samples: &[f32]) -> Result<Option<Vec<f32>>>;
}
