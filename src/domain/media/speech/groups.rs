//! Stretches of speech grouped by voice: agglomerative clustering that decides how many voices there
//! are, with the thresholds that 3D-Speaker publishes.

use kodama::{Method, linkage};

use crate::domain::kernel::time::Span;
use crate::domain::kernel::vector::dot;

/// A stretch of one speaker's speech.
pub(super) struct Stretch {
    /// The run that it is of, counted from 0.
    pub(super) run: usize,
    /// When it is.
    pub(super) span: Span,
    /// Its direction, of length 1.
    pub(super) voice: Vec<f32>,
}

/// Where sound is noisy, a voice is less like itself, and less likeness must do: so much of what
/// stretches of one run have in the median …
const OF_SELF: f32 = 2.0 / 3.0;

/// … but not less than this part of what clean sound is asked for: 3D-Speaker's defaults for
/// agglomerative clustering were 0.2 and 0.4.
const LEAST_OF_SAME: f32 = 0.5;

/// So few comparisons within runs say nothing about the sound.
const COMPARED: usize = 4;

/// A group of fewer stretches goes to the nearest larger one (3D-Speaker's `min_cluster_size`) …
const LEAST_STRETCHES: usize = 4;

/// … unless it is unlike all of them and as long as a sentence, seconds: somebody who speaks once.
const SENTENCE: f64 = 1.0;

/// Groups whose centres have a larger cosine are one (3D-Speaker's `mer_cos`).
const SAME_CENTRE: f32 = 0.8;

/// Most stretches that are grouped by comparing all with all; of more, so many spread over the
/// video make the groups and the others go to the nearest one.
const MAX_GROUPED: usize = 2_000;

/// The group of each stretch. `same_voice` is the mean cosine above which clean stretches are one
/// voice.
pub(super) fn groups(stretches: &[Stretch], same_voice: f32) -> Vec<usize> {
    let every = stretches.len().div_ceil(MAX_GROUPED).max(1);
    let sample: Vec<&Stretch> = stretches.iter().step_by(every).collect();
    let least = least_likeness(stretches, same_voice);
    let mut clusters = clusters(&sample, least);
    // Largest first; of equals the one that speaks first.
    clusters.sort_by_key(|members| (std::cmp::Reverse(members.len()), members[0]));
    let mut kept: Vec<Vec<usize>> = Vec::new();
    let mut centres: Vec<Vec<f32>> = Vec::new();
    let mut spread = Vec::new();
    for members in clusters {
        let centre = centre(&sample, &members);
        let unlike = |centres: &[Vec<f32>]| {
            centres.iter().all(|other| dot(other, &centre) < same_voice * LEAST_OF_SAME)
        };
        let once = || unlike(&centres) && seconds(&sample, &members) >= SENTENCE;
        if kept.is_empty() || members.len() * every >= LEAST_STRETCHES || once() {
            kept.push(members);
            centres.push(centre);
        } else {
            spread.extend(members);
        }
    }
    for stretch in spread {
        kept[nearest(&centres, &sample[stretch].voice)].push(stretch);
    }
    merge(&sample, &mut kept);
    let centres: Vec<Vec<f32>> = kept.iter().map(|members| centre(&sample, members)).collect();
    let mut groups: Vec<usize> = if every == 1 {
        vec![0; stretches.len()]
    } else {
        stretches.iter().map(|stretch| nearest(&centres, &stretch.voice)).collect()
    };
    for (group, members) in kept.iter().enumerate() {
        members.iter().for_each(|member| groups[member * every] = group);
    }
    groups
}

/// The mean cosine above which stretches are one voice in this sound.
fn least_likeness(stretches: &[Stretch], same_voice: f32) -> f32 {
    let mut alike: Vec<f32> = (stretches.iter().enumerate())
        .filter_map(|(i, stretch)| {
            let next = stretches[i + 1..]
                .iter()
                .take_while(|other| other.run == stretch.run)
                .find(|other| other.span.start >= stretch.span.end - 1e-6)?;
            Some(dot(&stretch.voice, &next.voice))
        })
        .collect();
    if alike.len() < COMPARED {
        return same_voice;
    }
    alike.sort_by(f32::total_cmp);
    let median = (alike[(alike.len() - 1) / 2] + alike[alike.len() / 2]) / 2.0;
    (OF_SELF * median).clamp(LEAST_OF_SAME * same_voice, same_voice)
}

/// Average linkage up to a likeness.
fn clusters(stretches: &[&Stretch], least: f32) -> Vec<Vec<usize>> {
    let mut distances = Vec::with_capacity(stretches.len() * stretches.len().saturating_sub(1) / 2);
    for (i, a) in stretches.iter().enumerate() {
        distances.extend(stretches[i + 1..].iter().map(|b| 1.0 - dot(&a.voice, &b.voice)));
    }
    let tree = linkage(&mut distances, stretches.len(), Method::Average);
    let mut clusters: Vec<Option<Vec<usize>>> =
        (0..stretches.len()).map(|i| Some(vec![i])).collect();
    for step in tree.steps() {
        if step.dissimilarity > 1.0 - least {
            break;
        }
        let mut members = clusters[step.cluster1].take().unwrap_or_default();
        members.extend(clusters[step.cluster2].take().unwrap_or_default());
        members.sort_unstable();
        clusters.push(Some(members));
    }
    clusters.into_iter().flatten().collect()
}

/// Joins the groups whose centres are most alike while any are alike enough.
fn merge(stretches: &[&Stretch], groups: &mut Vec<Vec<usize>>) {
    loop {
        let centres: Vec<Vec<f32>> =
            groups.iter().map(|members| centre(stretches, members)).collect();
        let pairs = (0..groups.len()).flat_map(|a| (a + 1..groups.len()).map(move |b| (a, b)));
        let likeness = |&(a, b): &(usize, usize)| dot(&centres[a], &centres[b]);
        match pairs.max_by(|x, y| likeness(x).total_cmp(&likeness(y))) {
            Some((a, b)) if likeness(&(a, b)) >= SAME_CENTRE => {
                let members = groups.remove(b);
                groups[a].extend(members);
            }
            _ => return,
        }
    }
}

/// The mean direction of some stretches.
fn centre(stretches: &[&Stretch], members: &[usize]) -> Vec<f32> {
    let mut centre = vec![0.0; members.first().map_or(0, |first| stretches[*first].voice.len())];
    for member in members {
        centre.iter_mut().zip(&stretches[*member].voice).for_each(|(sum, x)| *sum += x);
    }
    let norm = dot(&centre, &centre).sqrt().max(f32::MIN_POSITIVE);
    centre.iter_mut().for_each(|x| *x /= norm);
    centre
}

/// How much time some stretches cover.
fn seconds(stretches: &[&Stretch], members: &[usize]) -> f64 {
    let mut end = f64::NEG_INFINITY;
    let mut covered = 0.0;
    for member in members {
        let span = stretches[*member].span;
        covered += (span.end - span.start.max(end)).max(0.0);
        end = end.max(span.end);
    }
    covered
}

fn nearest(centres: &[Vec<f32>], voice: &[f32]) -> usize {
    let likeness = centres.iter().map(|centre| dot(centre, voice)).enumerate();
    likeness.max_by(|a, b| a.1.total_cmp(&b.1)).map_or(0, |(group, _)| group)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A stretch per angle in degrees, two to a run, each 1.5 s.
    fn stretches(angles: &[f32]) -> Vec<Stretch> {
        let stretch = |(i, angle): (usize, &f32)| Stretch {
            run: i / 2,
            span: Span { start: i as f64 * 2.0, end: i as f64 * 2.0 + 1.5 },
            voice: vec![angle.to_radians().cos(), angle.to_radians().sin()],
        };
        angles.iter().enumerate().map(stretch).collect()
    }

    #[test]
    fn voices_are_told_apart() {
        let found = groups(&stretches(&[1.0, 4.0, 85.0, 88.0, 2.0, 0.0, 90.0, 84.0]), 0.4);
        assert_eq!(found, [0, 0, 1, 1, 0, 0, 1, 1]);
        assert!(groups(&[], 0.4).is_empty());
        assert_eq!(groups(&stretches(&[10.0]), 0.4), [0]);
    }

    #[test]
    fn somebody_who_speaks_once_is_a_voice_unless_like_another() {
        let often = [0.0, 2.0, 1.0, 3.0, 2.0, 1.0];
        let with = |angle| groups(&stretches(&[&often[..], &[angle]].concat()), 0.9);
        assert_eq!(with(90.0)[6], 1);
        assert_eq!(with(40.0)[6], 0);
        let mut short = stretches(&[&often[..], &[90.0]].concat());
        short[6].span.end = short[6].span.start + 0.6;
        assert_eq!(groups(&short, 0.9)[6], 0);
    }

    #[test]
    fn noisy_sound_is_asked_for_less_likeness() {
        let clean = stretches(&[0.0, 5.0, 80.0, 85.0, 1.0, 3.0, 82.0, 88.0]);
        assert_eq!(least_likeness(&clean, 0.4), 0.4);
        assert_eq!(least_likeness(&clean[..6], 0.4), 0.4, "too little to compare");
        let noisy = stretches(&[0.0, 60.0, 10.0, 65.0, 0.0, 58.0, 5.0, 66.0]);
        let found = least_likeness(&noisy, 0.4);
        assert!((0.3..0.36).contains(&found), "{found}");
        let worst = stretches(&[0.0, 90.0, 10.0, 95.0, 0.0, 88.0, 5.0, 96.0]);
        assert_eq!(least_likeness(&worst, 0.4), 0.2);
    }

    #[test]
    fn more_than_can_be_compared_go_to_the_nearest_group() {
        let angles: Vec<f32> =
            (0..2 * MAX_GROUPED + 7).map(|i| if i / 10 % 2 == 0 { 3.0 } else { 85.0 }).collect();
        let found = groups(&stretches(&angles), 0.4);
        assert!(found.iter().enumerate().all(|(i, group)| *group == i / 10 % 2));
    }
}
