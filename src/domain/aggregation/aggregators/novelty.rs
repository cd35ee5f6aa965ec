//! `novelty`: chunks ranked by how unlike the rest of the video they are.

use async_trait::async_trait;
use serde_json::{Value, json};

use crate::domain::aggregation::{Aggregator, AggregatorSpec, Input, round4, rounded};
use crate::domain::kernel::error::Result;
use crate::domain::kernel::time::Span;

/// Its id.
pub(crate) const ID: &str = "novelty";

/// The aggregator.
pub(crate) struct Novelty;

#[async_trait]
impl Aggregator for Novelty {
    fn spec(&self) -> &'static AggregatorSpec {
        &AggregatorSpec {
            id: ID,
            depends_on: &[],
            uses_llm: false,
            answers: "what is unusual, surprising, out of the ordinary or unlike the rest",
        }
    }

    async fn aggregate(&self, input: &Input<'_>) -> Result<Value> {
        let vectors = &input.vectors.vectors;
        let distances = distances(vectors);
        let count = distances.len() as f64;
        let mean = if distances.is_empty() {
            0.0
        } else {
            distances.iter().map(|d| d.1).sum::<f64>() / count
        };
        let variance = distances.iter().map(|d| (d.1 - mean).powi(2)).sum::<f64>() / count.max(1.0);
        let deviation = variance.sqrt();
        let mut ranked = distances;
        ranked.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        let item = |&(chunk, distance): &(usize, f64)| {
            let span = input.video.spans[chunk];
            json!({
                "chunk_id": chunk, "start": rounded(span.start), "end": rounded(span.end),
                "novelty": round4(distance),
            })
        };
        let outliers: Vec<Value> = ranked
            .iter()
            .filter(|(_, distance)| deviation > 1e-6 && (distance - mean).abs() > 2.0 * deviation)
            .map(item)
            .collect();
        Ok(json!({
            "basis": format!(
                "cosine distance of each chunk's {} embedding ({}) from the mean of the others",
                input.vectors.analyzer, input.vectors.model
            ),
            "mean_distance": round4(mean),
            "ranked": ranked.iter().map(item).collect::<Vec<_>>(),
            "outliers": outliers,
        }))
    }

    fn evidence(&self, result: &Value, _whole: Span) -> Vec<(Span, String)> {
        let moments = result["ranked"].as_array().into_iter().flatten().take(3);
        moments
            .filter_map(|m| {
                let span = Span { start: m["start"].as_f64()?, end: m["end"].as_f64()? };
                Some((span, "This moment is among the most unlike the rest of the video.".into()))
            })
            .collect()
    }
}

/// Per chunk with a vector: its cosine distance from the mean of the other chunks.
fn distances(vectors: &[Option<Vec<f32>>]) -> Vec<(usize, f64)> {
    let present: Vec<(usize, &Vec<f32>)> =
        vectors.iter().enumerate().filter_map(|(i, v)| Some((i, v.as_ref()?))).collect();
    let Some((_, first)) = present.first() else { return Vec::new() };
    let mut sum = vec![0.0_f64; first.len()];
    for (_, vector) in &present {
        for (total, value) in sum.iter_mut().zip(*vector) {
            *total += f64::from(*value);
        }
    }
    present
        .iter()
        .map(|&(chunk, vector)| {
            let (mut dot, mut others, mut own) = (0.0, 0.0, 0.0);
            for (total, &value) in sum.iter().zip(vector) {
                let value = f64::from(value);
                let rest = total - value;
                dot += rest * value;
                others += rest * rest;
                own += value * value;
            }
            let norm = (others * own).sqrt();
            (chunk, if norm > 1e-12 { (1.0 - dot / norm).max(0.0) } else { 0.0 })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_odd_one_out_is_farthest() {
        let mut vectors = vec![Some(vec![1.0, 0.0]); 5];
        vectors.push(None);
        vectors.push(Some(vec![0.0, 1.0]));
        let distances = distances(&vectors);
        assert_eq!(distances.len(), 6);
        let farthest = distances.iter().max_by(|a, b| a.1.total_cmp(&b.1)).expect("some");
        assert_eq!(farthest.0, 6);
        assert!((farthest.1 - 1.0).abs() < 1e-9);
    }

    #[test]
    fn a_single_chunk_is_not_novel() {
        assert_eq!(distances(&[Some(vec![1.0, 0.0])]), [(0, 0.0)]);
        assert_eq!(distances(&[None]), []);
    }
}
