//! Tests of image embedding, with a scripted classifier and with the default models.

use std::sync::Arc;

use ports::classifier::ImageClassifier;
use ports::conformance;
use ports::decoder::Image;
use ports::embedder::Embedder;
use ports::image_embedder::ImageEmbedder;
use ports::vector::dot;
use shotlog_adapters::classifier::ScriptedClassifier;
use shotlog_adapters::embedder::HashingEmbedder;
use shotlog_adapters::image_embedder::{Kind, LabelBridge, Settings, open};

fn scripted() -> Arc<dyn ImageClassifier> {
    let script = |image: &Image| match image.rgb[0] > image.rgb[2] {
        true => vec![0.8, 0.2],
        false => vec![0.1, 0.9],
    };
    Arc::new(ScriptedClassifier::new(&["strawberry", "seashore"], script))
}

fn hashing() -> Arc<dyn Embedder> {
    Arc::new(HashingEmbedder::new(384).unwrap())
}

#[tokio::test]
async fn label_bridge_passes_the_suite() {
    conformance::image_embedder::suite(&LabelBridge::new(scripted(), hashing())).await;
}

#[tokio::test]
async fn synonyms_of_a_label_find_its_images() {
    let bridge = LabelBridge::new(scripted(), hashing());
    let filled = |rgb: [u8; 3]| Image { width: 1, height: 1, rgb: rgb.into() };
    let images = [filled([200, 0, 0]), filled([0, 0, 200])];
    let images = bridge.embed_images(&images).await.unwrap();
    for (text, nearest) in [("a photo of a strawberry", 0), ("seacoast", 1)] {
        let text = bridge.embed_texts(&[text.to_owned()]).await.unwrap().remove(0);
        let cosines = [dot(&text, &images[0]), dot(&text, &images[1])];
        assert!(cosines[nearest] > cosines[1 - nearest], "{cosines:?}");
    }
}

#[test]
fn label_bridge_needs_a_classifier() {
    let open = |kind, classifier: Option<&Arc<dyn ImageClassifier>>| {
        open(&Settings { kind }, classifier, &hashing())
    };
    assert!(open(Kind::Auto, None).unwrap().is_none());
    assert!(open(Kind::None, Some(&scripted())).unwrap().is_none());
    assert!(open(Kind::Auto, Some(&scripted())).unwrap().is_some());
    let error = open(Kind::Labels, None).err().unwrap().to_string();
    assert!(error.contains("classifier.kind"), "{error}");
}

#[cfg(feature = "onnx")]
#[tokio::test]
async fn real_models_find_the_dog() {
    use super::support;
    use shotlog_adapters::classifier::{OnnxClassifier, OnnxClassifierOptions};
    use shotlog_adapters::embedder::{OnnxEmbedder, OnnxEmbedderOptions};

    let Some(runtime) = support::runtime() else { return };
    let models = ["classify/efficientnet-lite0.onnx", "embed/all-MiniLM-L6-v2.onnx"];
    let [Some(model), Some(encoder)] = models.map(support::model) else { return };
    let pictures = ["dog.jpg", "bus.jpg"].map(support::picture);
    let [Some(dog), Some(bus)] = pictures else { return };
    let options = OnnxClassifierOptions { model, labels: None, threading: Default::default() };
    let classifier = Arc::new(OnnxClassifier::open(&runtime, options).unwrap());
    let options =
        OnnxEmbedderOptions::new(encoder.clone(), encoder.with_file_name("tokenizer.json"));
    let embedder = Arc::new(OnnxEmbedder::open(&runtime, &options).unwrap());
    let bridge = LabelBridge::new(classifier, embedder);
    conformance::image_embedder::suite(&bridge).await;
    let images = bridge.embed_images(&[dog, bus]).await.unwrap();
    for (text, nearest) in [("a dog sits on a porch", 0), ("public transport in a city", 1)] {
        let text = bridge.embed_texts(&[text.to_owned()]).await.unwrap().remove(0);
        let cosines = [dot(&text, &images[0]), dot(&text, &images[1])];
        assert!(cosines[nearest] > cosines[1 - nearest], "{cosines:?}");
    }
}
