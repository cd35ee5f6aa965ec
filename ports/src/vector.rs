//! Arithmetic on vectors of embeddings, voices and histograms. Embeddings have unit length, so that
//! their dot product is their cosine similarity.

/// Dot product; for unit vectors the cosine similarity, −1..1.
pub fn dot(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// Cosine similarity of vectors of any length, −1..1; 0 if one has length 0.
pub fn cosine(a: &[f32], b: &[f32]) -> f32 {
    dot(a, b) / (dot(a, a) * dot(b, b)).sqrt().max(f32::MIN_POSITIVE)
}

/// Element-wise sum of vectors of the same dimension; empty for no vectors.
pub fn sum(vectors: &[Vec<f32>]) -> Vec<f32> {
    let mut sum = vectors.first().cloned().unwrap_or_default();
    for vector in vectors.iter().skip(1) {
        sum.iter_mut().zip(vector).for_each(|(s, x)| *s += x);
    }
    sum
}
