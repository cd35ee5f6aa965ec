//! Fusion: selects the set of boundaries that has the highest total score and keeps every chunk
//! within the length limits.
//!
//! The votes of all detectors are merged into anchors. Dynamic programming then finds the path
//! through the anchors with the highest total score, so the result is optimal, unlike that of a
//! greedy selection.

use crate::chunking::signal::Vote;
use crate::chunking::speech_cost::SpeechCost;
use crate::kernel::time::Span;

/// Maximum distance between votes for the same boundary, in seconds. People place a boundary within
/// about this distance of a cut, and the pauses and voice changes at a cut lie within about the
/// same distance.
pub(crate) const SAME_BOUNDARY: f64 = 0.75;

/// Cost of each second by which a chunk violates the length limits. It exceeds any possible gain,
/// so the limits are violated only if no path satisfies them.
const BREACH: f64 = 1e6;

/// Cost of a boundary without a vote, so that a span is not split more often than necessary.
const FILLER: f64 = 1e-3;

/// Cost of a chunk of maximum length. It is lower than the cost of any boundary. Where boundaries
/// are supported only by speech, it favours chunks of equal length.
const LENGTH_COST: f64 = 1e-4;

/// Maximum number of possible boundaries within sentences, per span of the maximum chunk length.
const GAPS_PER_CHUNK: f64 = 20.0;

/// Maximum length of a step in a path, as a multiple of the maximum chunk length. A longer step is
/// considered only if no shorter one keeps the limits.
const MAX_STEP: f64 = 50.0;

/// Replaces [`MAX_STEP`] if there is speech, which offers possible boundaries everywhere.
const MAX_STEP_IN_SPEECH: f64 = 4.0;

/// A possible boundary with its total score.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Anchor {
    time: f64,
    score: f64,
}

/// Splits `0..duration` seconds at the best-supported boundaries such that every chunk lasts from
/// `min` to `max` seconds. A span without votes that is longer than `max` is split between
/// sentences if there is speech, and evenly otherwise. Votes within a sentence count less, and
/// votes within a word still less. A video shorter than `min` becomes one chunk. If the limits
/// cannot all be kept (for example, if 9 seconds are split into chunks of 5 to 6), they are
/// violated by as few seconds as possible.
pub fn fuse(duration: f64, votes: &[Vote], speech: SpeechCost, min: f64, max: f64) -> Vec<Span> {
    if duration <= min {
        return vec![Span { start: 0.0, end: duration.max(0.001) }];
    }
    let anchors = with_speech(anchors(duration, votes), speech, max / GAPS_PER_CHUNK);
    let best = best_path(&anchors, speech, min, max);
    let mut spans = Vec::new();
    for step in best.windows(2) {
        let (from, to) = (anchors[step[0]].time, anchors[step[1]].time);
        let pieces = pieces(to - from, min, max);
        let length = (to - from) / pieces as f64;
        for i in 0..pieces {
            let end = if i + 1 == pieces { to } else { from + (i + 1) as f64 * length };
            spans.push(Span { start: from + i as f64 * length, end });
        }
    }
    spans
}

/// Merges votes into anchors. Each anchor has the time and the score of its strongest vote. For
/// every other detector, the score of the best nearby vote is added. The farther away that vote is,
/// the less it counts.
fn anchors(duration: f64, votes: &[Vote]) -> Vec<Anchor> {
    let inside: Vec<&Vote> =
        votes.iter().filter(|v| v.time > 0.0 && v.time < duration && v.score > 0.0).collect();
    let mut anchors = vec![Anchor { time: 0.0, score: 0.0 }];
    let mut first_near = 0;
    for vote in &inside {
        while inside[first_near].time < vote.time - SAME_BOUNDARY {
            first_near += 1;
        }
        let near =
            || inside[first_near..].iter().take_while(|v| v.time <= vote.time + SAME_BOUNDARY);
        // The strongest nearby vote becomes the anchor; of equally strong votes, the first one.
        let outdone = near().any(|v| {
            v.detector != vote.detector
                && (v.score > vote.score || v.score == vote.score && v.time < vote.time)
        });
        if outdone {
            continue;
        }
        let mut score = vote.score;
        for detector in crate::chunking::Detector::ALL.into_iter().filter(|d| *d != vote.detector) {
            score += near()
                .filter(|v| v.detector == detector)
                .map(|v| v.score * (1.0 - (v.time - vote.time).abs() / (2.0 * SAME_BOUNDARY)))
                .fold(0.0, f64::max);
        }
        match anchors.last_mut() {
            Some(last) if last.time == vote.time => last.score = last.score.max(score),
            _ => anchors.push(Anchor { time: vote.time, score }),
        }
    }
    anchors.push(Anchor { time: duration, score: 0.0 });
    anchors
}

/// Subtracts the speech cost from the anchors' scores, and adds the gaps between words as anchors.
fn with_speech(mut anchors: Vec<Anchor>, speech: SpeechCost, min_distance: f64) -> Vec<Anchor> {
    if speech.is_empty() {
        return anchors;
    }
    let end = anchors.len() - 1;
    for anchor in &mut anchors[1..end] {
        anchor.score -= speech.cost(anchor.time);
    }
    let duration = anchors[end].time;
    let gaps = speech.gaps(min_distance).filter(|gap| gap.time > 0.0 && gap.time < duration);
    anchors.extend(gaps.map(|gap| Anchor { time: gap.time, score: -FILLER - gap.cost }));
    anchors.sort_by(|a, b| a.time.total_cmp(&b.time));
    anchors
}

/// Returns the number of equal pieces into which to split a span. It is the smallest number that
/// keeps every piece within `max`, unless one piece fewer violates the limits less.
fn pieces(length: f64, min: f64, max: f64) -> usize {
    let min_pieces = ((length / max) - 1e-9).ceil().max(1.0) as usize;
    if breach(length / min_pieces as f64, min, max) == 0.0 || min_pieces == 1 {
        return min_pieces;
    }
    // The only alternative is one piece fewer: pieces are then longer than `max`, but may be closer
    // to the limits.
    let cost = |n: usize| breach(length / n as f64, min, max) * n as f64;
    if cost(min_pieces - 1) < cost(min_pieces) { min_pieces - 1 } else { min_pieces }
}

/// Returns the number of seconds by which a chunk's length violates the limits.
fn breach(length: f64, min: f64, max: f64) -> f64 {
    const ROUNDING: f64 = 1e-6;
    let breach = (min - length).max(length - max);
    if breach > ROUNDING { breach } else { 0.0 }
}

/// Finds the path with the highest score from the first to the last anchor. Returns the indices of
/// its anchors.
fn best_path(anchors: &[Anchor], speech: SpeechCost, min: f64, max: f64) -> Vec<usize> {
    let max_step = max * if speech.is_empty() { MAX_STEP } else { MAX_STEP_IN_SPEECH };
    let mut best = vec![f64::NEG_INFINITY; anchors.len()];
    let mut from = vec![0; anchors.len()];
    best[0] = 0.0;
    for to in 1..anchors.len() {
        for start in (0..to).rev() {
            let length = anchors[to].time - anchors[start].time;
            // A longer step can only be better if no shorter one fits the limits.
            if length > max_step && best[to] > -BREACH {
                break;
            }
            let pieces = pieces(length, min, max);
            let piece = length / pieces as f64;
            let mut total = best[start] + anchors[to].score
                - FILLER * (pieces - 1) as f64
                - BREACH * pieces as f64 * breach(piece, min, max);
            if !speech.is_empty() && total > best[to] {
                let within = |i: usize| speech.cost(anchors[start].time + i as f64 * piece);
                let inner_cost: f64 = (1..pieces).map(within).sum();
                total -= inner_cost + LENGTH_COST * pieces as f64 * (piece / max).powi(2);
            }
            if total > best[to] {
                best[to] = total;
                from[to] = start;
            }
        }
    }
    let mut path = vec![anchors.len() - 1];
    while let Some(&last) = path.last().filter(|last| **last != 0) {
        path.push(from[last]);
    }
    path.reverse();
    path
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunking::Detector;
    use crate::chunking::speech_cost::SpokenWord;

    fn vote(detector: Detector, time: f64, score: f64) -> Vote {
        Vote { detector, time, score }
    }

    fn cuts(times: &[f64]) -> Vec<Vote> {
        times.iter().map(|&time| vote(Detector::Cut, time, 1.0)).collect()
    }

    fn boundaries(spans: &[Span]) -> Vec<f64> {
        spans.iter().skip(1).map(|s| (s.start * 1000.0).round() / 1000.0).collect()
    }

    /// Name, duration, votes, min, max and expected boundaries.
    type Case = (&'static str, f64, Vec<Vote>, f64, f64, &'static [f64]);

    #[test]
    fn boundaries_by_case() {
        let cases: [Case; 9] = [
            ("shorter than the minimum", 3.0, cuts(&[1.0]), 5.0, 20.0, &[]),
            ("no votes, fits", 18.0, vec![], 5.0, 20.0, &[]),
            ("no votes, cut evenly", 50.0, vec![], 5.0, 20.0, &[16.667, 33.333]),
            ("a cut on each bound", 30.0, cuts(&[5.0, 25.0]), 5.0, 20.0, &[5.0, 25.0]),
            ("too close to the start", 30.0, cuts(&[4.0, 15.0]), 5.0, 20.0, &[15.0]),
            ("too close to the end", 30.0, cuts(&[15.0, 27.0]), 5.0, 20.0, &[15.0]),
            (
                "greedy would take 6 and lose 10 and 15",
                20.0,
                cuts(&[5.0, 6.0, 10.0, 15.0]),
                5.0,
                20.0,
                &[5.0, 10.0, 15.0],
            ),
            ("filler reaches a far cut", 60.0, cuts(&[50.0]), 5.0, 20.0, &[16.667, 33.333, 50.0]),
            ("fixed length keeps fitting cuts", 20.0, cuts(&[10.0]), 5.0, 5.0, &[5.0, 10.0, 15.0]),
        ];
        for (name, duration, votes, min, max, expected) in cases {
            assert_eq!(
                boundaries(&fuse(duration, &votes, SpeechCost::default(), min, max)),
                expected,
                "{name}"
            );
        }
    }

    #[test]
    fn agreeing_detectors_win_and_cuts_set_the_time() {
        let votes = [
            vote(Detector::Cut, 8.0, 0.6),
            vote(Detector::Cut, 12.0, 0.5),
            vote(Detector::Silence, 12.3, 0.4),
        ];
        assert_eq!(boundaries(&fuse(17.0, &votes, SpeechCost::default(), 5.0, 20.0)), [12.0]);
    }

    /// Builds sentences with these numbers of words; a word begins every 0.5 s and lasts 0.4 s.
    fn sentences(lengths: &[usize]) -> Vec<SpokenWord> {
        let last = lengths.iter().flat_map(|&n| (1..=n).map(move |word| word == n));
        let word = |(i, last): (usize, bool)| SpokenWord {
            span: Span { start: i as f64 * 0.5, end: i as f64 * 0.5 + 0.4 },
            last,
        };
        last.enumerate().map(word).collect()
    }

    #[test]
    fn speech_without_votes_splits_evenly_between_sentences() {
        let words = sentences(&[7, 12, 10, 5, 9, 14, 11, 8, 13, 11]);
        assert_eq!(boundaries(&fuse(50.0, &[], SpeechCost(&words), 5.0, 20.0)), [16.975, 33.95]);
        // A sentence longer than the maximum chunk length is split between words.
        let endless = sentences(&[100]);
        let spans = fuse(50.0, &[], SpeechCost(&endless), 5.0, 20.0);
        assert_eq!(spans.len(), 3);
        let splits_word =
            |span: &Span| SpeechCost(&endless).cost(span.start) > SpeechCost(&endless).cost(0.45);
        assert!(!spans.iter().skip(1).any(splits_word), "{spans:?}");
    }

    #[test]
    fn votes_between_sentences_win_over_similar_ones() {
        let words = sentences(&[20, 10, 10]);
        let within = vote(Detector::Cut, 7.2, 0.75);
        let between = vote(Detector::Silence, 9.95, 0.65);
        let split = |votes: &[Vote], speech| boundaries(&fuse(20.0, votes, speech, 7.0, 15.0));
        assert_eq!(split(&[within, between], SpeechCost::default()), [7.2]);
        assert_eq!(split(&[within, between], SpeechCost(&words)), [9.95]);
        assert_eq!(split(&[within], SpeechCost(&words)), [7.2]);
        // A pause for breath does not justify splitting a sentence.
        let breath = vote(Detector::Silence, 7.45, 0.1);
        assert_eq!(split(&[breath], SpeechCost(&words)), [10.0]);
    }

    #[test]
    fn splits_cover_the_video_within_limits() {
        // A small linear congruential generator, so that the cases are the same on every machine.
        let mut seed = 7_u64;
        let mut random = move || {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) as f64 / f64::from(1_u32 << 31)
        };
        for _ in 0..200 {
            let duration = 20.0 + random() * 300.0;
            let mut votes: Vec<Vote> = (0..(random() * 60.0) as usize)
                .map(|_| vote(Detector::Cut, random() * duration, random()))
                .collect();
            votes.sort_by(|a, b| a.time.total_cmp(&b.time));
            let (min, max) = (1.0 + random() * 4.0, 10.0 + random() * 10.0);
            let spans = fuse(duration, &votes, SpeechCost::default(), min, max);
            assert_eq!(spans[0].start, 0.0);
            assert_eq!(spans[spans.len() - 1].end, duration);
            for pair in spans.windows(2) {
                assert_eq!(pair[0].end, pair[1].start);
            }
            for span in &spans {
                assert!(breach(span.seconds(), min, max) == 0.0, "{span:?} outside {min}..{max}");
            }
        }
    }

    #[test]
    fn impossible_limits_are_violated_minimally() {
        let total: f64 = fuse(9.0, &[], SpeechCost::default(), 5.0, 6.0)
            .iter()
            .map(|s| breach(s.seconds(), 5.0, 6.0))
            .sum();
        assert!((total - 1.0).abs() < 1e-6, "{total}");
    }
}
