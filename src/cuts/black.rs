//! Passages through black: fades out and in, and black between two shots. One boundary each.

use crate::Candidate;
use crate::signature::Signature;

/// Up to this long, black is the boundary itself and not a shot, seconds.
const MAX_BOUNDARY: f64 = 2.5;

/// Black shorter than this is a cut, placed on the first frame of the new shot, seconds.
const INSTANT: f64 = 0.2;

/// How far from the black a fade may begin or end, seconds.
const MAX_FADE: f64 = 2.0;

/// Black shorter than this between two like pictures is a dropped frame or a blink, seconds.
const BLINK: f64 = 0.5;

/// A fade that stands still for longer has ended, seconds. Frames may be repeated.
const STANDSTILL: f64 = 0.2;

/// Light a fade gains or loses within that time at least, and what noise may take back.
const GAIN: f32 = 1.0;

/// A stretch of black between pictures, or before the first one.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Run {
    /// First black frame.
    pub(crate) start: f64,
    /// First frame that is not black any more.
    pub(crate) end: f64,
    /// Where the picture begins to darken.
    pub(crate) fade_start: f64,
    /// Where it has its light back.
    pub(crate) fade_end: f64,
    blink: bool,
}

impl Run {
    /// The boundaries this passage makes.
    pub(crate) fn candidates(&self) -> impl Iterator<Item = Candidate> {
        let long = self.end - self.start > MAX_BOUNDARY;
        let short = self.end - self.start < INSTANT;
        let times = match (self.blink, long, short) {
            (true, ..) => [None, None],
            // Black as long as a shot is one, except that nothing precedes a video's beginning.
            (_, true, _) => [
                (self.fade_start < self.start || self.start > 0.5).then_some(self.start),
                Some(self.end),
            ],
            (_, _, true) => [Some(self.end), None],
            _ => [Some(f64::midpoint(self.start, self.end)), None],
        };
        times.into_iter().flatten().map(|time| Candidate { time, strength: 0.9 })
    }
}

/// How far a fade has been followed away from the black.
struct Fade {
    /// Time and light at which it last gained.
    time: f64,
    luma: f32,
}

impl Fade {
    /// Follows it to the next frame. False where it has ended.
    fn goes_on(&mut self, time: f64, luma: f32) -> bool {
        if luma >= self.luma + GAIN {
            (self.time, self.luma) = (time, luma);
        }
        luma >= self.luma - GAIN && (time - self.time).abs() <= STANDSTILL
    }
}

/// Follows the light of the pictures.
#[derive(Default)]
pub(crate) struct BlackRuns {
    runs: Vec<Run>,
    /// Time and mean luma of the last frames, for the beginning of fades.
    history: Vec<(f64, f32)>,
    /// The picture before the black, and the black's start.
    open: Option<(f64, f64, Option<Signature>)>,
    last_picture: Option<Signature>,
    /// The fade in that follows the last run.
    brightening: Option<Fade>,
}

impl BlackRuns {
    pub(crate) fn push(&mut self, time: f64, signature: &Signature) {
        let luma = signature.mean_luma();
        if signature.is_black() {
            self.brightening = None;
            if self.open.is_none() {
                let fade_start = self.fade_start(time);
                self.open = Some((time, fade_start, self.last_picture.take()));
            }
        } else {
            if let Some((start, fade_start, before)) = self.open.take() {
                let blink =
                    time - start < BLINK && before.is_some_and(|b| b.correlation(signature) > 0.8);
                self.runs.push(Run { start, end: time, fade_start, fade_end: time, blink });
                self.brightening = Some(Fade { time, luma });
            } else if let (Some(fade), Some(run)) = (&mut self.brightening, self.runs.last_mut()) {
                if time - run.end < MAX_FADE && fade.goes_on(time, luma) {
                    run.fade_end = fade.time;
                } else {
                    self.brightening = None;
                }
            }
            self.last_picture = Some(signature.clone());
        }
        self.history.push((time, luma));
        let oldest = time - MAX_FADE;
        if self.history.len() > 512 || self.history.first().is_some_and(|h| h.0 < oldest - 1.0) {
            let excess = self.history.len().saturating_sub(256);
            let mut index = 0;
            self.history.retain(|h| {
                index += 1;
                h.0 >= oldest && index > excess
            });
        }
    }

    /// When the last black so far ended.
    pub(crate) fn last_end(&self) -> f64 {
        self.runs.last().map_or(f64::NEG_INFINITY, |r| r.end)
    }

    /// Black to the end is no boundary: nothing follows it.
    pub(crate) fn finish(mut self) -> Vec<Run> {
        if let Some((start, fade_start, _)) = self.open {
            // Kept to swallow what the fade itself looks like.
            self.runs.push(Run {
                start,
                end: f64::INFINITY,
                fade_start,
                fade_end: f64::INFINITY,
                blink: true,
            });
        }
        self.runs
    }

    /// Walks back over the frames that lost light.
    fn fade_start(&self, black: f64) -> f64 {
        let mut before = self.history.iter().rev();
        let Some(&(time, luma)) = before.next() else { return black };
        let mut fade = Fade { time, luma };
        for &(time, luma) in before {
            if black - time > MAX_FADE || !fade.goes_on(time, luma) {
                break;
            }
        }
        fade.time
    }
}
