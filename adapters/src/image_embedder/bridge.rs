//! Compares texts and images through the labels of an image classifier. The vector of an image has
//! two parts: the vectors that the text embedder gives the labels, weighted by their probabilities,
//! and a projection of all probabilities. Texts are compared with the first part, so no second text
//! model is needed; images are compared by both, since two images with the same label still differ
//! in what else they resemble. One more component fills up the vectors of texts to length 1.

use std::sync::Arc;

use async_trait::async_trait;
use ports::classifier::ImageClassifier;
use ports::decoder::Image;
use ports::embedder::Embedder;
use ports::image_embedder::{ImageEmbedder, MatchModel};
use ports::vector::{dot, normalized, sum};
use ports::{ErrorKind, PortError, Result};
use tokio::sync::OnceCell;

/// Increased with every change to how vectors are computed, so that they are not compared with those
/// of before.
const VERSION: u32 = 1;

/// Number of components that the projection has.
const PROJECTED: usize = 256;

/// The largest share of the first part in the squared length of an image's vector. The less certain
/// the classifier is, the shorter is the first part, and the lower are the cosines with texts.
const SHARE: f32 = 0.5;

/// Exponent of the probabilities in the first part. A classifier is more certain of one label than it
/// is right, and the labels after the best one say much about a picture. Chosen on development
/// clips, like the next two constants.
const SOFTENING: f32 = 0.4;

/// Factor of the first part, whose length is about a third of that of a label.
const STRETCH: f32 = 3.0;

/// The spread (standard deviation) of a text's similarity to the labels that is left as it is. Texts
/// that are more similar to some labels than to others are shortened, which makes the cosines of
/// different texts comparable.
const SPREAD: f32 = 0.06;

/// The lowest probability that differs from 0.
const MIN_PROBABILITY: f32 = 1e-9;

/// How probable it is that an image shows what a text names, by their cosine. Fitted to the five
/// nearest chunks of 41 questions about development clips.
const MATCH: MatchModel = MatchModel { intercept: -2.7, slope: 40.0 };

/// The label bridge.
pub struct LabelBridge {
    name: String,
    classifier: Arc<dyn ImageClassifier>,
    embedder: Arc<dyn Embedder>,
    labels: OnceCell<LabelVectors>,
}

/// The vectors of all labels.
struct LabelVectors {
    /// One vector per label: its difference from the mean of all labels. The longest has length 1.
    vectors: Vec<Vec<f32>>,
}

impl LabelBridge {
    /// Combines a classifier and a text embedder. The labels are embedded on first use.
    pub fn new(classifier: Arc<dyn ImageClassifier>, embedder: Arc<dyn Embedder>) -> Self {
        let name = format!("labels{VERSION}/{}+{}", classifier.model(), embedder.model());
        Self { name, classifier, embedder, labels: OnceCell::new() }
    }

    async fn labels(&self) -> Result<&LabelVectors> {
        let embed = || LabelVectors::embed(self.classifier.labels(), self.embedder.as_ref());
        self.labels.get_or_try_init(embed).await
    }
}

#[async_trait]
impl ImageEmbedder for LabelBridge {
    fn model(&self) -> &str {
        &self.name
    }

    fn dimension(&self) -> usize {
        self.embedder.dimension() + PROJECTED + 1
    }

    fn match_model(&self) -> MatchModel {
        MATCH
    }

    async fn embed_images(&self, images: &[Image]) -> Result<Vec<Vec<f32>>> {
        let classified = self.classifier.classify(images).await?;
        let labels = self.labels().await?;
        Ok(classified.iter().map(|probabilities| labels.image_vector(probabilities)).collect())
    }

    async fn embed_texts(&self, texts: &[String]) -> Result<Vec<Vec<f32>>> {
        let labels = self.labels().await?;
        let vectors = self.embedder.embed(texts).await?;
        Ok(vectors.into_iter().map(|vector| labels.text_vector(vector)).collect())
    }
}

impl LabelVectors {
    async fn embed(labels: &[String], embedder: &dyn Embedder) -> Result<Self> {
        let names: Vec<Vec<String>> = labels
            .iter()
            .map(|label| {
                let synonyms = text::kinds::synonyms(label).iter().map(String::as_str);
                let names = std::iter::once(label.as_str()).chain(synonyms);
                names.map(|name| format!("a photo of a {name}")).collect()
            })
            .collect();
        let mut embedded = embedder.embed(&names.concat()).await?.into_iter();
        let mut vectors = Vec::with_capacity(labels.len());
        for names in &names {
            let of_label: Vec<Vec<f32>> = embedded.by_ref().take(names.len()).collect();
            vectors.push(scaled(sum(&of_label), 1.0 / names.len() as f32));
        }
        let mean = scaled(sum(&vectors), 1.0 / labels.len().max(1) as f32);
        for vector in &mut vectors {
            vector.iter_mut().zip(&mean).for_each(|(x, mean)| *x -= mean);
        }
        let longest = vectors.iter().map(|vector| length(vector)).fold(0.0, f32::max);
        if longest == 0.0 {
            let why = "the text embedder gives all labels of the classifier the same vector";
            return Err(PortError::new(ErrorKind::Invalid, why));
        }
        Ok(Self { vectors: vectors.into_iter().map(|v| scaled(v, 1.0 / longest)).collect() })
    }

    /// Returns the unit vector of an image with these probabilities.
    fn image_vector(&self, probabilities: &[f32]) -> Vec<f32> {
        let softened: Vec<f32> = probabilities.iter().map(|p| p.powf(SOFTENING)).collect();
        let total = softened.iter().sum::<f32>().max(f32::MIN_POSITIVE);
        let mut named = vec![0.0; self.dimension()];
        for (vector, weight) in self.vectors.iter().zip(softened) {
            named.iter_mut().zip(vector).for_each(|(sum, x)| *sum += weight / total * x);
        }
        let stretched = STRETCH.min(1.0 / length(&named).max(f32::MIN_POSITIVE));
        let mut named = scaled(named, stretched * SHARE.sqrt());
        let rest = (1.0 - dot(&named, &named)).max(0.0).sqrt();
        named.extend(scaled(normalized(projection(probabilities)), rest));
        named.push(0.0);
        normalized(named)
    }

    /// Returns the unit vector of a text that has this vector.
    fn text_vector(&self, text: Vec<f32>) -> Vec<f32> {
        let similarities: Vec<f32> = self.vectors.iter().map(|label| dot(label, &text)).collect();
        let count = similarities.len().max(1) as f32;
        let mean = similarities.iter().sum::<f32>() / count;
        let variance = similarities.iter().map(|s| (s - mean) * (s - mean)).sum::<f32>() / count;
        let mut vector = scaled(text, SPREAD / variance.sqrt().max(SPREAD));
        let missing = (1.0 - dot(&vector, &vector)).max(0.0).sqrt();
        vector.extend([0.0; PROJECTED]);
        vector.push(missing);
        vector
    }

    /// Returns the dimension of the text embedder.
    fn dimension(&self) -> usize {
        self.vectors.first().map_or(0, Vec::len)
    }
}

/// Projects the logarithms of the probabilities, less their mean, onto fixed random directions,
/// which nearly preserves the cosines between images.
fn projection(probabilities: &[f32]) -> Vec<f32> {
    let logarithms: Vec<f32> =
        probabilities.iter().map(|probability| probability.max(MIN_PROBABILITY).ln()).collect();
    let mean = logarithms.iter().sum::<f32>() / logarithms.len().max(1) as f32;
    let mut projected = vec![0.0; PROJECTED];
    for (class, logarithm) in logarithms.iter().enumerate() {
        let difference = logarithm - mean;
        for (block, sums) in projected.chunks_mut(64).enumerate() {
            let signs = random_bits((class * PROJECTED / 64 + block) as u64);
            for (bit, sum) in sums.iter_mut().enumerate() {
                *sum += if signs >> bit & 1 == 1 { difference } else { -difference };
            }
        }
    }
    projected
}

/// Returns 64 random bits, which depend only on `seed` (SplitMix64).
fn random_bits(seed: u64) -> u64 {
    let mut bits = seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

fn scaled(mut vector: Vec<f32>, factor: f32) -> Vec<f32> {
    vector.iter_mut().for_each(|x| *x *= factor);
    vector
}

fn length(vector: &[f32]) -> f32 {
    dot(vector, vector).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels() -> LabelVectors {
        LabelVectors { vectors: vec![vec![1.0, 0.0], vec![-0.5, 0.8], vec![-0.5, -0.8]] }
    }

    #[test]
    fn cosines_with_texts_fall_with_the_certainty() {
        let text = |image: Vec<f32>| dot(&[1.0, 0.0], &image[..2]);
        let certain = text(labels().image_vector(&[1.0, 0.0, 0.0]));
        let uncertain = text(labels().image_vector(&[0.6, 0.2, 0.2]));
        let other = text(labels().image_vector(&[0.0, 1.0, 0.0]));
        assert!((certain - SHARE.sqrt()).abs() < 1e-5, "{certain}");
        assert!(certain > uncertain && uncertain > other, "{certain} {uncertain} {other}");
    }

    #[test]
    fn images_of_one_label_still_differ() {
        let vector = |probabilities: [f32; 3]| labels().image_vector(&probabilities);
        let image = vector([0.9, 0.09, 0.01]);
        let near = dot(&image, &vector([0.9, 0.08, 0.02]));
        let far = dot(&image, &vector([0.9, 0.01, 0.09]));
        assert!((length(&image) - 1.0).abs() < 1e-5);
        assert!(near > far && far > dot(&image, &vector([0.01, 0.9, 0.09])), "{near} {far}");
    }
}
