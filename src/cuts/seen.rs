//! What was shown lately: a picture now and then, so that one that comes back is recognised.

use std::collections::VecDeque;

use crate::motion::Sketch;
use crate::signature::Signature;

/// One picture is kept in this time, seconds.
const STEP: f64 = 0.14;

/// How long pictures are kept, seconds: three, and the second after which a frame is judged.
const KEPT: f64 = 4.0;

/// The pictures of the last seconds.
#[derive(Default)]
pub(crate) struct Seen {
    pictures: VecDeque<(f64, Signature, Sketch)>,
}

impl Seen {
    /// Keeps the frame where it is time to.
    pub(crate) fn push(&mut self, time: f64, signature: &Signature, draw: impl Fn() -> Sketch) {
        if self.pictures.back().is_some_and(|last| time - last.0 < STEP) {
            return;
        }
        self.pictures.push_back((time, signature.clone(), draw()));
        while self.pictures.front().is_some_and(|first| time - first.0 > KEPT) {
            self.pictures.pop_front();
        }
    }

    /// Whether any picture from `since` on and before `until`, seconds, is alike.
    pub(crate) fn any(
        &self,
        since: f64,
        until: f64,
        alike: impl Fn(&Signature, &Sketch) -> bool,
    ) -> bool {
        self.pictures
            .iter()
            .filter(|(time, ..)| since <= *time && *time < until)
            .any(|(_, signature, sketch)| alike(signature, sketch))
    }
}
