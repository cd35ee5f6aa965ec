//! The suite for adapters of the `detector` port.

use std::collections::HashSet;

use crate::{
    ErrorKind,
    decoder::Image,
    detector::{Detection, ObjectDetector, overlap},
};

/// Checks every requirement of the port. `scene` is an image in which the adapter detects at least
/// one object.
pub async fn suite(detector: &dyn ObjectDetector, scene: &Image) {
    model_and_labels_are_named(detector);
    malformed_image_is_invalid(detector).await;
    boxes_are_within_the_image(detector, scene).await;
    any_image_size_is_accepted(detector).await;
    results_are_deterministic(detector, scene).await;
}

fn model_and_labels_are_named(detector: &dyn ObjectDetector) {
    assert!(!detector.model().is_empty(), "a detector names its model");
    let labels = detector.labels();
    assert!(!labels.is_empty(), "a detector lists its labels");
    let distinct: HashSet<_> = labels.iter().collect();
    assert_eq!(distinct.len(), labels.len(), "no label is listed twice");
}

async fn malformed_image_is_invalid(detector: &dyn ObjectDetector) {
    for image in malformed() {
        let error = detector.detect(&image).await.expect_err("a malformed picture is refused");
        assert_eq!(error.kind(), ErrorKind::Invalid, "a malformed picture is the input's fault");
    }
}

async fn boxes_are_within_the_image(detector: &dyn ObjectDetector, scene: &Image) {
    let found = detector.detect(scene).await.expect("a picture is processed");
    assert!(!found.is_empty(), "the scene holds an object");
    check(detector, &found);
}

async fn any_image_size_is_accepted(detector: &dyn ObjectDetector) {
    for (width, height) in [(1, 1), (3, 500), (500, 3), (64, 48), (1921, 7)] {
        let image = noise(width, height);
        let found = detector.detect(&image).await.expect("a picture of any size is processed");
        check(detector, &found);
    }
}

async fn results_are_deterministic(detector: &dyn ObjectDetector, scene: &Image) {
    let first = detector.detect(scene).await.unwrap();
    let other = noise(97, 61);
    let (a, b, c) =
        futures::join!(detector.detect(scene), detector.detect(&other), detector.detect(scene));
    b.expect("pictures are processed in parallel");
    assert_eq!(a.unwrap(), first, "the same picture gives the same objects");
    assert_eq!(c.unwrap(), first, "the same picture gives the same objects");
}

fn check(detector: &dyn ObjectDetector, found: &[Detection]) {
    for d in found {
        assert!(detector.labels().contains(&d.label), "{:?} is one of the labels", d.label);
        assert!(d.confidence > 0.0 && d.confidence <= 1.0, "confidence of {d:?} is in 0..1");
        let [x, y, width, height] = d.bounds;
        assert!(
            x >= 0.0 && y >= 0.0 && width > 0.0 && height > 0.0,
            "{d:?} has an extent inside the picture"
        );
        assert!(x + width <= 1.0001 && y + height <= 1.0001, "{d:?} ends inside the picture");
    }
    assert!(
        found.windows(2).all(|w| w[0].confidence >= w[1].confidence),
        "the most confident comes first"
    );
    for (i, a) in found.iter().enumerate() {
        for b in &found[i + 1..] {
            assert!(
                a.label != b.label || overlap(&a.bounds, &b.bounds) < 0.95,
                "one object gives one box, not {a:?} and {b:?}"
            );
        }
    }
}

/// Returns invalid images: some whose number of bytes does not match their size, some without
/// pixels.
pub(super) fn malformed() -> Vec<Image> {
    vec![
        Image { width: 0, height: 0, rgb: vec![] },
        Image { width: 4, height: 0, rgb: vec![] },
        Image { width: 4, height: 4, rgb: vec![0; 47] },
        Image { width: 4, height: 4, rgb: vec![0; 49] },
        Image { width: u32::MAX, height: u32::MAX, rgb: vec![1; 3] },
    ]
}

/// Returns an image of pseudo-random pixels, the same every time.
pub(super) fn noise(width: u32, height: u32) -> Image {
    let mut state = 0x2545_f491_u32;
    let rgb = (0..width * height * 3)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            (state >> 11) as u8
        })
        .collect();
    Image { width, height, rgb }
}
