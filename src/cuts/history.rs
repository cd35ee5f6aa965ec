//! A sampled history of recent pictures, which is used to recognise a picture that returns.

use std::collections::VecDeque;

use crate::motion::Sketch;
use crate::signature::Signature;

/// Sampling interval, in seconds.
const STEP: f64 = 0.14;

/// Length of the history, in seconds. One of these seconds covers the delay before a frame is
/// judged.
const LENGTH: f64 = 4.0;

/// The sampled pictures of the last few seconds.
#[derive(Default)]
pub(crate) struct ShotHistory {
    pictures: VecDeque<(f64, Signature, Sketch)>,
}

impl ShotHistory {
    /// Adds a frame if the sampling interval has passed.
    pub(crate) fn push(
        &mut self,
        time: f64,
        signature: &Signature,
        make_sketch: impl Fn() -> Sketch,
    ) {
        if self.pictures.back().is_some_and(|last| time - last.0 < STEP) {
            return;
        }
        self.pictures.push_back((time, signature.clone(), make_sketch()));
        while self.pictures.front().is_some_and(|first| time - first.0 > LENGTH) {
            self.pictures.pop_front();
        }
    }

    /// Whether `is_similar` accepts any picture from `since` up to but excluding `until`, in
    /// seconds.
    pub(crate) fn any(
        &self,
        since: f64,
        until: f64,
        is_similar: impl Fn(&Signature, &Sketch) -> bool,
    ) -> bool {
        self.pictures
            .iter()
            .filter(|(time, ..)| since <= *time && *time < until)
            .any(|(_, signature, sketch)| is_similar(signature, sketch))
    }
}
