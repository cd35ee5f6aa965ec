//! Speaker diarization. A segmentation network estimates, window by window, how many people speak
//! and when they change. Pieces with a single speaker are embedded and clustered by voice. Each
//! window's speakers are then assigned to the clusters with which they share the most time, so that
//! all simultaneous speakers are identified. The steps are those of 3D-Speaker's pipeline with
//! overlap detection, except that pieces also end where the speaker changes.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures::{FutureExt, StreamExt, TryStreamExt, future, stream};
use ports::decoder::SAMPLE_RATE;
use ports::speaker::{SpeakerEmbedder, SpeakerSegmentation};

use super::groups::{SpeakerSegment, groups};
use crate::kernel::error::{Error, Result};
use crate::kernel::time::{Span, rounded};
use crate::media::speech::{Sound, VoiceTurn};

/// Distance between the starts of adjacent windows, in seconds. It is a tenth of the window length,
/// as in pyannote's pipeline 3.1.
const HOP: f64 = 1.0;

/// Number of windows per batch. With one window, diarization takes a quarter longer. With more than
/// two windows, it uses more memory for little gain.
const BATCH: usize = 2;

/// Maximum distance of speech from voice activity, in seconds. The limit excludes music that the
/// segmentation mistakes for a voice.
const MAX_DISTANCE: f64 = 0.5;

/// Length of the pieces into which a run is split for embedding, in seconds, as in 3D-Speaker.
const STRETCH: f64 = 1.5;
/// Distance between the starts of adjacent pieces, in seconds, as in 3D-Speaker.
const SHIFT: f64 = 0.75;

/// Minimum length of a run that is embedded, in seconds. The embedding of a shorter run depends
/// more on the words than on the voice.
const MIN_RUN: f64 = 0.5;

/// Turns of the same speaker are merged if the gap between them is at most this many seconds.
pub(super) const SAME_TURN: f64 = 0.5;

/// Minimum length of a turn, in seconds. Shorter turns are artefacts of the segmentation.
const MIN_TURN: f64 = 0.1;

/// Diarizes the audio of a video.
pub(crate) struct Diarizer<'a> {
    pub(crate) segmentation: &'a dyn SpeakerSegmentation,
    pub(crate) embedder: &'a dyn SpeakerEmbedder,
    pub(crate) sound: &'a Arc<Sound>,
    /// Maximum number of batches or pieces processed concurrently.
    pub(crate) concurrency: usize,
}

/// The active speakers in a window.
struct Window {
    /// Index of the window's first frame in the whole audio.
    from: usize,
    /// The active speakers in each frame, one bit per speaker.
    frames: Vec<u8>,
}

impl Window {
    fn at(&self, frame: usize) -> Option<u8> {
        self.frames.get(frame.checked_sub(self.from)?).copied()
    }

    fn end(&self) -> usize {
        self.from + self.frames.len()
    }
}

/// The times of frames. `origin` is the start of the first frame and `step` the length of a frame,
/// both in seconds.
#[derive(Clone, Copy)]
struct FrameTimes {
    origin: f64,
    step: f64,
}

impl FrameTimes {
    fn begin(self, frame: usize) -> f64 {
        self.origin + frame as f64 * self.step
    }

    fn middle(self, frame: usize) -> f64 {
        self.begin(frame) + self.step / 2.0
    }
}

impl Diarizer<'_> {
    /// Diarizes speech and returns the turns in order of start. Turns of simultaneous speakers
    /// overlap. Speakers are named `S1`, `S2` … in order of first appearance. `spans` is the voice
    /// activity, in order and without overlaps.
    pub(crate) async fn turns(&self, spans: &[Span]) -> Result<Vec<VoiceTurn>> {
        let (times, windows) = self.windows(spans).await?;
        let speaker_counts = speaker_counts(&windows, |frame| near(spans, times.middle(frame)));
        let runs = runs(&windows, &speaker_counts);
        let segments = self.segments(times, &runs).await?;
        let groups = groups(&segments, self.embedder.same_voice_threshold());
        let labels = labels(times, &runs, &segments, &groups, speaker_counts.len());
        let active = active(&windows, &labels, &speaker_counts);
        Ok(name_speakers(turns(times, &active, self.sound.span().end)))
    }

    /// Segments the windows that contain speech.
    async fn windows(&self, spans: &[Span]) -> Result<(FrameTimes, Vec<Window>)> {
        let whole = self.sound.span();
        let length = self.segmentation.window() as f64 / f64::from(SAMPLE_RATE);
        let count = ((whole.seconds() - length) / HOP).ceil().max(0.0) as usize + 1;
        let starts = (0..count).map(|i| whole.start + i as f64 * HOP).filter(|start| {
            let next = spans.partition_point(|span| span.end + MAX_DISTANCE <= *start);
            spans.get(next).is_some_and(|span| span.start - MAX_DISTANCE < start + length)
        });
        let starts: Vec<f64> = starts.collect();
        let work: Vec<_> = starts
            .chunks(BATCH)
            .map(|starts| {
                async move {
                    let reads = starts.iter().map(|start| self.sound.read(*start, start + length));
                    let windows = future::try_join_all(reads).await?;
                    let segmented = self.segmentation.segment(windows).await?;
                    Ok::<_, Error>(starts.iter().copied().zip(segmented).collect::<Vec<_>>())
                }
                .boxed()
            })
            .collect();
        let mut segmented = stream::iter(work).buffered(self.concurrency.max(1));
        let mut times = FrameTimes { origin: whole.start, step: 1.0 };
        let mut windows = Vec::new();
        while let Some(segmented) = segmented.try_next().await? {
            for (start, activity) in segmented {
                let origin = whole.start + activity.first - activity.step / 2.0;
                times = FrameTimes { origin, step: activity.step };
                let from = ((start - whole.start) / activity.step).round() as usize;
                windows.push(Window { from, frames: activity.frames });
            }
        }
        Ok((times, windows))
    }

    /// Embeds the pieces of the runs, in order. Omits pieces that are too quiet or too short.
    async fn segments(&self, times: FrameTimes, runs: &[Run]) -> Result<Vec<SpeakerSegment>> {
        let end = self.sound.span().end;
        let spans = runs.iter().enumerate().flat_map(|(run, &Run { from, to })| {
            let span = Span { start: times.begin(from), end: times.begin(to).min(end) };
            pieces(span).map(move |span| (run, span))
        });
        let work: Vec<_> = spans
            .map(|(run, span)| {
                async move {
                    let samples = self.sound.read(span.start, span.end).await?;
                    let voice = self.embedder.embed(&samples).await?;
                    let segment = voice.map(|voice| SpeakerSegment { run, span, voice });
                    Ok::<_, Error>(segment)
                }
                .boxed()
            })
            .collect();
        let segmented: Vec<Option<SpeakerSegment>> =
            stream::iter(work).buffered(self.concurrency.max(1)).try_collect().await?;
        Ok(segmented.into_iter().flatten().collect())
    }
}

/// Whether a time is in or near one of the spans.
fn near(spans: &[Span], time: f64) -> bool {
    let next = spans.partition_point(|span| span.end + MAX_DISTANCE <= time);
    spans.get(next).is_some_and(|span| span.start - MAX_DISTANCE <= time)
}

/// Estimates the number of speakers in each frame as the mean over the windows that contain the
/// frame. The number is 0 if the frame contains no speech.
fn speaker_counts(windows: &[Window], holds_speech: impl Fn(usize) -> bool) -> Vec<u8> {
    let total = windows.iter().map(Window::end).max().unwrap_or(0);
    let mut segmented = vec![(0_u16, 0_u16); total];
    for window in windows {
        for ((sum, count), frame) in segmented[window.from..].iter_mut().zip(&window.frames) {
            *sum += frame.count_ones() as u16;
            *count += 1;
        }
    }
    let mean = |(frame, &(sum, count)): (usize, &(u16, u16))| {
        if count == 0 || !holds_speech(frame) {
            return 0;
        }
        (f64::from(sum) / f64::from(count)).round_ties_even() as u8
    };
    segmented.iter().enumerate().map(mean).collect()
}

/// A range of frames with a single speaker.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Run {
    from: usize,
    /// Index of the first frame after the run.
    to: usize,
}

/// Finds runs with one speaker. Each frame takes its speaker from the window with the nearest
/// midpoint, because speaker numbers are only consistent within a window.
fn runs(windows: &[Window], speaker_counts: &[u8]) -> Vec<Run> {
    let mut runs = Vec::new();
    let mut open: Option<usize> = None;
    let mut nearest = 0;
    for (frame, count) in speaker_counts.iter().enumerate() {
        let distance = |w: &Window| frame.abs_diff(w.from + (w.frames.len().saturating_sub(1)) / 2);
        while windows
            .get(nearest + 1)
            .is_some_and(|next| next.from <= frame && distance(next) < distance(&windows[nearest]))
        {
            nearest += 1;
        }
        let window = &windows[nearest];
        let now = if *count == 0 { None } else { window.at(frame) };
        let before = frame.checked_sub(1).and_then(|before| window.at(before));
        let alone = now.is_some_and(|speakers| speakers.count_ones() == 1);
        let changed = before.is_some() && before != now;
        if let Some(from) = open.take_if(|_| !alone || changed) {
            runs.push(Run { from, to: frame });
        }
        if alone && open.is_none() {
            open = Some(frame);
        }
    }
    runs.extend(open.map(|from| Run { from, to: speaker_counts.len() }));
    runs
}

/// Splits a run into pieces of length [`STRETCH`] that cover it evenly. A run shorter than
/// [`STRETCH`] is one piece. A run shorter than [`MIN_RUN`] has no pieces.
fn pieces(run: Span) -> impl Iterator<Item = Span> {
    let over = run.seconds() - STRETCH;
    let count = if run.seconds() < MIN_RUN {
        0
    } else {
        // A tolerance of 0.001 prevents rounding errors from adding a piece.
        1 + ((over / SHIFT) - 1e-3).ceil().max(0.0) as usize
    };
    let shift = if count > 1 { over / (count - 1) as f64 } else { 0.0 };
    (0..count).map(move |i| {
        let start = run.start + i as f64 * shift;
        Span { start, end: (start + STRETCH).min(run.end) }
    })
}

/// Assigns each frame of a run to the cluster of the piece with the nearest midpoint.
fn labels(
    times: FrameTimes,
    runs: &[Run],
    segments: &[SpeakerSegment],
    groups: &[usize],
    frames: usize,
) -> Vec<Option<usize>> {
    let mut labels = vec![None; frames];
    let mut rest = segments;
    for (number, run) in runs.iter().enumerate() {
        let own = rest.partition_point(|segment| segment.run <= number);
        let first = segments.len() - rest.len();
        let (mine, after) = rest.split_at(own);
        rest = after;
        let middles: Vec<f64> = mine.iter().map(|s| (s.span.start + s.span.end) / 2.0).collect();
        for (offset, label) in labels[run.from..run.to].iter_mut().enumerate() {
            let time = times.middle(run.from + offset);
            let distance = |i: &usize| (middles[*i] - time).abs();
            let nearest = (0..mine.len()).min_by(|a, b| distance(a).total_cmp(&distance(b)));
            *label = nearest.map(|i| groups[first + i]);
        }
    }
    labels
}

/// Determines the active clusters in each frame. One is the cluster to which the frame's voice was
/// assigned. If several people speak, the clusters found in the most windows are added.
fn active(windows: &[Window], labels: &[Option<usize>], speaker_counts: &[u8]) -> Vec<Vec<usize>> {
    let assigned: Vec<Vec<Option<usize>>> =
        windows.iter().map(|window| assignment(window, labels)).collect();
    let mut first = 0;
    let mut active = Vec::with_capacity(speaker_counts.len());
    for (frame, count) in speaker_counts.iter().enumerate() {
        while windows.get(first).is_some_and(|window| window.end() <= frame) {
            first += 1;
        }
        let mut votes: BTreeMap<usize, usize> = BTreeMap::new();
        for (window, groups) in windows.iter().zip(&assigned).skip(first) {
            let Some(speakers) = window.at(frame) else { break };
            for group in groups.iter().enumerate().filter(|(i, _)| speakers >> i & 1 == 1) {
                if let Some(group) = group.1 {
                    *votes.entry(*group).or_default() += 1;
                }
            }
        }
        if let Some(group) = labels[frame] {
            *votes.entry(group).or_default() += windows.len();
        }
        let mut votes: Vec<(usize, usize)> = votes.into_iter().collect();
        votes.sort_by_key(|(_, votes)| std::cmp::Reverse(*votes));
        active.push(votes.into_iter().take(usize::from(*count)).map(|(group, _)| group).collect());
    }
    active
}

/// Assigns distinct clusters to the speakers of a window, so that speakers and clusters share as
/// many frames as possible.
fn assignment(window: &Window, labels: &[Option<usize>]) -> Vec<Option<usize>> {
    let mut shared = vec![BTreeMap::<usize, usize>::new(); 8];
    for (speakers, label) in window.frames.iter().zip(&labels[window.from..]) {
        let Some(group) = label else { continue };
        for (_, shared) in shared.iter_mut().enumerate().filter(|(i, _)| speakers >> i & 1 == 1) {
            *shared.entry(*group).or_default() += 1;
        }
    }
    // If n speakers have the same preferences, the last of them gets at least its n-th choice.
    let with_candidates = shared.iter().filter(|groups| !groups.is_empty()).count();
    let candidates: Vec<Vec<(usize, usize)>> = shared
        .into_iter()
        .map(|groups| {
            let mut groups: Vec<_> = groups.into_iter().collect();
            groups.sort_by_key(|(_, frames)| std::cmp::Reverse(*frames));
            groups.truncate(with_candidates);
            groups
        })
        .collect();
    best_assignment(&candidates, &mut Vec::new()).1
}

/// Returns the largest possible number of shared frames, and the cluster assigned to each speaker.
fn best_assignment(
    candidates: &[Vec<(usize, usize)>],
    taken: &mut Vec<usize>,
) -> (usize, Vec<Option<usize>>) {
    let Some((mine, others)) = candidates.split_first() else { return (0, Vec::new()) };
    let mut found = best_assignment(others, taken);
    found.1.insert(0, None);
    for (group, frames) in mine {
        if taken.contains(group) {
            continue;
        }
        taken.push(*group);
        let (rest, mut groups) = best_assignment(others, taken);
        taken.pop();
        if rest + frames > found.0 {
            groups.insert(0, Some(*group));
            found = (rest + frames, groups);
        }
    }
    found
}

/// Builds the turns of each cluster. Turns separated by a short pause are joined.
fn turns(times: FrameTimes, active: &[Vec<usize>], end: f64) -> Vec<(usize, Span)> {
    let mut by_group: BTreeMap<usize, Vec<Span>> = BTreeMap::new();
    for (frame, groups) in active.iter().enumerate() {
        let span = Span { start: times.begin(frame), end: times.begin(frame + 1).min(end) };
        for group in groups {
            let spans = by_group.entry(*group).or_default();
            match spans.last_mut() {
                Some(last) if span.start - last.end < SAME_TURN => last.end = span.end,
                _ => spans.push(span),
            }
        }
    }
    let mut turns: Vec<(usize, Span)> = by_group
        .into_iter()
        .flat_map(|(group, spans)| spans.into_iter().map(move |span| (group, span)))
        .filter(|(_, span)| span.seconds() >= MIN_TURN)
        .collect();
    turns.sort_by(|a, b| a.1.start.total_cmp(&b.1.start));
    turns
}

/// Whether a name is the label of a speaker without one, such as `S2`.
pub(crate) fn is_speaker_label(name: &str) -> bool {
    let number = name.strip_prefix(['S', 's']);
    number.is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
}

/// Names clusters in order of their first turns.
pub(super) fn name_speakers(turns: Vec<(usize, Span)>) -> Vec<VoiceTurn> {
    let mut speakers: Vec<usize> = Vec::new();
    let mut name = |group: usize| {
        let number = speakers.iter().position(|known| *known == group).unwrap_or_else(|| {
            speakers.push(group);
            speakers.len() - 1
        });
        format!("S{}", number + 1)
    };
    turns
        .into_iter()
        .map(|(group, span)| VoiceTurn {
            speaker: name(group),
            span: Span { start: rounded(span.start), end: rounded(span.end) },
            channel: None,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLOCK: FrameTimes = FrameTimes { origin: 0.0, step: 0.1 };

    fn window(from: usize, frames: &[(u8, usize)]) -> Window {
        let frames = frames.iter().flat_map(|(speakers, count)| vec![*speakers; *count]).collect();
        Window { from, frames }
    }

    #[test]
    fn runs_end_at_speaker_changes_within_a_window() {
        // The second window numbers the same speakers differently.
        let windows = [
            window(0, &[(0, 10), (1, 30), (2, 60)]),
            window(10, &[(4, 30), (1, 40), (5, 10), (1, 20)]),
        ];
        let speaker_counts = speaker_counts(&windows, |_| true);
        assert_eq!(
            (speaker_counts[5], speaker_counts[20], speaker_counts[85]),
            (0, 1, 2),
            "{speaker_counts:?}"
        );
        let found: Vec<_> =
            runs(&windows, &speaker_counts).iter().map(|r| (r.from, r.to)).collect();
        assert_eq!(found, [(10, 40), (40, 80), (90, 110)]);
    }

    #[test]
    fn frames_far_from_speech_have_no_speaker() {
        let spans = [Span { start: 2.0, end: 3.0 }, Span { start: 8.0, end: 9.0 }];
        let found: Vec<bool> = [1.4, 1.6, 2.5, 3.4, 3.6, 7.6, 9.6].map(|t| near(&spans, t)).into();
        assert_eq!(found, [false, true, true, true, false, true, false]);
        let windows = [window(0, &[(1, 50)])];
        let found = speaker_counts(&windows, |frame| near(&spans, CLOCK.middle(frame)));
        assert_eq!(found.iter().filter(|count| **count == 1).count(), 20);
    }

    #[test]
    fn runs_are_covered_evenly_by_stretches() {
        let of = |start, end| -> Vec<(f64, f64)> {
            pieces(Span { start, end }).map(|s| (s.start, s.end)).collect()
        };
        assert_eq!(of(1.0, 1.4), []);
        assert_eq!(of(1.0, 2.0), [(1.0, 2.0)]);
        assert_eq!(of(1.0, 2.5), [(1.0, 2.5)]);
        assert_eq!(of(1.0, 3.0), [(1.0, 2.5), (1.5, 3.0)]);
        assert_eq!(of(0.0, 3.0), [(0.0, 1.5), (0.75, 2.25), (1.5, 3.0)]);
    }

    #[test]
    fn simultaneous_speech_has_both_speakers() {
        let windows =
            [window(0, &[(1, 20), (3, 10), (2, 20)]), window(10, &[(2, 10), (3, 10), (1, 20)])];
        let speaker_counts = speaker_counts(&windows, |_| true);
        let runs = runs(&windows, &speaker_counts);
        let segments: Vec<SpeakerSegment> = (runs.iter().enumerate())
            .map(|(run, r)| SpeakerSegment {
                run,
                span: Span { start: CLOCK.begin(r.from), end: CLOCK.begin(r.to) },
                voice: Vec::new(),
            })
            .collect();
        let labels = labels(CLOCK, &runs, &segments, &[7, 4], speaker_counts.len());
        let active = active(&windows, &labels, &speaker_counts);
        let turns = name_speakers(turns(CLOCK, &active, 4.95));
        let seen: Vec<_> =
            turns.iter().map(|t| (t.speaker.as_str(), t.span.start, t.span.end)).collect();
        assert_eq!(seen, [("S1", 0.0, 3.0), ("S2", 2.0, 4.95)]);
    }

    #[test]
    fn speakers_of_a_window_have_distinct_clusters() {
        let labels: Vec<Option<usize>> =
            (0..40).map(|i| [Some(3), Some(3), Some(5), None][i / 10]).collect();
        let window = window(0, &[(1, 15), (2, 15), (4, 10)]);
        assert_eq!(assignment(&window, &labels)[..3], [Some(3), Some(5), None]);
    }

    #[test]
    fn short_pauses_are_bridged_and_short_turns_dropped() {
        let mut active = vec![vec![1]; 30];
        active[10..14].fill(Vec::new());
        active[20..26].fill(Vec::new());
        active[22] = vec![2];
        let times = FrameTimes { origin: 1.0, step: 0.09 };
        let found: Vec<_> = turns(times, &active, 99.0).iter().map(|t| t.0).collect();
        assert_eq!(found, [1, 1]);
    }
}
