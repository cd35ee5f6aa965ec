//! Clusters speech by voice. Agglomerative clustering, with the thresholds published by 3D-Speaker,
//! determines the number of voices.

use kodama::{Method, linkage};

use crate::kernel::time::Span;
use crate::kernel::vector::dot;

/// A piece of speech by one speaker.
pub(super) struct SpeakerSegment {
    /// Index of the run that the piece belongs to.
    pub(super) run: usize,
    /// The span, with times in seconds from the start of the video.
    pub(super) span: Span,
    /// The voice embedding, of unit length.
    pub(super) voice: Vec<f32>,
}

/// In noisy audio, embeddings of one voice are less similar to each other. The threshold is
/// therefore lowered to this share of the median similarity between pieces of the same run.
const SELF_SHARE: f32 = 2.0 / 3.0;

/// Minimum of the lowered threshold, as a share of the threshold for clean audio. In 3D-Speaker,
/// these two thresholds were 0.2 and 0.4 by default for agglomerative clustering.
const MIN_SHARE: f32 = 0.5;

/// The threshold is lowered only if there are at least this many comparisons within runs.
const MIN_COMPARISONS: usize = 4;

/// Minimum size of a cluster (3D-Speaker's `min_cluster_size`). Smaller clusters join the nearest
/// larger cluster, unless [`SENTENCE`] applies.
const MIN_CLUSTER_SIZE: usize = 4;

/// A small cluster that is dissimilar to all larger clusters is kept if it contains at least this
/// much speech, in seconds. This is somebody who says one sentence.
const SENTENCE: f64 = 1.0;

/// Clusters are merged if their centroids have at least this cosine similarity (3D-Speaker's
/// `mer_cos`).
const MERGE_SIMILARITY: f32 = 0.8;

/// Maximum number of pieces to cluster, since clustering compares all pairs. If there are more
/// pieces, a sample from the whole video is clustered and the other pieces join the nearest
/// cluster.
const MAX_CLUSTERED: usize = 2_000;

/// Assigns each piece to a cluster. `same_voice` is the mean cosine similarity above which pieces
/// of clean audio belong to one voice.
pub(super) fn groups(segments: &[SpeakerSegment], same_voice: f32) -> Vec<usize> {
    let step = segments.len().div_ceil(MAX_CLUSTERED).max(1);
    let sample: Vec<&SpeakerSegment> = segments.iter().step_by(step).collect();
    let threshold = adapted_threshold(segments, same_voice);
    let mut clusters = clusters(&sample, threshold);
    // The largest cluster comes first. If clusters are equally large, the one with the earliest
    // piece comes first.
    clusters.sort_by_key(|members| (std::cmp::Reverse(members.len()), members[0]));
    let mut kept: Vec<Vec<usize>> = Vec::new();
    let mut centroids: Vec<Vec<f32>> = Vec::new();
    let mut spread = Vec::new();
    for members in clusters {
        let centroid = centroid(&sample, &members);
        let is_distinct = |centroids: &[Vec<f32>]| {
            centroids.iter().all(|other| dot(other, &centroid) < same_voice * MIN_SHARE)
        };
        let speaks_once = || is_distinct(&centroids) && seconds(&sample, &members) >= SENTENCE;
        if kept.is_empty() || members.len() * step >= MIN_CLUSTER_SIZE || speaks_once() {
            kept.push(members);
            centroids.push(centroid);
        } else {
            spread.extend(members);
        }
    }
    for segment in spread {
        kept[nearest(&centroids, &sample[segment].voice)].push(segment);
    }
    merge(&sample, &mut kept);
    let centroids: Vec<Vec<f32>> = kept.iter().map(|members| centroid(&sample, members)).collect();
    let mut groups: Vec<usize> = if step == 1 {
        vec![0; segments.len()]
    } else {
        segments.iter().map(|segment| nearest(&centroids, &segment.voice)).collect()
    };
    for (group, members) in kept.iter().enumerate() {
        members.iter().for_each(|member| groups[member * step] = group);
    }
    groups
}

/// Computes the mean cosine similarity above which pieces of this audio belong to one voice.
fn adapted_threshold(segments: &[SpeakerSegment], same_voice: f32) -> f32 {
    let mut similarities: Vec<f32> = (segments.iter().enumerate())
        .filter_map(|(i, segment)| {
            let next = segments[i + 1..]
                .iter()
                .take_while(|other| other.run == segment.run)
                .find(|other| other.span.start >= segment.span.end - 1e-6)?;
            Some(dot(&segment.voice, &next.voice))
        })
        .collect();
    if similarities.len() < MIN_COMPARISONS {
        return same_voice;
    }
    similarities.sort_by(f32::total_cmp);
    let median =
        (similarities[(similarities.len() - 1) / 2] + similarities[similarities.len() / 2]) / 2.0;
    (SELF_SHARE * median).clamp(MIN_SHARE * same_voice, same_voice)
}

/// Clusters pieces by average linkage. Clusters are joined as long as their similarity is high
/// enough.
fn clusters(segments: &[&SpeakerSegment], threshold: f32) -> Vec<Vec<usize>> {
    let mut distances = Vec::with_capacity(segments.len() * segments.len().saturating_sub(1) / 2);
    for (i, a) in segments.iter().enumerate() {
        distances.extend(segments[i + 1..].iter().map(|b| 1.0 - dot(&a.voice, &b.voice)));
    }
    let tree = linkage(&mut distances, segments.len(), Method::Average);
    let mut clusters: Vec<Option<Vec<usize>>> =
        (0..segments.len()).map(|i| Some(vec![i])).collect();
    for step in tree.steps() {
        if step.dissimilarity > 1.0 - threshold {
            break;
        }
        let mut members = clusters[step.cluster1].take().unwrap_or_default();
        members.extend(clusters[step.cluster2].take().unwrap_or_default());
        members.sort_unstable();
        clusters.push(Some(members));
    }
    clusters.into_iter().flatten().collect()
}

/// Merges the most similar pair of clusters until no pair of centroids is similar enough.
fn merge(segments: &[&SpeakerSegment], groups: &mut Vec<Vec<usize>>) {
    loop {
        let centroids: Vec<Vec<f32>> =
            groups.iter().map(|members| centroid(segments, members)).collect();
        let pairs = (0..groups.len()).flat_map(|a| (a + 1..groups.len()).map(move |b| (a, b)));
        let similarity = |&(a, b): &(usize, usize)| dot(&centroids[a], &centroids[b]);
        match pairs.max_by(|x, y| similarity(x).total_cmp(&similarity(y))) {
            Some((a, b)) if similarity(&(a, b)) >= MERGE_SIMILARITY => {
                let members = groups.remove(b);
                groups[a].extend(members);
            }
            _ => return,
        }
    }
}

/// Computes the centroid of the pieces in `members`, normalized to unit length.
fn centroid(segments: &[&SpeakerSegment], members: &[usize]) -> Vec<f32> {
    let mut centroid = vec![0.0; members.first().map_or(0, |first| segments[*first].voice.len())];
    for member in members {
        centroid.iter_mut().zip(&segments[*member].voice).for_each(|(sum, x)| *sum += x);
    }
    let norm = dot(&centroid, &centroid).sqrt().max(f32::MIN_POSITIVE);
    centroid.iter_mut().for_each(|x| *x /= norm);
    centroid
}

/// Returns the total time covered by the pieces in `members`, in seconds.
fn seconds(segments: &[&SpeakerSegment], members: &[usize]) -> f64 {
    let mut end = f64::NEG_INFINITY;
    let mut covered = 0.0;
    for member in members {
        let span = segments[*member].span;
        covered += (span.end - span.start.max(end)).max(0.0);
        end = end.max(span.end);
    }
    covered
}

fn nearest(centroids: &[Vec<f32>], voice: &[f32]) -> usize {
    let similarity = centroids.iter().map(|centroid| dot(centroid, voice)).enumerate();
    similarity.max_by(|a, b| a.1.total_cmp(&b.1)).map_or(0, |(group, _)| group)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Builds one piece of 1.5 s per angle in degrees, with two pieces per run.
    fn segments(angles: &[f32]) -> Vec<SpeakerSegment> {
        let segment = |(i, angle): (usize, &f32)| SpeakerSegment {
            run: i / 2,
            span: Span { start: i as f64 * 2.0, end: i as f64 * 2.0 + 1.5 },
            voice: vec![angle.to_radians().cos(), angle.to_radians().sin()],
        };
        angles.iter().enumerate().map(segment).collect()
    }

    #[test]
    fn voices_are_separated() {
        let found = groups(&segments(&[1.0, 4.0, 85.0, 88.0, 2.0, 0.0, 90.0, 84.0]), 0.4);
        assert_eq!(found, [0, 0, 1, 1, 0, 0, 1, 1]);
        assert!(groups(&[], 0.4).is_empty());
        assert_eq!(groups(&segments(&[10.0]), 0.4), [0]);
    }

    #[test]
    fn single_sentences_are_a_voice_if_distinct() {
        let often = [0.0, 2.0, 1.0, 3.0, 2.0, 1.0];
        let with = |angle| groups(&segments(&[&often[..], &[angle]].concat()), 0.9);
        assert_eq!(with(90.0)[6], 1);
        assert_eq!(with(40.0)[6], 0);
        let mut short = segments(&[&often[..], &[90.0]].concat());
        short[6].span.end = short[6].span.start + 0.6;
        assert_eq!(groups(&short, 0.9)[6], 0);
    }

    #[test]
    fn noisy_audio_lowers_the_threshold() {
        let clean = segments(&[0.0, 5.0, 80.0, 85.0, 1.0, 3.0, 82.0, 88.0]);
        assert_eq!(adapted_threshold(&clean, 0.4), 0.4);
        assert_eq!(adapted_threshold(&clean[..6], 0.4), 0.4, "too little to compare");
        let noisy = segments(&[0.0, 60.0, 10.0, 65.0, 0.0, 58.0, 5.0, 66.0]);
        let found = adapted_threshold(&noisy, 0.4);
        assert!((0.3..0.36).contains(&found), "{found}");
        let worst = segments(&[0.0, 90.0, 10.0, 95.0, 0.0, 88.0, 5.0, 96.0]);
        assert_eq!(adapted_threshold(&worst, 0.4), 0.2);
    }

    #[test]
    fn large_inputs_are_sampled() {
        let angles: Vec<f32> =
            (0..2 * MAX_CLUSTERED + 7).map(|i| if i / 10 % 2 == 0 { 3.0 } else { 85.0 }).collect();
        let found = groups(&segments(&angles), 0.4);
        assert!(found.iter().enumerate().all(|(i, group)| *group == i / 10 % 2));
    }
}
