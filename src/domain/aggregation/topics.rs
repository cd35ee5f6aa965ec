//! Topic segmentation: groups consecutive chunks by topic, for the chapters and the summary.
//!
//! Applies TextTiling (Hearst) to embeddings. At each gap between chunks, the mean vectors of the
//! chunks on both sides are compared. A gap whose difference stands out from the differences at
//! other gaps is a change of topic.

use std::ops::Range;

use crate::aggregation::ChunkVectors;
use crate::kernel::time::Span;

/// Number of chunks compared on each side of a gap.
const WINDOW: usize = 2;

/// Minimum cosine distance for a change of topic. The distance must also stand out from the
/// distances at the other gaps.
const MIN_DIFFERENCE: f64 = 0.12;

/// Minimum length of a group, in seconds.
const MIN_SECONDS: f64 = 8.0;
/// Minimum length of a group, as a share of the video. The larger of the two minimums applies.
const MIN_SHARE: f64 = 0.02;

/// Groups consecutive chunks by topic. Every chunk is in exactly one group.
pub(crate) fn segment(spans: &[Span], vectors: &ChunkVectors) -> Vec<Range<usize>> {
    if spans.is_empty() {
        return Vec::new();
    }
    let end = spans[spans.len() - 1].end;
    let min_length = MIN_SECONDS.max(MIN_SHARE * end);
    // Gaps that are too close to either end cannot be boundaries and do not count towards the mean.
    let differences: Vec<(usize, f64)> = (1..spans.len())
        .filter(|&gap| {
            spans[gap].start - spans[0].start >= min_length && end - spans[gap].start >= min_length
        })
        .filter_map(|gap| Some((gap, difference(&vectors.vectors, gap)?)))
        .collect();
    let count = differences.len().max(1) as f64;
    let mean = differences.iter().map(|d| d.1).sum::<f64>() / count;
    let deviation = (differences.iter().map(|d| (d.1 - mean).powi(2)).sum::<f64>() / count).sqrt();
    let mut candidates: Vec<(usize, f64)> = differences
        .into_iter()
        .filter(|d| d.1 >= MIN_DIFFERENCE && d.1 >= mean + 0.5 * deviation)
        .collect();
    candidates.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    let mut gaps: Vec<usize> = Vec::new();
    for (gap, _) in candidates {
        let time = spans[gap].start;
        if gaps.iter().all(|g| (spans[*g].start - time).abs() >= min_length) {
            gaps.push(gap);
        }
    }
    gaps.sort_unstable();
    let starts = std::iter::once(0).chain(gaps.iter().copied());
    let ends = gaps.iter().copied().chain(std::iter::once(spans.len()));
    starts.zip(ends).map(|(start, end)| start..end).collect()
}

/// Returns the cosine distance between the mean vectors of the chunks before and after a gap.
/// Returns `None` if there are no vectors on one side. The distance is computed in `f64`, unlike
/// [`crate::kernel::vector::cosine`], because rounding would move the boundaries of stored
/// chapters.
fn difference(vectors: &[Option<Vec<f32>>], gap: usize) -> Option<f64> {
    let before = mean(vectors.get(gap.saturating_sub(WINDOW)..gap)?)?;
    let after = mean(vectors.get(gap..(gap + WINDOW).min(vectors.len()))?)?;
    let dot: f64 = before.iter().zip(&after).map(|(a, b)| a * b).sum();
    let norm = |v: &[f64]| v.iter().map(|x| x * x).sum::<f64>().sqrt();
    let norms = norm(&before) * norm(&after);
    Some(if norms > 1e-12 { 1.0 - dot / norms } else { 0.0 })
}

fn mean(vectors: &[Option<Vec<f32>>]) -> Option<Vec<f64>> {
    let mut present = vectors.iter().flatten();
    let mut sum: Vec<f64> = present.next()?.iter().map(|&x| x.into()).collect();
    for vector in present {
        for (total, &value) in sum.iter_mut().zip(vector) {
            *total += f64::from(value);
        }
    }
    Some(sum)
}

#[cfg(test)]
#[expect(clippy::single_range_in_vec_init, reason = "one group is a list of one range")]
mod tests {
    use super::*;

    fn video(topics: &[usize]) -> (Vec<Span>, ChunkVectors) {
        let spans = (0..topics.len())
            .map(|i| Span { start: i as f64 * 5.0, end: (i + 1) as f64 * 5.0 })
            .collect();
        let vectors = topics
            .iter()
            .map(|&topic| {
                let mut vector = vec![0.1; 4];
                vector[topic] = 1.0;
                Some(vector)
            })
            .collect();
        (spans, ChunkVectors { vectors, ..ChunkVectors::default() })
    }

    #[test]
    fn groups_follow_the_topic() {
        for (topics, expected) in [
            (vec![0, 0, 0, 0, 0], vec![0..5]),
            (vec![0, 0, 0, 1, 1, 1, 1], vec![0..3, 3..7]),
            (vec![0, 0, 0, 1, 1, 1, 2, 2, 2], vec![0..3, 3..6, 6..9]),
            (vec![0], vec![0..1]),
        ] {
            let (spans, vectors) = video(&topics);
            assert_eq!(segment(&spans, &vectors), expected, "{topics:?}");
        }
    }

    #[test]
    fn chunks_without_vectors_still_belong_to_a_group() {
        let (spans, mut vectors) = video(&[0, 0, 0, 1, 1, 1]);
        vectors.vectors[2] = None;
        let groups = segment(&spans, &vectors);
        assert_eq!(groups.iter().map(ExactSizeIterator::len).sum::<usize>(), 6);
        assert_eq!(segment(&spans, &ChunkVectors::default()), [0..6]);
    }
}
