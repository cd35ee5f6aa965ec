//! The sections of what sees, hears and reads.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// What reads text in pictures.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReaderKind {
    /// The ONNX models where their files are there, else none.
    #[default]
    Auto,
    /// PP-OCR on ONNX Runtime.
    Onnx,
    /// No text is read.
    None,
}

section! {
    /// What reads text in pictures.
    Reader {
        /// Which.
        kind: ReaderKind = ReaderKind::Auto,
        /// Detection model below `models.dir`.
        detection: PathBuf = "ocr/ch_PP-OCRv4_det_infer.onnx".into(),
        /// Recognition model below `models.dir`.
        recognition: PathBuf = "ocr/ch_PP-OCRv4_rec_infer.onnx".into(),
        /// Orientation model below `models.dir`.
        orientation: PathBuf = "ocr/ch_ppocr_mobile_v2.0_cls_infer.onnx".into(),
        /// Pictures are scaled to at most this side for reading, pixels.
        max_side: u32 = 1024,
    }
}

/// What finds objects in pictures.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DetectorKind {
    /// The ONNX model where its file is there, else none.
    #[default]
    Auto,
    /// A detection network on ONNX Runtime.
    Onnx,
    /// No objects are found.
    None,
}

/// What a detection network takes and answers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DetectorLayout {
    /// Exports of YOLOX.
    #[default]
    Yolox,
    /// Exports of PicoDet and NanoDet.
    Picodet,
    /// Exports of YOLOv8 and later ones of that family.
    Yolov8,
    /// Exports of DETR and RT-DETR.
    Detr,
}

section! {
    /// What finds objects in pictures.
    Detector {
        /// Which.
        kind: DetectorKind = DetectorKind::Auto,
        /// Model file below `models.dir`.
        file: PathBuf = "detect/yolox_nano.onnx".into(),
        /// What the model takes and answers.
        layout: DetectorLayout = DetectorLayout::Yolox,
        /// File below `models.dir` with one label per line; empty: the 80 classes of COCO.
        labels: PathBuf = PathBuf::new(),
        /// Boxes less confident are dropped, 0..1.
        threshold: f32 = 0.35,
        /// Of two boxes of one label that overlap more (intersection over union) one stays, 0..1.
        max_overlap: f32 = 0.5,
        /// Most boxes per picture.
        max_objects: usize = 100,
        /// Frames looked at per second: objects are followed from one to the next.
        frames_per_second: f64 = 2.0,
        /// Most frames looked at per chunk.
        max_frames: usize = 24,
        /// Largest side of those frames, pixels.
        frame_side: u32 = 640,
    }
}

/// What finds speech in sound.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VoiceKind {
    /// Silero where its file is there, else spectral.
    #[default]
    Auto,
    /// Silero on ONNX Runtime.
    Silero,
    /// By the shape of the spectrum; takes some music for speech.
    Spectral,
    /// No speech is looked for.
    None,
}

section! {
    /// What finds speech in sound.
    Voice {
        /// Which.
        kind: VoiceKind = VoiceKind::Auto,
        /// Model file below `models.dir` (silero).
        file: PathBuf = "vad/silero_vad_16k_op15.onnx".into(),
        /// Speech begins where it is at least this probable, 0..1.
        threshold: f32 = 0.5,
        /// Shorter speech is passed over, seconds.
        min_speech: f64 = 0.25,
        /// Shorter pauses do not end speech, seconds.
        min_silence: f64 = 0.1,
    }
}

/// What tells voices apart.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SpeakerKind {
    /// By timbre and pitch, without weights.
    #[default]
    Spectral,
    /// By a network on ONNX Runtime.
    Onnx,
    /// Speakers are not told apart.
    None,
}

section! {
    /// What tells voices apart.
    Speaker {
        /// Which.
        kind: SpeakerKind = SpeakerKind::Spectral,
        /// Model file below `models.dir`, as WeSpeaker, 3D-Speaker and pyannote export it (onnx).
        file: PathBuf = "speaker/wespeaker-resnet34.onnx".into(),
        /// Stretches whose vectors have a larger cosine are one voice, −1..1; models differ (onnx).
        same_voice: f32 = 0.5,
    }
}

/// What recognises speech.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TranscriberKind {
    /// Whisper where its files are there, else PocketSphinx where its packages are, else none.
    #[default]
    Auto,
    /// A Whisper network on ONNX Runtime.
    Onnx,
    /// An OpenAI-compatible server.
    Openai,
    /// PocketSphinx out of system packages: the weakest recogniser, English only.
    Pocketsphinx,
    /// No speech is recognised.
    None,
}

section! {
    /// What recognises speech.
    Transcriber {
        /// Which.
        kind: TranscriberKind = TranscriberKind::Auto,
        /// Folder of the model below `models.dir`, as optimum exports it (onnx).
        folder: PathBuf = "speech/whisper-base".into(),
        /// The language that is spoken, as `en`; empty: it is told from the sound (onnx, openai).
        language: String = String::new(),
        /// Server address, up to `/v1` (openai).
        url: String = String::new(),
        /// The server's name for the model (openai).
        model: String = "whisper-1".into(),
        /// The server's key (openai).
        api_key: String = String::new(),
        /// Pieces of speech recognised at once; each holds a copy of the model (pocketsphinx).
        concurrency: usize = 1,
        /// The shared library, a path or a name that the system's loader knows (pocketsphinx).
        library: PathBuf = "libpocketsphinx.so.3".into(),
        /// Folder of the model (pocketsphinx).
        pocketsphinx: PathBuf = "/usr/share/pocketsphinx/model/en-us".into(),
    }
}

/// What tells the sentiment of language.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SentimentKind {
    /// VADER's lexicon and rules: English, without weights.
    #[default]
    Vader,
    /// A text classifier on ONNX Runtime.
    Onnx,
}

section! {
    /// What tells the sentiment of language.
    Sentiment {
        /// Which.
        kind: SentimentKind = SentimentKind::Vader,
        /// Folder of the model below `models.dir`, as optimum exports it (onnx).
        folder: PathBuf = "sentiment/twitter-roberta".into(),
        /// Tokens of a text that are read (onnx).
        max_tokens: usize = 256,
    }
}

/// What finds names, places and quantities in text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EntitiesKind {
    /// Rules and word lists: English, without weights.
    #[default]
    Rules,
    /// A GLiNER network on ONNX Runtime, whose labels are free.
    Gliner,
}

section! {
    /// What finds names, places and quantities in text.
    Entities {
        /// Which.
        kind: EntitiesKind = EntitiesKind::Rules,
        /// Folder of the model below `models.dir`, the span-level export (gliner).
        folder: PathBuf = "entities/gliner-small".into(),
        /// What is looked for (gliner).
        labels: Vec<String> = entity_labels(),
        /// Less confident entities are dropped, 0..1 (gliner).
        threshold: f32 = 0.5,
    }
}

/// What the rules know too.
fn entity_labels() -> Vec<String> {
    ["person", "place", "organisation", "date", "time", "money", "percentage", "quantity"]
        .map(str::to_owned)
        .to_vec()
}
