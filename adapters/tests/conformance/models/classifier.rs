//! Tests of image classification networks, with a tiny handmade network and a real one.
#![cfg(feature = "onnx")]

use std::path::PathBuf;

use ports::{ErrorKind, classifier::ImageClassifier, conformance, decoder::Image};
use shotlog_adapters::classifier::{OnnxClassifier, OnnxClassifierOptions, ScriptedClassifier};

use super::support;

fn options(model: PathBuf, labels: Option<&str>) -> OnnxClassifierOptions {
    let labels = labels.map(fixture);
    OnnxClassifierOptions { model, labels, threading: Default::default() }
}

#[tokio::test]
async fn scripted_classifier_passes_the_suite() {
    let classifier = ScriptedClassifier::new(&["dog", "cat"], |_| vec![0.25, 0.75]);
    conformance::classifier::suite(&classifier).await;
}

#[tokio::test]
async fn colours_are_classified() {
    let Some(runtime) = support::runtime() else { return };
    let options = options(fixture("classify.onnx"), Some("red_blue.txt"));
    let classifier = OnnxClassifier::open(&runtime, options).unwrap();
    conformance::classifier::suite(&classifier).await;
    let filled = |colour: [u8; 3]| Image { width: 4, height: 2, rgb: colour.repeat(8) };
    let images = [filled([255, 0, 0]), filled([0, 0, 255]), filled([127, 0, 127])];
    let red: Vec<f32> =
        classifier.classify(&images).await.unwrap().into_iter().map(|p| p[0]).collect();
    assert!(red[0] > 0.85 && red[1] < 0.15, "{red:?}");
    assert!((red[2] - 0.5).abs() < 1e-3, "{red:?}");
}

#[test]
fn models_with_other_classes_or_inputs_are_rejected() {
    let Some(runtime) = support::runtime() else { return };
    for (model, labels) in [("classify.onnx", None), ("detect_detr.onnx", Some("red_blue.txt"))] {
        let error = OnnxClassifier::open(&runtime, options(fixture(model), labels)).err().unwrap();
        assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
        assert!(error.to_string().contains(model), "{error}");
    }
}

#[tokio::test]
async fn real_model_recognises_a_dog() {
    let Some(runtime) = support::runtime() else { return };
    let Some(model) = support::model("classify/efficientnet-lite0.onnx") else { return };
    let Some(picture) = support::picture("dog.jpg") else { return };
    let classifier = OnnxClassifier::open(&runtime, options(model, None)).unwrap();
    conformance::classifier::suite(&classifier).await;
    let probabilities = classifier.classify(&[picture]).await.unwrap().remove(0);
    let best = (0..1000).max_by(|a, b| probabilities[*a].total_cmp(&probabilities[*b])).unwrap();
    assert_eq!(classifier.labels()[best], "German shepherd");
}

fn fixture(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}
