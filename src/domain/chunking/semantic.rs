//! Finds topic shifts. In speech, compares the embeddings of the segments before and after each
//! possible shift (after Hearst's TextTiling). In the picture, compares colour histograms over
//! longer ranges than cut detection does.

use crate::chunking::signal::Candidate;
use crate::kernel::vector::{cosine, sum};
use crate::media::speech::Segment;
use cuts::VisualSecond;

/// Number of segments compared on each side of a possible shift.
const WINDOW: usize = 4;

/// Depth from which a shift has full strength, as a difference between cosine similarities.
const FULL_DEPTH: f32 = 0.4;

/// Minimum depth of a shift. Smaller depths are normal variation.
const MIN_DEPTH: f32 = 0.1;

/// Seconds of video compared on each side of a possible shift.
const RANGE: u32 = 8;

/// Minimum number of measured seconds on each side of a possible shift.
const MIN_SECONDS: usize = 4;

/// Minimum difference between the histograms of two scenes, as the share of a histogram that is in
/// other bins.
const MIN_CHANGE: f32 = 0.25;

/// Difference between the histograms from which a shift has full strength, measured like
/// [`MIN_CHANGE`].
const FULL_CHANGE: f32 = 0.75;

/// Maximum distance over which a shift is moved to a cut, in seconds.
const NEAR_CUT: f64 = 1.5;

/// Minimum strength of a cut to which a shift is moved.
const MIN_CUT_STRENGTH: f32 = 0.3;

/// Finds topic shifts between segments of speech; `vectors` are the segments' unit embeddings.
pub fn topic_shifts(segments: &[Segment], vectors: &[Vec<f32>]) -> Vec<Candidate> {
    let gaps = segments.len().min(vectors.len()).saturating_sub(1);
    let similarity: Vec<f32> = (0..gaps)
        .map(|i| {
            let before = &vectors[(i + 1).saturating_sub(WINDOW)..=i];
            let after = &vectors[i + 1..(i + 1 + WINDOW).min(gaps + 1)];
            cosine(&sum(before), &sum(after))
        })
        .collect();
    // A valley is a local minimum of similarity.
    let is_valley = |i: &usize| {
        (i.saturating_sub(1)..*i).all(|j| similarity[j] > similarity[*i])
            && (i + 1..(i + 2).min(gaps)).all(|j| similarity[j] >= similarity[*i])
    };
    (0..gaps)
        .filter(is_valley)
        .filter_map(|i| {
            let peak = |side: &mut dyn Iterator<Item = usize>| {
                let mut peak = similarity[i];
                for value in side.map(|j| similarity[j]) {
                    if value < peak {
                        break;
                    }
                    peak = value;
                }
                peak
            };
            let left = peak(&mut (0..i).rev());
            let right = peak(&mut (i + 1..gaps));
            let depth = (left + right) / 2.0 - similarity[i];
            (depth >= MIN_DEPTH).then(|| Candidate {
                time: (segments[i].end + segments[i + 1].start) / 2.0,
                strength: (depth / FULL_DEPTH).min(1.0),
            })
        })
        .collect()
}

/// Finds shifts between scenes. A shift near a cut is moved to the time of the cut.
pub fn scene_shifts(visual: &[VisualSecond], cuts: &[Candidate]) -> Vec<Candidate> {
    let change: Vec<f32> = visual.iter().map(|at| change_at(visual, at.second)).collect();
    let mut shifts: Vec<Candidate> = Vec::new();
    for (i, at) in visual.iter().enumerate() {
        let near = |j: usize| visual[j].second.abs_diff(at.second) <= RANGE / 2;
        let is_peak = (0..i).rev().take_while(|j| near(*j)).all(|j| change[j] < change[i])
            && (i + 1..visual.len()).take_while(|j| near(*j)).all(|j| change[j] <= change[i]);
        if change[i] < MIN_CHANGE || !is_peak {
            continue;
        }
        let second = f64::from(at.second);
        let cut = cuts
            .iter()
            .filter(|c| c.strength >= MIN_CUT_STRENGTH && (c.time - second).abs() <= NEAR_CUT)
            .max_by(|a, b| a.strength.total_cmp(&b.strength));
        let time = cut.map_or(second, |c| c.time);
        if shifts.last().is_none_or(|last| last.time < time) {
            shifts.push(Candidate { time, strength: (change[i] / FULL_CHANGE).min(1.0) });
        }
    }
    shifts
}

/// Returns the difference between the mean histogram before `second` and the mean histogram from
/// `second` on, measured like [`MIN_CHANGE`].
fn change_at(visual: &[VisualSecond], second: u32) -> f32 {
    let index_of = |second: u32| visual.partition_point(|v| v.second < second);
    let middle = index_of(second);
    let before = &visual[index_of(second.saturating_sub(RANGE))..middle];
    let after = &visual[middle..index_of(second + RANGE)];
    if before.len() < MIN_SECONDS || after.len() < MIN_SECONDS {
        return 0.0;
    }
    let mean = |seconds: &[VisualSecond], bin: usize| {
        seconds.iter().map(|v| v.histogram.get(bin).copied().unwrap_or(0.0)).sum::<f32>()
            / seconds.len() as f32
    };
    let bins = before[0].histogram.len();
    (0..bins).map(|bin| (mean(before, bin) - mean(after, bin)).abs()).sum::<f32>() / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn topic_changes_are_found_between_segments() {
        let topics = [0.0_f32, 8.0, 3.0, 5.0, 88.0, 84.0, 90.0, 86.0];
        let segments: Vec<Segment> = (0..topics.len())
            .map(|i| Segment {
                start: i as f64 * 4.0,
                end: i as f64 * 4.0 + 3.0,
                text: String::new(),
                confidence: 1.0,
            })
            .collect();
        let vectors: Vec<Vec<f32>> = topics
            .iter()
            .map(|degrees| vec![degrees.to_radians().cos(), degrees.to_radians().sin()])
            .collect();
        let shifts = topic_shifts(&segments, &vectors);
        assert_eq!(shifts.len(), 1, "{shifts:?}");
        assert_eq!((shifts[0].time, shifts[0].strength), (15.5, 1.0));
        assert!(topic_shifts(&segments[..1], &vectors[..1]).is_empty());
        assert!(topic_shifts(&[], &[]).is_empty());
    }

    fn seconds(bins: &[usize]) -> Vec<VisualSecond> {
        let second = |(second, bin): (usize, &usize)| VisualSecond {
            second: second as u32,
            luma: 0.0,
            colourfulness: 0.0,
            motion: 0.0,
            sharpness: 0.0,
            histogram: (0..64).map(|b| f32::from(u8::from(b == *bin))).collect(),
            hash: 0,
        };
        bins.iter().enumerate().map(second).collect()
    }

    #[test]
    fn scene_changes_have_the_time_of_their_cut() {
        let mut bins = vec![3; 12];
        bins.extend([9; 12]);
        let cut = Candidate { time: 11.64, strength: 0.9 };
        assert_eq!(
            scene_shifts(&seconds(&bins), &[cut])[..],
            [Candidate { time: 11.64, strength: 1.0 }]
        );
        assert_eq!(
            scene_shifts(&seconds(&bins), &[])[..],
            [Candidate { time: 12.0, strength: 1.0 }]
        );
    }

    #[test]
    fn shot_and_reverse_shot_are_one_scene() {
        let bins: Vec<usize> = (0..40).map(|i| if i / 2 % 2 == 0 { 3 } else { 9 }).collect();
        assert_eq!(scene_shifts(&seconds(&bins), &[]), []);
    }
}
