//! Shot boundaries from small colour frames: hard cuts, dissolves, and passages through black.
//! Fed by the one decoding pass; keeps about three seconds of frames whatever the length. It is a
//! separate crate because it computes over every pixel: development builds optimise it too.
//!
//! A hard cut is a frame that differs from the one before far more than frames around it differ
//! among themselves, over most of the picture, and for good: a flash is undone within moments, a
//! caption or a person covers a part, movement and pans raise the neighbourhood too. What movement
//! explains of the frame is asked as well: the less of it is found again in the frame before, the
//! less it has to stand out, so that a cut between two shots full of movement is seen and a leap of
//! the camera is not. A picture that something covered for a while does not begin another shot.

mod black;
mod gradual;
mod motion;
mod seen;
mod signature;
mod visual;

use std::collections::VecDeque;

use ports::decoder::ScanFrame;
use serde::{Deserialize, Serialize};

use black::BlackRuns;
use gradual::{Dissolve, Gradual};
use motion::Sketch;
use seen::Seen;
use signature::{Grid, Signature};
pub use visual::VisualSecond;
use visual::VisualSeconds;

/// Frames on each side that a change is compared with.
const NEIGHBOURS: usize = 3;

/// They lie within this many seconds …
const NEAR: f64 = 0.5;

/// … or, where the frame rate is low, within this many.
const FAR: f64 = 1.0;

/// As many steps between repeated frames on one side are movement at a low rate; fewer are cuts
/// nearby.
const STEPS: usize = 3;

/// A flash is over within this many seconds.
const FLASH: f64 = 0.35;

/// Most frames kept, against absurd frame rates.
const MAX_KEPT: usize = 128;

/// How often a change must exceed its neighbourhood where much of the frame is found again in the
/// one before …
const MIN_RATIO: f32 = 5.5;

/// … and where nothing is.
const MIN_RATIO_OF_NEW: f32 = 3.5;

/// Novelty up to which a frame is the one before, moved.
const MOVED: f32 = 0.45;

/// Novelty from which nothing of the frame before is found again.
const NEW: f32 = 0.9;

/// Added to the neighbourhood, so that coding noise in still pictures does not count as much.
const CALM: f32 = 1.5;

/// Smallest change that can be a cut, summed over luma and both colour differences (0..255 each).
const MIN_CHANGE: f32 = 8.0;

/// Layouts that agree this well are one picture under another light.
const SAME_LAYOUT: f32 = 0.965;

/// Two blank pictures whose colour differences change by so much (0..255 each, summed) are two
/// pictures, not one in another light.
const OTHER_COLOUR: f32 = 40.0;

/// A picture of the shot so far that differs by less than this share of the change, and of which
/// so much at most is new, comes back in a frame of which everything seems to be.
const SEEN_CHANGE: f32 = 0.5;
const SEEN_NOVELTY: f32 = 0.6;

/// A change below this share of the candidate's counts as a return to the picture before.
const UNDONE: f32 = 0.4;

/// Two cuts closer than this are one, seconds.
const MIN_SHOT: f64 = 0.15;

/// A place where a boundary may go.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Candidate {
    /// When, seconds of the video.
    pub time: f64,
    /// 0..1.
    pub strength: f32,
}

/// What the cut detector found.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Cuts {
    /// Shot boundaries in order of time. The time of a hard cut is that of the first frame of the
    /// new shot, of a dissolve or a short passage through black its middle.
    pub candidates: Vec<Candidate>,
    /// What the pictures look like, one entry for each second that has any.
    pub seconds: Vec<VisualSecond>,
}

/// Finds shot boundaries while frames come in.
pub struct CutDetector {
    grid: Grid,
    frame_bytes: usize,
    /// The frames around the one being judged, oldest first.
    recent: VecDeque<Shown>,
    /// How many of `recent` have been judged.
    judged: usize,
    /// Size and pixels of the last frame.
    size: (usize, usize),
    last: Vec<u8>,
    seen: Seen,
    found: Vec<Candidate>,
    black: BlackRuns,
    gradual: Gradual,
    visual: VisualSeconds,
}

struct Shown {
    time: f64,
    signature: Signature,
    /// Difference to the frame before.
    change: f32,
    /// What a frame changed of it, where some were passed over.
    step: f32,
    /// Known where the change may be a cut.
    leap: Option<Leap>,
}

/// A frame that may begin a shot.
struct Leap {
    sketch: Sketch,
    /// How little of it is found again in the frame before, as [`Sketch::novelty`].
    novelty: f32,
}

impl CutDetector {
    /// A detector for frames of `width × height` pixels (160 × 90 is plenty).
    pub fn new(width: u32, height: u32) -> Self {
        let (width, height) = (width.max(1) as usize, height.max(1) as usize);
        Self {
            grid: Grid::new(width, height),
            frame_bytes: width * height * 3,
            recent: VecDeque::new(),
            judged: 0,
            size: (width, height),
            last: Vec::new(),
            seen: Seen::default(),
            found: Vec::new(),
            black: BlackRuns::default(),
            gradual: Gradual::default(),
            visual: VisualSeconds::new(width, height),
        }
    }

    /// Adds the next frame, not before the last one in time. A frame of another size than
    /// `width × height` is ignored.
    pub fn push(&mut self, frame: ScanFrame<'_>) {
        let ScanFrame { time, rgb, skipped } = frame;
        if rgb.len() != self.frame_bytes {
            return;
        }
        let signature = self.grid.sign(rgb);
        let difference = self
            .recent
            .back()
            .map(|last| signature.difference(&last.signature))
            .unwrap_or_default();
        // Movement adds up over frames that were passed over, noise and single leaps do not.
        let share = 1.0 / ((1 + skipped) as f32).sqrt();
        self.visual.push(frame, difference.mean * share);
        self.black.push(time, &signature);
        self.gradual.push(time, &signature);
        let leap = self.leap(time, difference.overall, rgb);
        self.seen.push(time, &signature, || Sketch::new(rgb, self.size.0, self.size.1));
        self.last.clear();
        self.last.extend_from_slice(rgb);
        let change = difference.overall;
        let step = change * share;
        self.recent.push_back(Shown { time, signature, change, step, leap });
        while let Some(next) = self.recent.get(self.judged)
            && (time - next.time > FAR || self.recent.len() - self.judged > MAX_KEPT / 2)
        {
            self.judge();
        }
    }

    /// What a frame that differs by `change` from the last one has new, unless the frames before
    /// alone show that it cannot be a cut.
    fn leap(&self, time: f64, change: f32, rgb: &[u8]) -> Option<Leap> {
        if change < MIN_CHANGE {
            return None;
        }
        let before = self.recent.iter().skip(1).rev().map(|s| (time - s.time, s.step));
        // Where the frames after it are still, half of what those before it change counts.
        if change < typical_change(before).unwrap_or(0.0) * MIN_RATIO_OF_NEW / 2.0 {
            return None;
        }
        let sketch = |rgb| Sketch::new(rgb, self.size.0, self.size.1);
        let (before, sketch) = (sketch(&self.last), sketch(rgb));
        Some(Leap { novelty: sketch.novelty(&before), sketch })
    }

    /// Ends the video.
    pub fn finish(mut self) -> Cuts {
        while self.judged < self.recent.len() {
            self.judge();
        }
        let runs = self.black.finish();
        let dissolves = self.gradual.finish();
        Cuts { candidates: combine(self.found, dissolves, &runs), seconds: self.visual.finish() }
    }

    /// Decides on the first frame not yet judged and forgets what no later one needs.
    fn judge(&mut self) {
        if let Some(candidate) = self.hard_cut(self.judged) {
            self.found.push(candidate);
        }
        self.judged += 1;
        let now = self.recent[self.judged - 1].time;
        while self.judged > NEIGHBOURS + 1
            && (now - self.recent[0].time > FAR || self.judged > MAX_KEPT / 2)
        {
            self.recent.pop_front();
            self.judged -= 1;
        }
    }

    fn hard_cut(&self, i: usize) -> Option<Candidate> {
        let shown = &self.recent[i];
        let leap = shown.leap.as_ref().filter(|_| i > 0)?;
        let ratio = shown.change / (CALM + self.neighbourhood(i));
        let new = ((leap.novelty - MOVED) / (NEW - MOVED)).clamp(0.0, 1.0);
        if ratio < MIN_RATIO + new * (MIN_RATIO_OF_NEW - MIN_RATIO) {
            return None;
        }
        let before = &self.recent[i - 1].signature;
        let recoloured = before.colour_difference(&shown.signature) > OTHER_COLOUR;
        let moved = !recoloured && leap.novelty < MOVED;
        let blank = before.is_blank() && shown.signature.is_blank();
        let relit = !(recoloured && blank) && before.correlation(&shown.signature) > SAME_LAYOUT;
        if moved || relit || self.is_undone(i) || self.was_covered(i, leap) {
            return None;
        }
        let certainty = (ratio / 20.0).min(1.0) * (shown.change / 40.0).min(1.0);
        Some(Candidate { time: shown.time, strength: 0.6 + 0.4 * certainty })
    }

    /// Whether the picture of frame `i` has only been covered for a while: the shot so far has shown
    /// it, and nothing of it is in the frame before.
    fn was_covered(&self, i: usize, leap: &Leap) -> bool {
        let cut = self.found.last().map_or(f64::NEG_INFINITY, |c| c.time);
        let since = cut.max(self.gradual.last_end()).max(self.black.last_end());
        let shown = &self.recent[i];
        leap.novelty >= NEW
            && self.seen.any(since, self.recent[i - 1].time, |signature, sketch| {
                signature.difference(&shown.signature).overall < shown.change * SEEN_CHANGE
                    && leap.sketch.novelty(sketch) < SEEN_NOVELTY
            })
    }

    /// How much the frames around `i` change, by both sides alike.
    fn neighbourhood(&self, i: usize) -> f32 {
        let time = self.recent[i].time;
        // The change of a frame happens between it and its predecessor.
        let before = self.recent.iter().take(i).skip(1).rev();
        let after = self.recent.iter().skip(i + 1);
        let sides = [
            typical_change(before.map(|s| (time - s.time, s.step))),
            typical_change(after.map(|s| (s.time - time, s.step))),
        ];
        let known = sides.iter().flatten();
        known.clone().sum::<f32>() / known.count().max(1) as f32
    }

    /// Whether the picture before frame `i` comes back within moments, or frame `i` is itself such
    /// a return.
    fn is_undone(&self, i: usize) -> bool {
        let limit = self.recent[i].change * UNDONE;
        let (before, shown) = (&self.recent[i - 1], &self.recent[i]);
        let returns = self
            .recent
            .iter()
            .skip(i + 1)
            .take_while(|s| s.time - shown.time <= FLASH)
            .any(|s| s.signature.difference(&before.signature).overall < limit);
        returns
            || self
                .recent
                .iter()
                .take(i - 1)
                .rev()
                .take_while(|s| before.time - s.time <= FLASH)
                .any(|s| s.signature.difference(&shown.signature).overall < limit)
    }
}

/// Median change of the nearest frames on one side, given with their distance in seconds; none
/// where there are none. Where most frames repeat the one before (film at a doubled rate, animation
/// on threes), those that do not count alone.
fn typical_change(frames: impl Iterator<Item = (f64, f32)>) -> Option<f32> {
    let near: Vec<f32> = frames
        .enumerate()
        .take_while(|&(seen, (distance, _))| {
            distance <= FAR && (distance <= NEAR || seen < NEIGHBOURS)
        })
        .map(|(_, (_, change))| change)
        .collect();
    let largest = near.iter().copied().fold(0.0, f32::max);
    let steps: Vec<f32> = near.iter().copied().filter(|&c| c > 0.15 * largest).collect();
    let all = if steps.len() >= STEPS { steps } else { near };
    (!all.is_empty()).then(|| median(all.into_iter().take(NEIGHBOURS).collect()))
}

/// The middle one, or the lower of the two; 0 of none.
fn median(mut values: Vec<f32>) -> f32 {
    values.sort_by(f32::total_cmp);
    values.get(values.len().saturating_sub(1) / 2).copied().unwrap_or(0.0)
}

/// One list: passages through black replace what was found on their way, hard cuts win over
/// dissolves, close ones are merged.
fn combine(hard: Vec<Candidate>, dissolves: Vec<Dissolve>, runs: &[black::Run]) -> Vec<Candidate> {
    let in_black =
        |time: f64| runs.iter().any(|r| r.fade_start - 0.1 <= time && time <= r.fade_end + 0.1);
    let mut all: Vec<Candidate> = runs.iter().flat_map(black::Run::candidates).collect();
    for cut in hard.into_iter().filter(|c| !in_black(c.time)) {
        match all.last_mut() {
            Some(last) if (cut.time - last.time).abs() < MIN_SHOT => {
                if cut.strength > last.strength {
                    *last = cut;
                }
            }
            _ => all.push(cut),
        }
    }
    for dissolve in dissolves {
        let within = |c: &Candidate| dissolve.start - 0.2 <= c.time && c.time <= dissolve.end + 0.2;
        if !all.iter().any(within) && !in_black(dissolve.candidate.time) {
            all.push(dissolve.candidate);
        }
    }
    all.sort_by(|a, b| a.time.total_cmp(&b.time));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    const WIDTH: usize = 160;
    const HEIGHT: usize = 90;
    const RATE: f64 = 25.0;

    type Picture = Vec<u8>;

    /// A textured picture of its own for each `seed`, seen through a window that can be moved.
    fn picture(seed: u32, dx: f64, dy: f64) -> Picture {
        let wave = |k: u32, x: f64, y: f64| {
            let mix = seed.wrapping_mul(2_654_435_761).wrapping_add(k.wrapping_mul(40_503));
            let (fx, fy) = (f64::from(mix >> 8 & 15) + 1.0, f64::from(mix >> 12 & 15) + 1.0);
            (x * fx / 60.0 + y * fy / 60.0 + f64::from(mix & 255)).sin()
        };
        let mut rgb = Vec::with_capacity(WIDTH * HEIGHT * 3);
        for y in 0..HEIGHT {
            for x in 0..WIDTH {
                let (x, y) = (x as f64 + dx, y as f64 + dy);
                for channel in 0..3 {
                    let v = 128.0 + 50.0 * wave(channel, x, y) + 40.0 * wave(channel + 7, y, x);
                    rgb.push(v as u8);
                }
            }
        }
        rgb
    }

    fn still(seed: u32) -> Picture {
        picture(seed, 0.0, 0.0)
    }

    fn mix(a: &[u8], b: &[u8], share: f64) -> Picture {
        let blend =
            |(&a, &b): (&u8, &u8)| (f64::from(a) * (1.0 - share) + f64::from(b) * share) as u8;
        a.iter().zip(b).map(blend).collect()
    }

    fn noisy(mut frame: Picture, amplitude: u8, seed: u32) -> Picture {
        let mut state = seed.wrapping_mul(747_796_405).wrapping_add(1);
        for byte in &mut frame {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let shift = (state >> 24) as u8 % (2 * amplitude + 1);
            *byte = byte.saturating_add(shift).saturating_sub(amplitude);
        }
        frame
    }

    fn cuts(frames: impl IntoIterator<Item = Picture>) -> Vec<f64> {
        let mut detector = CutDetector::new(WIDTH as u32, HEIGHT as u32);
        for (i, frame) in frames.into_iter().enumerate() {
            detector.push(ScanFrame::new(i as f64 / RATE, &frame));
        }
        detector.finish().candidates.iter().map(|c| c.time).collect()
    }

    #[track_caller]
    fn check(found: &[f64], expected: &[f64]) {
        let near = found.len() == expected.len()
            && found.iter().zip(expected).all(|(f, e)| (f - e).abs() <= 0.1);
        assert!(near, "found {found:?}, expected {expected:?}");
    }

    #[test]
    fn a_hard_cut_is_the_first_frame_of_the_new_shot() {
        let frames = (0..75).map(|i| noisy(still(1 + i / 25), 6, i));
        assert_eq!(cuts(frames), [1.0, 2.0]);
    }

    #[test]
    fn cuts_within_movement_are_found() {
        let frames = (0..60u32).map(|i| picture(1 + i / 30, f64::from(i) * 1.5, 0.0));
        assert_eq!(cuts(frames), [1.2]);
    }

    #[test]
    fn a_cut_out_of_fast_movement_into_calm_is_found() {
        let frames = (0..60u32).map(|i| match i {
            0..30 => picture(1, f64::from(i) * 4.5, 0.0),
            _ => noisy(still(7), 3, i),
        });
        assert_eq!(cuts(frames), [1.2]);
    }

    #[test]
    fn shots_of_a_third_of_a_second_are_told_apart() {
        let frames = (0..48).map(|i| noisy(still(1 + i / 8), 3, i));
        assert_eq!(cuts(frames), [0.32, 0.64, 0.96, 1.28, 1.6]);
    }

    #[test]
    fn what_covers_the_picture_for_a_while_is_no_shot() {
        // Something slides before the lens, stays for a second and is gone at once.
        let covered = |i: u32| {
            let mut frame = noisy(picture(1, f64::from(i) * 0.02, 0.0), 2, i);
            let columns = match i {
                0..20 | 65.. => 0,
                _ => (i as usize - 19) * 24,
            };
            let cover = still(7);
            for y in 0..HEIGHT {
                let line = y * WIDTH * 3..(y * WIDTH + columns.min(WIDTH)) * 3;
                frame[line.clone()].copy_from_slice(&cover[line]);
            }
            frame
        };
        check(&cuts((0..100).map(covered)), &[]);
    }

    #[test]
    fn dark_shots_are_cut_too() {
        let dark = |seed| mix(&[0; WIDTH * HEIGHT * 3], &still(seed), 0.2);
        assert_eq!(cuts((0..60).map(|i| noisy(dark(1 + i / 30), 1, i))), [1.2]);
    }

    #[test]
    fn what_is_no_cut_is_not_reported() {
        let flash = |i: u32| match i {
            30 => mix(&still(1), &[255; WIDTH * HEIGHT * 3], 0.9),
            31 | 32 => mix(&still(1), &[255; WIDTH * HEIGHT * 3], 0.5),
            _ => still(1),
        };
        let caption = |i: u32| {
            let mut frame = still(1);
            if (25..60).contains(&i) {
                for y in 65..85 {
                    frame[(y * WIDTH + 10) * 3..(y * WIDTH + 90) * 3].fill(240);
                }
            }
            frame
        };
        let whip = |i: u32| {
            picture(1, if (30..45).contains(&i) { f64::from(i - 30) * 30.0 } else { 0.0 }, 0.0)
        };
        let cases: [(&str, &dyn Fn(u32) -> Picture); 9] = [
            ("a still picture", &|_| still(1)),
            ("noise", &|i| noisy(still(1), 25, i)),
            ("a flash", &flash),
            ("a caption", &caption),
            ("a slow pan", &|i| picture(1, f64::from(i) * 0.8, 0.0)),
            ("a fast pan", &|i| picture(1, f64::from(i) * 6.0, f64::from(i) * 2.0)),
            ("a pan that stops", &|i| whip(i.min(44))),
            ("animation on threes", &|i| picture(1, f64::from(i / 3) * 5.0, 0.0)),
            ("the light going down", &|i| {
                mix(&still(1), &[0; WIDTH * HEIGHT * 3], f64::from(i.clamp(20, 50) - 20) / 60.0)
            }),
        ];
        for (name, frame) in cases {
            let found = cuts((0..100).map(frame));
            assert!(found.is_empty(), "{name}: {found:?}");
        }
    }

    #[test]
    fn a_dissolve_is_its_middle() {
        for length in [12, 25, 40u32] {
            let share = |i: u32| f64::from(i.clamp(40, 40 + length) - 40) / f64::from(length);
            let frames = (0..130).map(|i| noisy(mix(&still(1), &still(2), share(i)), 3, i));
            check(&cuts(frames), &[f64::from(80 + length) / 2.0 / RATE]);
        }
    }

    #[test]
    fn a_passage_through_black_is_one_boundary() {
        let black = vec![0; WIDTH * HEIGHT * 3];
        // Fade out, 20 frames of black, fade in.
        let fade = |i: u32| match i {
            0..40 => still(1),
            40..60 => mix(&still(1), &black, f64::from(i - 39) / 20.0),
            60..80 => black.clone(),
            80..100 => mix(&black, &still(2), f64::from(i - 79) / 20.0),
            _ => still(2),
        };
        let found = cuts((0..140).map(fade));
        check(&found, &[69.5 / RATE]);
        // Hard black of half a second between two shots, and one second before the first.
        let hard = |i: u32| match i {
            0..25 | 60..72 => black.clone(),
            25..60 => still(1),
            _ => still(2),
        };
        check(&cuts((0..120).map(hard)), &[0.5, 66.0 / RATE]);
        // Black to the end separates nothing; a blink neither.
        let ends = |i: u32| if i == 30 || i >= 80 { black.clone() } else { still(1) };
        check(&cuts((0..120).map(ends)), &[]);
    }

    #[test]
    fn a_fade_through_white_is_one_boundary() {
        let white = vec![255; WIDTH * HEIGHT * 3];
        let fade = |i: u32| match i {
            0..40 => still(1),
            40..60 => mix(&still(1), &white, f64::from(i - 39) / 20.0),
            60..64 => white.clone(),
            64..84 => mix(&white, &still(2), f64::from(i - 63) / 20.0),
            _ => still(2),
        };
        check(&cuts((0..140).map(fade)), &[62.0 / RATE]);
    }

    #[test]
    fn odd_input_is_harmless() {
        assert_eq!(CutDetector::new(160, 90).finish(), Cuts::default());
        let mut detector = CutDetector::new(0, 0);
        detector.push(ScanFrame::new(0.0, &[]));
        detector.push(ScanFrame::new(0.0, &[1, 2, 3]));
        assert_eq!(detector.finish().candidates, []);
        // Thousands of frames at one time: memory stays bounded.
        let mut detector = CutDetector::new(4, 4);
        for i in 0..5_000u32 {
            detector.push(ScanFrame::new(1.0, &[(i % 251) as u8; 48]));
            assert!(detector.recent.len() <= MAX_KEPT + 1);
        }
    }

    #[test]
    fn slides_at_a_variable_frame_rate_are_cut() {
        let mut detector = CutDetector::new(WIDTH as u32, HEIGHT as u32);
        for i in 0..6 {
            detector.push(ScanFrame::new(f64::from(i) * 4.0, &still(i + 1)));
        }
        let times: Vec<f64> = detector.finish().candidates.iter().map(|c| c.time).collect();
        assert_eq!(times, [4.0, 8.0, 12.0, 16.0, 20.0]);
    }
}
