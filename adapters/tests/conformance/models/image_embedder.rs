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
use shotlog_adapters::models;

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
    let folder = tempfile::tempdir().unwrap();
    let models = models::Settings { dir: folder.path().into(), ..models::Settings::default() };
    let open = |kind, classifier: Option<&Arc<dyn ImageClassifier>>| {
        open(&Settings { kind, ..Settings::default() }, &models, classifier, &hashing())
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

#[cfg(feature = "onnx")]
mod clip {
    use std::path::{Path, PathBuf};

    use ports::image_embedder::MatchModel;
    use serde_json::Value;
    use shotlog_adapters::OnnxRuntime;
    use shotlog_adapters::image_embedder::{ClipEmbedder, ClipOptions};

    use super::super::support;
    use super::*;

    fn fixtures() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/clip")
    }

    fn open_folder(runtime: &OnnxRuntime, folder: &Path) -> ports::Result<ClipEmbedder> {
        let match_model = MatchModel { intercept: -15.0, slope: 60.0 };
        let threading = Default::default();
        let folder = folder.to_owned();
        ClipEmbedder::open(runtime, &ClipOptions { folder, match_model, threading })
    }

    /// The image that `scripts/fixtures/clip.py` makes.
    fn image(size: &Value) -> Image {
        let [width, height] = [0, 1].map(|at| size[at].as_u64().unwrap() as u32);
        let value = |x: u32, y: u32, c: u32| ((7 * x + 13 * y + 50 * c + x * y) % 256) as u8;
        let pixels = (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
        let rgb = pixels.flat_map(|(x, y)| [0, 1, 2].map(|c| value(x, y, c))).collect();
        Image { width, height, rgb }
    }

    #[tokio::test]
    async fn both_layouts_equal_the_original_library() {
        let Some(runtime) = support::runtime() else { return };
        let golden = std::fs::read(fixtures().join("golden.json")).unwrap();
        let golden: Value = serde_json::from_slice(&golden).unwrap();
        let images: Vec<Image> = golden["sizes"].as_array().unwrap().iter().map(image).collect();
        let texts: Vec<String> = serde_json::from_value(golden["texts"].clone()).unwrap();
        for layout in ["transformers", "immich"] {
            let embedder = open_folder(&runtime, &fixtures().join(layout)).unwrap();
            conformance::image_embedder::suite(&embedder).await;
            assert!(embedder.model().starts_with(layout), "{}", embedder.model());
            let found = [
                ("images", embedder.embed_images(&images).await.unwrap()),
                ("texts", embedder.embed_texts(&texts).await.unwrap()),
            ];
            for (kind, vectors) in found {
                let expected: Vec<Vec<f32>> =
                    serde_json::from_value(golden[layout][kind].clone()).unwrap();
                assert_eq!(vectors.len(), expected.len());
                for (at, (vector, expected)) in vectors.iter().zip(&expected).enumerate() {
                    let cosine = dot(vector, expected);
                    // Pillow rounds scaled pixels in another order.
                    let lowest = if kind == "images" { 0.999 } else { 0.99999 };
                    assert!(cosine > lowest, "{layout} {kind} {at}: {vector:?} {expected:?}");
                }
            }
        }
    }

    #[tokio::test]
    async fn pictures_of_extreme_proportions_have_a_vector() {
        let Some(runtime) = support::runtime() else { return };
        for layout in ["transformers", "immich"] {
            let embedder = open_folder(&runtime, &fixtures().join(layout)).unwrap();
            let strips = [(40_000, 1), (1, 40_000), (1, 1)].map(|(width, height)| {
                let rgb = vec![90; (width * height * 3) as usize];
                Image { width, height, rgb }
            });
            assert_eq!(embedder.embed_images(&strips).await.unwrap().len(), 3, "{layout}");
        }
    }

    #[test]
    fn the_name_changes_with_the_files() {
        let Some(runtime) = support::runtime() else { return };
        let folder = tempfile::tempdir().unwrap();
        let from = fixtures().join("immich");
        let files = ["visual/model.onnx", "visual/preprocess_cfg.json", "textual/model.onnx"];
        for file in files.into_iter().chain(["textual/tokenizer.json"]) {
            let to = folder.path().join(file);
            std::fs::create_dir_all(to.parent().unwrap()).unwrap();
            std::fs::copy(from.join(file), to).unwrap();
        }
        let name = || open_folder(&runtime, folder.path()).unwrap().model().to_owned();
        let before = name();
        assert_eq!(name(), before);
        let config = r#"{"size": 16, "mean": [0.5, 0.5, 0.5], "std": [0.5, 0.5, 0.5]}"#;
        std::fs::write(folder.path().join("visual/preprocess_cfg.json"), config).unwrap();
        assert_ne!(name(), before);
    }

    #[tokio::test]
    async fn long_texts_are_truncated() {
        let Some(runtime) = support::runtime() else { return };
        for layout in ["transformers", "immich"] {
            let embedder = open_folder(&runtime, &fixtures().join(layout)).unwrap();
            let long = "red bus ".repeat(5000);
            let vectors = embedder.embed_texts(&[long, String::new()]).await.unwrap();
            assert_eq!(vectors.len(), 2, "{layout}");
        }
    }

    #[test]
    fn unsuitable_folders_are_rejected() {
        let Some(runtime) = support::runtime() else { return };
        let folder = tempfile::tempdir().unwrap();
        let copy = |from: &str, to: &str| {
            let to = folder.path().join(to);
            std::fs::create_dir_all(to.parent().unwrap()).unwrap();
            std::fs::copy(fixtures().join(from), to).unwrap();
        };
        let error = || open_folder(&runtime, folder.path()).err().unwrap().to_string();
        assert!(error().contains("visual/preprocess_cfg.json"), "{}", error());
        copy("transformers/preprocessor_config.json", "preprocessor_config.json");
        assert!(error().contains("no onnx/vision_model.onnx"), "{}", error());
        copy("transformers/onnx/vision_model.onnx", "onnx/vision_model_quantized.onnx");
        assert!(error().contains("no onnx/text_model.onnx"), "{}", error());
        copy("transformers/onnx/vision_model.onnx", "onnx/text_model.onnx");
        assert!(error().contains("no tokenizer.json"), "{}", error());
        copy("transformers/tokenizer.json", "tokenizer.json");
        assert!(error().contains("token ids"), "{}", error());
        copy("transformers/onnx/text_model.onnx", "onnx/text_model.onnx");
        assert!(open_folder(&runtime, folder.path()).is_ok());
        std::fs::write(folder.path().join("preprocessor_config.json"), "{}").unwrap();
        assert!(error().contains("preprocessor_config.json"), "{}", error());
        let config = r#"{"size": 99999, "image_mean": [0, 0, 0], "image_std": [1, 1, 1]}"#;
        std::fs::write(folder.path().join("preprocessor_config.json"), config).unwrap();
        assert!(error().contains("1 to 1024"), "{}", error());
    }

    #[test]
    fn match_settings_are_validated() {
        let clip = Settings { kind: Kind::Clip, ..Settings::default() };
        for (settings, key) in [
            (Settings { match_cosine: 2.0, ..clip.clone() }, "match_cosine"),
            (Settings { match_slope: 0.0, ..clip }, "match_slope"),
        ] {
            let models = models::Settings::default();
            let error = open(&settings, &models, None, &hashing()).err().unwrap().to_string();
            assert!(error.contains(key), "{error}");
        }
    }
}
