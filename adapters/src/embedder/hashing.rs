//! An embedder that needs no model weights. It applies signed feature hashing to words, stems and
//! character n-grams. Texts are similar if they share words, even with other inflections or
//! slightly different spellings. Meaning is not taken into account.

use std::collections::HashMap;

use async_trait::async_trait;
use ports::embedder::{Embedder, estimate_tokens};
use ports::{ErrorKind, PortError, Result};

use text::{is_stop_word, stored_stem, words};

/// Hashes features into `dimension` signed buckets (Weinberger et al., "Feature hashing for large
/// scale multitask learning", 2009).
#[derive(Debug, Clone)]
pub struct HashingEmbedder {
    model: String,
    dimension: usize,
}

/// Weight of a stem among the features of a text.
const STEM_WEIGHT: f32 = 1.0;
/// Weight of a word.
const WORD_WEIGHT: f32 = 0.4;
/// Weight of a pair of adjacent words.
const PAIR_WEIGHT: f32 = 0.35;
/// Weight of an n-gram of characters.
const GRAM_WEIGHT: f32 = 1.0;
/// Weight factor for a stop word. It is greater than 0 because some texts consist only of stop
/// words.
const STOP_WORD_FACTOR: f32 = 0.08;
/// Lengths of n-grams in characters, including the marks for word boundaries.
const GRAM_LENGTHS: std::ops::RangeInclusive<usize> = 3..=4;
/// Maximum number of words per text. Further words are ignored.
const MAX_WORDS: usize = 4096;

impl HashingEmbedder {
    /// Default dimension. It is the same as that of MiniLM.
    pub const DEFAULT_DIMENSION: usize = 384;

    /// Creates an embedder whose vectors have this `dimension`, 16 to 65536. A larger dimension
    /// causes fewer collisions.
    pub fn new(dimension: usize) -> Result<Self> {
        if !(16..=65_536).contains(&dimension) {
            return Err(PortError::new(
                ErrorKind::Invalid,
                format!("the hashing embedder's dimension is {dimension}; 16 to 65536 is accepted"),
            ));
        }
        Ok(Self { model: format!("hashing-v1-{dimension}"), dimension })
    }

    fn vector(&self, text: &str) -> Vec<f32> {
        let mut features: HashMap<u64, (f32, f32)> = HashMap::new();
        let mut add = |kind: u8, feature: &str, weight: f32| {
            let entry = features.entry(hash(kind, feature)).or_insert((0.0, weight));
            entry.0 += 1.0;
        };
        let mut before: Option<String> = None;
        for word in words(text).into_iter().take(MAX_WORDS) {
            let factor = if is_stop_word(&word.lower) { STOP_WORD_FACTOR } else { 1.0 };
            let stem = stored_stem(&word.lower);
            add(b'w', &word.lower, WORD_WEIGHT * factor);
            add(b's', &stem, STEM_WEIGHT * factor);
            if factor < 1.0 {
                continue;
            }
            let marked: Vec<char> = format!("<{}>", word.lower).chars().take(42).collect();
            let grams: Vec<String> = GRAM_LENGTHS
                .flat_map(|length| marked.windows(length).map(String::from_iter))
                .collect();
            // All n-grams of a word together weigh as much as one feature, regardless of the word's
            // length.
            let each = GRAM_WEIGHT / (grams.len().max(1) as f32).sqrt();
            for gram in &grams {
                add(b'g', gram, each);
            }
            if let Some(before) = before.replace(stem.clone()) {
                add(b'p', &format!("{before} {stem}"), PAIR_WEIGHT);
            }
        }

        let mut vector = vec![0.0; self.dimension];
        for (hash, (count, weight)) in sorted_features(features) {
            let sign = if hash >> 63 == 0 { 1.0 } else { -1.0 };
            let bucket = (hash % self.dimension as u64) as usize;
            vector[bucket] += sign * weight * (1.0 + f32::ln(count));
        }
        let norm = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
        if norm > 1e-6 {
            vector.iter_mut().for_each(|x| *x /= norm);
        } else {
            // If there are no features, or the features cancel out, a fixed direction is used.
            vector.fill(0.0);
            vector[(hash(b'e', "") % self.dimension as u64) as usize] = 1.0;
        }
        vector
    }
}

/// Sorts the features. Equal texts yield equal bits only if their features are added in a fixed
/// order.
fn sorted_features(features: HashMap<u64, (f32, f32)>) -> Vec<(u64, (f32, f32))> {
    let mut features: Vec<_> = features.into_iter().collect();
    features.sort_unstable_by_key(|&(hash, _)| hash);
    features
}

/// FNV-1a with a final mixing step. It is the same on all platforms and in all releases, as stored
/// vectors require.
fn hash(kind: u8, feature: &str) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for byte in std::iter::once(kind).chain(feature.bytes()) {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    hash = (hash ^ (hash >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    hash = (hash ^ (hash >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    hash ^ (hash >> 33)
}

#[async_trait]
impl Embedder for HashingEmbedder {
    fn model(&self) -> &str {
        &self.model
    }

    fn dimension(&self) -> usize {
        self.dimension
    }

    async fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>> {
        let this = self.clone();
        let texts = texts.to_vec();
        tokio::task::spawn_blocking(move || texts.iter().map(|text| this.vector(text)).collect())
            .await
            .map_err(|e| PortError::caused_by(ErrorKind::Other, "embedding was interrupted", e))
    }

    async fn count_tokens(&self, texts: &[String]) -> Result<Vec<usize>> {
        Ok(estimate_tokens(texts))
    }

    async fn probe(&self) -> Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cosine(a: &str, b: &str) -> f32 {
        let embedder = HashingEmbedder::new(HashingEmbedder::DEFAULT_DIMENSION).unwrap();
        ports::vector::dot(&embedder.vector(a), &embedder.vector(b))
    }

    #[test]
    fn shared_words_raise_the_cosine() {
        let question = "who is riding the red bicycle?";
        let near = cosine(question, "A woman rides a red bicycle along the river.");
        let far = cosine(question, "The quarterly revenue of the company fell by ten percent.");
        assert!(near > 0.3, "{near}");
        assert!(far.abs() < 0.15, "{far}");
    }

    #[test]
    fn inflections_and_spellings_are_similar() {
        assert!(cosine("cycling", "cycles") > 0.4);
        let spelt = cosine("colour of the harbour", "color of the harbor");
        assert!(spelt > 0.2, "{spelt}");
        assert!(cosine("a dog", "the dog") > 0.9);
    }

    #[test]
    fn repetition_weighs_less_than_other_words() {
        let once = cosine("dog park", "dog park ball");
        let often = cosine("dog park", "dog dog dog dog park");
        assert!(often > once, "{often} against {once}");
    }

    #[test]
    fn vectors_are_stable_across_releases() {
        // Stored vectors outlive the process, so a change of these values requires a new model id.
        assert_eq!(hash(b's', "dog"), 11_675_853_785_193_002_499);
        let text = "At 5 o'clock the women's long-term AT&T plan grew by 12.5 %: they knew what I saw, \
                    and what nobody said.";
        let expected = [
            -0.05673, -0.01704, -0.15335, 0.33337, -0.10380, 0.24408, 0.33214, 0.09139, -0.06821,
            -0.11231, 0.04118, -0.13902, -0.15125, 0.10555, -0.19963, -0.74878,
        ];
        let found = HashingEmbedder::new(16).unwrap().vector(text);
        for (found, expected) in found.into_iter().zip(expected) {
            assert!((found - expected).abs() < 1e-4, "{found} instead of {expected}");
        }
    }

    #[test]
    fn unreasonable_dimensions_are_rejected() {
        for dimension in [0, 15, 1 << 20] {
            assert_eq!(HashingEmbedder::new(dimension).unwrap_err().kind(), ErrorKind::Invalid);
        }
    }
}
