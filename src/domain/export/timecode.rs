//! SMPTE timecode (ST 12): frames as hours, minutes, seconds and frames, with or without dropped numbers.

/// How a video's timecode counts, and where it begins.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Timecode {
    /// Number of the first frame.
    pub(super) start: u64,
    /// Frames of a counted second.
    base: u64,
    /// Whether the numbers of frames 0 and 1 of most minutes are left out, at 30000/1001 frames a second
    /// (four of them at 60000/1001), so that the count keeps up with the clock.
    pub(super) drops: bool,
}

impl Timecode {
    /// From 0, without dropped numbers.
    pub(super) fn zero(rate: f64) -> Self {
        Self { start: 0, base: rate.round().max(1.0) as u64, drops: false }
    }

    /// From what a container says, as `01:00:00:00`, or with `;` before the frames where numbers are
    /// dropped. From 0 where that is no timecode.
    pub(super) fn from(said: Option<&str>, rate: f64) -> Self {
        said.and_then(|said| Self::read(said, rate)).unwrap_or_else(|| Self::zero(rate))
    }

    fn read(said: &str, rate: f64) -> Option<Self> {
        let zero = Self::zero(rate);
        let parts: Vec<u64> = said
            .split([':', ';', '.'])
            .map(|part| part.trim().parse().ok())
            .collect::<Option<_>>()?;
        let [hours, minutes, seconds, frames] = parts[..] else { return None };
        if hours > 99 || minutes > 59 || seconds > 59 || frames >= zero.base {
            return None;
        }
        let drops = said.contains([';', '.']) && zero.base.is_multiple_of(30);
        let minutes = hours * 60 + minutes;
        let counted = (minutes * 60 + seconds) * zero.base + frames;
        let dropped = if drops { zero.dropped() * (minutes - minutes / 10) } else { 0 };
        Some(Self { start: counted.checked_sub(dropped)?, drops, ..zero })
    }

    /// Numbers that a minute drops, but for every tenth.
    fn dropped(self) -> u64 {
        self.base / 15
    }

    /// The number of a frame, counted from that of 00:00:00:00.
    pub(super) fn label(self, frame: u64) -> String {
        let mut counted = frame;
        if self.drops {
            let (minute, dropped) = (self.base * 60, self.dropped());
            let ten = minute * 10 - dropped * 9;
            let (tens, rest) = (frame / ten, frame % ten);
            // The first minute of ten has all its numbers.
            let minutes = rest.saturating_sub(dropped) / (minute - dropped);
            counted += dropped * (tens * 9 + minutes);
        }
        let (seconds, frames) = (counted / self.base, counted % self.base);
        let sign = if self.drops { ';' } else { ':' };
        format!(
            "{:02}:{:02}:{:02}{sign}{frames:02}",
            seconds / 3600,
            seconds / 60 % 60,
            seconds % 60
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_have_numbers() {
        for (frame, rate, expected) in [
            (0, 25.0, "00:00:00:00"),
            (124, 25.0, "00:00:04:24"),
            (30, 30_000.0 / 1001.0, "00:00:01:00"),
            (90_000, 25.0, "01:00:00:00"),
        ] {
            assert_eq!(Timecode::zero(rate).label(frame), expected);
        }
    }

    #[test]
    fn dropped_numbers_keep_up_with_the_clock() {
        let rate = 30_000.0 / 1001.0;
        let timecode = Timecode::from(Some("00:00:00;00"), rate);
        assert!(timecode.drops);
        for (frame, expected) in [
            (0, "00:00:00;00"),
            (1799, "00:00:59;29"),
            (1800, "00:01:00;02"),
            (3597, "00:01:59;29"),
            (3598, "00:02:00;02"),
            (17_981, "00:09:59;29"),
            (17_982, "00:10:00;00"),
            (107_892, "01:00:00;00"),
        ] {
            assert_eq!(timecode.label(frame), expected, "{frame}");
        }
        let sixty = Timecode::from(Some("00:00:00;00"), 60_000.0 / 1001.0);
        assert_eq!(sixty.label(3600), "00:01:00;04");
    }

    #[test]
    fn a_containers_timecode_is_read() {
        let rate = 30_000.0 / 1001.0;
        for (said, rate, start, drops) in [
            ("01:00:00:00", 25.0, 90_000, false),
            ("01:00:00;00", rate, 107_892, true),
            ("01:00:00.00", rate, 107_892, true),
            ("01:00:00:00", rate, 108_000, false),
            ("10:11:12:13", 24.0, 880_141, false),
            // There is no such frame, and nothing is dropped at this rate.
            ("00:00:00:25", 25.0, 0, false),
            ("00:00:01;00", 25.0, 25, false),
            ("yesterday", 25.0, 0, false),
        ] {
            let timecode = Timecode::from(Some(said), rate);
            assert_eq!((timecode.start, timecode.drops), (start, drops), "{said} at {rate}");
        }
    }
}
