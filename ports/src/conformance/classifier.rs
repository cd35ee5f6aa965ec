//! The suite for adapters of the `classifier` port.

use std::collections::HashSet;

use crate::{ErrorKind, classifier::ImageClassifier, decoder::Image};

/// Checks every requirement of the port.
pub async fn suite(classifier: &dyn ImageClassifier) {
    model_and_labels_are_named(classifier);
    malformed_image_is_invalid(classifier).await;
    probabilities_add_up_to_one(classifier).await;
    images_are_independent_of_each_other(classifier).await;
}

fn model_and_labels_are_named(classifier: &dyn ImageClassifier) {
    assert!(!classifier.model().is_empty(), "a classifier names its model");
    let labels = classifier.labels();
    assert!(!labels.is_empty(), "a classifier lists its labels");
    let distinct: HashSet<_> = labels.iter().collect();
    assert_eq!(distinct.len(), labels.len(), "no label is listed twice");
}

async fn malformed_image_is_invalid(classifier: &dyn ImageClassifier) {
    let malformed = Image { width: 2, height: 2, rgb: vec![0; 11] };
    let error = classifier.classify(&[malformed]).await.expect_err("a malformed image is rejected");
    assert_eq!(error.kind(), ErrorKind::Invalid, "a malformed image is the input's fault");
}

async fn probabilities_add_up_to_one(classifier: &dyn ImageClassifier) {
    let images = images();
    let results = classifier.classify(&images).await.expect("images of any size are processed");
    assert_eq!(results.len(), images.len(), "one result per image");
    for probabilities in results {
        assert_eq!(probabilities.len(), classifier.labels().len(), "one probability per label");
        assert!(probabilities.iter().all(|p| (0.0..=1.0).contains(p)), "{probabilities:?}");
        let sum: f32 = probabilities.iter().sum();
        assert!((sum - 1.0).abs() < 1e-3, "the sum is {sum}");
    }
    let none = classifier.classify(&[]).await.expect("no images");
    assert!(none.is_empty());
}

async fn images_are_independent_of_each_other(classifier: &dyn ImageClassifier) {
    let images = images();
    let together = classifier.classify(&images).await.expect("images are processed");
    for (image, expected) in images.into_iter().zip(together) {
        let alone = classifier.classify(&[image]).await.expect("an image is processed");
        let same = alone[0].iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-3);
        assert!(same, "an image has the same result alone and together with others");
    }
}

fn images() -> Vec<Image> {
    let gradient = |width: u32, height: u32, seed: usize| {
        let length = width as usize * height as usize * 3;
        let rgb = (0..length).map(|i| ((i * seed) % 251) as u8).collect();
        Image { width, height, rgb }
    };
    vec![gradient(1, 1, 3), gradient(3, 500, 7), gradient(320, 180, 11), gradient(64, 64, 5)]
}
