//! Decides which timestamps to trust. A timestamp is only a claim. The decodable content determines
//! the timeline, and a clock jump is removed unless something else in the file confirms it.

/// The kind of selected stream that a packet belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StreamKind {
    Picture,
    Sound,
}

/// Maximum pause in seconds between packets that needs no confirmation. A claimed packet duration
/// counts as content only up to this limit.
const PAUSE: f64 = 1.0;

/// Maximum pause in seconds that needs no confirmation if the container states neither its duration
/// nor packet durations, as in a recording of an idle screen.
const UNCLAIMED_PAUSE: f64 = 10.0;

/// A clock that restarts at most this many seconds after 0 counts as restarted from 0, for video
/// and audio together.
const BEGINNING: f64 = 0.5;

/// Places packets, in file order, on one continuous timeline.
#[derive(Debug)]
pub(super) struct Timeline {
    /// The duration in seconds that the container claims, independently of packet timestamps.
    pub(super) claimed: Option<f64>,
    /// Maximum pause in seconds. Longer pauses are removed even if they are confirmed.
    pub(super) max_gap: f64,
    /// Whether the format allows its clock to restart.
    pub(super) restarts: bool,
    /// Offset added to every timestamp, in seconds.
    shift: f64,
    /// The offset before the last jump, kept because the jump may have affected only a single
    /// packet.
    before: f64,
    streams: [Stream; 2],
    /// The latest end of any video or audio content so far, in seconds.
    shown: f64,
    /// Number of jumps removed.
    pub(super) jumps: u32,
}

/// The state of one stream.
#[derive(Debug, Clone, Copy, Default)]
struct Stream {
    /// The end of the stream's content so far, in seconds.
    end: Option<f64>,
    /// The end of the stream's content so far in seconds, if claimed packet durations are true.
    claimed_end: f64,
}

impl Timeline {
    pub(super) fn new(claimed: Option<f64>, max_gap: f64, restarts: bool) -> Self {
        Self {
            claimed,
            max_gap,
            restarts,
            shift: 0.0,
            before: 0.0,
            streams: [Stream::default(); 2],
            shown: 0.0,
            jumps: 0,
        }
    }

    /// Returns the offset in seconds for the timestamps of a packet at `time` whose claimed
    /// duration is `length`.
    pub(super) fn place(&mut self, kind: StreamKind, time: f64, length: f64) -> f64 {
        let stream = self.streams[kind as usize];
        let end = self.streams.iter().filter_map(|s| s.end).fold(0.0, f64::max);
        let mut now = time + self.shift;
        if now > end + PAUSE && !self.confirms(end, now, stream.claimed_end) {
            // The packet follows either the clock from before the last jump, or a third clock.
            let back = (time + self.before - end).abs() <= PAUSE;
            self.jump(if back { self.before } else { end - time });
            now = time + self.shift;
        } else if let Some(mine) = stream.end.filter(|mine| now < mine - PAUSE) {
            if self.jumps > 0 && (time + self.before - mine).abs() <= PAUSE {
                self.jump(self.before);
            } else if self.restarts {
                // If the clock restarts from 0, video and audio keep their offset from each other.
                let whole = self.shown.max(end);
                self.jump(if time.abs() <= BEGINNING { whole } else { mine - time });
            }
            now = time + self.shift;
        }
        let end = now + length.clamp(0.0, PAUSE);
        self.streams[kind as usize] = Stream { end: Some(end), claimed_end: now + length.max(0.0) };
        self.shift
    }

    /// Records the end of a packet's content, in seconds on the timeline.
    pub(super) fn lasts_until(&mut self, end: f64) {
        self.shown = self.shown.max(end);
    }

    /// Returns whether to trust the duration `length` that a packet claims for the last picture,
    /// which is shown at `time`.
    pub(super) fn believes_length(&self, time: f64, length: f64) -> bool {
        length <= PAUSE || self.confirms(time, time + length, time + length)
    }

    /// Returns whether anything besides the next timestamp confirms a pause from `end` to `now`.
    /// `claimed_end` is the previous packet's end including its claimed duration.
    fn confirms(&self, end: f64, now: f64, claimed_end: f64) -> bool {
        let gap = now - end;
        if gap > self.max_gap {
            return false;
        }
        // A claimed duration is wrong if earlier content already exceeds it.
        match self.claimed.filter(|claimed| end <= claimed + PAUSE) {
            Some(claimed) => now <= claimed + PAUSE,
            None => now <= claimed_end + PAUSE || (!self.restarts && gap <= UNCLAIMED_PAUSE),
        }
    }

    fn jump(&mut self, shift: f64) {
        self.before = std::mem::replace(&mut self.shift, shift);
        self.jumps += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the positions of pictures with these timestamps and durations.
    fn placed(mut timeline: Timeline, packets: &[(f64, f64)]) -> Vec<f64> {
        let place = |&(time, length)| time + timeline.place(StreamKind::Picture, time, length);
        packets.iter().map(place).collect()
    }

    fn claiming(claimed: f64) -> Timeline {
        Timeline::new(Some(claimed), 120.0, false)
    }

    fn silent() -> Timeline {
        Timeline::new(None, 120.0, false)
    }

    #[track_caller]
    fn assert_near(found: &[f64], expected: &[f64]) {
        let near = found.iter().zip(expected).all(|(f, e)| (f - e).abs() < 1e-6);
        assert!(near && found.len() == expected.len(), "{found:?}, expected {expected:?}");
    }

    #[test]
    fn unconfirmed_jump_is_removed() {
        let packets = [(0.0, 0.5), (0.5, 0.5), (12_059.0, 0.5), (12_059.5, 0.5)];
        assert_near(&placed(claiming(2.0), &packets), &[0.0, 0.5, 1.0, 1.5]);
        // A container duration that includes the jump does not confirm it.
        assert_near(&placed(claiming(12_060.0), &packets), &[0.0, 0.5, 1.0, 1.5]);
        assert_near(&placed(silent(), &packets), &[0.0, 0.5, 1.0, 1.5]);
    }

    #[test]
    fn single_outlier_does_not_move_later_packets() {
        let packets = [(0.0, 0.5), (0.5, 0.5), (33.0, 0.5), (1.5, 0.5), (2.0, 0.5)];
        assert_near(&placed(claiming(3.0), &packets), &[0.0, 0.5, 1.0, 1.5, 2.0]);
    }

    #[test]
    fn long_pictures_keep_their_duration() {
        // A slide show, confirmed by packet durations or by the container's duration.
        let slides = [(0.0, 10.0), (10.0, 10.0), (20.0, 10.0)];
        assert_near(&placed(claiming(30.0), &slides), &[0.0, 10.0, 20.0]);
        assert_near(&placed(silent(), &slides), &[0.0, 10.0, 20.0]);
        // A recording of an idle screen, which has only timestamps.
        assert_near(&placed(silent(), &[(0.0, 0.04), (8.0, 0.04)]), &[0.0, 8.0]);
        assert_near(&placed(claiming(61.0), &[(0.0, 0.04), (60.0, 0.04)]), &[0.0, 60.0]);
        // A pause is never longer than the maximum.
        assert_near(&placed(claiming(500.0), &[(0.0, 400.0), (400.0, 1.0)]), &[0.0, 1.0]);
    }

    #[test]
    fn continuous_audio_confirms_a_long_picture() {
        let mut timeline = claiming(3.0);
        assert_near(&[timeline.place(StreamKind::Picture, 0.0, 0.04)], &[0.0]);
        for second in 0..30 {
            assert_near(&[timeline.place(StreamKind::Sound, f64::from(second), 1.0)], &[0.0]);
        }
        assert_near(&[timeline.place(StreamKind::Picture, 30.0, 0.04)], &[0.0]);
        assert_eq!(timeline.jumps, 0);
    }

    #[test]
    fn restarted_clock_continues() {
        let packets = [(500.0, 0.5), (500.5, 0.5), (1.0, 0.5), (1.5, 0.5), (900.0, 0.5)];
        let timeline = Timeline::new(None, 120.0, true);
        assert_near(&placed(timeline, &packets), &[0.0, 0.5, 1.0, 1.5, 2.0]);
    }

    #[test]
    fn short_segments_are_contiguous() {
        // Two-second segments with video and audio. The clock of each segment starts at 0.
        let mut timeline = Timeline::new(None, 120.0, true);
        let mut placed = Vec::new();
        for _ in 0..3 {
            for step in 0..4 {
                let time = f64::from(step) * 0.5;
                placed.push(time + timeline.place(StreamKind::Picture, time, 0.5));
                let sound = time + timeline.place(StreamKind::Sound, time, 0.5);
                assert!((sound - placed[placed.len() - 1]).abs() < 1e-6, "{sound}");
            }
        }
        let expected: Vec<f64> = (0..12).map(|step| f64::from(step) * 0.5).collect();
        assert_near(&placed, &expected);
    }
}
