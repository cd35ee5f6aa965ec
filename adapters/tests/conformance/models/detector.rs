//! Tests of detection networks, with a tiny handmade network for each layout and real networks with
//! real images.
#![cfg(feature = "onnx")]

use std::path::PathBuf;

use ports::{
    conformance,
    decoder::Image,
    detector::{Detection, ObjectDetector, overlap},
};
use shotlog_adapters::detector::{Layout, OnnxDetector, OnnxDetectorOptions};

use super::support;

#[tokio::test]
async fn every_layout_detects_painted_boxes() {
    let Some(runtime) = support::runtime() else { return };
    for (name, layout) in [
        ("detect_yolov8", Layout::Yolov8),
        ("detect_detr", Layout::Detr),
        ("detect_rtdetr", Layout::Detr),
        ("detect_yolox", Layout::Yolox),
        ("detect_picodet", Layout::PicoDet),
        ("detect_picodet", Layout::NanoDet),
        ("detect_nanodet_plus", Layout::PicoDet),
    ] {
        let options = OnnxDetectorOptions {
            labels: Some(fixture("red_blue.txt")),
            threshold: 0.6,
            ..OnnxDetectorOptions::new(fixture(&format!("{name}.onnx")), layout)
        };
        let detector = OnnxDetector::open(&runtime, options).unwrap();
        // The image is twice the size of the network's input, so that coordinates must be scaled
        // back.
        let mut picture = painted(128, 128);
        paint(&mut picture, [32, 64, 32, 32], [255, 0, 0]);
        paint(&mut picture, [96, 0, 32, 32], [0, 0, 250]);
        let mut found = detector.detect(&picture).await.unwrap();
        found.sort_by(|a, b| b.label.cmp(&a.label));
        let labels: Vec<&str> = found.iter().map(|d| d.label.as_str()).collect();
        assert_eq!(labels, ["red", "blue"], "{name}: {found:?}");
        for (detection, bounds) in
            found.iter().zip([[0.25, 0.5, 0.25, 0.25], [0.75, 0.0, 0.25, 0.25]])
        {
            assert!(overlap(&detection.bounds, &bounds) > 0.98, "{name}: {detection:?}");
        }
        conformance::detector::suite(&detector, &picture).await;
    }
}

#[tokio::test]
async fn layouts_keep_the_aspect_ratio() {
    let Some(runtime) = support::runtime() else { return };
    for (name, layout) in [
        ("detect_yolov8", Layout::Yolov8),
        ("detect_yolox", Layout::Yolox),
        ("detect_picodet", Layout::NanoDet),
    ] {
        let options = OnnxDetectorOptions {
            labels: Some(fixture("red_blue.txt")),
            threshold: 0.6,
            ..OnnxDetectorOptions::new(fixture(&format!("{name}.onnx")), layout)
        };
        let detector = OnnxDetector::open(&runtime, options).unwrap();
        let mut picture = painted(128, 64);
        paint(&mut picture, [64, 32, 32, 32], [255, 0, 0]);
        let found = detector.detect(&picture).await.unwrap();
        assert_eq!(found.len(), 1, "{name}: {found:?}");
        let expected = [0.5, 0.5, 0.25, 0.5];
        assert!(overlap(&found[0].bounds, &expected) > 0.98, "{name}: {found:?}");
    }
}

#[test]
fn model_of_another_layout_is_rejected() {
    let Some(runtime) = support::runtime() else { return };
    let labels = Some(fixture("red_blue.txt"));
    let model = fixture("detect_detr.onnx");
    for layout in [Layout::Yolox, Layout::Yolov8] {
        let options = OnnxDetectorOptions {
            labels: labels.clone(),
            ..OnnxDetectorOptions::new(model.clone(), layout)
        };
        let error = OnnxDetector::open(&runtime, options).err().unwrap();
        assert_eq!(error.kind(), ports::ErrorKind::Invalid, "{error}");
    }
    // The COCO labels do not match a network with two classes.
    let options = OnnxDetectorOptions::new(model, Layout::Detr);
    assert!(OnnxDetector::open(&runtime, options).is_err());
}

#[tokio::test]
async fn real_models_detect_reference_objects() {
    let Some(runtime) = support::runtime() else { return };
    let Some(truth) = support::truth() else { return };
    for (file, layout) in [
        ("detect/nanodet.onnx", Layout::NanoDet),
        ("detect/yolox_nano_bigisland.onnx", Layout::Yolox),
        ("detect/picodet_s_416_coco.onnx", Layout::PicoDet),
        ("detect/picodet_s_320_coco.onnx", Layout::PicoDet),
    ] {
        let Some(model) = support::model(file) else { return };
        let detector =
            OnnxDetector::open(&runtime, OnnxDetectorOptions::new(model, layout)).unwrap();
        for name in ["bus.jpg", "dog.jpg"] {
            let Some(picture) = support::picture(name) else { return };
            let found = detector.detect(&picture).await.unwrap();
            println!("{file} on {name}: {found:.2?}");
            let known = truth[name]["boxes_model"].as_object().unwrap();
            for label in ["person", "bus", "dog", "bicycle"] {
                let Some(boxes) = known.get(label) else { continue };
                for corners in boxes.as_array().unwrap() {
                    let corner = |i: usize| corners[i].as_f64().unwrap() as f32;
                    let (w, h) = (picture.width as f32, picture.height as f32);
                    let bounds = [
                        corner(0) / w,
                        corner(1) / h,
                        (corner(2) - corner(0)) / w,
                        (corner(3) - corner(1)) / h,
                    ];
                    let hit =
                        |d: &&Detection| d.label == label && overlap(&d.bounds, &bounds) >= 0.5;
                    assert!(
                        found.iter().any(|d| hit(&d)),
                        "{file}: no {label} {bounds:?} in {name}"
                    );
                }
            }
        }
        let Some(picture) = support::picture("bus.jpg") else { return };
        conformance::detector::suite(&detector, &picture).await;
    }
}

fn fixture(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

fn painted(width: u32, height: u32) -> Image {
    Image { width, height, rgb: vec![0; (width * height * 3) as usize] }
}

fn paint(image: &mut Image, [left, top, width, height]: [u32; 4], colour: [u8; 3]) {
    for y in top..top + height {
        for x in left..left + width {
            let at = ((y * image.width + x) * 3) as usize;
            image.rgb[at..at + 3].copy_from_slice(&colour);
        }
    }
}
