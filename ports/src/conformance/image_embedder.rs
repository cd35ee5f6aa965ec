//! The suite for adapters of the `image_embedder` port.

use crate::vector::dot;
use crate::{ErrorKind, decoder::Image, image_embedder::ImageEmbedder};

/// Checks every requirement of the port.
pub async fn suite(embedder: &dyn ImageEmbedder) {
    assert!(!embedder.model().is_empty(), "an image embedder names its model");
    let model = embedder.match_model();
    assert!(model.slope > 0.0, "a larger cosine means a better match");
    assert!((model.probability(model.cosine(0.3)) - 0.3).abs() < 1e-4, "the inverse");
    malformed_image_is_invalid(embedder).await;
    vectors_are_unit_vectors(embedder).await;
    inputs_are_independent_of_each_other(embedder).await;
}

async fn malformed_image_is_invalid(embedder: &dyn ImageEmbedder) {
    let malformed = Image { width: 2, height: 2, rgb: vec![0; 11] };
    let error = embedder.embed_images(&[malformed]).await.expect_err("a malformed image");
    assert_eq!(error.kind(), ErrorKind::Invalid, "a malformed image is the input's fault");
}

async fn vectors_are_unit_vectors(embedder: &dyn ImageEmbedder) {
    let images = embedder.embed_images(&images()).await.expect("images of any size");
    let texts = embedder.embed_texts(&texts()).await.expect("any texts");
    assert_eq!((images.len(), texts.len()), (2, 2), "one vector per input");
    for vector in images.iter().chain(&texts) {
        assert_eq!(vector.len(), embedder.dimension(), "every vector has the dimension");
        assert!((dot(vector, vector) - 1.0).abs() < 1e-3, "every vector has length 1");
    }
    assert!(embedder.embed_images(&[]).await.expect("no images").is_empty());
    assert!(embedder.embed_texts(&[]).await.expect("no texts").is_empty());
}

async fn inputs_are_independent_of_each_other(embedder: &dyn ImageEmbedder) {
    let together = embedder.embed_images(&images()).await.expect("images");
    for (image, expected) in images().into_iter().zip(together) {
        let alone = embedder.embed_images(&[image]).await.expect("an image").remove(0);
        assert!(dot(&alone, &expected) > 0.999, "an image has the same vector alone");
    }
}

fn texts() -> Vec<String> {
    ["a red bicycle", "the sea at night"].map(str::to_owned).into()
}

fn images() -> Vec<Image> {
    [(8, 8, [200, 40, 40]), (31, 17, [20, 60, 180])]
        .map(|(width, height, colour): (u32, u32, [u8; 3])| Image {
            width,
            height,
            rgb: colour.repeat((width * height) as usize),
        })
        .into()
}
