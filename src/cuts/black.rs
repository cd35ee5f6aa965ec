//! Finds black passages: fades to and from black, and black between two shots. A passage is one
//! boundary, unless it is so long that it counts as a shot.

use crate::Candidate;
use crate::signature::Signature;

/// Maximum length, in seconds, of a black passage that is one boundary. A longer passage counts as
/// a shot.
const MAX_BOUNDARY: f64 = 2.5;

/// A black passage shorter than this, in seconds, counts as a cut at the first frame of the new
/// shot.
const INSTANT: f64 = 0.2;

/// Maximum length of a fade, in seconds.
const MAX_FADE: f64 = 2.0;

/// A black passage shorter than this, in seconds, between two similar frames is a dropped frame or
/// a blink.
const BLINK: f64 = 0.5;

/// Maximum time without change within a fade, in seconds, since frames may be repeated.
const STANDSTILL: f64 = 0.2;

/// A fade continues only if the luma changes by at least this value within [`STANDSTILL`]. Noise
/// may reverse the change by up to this value.
const GAIN: f32 = 1.0;

/// A black passage between pictures, or before the first one.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct BlackPassage {
    /// Time of the first black frame.
    pub(crate) start: f64,
    /// Time of the first frame after the black passage.
    pub(crate) end: f64,
    /// The time at which the picture begins to darken.
    pub(crate) fade_start: f64,
    /// The time at which the picture is fully lit again.
    pub(crate) fade_end: f64,
    blink: bool,
}

impl BlackPassage {
    /// The boundaries of this passage.
    pub(crate) fn candidates(&self) -> impl Iterator<Item = Candidate> {
        let long = self.end - self.start > MAX_BOUNDARY;
        let short = self.end - self.start < INSTANT;
        let times = match (self.blink, long, short) {
            (true, ..) => [None, None],
            // A long black passage is a separate shot, except at the beginning.
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

/// Follows a fade frame by frame, from the black frame to the lit frame.
struct Fade {
    /// Time of the last change.
    time: f64,
    luma: f32,
}

impl Fade {
    /// Follows the fade to the next frame. Returns false if the fade has ended.
    fn advance(&mut self, time: f64, luma: f32) -> bool {
        if luma >= self.luma + GAIN {
            (self.time, self.luma) = (time, luma);
        }
        luma >= self.luma - GAIN && (time - self.time).abs() <= STANDSTILL
    }
}

/// Detects black passages in a stream of frames.
#[derive(Default)]
pub(crate) struct BlackRuns {
    runs: Vec<BlackPassage>,
    /// Times and mean luma of recent frames, used to find where fades begin.
    history: Vec<(f64, f32)>,
    /// Start of the current black passage, start of its fade, and the picture before it.
    open: Option<(f64, f64, Option<Signature>)>,
    last_picture: Option<Signature>,
    /// The fade from black that follows the last passage.
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
                self.runs.push(BlackPassage {
                    start,
                    end: time,
                    fade_start,
                    fade_end: time,
                    blink,
                });
                self.brightening = Some(Fade { time, luma });
            } else if let (Some(fade), Some(run)) = (&mut self.brightening, self.runs.last_mut()) {
                if time - run.end < MAX_FADE && fade.advance(time, luma) {
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

    /// End of the last black passage.
    pub(crate) fn last_end(&self) -> f64 {
        self.runs.last().map_or(f64::NEG_INFINITY, |r| r.end)
    }

    /// Ends the stream. Black that lasts until the end is not a boundary.
    pub(crate) fn finish(mut self) -> Vec<BlackPassage> {
        if let Some((start, fade_start, _)) = self.open {
            // Recorded to suppress other candidates within the fade.
            self.runs.push(BlackPassage {
                start,
                end: f64::INFINITY,
                fade_start,
                fade_end: f64::INFINITY,
                blink: true,
            });
        }
        self.runs
    }

    /// Walks back over the darkening frames to the start of the fade.
    fn fade_start(&self, black: f64) -> f64 {
        let mut before = self.history.iter().rev();
        let Some(&(time, luma)) = before.next() else { return black };
        let mut fade = Fade { time, luma };
        for &(time, luma) in before {
            if black - time > MAX_FADE || !fade.advance(time, luma) {
                break;
            }
        }
        fade.time
    }
}
