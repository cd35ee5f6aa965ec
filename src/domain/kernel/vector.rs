//! Vectors of embeddings. All have unit length, so that their dot product is their cosine.

/// Cosine of two unit vectors, -1..1.
pub fn cosine(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}
