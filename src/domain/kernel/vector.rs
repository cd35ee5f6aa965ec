//! Vectors of embeddings, voices and histograms. Those of models have unit length, so that their dot
//! product is their cosine.

/// Sum of the products; of two unit vectors their cosine, −1..1.
pub fn dot(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// Cosine of the angle between vectors of any length, −1..1; 0 where one has none.
pub fn cosine(a: &[f32], b: &[f32]) -> f32 {
    dot(a, b) / (dot(a, a) * dot(b, b)).sqrt().max(f32::MIN_POSITIVE)
}

/// Sum of vectors of one length; empty for none.
pub fn sum(vectors: &[Vec<f32>]) -> Vec<f32> {
    let mut sum = vectors.first().cloned().unwrap_or_default();
    for vector in vectors.iter().skip(1) {
        sum.iter_mut().zip(vector).for_each(|(s, x)| *s += x);
    }
    sum
}
