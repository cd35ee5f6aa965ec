//! Who speaks when. A segmentation network hears, window by window, how many speak and when they
//! change; stretches of one speaker are turned into vectors and grouped by voice; each window's
//! speakers then go to the groups that they share most time with, so that speech at the same time
//! has its speakers too. The order is that of 3D-Speaker's pipeline with overlap detection; that
//! stretches end where the speaker changes is ours.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures::{FutureExt, StreamExt, TryStreamExt, future, stream};
use ports::decoder::SAMPLE_RATE;
use ports::speaker::{SpeakerEmbedder, SpeakerSegmentation};

use super::groups::{Stretch, groups};
use crate::domain::kernel::error::{Error, Result};
use crate::domain::kernel::time::{Span, rounded};
use crate::domain::media::speech::{Sound, VoiceTurn};

/// Windows begin this far apart, seconds: a tenth of one, as in pyannote's pipeline 3.1.
const HOP: f64 = 1.0;

/// Windows heard together: one takes a quarter longer, more hold memory for little.
const TOGETHER: usize = 2;

/// Speech so far from where voice activity found some is none, seconds: a music bed that the
/// segmentation takes for a voice has no turn.
const BEYOND: f64 = 0.5;

/// A run of one speaker is measured in stretches this long, this far apart, seconds: 3D-Speaker's.
const STRETCH: f64 = 1.5;
const SHIFT: f64 = 0.75;

/// A shorter run says more about the words than about the voice, seconds.
const LEAST_RUN: f64 = 0.5;

/// Turns of one speaker closer than this are one turn, seconds.
pub(super) const SAME_TURN: f64 = 0.5;

/// A shorter turn is a flicker of the segmentation, seconds.
const LEAST_TURN: f64 = 0.1;

/// The networks and the sound they hear.
pub(crate) struct Diarizer<'a> {
    pub(crate) segmentation: &'a dyn SpeakerSegmentation,
    pub(crate) embedder: &'a dyn SpeakerEmbedder,
    pub(crate) sound: &'a Arc<Sound>,
    /// Windows and stretches heard at once.
    pub(crate) concurrency: usize,
}

/// Which speakers of a window speak in each of its frames.
struct Window {
    /// Its first frame among those of the whole sound.
    from: usize,
    /// A bit per speaker.
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

/// When frames are: the beginning of the first, and their length, seconds.
#[derive(Clone, Copy)]
struct Clock {
    origin: f64,
    step: f64,
}

impl Clock {
    fn begin(self, frame: usize) -> f64 {
        self.origin + frame as f64 * self.step
    }

    fn middle(self, frame: usize) -> f64 {
        self.begin(frame) + self.step / 2.0
    }
}

impl Diarizer<'_> {
    /// Turns in order of start, which overlap where several speak at once; speakers `S1`, `S2` … by
    /// first appearance. `spans` is where speech is, in order and not overlapping.
    pub(crate) async fn turns(&self, spans: &[Span]) -> Result<Vec<VoiceTurn>> {
        let (clock, windows) = self.windows(spans).await?;
        let speaking = speaking(&windows, |frame| near(spans, clock.middle(frame)));
        let runs = runs(&windows, &speaking);
        let stretches = self.stretches(clock, &runs).await?;
        let groups = groups(&stretches, self.embedder.same_voice_threshold());
        let labels = labels(clock, &runs, &stretches, &groups, speaking.len());
        let active = active(&windows, &labels, &speaking);
        Ok(named(turns(clock, &active, self.sound.span().end)))
    }

    /// The windows that hold speech.
    async fn windows(&self, spans: &[Span]) -> Result<(Clock, Vec<Window>)> {
        let whole = self.sound.span();
        let length = self.segmentation.window() as f64 / f64::from(SAMPLE_RATE);
        let count = ((whole.seconds() - length) / HOP).ceil().max(0.0) as usize + 1;
        let starts = (0..count).map(|i| whole.start + i as f64 * HOP).filter(|start| {
            let next = spans.partition_point(|span| span.end + BEYOND <= *start);
            spans.get(next).is_some_and(|span| span.start - BEYOND < start + length)
        });
        let starts: Vec<f64> = starts.collect();
        let work: Vec<_> = starts
            .chunks(TOGETHER)
            .map(|starts| {
                async move {
                    let reads = starts.iter().map(|start| self.sound.read(*start, start + length));
                    let windows = future::try_join_all(reads).await?;
                    let heard = self.segmentation.segment(windows).await?;
                    Ok::<_, Error>(starts.iter().copied().zip(heard).collect::<Vec<_>>())
                }
                .boxed()
            })
            .collect();
        let mut heard = stream::iter(work).buffered(self.concurrency.max(1));
        let mut clock = Clock { origin: whole.start, step: 1.0 };
        let mut windows = Vec::new();
        while let Some(heard) = heard.try_next().await? {
            for (start, activity) in heard {
                let origin = whole.start + activity.first - activity.step / 2.0;
                clock = Clock { origin, step: activity.step };
                let from = ((start - whole.start) / activity.step).round() as usize;
                windows.push(Window { from, frames: activity.frames });
            }
        }
        Ok((clock, windows))
    }

    /// The vectors of the runs, in order; what is too quiet or too short has none.
    async fn stretches(&self, clock: Clock, runs: &[Run]) -> Result<Vec<Stretch>> {
        let end = self.sound.span().end;
        let spans = runs.iter().enumerate().flat_map(|(run, &Run { from, to })| {
            let span = Span { start: clock.begin(from), end: clock.begin(to).min(end) };
            pieces(span).map(move |span| (run, span))
        });
        let work: Vec<_> = spans
            .map(|(run, span)| {
                async move {
                    let samples = self.sound.read(span.start, span.end).await?;
                    let voice = self.embedder.embed(&samples).await?;
                    let stretch = voice.map(|voice| Stretch { run, span, voice });
                    Ok::<_, Error>(stretch)
                }
                .boxed()
            })
            .collect();
        let heard: Vec<Option<Stretch>> =
            stream::iter(work).buffered(self.concurrency.max(1)).try_collect().await?;
        Ok(heard.into_iter().flatten().collect())
    }
}

/// Whether a time is in or close to one of the spans.
fn near(spans: &[Span], time: f64) -> bool {
    let next = spans.partition_point(|span| span.end + BEYOND <= time);
    spans.get(next).is_some_and(|span| span.start - BEYOND <= time)
}

/// How many speak in each frame: the mean of the windows that hear it.
fn speaking(windows: &[Window], holds_speech: impl Fn(usize) -> bool) -> Vec<u8> {
    let total = windows.iter().map(Window::end).max().unwrap_or(0);
    let mut heard = vec![(0_u16, 0_u16); total];
    for window in windows {
        for ((sum, count), frame) in heard[window.from..].iter_mut().zip(&window.frames) {
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
    heard.iter().enumerate().map(mean).collect()
}

/// Frames in which one speaker speaks alone.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Run {
    from: usize,
    /// The first frame after it.
    to: usize,
}

/// Runs of one speaker, each frame seen by the window in whose middle it is: only within a window
/// does the same number mean the same speaker.
fn runs(windows: &[Window], speaking: &[u8]) -> Vec<Run> {
    let mut runs = Vec::new();
    let mut open: Option<usize> = None;
    let mut nearest = 0;
    for (frame, count) in speaking.iter().enumerate() {
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
    runs.extend(open.map(|from| Run { from, to: speaking.len() }));
    runs
}

/// Stretches of [`STRETCH`] that cover a run evenly; a shorter run is one.
fn pieces(run: Span) -> impl Iterator<Item = Span> {
    let over = run.seconds() - STRETCH;
    let count = if run.seconds() < LEAST_RUN {
        0
    } else {
        // A thousandth more than the last stretch covers is no reason for another.
        1 + ((over / SHIFT) - 1e-3).ceil().max(0.0) as usize
    };
    let shift = if count > 1 { over / (count - 1) as f64 } else { 0.0 };
    (0..count).map(move |i| {
        let start = run.start + i as f64 * shift;
        Span { start, end: (start + STRETCH).min(run.end) }
    })
}

/// The group of each frame of a run: that of the stretch whose middle is nearest.
fn labels(
    clock: Clock,
    runs: &[Run],
    stretches: &[Stretch],
    groups: &[usize],
    frames: usize,
) -> Vec<Option<usize>> {
    let mut labels = vec![None; frames];
    let mut rest = stretches;
    for (number, run) in runs.iter().enumerate() {
        let own = rest.partition_point(|stretch| stretch.run <= number);
        let first = stretches.len() - rest.len();
        let (mine, after) = rest.split_at(own);
        rest = after;
        let middles: Vec<f64> = mine.iter().map(|s| (s.span.start + s.span.end) / 2.0).collect();
        for (offset, label) in labels[run.from..run.to].iter_mut().enumerate() {
            let time = clock.middle(run.from + offset);
            let distance = |i: &usize| (middles[*i] - time).abs();
            let nearest = (0..mine.len()).min_by(|a, b| distance(a).total_cmp(&distance(b)));
            *label = nearest.map(|i| groups[first + i]);
        }
    }
    labels
}

/// The groups that speak in each frame: the one that its voice tells, and, where more speak, those
/// that most windows have there.
fn active(windows: &[Window], labels: &[Option<usize>], speaking: &[u8]) -> Vec<Vec<usize>> {
    let assigned: Vec<Vec<Option<usize>>> =
        windows.iter().map(|window| assignment(window, labels)).collect();
    let mut first = 0;
    let mut active = Vec::with_capacity(speaking.len());
    for (frame, count) in speaking.iter().enumerate() {
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

/// The group of each speaker of a window, no group twice, such that they share most frames.
fn assignment(window: &Window, labels: &[Option<usize>]) -> Vec<Option<usize>> {
    let mut shared = vec![BTreeMap::<usize, usize>::new(); 8];
    for (speakers, label) in window.frames.iter().zip(&labels[window.from..]) {
        let Some(group) = label else { continue };
        for (_, shared) in shared.iter_mut().enumerate().filter(|(i, _)| speakers >> i & 1 == 1) {
            *shared.entry(*group).or_default() += 1;
        }
    }
    // Of n speakers who all want the same groups, the last one gets at worst its n-th.
    let wanting = shared.iter().filter(|groups| !groups.is_empty()).count();
    let candidates: Vec<Vec<(usize, usize)>> = shared
        .into_iter()
        .map(|groups| {
            let mut groups: Vec<_> = groups.into_iter().collect();
            groups.sort_by_key(|(_, frames)| std::cmp::Reverse(*frames));
            groups.truncate(wanting);
            groups
        })
        .collect();
    best(&candidates, &mut Vec::new()).1
}

/// The most frames that the candidates can share, and the group of each.
fn best(candidates: &[Vec<(usize, usize)>], taken: &mut Vec<usize>) -> (usize, Vec<Option<usize>>) {
    let Some((mine, others)) = candidates.split_first() else { return (0, Vec::new()) };
    let mut found = best(others, taken);
    found.1.insert(0, None);
    for (group, frames) in mine {
        if taken.contains(group) {
            continue;
        }
        taken.push(*group);
        let (rest, mut groups) = best(others, taken);
        taken.pop();
        if rest + frames > found.0 {
            groups.insert(0, Some(*group));
            found = (rest + frames, groups);
        }
    }
    found
}

/// The stretches of time of each group, joined over short pauses.
fn turns(clock: Clock, active: &[Vec<usize>], end: f64) -> Vec<(usize, Span)> {
    let mut by_group: BTreeMap<usize, Vec<Span>> = BTreeMap::new();
    for (frame, groups) in active.iter().enumerate() {
        let span = Span { start: clock.begin(frame), end: clock.begin(frame + 1).min(end) };
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
        .filter(|(_, span)| span.seconds() >= LEAST_TURN)
        .collect();
    turns.sort_by(|a, b| a.1.start.total_cmp(&b.1.start));
    turns
}

/// Groups by the order of their first turns.
pub(super) fn named(turns: Vec<(usize, Span)>) -> Vec<VoiceTurn> {
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

    const CLOCK: Clock = Clock { origin: 0.0, step: 0.1 };

    fn window(from: usize, frames: &[(u8, usize)]) -> Window {
        let frames = frames.iter().flat_map(|(speakers, count)| vec![*speakers; *count]).collect();
        Window { from, frames }
    }

    #[test]
    fn runs_end_where_the_speaker_changes_within_a_window() {
        // The second window has other numbers for the same two.
        let windows = [
            window(0, &[(0, 10), (1, 30), (2, 60)]),
            window(10, &[(4, 30), (1, 40), (5, 10), (1, 20)]),
        ];
        let speaking = speaking(&windows, |_| true);
        assert_eq!((speaking[5], speaking[20], speaking[85]), (0, 1, 2), "{speaking:?}");
        let found: Vec<_> = runs(&windows, &speaking).iter().map(|r| (r.from, r.to)).collect();
        assert_eq!(found, [(10, 40), (40, 80), (90, 110)]);
    }

    #[test]
    fn frames_far_from_speech_have_no_speaker() {
        let spans = [Span { start: 2.0, end: 3.0 }, Span { start: 8.0, end: 9.0 }];
        let found: Vec<bool> = [1.4, 1.6, 2.5, 3.4, 3.6, 7.6, 9.6].map(|t| near(&spans, t)).into();
        assert_eq!(found, [false, true, true, true, false, true, false]);
        let windows = [window(0, &[(1, 50)])];
        let found = speaking(&windows, |frame| near(&spans, CLOCK.middle(frame)));
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
    fn speech_at_the_same_time_has_both_speakers() {
        let windows =
            [window(0, &[(1, 20), (3, 10), (2, 20)]), window(10, &[(2, 10), (3, 10), (1, 20)])];
        let speaking = speaking(&windows, |_| true);
        let runs = runs(&windows, &speaking);
        let stretches: Vec<Stretch> = (runs.iter().enumerate())
            .map(|(run, r)| Stretch {
                run,
                span: Span { start: CLOCK.begin(r.from), end: CLOCK.begin(r.to) },
                voice: Vec::new(),
            })
            .collect();
        let labels = labels(CLOCK, &runs, &stretches, &[7, 4], speaking.len());
        let active = active(&windows, &labels, &speaking);
        let turns = named(turns(CLOCK, &active, 4.95));
        let seen: Vec<_> =
            turns.iter().map(|t| (t.speaker.as_str(), t.span.start, t.span.end)).collect();
        assert_eq!(seen, [("S1", 0.0, 3.0), ("S2", 2.0, 4.95)]);
    }

    #[test]
    fn no_two_speakers_of_a_window_are_one_group() {
        let labels: Vec<Option<usize>> =
            (0..40).map(|i| [Some(3), Some(3), Some(5), None][i / 10]).collect();
        let window = window(0, &[(1, 15), (2, 15), (4, 10)]);
        assert_eq!(assignment(&window, &labels)[..3], [Some(3), Some(5), None]);
    }

    #[test]
    fn short_pauses_do_not_end_a_turn_and_flickers_are_none() {
        let mut active = vec![vec![1]; 30];
        active[10..14].fill(Vec::new());
        active[20..26].fill(Vec::new());
        active[22] = vec![2];
        let clock = Clock { origin: 1.0, step: 0.09 };
        let found: Vec<_> = turns(clock, &active, 99.0).iter().map(|t| t.0).collect();
        assert_eq!(found, [1, 1]);
    }
}
