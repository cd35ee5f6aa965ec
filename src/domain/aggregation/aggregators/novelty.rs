//! `novelty`: chunks ranked by their embedding distance from the rest of the video.

use std::sync::Arc;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::aggregation::result::{Aggregate, AggregateRecord, AggregatorOutput, read};
use crate::aggregation::{Aggregator, AggregatorInput, AggregatorSpec, ChunkVectors, round4};
use crate::analysis::presentation::{
    Chart, ChartForm, Lane, LaneForm, OutputKind, Presentation, Tab, TrackSpec,
};
use crate::kernel::error::Result;
use crate::kernel::schema::json_schema;
use crate::kernel::time::{Span, rounded};
use crate::kernel::video::ChunkId;

/// The id in requests and stored records.
pub(crate) const ID: &str = "novelty";

/// The `novelty` aggregator.
pub(crate) struct NoveltyAggregator;

/// The chunks of a video ranked by novelty.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct NoveltyRanking {
    /// A description of what is compared.
    pub(crate) basis: String,
    pub(crate) mean_distance: f64,
    /// All chunks with a vector, most novel first.
    pub(crate) ranked: Vec<ChunkNovelty>,
    /// The chunks whose novelty is more than two standard deviations from the mean.
    pub(crate) outliers: Vec<ChunkNovelty>,
}

/// The novelty of one chunk.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct ChunkNovelty {
    #[schemars(with = "usize")]
    pub(crate) chunk_id: ChunkId,
    /// Start, in seconds from the start of the video.
    pub(crate) start: f64,
    /// End, in seconds from the start of the video.
    pub(crate) end: f64,
    /// Cosine distance from the mean vector of the other chunks.
    pub(crate) novelty: f64,
}

#[async_trait]
impl Aggregator for NoveltyAggregator {
    fn spec(&self) -> &'static AggregatorSpec {
        &AggregatorSpec {
            id: ID,
            depends_on: &[],
            uses_llm: false,
            answers: "what is unusual, surprising, out of the ordinary or unlike the rest",
            label: "Unusual moments",
            presentation: const {
                let lane = Lane {
                    form: LaneForm::Levels,
                    max: Some(1),
                    ..Lane::spans(ID, "Unusual", 110)
                };
                let ranked = TrackSpec {
                    value: Some(ID),
                    lane: Some(lane),
                    ..TrackSpec::new("/ranked", ID)
                };
                let distances = Chart {
                    high: 0.1,
                    ..Chart::new(ChartForm::Line, "Unusual moments", "/ranked", ID)
                };
                Presentation {
                    icon: "chart",
                    kind: OutputKind::Charts,
                    rank: 73,
                    tab: Some(Tab::STATISTICS),
                    tracks: &[ranked],
                    charts: &[distances],
                    ..Presentation::ROWS
                }
            },
        }
    }

    async fn aggregate(&self, input: &AggregatorInput<'_>) -> Result<Aggregate> {
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
        let item = |&(chunk_id, distance): &(ChunkId, f64)| {
            let span = input.video.spans[chunk_id.index()];
            ChunkNovelty {
                chunk_id,
                start: rounded(span.start),
                end: rounded(span.end),
                novelty: round4(distance),
            }
        };
        let outliers = ranked
            .iter()
            .filter(|(_, distance)| deviation > 1e-6 && (distance - mean).abs() > 2.0 * deviation)
            .map(item)
            .collect();
        Ok(Arc::new(AggregateRecord::new(NoveltyRanking {
            basis: basis(input.vectors),
            mean_distance: round4(mean),
            ranked: ranked.iter().map(item).collect(),
            outliers,
        })))
    }

    fn schema(&self) -> Value {
        json_schema::<NoveltyRanking>()
    }

    fn read(&self, stored: Value) -> Result<Aggregate> {
        read::<NoveltyRanking>(stored)
    }
}

/// Describes what is compared.
fn basis(vectors: &ChunkVectors) -> String {
    if vectors.vectors.iter().all(Option::is_none) {
        return "no chunk has an embedding to compare".into();
    }
    format!(
        "cosine distance of each chunk's {} embedding ({}) from the mean of the others",
        vectors.analyzer, vectors.model
    )
}

impl AggregatorOutput for NoveltyRanking {
    fn evidence(&self, _whole: Span) -> Vec<(Span, String)> {
        let text = "This moment is among the most unlike the rest of the video.";
        let moments = self.ranked.iter().take(3);
        moments.map(|m| (Span { start: m.start, end: m.end }, text.to_owned())).collect()
    }
}

/// Returns the cosine distance from the mean vector of the other chunks, for each chunk with a
/// vector.
fn distances(vectors: &[Option<Vec<f32>>]) -> Vec<(ChunkId, f64)> {
    let by_chunk = (0..).map(ChunkId).zip(vectors);
    let present: Vec<(ChunkId, &Vec<f32>)> =
        by_chunk.filter_map(|(chunk, vector)| Some((chunk, vector.as_ref()?))).collect();
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
    use serde_json::json;

    use super::*;
    use crate::aggregation::testing::{aggregate_with_vectors, video};

    #[tokio::test]
    async fn basis_names_the_vectors_or_says_that_there_are_none() {
        for (vectors, basis) in [
            (vec![], "no chunk has an embedding to compare"),
            (vec![None, None], "no chunk has an embedding to compare"),
            (
                vec![None, Some(vec![1.0, 0.0])],
                "cosine distance of each chunk's ocr embedding (bge) from the mean of the others",
            ),
        ] {
            let compared = vectors.iter().flatten().count();
            let vectors = ChunkVectors { analyzer: "ocr".into(), model: "bge".into(), vectors };
            let found = aggregate_with_vectors(&NoveltyAggregator, &video(10.0, 2), &vectors).await;
            assert_eq!(found["basis"], basis);
            assert_eq!(found["ranked"].as_array().map(Vec::len), Some(compared));
            assert_eq!(found["mean_distance"], json!(0.0));
        }
    }

    #[test]
    fn the_odd_one_out_is_farthest() {
        let mut vectors = vec![Some(vec![1.0, 0.0]); 5];
        vectors.push(None);
        vectors.push(Some(vec![0.0, 1.0]));
        let distances = distances(&vectors);
        assert_eq!(distances.len(), 6);
        let farthest = distances.iter().max_by(|a, b| a.1.total_cmp(&b.1)).expect("some");
        assert_eq!(farthest.0, ChunkId(6));
        assert!((farthest.1 - 1.0).abs() < 1e-9);
    }

    #[test]
    fn a_single_chunk_is_not_novel() {
        assert_eq!(distances(&[Some(vec![1.0, 0.0])]), [(ChunkId(0), 0.0)]);
        assert_eq!(distances(&[None]), []);
    }
}
