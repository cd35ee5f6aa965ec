//! Whose speech it is: stretches between voice changes are turned into speaker vectors and grouped
//! by likeness; the number of speakers follows from how alike the embedder says one voice is.

use std::sync::Arc;

use futures::{FutureExt, StreamExt, TryStreamExt, stream};
use kodama::{Method, linkage};
use ports::speaker::SpeakerEmbedder;

use crate::domain::kernel::error::Result;
use crate::domain::kernel::time::Span;
use crate::domain::kernel::vector::dot;
use crate::domain::media::speech::{Sound, VoiceTurn};

/// Voices are compared over this much sound on either side of a possible change, seconds.
const SIDE: f64 = 1.5;

/// How closely changes are looked for, seconds.
const STEP: f64 = 0.25;

/// Two changes are at least so far apart, seconds.
const APART: f64 = 1.0;

/// Longer stretches of one voice are grouped as several, so that a missed change spoils one only.
const STRETCH: f64 = 3.0;

/// Least sound of one voice on either side of a change, seconds.
const LEAST_SIDE: f64 = 1.0;

/// How much less alike than one voice the sides of a change are, in distances that separate groups:
/// over so short a time a voice is not quite like itself.
const UNLIKE: f32 = 3.0;

/// Shorter stretches say more about the words than about the voice: they go to the nearest group,
/// unless all are so short. Seconds.
const TELLING: f64 = 1.75;

/// Turns of one speaker closer than this are one turn, seconds.
const SAME_TURN: f64 = 0.6;

/// Most stretches that are grouped by comparing all with all; of more, so many spread over the
/// video make the groups and the others go to the nearest one.
const MAX_GROUPED: usize = 2_000;

/// A stretch of speech and, when it is long enough, its voice.
struct Stretch {
    span: Span,
    voice: Option<Vec<f32>>,
}

/// Turns in order, speakers `S1`, `S2` … by first appearance. `spans` is where speech is.
pub(crate) async fn turns(
    embedder: &dyn SpeakerEmbedder,
    sound: &Arc<Sound>,
    spans: &[Span],
    concurrency: usize,
) -> Result<Vec<VoiceTurn>> {
    let listener = Listener { embedder, sound, concurrency: concurrency.max(1) };
    let mut parts = Vec::new();
    for span in spans {
        parts.extend(listener.parts(*span).await?);
    }
    let voices = listener.voices(parts.iter().copied()).await?;
    let stretches: Vec<Stretch> =
        parts.into_iter().zip(voices).map(|(span, voice)| Stretch { span, voice }).collect();
    let groups = grouped(&stretches, embedder.same_voice());
    Ok(joined(&stretches, &groups))
}

struct Listener<'a> {
    embedder: &'a dyn SpeakerEmbedder,
    sound: &'a Arc<Sound>,
    concurrency: usize,
}

impl Listener<'_> {
    /// The speaker vector of each span, in order.
    async fn voices(&self, spans: impl Iterator<Item = Span>) -> Result<Vec<Option<Vec<f32>>>> {
        let work: Vec<_> = spans.map(|span| self.voice(span).boxed()).collect();
        stream::iter(work).buffered(self.concurrency).try_collect().await
    }

    async fn voice(&self, span: Span) -> Result<Option<Vec<f32>>> {
        let samples = self.sound.read(span.start, span.end).await?;
        Ok(self.embedder.embed(&samples).await?)
    }

    /// A span of speech cut where the voice changes most, in stretches short enough to group.
    async fn parts(&self, span: Span) -> Result<Vec<Span>> {
        let mut edges = vec![span.start];
        edges.extend(self.changes(span).await?);
        edges.push(span.end);
        let mut parts = Vec::new();
        for pair in edges.windows(2) {
            let count = ((pair[1] - pair[0]) / STRETCH).ceil().max(1.0);
            let length = (pair[1] - pair[0]) / count;
            let edge = |i: f64| pair[0] + i * length;
            parts.extend(
                (0..count as usize)
                    .map(|i| i as f64)
                    .map(|i| Span { start: edge(i), end: edge(i + 1.0) }),
            );
        }
        Ok(parts)
    }

    /// Where the sound on one side is least like that on the other.
    async fn changes(&self, span: Span) -> Result<Vec<f64>> {
        let steps = ((span.seconds() - 2.0 * LEAST_SIDE) / STEP).floor();
        if steps < 0.0 {
            return Ok(Vec::new());
        }
        let times: Vec<f64> =
            (0..=steps as usize).map(|i| span.start + LEAST_SIDE + i as f64 * STEP).collect();
        let before = times.iter().map(|t| Span { start: (t - SIDE).max(span.start), end: *t });
        let after = times.iter().map(|t| Span { start: *t, end: (t + SIDE).min(span.end) });
        let (before, after) = (self.voices(before).await?, self.voices(after).await?);
        let unlike: Vec<f32> = before
            .iter()
            .zip(&after)
            .map(|pair| match pair {
                (Some(a), Some(b)) => 1.0 - dot(a, b),
                _ => 0.0,
            })
            .collect();
        let least = (1.0 - self.embedder.same_voice()) * UNLIKE;
        Ok(peaks(&unlike, least, (APART / STEP) as usize).map(|i| times[i]).collect())
    }
}

/// Places of values of at least `least` that no value within `radius` exceeds.
fn peaks(values: &[f32], least: f32, radius: usize) -> impl Iterator<Item = usize> {
    (0..values.len()).filter(move |&i| {
        let around = i.saturating_sub(radius)..(i + radius + 1).min(values.len());
        values[i] >= least
            && around.clone().all(|j| values[j] < values[i] || j >= i)
            && around.skip_while(|j| *j <= i).all(|j| values[j] <= values[i])
    })
}

/// The group of each stretch: average linkage of the telling ones, the others by nearest group.
fn grouped(stretches: &[Stretch], same_voice: f32) -> Vec<usize> {
    let voiced: Vec<usize> =
        (0..stretches.len()).filter(|&i| stretches[i].voice.is_some()).collect();
    let long = |i: &usize| stretches[*i].span.seconds() >= TELLING;
    let telling: Vec<usize> = match voiced.iter().copied().filter(long).collect::<Vec<_>>() {
        none if none.is_empty() => voiced,
        telling => telling,
    };
    let every = telling.len().div_ceil(MAX_GROUPED).max(1);
    let sample: Vec<&[f32]> =
        telling.iter().step_by(every).filter_map(|&i| stretches[i].voice.as_deref()).collect();
    let centres = centres(&sample, same_voice);
    if centres.is_empty() {
        return vec![0; stretches.len()];
    }
    let nearest = |voice: &Vec<f32>| {
        let likeness = centres.iter().map(|centre| dot(centre, voice)).enumerate();
        likeness.max_by(|a, b| a.1.total_cmp(&b.1)).map_or(0, |(group, _)| group)
    };
    let mut groups: Vec<Option<usize>> =
        stretches.iter().map(|s| s.voice.as_ref().map(nearest)).collect();
    // Too short for any vector: whoever spoke closest in time.
    for i in 0..groups.len() {
        if groups[i].is_none() {
            let gap = |j: &usize| {
                (stretches[*j].span.start - stretches[i].span.end)
                    .max(stretches[i].span.start - stretches[*j].span.end)
            };
            let known = (0..groups.len()).filter(|j| stretches[*j].voice.is_some());
            groups[i] = known.min_by(|a, b| gap(a).total_cmp(&gap(b))).and_then(|j| groups[j]);
        }
    }
    groups.into_iter().map(Option::unwrap_or_default).collect()
}

/// The mean direction of each group of vectors whose mean likeness is at least `same_voice`.
fn centres(vectors: &[&[f32]], same_voice: f32) -> Vec<Vec<f32>> {
    let mut distances = Vec::with_capacity(vectors.len() * vectors.len().saturating_sub(1) / 2);
    for (i, a) in vectors.iter().enumerate() {
        distances.extend(vectors[i + 1..].iter().map(|b| 1.0 - dot(a, b)));
    }
    let tree = linkage(&mut distances, vectors.len(), Method::Average);
    let mut clusters: Vec<Option<Vec<usize>>> = (0..vectors.len()).map(|i| Some(vec![i])).collect();
    for step in tree.steps() {
        if step.dissimilarity > 1.0 - same_voice {
            break;
        }
        let mut members = clusters[step.cluster1].take().unwrap_or_default();
        members.extend(clusters[step.cluster2].take().unwrap_or_default());
        clusters.push(Some(members));
    }
    clusters
        .into_iter()
        .flatten()
        .map(|members| {
            let mut centre = vec![0.0; vectors[members[0]].len()];
            for member in members {
                centre.iter_mut().zip(vectors[member]).for_each(|(sum, x)| *sum += x);
            }
            let norm = dot(&centre, &centre).sqrt().max(f32::MIN_POSITIVE);
            centre.iter_mut().for_each(|x| *x /= norm);
            centre
        })
        .collect()
}

/// Neighbouring stretches of one group as turns.
fn joined(stretches: &[Stretch], groups: &[usize]) -> Vec<VoiceTurn> {
    let mut speakers: Vec<usize> = Vec::new();
    let mut turns: Vec<VoiceTurn> = Vec::new();
    for (stretch, group) in stretches.iter().zip(groups) {
        let number = speakers.iter().position(|g| g == group).unwrap_or_else(|| {
            speakers.push(*group);
            speakers.len() - 1
        });
        let speaker = format!("S{}", number + 1);
        match turns.last_mut() {
            Some(last)
                if last.speaker == speaker && stretch.span.start - last.span.end < SAME_TURN =>
            {
                last.span.end = stretch.span.end;
            }
            _ => turns.push(VoiceTurn { speaker, span: stretch.span }),
        }
    }
    let milliseconds = |seconds: f64| (seconds * 1000.0).round() / 1000.0;
    for turn in &mut turns {
        turn.span.start = milliseconds(turn.span.start);
        turn.span.end = milliseconds(turn.span.end);
    }
    turns
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stretch(start: f64, end: f64, angle: Option<f32>) -> Stretch {
        let voice = angle.map(|a| vec![a.to_radians().cos(), a.to_radians().sin()]);
        Stretch { span: Span { start, end }, voice }
    }

    #[test]
    fn stretches_of_one_voice_become_turns_of_one_speaker() {
        let stretches = [
            stretch(0.0, 2.0, Some(1.0)),
            stretch(2.0, 4.0, Some(4.0)),
            stretch(4.0, 6.0, Some(80.0)),
            stretch(6.2, 6.6, None),
            stretch(9.0, 11.0, Some(2.0)),
            stretch(12.0, 12.5, Some(70.0)),
        ];
        let turns = joined(&stretches, &grouped(&stretches, 0.9));
        let seen: Vec<_> =
            turns.iter().map(|t| (t.speaker.as_str(), t.span.start, t.span.end)).collect();
        assert_eq!(
            seen,
            [("S1", 0.0, 4.0), ("S2", 4.0, 6.6), ("S1", 9.0, 11.0), ("S2", 12.0, 12.5)]
        );
    }

    #[test]
    fn speech_without_any_telling_stretch_is_one_speaker() {
        let stretches = [stretch(0.0, 0.3, None), stretch(5.0, 5.3, None)];
        assert_eq!(grouped(&stretches, 0.9), [0, 0]);
        assert!(grouped(&[], 0.9).is_empty());
    }

    #[test]
    fn peaks_are_apart_and_the_first_of_equals_wins() {
        let values = [0.1, 0.5, 0.5, 0.2, 0.0, 0.3, 0.6, 0.1];
        assert_eq!(peaks(&values, 0.3, 2).collect::<Vec<_>>(), [1, 6]);
        assert_eq!(peaks(&values, 0.7, 2).count(), 0);
    }
}
