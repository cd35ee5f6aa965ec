//! Detects shot boundaries in small colour frames: hard cuts, dissolves and black passages. The
//! detector runs during the scan and keeps only about three seconds of frames, no matter how long
//! the video is. This crate is separate so that development builds optimise it too, since it
//! processes every pixel.
//!
//! A hard cut is a frame that differs from the previous one much more than the frames around it
//! differ from each other. It does so over most of the picture, and permanently. By contrast, a
//! flash is undone within moments, a caption or a person covers only part of the picture, and
//! movement and pans also raise the differences between the frames around them. The test also uses
//! motion estimation. The less of a frame is found in the previous one, the less the frame needs to
//! stand out. A cut between two shots full of movement is therefore detected, whereas a camera jump
//! is not. A picture that was temporarily covered does not begin a new shot.

mod black;
mod dissolves;
mod history;
mod motion;
mod signature;
mod visual;

use std::collections::VecDeque;

use ports::decoder::ScanFrame;
use serde::{Deserialize, Serialize};

use black::BlackRuns;
use dissolves::{Dissolve, DissolveDetector};
use history::ShotHistory;
use motion::Sketch;
use signature::{Grid, Signature};
pub use visual::VisualSecond;
use visual::VisualSeconds;

/// Number of frames on each side with which a change is compared.
const NEIGHBOURS: usize = 3;

/// Maximum distance between a change and the frames that it is compared with, in seconds.
const NEAR: f64 = 0.5;

/// Maximum distance between a change and the frames that it is compared with, in seconds, if fewer
/// than [`NEIGHBOURS`] frames lie within [`NEAR`].
const FAR: f64 = 1.0;

/// If frames are repeated, at least this many changes on one side count as movement at a low frame
/// rate. Fewer changes are nearby cuts.
const STEPS: usize = 3;

/// Maximum length of a flash, in seconds.
const FLASH: f64 = 0.35;

/// Maximum number of buffered frames, which bounds memory at extreme frame rates.
const MAX_BUFFERED: usize = 128;

/// Minimum ratio of a change to its neighbourhood if much of the frame is found in the previous
/// frame.
const MIN_RATIO: f32 = 5.5;

/// Minimum ratio of a change to its neighbourhood if nothing of the frame is found in the previous
/// frame.
const MIN_RATIO_IF_NEW: f32 = 3.5;

/// Maximum novelty of a frame that shows the previous picture after a movement.
const MAX_MOVED_NOVELTY: f32 = 0.45;

/// Minimum novelty of a frame that has nothing in common with the previous frame.
const MIN_NEW_NOVELTY: f32 = 0.9;

/// Value added to the change of the neighbourhood, to reduce the effect of coding noise in still
/// pictures.
const NOISE_FLOOR: f32 = 1.5;

/// Minimum change that counts as a cut, summed over luma and both colour differences (0..255 each).
const MIN_CHANGE: f32 = 8.0;

/// Pictures whose layouts correlate more than this are the same picture in different light.
const SAME_LAYOUT: f32 = 0.965;

/// Two blank pictures count as different if their colour differences (0..255 each, summed) change
/// by at least this value. Otherwise, they are the same picture in different light.
const MIN_COLOUR_CHANGE: f32 = 40.0;

/// A frame returns to a picture of the current shot only if the difference between them is less
/// than this share of the frame's change.
const RETURN_CHANGE: f32 = 0.5;
/// A frame returns to a picture of the current shot only if its novelty is below this value.
const RETURN_NOVELTY: f32 = 0.6;

/// A change is undone if the difference from the picture before it falls below this share of the
/// change.
const UNDONE_SHARE: f32 = 0.4;

/// Minimum distance between two cuts, in seconds. Cuts that are closer together are merged.
const MIN_SHOT: f64 = 0.15;

/// A possible boundary.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Candidate {
    /// The time, in seconds from the start of the video.
    pub time: f64,
    /// The strength, 0..1.
    pub strength: f32,
}

/// The result of the cut detector.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Cuts {
    /// Shot boundaries in chronological order. The time of a hard cut is the time of the first
    /// frame of the new shot. The time of a dissolve or a short black passage is its midpoint.
    pub candidates: Vec<Candidate>,
    /// Visual measurements, one for each second with frames.
    pub seconds: Vec<VisualSecond>,
}

/// Detects shot boundaries in a stream of frames.
pub struct CutDetector {
    grid: Grid,
    frame_bytes: usize,
    /// The frames around the next frame to judge, oldest first.
    recent: VecDeque<BufferedFrame>,
    /// Number of judged frames in `recent`.
    judged: usize,
    /// Size and pixels of the last frame.
    size: (usize, usize),
    last: Vec<u8>,
    history: ShotHistory,
    candidates: Vec<Candidate>,
    black: BlackRuns,
    dissolves: DissolveDetector,
    visual: VisualSeconds,
}

struct BufferedFrame {
    time: f64,
    signature: Signature,
    /// Difference from the previous frame.
    change: f32,
    /// Change per frame, corrected for skipped frames.
    step: f32,
    /// Present if the change may be a cut.
    novel_frame: Option<NovelFrame>,
}

/// The novelty of a frame that may begin a shot.
struct NovelFrame {
    sketch: Sketch,
    /// The share of the frame that is not found in the previous frame; see [`Sketch::novelty`].
    novelty: f32,
}

impl CutDetector {
    /// Creates a detector for frames of `width × height` pixels (160 × 90 is sufficient).
    pub fn new(width: u32, height: u32) -> Self {
        let (width, height) = (width.max(1) as usize, height.max(1) as usize);
        Self {
            grid: Grid::new(width, height),
            frame_bytes: width * height * 3,
            recent: VecDeque::new(),
            judged: 0,
            size: (width, height),
            last: Vec::new(),
            history: ShotHistory::default(),
            candidates: Vec::new(),
            black: BlackRuns::default(),
            dissolves: DissolveDetector::default(),
            visual: VisualSeconds::new(width, height),
        }
    }

    /// Adds the next frame in chronological order. Frames whose size is not `width × height` are
    /// ignored.
    pub fn push(&mut self, frame: ScanFrame<'_>) {
        let ScanFrame { time, rgb, skipped } = frame;
        if rgb.len() != self.frame_bytes {
            return;
        }
        let signature = self.grid.signature(rgb);
        let difference = self
            .recent
            .back()
            .map(|last| signature.difference(&last.signature))
            .unwrap_or_default();
        // Movement accumulates over skipped frames; noise and single jumps do not.
        let share = 1.0 / ((1 + skipped) as f32).sqrt();
        self.visual.push(frame, difference.mean * share);
        self.black.push(time, &signature);
        self.dissolves.push(time, &signature);
        let novel_frame = self.novel_frame(time, difference.overall, rgb);
        self.history.push(time, &signature, || Sketch::new(rgb, self.size.0, self.size.1));
        self.last.clear();
        self.last.extend_from_slice(rgb);
        let change = difference.overall;
        let step = change * share;
        self.recent.push_back(BufferedFrame { time, signature, change, step, novel_frame });
        while let Some(next) = self.recent.get(self.judged)
            && (time - next.time > FAR || self.recent.len() - self.judged > MAX_BUFFERED / 2)
        {
            self.judge();
        }
    }

    /// Computes the novelty of a frame that differs by `change` from the last frame. Returns `None`
    /// if the change is too small or the frames before it exclude a cut.
    fn novel_frame(&self, time: f64, change: f32, rgb: &[u8]) -> Option<NovelFrame> {
        if change < MIN_CHANGE {
            return None;
        }
        let before = self.recent.iter().skip(1).rev().map(|s| (time - s.time, s.step));
        // If the frames after this one are still, the change of the neighbourhood is half of the
        // change of the frames before.
        if change < typical_change(before).unwrap_or(0.0) * MIN_RATIO_IF_NEW / 2.0 {
            return None;
        }
        let sketch = |rgb| Sketch::new(rgb, self.size.0, self.size.1);
        let (before, sketch) = (sketch(&self.last), sketch(rgb));
        Some(NovelFrame { novelty: sketch.novelty(&before), sketch })
    }

    /// Ends the stream and returns the result.
    pub fn finish(mut self) -> Cuts {
        while self.judged < self.recent.len() {
            self.judge();
        }
        let runs = self.black.finish();
        let merged = self.dissolves.finish();
        Cuts { candidates: combine(self.candidates, merged, &runs), seconds: self.visual.finish() }
    }

    /// Judges the next frame and drops frames that are no longer needed.
    fn judge(&mut self) {
        if let Some(candidate) = self.hard_cut(self.judged) {
            self.candidates.push(candidate);
        }
        self.judged += 1;
        let now = self.recent[self.judged - 1].time;
        while self.judged > NEIGHBOURS + 1
            && (now - self.recent[0].time > FAR || self.judged > MAX_BUFFERED / 2)
        {
            self.recent.pop_front();
            self.judged -= 1;
        }
    }

    fn hard_cut(&self, i: usize) -> Option<Candidate> {
        let frame = &self.recent[i];
        let novel_frame = frame.novel_frame.as_ref().filter(|_| i > 0)?;
        let ratio = frame.change / (NOISE_FLOOR + self.neighbourhood(i));
        let new = ((novel_frame.novelty - MAX_MOVED_NOVELTY)
            / (MIN_NEW_NOVELTY - MAX_MOVED_NOVELTY))
            .clamp(0.0, 1.0);
        if ratio < MIN_RATIO + new * (MIN_RATIO_IF_NEW - MIN_RATIO) {
            return None;
        }
        let before = &self.recent[i - 1].signature;
        let recoloured = before.colour_difference(&frame.signature) > MIN_COLOUR_CHANGE;
        let moved = !recoloured && novel_frame.novelty < MAX_MOVED_NOVELTY;
        let blank = before.is_blank() && frame.signature.is_blank();
        let relit = !(recoloured && blank) && before.correlation(&frame.signature) > SAME_LAYOUT;
        if moved || relit || self.is_undone(i) || self.was_covered(i, novel_frame) {
            return None;
        }
        let certainty = (ratio / 20.0).min(1.0) * (frame.change / 40.0).min(1.0);
        Some(Candidate { time: frame.time, strength: 0.6 + 0.4 * certainty })
    }

    /// Whether the picture in frame `i` had only been covered for a while. If so, it occurred
    /// earlier in the shot, and nothing of it is in the previous frame.
    fn was_covered(&self, i: usize, novel_frame: &NovelFrame) -> bool {
        let cut = self.candidates.last().map_or(f64::NEG_INFINITY, |c| c.time);
        let since = cut.max(self.dissolves.last_end()).max(self.black.last_end());
        let frame = &self.recent[i];
        novel_frame.novelty >= MIN_NEW_NOVELTY
            && self.history.any(since, self.recent[i - 1].time, |signature, sketch| {
                signature.difference(&frame.signature).overall < frame.change * RETURN_CHANGE
                    && novel_frame.sketch.novelty(sketch) < RETURN_NOVELTY
            })
    }

    /// Typical change of the frames around frame `i`. This is the mean of both sides.
    fn neighbourhood(&self, i: usize) -> f32 {
        let time = self.recent[i].time;
        // A frame's change is its difference from the frame before it.
        let before = self.recent.iter().take(i).skip(1).rev();
        let after = self.recent.iter().skip(i + 1);
        let sides = [
            typical_change(before.map(|s| (time - s.time, s.step))),
            typical_change(after.map(|s| (s.time - time, s.step))),
        ];
        let known = sides.iter().flatten();
        known.clone().sum::<f32>() / known.count().max(1) as f32
    }

    /// Whether the picture before frame `i` returns within moments, or whether frame `i` itself is
    /// such a return.
    fn is_undone(&self, i: usize) -> bool {
        let limit = self.recent[i].change * UNDONE_SHARE;
        let (before, frame) = (&self.recent[i - 1], &self.recent[i]);
        let returns = self
            .recent
            .iter()
            .skip(i + 1)
            .take_while(|s| s.time - frame.time <= FLASH)
            .any(|s| s.signature.difference(&before.signature).overall < limit);
        returns
            || self
                .recent
                .iter()
                .take(i - 1)
                .rev()
                .take_while(|s| before.time - s.time <= FLASH)
                .any(|s| s.signature.difference(&frame.signature).overall < limit)
    }
}

/// Computes the median change of the nearest frames on one side. Each frame is given as its
/// distance in seconds and its change. Returns `None` if there are no frames. If most frames repeat
/// the previous one (film at a doubled rate, animation on threes), only the other frames count.
fn typical_change(frames: impl Iterator<Item = (f64, f32)>) -> Option<f32> {
    let near: Vec<f32> = frames
        .enumerate()
        .take_while(|&(index, (distance, _))| {
            distance <= FAR && (distance <= NEAR || index < NEIGHBOURS)
        })
        .map(|(_, (_, change))| change)
        .collect();
    let largest = near.iter().copied().fold(0.0, f32::max);
    let steps: Vec<f32> = near.iter().copied().filter(|&c| c > 0.15 * largest).collect();
    let all = if steps.len() >= STEPS { steps } else { near };
    (!all.is_empty()).then(|| median(all.into_iter().take(NEIGHBOURS).collect()))
}

/// The median, or the lower of the two middle values if the number of values is even; 0 if there
/// are no values.
fn median(mut values: Vec<f32>) -> f32 {
    values.sort_by(f32::total_cmp);
    values.get(values.len().saturating_sub(1) / 2).copied().unwrap_or(0.0)
}

/// Merges all boundaries. Black passages replace candidates within them, hard cuts take precedence
/// over dissolves, and cuts that are close together are merged.
fn combine(
    hard: Vec<Candidate>,
    dissolves: Vec<Dissolve>,
    runs: &[black::BlackPassage],
) -> Vec<Candidate> {
    let in_black =
        |time: f64| runs.iter().any(|r| r.fade_start - 0.1 <= time && time <= r.fade_end + 0.1);
    let mut all: Vec<Candidate> = runs.iter().flat_map(black::BlackPassage::candidates).collect();
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

    /// A distinct textured picture for each `seed`, with a movable viewport.
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
    fn check(times: &[f64], expected: &[f64]) {
        let near = times.len() == expected.len()
            && times.iter().zip(expected).all(|(f, e)| (f - e).abs() <= 0.1);
        assert!(near, "found {times:?}, expected {expected:?}");
    }

    #[test]
    fn hard_cuts_are_the_first_frame_of_the_new_shot() {
        let frames = (0..75).map(|i| noisy(still(1 + i / 25), 6, i));
        assert_eq!(cuts(frames), [1.0, 2.0]);
    }

    #[test]
    fn cuts_within_movement_are_found() {
        let frames = (0..60u32).map(|i| picture(1 + i / 30, f64::from(i) * 1.5, 0.0));
        assert_eq!(cuts(frames), [1.2]);
    }

    #[test]
    fn cuts_from_fast_movement_to_stillness_are_found() {
        let frames = (0..60u32).map(|i| match i {
            0..30 => picture(1, f64::from(i) * 4.5, 0.0),
            _ => noisy(still(7), 3, i),
        });
        assert_eq!(cuts(frames), [1.2]);
    }

    #[test]
    fn short_shots_are_separated() {
        let frames = (0..48).map(|i| noisy(still(1 + i / 8), 3, i));
        assert_eq!(cuts(frames), [0.32, 0.64, 0.96, 1.28, 1.6]);
    }

    #[test]
    fn temporary_occlusions_are_no_cuts() {
        // Something slides in front of the lens, stays for a second and vanishes at once.
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
    fn cuts_between_dark_shots_are_found() {
        let dark = |seed| mix(&[0; WIDTH * HEIGHT * 3], &still(seed), 0.2);
        assert_eq!(cuts((0..60).map(|i| noisy(dark(1 + i / 30), 1, i))), [1.2]);
    }

    #[test]
    fn flashes_pans_and_captions_are_no_cuts() {
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
            let candidates = cuts((0..100).map(frame));
            assert!(candidates.is_empty(), "{name}: {candidates:?}");
        }
    }

    #[test]
    fn dissolves_have_their_middle() {
        for length in [12, 25, 40u32] {
            let share = |i: u32| f64::from(i.clamp(40, 40 + length) - 40) / f64::from(length);
            let frames = (0..130).map(|i| noisy(mix(&still(1), &still(2), share(i)), 3, i));
            check(&cuts(frames), &[f64::from(80 + length) / 2.0 / RATE]);
        }
    }

    #[test]
    fn black_passages_are_one_boundary() {
        let black = vec![0; WIDTH * HEIGHT * 3];
        // Fade out, 20 frames of black, fade in.
        let fade = |i: u32| match i {
            0..40 => still(1),
            40..60 => mix(&still(1), &black, f64::from(i - 39) / 20.0),
            60..80 => black.clone(),
            80..100 => mix(&black, &still(2), f64::from(i - 79) / 20.0),
            _ => still(2),
        };
        let candidates = cuts((0..140).map(fade));
        check(&candidates, &[69.5 / RATE]);
        // Hard black of half a second between two shots, and one second before the first.
        let hard = |i: u32| match i {
            0..25 | 60..72 => black.clone(),
            25..60 => still(1),
            _ => still(2),
        };
        check(&cuts((0..120).map(hard)), &[0.5, 66.0 / RATE]);
        // Black up to the end separates nothing; neither does a blink.
        let ends = |i: u32| if i == 30 || i >= 80 { black.clone() } else { still(1) };
        check(&cuts((0..120).map(ends)), &[]);
    }

    #[test]
    fn fades_through_white_are_one_boundary() {
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
        // Thousands of frames at the same time: memory stays bounded.
        let mut detector = CutDetector::new(4, 4);
        for i in 0..5_000u32 {
            detector.push(ScanFrame::new(1.0, &[(i % 251) as u8; 48]));
            assert!(detector.recent.len() <= MAX_BUFFERED + 1);
        }
    }

    #[test]
    fn cuts_at_a_variable_frame_rate_are_found() {
        let mut detector = CutDetector::new(WIDTH as u32, HEIGHT as u32);
        for i in 0..6 {
            detector.push(ScanFrame::new(f64::from(i) * 4.0, &still(i + 1)));
        }
        let times: Vec<f64> = detector.finish().candidates.iter().map(|c| c.time).collect();
        assert_eq!(times, [4.0, 8.0, 12.0, 16.0, 20.0]);
    }
}
