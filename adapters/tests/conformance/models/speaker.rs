//! Tests of speaker segmentation and embedding with real speech. Results are compared with those of
//! the original networks (`scripts/models/golden_speakers.py`).

use ports::{
    conformance,
    speaker::{SpeakerEmbedder, SpeakerSegmentation},
};
use serde::Deserialize;
use shotlog_adapters::OnnxThreading;
use shotlog_adapters::speaker::{
    PyannoteOptions, PyannoteSegmentation, XVectorEmbedder, XVectorOptions,
};

use super::support;

#[derive(Deserialize)]
struct Golden {
    segmentation: Vec<Window>,
    embedding: Vec<Stretch>,
}

#[derive(Deserialize)]
struct Window {
    from: usize,
    /// Number of frames and number of classes.
    shape: [usize; 2],
    frames: Vec<usize>,
    /// The log probabilities of the classes in each of `frames`.
    classes: Vec<Vec<f32>>,
}

#[derive(Deserialize)]
struct Stretch {
    from: usize,
    to: usize,
    vector: Vec<f32>,
}

fn golden() -> Golden {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/speakers_golden.json");
    serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap()
}

#[tokio::test]
async fn segmentation() {
    let Some(runtime) = support::runtime() else { return };
    let Some(model) = support::model("speaker/pyannote-segmentation-3.0.onnx") else { return };
    let options = PyannoteOptions { model, threading: OnnxThreading::default() };
    let segmentation = PyannoteSegmentation::open(&runtime, &options).unwrap();
    let Some(jfk) = support::sound("jfk.wav") else { return };
    conformance::speaker::segmentation(&segmentation, &jfk).await;
    let sets = [0b000, 0b001, 0b010, 0b100, 0b011, 0b101, 0b110];
    for window in golden().segmentation {
        let samples = &jfk[window.from..window.from + segmentation.window()];
        let found = segmentation.segment(vec![samples.to_vec()]).await.unwrap().remove(0).frames;
        assert_eq!(found.len(), window.shape[0]);
        for (frame, classes) in window.frames.iter().zip(&window.classes) {
            let likeliest = (0..classes.len()).max_by(|a, b| classes[*a].total_cmp(&classes[*b]));
            assert_eq!(found[*frame], sets[likeliest.unwrap()], "frame {frame} of {}", window.from);
        }
    }
}

#[tokio::test]
async fn voices() {
    let Some(runtime) = support::runtime() else { return };
    let Some(model) = support::model("speaker/campplus-zh-en.onnx") else { return };
    let options = XVectorOptions { model, same_voice: 0.4, threading: OnnxThreading::default() };
    let embedder = XVectorEmbedder::open(&runtime, &options).unwrap();
    let Some(jfk) = support::sound("jfk.wav") else { return };
    conformance::speaker::embedder(&embedder, &jfk).await;
    for stretch in golden().embedding {
        let found = embedder.embed(&jfk[stretch.from..stretch.to]).await.unwrap().unwrap();
        let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f32>();
        let norm = dot(&stretch.vector, &stretch.vector).sqrt();
        let cosine = dot(&found, &stretch.vector) / norm;
        assert!(cosine >= 0.999, "samples {} to {}: {cosine}", stretch.from, stretch.to);
    }
}

#[tokio::test]
async fn other_filterbank() {
    let Some(runtime) = support::runtime() else { return };
    let options = XVectorOptions {
        model: concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/speaker.onnx").into(),
        same_voice: 0.5,
        threading: OnnxThreading { threads: 1, sessions: 2 },
    };
    let embedder = XVectorEmbedder::open(&runtime, &options).unwrap();
    let Some(jfk) = support::sound("jfk.wav") else { return };
    conformance::speaker::embedder(&embedder, &jfk).await;
}
