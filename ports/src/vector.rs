//! Arithmetic on vectors, such as embeddings, voices and histograms. Embeddings have unit length,
//! so the dot product of two embeddings is their cosine similarity.

/// Returns the dot product. For unit vectors, this is their cosine similarity (−1..1).
pub fn dot(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// Returns the cosine similarity (−1..1) of two vectors of any length, or 0 if either vector is
/// zero.
pub fn cosine(a: &[f32], b: &[f32]) -> f32 {
    dot(a, b) / (dot(a, a) * dot(b, b)).sqrt().max(f32::MIN_POSITIVE)
}

/// Scales a vector to length 1; a zero vector stays zero.
pub fn normalized(mut vector: Vec<f32>) -> Vec<f32> {
    let length = dot(&vector, &vector).sqrt().max(f32::MIN_POSITIVE);
    vector.iter_mut().for_each(|x| *x /= length);
    vector
}

/// Returns the element-wise sum of vectors of the same dimension. The result is empty if there are
/// no vectors.
pub fn sum(vectors: &[Vec<f32>]) -> Vec<f32> {
    let mut sum = vectors.first().cloned().unwrap_or_default();
    for vector in vectors.iter().skip(1) {
        sum.iter_mut().zip(vector).for_each(|(s, x)| *s += x);
    }
    sum
}
