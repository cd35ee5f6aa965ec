//! Topic shifts: in what is said, from sentence vectors in windows on either side of each pause
//! (after Hearst's TextTiling); in what is seen, from colours over longer ranges than a cut spans.

use crate::domain::chunking::signal::Candidate;
use crate::domain::kernel::vector::{cosine, sum};
use crate::domain::media::speech::Segment;
use cuts::VisualSecond;

/// Segments on each side of a possible shift.
const WINDOW: usize = 4;

/// A shift this much deeper than the talk around it has full strength: difference of cosines.
const FULL_DEPTH: f32 = 0.4;

/// Shallower ones are the ups and downs of any talk.
const LEAST_DEPTH: f32 = 0.1;

/// Seconds of picture on each side of a possible shift.
const RANGE: u32 = 8;

/// Fewer say nothing about a scene.
const LEAST_SECONDS: usize = 4;

/// Pictures that differ less (share of the histogram that moved) are of one scene.
const LEAST_CHANGE: f32 = 0.25;

/// Share of the histogram whose move has full strength.
const FULL_CHANGE: f32 = 0.75;

/// A shift this close to a cut is the cut's, seconds.
const NEAR_CUT: f64 = 1.5;

/// A cut at least this strong draws a shift to itself.
const DRAWING_CUT: f32 = 0.3;

/// Shifts between segments of speech; `vectors` are their unit vectors.
pub fn spoken_shifts(segments: &[Segment], vectors: &[Vec<f32>]) -> Vec<Candidate> {
    let gaps = segments.len().min(vectors.len()).saturating_sub(1);
    let likeness: Vec<f32> = (0..gaps)
        .map(|i| {
            let before = &vectors[(i + 1).saturating_sub(WINDOW)..=i];
            let after = &vectors[i + 1..(i + 1 + WINDOW).min(gaps + 1)];
            cosine(&sum(before), &sum(after))
        })
        .collect();
    // The ups and downs beside a valley are its slopes.
    let lowest = |i: &usize| {
        (i.saturating_sub(1)..*i).all(|j| likeness[j] > likeness[*i])
            && (i + 1..(i + 2).min(gaps)).all(|j| likeness[j] >= likeness[*i])
    };
    (0..gaps)
        .filter(lowest)
        .filter_map(|i| {
            let peak = |side: &mut dyn Iterator<Item = usize>| {
                let mut peak = likeness[i];
                for value in side.map(|j| likeness[j]) {
                    if value < peak {
                        break;
                    }
                    peak = value;
                }
                peak
            };
            let left = peak(&mut (0..i).rev());
            let right = peak(&mut (i + 1..gaps));
            let depth = (left + right) / 2.0 - likeness[i];
            (depth >= LEAST_DEPTH).then(|| Candidate {
                time: (segments[i].end + segments[i + 1].start) / 2.0,
                strength: (depth / FULL_DEPTH).min(1.0),
            })
        })
        .collect()
}

/// Shifts between scenes. One near a cut has the cut's time.
pub fn seen_shifts(visual: &[VisualSecond], cuts: &[Candidate]) -> Vec<Candidate> {
    let change: Vec<f32> = visual.iter().map(|at| change_at(visual, at.second)).collect();
    let mut found: Vec<Candidate> = Vec::new();
    for (i, at) in visual.iter().enumerate() {
        let near = |j: usize| visual[j].second.abs_diff(at.second) <= RANGE / 2;
        let highest = (0..i).rev().take_while(|j| near(*j)).all(|j| change[j] < change[i])
            && (i + 1..visual.len()).take_while(|j| near(*j)).all(|j| change[j] <= change[i]);
        if change[i] < LEAST_CHANGE || !highest {
            continue;
        }
        let second = f64::from(at.second);
        let cut = cuts
            .iter()
            .filter(|c| c.strength >= DRAWING_CUT && (c.time - second).abs() <= NEAR_CUT)
            .max_by(|a, b| a.strength.total_cmp(&b.strength));
        let time = cut.map_or(second, |c| c.time);
        if found.last().is_none_or(|last| last.time < time) {
            found.push(Candidate { time, strength: (change[i] / FULL_CHANGE).min(1.0) });
        }
    }
    found
}

/// Share of the histogram that moved between the seconds before and those from `second` on.
fn change_at(visual: &[VisualSecond], second: u32) -> f32 {
    let place = |second: u32| visual.partition_point(|v| v.second < second);
    let middle = place(second);
    let before = &visual[place(second.saturating_sub(RANGE))..middle];
    let after = &visual[middle..place(second + RANGE)];
    if before.len() < LEAST_SECONDS || after.len() < LEAST_SECONDS {
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
    fn a_change_of_topic_is_found_between_its_sentences() {
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
        let found = spoken_shifts(&segments, &vectors);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!((found[0].time, found[0].strength), (15.5, 1.0));
        assert!(spoken_shifts(&segments[..1], &vectors[..1]).is_empty());
        assert!(spoken_shifts(&[], &[]).is_empty());
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
    fn a_change_of_scene_has_the_time_of_its_cut() {
        let mut bins = vec![3; 12];
        bins.extend([9; 12]);
        let cut = Candidate { time: 11.64, strength: 0.9 };
        assert_eq!(
            seen_shifts(&seconds(&bins), &[cut])[..],
            [Candidate { time: 11.64, strength: 1.0 }]
        );
        assert_eq!(
            seen_shifts(&seconds(&bins), &[])[..],
            [Candidate { time: 12.0, strength: 1.0 }]
        );
    }

    #[test]
    fn shot_and_reverse_shot_are_one_scene() {
        let bins: Vec<usize> = (0..40).map(|i| if i / 2 % 2 == 0 { 3 } else { 9 }).collect();
        assert_eq!(seen_shifts(&seconds(&bins), &[]), []);
    }
}
